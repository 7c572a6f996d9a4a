"""Phrases that are linked as wholes, against a search over all blocks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.contrastive import features
from aligntools.aligning.contrastive import kernels_blocks as kp
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import bare_candidates
from aligntools.aligning.contrastive.kernels_features import FEATURES
from aligntools.aligning.contrastive.search import BONUS, SearchSettings, search, with_phrases
from aligntools.aligning.contrastive.tasks import learning_plan
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from tests import naive_contrastive as naive
from tests.aligning.contrastive.making import ALL, candidates_of, random_pair, random_weights

EVERYTHING = {"beam": 512, "n_best": 512, "slack": math.inf, "source_limit": 9, "target_limit": 9}


def lists(best, k):
    """Return sentence ``k``'s alignments as (score, links)."""
    return [(best.scores[k, r], frozenset(best.links(r).tolists()[k])) for r in range(best.sizes[k])]


def same_lists(found, expected):
    """Check n-best lists; among equal scores any order is right."""
    assert [s for s, _ in found] == pytest.approx([s for s, _ in expected], abs=1e-5)
    assert len({links for _, links in found}) == len(found)
    return True


@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 1), (2, 2), (2, 4), (3, 3), (3, 2), (1, 5), (4, 2)]))
def test_an_unbounded_beam_is_enumeration(seed, shape):
    rng = np.random.default_rng(seed)
    pair = random_pair(rng, *shape, rng.choice([0.6, 1.0]))
    weights, named = random_weights(rng)
    best = search(candidates_of([pair]), weights, ALL, SearchSettings(**EVERYTHING))
    expected = pair.best(named, 512)
    found = lists(best, 0)
    assert same_lists(found, expected)
    assert len(found) == 2 ** len(pair.candidates)
    for score, links in found[:20]:
        assert pair.score(links, named) == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("constraint", ["itg", "block-itg"])
def test_constraints_allow_what_nests(constraint):
    rng = np.random.default_rng(5)
    allowed = {"itg": lambda links: naive.one_to_one(links) and naive.nests(links), "block-itg": naive.nests}[
        constraint
    ]
    pair = random_pair(rng, 3, 3)
    weights, named = random_weights(rng)
    best = search(candidates_of([pair]), weights, ALL, SearchSettings(constraint=constraint, **EVERYTHING))
    # every alignment that nests is reached through others that do
    assert same_lists(lists(best, 0), pair.best(named, 512, allowed))


def test_constraints_refuse_the_forbidden_permutations():
    """2413 and 3142 are the two orders of four that no nesting gives."""
    for order in ((1, 3, 0, 2), (2, 0, 3, 1), (0, 1, 2, 3), (3, 2, 1, 0), (1, 0, 3, 2), (2, 3, 1, 0)):
        pair = random_pair(np.random.default_rng(1), 4, 4)
        pair.candidates = [(i, order[i]) for i in range(4)]
        weights = np.zeros(FEATURES)
        weights[1] = 1.0  # link count alone
        for constraint in ("itg", "block-itg"):
            best = search(candidates_of([pair]), weights, ALL, SearchSettings(constraint=constraint))
            four = order not in ((1, 3, 0, 2), (2, 0, 3, 1))
            assert len(best.links().pairs) == (4 if four else 3), (order, constraint)
            assert naive.nests(set(pair.candidates)) == four


def greedy(pair, named):
    """Add the best link until none raises the score: beam search with a beam of one."""
    links, score = frozenset(), pair.score((), named)
    while True:
        children = [(pair.score(links | {c}, named), c) for c in pair.candidates if c not in links]
        better = [(s, c) for s, c in children if s > score]
        if not better:
            return links, score
        score, c = max(better, key=lambda x: x[0])
        links |= {c}


@given(st.integers(0, 2**32 - 1))
def test_a_beam_of_one_is_greedy(seed):
    rng = np.random.default_rng(seed)
    pair = random_pair(rng, *rng.integers(1, 6, 2), 0.8)
    weights, named = random_weights(rng)
    best = search(candidates_of([pair]), weights, ALL)
    links, score = greedy(pair, named)
    assert lists(best, 0) == [(pytest.approx(score, abs=1e-5), links)]


