"""Grapheme clusters, and what is not seen, in all that finds words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.words.raw_words import raw_words
from aligntools.words.tokenizers import tokenizer

EMOJI = [
    *("👨‍👩‍👧‍👦", "👍🏽", "👩🏽‍🚀", "❤️‍🔥", "🤦🏼‍♂️", "🇩🇪", "1️⃣", "#️⃣", "☺︎"),
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
]
#: Words with what is not seen in them, with marks, with clusters of other scripts.
WORDS = [
    *(
        *("Sil\u00adben\u00adtren\u00adnung", "\u200fשלום\u200f", "a\u2060b", "می\u200cخواهم", "क्\u200dष"),
        "\u2066abc\u2069",
    ),
    *("Cafe\u0301s", "שָׁלוֹם", "n\u0303", "\ufeffWort", "각", "नमस्ते"),
]
PIECES = [*EMOJI, *WORDS, *" .,('-x7B\u200d\u200e\ufe0f\u0301国กำｶﾞ", "don't", "newText", "😀", "🇩"]


def found(name, text):
    """Return where the words of a text are, found in one of the ways that there are."""
    if name == "raw":
        return raw_words(text)
    pytest.importorskip("sacremoses" if name == "moses" else "icu4py.breakers", exc_type=Exception)
    return tokenizer("en" if name == "moses" else "", name).spans(text)


@pytest.mark.parametrize("name", ["raw", "moses", "icu"])
@pytest.mark.parametrize("word", [*EMOJI, *WORDS], ids=ascii)
def test_each_is_one_word(name, word):
    text = f"({word}) und {word}, {word}"
    words = [text[begin:end] for begin, end in found(name, text)]
    assert words == ["(", word, ")", "und", word, ",", word]
    if name != "raw":
        assert tokenizer("en" if name == "moses" else "", name)(text.encode()).decode().split(" ") == words


@pytest.mark.parametrize("name", ["raw", "moses", "icu"])
@given(text=st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_no_word_ends_within_a_cluster(name, text):
    regex = pytest.importorskip("regex")
    spans = found(name, text)
    ends = {at for span in spans for at in span}
    for cluster in regex.finditer(r"(?!\s)\X", text):
        assert not ends.intersection(range(cluster.start() + 1, cluster.end())), ascii(text)
    assert "".join(text[begin:end] for begin, end in spans) == "".join(text.split())
