"""Sentence groups against gold, by the definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.links.ladder import SentenceGroup
from aligntools.metrics.sentence_groups import LadderScore

_CUTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)).filter(any), min_size=1, max_size=8)


def groups(cuts):
    found, i, j = [], 0, 0
    for a, b in cuts:
        found.append(SentenceGroup(tuple(range(i, i + a)), tuple(range(j, j + b))))
        i, j = i + a, j + b
    return found


def share(test, gold, lax):
    """Return the share of groups that are right, by the words of the definition."""
    right = 0
    for one in test:
        strict = any(one[:2] == other[:2] for other in gold)
        near = any(set(one.source) & set(other.source) and set(one.target) & set(other.target) for other in gold)
        right += strict or (lax and near)
    return right / len(test) if test else 0.0


@given(_CUTS, _CUTS)
def test_figures_are_those_of_the_definition(gold_cuts, cuts):
    gold, found = groups(gold_cuts), groups(cuts)
    score = LadderScore.of(gold, found)
    both = [[g for g in one if g.source and g.target] for one in (gold, found)]
    for lax, names in ((False, ("f1", "precision", "recall")), (True, ("f1_lax", "precision_lax", "recall_lax"))):
        precision, recall = share(found, gold, lax), share(both[0], both[1], lax)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        assert [getattr(score, name) for name in names] == pytest.approx([f1, precision, recall])
    assert score.gold == len(both[0])


def test_the_gold_itself_is_right():
    gold = groups([(1, 1), (2, 1), (0, 1), (1, 0), (1, 2)])
    score = LadderScore.of(gold, gold)
    assert (score.f1, score.f1_lax, score.groups, score.gold) == (1, 1, 5, 3)
