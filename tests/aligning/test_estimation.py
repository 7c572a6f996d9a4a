import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from aligntools.aligning.text import kernels_cooccurrence as kt
from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text.cooccurrence import Table, build_table, pair_weights, segment_sums
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.aligning.text.look_alikes import look_alike_keys
from aligntools.aligning.training.stages import prune
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


corpora = st.lists(
    st.tuples(
        st.lists(st.integers(1, WORDS[0] - 1), min_size=1, max_size=6),
        st.lists(st.integers(1, WORDS[1] - 1), min_size=1, max_size=6),
    )
    | st.just(([], [])),
    min_size=1,
    max_size=8,
)


def build(corpus, keep=0.0, threads=1, words=WORDS):
    with Pool(threads) as pool:
        sides = [side(sentences) for sentences in zip(*corpus, strict=True)]
        return build_table(*sides, *words, pool, keep, 0.08)


def entries(table, values):
    rows = np.repeat(np.arange(table.n_source), np.diff(table.ptr))
    return dict(zip(zip(rows.tolist(), table.ids.tolist(), strict=True), values.tolist(), strict=True))


def weights(corpus):
    """IBM 1's uniform posteriors of both directions, averaged."""
    return [0.92 * 0.5 * (1 / max(len(s), 1) + 1 / max(len(t), 1)) for s, t in corpus]


@given(corpora)
def test_the_table_holds_the_pairs_that_occur_together(corpus):
    table, counts = build(corpus)
    expected = naive.cooccurrence(corpus, weights(corpus))
    found = entries(table, counts)
    assert found.keys() == expected.keys()
    close([found[x] for x in expected], list(expected.values()))
    for v in range(table.n_source):
        row = table.ids[table.ptr[v] : table.ptr[v + 1]]
        assert list(row) == sorted(row)
        assert table.types[v] == len(row)
    assert table.target_types.tolist() == np.bincount(table.ids, minlength=WORDS[1]).tolist()
    assert (table.ids.dtype, counts.dtype, table.ptr.dtype) == (np.int32, np.float32, np.int64)


@given(corpora, st.sampled_from([0.5, 1.0, 1.5]))
def test_rare_pairs_are_left_out(corpus, keep):
    """What is kept occurs ``keep`` times as often as if the words were independent."""
    table, counts = build(corpus, keep)
    joint = naive.cooccurrence(corpus, weights(corpus))
    total = sum(joint.values())
    found = entries(table, counts)
    s_mass, t_mass = ({w: sum(c for pair, c in joint.items() if pair[side] == w) for w in range(9)} for side in (0, 1))
    for (s, t), c in joint.items():
        limit = keep * s_mass[s] * t_mass[t] / total
        if abs(c - limit) > 1e-4 * limit:
            assert ((s, t) in found) == (c >= limit)
    assert table.types.tolist() == [len({t for s, t in joint if s == v}) for v in range(WORDS[0])]


def test_weights_and_entries():
    lengths = np.array([2, 5, 0]), np.array([4, 1, 0])
    close(pair_weights(*lengths, 0.08), [0.92 * 0.5 * (1 / 2 + 1 / 4), 0.92 * 0.5 * (1 / 5 + 1), 0.92])
    n = 70_000
    corpus = [([1], list(range(a, min(a + 2000, n)))) for a in range(1, n, 2000)] + [([2], [5])]
    table, counts = build(corpus, words=(3, n))
    assert table.ids[:-1].tolist() == list(range(1, n))
    assert table.types.tolist() == [0, n - 1, 1]
    close(counts[0], 0.92 * 0.5 * (1 + 1 / 2000))
    ptr, ids = np.array([0, 0, 3, 3, 4]), np.array([2, 5, 9, 1], np.int32)
    places = {(s, t): kt.find_entry(ptr, ids, s, t) for s in range(6) for t in range(11)}
    assert {pair: at for pair, at in places.items() if at >= 0} == {(1, 2): 0, (1, 5): 1, (1, 9): 2, (3, 1): 3}


@pytest.mark.parametrize("keep", [0.0, 1.0])
def test_threads_do_not_show_in_the_table(keep):
    corpus = random_sentences(np.random.default_rng(0), [(9, 8)] * 300, (500, 400))
    (one, a), (four, b) = (build(corpus, keep, threads, (500, 400)) for threads in (1, 4))
    for x, y in zip((a, *vars(one).values()), (b, *vars(four).values()), strict=True):
        np.testing.assert_array_equal(x, y)


