"""Words and ids."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.words.vocabulary import (
    CompiledLexicon,
    ExtendedVocabulary,
    Growing,
    GrowingVocabulary,
    Vocabulary,
    split_words,
)

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
SOME = st.lists(WORDS, unique=True)


def test_vocabularies():
    words = ["ΟΔΟΣ", "οδος", "οδοσ", "İ", "I", "ẞ", "ß", "ǅ"]
    folded, mapping = Vocabulary.from_words(words).folded()
    assert folded.words() == ["", "οδος", "οδοσ", "i̇", "i", "ß", "ǆ"]
    assert mapping.tolist() == [0, 1, 1, 2, 3, 4, 5, 5, 6]
    base = Vocabulary.from_words(["a", "b"])
    extended = ExtendedVocabulary(base, ["x", "y"])
    assert extended.base is base
    assert (len(extended), extended.base_size) == (5, 3)
    assert extended.words() == ["", "a", "b", "x", "y"]
    assert [extended.word(i) for i in range(5)] == extended.words()
    assert [extended.id(word) for word in ("a", "b", "x", "y", "z", "")] == [1, 2, 3, 4, -1, -1]
    with pytest.raises(IndexError):
        extended.word(5)
    with pytest.raises(IndexError):
        extended.word(-1)
    assert split_words(b" a\t\tb \x0b\xc2\xa0 \rc\x00 ") == [b"a", b"b", b"\x0b\xc2\xa0", b"\rc\x00"]


@given(SOME, SOME)
def test_words_and_ids_are_inverse(words, others):
    vocabulary = Vocabulary.from_words(words)
    assert vocabulary.words() == ["", *words]
    assert [vocabulary.word(i) for i in range(len(vocabulary))] == vocabulary.words()
    assert [vocabulary.id(word) for word in words] == list(range(1, len(words) + 1))
    for word in others:
        assert vocabulary.id(word) == (words.index(word) + 1 if word in words else -1)


@given(SOME)
def test_arrays_give_the_vocabulary_back(words):
    vocabulary = Vocabulary.from_words(words)
    assert vocabulary.blob.dtype == np.uint8
    assert vocabulary.starts.dtype == np.int64
    again = Vocabulary.from_arrays(vocabulary.blob, vocabulary.starts)
    assert again.words() == vocabulary.words()
    again.id("x")
    assert pickle.loads(pickle.dumps(again)).words() == vocabulary.words()


@pytest.mark.parametrize(
    ("blob", "starts"),
    [
        (b"ab", [0, 1, 2]),  # NULL is not empty
        (b"ab", [0, 0, 1]),  # bytes left over
        (b"ab", [0, 0, 3]),
        (b"ab", [0, 0, 1, 1, 2]),  # an empty word
        (b"ab", [0, 0, 2, 1, 2]),
        (b"", [0]),
        (b"", []),
    ],
)
def test_arrays_that_are_no_vocabulary(blob, starts):
    with pytest.raises(ValueError, match="not a vocabulary"):
        Vocabulary.from_arrays(np.frombuffer(blob, np.uint8), np.array(starts, np.int64))


@pytest.mark.parametrize("words", [[""], ["a", ""], ["a", "b", "a"]])
def test_words_that_are_no_vocabulary(words):
    with pytest.raises(ValueError, match="not empty and differ"):
        Vocabulary.from_words(words)


@pytest.mark.parametrize("id", [-1, 2, 100])
def test_an_id_out_of_range(id):
    with pytest.raises(IndexError):
        Vocabulary.from_words(["a"]).word(id)


def test_words_whose_hashes_collide_are_told_apart(monkeypatch):
    monkeypatch.setattr("aligntools.words.vocabulary.hash", lambda word: 7, raising=False)
    words = ["a", "b", "c", "d"]
    vocabulary = Vocabulary.from_words(words)
    assert [vocabulary.id(word) for word in [*words, "e"]] == [1, 2, 3, 4, -1]


@given(SOME)
def test_folding_is_lower_word_by_word(words):
    vocabulary = Vocabulary.from_words(words)
    folded, mapping = vocabulary.folded()
    assert mapping.dtype == np.int32
    assert mapping[0] == 0
    assert [folded.word(mapping[i]) for i in range(len(vocabulary))] == [w.lower() for w in vocabulary.words()]
    assert folded.words()[1:] == list(dict.fromkeys(word.lower() for word in words))


@given(st.lists(st.lists(st.integers(), max_size=3000), max_size=5))
def test_a_growing_array_is_what_was_put_in(pieces):
    array = Growing(np.int64)
    for piece in pieces:
        piece = [x % 1000 for x in piece]
        array.extend(len(piece))[:] = piece
    everything = [x % 1000 for piece in pieces for x in piece]
    assert array.used.tolist() == everything
    assert array.finish().tolist() == everything


def encode(lexicon, lines):
    block = b"\n".join(lines)
    table, at = np.zeros((len(lines), 8), np.int64), 0
    for row, line in enumerate(lines):
        table[row, :2] = at, at + len(line)
        table[row, 4] = len(split_words(line))
        at += len(line) + 1
    tokens = np.empty(table[:, 4].sum(), np.int32)
    lexicon.encode(block, table, 0, np.ones(len(lines), bool), tokens)
    return tokens.tolist()


@given(st.lists(st.lists(st.integers(0, 400_000), min_size=1), min_size=1), st.booleans())
def test_both_lexicons_number_words_alike(numbers, clear):
    lines = [b" ".join(b"%x" % (n * n) for n in line) for line in numbers]
    plain, compiled = GrowingVocabulary(), CompiledLexicon()
    for _ in range(2):
        assert encode(plain, lines) == encode(compiled, lines)
        assert len(plain) == len(compiled)
        assert plain.words(1) == compiled.words(1)
        assert plain.words(len(plain)) == compiled.words(len(compiled)) == []
        assert plain.vocabulary().words() == compiled.vocabulary().words()
        if clear:
            plain.clear()
            compiled.clear()


def test_a_compiled_lexicon_grows_in_every_direction():
    plain, compiled = GrowingVocabulary(), CompiledLexicon()
    for lines in (
        [b" ".join(b"w%d" % i for i in range(n, n + 700)) for n in range(0, 60_000, 500)],
        [b"x" * 400_000, b"y" * 10],
        [b" ".join(b"%d" % i for i in range(100_000)), b""],
        [b"w5 w59999 y"],
    ):
        assert encode(plain, lines) == encode(compiled, lines)
    assert plain.words(1) == compiled.words(1)
