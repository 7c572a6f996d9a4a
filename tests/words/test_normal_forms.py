"""Words in Unicode's two normal forms."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.words.white_space import alike, form_of, in_form

WORDS = [word.encode() for word in ("été", "a", "façade", "über", "\u0111i")]
OTHER = [unicodedata.normalize("NFD", word.decode()).encode() for word in WORDS]


def test_forms_of_words():
    assert (form_of(WORDS), form_of(OTHER)) == ("NFC", "NFD")
    assert form_of([b"a", b"b", b"\xff"]) is None  # nothing tells
    assert form_of([*WORDS, *OTHER]) is None
    many = [f"é{k}".encode() for k in range(300)]
    assert form_of([*many, OTHER[0]]) == "NFC"
    assert form_of([*(unicodedata.normalize("NFD", word.decode()).encode() for word in many), WORDS[0]]) == "NFD"
    assert alike(WORDS[0], OTHER[0])
    assert not alike(WORDS[0], WORDS[0])
    assert not alike(WORDS[0], WORDS[1])
    assert form_of([b"\xff\xfe", "é".encode()]) == "NFC"


@pytest.mark.parametrize(("form", "given_", "expected"), [("NFC", OTHER, WORDS), ("NFD", WORDS, OTHER)])
def test_words_are_turned_and_counted(form, given_, expected):
    assert in_form(given_, form) == (expected, 3)
    assert in_form(expected, form) == (expected, 0)
    assert in_form(given_, None) == (given_, 0)


@given(
    st.lists(st.binary(min_size=1, max_size=6).filter(lambda word: not word.isspace())), st.sampled_from(["NFC", "NFD"])
)
def test_bytes_that_are_no_text_stay(words, form):
    found, count = in_form(words, form)
    assert len(found) == len(words)
    for word, other in zip(words, found, strict=True):
        assert word == other or unicodedata.normalize(form, word.decode("utf-8", "surrogateescape")) == other.decode(
            "utf-8", "surrogateescape"
        )
    assert count == sum(a != b for a, b in zip(words, found, strict=True))