def test_sums_by_word():
    rng = np.random.default_rng(1)
    table, counts = build(random_sentences(rng, [(4, 5)] * 6, WORDS))
    values = rng.random(len(counts)).astype(np.float32)
    rows, columns = np.zeros(WORDS[0]), np.zeros(WORDS[1])
    for (s, t), v in entries(table, values).items():
        rows[s] += v
        columns[t] += v
    close(table.row_sums(values), rows)
    close(table.column_sums(values), columns)
    assert segment_sums(np.zeros(0), np.zeros(4, np.int64)).tolist() == [0, 0, 0]
    blocks = table.blocks()
    assert (blocks[0][0], blocks[-1][1]) == (0, WORDS[0])


@pytest.mark.parametrize("joint", [True, False])
def test_pruning_moves_what_stays_together(joint):
    rng = np.random.default_rng(2)
    table, counts = build(random_sentences(rng, [(4, 5)] * 9, WORDS))
    arrays = [rng.random(len(counts)).astype(np.float32) for _ in range(1 if joint else 2)]
    before = [entries(table, a) for a in arrays]
    expected = {x for x in before[0] if max(b[x] for b in before) >= 0.6}
    types = table.types.copy()
    smaller, kept = prune(table, [a.copy() for a in arrays], 0.6)
    assert 0 < len(expected) < len(counts)
    for a, b in zip(kept, before, strict=True):
        assert entries(smaller, a) == {x: b[x] for x in expected}
    for v in range(smaller.n_source):
        row = smaller.ids[smaller.ptr[v] : smaller.ptr[v + 1]]
        assert list(row) == sorted(row)
    assert smaller.types.tolist() == types.tolist()


# Link matrices


def chunks_of(w, max_cells=1 << 40):
    return plan_chunks(w.source.lengths(), w.target.lengths(), max_cells)


def missing(w, share=0.4):
    """Take pairs out of a world's table, so that defaults are seen."""
    rng = np.random.default_rng(0)
    keep = rng.random(len(w.table.ids)) > share
    rows = np.repeat(np.arange(w.table.n_source), np.diff(w.table.ptr))[keep]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=w.table.n_source))]).astype(np.int64)
    w.table = Table(ptr, w.table.ids[keep], w.table.types, w.table.target_types)
    w.lexicon.forward, w.lexicon.reverse = w.lexicon.forward[keep], w.lexicon.reverse[keep]
    return w


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_filling_is_looking_up(seed, threads):
    shapes = [(5, 4), (0, 0), (1, 7), (7, 1), (3, 3), (6, 6)]
    w = missing(world(seed, shapes, words=(8, 6)))
    by_pair = w.by_pair(w.lexicon.forward)
    with Pool(threads) as pool:
        matrices = w.chunks(pool, 40)
        assert len(matrices.chunks) > 1
        for chunk in matrices.chunks:
            filled = np.full(chunk.n_cells, -1, np.float32)
            matrices.index(chunk)
            matrices.fill(chunk, w.lexicon.forward, w.lexicon.default, filled)
            looked = np.full(chunk.n_cells, -1, np.float32)
            kt.lookup_cells(
                chunk.k0, chunk.k1, chunk.k0, w.source.tokens, w.source.offsets, w.target.tokens, w.target.offsets,
                chunk.cell_offsets, w.table.ptr, w.table.ids, w.lexicon.forward, np.float32(w.lexicon.default), looked,
            )  # fmt: skip
            default = np.float32(w.lexicon.default)
            expected = [
                by_pair.get((s, t), default)
                for source, target in w.corpus[chunk.k0 : chunk.k1]
                for s in source
                for t in target
            ]
            np.testing.assert_array_equal(looked, np.array(expected, np.float32))
            np.testing.assert_array_equal(filled, looked)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("words", [(8, 6), (4, 900)])