def test_limits_of_links_a_word():
    pair = random_pair(np.random.default_rng(2), 3, 4)
    weights = np.zeros(FEATURES)
    weights[1] = 1.0
    for s, t, links in ((1, 4, 3), (4, 1, 4), (2, 2, 6), (9, 9, 12)):
        best = search(candidates_of([pair]), weights, ALL, SearchSettings(beam=4, source_limit=s, target_limit=t))
        assert len(best.links().pairs) == links


def test_ties_go_to_the_first_and_threads_do_not_show():
    rng = np.random.default_rng(3)
    pair = random_pair(rng, 2, 2)
    weights = np.zeros(FEATURES)
    weights[[1, 2]] = 1.0, 0.0
    weights[6:8] = -1.0, 0.5  # one link is worth a half, wherever; a second one in its column costs
    best = search(candidates_of([pair]), weights, ALL)
    assert best.links().tolists() == [[(0, 0), (0, 1)]]
    pairs = [random_pair(rng, *rng.integers(1, 9, 2), 0.7) for _ in range(70)]
    weights, _ = random_weights(rng)
    e = candidates_of(pairs)
    found = []
    for threads in (1, 2, 3):
        with Pool(threads) as pool:
            best = search(e, weights, ALL, SearchSettings(beam=4, n_best=6), pool)
            found.append((best.bits.tobytes(), best.scores.tobytes(), best.features(ALL, pool).tobytes()))
    assert found[0] == found[1] == found[2]
    alone = [search(e.part(k, k + 1), weights, ALL, SearchSettings(beam=4, n_best=6)) for k in range(len(pairs))]
    assert b"".join(b.scores.tobytes() for b in alone) == found[0][1]


def test_features_of_lists_and_no_candidates():
    rng = np.random.default_rng(4)
    pairs = [random_pair(rng, *rng.integers(1, 6, 2), 0.7) for _ in range(12)]
    weights, _ = random_weights(rng)
    active = rng.random(FEATURES) < 0.6
    best = search(candidates_of(pairs), weights, active, SearchSettings(beam=3, n_best=4))
    features = best.features(active)
    assert not features[:, :, ~active].any()
    there = np.arange(4) < best.sizes[:, None]
    np.testing.assert_allclose((features @ weights)[there], best.scores[there], atol=1e-5)
    assert np.isneginf(best.scores[~there]).all()
    assert len(best.links(3)) == 12
    weights = np.ones(FEATURES)
    assert search(candidates_of([]), weights, ALL).links().tolists() == []
    pair = random_pair(np.random.default_rng(1), 3, 2, 0)
    assert search(candidates_of([pair, pair]), weights, ALL).links().tolists() == [[], []]


