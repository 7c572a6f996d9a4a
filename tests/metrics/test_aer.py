import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.formats.goldlinks import Gold, read_gold
from aligntools.formats.pharaoh import Links
from aligntools.metrics import aer
from tests.places import REALDATA

point = st.tuples(st.integers(0, 5), st.integers(0, 5))
sets = st.frozensets(point, max_size=12)
corpora = st.lists(st.tuples(sets, sets, sets), min_size=1, max_size=5)


def gold_of(sure, possible):
    both = [set(s) | set(p) for s, p in zip(sure, possible, strict=True)]
    return Gold(Links.from_lists(sure), Links.from_lists(both), "pharaoh", 0)


def test_worked_example():
    # |A| = 4, |S| = 3, |P| = 5, A∩S = {0-0, 2-2}, A∩P = {0-0, 2-2, 1-2}:
    # precision 3/4, recall 2/3, AER 1 - (2 + 3) / (4 + 3) = 2/7 (Och & Ney 2003, equation 44 ff.)
    gold = gold_of([[(0, 0), (1, 1), (2, 2)]], [[(1, 2), (2, 1)]])
    counts = aer.count(Links.from_lists([[(0, 0), (1, 2), (2, 2), (3, 3)]]), gold)
    assert counts.tolist() == [[4, 3, 5, 2, 3]]
    scores = aer.score(counts)
    assert scores.precision == 3 / 4
    assert scores.recall == pytest.approx(2 / 3)
    assert scores.f1 == pytest.approx(2 * (3 / 4) * (2 / 3) / (3 / 4 + 2 / 3))
    assert scores.aer == pytest.approx(2 / 7)


@given(corpora)
@settings(deadline=None)
def test_counts_are_those_of_sets(corpus):
    gold = gold_of([s for s, _, _ in corpus], [p for _, p, _ in corpus])
    counts = aer.count(Links.from_lists([a for _, _, a in corpus]), gold)
    for (s, p, a), row in zip(corpus, counts.tolist(), strict=True):
        p = s | p
        assert row == [len(a), len(s), len(p), len(a & s), len(a & p)]


@given(corpora)
@settings(deadline=None)
def test_without_possible_links_aer_is_one_minus_f1(corpus):
    gold = gold_of([s for s, _, _ in corpus], [()] * len(corpus))
    scores = aer.score(aer.count(Links.from_lists([a for _, _, a in corpus]), gold))
    if scores.links + scores.sure:
        assert scores.aer == pytest.approx(1 - scores.f1)


def test_extremes():
    gold = gold_of([[(0, 0)], [(1, 1)]], [[(0, 1)], []])
    assert aer.score(aer.count(gold.sure, gold)).aer == 0
    assert aer.score(aer.count(gold.possible, gold)).aer == 0
    nothing = Links.from_lists([[], []])
    assert aer.score(aer.count(nothing, gold)).aer == 1
    assert aer.score(aer.count(nothing, gold)).precision == 0
    assert aer.score(aer.count(nothing, gold_of([[], []], [[], []]))).aer == 0
    with pytest.raises(ValueError, match="2 sentences where the gold has 1"):
        aer.count(nothing, gold_of([[]], [[]]))


def random_counts(seed, n=60, quality=0.8):
    rng = np.random.default_rng(seed)
    sure = rng.integers(5, 15, n)
    right = rng.binomial(sure, quality)
    links = right + rng.integers(0, 4, n)
    return np.stack([links, sure, sure, right, right], axis=1)


def test_bootstrap_is_reproducible_and_around_the_score():
    counts = random_counts(1)
    low, high = aer.bootstrap(counts, samples=500, seed=3)
    assert low < aer.score(counts).aer < high
    assert (low, high) == aer.bootstrap(counts, samples=500, seed=3)
    assert (low, high) != aer.bootstrap(counts, samples=500, seed=4)
    wide = aer.bootstrap(counts[:10], samples=500, seed=3)
    assert wide[1] - wide[0] > high - low
    same = np.tile(counts[:1], (20, 1))
    assert aer.bootstrap(same, samples=50) == pytest.approx((aer.score(same).aer,) * 2)


def test_comparison():
    good, bad = random_counts(1, quality=0.9), random_counts(1, quality=0.6)
    better = aer.compare(good, bad, samples=300)
    assert better.value == pytest.approx(aer.score(good).aer - aer.score(bad).aer)
    assert better.interval[0] < better.value < better.interval[1] < 0
    assert better.p_value == pytest.approx(1 / 301)
    worse = aer.compare(bad, good, samples=300)
    assert worse.value == -better.value
    assert worse.interval == pytest.approx((-better.interval[1], -better.interval[0]))
    same = aer.compare(good, good, samples=100)
    assert (same.value, same.interval, same.p_value) == (0, (0, 0), 1)


def test_p_values_are_those_of_enumeration():
    a, b = random_counts(5, n=8), random_counts(6, n=8)
    a[:, 1:3] = b[:, 1:3]
    a[:, 3:] = np.minimum(a[:, 3:], a[:, 1:2])
    a[:, 0] = np.maximum(a[:, 0], a[:, 3])
    observed = abs(aer.score(a).aer - aer.score(b).aer)
    extreme = 0
    for mask in range(256):
        swap = np.array([[mask >> k & 1] for k in range(8)])
        x, y = np.where(swap, b, a), np.where(swap, a, b)
        extreme += abs(aer.score(x).aer - aer.score(y).aer) >= observed - 1e-12
    assert aer.compare(a, b, samples=4000).p_value == pytest.approx(extreme / 256, abs=0.03)


@pytest.mark.slow
@pytest.mark.skipif(not (REALDATA / "alignment").is_dir(), reason="no real data (ALIGNTOOLS_REALDATA)")
def test_agrees_with_an_independent_scorer_on_real_gold():
    script = REALDATA.parent / "tools" / "aer.py"
    if not script.exists():
        pytest.skip("no independent scorer beside the real data")
    spec = importlib.util.spec_from_file_location("independent_aer", script)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)
    rng = np.random.default_rng(0)
    files = sorted((REALDATA / "alignment").glob("*/*.wa"))
    assert files
    for path in files:
        gold = read_gold(path)
        noisy = [
            {(max(0, i + int(d)), j) for (i, j), d in zip(row, rng.integers(-1, 2, len(row)), strict=True)}
            for row in gold.possible.tolists()
        ]
        scores = aer.score(aer.count(Links.from_lists(noisy), gold))
        sure, possible = other.parse(path, 0, False, True)
        expected = other.score(sure, possible, noisy)
        assert scores.aer == pytest.approx(expected["aer"], abs=1e-12), path
        assert (scores.precision, scores.recall, scores.f1) == pytest.approx(
            (expected["p"], expected["r"], expected["f1"])
        )
        assert (scores.links, scores.links_in_sure) == (expected["A"], expected["AS"])
