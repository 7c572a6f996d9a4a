import copy
import itertools

import numpy as np
import pytest

from aligntools.aligning.models import kernels_fertility as kf
from aligntools.aligning.models import kernels_link_counts as kc
from aligntools.aligning.text.kernels_pairs import Directed
from aligntools.aligning.text.link_matrices import plan_chunks
from aligntools.aligning.training import sampling
from aligntools.aligning.training.sampling import LEAST, SURE, link_candidates, sampler_scratch
from aligntools.ground.parallel import Pool
from tests import naive
from tests.aligning.building import close, world

OWN_ROWS = 2
SHAPES = [(3, 4), (4, 3), (0, 0), (5, 5), (1, 3), (3, 1), (6, 7), (2, 2), (4, 4), (70, 6)]


def given_and_observed(w, forward):
    return [(s, t) if forward else (t, s) for s, t in w.corpus]


def find(w, posteriors, forward, pool=None):
    """List candidates from random posteriors (matrices [source, target])."""
    (chunk,) = plan_chunks(w.source.lengths(), w.target.lengths(), 1 << 40)
    cells = np.concatenate([m.ravel() for m in posteriors]).astype(np.float32)
    return link_candidates(w, chunk, cells, w.table, forward, pool or Pool(1))


def random_posteriors(rng, shapes, forward, sharpness=0.3):
    """Posteriors of each observed word over the positions and NULL."""
    out = []
    for i, j in shapes:
        given, observed = (i, j) if forward else (j, i)
        rows = rng.dirichlet(np.full(given + 1, sharpness), observed)[:, :given] if observed else np.zeros((0, given))
        out.append((rows.T if forward else rows).astype(np.float32))
    return out


def sampled(w, found, forward):
    """Return candidate positions and states as lists, sentence by sentence."""
    candidates, state, at = [], [], 0
    for _, observed in given_and_observed(w, forward):
        candidates.append([])
        for o in range(at, at + len(observed)):
            candidates[-1].append(found.positions[o, : max(found.sizes[o], 0)].tolist())
        state.append(found.state[at : at + len(observed)].tolist())
        at += len(observed)
    return candidates, state


# Candidates


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_the_likely_positions_that_the_table_knows(seed, forward):
    rng = np.random.default_rng(seed)
    shapes = [(3, 4), (0, 0), (12, 9), (30, 4), (1, 1), (5, 20)]
    w = world(seed, shapes, words=(12, 11))
    keep = rng.random(len(w.table.ids)) < 0.7  # pairs that the table does not have
    w.table.ptr[:] = np.concatenate([[0], np.cumsum([keep[a:b].sum() for a, b in itertools.pairwise(w.table.ptr)])])
    w.table.ids = w.table.ids[keep]
    known = list(w.by_pair(w.table.ids))
    posteriors = random_posteriors(rng, shapes, forward, 0.15)
    posteriors[4][:] = 0.001
    posteriors[3][:] *= 0.01
    posteriors[3][0] = posteriors[3][:, 0] = 0.005
    posteriors[3][0, 0] = 0.994
    found = find(w, posteriors, forward)
    at = 0
    kinds = set()
    for (given, observed), matrix in zip(given_and_observed(w, forward), posteriors, strict=True):
        for o, word in enumerate(observed):
            row = matrix[:, o] if forward else matrix[o]
            likely = sorted((c for c in range(len(given)) if row[c] >= np.float32(LEAST)), key=lambda c: (-row[c], c))
            likely = likely[: kc.CANDIDATES]
            pairs = [(given[c], word) if forward else (word, given[c]) for c in likely]
            size, n = found.sizes[at], len(likely)
            best_or_null = likely[0] if likely and row[likely[0]] >= 1 - row.sum() else -1
            if likely and pairs[0] not in known:
                kinds.add("unknown")
                assert size == -n
                assert (found.entries[at, :n] == -1).all()
            else:
                likely, pairs = ([x for x, p in zip(xs, pairs, strict=True) if p in known] for xs in (likely, pairs))
                n = len(likely)
                sure = n == 1 and row[likely[0]] > SURE
                kinds.add("sure" if sure else "none" if n == 0 else "sampled")
                assert size == (-1 if sure else n)
                assert found.entries[at, :n].tolist() == [known.index(p) for p in pairs]
            assert found.positions[at, :n].tolist() == likely
            np.testing.assert_array_equal(found.masses[at, :n], row[likely])
            assert found.state[at] == best_or_null
            at += 1
    assert kinds >= {"unknown", "none", "sampled"}


