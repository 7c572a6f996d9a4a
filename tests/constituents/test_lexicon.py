"""Words of a grammar: known, rare and unknown ones."""

import numpy as np
import pytest

from aligntools.constituents.lexicon import DRAWN, FREQUENT, GENERAL, MIXED, RARE, Occurrences, shapes

#: Tag 0 is a noun's, tag 1 a verb's.
SENTENCES = [
    (["the", "walking"], [0, 1]),
    (["the", "talking"], [0, 1]),
    (["the", "milking"], [0, 1]),
    *[(["the", "dog"], [0, 0])] * 5,
    *[(["the", "dog"], [0, 1])],
    (["the", "Rome"], [0, 0]),
]


@pytest.fixture
def made():
    occurrences, pairs = Occurrences.of(SENTENCES)
    counts = np.bincount([pair for own in pairs for pair in own], minlength=len(occurrences.pairs)).astype(float)
    return occurrences, counts


def by_tag(lexicon, words, begins):
    """Return p(tag | word), each word's up to a factor, from p(word | tag)."""
    found = lexicon.scores(words, np.array(begins)) * lexicon.of_states
    return found / found.sum(1, keepdims=True)


def test_how_words_are_known(made):
    occurrences, counts = made
    lexicon = occurrences.lexicon(counts, np.ones(2, np.int32))
    assert occurrences.counts[occurrences.words["the"]] <= FREQUENT
    assert (by_tag(lexicon, ["a", "the"], [0, 1, 2])[1] > 0).all()
    lexicon.counts[occurrences.words["the"]] = FREQUENT + 1
    np.testing.assert_array_equal(by_tag(lexicon, ["a", "the"], [0, 1, 2])[1], [1, 0])
    occurrences, counts = made
    lexicon = occurrences.lexicon(counts, np.ones(2, np.int32))
    shape = lexicon.of_shapes[lexicon.shape("dog", False)]
    expected = (np.array([5, 1]) + MIXED * shape) / (6 + MIXED)
    np.testing.assert_allclose(by_tag(lexicon, ["the", "dog"], [0, 1, 2])[1], expected)
    occurrences, counts = made
    lexicon = occurrences.lexicon(counts, np.ones(2, np.int32))
    # three verbs end in -king, -ing, -ng and -g, in each of which, and in small letters, the more general counts for 2
    noun = 0.25 * (GENERAL / (3 + GENERAL)) ** 5
    np.testing.assert_allclose(by_tag(lexicon, ["the", "barking"], [0, 1, 2])[1], [noun, 1 - noun])
    # what has no shape that was seen is as rare words are: three verbs, one noun
    assert all(n <= RARE for word, n in zip(occurrences.words, occurrences.counts, strict=True) if word == "Rome")
    np.testing.assert_allclose(by_tag(lexicon, ["the", "?"], [0, 1, 2])[1], [0.25, 0.75])
    occurrences, counts = made
    lexicon = occurrences.lexicon(counts, np.ones(2, np.int32))
    lexicon.counts[occurrences.words["dog"]] = FREQUENT + 1
    np.testing.assert_array_equal(lexicon.scores(["Dog"], np.arange(3)), lexicon.scores(["dog"], np.arange(3)))


def test_brackets_are_known_as_treebanks_write_them():
    occurrences, _ = Occurrences.of([(["(", "dog", ")"], [0, 1, 2])])
    lexicon = occurrences.lexicon(np.ones(3), np.ones(3, np.int32))
    first = np.arange(4)
    np.testing.assert_array_equal(lexicon.scores(["-LRB-", "-RRB-"], first), lexicon.scores(["(", ")"], first))
    assert not np.array_equal(lexicon.scores(["-LRB-"], first), lexicon.scores(["-LCB-"], first))
    inside, _ = Occurrences.of([(["dog(s)", ":)"], [0, 1])])
    known = inside.lexicon(np.ones(2), np.ones(2, np.int32))
    both = [known.scores(words, np.arange(3)) for words in (["dog-LRB-s-RRB-", ":-RRB-"], ["dog(s)", ":)"])]
    np.testing.assert_array_equal(*both)


def test_substates_sum_up_to_their_tag(made):
    occurrences, counts = made
    substates = np.array([2, 3], np.int32)
    sizes = substates[occurrences.pairs[:, 1]]
    rng = np.random.default_rng(1)
    parts = np.concatenate([n * rng.dirichlet(np.ones(size)) for n, size in zip(counts, sizes, strict=True)])
    fine = occurrences.lexicon(parts, substates)
    coarse, first = occurrences.lexicon(counts, np.ones(2, np.int32)), np.array([0, 2, 5])
    projected = fine.projected(first)
    np.testing.assert_allclose(projected.of_shapes, coarse.of_shapes)
    np.testing.assert_allclose(projected.pair_counts, coarse.pair_counts)
    words = ["the", "dog", "barking", "Rome"]
    of_tags = np.add.reduceat(by_tag(fine, words, first), first[:-1], axis=1)
    np.testing.assert_allclose(of_tags, by_tag(coarse, words, [0, 1, 2]), atol=1e-12)


def test_smoothing_and_rare_words(made):
    occurrences, counts = made
    substates = np.array([2, 2], np.int32)
    parts = (counts[:, None] * [0.8, 0.2]).ravel()
    drawn = occurrences.lexicon(parts, substates, 0.5)
    np.testing.assert_allclose(drawn.pair_counts.reshape(-1, 2), counts[:, None] * [0.65, 0.35])
    occurrences, counts = made
    substates = np.array([2, 3], np.int32)
    rng = np.random.default_rng(2)
    parts = [n * rng.dirichlet(np.ones(substates[t])) for n, (_, t) in zip(counts, occurrences.pairs, strict=True)]
    found = occurrences.drawn(np.concatenate(parts), substates)
    expected = []
    for tag, n, own in zip(occurrences.pairs[:, 1], counts, parts, strict=True):
        alike = sum(part for part, (_, t) in zip(parts, occurrences.pairs, strict=True) if t == tag)
        expected.append(n * (own + DRAWN * alike / alike.sum()) / (n + DRAWN))
    np.testing.assert_allclose(found, np.concatenate(expected))


@pytest.mark.parametrize(
    ("word", "first", "expected"),
    [
        ("Berlin", False, ["crlin", "clin", "cin", "cn", "c"]),
        ("USA", False, ["Asa", "Aa", "A"]),
        ("1,200", False, ["0"]),
        ("mid-1990s", False, ["9-990s", "9-90s", "9-0s", "9-s", "9-"]),
        ("--", True, [".-", "."]),
        ("dog", True, ["og", "g", "a"]),
    ],
)
def test_shapes(word, first, expected):
    assert shapes(word, first) == expected
