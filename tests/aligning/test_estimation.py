import numpy as np
import pytest
from scipy.special import digamma

from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models import lexical
from aligntools.aligning.models.jumps import initial_jumps, jump_taps, jumps_from_counts
from aligntools.aligning.models.lexical import (
    LOOK_ALIKE,
    LookAlikes,
    exp_digamma,
    lexicon_from_counts,
    null_from_counts,
    uniform_lexicon,
)
from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text.cooccurrence import build_table
from aligntools.aligning.text.look_alikes import look_alike_keys
from aligntools.ground.parallel import Pool
from tests import naive
from tests.aligning.building import close, jump_row, random_sentences, side, world

WORDS = (9, 8)


def table_and_counts(seed):
    rng = np.random.default_rng(seed)
    corpus = random_sentences(rng, [(4, 5)] * 5 + [(1, 1), (2, 6)], WORDS)
    table, counts = build_table(*(side(s) for s in zip(*corpus, strict=True)), *WORDS, Pool(1))
    return table, rng.gamma(0.5, 2, len(counts)).astype(np.float32), rng.gamma(0.5, 2, len(counts)).astype(np.float32)


def test_digammas_and_ratios():
    x = np.concatenate([np.logspace(-1.8, 7, 2000), np.linspace(0.02, 12, 1999)])
    close(exp_digamma(x), np.exp(digamma(x)), 1e-9, 0)
    tiny = np.array([1e-3, 1e-5, 1e-30])
    assert exp_digamma(tiny).tolist() == [1e-30] * 3  # the floor of a table's value
    assert exp_digamma(2.0).shape == (1,)
    table, f, r = table_and_counts(2)
    lexicon = lexicon_from_counts(table, f, r, np.zeros(4), 0.2, False)
    rows = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
    close(lexicon.forward * lexicon.s_inverse[rows], f / table.row_sums(f)[rows])
    close(lexicon.reverse * lexicon.t_inverse[table.ids], r / table.column_sums(r)[table.ids])
    close(np.bincount(rows, lexicon.forward * lexicon.s_inverse[rows])[1:], 1.0)
    assert 0 < lexicon.default < 1e-6
    table, f, r = table_and_counts(3)
    f[:] = 0
    lexicon = lexicon_from_counts(table, f, r, np.zeros(4), 1e-3, True)
    assert lexicon.forward.min() > 0
    assert lexicon.default > 0
    assert np.isfinite(lexicon.s_inverse).all()


@pytest.mark.parametrize("threads", [0, 3])
@pytest.mark.parametrize("joint", [True, False])
def test_variational_bayes(joint, threads):
    """p(t | s) = exp(digamma(c + a) - digamma(C + a T)), Riley & Gildea (2012), equation 3."""
    table, f, r = table_and_counts(1)
    r = f if joint else r
    pool = Pool(threads) if threads else None
    alpha, tiers = 0.2, np.array([0.0, 0.5, 0.7, 0.1])
    lexicon = lexicon_from_counts(table, f, r, tiers, alpha, True, pool)
    assert (lexicon.reverse is lexicon.forward) == joint
    rows = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
    for values, counts, inverse, words, types, total in (
        (lexicon.forward, f, lexicon.s_inverse, rows, table.types, table.row_sums(f)),
        (lexicon.reverse, r, lexicon.t_inverse, table.ids, table.target_types, table.column_sums(r)),
    ):
        expected = np.exp(digamma(counts + alpha) - digamma(total + alpha * types)[words])
        close(values * inverse[words], expected)
        sums = np.bincount(words, values * inverse[words])
        assert sums.max() <= 1 + 1e-5  # a lower bound loses some of the mass
    close(lexicon.default, np.exp(digamma(alpha)))
    close(lexicon.floors, np.exp(digamma(alpha + tiers)))
    assert (lexicon.floors[1:] > lexicon.default).all()
    assert np.isfinite(lexicon.s_inverse).all()
    assert np.isfinite(lexicon.t_inverse).all()
    assert (len(lexicon.s_inverse), len(lexicon.t_inverse)) == (WORDS[0] + 1, WORDS[1] + 1)


