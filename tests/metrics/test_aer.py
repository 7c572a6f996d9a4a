import importlib.util

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.goldlinks import Gold, read_gold
from aligntools.formats.links.pharaoh import Links
from aligntools.metrics import aer
from aligntools.metrics.aer import AerScore
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
    hypothesis = Links.from_lists([[(0, 0), (1, 2), (2, 2), (3, 3)]])
    counts = aer.count(hypothesis, gold)
    assert counts.tolist() == [[4, 3, 5, 2, 3]]
    scores = AerScore.of(gold, hypothesis)
    assert scores.counts.tolist() == counts.tolist()
    assert scores.precision == 3 / 4
    assert scores.recall == pytest.approx(2 / 3)
    assert scores.f1 == pytest.approx(2 * (3 / 4) * (2 / 3) / (3 / 4 + 2 / 3))
    assert scores.aer == pytest.approx(2 / 7)


@given(corpora)
def test_counts_are_those_of_sets(corpus):
    gold = gold_of([s for s, _, _ in corpus], [p for _, p, _ in corpus])
    counts = aer.count(Links.from_lists([a for _, _, a in corpus]), gold)
    for (s, p, a), row in zip(corpus, counts.tolist(), strict=True):
        p = s | p
        assert row == [len(a), len(s), len(p), len(a & s), len(a & p)]


@given(corpora)
def test_without_possible_links_aer_is_one_minus_f1(corpus):
    gold = gold_of([s for s, _, _ in corpus], [()] * len(corpus))
    scores = AerScore.of(gold, Links.from_lists([a for _, _, a in corpus]))
    if scores.links + scores.sure:
        assert scores.f1 is None or scores.aer == pytest.approx(1 - scores.f1)


def test_extremes():
    gold = gold_of([[(0, 0)], [(1, 1)]], [[(0, 1)], []])
    assert AerScore.of(gold, gold.sure).aer == 0
    assert AerScore.of(gold, gold.possible).aer == 0
    nothing = Links.from_lists([[], []])
    assert AerScore.of(gold, nothing).aer == 1
    nothing_found = AerScore.of(gold, nothing)
    assert (nothing_found.precision, nothing_found.recall, nothing_found.f1) == (None, 0, None)
    assert nothing_found.as_dict()["precision"] is None
    assert "precision -, recall 0.00, F1 -" in str(nothing_found)
    possible = gold_of([[], []], [[(0, 1)], [(1, 1)]])
    score = AerScore.of(possible, possible.possible)
    assert (score.aer, score.precision, score.recall, score.f1) == (0, 1, None, None)
    assert AerScore.of(gold_of([[], []], [[], []]), nothing).aer == 0
    with pytest.raises(ValueError, match="2 sentences where the gold has 1"):
        aer.count(nothing, gold_of([[]], [[]]))


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
        scores = AerScore.of(gold, Links.from_lists(noisy))
        sure, possible = other.parse(path, 0, False, True)
        expected = other.score(sure, possible, noisy)
        assert scores.aer == pytest.approx(expected["aer"], abs=1e-12), path
        assert (scores.precision, scores.recall, scores.f1) == pytest.approx(
            (expected["p"], expected["r"], expected["f1"])
        )
        assert (scores.links, scores.links_in_sure) == (expected["A"], expected["AS"])


@given(corpora)
def test_groups_of_links_have_the_counts_of_all(corpus):
    hypothesis, sure, possible = (Links.from_lists(column) for column in zip(*corpus, strict=True))
    both = gold_of(sure.tolists(), possible.tolists())
    found = aer.count_by_group(hypothesis, both, lambda sentences, pairs: (sentences + pairs[:, 0]) % 3, 3)
    assert found.sum(axis=0).tolist() == aer.count(hypothesis, both).sum(axis=0).tolist()
    expected = np.zeros((3, 5), int)
    for n, (links, own, other) in enumerate(corpus):
        allowed = own | other
        for i, j in links | allowed:
            group = expected[(n + i) % 3]
            group += [
                (i, j) in links,
                (i, j) in own,
                (i, j) in allowed,
                (i, j) in links & own,
                (i, j) in links & allowed,
            ]
    assert found.tolist() == expected.tolist()