def test_equal_candidates_and_words_with_jumps_of_their_own(monkeypatch):
    w = world(0, [(12, 1)], words=(20, 3))
    found = find(w, [np.full((12, 1), 0.08, np.float32)], True)
    assert found.positions[0].tolist() == list(range(kc.CANDIDATES))
    assert found.state[0] == 0
    monkeypatch.setattr(sampling, "JUMP_WORDS", 3)
    assert sampling.most_linked(np.array([0.0, 2.0, 5.0, 1.0, 2.0, 2.0])).tolist() == [3, 1, 0, 3, 2, 3, 3]
    assert sampling.most_linked(np.array([1.0, 2.0])).tolist() == [1, 0, 2]
    assert sampling.most_linked(np.zeros(0)).tolist() == [0]


# Jumps


def test_a_row_with_few_jumps_has_those_of_all_words():
    jumps = np.zeros((4, 2 * kc.JUMPS + 2))
    jumps[-1, : 2 * kc.JUMPS + 1] = np.random.default_rng(1).integers(0, 1000, 2 * kc.JUMPS + 1)
    jumps[-1, -1] = jumps[-1].sum()
    of_all = (jumps[-1, :-1] + kf.JUMP_PRIOR) / (jumps[-1, :-1] + kf.JUMP_PRIOR).sum()
    spread = kf.ROW_PRIOR / (jumps[-1, -1] + kf.JUMP_PRIOR * (2 * kc.JUMPS + 1))

    def row():
        shares = [kf.jump_share(0, slot, spread, jumps) for slot in range(2 * kc.JUMPS + 1)]
        return np.array(shares) / (jumps[0, -1] + kf.ROW_PRIOR)

    close(row(), of_all)
    jumps[0, [7, -1]] = kf.ROW_PRIOR  # half of what is known
    close(row(), 0.5 * of_all + 0.5 * (np.arange(2 * kc.JUMPS + 1) == 7))
    jumps[0, [7, -1]] = 1e9
    close(row()[7], 1)
    assert row().sum() == pytest.approx(1)


# The generator


def test_random_numbers():
    state, slow = np.array([12345], np.uint64), naive.SplitMix(12345)
    for _ in range(200):
        assert kf.random_unit(state) == slow.unit()
    assert int(state[0]) == slow.state
    w = world(1, [(3, 2), (3, 2), (2, 3)], words=(9, 9))
    w.source.tokens[3:6] = w.source.tokens[:3]
    w.target.tokens[2:4] = w.target.tokens[:2]

    def seed(k, known=100):
        words = [side.tokens[side.offsets[k] : side.offsets[k + 1]] for side in (w.source, w.target)]
        return kf.sentence_seed(*words, known, known)

    assert seed(0) == seed(1) != seed(2)
    w.target.tokens[0] += 1
    assert seed(0) != seed(1)
    w.target.tokens[0], w.target.tokens[2] = 200, 300  # both unknown
    assert seed(0) == seed(1)


# Sampling


