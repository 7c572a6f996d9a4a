import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.aligning.text.views import CutSide, collapse, cut, cut_words, simplify, view_text
from aligntools.formats.text.corpus import Bitext, Side, Skipped
from aligntools.words.vocabulary import Vocabulary

WORDS = ["", "Haus", "häuser", "hauses", "haut", "1984", "…", "ÉTÉ", "ete", "ete", "日本語", "한국어"]


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("été", "ete"),
        ("naïve", "naive"),
        ("e\N{COMBINING ACUTE ACCENT}te", "ete"),
        ("λόγος", "λογος"),
        ("한국어", "한국어"),  # stays in syllables
        ("straße", "straße"),
        ("\N{COMBINING ACUTE ACCENT}", "\N{COMBINING ACUTE ACCENT}"),  # nothing would be left
        ("plain", "plain"),
    ],
)
def test_accents_are_stripped(word, plain):
    assert simplify(word) == plain


@given(st.text(min_size=1))
def test_simplifying_is_done_at_once_and_leaves_something(word):
    plain = simplify(word)
    assert plain
    assert simplify(plain) == plain
    assert simplify(unicodedata.normalize("NFD", word)) == simplify(unicodedata.normalize("NFC", word))


@pytest.mark.parametrize(
    ("word", "length", "beginning"),
    [
        ("Häusern", 5, "Hause"), ("новости", 4, "ново"), ("국제연합", 3, "국제연"), ("国际法院", 5, "国际"),
        ("国际法院", 4, "国"), ("国际法院", 3, "国"), ("ありがとう", 5, "あり"), ("国", 5, "国"),
        ("国际法院", 0, "国际法院"), ("𠀋", 5, "𠀋"), ("国际", 1, "国"),
    ],
)  # fmt: skip
def test_words_are_cut_by_what_their_characters_say(word, length, beginning):
    assert cut(word, length) == beginning


@given(st.lists(st.text(min_size=1, max_size=6), unique=True, max_size=12), st.integers(0, 5))
def test_a_view_maps_words_to_their_beginnings(words, length):
    words = ["", *words]
    different, mapping = cut_words(words, length)
    assert [different[i] for i in mapping] == [cut(w, length) if w else "" for w in words]
    assert len(set(different)) == len(different)
    assert different[0] == ""
    assert mapping.dtype == np.int32
    order = list(dict.fromkeys(mapping.tolist()))
    assert order == sorted(order)  # in order of first occurrence


def german():
    """A text whose two sides are alike."""
    vocabulary = Vocabulary.from_words(["haus", "häuser", "häusern", "12"])
    sides = [Side(np.array([1, 2, 3, 4, 2], np.int32), np.array([0, 2, 2, 5])) for _ in range(2)]
    return Bitext(*sides, vocabulary, vocabulary, Skipped())


@pytest.mark.parametrize("length", [0, 3, 5])
def test_a_text_seen_through_a_view(length):
    bitext = german()
    text = view_text(bitext, length)
    for side, plain, words, mapping, keys in (
        (text.source, bitext.source, text.words.s_words, text.words.s_map, text.words.s_keys),
        (text.target, bitext.target, text.words.t_words, text.words.t_map, text.words.t_keys),
    ):
        whole = [bitext.source_vocabulary.word(int(i)) for i in plain.tokens]
        assert [words[i] for i in side.tokens] == [cut(word, length) for word in whole]
        assert side.offsets is plain.offsets
        assert len(side) == 3
        assert side.lengths().tolist() == [2, 0, 3]
        assert mapping[-1] == len(words)  # where unknown words go
        assert (len(mapping), len(keys)) == (6, len(words) + 1)
        assert not keys[-1].any()
    assert text.words.s_ids == {word: i for i, word in enumerate(text.words.s_words)}


def test_cutting_a_text_in_place_is_the_same_view():
    whole, bitext = view_text(german(), 4), german()
    collapse(bitext, 4)
    again = view_text(bitext, 4)
    assert isinstance(bitext.target, CutSide)
    np.testing.assert_array_equal(again.source.tokens, whole.source.tokens)
    np.testing.assert_array_equal(again.target.tokens, whole.target.tokens)
    assert again.words.s_words == whole.words.s_words
    for name in ("s_map", "t_map", "s_keys", "t_keys"):
        np.testing.assert_array_equal(getattr(again.words, name), getattr(whole.words, name))
