"""Patterns of tags, against every stretch matched by itself."""

import itertools
import random

import pytest

from aligntools.ground.errors import UsageProblem
from aligntools.tools.terms.settings import TagPattern


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("(ADJ|NOUN)* NOUN", ["NOUN", "ADJ NOUN", "NOUN ADJ NOUN"], ["ADJ", "NOUN ADJ", "VERB NOUN"]),
        ("NOUN (ADP NOUN)?", ["NOUN", "NOUN ADP NOUN"], ["NOUN ADP", "ADP NOUN"]),
        ("A+ . | B", ["A A", "A B", "A C", "B"], ["A", "B B", "C C"]),
        ("NN NNS", ["NN NNS"], ["NN", "NNS", "NN NN"]),
        ("NN-x:1 $", ["NN-x:1 $"], ["NN-x:1", "NN $"]),
    ],
)
def test_what_matches(pattern, good, bad):
    found = TagPattern(pattern)
    assert [found.matches(tags.split()) for tags in good] == [True] * len(good)
    assert [found.matches(tags.split()) for tags in bad] == [False] * len(bad)


@pytest.mark.parametrize("pattern", ["", "( )", "(A", "A)", "* A", "A | (", "A **", "A+*?+"])
def test_what_is_no_pattern(pattern):
    with pytest.raises(UsageProblem, match="patterns"):
        TagPattern(pattern)


def test_stretches_are_those_that_match_one_by_one():
    rng = random.Random(3)
    pattern = TagPattern("(A|B)* C (D . | C)?")
    for size, longest in itertools.product((0, 1, 3, 300), (1, 4)):
        tags = rng.choices("ABCDE", k=size)
        found = pattern.stretches(tags, longest)
        assert found.shape == (longest, size)
        for length, place in itertools.product(range(1, longest + 1), range(size)):
            whole = tags[place : place + length]
            assert found[length - 1, place] == (len(whole) == length and pattern.matches(whole))
