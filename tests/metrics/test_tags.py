import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation import tagged_text
from aligntools.ground.errors import UsageProblem
from aligntools.metrics import tags
from tests import naive_tags

TAGS = st.lists(st.tuples(st.sampled_from([b"A", b"B", b"C"]), st.sampled_from([b"0", b"1", b"2", b"3"])), max_size=12)
SAME = st.lists(st.tuples(*[st.sampled_from([b"A", b"B", b"C", b"D"])] * 2), max_size=12)


def score(gold, predicted, known=None, offsets=None):
    words = [b"old"] * len(gold) if known is None else [b"old" if k else b"new" for k in known]
    offsets = np.array([0, len(gold)] if offsets is None else offsets)
    lines = np.arange(1, len(offsets))
    text = tagged_text.Tokens(words, offsets, list(gold), lines, "tagged")
    training = None if known is None else frozenset({b"old"})
    return tags.TagScore.of(text, dataclasses.replace(text, tags=list(predicted)), training=training)


def both(pairs):
    return [g for g, _ in pairs], [p for _, p in pairs]


@given(st.one_of(TAGS, SAME))
def test_the_table(pairs):
    gold, predicted = both(pairs)
    table = tags.contingency(gold, predicted)
    assert (table.gold, table.predicted) == (sorted(set(gold)), sorted(set(predicted)))
    found = [
        (g, p)
        for k, g in enumerate(table.gold)
        for m, p in enumerate(table.predicted)
        for _ in range(table.counts[k, m])
    ]
    assert found == sorted(pairs)
    assert table.words == len(pairs)
    assert table.foreign == sum(p not in gold for p in predicted)


@given(st.one_of(TAGS, SAME))
def test_mappings_are_the_best_of_all(pairs):
    gold, predicted = both(pairs)
    table = tags.contingency(gold, predicted)
    scores = score(gold, predicted)
    if not pairs:
        assert (scores.many_to_one, scores.one_to_one, scores.accuracy) == (None, None, None)
        return
    for function, value, injective in [
        (tags.many_to_one, scores.many_to_one, False),
        (tags.one_to_one, scores.one_to_one, True),
    ]:
        mapping = function(table)
        best = naive_tags.best_mapping(gold, predicted, injective)
        assert value == best / len(pairs)
        to = dict(zip(table.predicted, mapping.tolist(), strict=True))
        assert sum(to[p] >= 0 and table.gold[to[p]] == g for g, p in pairs) == best
        used = mapping[mapping >= 0].tolist()
        assert not injective or len(set(used)) == len(used)
    assert scores.one_to_one <= scores.many_to_one
    if scores.accuracy is not None:
        assert scores.accuracy == sum(g == p for g, p in pairs) / len(pairs)
        assert scores.accuracy <= scores.one_to_one


@given(st.one_of(TAGS, SAME).filter(len))
def test_information_is_that_of_the_definitions(pairs):
    gold, predicted = both(pairs)
    found = tags.information(tags.contingency(gold, predicted))
    given_predicted = naive_tags.conditional_entropy(gold, predicted)
    given_gold = naive_tags.conditional_entropy(predicted, gold)
    of_gold, of_predicted = naive_tags.entropy(gold), naive_tags.entropy(predicted)
    homogeneity = 1 - given_predicted / of_gold if of_gold else 1
    completeness = 1 - given_gold / of_predicted if of_predicted else 1
    total = homogeneity + completeness
    expected = tags.Information(
        of_gold,
        of_predicted,
        given_predicted,
        given_gold,
        # another way to it: twice the joint entropy less the two single ones
        2 * naive_tags.entropy(pairs) - of_gold - of_predicted,
        homogeneity,
        completeness,
        2 * homogeneity * completeness / total if total > 1e-12 else 0,
    )
    assert dataclasses.astuple(found) == pytest.approx(dataclasses.astuple(expected), abs=1e-9)


@given(TAGS.filter(len), st.permutations([b"0", b"1", b"2", b"3"]))
def test_names_of_labels_do_not_matter(pairs, names):
    gold, predicted = both(pairs)
    one = score(gold, predicted)
    renamed = score(gold, [names[int(p)] for p in predicted])
    assert (renamed.many_to_one, renamed.one_to_one) == (one.many_to_one, one.one_to_one)
    assert dataclasses.astuple(renamed.information) == pytest.approx(dataclasses.astuple(one.information), abs=1e-12)


@given(TAGS.filter(len))
def test_vi_is_symmetric_and_zero_only_for_the_same_partition(pairs):
    gold, predicted = both(pairs)
    vi = tags.information(tags.contingency(gold, predicted)).vi
    assert tags.information(tags.contingency(predicted, gold)).vi == pytest.approx(vi, abs=1e-12)
    assert (vi == 0) == (len(set(pairs)) == len(set(gold)) == len(set(predicted)))