class Sampler:
    """The kernels' counts for one direction, and the slow version's settings."""

    def __init__(self, w, found, forward, p_null=0.15):
        self.w, self.found, self.forward, self.p_null = w, found, forward, p_null
        given, observed = (w.source, w.target) if forward else (w.target, w.source)
        n_c, n_o = (w.table.n_source, w.table.n_target) if forward else (w.table.n_target, w.table.n_source)
        self.sides = given, observed
        self.types = (w.table.types if forward else w.table.target_types).astype(np.float32)
        self.pairs = np.zeros(len(w.table.ids), np.float32)
        self.words, self.null = np.zeros(n_c + 1), np.zeros(n_o + 1)
        self.jump_rows = np.full(n_c + 1, OWN_ROWS, np.int16)
        self.jump_rows[1 : 1 + OWN_ROWS] = range(OWN_ROWS)
        self.jumps = np.zeros((OWN_ROWS + 3, 2 * kc.JUMPS + 2))
        self.fertility = np.zeros((n_c, kc.FERTILITIES), np.float32)
        self.means = np.zeros_like(self.pairs), np.zeros_like(self.jumps), np.zeros(self.fertility.shape)
        offsets = np.zeros(len(w.corpus) + 1, np.int64)  # no link matrices here
        self.text = Directed(0, given.tokens, given.offsets, observed.tokens, observed.offsets, offsets)
        self.counts = kc.LinkCounts(
            self.pairs, self.words, self.types, self.null, self.jump_rows, self.jumps, self.fertility
        )

    def add(self, sign=1.0, rows=None):
        rows = rows or (0, len(self.w.corpus))
        fertility = sampler_scratch(self.text, *rows).fertility
        kc.add_chunk(*rows, self.text, self.found, sign, self.counts, fertility)

    def sweep(self, sweeps=1, burn=0, frozen=False, seed=7, alpha=kf.LEXICAL_PRIOR, known=(10**6, 10**6), rows=None,
              generator=None):  # fmt: skip
        rows = rows or (0, len(self.w.corpus))
        generator = np.array([seed], np.uint64) if generator is None else generator
        kf.sweep(
            *rows, self.text, self.found, self.counts, kc.LinkMeans(*self.means), self.p_null, alpha, sweeps,
            burn, frozen, np.uint64(seed), generator, *known, sampler_scratch(self.text, *rows),
        )  # fmt: skip

    def prior(self):
        return {
            "alpha": kf.LEXICAL_PRIOR, "jump": kf.JUMP_PRIOR, "row": kf.ROW_PRIOR, "fertility": kf.FERTILITY_PRIOR,
            "most_jump": kc.JUMPS, "most_fertility": kc.FERTILITIES - 1, "p_null": self.p_null,
            "types": self.types.tolist(), "null_types": len(self.null), "jump_rows": self.jump_rows.tolist(),
        }  # fmt: skip

    def check_counts(self, corpus, state):
        n = naive.Counts(corpus, state, kc.JUMPS, kc.FERTILITIES - 1, self.jump_rows.tolist())
        pairs = {(p if self.forward else p[::-1]): c for p, c in n.pairs.items()}
        assert {p: c for p, c in self.w.by_pair(self.pairs).items() if c} == pairs
        assert {v: c for v, c in enumerate(self.words[:-1]) if c} == dict(n.words)
        assert {v: c for v, c in enumerate(self.null) if c} == {v: c for v, c in n.null.items() if c}
        assert self.words[-1] == sum(n.null.values())
        rows, start = self.jumps[:-1, :-1], len(self.jumps) - 2
        filled = zip(*np.nonzero(rows), strict=True)
        by_row = {("start" if row == start else row, d - kc.JUMPS): rows[row, d] for row, d in filled}
        assert by_row == {key: c for key, c in n.jumps.items() if c}
        np.testing.assert_array_equal(self.jumps[-1], self.jumps[:-1].sum(0))
        np.testing.assert_array_equal(self.jumps[:, -1], self.jumps[:, :-1].sum(1))
        filled = zip(*np.nonzero(self.fertility), strict=True)
        assert {(v, f): self.fertility[v, f] for v, f in filled} == dict(n.fertility)


def sampler(seed, forward, shapes=SHAPES, words=(7, 6), sharpness=0.5):
    w = world(seed, shapes, words=words)
    rng = np.random.default_rng(seed)
    return Sampler(w, find(w, random_posteriors(rng, shapes, forward, sharpness), forward), forward)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_sweep_samples_from_the_conditional_distributions(seed, forward):
    s = sampler(seed, forward)
    corpus = given_and_observed(s.w, forward)
    s.add()
    candidates, state = sampled(s.w, s.found, forward)
    random = naive.SplitMix(7)
    kept = s.found.masses.copy()
    shares = naive.sample_sweep(corpus, state, candidates, s.prior(), random)
    s.sweep(seed=7)
    assert sampled(s.w, s.found, forward)[1] == state
    at = 0
    for sentence in shares:
        for share in sentence:
            if s.found.sizes[at] < 0:  # not sampled: keeps the posterior that it came with
                np.testing.assert_array_equal(s.found.masses[at, 0], kept[at, 0])
            else:
                close(s.found.masses[at, : len(share)], share)
                assert not s.found.masses[at, len(share) :].any()
            at += 1
    s.check_counts(corpus, state)
    # one sweep was collected: its means are the state's own counts, and the shares
    np.testing.assert_array_equal(s.means[1], s.jumps)
    np.testing.assert_array_equal(s.means[2], s.fertility)
    marginals = np.zeros(len(s.pairs))
    for o, size in enumerate(s.found.sizes):
        for x in range(abs(size)):
            if s.found.entries[o, x] >= 0:
                marginals[s.found.entries[o, x]] += s.found.masses[o, x]
    close(s.means[0], marginals)


@pytest.mark.parametrize("forward", [True, False])
def test_several_sweeps_are_averaged_after_the_first_ones(forward):
    s = sampler(9, forward)
    corpus = given_and_observed(s.w, forward)
    s.add()
    candidates, state = sampled(s.w, s.found, forward)
    random = naive.SplitMix(3)
    rounds = [copy.deepcopy(naive.sample_sweep(corpus, state, candidates, s.prior(), random)) for _ in range(5)]
    s.sweep(5, 2, seed=3)
    assert sampled(s.w, s.found, forward)[1] == state
    s.check_counts(corpus, state)
    at = 0
    for k, (_, observed) in enumerate(corpus):
        for o in range(len(observed)):
            if s.found.sizes[at] > 0:
                close(s.found.masses[at, : s.found.sizes[at]], np.mean([r[k][o] for r in rounds[2:]], 0))
            at += 1


