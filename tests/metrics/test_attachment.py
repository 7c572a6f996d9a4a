"""Attachment scores, counted by hand and one word at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.metrics import attachment
from aligntools.parsing.text import UNIVERSAL, universal

OFFSETS = np.array([0, 3, 3, 5, 9])
GOLD = np.array([2, 0, 2, 0, 1, 2, 0, 2, 3])
HEADS = np.array([2, 0, 1, 2, 0, 2, 0, 2, 3])
WORDS = [b"a", b"b", b".", b"c", b"$", b"d", "«»".encode(), b"e", b"...!"]
TAGS = [b"X", b"X", b"PUNCT", b"X", b"SYM", b"X", b"X", b"X", b"."]


@pytest.mark.parametrize(
    ("convention", "left_out"), [("conll", [2, 6, 8]), ("ud", [2, 8])]
)  # fmt: skip
def test_what_counts_as_punctuation(convention, left_out):
    assert np.flatnonzero(~attachment.counted(TAGS if convention == "ud" else WORDS, convention)).tolist() == left_out


def test_what_is_counted():
    labels = np.array([True, True, True, True, True, False, True, True, True])
    counts = attachment.count(GOLD, HEADS, OFFSETS, np.ones(9, bool), labels)
    assert counts.tolist() == [[3, 2, 2, 1, 0, 1, 1], [0] * 7, [2, 0, 0, 1, 0, 1, 0], [4, 4, 3, 1, 1, 1, 1]]
    assert attachment.figures(counts.sum(axis=0)).tolist() == [6 / 9, 5 / 9, 1 / 3, 2 / 3]
    without = attachment.count(GOLD, HEADS, OFFSETS, attachment.counted(TAGS, "ud"))
    assert without.tolist() == [[2, 2, 0, 1, 1, 1, 1], [0] * 7, [2, 0, 0, 1, 0, 1, 0], [3, 3, 0, 1, 1, 1, 1]]
    short = attachment.count(GOLD, HEADS, OFFSETS, attachment.counted(TAGS, "ud"), longest=2)
    assert short[:, 0].tolist() == [2, 0, 2, 0]
    assert not short[3].any()
    counts = attachment.count([], [], np.array([0, 0]), np.zeros(0, bool))
    assert attachment.figures(counts.sum(axis=0)).tolist() == [0, 0, 0, 0]
    nothing = attachment.DependencyTrees(np.zeros(0, np.int32), np.array([0]))
    score = attachment.TreeScore.of(nothing, nothing)
    assert (score.words, score.sentences, score.uas, score.las, score.complete, score.root) == (0, 0, 0, None, 0, 0)
    assert score.interval() == (0, 0)
    assert score.minus(score).p_value == 1


@given(st.data())
def test_counts_one_word_at_a_time(data):
    lengths = data.draw(st.lists(st.integers(0, 6), max_size=6))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    gold, heads = (rng.integers(0, 3, offsets[-1]) for _ in range(2))
    use, labels = (rng.random(offsets[-1]) < 0.7 for _ in range(2))
    counts = attachment.count(gold, heads, offsets, use, labels)
    for s in range(len(lengths)):
        words = [k for k in range(offsets[s], offsets[s + 1]) if use[k]]
        right = [k for k in words if gold[k] == heads[k]]
        roots = [k for k in words if gold[k] == 0]
        want = [
            len(words), len(right), sum(bool(labels[k]) for k in right), bool(words), bool(words) and right == words,
            len(roots), sum(bool(heads[k] == 0) for k in roots),
        ]  # fmt: skip
        assert counts[s].tolist() == want


def test_groups():
    right = GOLD == HEADS
    groups = attachment.distance_groups(GOLD, OFFSETS), attachment.distance_groups(HEADS, OFFSETS)
    names = [name for name, _ in attachment.DISTANCES]
    found = {
        g.name: (g.gold, g.predicted, g.right_gold, g.right_predicted)
        for g in attachment.by_group(*groups, right, names)
    }
    assert found == {"root": (3, 3, 2, 2), "1": (6, 5, 4, 4), "2": (0, 1, 0, 0)}
    root = attachment.by_group(*groups, right, names)[0]
    assert root.recall == root.precision == 2 / 3
    assert attachment.Group("x", 0, 0, 0, 0).recall == attachment.Group("x", 0, 0, 0, 0).precision == 0
    assert attachment.length_groups(np.array([0, 10, 21, 21, 62])).tolist() == [0] * 10 + [1] * 11 + [4] * 41
    assert attachment.distance_groups([0, 8, 9, 9, 1, 1, 1, 1, 1], np.array([0, 9])).tolist() == [
        *(0, 3, 3, 3, 3, 3, 3, 4, 4),
    ]


def test_labels_and_tags():
    gold, other = [b"nsubj:pass", b"obl", b"a:b"], [b"nsubj", b"obl", b"a:c"]
    assert attachment.labels_equal(gold, other).tolist() == [False, True, False]
    assert attachment.labels_equal(gold, other, subtypes=False).tolist() == [True, True, True]
    assert universal([b"PROPN", b"NOUN", b"SYM", b"PUNCT", b"odd"]) == [b"NOUN", b"NOUN", b"X", b".", b"X"]
    assert universal([b"NNS", b"TO", b"IN", b"VERB"], "penn") == [b"NOUN", b"PRT", b"ADP", b"VERB"]
    assert universal([b"q"], {b"q": b"ADV"}) == [b"ADV"]
    assert len(set(UNIVERSAL)) == 12
