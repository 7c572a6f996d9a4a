"""Attachment scores, counted by hand and one word at a time."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation.brackets import Tree, parse_trees
from aligntools.metrics import attachment, brackets
from aligntools.metrics.settings import BracketScoring
from aligntools.parsing.text import UNIVERSAL, mapped_tags

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


def test_flaws_of_sentences():
    trees = attachment.DependencyTrees(np.array([0, 0, 0, 1, 2, 1], np.int32), np.array([0, 2, 2, 4, 6]))
    found = trees.flaws()
    assert found["several roots"].tolist() == [True, False, False, False]
    assert found["a cycle"].tolist() == [False, False, False, True]


def test_groups():
    score = attachment.TreeScore.of(*(attachment.DependencyTrees(heads, OFFSETS) for heads in (GOLD, HEADS)))
    groups = score.groups("distance")
    found = {g.name: (g.gold, g.predicted, g.right_gold, g.right_predicted) for g in groups}
    assert found == {"root": (3, 3, 2, 2), "1": (6, 5, 4, 4), "2": (0, 1, 0, 0)}
    assert groups[0].recall == groups[0].precision == 2 / 3
    assert attachment.Group("x", 0, 0, 0, 0).recall == attachment.Group("x", 0, 0, 0, 0).precision == 0
    trees = attachment.DependencyTrees(np.zeros(62, np.int32), np.array([0, 10, 21, 21, 62]))
    of_lengths = attachment.TreeScore.of(trees, trees).groups("length")
    assert [(g.name, g.gold) for g in of_lengths] == [("1-10", 10), ("11-20", 11), ("41+", 41)]
    assert attachment.distance_groups([0, 8, 9, 9, 1, 1, 1, 1, 1], np.array([0, 9])).tolist() == [
        *(0, 3, 3, 3, 3, 3, 3, 4, 4)
    ]


def test_labels_and_tags():
    gold, other = [b"nsubj:pass", b"obl", b"a:b"], [b"nsubj", b"obl", b"a:c"]
    assert attachment.labels_equal(gold, other).tolist() == [False, True, False]
    assert attachment.labels_equal(gold, other, subtypes=False).tolist() == [True, True, True]
    assert mapped_tags([b"PROPN", b"NOUN", b"SYM", b"PUNCT", b"odd"], "upos") == [b"NOUN", b"NOUN", b"X", b".", b"X"]
    assert mapped_tags([b"NNS", b"TO", b"IN", b"VERB"], "penn") == [b"NOUN", b"PRT", b"ADP", b"VERB"]
    assert len(set(UNIVERSAL)) == 12


TREES = "(S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NNS legs))))) (. .))"
#: The prepositional phrase hangs from the verb; one tag is another.
OTHER = "(S (NP (DT The) (NN dog)) (VP (VBD saw) (NP (DT a) (NN man)) (PP (IN with) (NP (NN legs)))) (. .))"


def tree(text):
    return next(parse_trees([text], "x"))[1]


def counts(gold, other, **settings):
    (row,) = brackets.count([tree(gold)], [tree(other)], BracketScoring(**settings)).tolist()
    return dict(zip(brackets.LABELS, row, strict=True))


def test_counts_of_pairs():
    found = counts(TREES, OTHER)
    assert (found["right"], found["gold"], found["parsed"]) == (6, 7, 6)
    assert (found["crossing"], found["exact"], found["tags"], found["words"]) == (0, 0, 6, 7)
    score = brackets.BracketScore.of([tree(TREES)], [tree(OTHER)])
    assert (score.precision, score.recall) == (1.0, pytest.approx(6 / 7))
    assert score.f1 == pytest.approx(12 / 13)
    assert score.groups("label") == [("NP", 4, 3, 3), ("PP", 1, 1, 1), ("S", 1, 1, 1), ("VP", 1, 1, 1)]
    assert score.groups("length") == [("1-10", 7, 6, 6)]
    gold, other = "(S (A (X a) (X b)) (B (X c) (X d)))", "(S (X a) (C (C (X b) (X c)) (X d)))"
    found = counts(gold, other)
    assert (found["right"], found["parsed"], found["crossing"]) == (1, 3, 2)
    assert (found["without_crossing"], found["up_to_two"]) == (0, 1)
    flat = "(S " + "(NP (D the) (N cat)) " * 20_000 + ")"
    deep = "".join(f"(S (N a{k}) (V " for k in range(1500)) + "(B x)" + "))" * 1500
    for one in flat, deep:
        found = counts(one, one)
        assert (found["right"], found["crossing"], found["exact"]) == (found["gold"], 0, 1)
    assert counts("(S (NP (NP (N a))) (V b))", "(S (NP (N a)) (V b))")["right"] == 2
    assert counts("(S (NP (N a)) (V b))", "(S (NP (NP (N a))) (V b))")["parsed"] == 3


SPANS = st.tuples(st.integers(0, 8), st.integers(1, 5), st.integers(1, 2)).map(
    lambda s: (("X", s[0], s[0] + s[1]), s[2])
)


@given(st.lists(SPANS, max_size=8), st.lists(SPANS, max_size=8))
def test_brackets_cross_where_they_overlap_and_neither_holds_the_other(found, known):
    found, known = Counter(dict(found)), Counter(dict(known))
    crossing = sum(n for (_, a, b), n in found.items() if any(a < c < b < d or c < a < d < b for _, c, d in known))
    assert brackets._crossing(found, known) == crossing


def test_what_does_not_count():
    gold, other = "(S (NP (N a) (, ,)) (VP (V b)) (. .))", "(S (NP (N a)) (X (N ,) (VP (V b)) (. .)))"
    found = counts(gold, other)
    assert (found["right"], found["gold"], found["parsed"], found["words"]) == (3, 3, 4, 2)
    every = counts(gold, other, leave_out="none")
    assert (every["right"], every["words"]) == (2, 4)
    found = counts("(TOP (S (ADVP (R up)) (V go)))", "( (S (PRT (R up)) (V go)))")
    assert (found["right"], found["gold"], found["parsed"], found["exact"]) == (2, 2, 2, 1)
    score = brackets.BracketScore.of([tree(TREES), tree(TREES)], [Tree(""), tree(TREES)])
    assert (score.failed, score.precision, score.recall, score.exact) == (1, 1.0, 0.5, 0.5)
    assert score.tags == 0.5
    found = counts(TREES, OTHER, unlabelled=True, whole=False)
    assert (found["right"], found["gold"], found["parsed"]) == (4, 5, 4)
    assert counts(TREES, OTHER, max_length=7)["sentences"] == 0
    assert counts(TREES, OTHER, max_length=8)["sentences"] == 1


def random_tree(rng, begin, end):
    if end - begin == 1:
        leaf = Tree("T" if rng.random() < 0.8 else ".", [], f"w{begin}")
        return Tree(str(rng.choice(list("AB"))), [leaf]) if rng.random() < 0.3 else leaf
    cut = int(rng.integers(begin + 1, end))
    children = [random_tree(rng, begin, cut), random_tree(rng, cut, end)]
    return Tree(str(rng.choice(["A", "B", "TOP"])), children)


def naive(gold, other):
    """Count by lists of words, those that count."""

    def listed(node, marks, kept):
        if node.word is not None:
            return [marks.pop(0)]
        words = [word for child in node.children for word in listed(child, marks, kept)]
        inside = [word for word, counted in words if counted]
        if inside and node.label != "TOP":
            kept.append((node.label, tuple(inside)))
        return words

    kept = [], []
    for side, own in zip((gold, other), kept, strict=True):
        listed(side, [(leaf.word, leaf.label != ".") for leaf in gold.leaves()], own)
    right, left = 0, list(kept[0])
    for bracket in kept[1]:
        if bracket in left:
            left.remove(bracket)
            right += 1
    return right, len(kept[0]), len(kept[1])


def test_against_a_count_of_all_brackets():
    rng = np.random.default_rng(4)
    for _ in range(200):
        n = int(rng.integers(1, 9))
        gold, other = (random_tree(rng, 0, n) for _ in range(2))
        assert tuple(brackets.count([gold], [other], BracketScoring())[0, :3].tolist()) == naive(gold, other)