@pytest.mark.parametrize("forward", [True, False])
def test_averages_are_over_the_sampled_sentences_alone(forward):
    """Jumps are taken from the counts of all sentences, what other ones have is taken off."""
    s, one = (sampler(9, forward, SHAPES * 3) for _ in range(2))
    some = (1, len(s.w.corpus) - 1)
    for each in (s, one):
        each.jumps[-1] += 0.25  # a prior
        each.add()
    expected = [np.zeros_like(s.jumps), np.zeros(s.fertility.shape)]
    generator = np.array([3], np.uint64)
    for collected in (False, False, True, True, True):
        one.sweep(rows=some, generator=generator)
        if collected:
            with_them = one.jumps.copy(), one.fertility.copy()
            one.add(-1.0, some)
            for total, now, without in zip(expected, with_them, (one.jumps, one.fertility), strict=True):
                total += (now.astype(np.float64) - without) / 3
            one.add(1.0, some)
    s.sweep(5, 2, seed=3, rows=some)
    assert expected[0][-1, -1] > some[1]  # and not only jumps over whole sentences
    close(s.means[1], expected[0], 1e-9, 1e-9)
    close(s.means[2], expected[1], 1e-9, 1e-9)


@pytest.mark.parametrize("forward", [True, False])
def test_with_frozen_counts_a_sentence_is_sampled_for_itself(forward):
    s = sampler(5, forward, SHAPES * 2)
    s.add()
    s.sweep(4, 1, seed=1)  # a model's counts
    begin = [a.copy() for a in (s.found.masses, s.found.state)]
    counts = [a.copy() for a in (s.pairs, s.words, s.null, s.jumps, s.fertility, *s.means)]

    def reset():
        s.found.masses[:], s.found.state[:] = begin

    s.sweep(8, 2, frozen=True)
    masses = s.found.masses.copy()
    for a, b in zip(counts, (s.pairs, s.words, s.null, s.jumps, s.fertility, *s.means), strict=True):
        np.testing.assert_array_equal(a, b)
    # again, and sentence by sentence in another order
    reset()
    s.sweep(8, 2, frozen=True)
    np.testing.assert_array_equal(s.found.masses, masses)
    reset()
    for k in reversed(range(len(s.w.corpus))):
        s.sweep(8, 2, frozen=True, rows=(k, k + 1))
    np.testing.assert_array_equal(s.found.masses, masses)
    # the seed matters, and all is a distribution
    reset()
    s.sweep(8, 2, frozen=True, seed=8)
    assert (s.found.masses != masses).any()
    sizes = np.maximum(s.found.sizes, 0)
    for o, size in enumerate(sizes):
        assert masses[o, :size].sum() <= 1 + 1e-5
        assert (masses[o, :size] >= 0).all()


def test_frozen_sampling_of_a_single_word_has_no_chance_in_it():
    """One word and one candidate: what is averaged is the one conditional distribution."""
    w = world(3, [(1, 1)], words=(2, 2))
    found = find(w, [np.array([[0.4]], np.float32)], True)
    s = Sampler(w, found, True)
    s.pairs[:], s.words[:] = 3.0, [0, 5.0, 2.0]
    s.null[1] = 1.0
    one, two = kc.JUMPS + 1, kc.JUMPS + 2
    s.jumps[-1, [one, two, -1]] = 30.0, 4.0, 40.0
    s.jumps[-2, [one, -1]] = 12.0, 13.0  # of the beginning
    s.jumps[0, [one, two, -1]] = 5.0, 2.0, 7.0  # of the word
    s.fertility[1, :2] = 2.0, 6.0
    s.sweep(1, 0, frozen=True)
    a, fa, kappa = kf.LEXICAL_PRIOR, kf.FERTILITY_PRIOR, kf.ROW_PRIOR
    of_all = (np.array([30.0, 4.0]) + kf.JUMP_PRIOR) / (40 + kf.JUMP_PRIOR * (2 * kc.JUMPS + 1))
    start = (np.array([12.0, 0.0]) + kappa * of_all) / (13 + kappa)
    word = (5 + kappa * of_all[0]) / (7 + kappa)
    own = np.float64(np.float32(0.4))  # what the model may have counted for this very word is taken out
    # NULL was more probable, so the word's own fertility is taken out of "none"
    real = (3 - own + a) / (5 - own + a * 1) * start[0] * word * (6 + fa) / (1 + fa) * 0.85
    null = 0.15 * (1 + a) / (2 + a * 3) * start[1]
    close(found.masses[0, 0], real / (real + null))