GOLD = [b"N"] * 4 + [b"V"] * 2 + [b"D"] * 2


def test_extremes():
    scores = score(GOLD, GOLD)
    assert (scores.accuracy, scores.many_to_one, scores.one_to_one) == (1, 1, 1)
    assert scores.information == tags.Information(1.5, 1.5, 0, 0, 0, 1, 1, 1)
    scores = score(GOLD, [b"7"] * 8)
    assert (scores.accuracy, scores.many_to_one, scores.one_to_one) == (None, 0.5, 0.5)
    assert scores.information == tags.Information(1.5, 0, 1.5, 0, 1.5, 0, 1, 0)
    scores = score(GOLD, [b"%d" % k for k in range(8)])
    assert (scores.accuracy, scores.many_to_one, scores.one_to_one) == (None, 1, 3 / 8)
    information = scores.information
    assert (information.vi, information.homogeneity, information.completeness) == (1.5, 1, 0.5)
    assert information.v_measure == pytest.approx(2 / 3)
    scores = score([b"A", b"A", b"B", b"B"], [b"0", b"1", b"0", b"1"])
    assert (scores.many_to_one, scores.one_to_one) == (0.5, 0.5)
    assert scores.information == tags.Information(1, 1, 1, 1, 2, 0, 0, 0)
    scores = score([], [], np.zeros(0, bool))
    assert (scores.words, scores.accuracy, scores.many_to_one, scores.one_to_one) == (0, None, None, None)
    assert (scores.known, scores.unknown, scores.accuracy_known, scores.accuracy_unknown) == (0, 0, None, None)
    assert scores.information == tags.Information(0, 0, 0, 0, 0, 1, 1, 1)
    table = tags.contingency([], [])
    assert (tags.by_tag(table), tags.confusions(table)) == ([], [])
    assert (scores.interval(), scores.minus(scores)) == (None, None)


def test_accuracy_and_known_words():
    gold = [b"N"] * 4
    assert score(gold, [b"N", b"N", b"x", b"x"]).accuracy == 0.5
    scores = score(gold, [b"N", b"y", b"x", b"x"], np.ones(4, bool))
    assert (scores.accuracy, scores.accuracy_known, scores.known, scores.foreign) == (None, None, 4, 3)
    known = np.array([True] * 5 + [False] * 3)
    scores = score(GOLD, [b"N"] * 5 + [b"V", b"V", b"D"], known)
    assert (scores.known, scores.unknown, scores.accuracy_known) == (5, 3, 0.8)
    assert scores.accuracy_unknown == pytest.approx(2 / 3)
    assert score(GOLD, GOLD, ~np.zeros(8, bool)).accuracy_unknown is None
    assert score(GOLD, GOLD).known is None
    counts = score([b"N", b"V", b"D", b"N"], [b"N", b"N", b"D", b"N"], offsets=[0, 2, 2, 4]).counts
    assert counts.tolist() == [[1, 2], [0, 0], [2, 2]]


def test_figures_of_each_tag():
    predicted = [b"N", b"N", b"V", b"x", b"V", b"N", b"D", b"N"]
    rows = {row["tag"]: tuple(row.values())[1:] for row in tags.by_tag(tags.contingency(GOLD, predicted))}
    assert list(rows) == ["N", "V", "D", "x"]
    assert rows["N"] == (4, 4, 2, 0.5, 0.5, 0.5)
    assert rows["V"] == (2, 2, 1, 0.5, 0.5, 0.5)
    assert rows["D"] == (2, 1, 1, 1.0, 0.5, pytest.approx(2 / 3))
    assert rows["x"] == (0, 1, 0, 0.0, 0.0, 0.0)
    assert tags.confusions(tags.contingency(GOLD, predicted)) == [
        (b"D", b"N", 1),
        (b"N", b"V", 1),
        (b"N", b"x", 1),
        (b"V", b"N", 1),
    ]
    assert tags.confusions(tags.contingency(GOLD, predicted), 2) == [(b"D", b"N", 1), (b"N", b"V", 1)]


def test_figures_of_induced_labels():
    rows = tags.by_tag(tags.contingency(GOLD, [b"0", b"0", b"0", b"1", b"1", b"1", b"2", b"0"]))
    assert [tuple(row.values())[:4] for row in rows] == [("N", 4, 4, 3), ("V", 2, 3, 2), ("D", 2, 1, 1)]
    values = [b"%d" % k for k in range(5000)]
    with pytest.raises(UsageProblem, match="5000 different tags and 5000 different labels"):
        tags.contingency(values, values)
    with pytest.raises(ValueError, match="1 labels for 2 tags"):
        tags.contingency([b"A", b"B"], [b"A"])