def test_the_prior_of_look_alikes_is_their_share_of_links():
    words = ["", "paris", "12", "maison", "nationale"], ["", "paris", "12", "haus", "nationalen"]
    corpus = [([1, 2, 3], [1, 2, 3]), ([1, 4], [4, 1]), ([4, 3], [4, 3]), ([3], [3, 2])]
    table, _ = build_table(*(side(s) for s in zip(*corpus, strict=True)), 5, 5, Pool(1))
    s_counts, t_counts = np.array([0, 2, 1, 3, 2.0]), np.array([0, 2, 2, 3, 2.0])
    keys = [look_alike_keys(w) for w in words]
    looks = LookAlikes(table, *keys, s_counts, t_counts)
    rows = np.repeat(np.arange(5), np.diff(table.ptr))
    pairs = list(zip(rows.tolist(), table.ids.tolist(), strict=True))
    assert {pairs[x]: int(t) for x, t in zip(looks.entries, looks.tiers, strict=True)} == {
        (1, 1): 1,
        (2, 2): 1,
        (4, 4): 4,
    }
    assert looks.most.tolist() == [2, 1, 2]  # how often both could have been linked
    counts = np.full(len(pairs), 0.25, np.float32)
    counts[pairs.index((1, 1))], counts[pairs.index((2, 2))], counts[pairs.index((4, 4))] = 1.5, 0.3, 0.0
    before = counts.copy()
    looks.add_prior(counts)
    strengths = LOOK_ALIKE * np.array([0, 0.6, 0, 0, 0, 0, 0, 0])  # share of the links that are possible
    close(looks.strengths, strengths)
    added = {pairs[x]: float(counts[x] - before[x]) for x in range(len(pairs)) if counts[x] != before[x]}
    assert added == pytest.approx({(1, 1): strengths[1], (2, 2): strengths[1]})


def test_look_alikes_are_found_block_by_block(monkeypatch):
    words = ["", *(f"{a}haus{b}" for a in ("", "rat", "kranken") for b in ("", "e", "es"))]
    rng = np.random.default_rng(1)
    corpus = random_sentences(rng, [(6, 7)] * 12, (len(words), len(words)))
    table, _ = build_table(*(side(s) for s in zip(*corpus, strict=True)), len(words), len(words), Pool(1))
    keys, ones = look_alike_keys(words), np.ones(len(words))
    rows = np.repeat(np.arange(len(words)), np.diff(table.ptr))
    tiers = [kl.tier(keys[s], keys[t]) for s, t in zip(rows, table.ids, strict=True)]
    expected = [(x, t) for x, t in enumerate(tiers) if t]
    assert len({t for _, t in expected}) > 2
    for room, threads in ((lexical.ROOM, 1), (1, 1), (1, 2)):
        monkeypatch.setattr(lexical, "ROOM", room)
        with Pool(threads) as pool:
            looks = LookAlikes(table, keys, keys, ones, ones, pool)
        assert list(zip(looks.entries.tolist(), looks.tiers.tolist(), strict=True)) == expected


@pytest.mark.parametrize("variational", [True, False])
def test_words_under_null(variational):
    counts = np.array([0, 3, 0.5, 0, 7, 0], np.float64)  # NULL's own place first, unknown words last
    values = null_from_counts(counts, 0.1, variational)
    inner = counts[1:-1]
    if variational:
        expected = np.exp(digamma(inner + 0.1) - digamma((inner + 0.1).sum()))
    else:
        expected = inner / inner.sum()
    close(values[1:-1], expected)
    assert values[0] == 0 < values[-1] < 1e-6
    assert values[1:].min() > 0
    assert np.isfinite(null_from_counts(np.zeros(4), 0.1, False)).all()