class State:
    """An alignment's state, and what changes it."""

    def __init__(self, candidates):
        self.e = e = candidates
        n = len(e.rows)
        self.arrays = kf.State(
            np.zeros((n + 63) // 64, np.uint64), np.zeros((len(e.s_words), 3), np.int32),
            np.zeros((len(e.t_words), 3), np.int32), np.zeros(kf.TOTALS, np.int32), np.zeros(n, np.int32),
        )  # fmt: skip

    def features(self, order):
        out = np.zeros(kf.FEATURES)
        e = self.e
        pair = kf.Pair(e.rows, e.columns, e.neighbours, e.local, e.s_words, e.t_words)
        kf.replay(ALL, pair, np.array(order, np.int32), np.zeros(kf.FEATURES), self.arrays, out)
        return out


def test_the_slow_version_and_the_registry_have_the_same_features():
    assert features.NAMES == naive.NAMES
    assert len(features.ALL) == kf.FEATURES
    assert [f.name for f in features.ALL if f.group in ("local", "non-local")] == list(naive.NAMES[:16])
    assert naive.NAMES.index("lonely") == kf.LONELY
    assert {f.name: f.start for f in features.ALL if f.start} == {"trees": 1}


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 7), st.sampled_from([0.3, 0.7, 1.0]))
def test_changes_over_links_in_any_order_sum_to_the_definition(seed, n_i, n_j, density):
    rng = np.random.default_rng(seed)
    pair = random_pair(rng, n_i, n_j, density)
    n = len(pair.candidates)
    order = rng.permutation(n)[: rng.integers(0, n + 1)]
    found = dict(zip(naive.NAMES, State(candidates_of([pair])).features(order).tolist(), strict=True))
    expected = pair.features([pair.candidates[c] for c in order])
    assert found == pytest.approx(expected, abs=1e-6)


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_neighbours_are_the_cells_around(seed, density):
    rng = np.random.default_rng(seed)
    pairs = [random_pair(rng, *rng.integers(1, 6, 2), density) for _ in range(3)]
    e = candidates_of(pairs)
    at = 0
    for pair in pairs:
        for c, (i, j) in enumerate(pair.candidates):
            around = [(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
            expected = [pair.candidates.index(x) if x in pair.candidates else -1 for x in around]
            assert e.neighbours[at + c].tolist() == expected
        at += len(pair.candidates)


def test_selections():
    assert features.select("local").sum() == 5
    assert features.select("paper").sum() == 16
    assert features.select("all").all()
    assert features.select("posterior, cross-count").nonzero()[0].tolist() == [3, 16]
    assert features.select("paper,-translation,-local,posterior").sum() == 12
    with pytest.raises(UsageProblem, match=r"no feature 'cross-coun'; did you mean cross-count.*\?"):
        features.select("cross-coun")
    with pytest.raises(UsageProblem, match="no feature 'crosses'; the groups are local, paper, all"):
        features.select("crosses")
    with pytest.raises(UsageProblem, match="leaves no feature"):
        features.select("local,-local")
    start = learning_plan("local", "paper").start
    assert start.tolist() == [1, 1, -1, 0, 1, -1, *[0] * (kf.FEATURES - 6)]


WEIGHTS = np.zeros(kf.FEATURES)
WEIGHTS[kf.TREES] = 2.0


def made(pairs):
    """Return the candidates of pairs: each the sizes of both sides, and the log-odds of its candidates."""
    sizes = np.array([size for size, _ in pairs])
    cells = [sorted(odds) for _, odds in pairs]
    offsets = [np.concatenate([[0], np.cumsum(x)]) for x in (*sizes.T, [len(c) for c in cells])]
    rows, columns = np.array([cell for c in cells for cell in c], np.int32).reshape(-1, 2).T.copy()
    candidates = bare_candidates(*offsets, rows, columns)
    candidates.local[:, kf.TREES] = [odds[cell] for (_, odds), c in zip(pairs, cells, strict=True) for cell in c]
    return candidates


def some_pairs(seed, count=40):
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        size = rng.integers(1, 8, 2)
        odds = rng.normal(-0.7, 1.5, tuple(size)).astype(np.float32)
        kept = rng.random(odds.shape) < rng.uniform(0.3, 1.0)
        pairs.append((size, {(int(i), int(j)): float(odds[i, j]) for i, j in np.argwhere(kept)}))
    return pairs


@pytest.mark.parametrize("seed", range(5))
def test_phrases_are_the_best_blocks(seed):
    pairs = some_pairs(seed)
    linked = [{cell for cell, x in odds.items() if x > 0} for _, odds in pairs]
    expected = [naive.phrases(some, odds, BONUS, kp.LONGEST) for some, (_, odds) in zip(linked, pairs, strict=True)]
    assert sum(map(len, expected)) > sum(map(len, linked))
    for threads in (1, 3):
        with Pool(threads) as pool:
            found = with_phrases(made(pairs), Links.from_lists([sorted(x) for x in linked]), WEIGHTS, pool)
        assert found.tolists() == [sorted(x) for x in expected]