def test_collecting_adds_up_what_each_pair_was_given(words, threads):
    shapes = [(5, 4), (0, 0), (1, 7), (7, 1), (3, 3)] + [(6, 6)] * 30
    w = missing(world(4, shapes, words=words))
    rng = np.random.default_rng(5)
    links = [rng.random((i, j)) for i, j in shapes]
    counts = np.full(len(w.table.ids), 0.5, np.float32)
    with Pool(threads) as pool:
        matrices = w.chunks(pool, 300)
        for chunk in matrices.chunks:
            matrices.index(chunk)
            cells = np.concatenate([m.ravel() for m in links[chunk.k0 : chunk.k1]]).astype(np.float32)
            matrices.collect(chunk, counts, cells)
            matrices.collect(chunk, counts, cells)  # scratch is left clean
    expected = naive.lexical_counts(w.corpus, links)
    for pair, c in w.by_pair(counts).items():
        close(c, 0.5 + 2 * expected[pair])


def test_words_are_indexed_in_text_order():
    s = side([[2, 1, 2], [], [3, 2]])
    start, sentence, position = np.zeros(7, np.int64), np.empty(5, np.int32), np.empty(5, np.int32)
    kt.index_words(s.tokens, s.offsets, 0, 3, start, sentence, position)
    places = {
        v: list(
            zip(sentence[start[v] : start[v + 1]].tolist(), position[start[v] : start[v + 1]].tolist(), strict=True)
        )
        for v in range(5)
    }
    assert places == {0: [], 1: [(0, 1)], 2: [(0, 0), (0, 2), (2, 1)], 3: [(2, 0)], 4: []}
    kt.index_words(s.tokens, s.offsets, 2, 3, start, sentence[:2], np.empty(0, np.int32))
    assert np.diff(start[:6]).tolist() == [0, 0, 1, 1, 0]
    assert sentence[:2].tolist() == [2, 2]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12), st.integers(1, 60))
def test_chunks_cover_the_corpus_and_are_bounded(lengths, most):
    source, target = (np.array([x[d] for x in lengths], np.int64) for d in (0, 1))
    tokens = 25
    chunks = plan_chunks(source, target, most, tokens)
    assert [k for c in chunks for k in range(c.k0, c.k1)] == list(range(len(lengths)))
    for c in chunks:
        cells = (source * target)[c.k0 : c.k1]
        assert np.diff(c.cell_offsets).tolist() == cells.tolist()
        assert c.n_cells == cells.sum()
        assert c.k1 - c.k0 == 1 or (c.n_cells <= most and (source + target)[c.k0 : c.k1].sum() <= tokens)
        assert [k for a, b in c.sentence_blocks for k in range(a, b)] == list(range(c.k0, c.k1))


@pytest.mark.parametrize("seed", range(3))
def test_look_alikes_of_the_table_and_of_a_text(seed):
    rng = np.random.default_rng(seed)
    w = missing(world(seed, [(6, 6), (0, 0), (4, 5), (5, 4)], words=(8, 8)))
    spelled = ["", "haus", "hauser", "12", "13", "mausoleum", "a", "museum"]
    s_keys, t_keys = (look_alike_keys(["", *rng.permutation(spelled[1:]).tolist()]) for _ in range(2))
    n = kl.look_alike_entries(w.table.ptr, w.table.ids, s_keys, t_keys, np.empty(0, np.int64), np.empty(0, np.int8))
    at, tiers = np.empty(n, np.int64), np.empty(n, np.int8)
    assert kl.look_alike_entries(w.table.ptr, w.table.ids, s_keys, t_keys, at, tiers) == n
    expected = {}
    for x, (s, t) in enumerate(w.by_pair(w.table.ids)):
        level = kl.tier(s_keys[s], t_keys[t])
        if level:
            expected[x] = level
    assert dict(zip(at.tolist(), tiers.tolist(), strict=True)) == expected
    # a text: cells at the default are raised to the tier's floor, others stay
    default, floors = np.float32(0.25), np.linspace(0.25, 1, kl.TIERS).astype(np.float32)
    cells = rng.choice(np.array([0.25, 0.125], np.float32), sum(len(s) * len(t) for s, t in w.corpus))
    (chunk,) = chunks_of(w)
    raised = cells.copy()
    kl.look_alike_cells(
        0, len(w.corpus), 0, w.source.tokens, w.source.offsets, w.target.tokens, w.target.offsets,
        chunk.cell_offsets, s_keys, t_keys, default, floors, raised,
    )  # fmt: skip
    pairs = [(s, t) for source, target in w.corpus for s in source for t in target]
    for before, after, (s, t) in zip(cells, raised, pairs, strict=True):
        assert after == (floors[kl.tier(s_keys[s], t_keys[t])] if before == default else before)