def test_first_jumps_and_taps():
    table, *_ = table_and_counts(4)
    lexicon = uniform_lexicon(table)
    close(lexicon.forward * lexicon.s_inverse[0], 1 / WORDS[1])
    close(lexicon.reverse * lexicon.t_inverse[0], 1 / WORDS[0])
    jumps = initial_jumps()
    assert jumps.dtype == np.float32
    assert (jumps[0] == jumps[1]).all()
    window = jumps[0, : 2 * kj.WINDOW + 1]
    assert window.argmax() == kj.WINDOW + 1
    assert jumps[0, kj.FIRST : kj.FIRST_TAIL].argmax() == 0
    assert (np.delete(jumps, 2 * kj.WINDOW + 1, axis=1) > 0).all()
    assert not jumps[:, 2 * kj.WINDOW + 1].any()
    rng = np.random.default_rng(0)
    jumps = rng.random((2, kj.JUMP_SIZE)).astype(np.float32)
    forward, backward = jump_taps(jumps)
    w = kj.WINDOW
    for d in range(-w, w + 1):
        close(forward[:, d + w], jumps[:, d + w] - jumps[:, kj.TAIL])
        close(backward[:, d + w], jumps[:, -d + w] - jumps[:, kj.TAIL])
    assert not forward[:, 2 * w + 1 :].any()
    assert not backward[:, 2 * w + 1 :].any()


# Jumps


def expected_counts(w):
    counts = np.zeros((2, 2, kj.JUMP_SIZE))
    loglik = np.zeros(2)
    for k in range(len(w.corpus)):
        for d in (0, 1):
            log, _, c, e = naive.hmm_forward_backward(*w.direction(k, d))
            counts[d] += jump_row(c), jump_row(e)
            loglik[d] += log
    return loglik, counts


@pytest.mark.parametrize("seed", range(3))
def test_the_jump_step_never_lowers_the_likelihood(seed):
    """Jumps alone are estimated, the table stays: minorize-maximize although Z depends on the jumps."""
    w = world(seed, [(5, 6), (14, 9), (3, 20), (25, 4), (12, 12), (2, 1)], words=(20, 20), low=1e-3)
    before, counts = expected_counts(w)
    begun = before
    for _ in range(6):
        w.jumps = jumps_from_counts(counts, 0.0)
        after, counts = expected_counts(w)
        assert (after >= before - 1e-6 * abs(before)).all()
        before = after
    assert (before > begun + 1).all()


def test_estimated_jumps_are_ratios_of_counts_and_exposures():
    rng = np.random.default_rng(3)
    counts = rng.random((2, 2, kj.JUMP_SIZE)) * 50 + 1
    counts[:, :, 2 * kj.WINDOW + 1] = 0
    jumps = jumps_from_counts(counts, 0.0)
    for a, b in ((0, kj.FIRST), (kj.FIRST, kj.JUMP_SIZE)):
        where = [x for x in range(a, b) if x != 2 * kj.WINDOW + 1]
        ratio = counts[:, 0, where] / counts[:, 1, where]
        close(jumps[:, where], ratio / ratio.sum(1, keepdims=True))
    assert not jumps[:, 2 * kj.WINDOW + 1].any()


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_jumps_that_never_happen_keep_a_little(smoothing):
    none = jumps_from_counts(np.zeros((2, 2, kj.JUMP_SIZE)), smoothing)
    assert np.isfinite(none).all()
    counts = np.zeros((2, 2, kj.JUMP_SIZE))
    counts[:, :, kj.WINDOW + 1] = 10, 12  # only jumps of one
    counts[:, 1, kj.WINDOW] = 5
    counts[:, :, kj.FIRST] = 3
    jumps = jumps_from_counts(counts, smoothing)
    for row in (none, jumps):
        assert (np.delete(row, 2 * kj.WINDOW + 1, axis=1) > 0).all()
        assert not row[:, 2 * kj.WINDOW + 1].any()
    assert (jumps[:, : 2 * kj.WINDOW + 1].argmax(1) == kj.WINDOW + 1).all()
    assert (jumps[:, kj.FIRST :].argmax(1) == 0).all()
