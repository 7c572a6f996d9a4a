"""Raw text to CoNLL-U and back."""

import functools
import re
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aligntools.formats.annotation.conll import parse_conll
from aligntools.formats.annotation.conll_tokens import Raw, sentence_texts
from aligntools.formats.annotation.raw_text import format_raw, stream_raw
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.words.tokenizers import IcuTokenizer, Tokenizer, sentence_splitter


def plain_spans(text):
    return [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]


def plain_split(text):
    return re.split(r"(?<=[.!?])(?=\s)", text)


def lines_of(text):
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def conll_of(text, spans=plain_spans, split=plain_split):
    blocks = list(format_raw(lines_of(text), spans, split))
    return blocks, parse_conll("x", [line + b"\n" for block in blocks for line in block.split(b"\n")[:-1]])


def raw_of(conll, cut=None):
    raw = Raw()
    parts = [conll] if cut is None else [conll.part(0, cut), conll.part(cut, len(conll))]
    return b"".join([*map(raw.add, parts), raw.end()])


TEXTS = st.text(
    st.sampled_from("ab.,!|\\=\"'`éß\u00a0\u2028\ufeff\x00\x1c\x85 \t\r\n\n  «»1-2") | st.characters(codec="utf-8")
)


@given(TEXTS)
@example("")
@example("\n \n")
@example("\ufeff")
@example("\ufeff\n a ")
@example("a b ")
@example("One.\n\n\nTwo!  Three\r\nfour")
def test_any_raw_text_comes_back(text):
    for split in (plain_split, None):
        blocks, conll = conll_of(text, split=split)
        assert raw_of(conll) == text.encode()
        assert not len(conll) or raw_of(conll, len(conll) // 2) == text.encode()
        if split is None:
            assert len(blocks) == len(conll) == len(lines_of(text))


@given(TEXTS, st.sampled_from(["en", "fr", "zh", "tlh"]))
@example("Mr. Smith's ''x'' don't \x01 `y` http://a.b/c?d=e. 25\u00a0000 www.x.org/y), me@x.org.", "en")
def test_any_raw_text_comes_back_from_the_tokenizer(text, language):
    _, conll = conll_of(text, tokenizer(language), sentence_splitter(language))
    assert raw_of(conll) == text.encode()


@given(TEXTS, st.sampled_from(["en", "zh", "th", ""]))
@example("Don't \N{GRINNING FACE} go\u00a0on, \u0308x.", "en")
def test_any_raw_text_comes_back_from_icu(text, language):
    pytest.importorskip("icu4py")
    spans = IcuTokenizer(language).spans
    _, conll = conll_of(text, spans, None)
    assert raw_of(conll) == text.encode()
    if "\n" not in text:
        tokens = IcuTokenizer(language)(text.encode()).decode()
        assert tokens.replace(" ", "") == text.replace("\t", "").replace(" ", "")
        found = [text[a:b] for a, b in spans(text)]
        assert [part for token in tokens.split(" ") for part in token.split()] == found


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Don't \N{GRINNING FACE} go, x-ray.", "en", "Don't \N{GRINNING FACE} go , x - ray ."),
        ("\u6211\u559c\u6b22\u5403\u996d\u3002", "zh", "\u6211 \u559c\u6b22 \u5403\u996d \u3002"),
        ("\u0e1c\u0e21\u0e0a\u0e2d\u0e1a\u0e01\u0e34\u0e19\u0e02\u0e49\u0e32\u0e27", "",
         "\u0e1c\u0e21 \u0e0a\u0e2d\u0e1a \u0e01\u0e34\u0e19 \u0e02\u0e49\u0e32\u0e27"),
    ],
)  # fmt: skip
def test_words_of_icu(text, language, words):
    """As Mozilla's IcuTokenizer gives them, without the tokens of spaces."""
    pytest.importorskip("icu4py")
    assert IcuTokenizer(language)(text.encode()).decode() == words


@functools.cache
def tokenizer(language):
    return Tokenizer(language).spans


def test_spaces_and_lines():
    blocks, _ = conll_of("One,  two.\nThree|\n\n four")
    assert b"".join(blocks).decode().split("\n") == [
        *("# newpar", "# text = One, two.", "1\tOne\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No"),
        *("2\t,\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\s\\s", "3\ttwo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No"),
        *("4\t.\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\n", "", "# text = Three|"),
        *("1\tThree\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", "2\t|\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\n\\n\\s", ""),
        *("# newpar", "# text = four", "1\tfour\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", "", ""),
    ]
    blocks, conll = conll_of("a b. C\n\n d\n", split=None)
    assert [len(block.split(b"\n")) for block in blocks] == [7, 4, 4]
    assert sentence_texts(conll) == [b"a b. C", b"", b"d"]


def test_what_is_not_raw_text_is_refused_with_its_line(tmp_path):
    (tmp_path / "x").write_bytes(b"good\n\xff\n")
    with pytest.raises(DataError, match=r"x:2: bytes that are not UTF-8"):
        list(stream_raw(str(tmp_path / "x"), "en"))
    path = tmp_path / "some.conllu"
    path.write_text("# text = a\n1\ta\ta\tDET\t_\t_\t0\troot\t_\t_\n\n")
    with pytest.raises(DataError, match="2: CoNLL, where plain text is expected"):
        list(stream_raw(str(path), "en"))


def test_parts_are_the_whole(tmp_path):
    text = "One is here. Two is there!\n\n" * 5
    (tmp_path / "x").write_text(text)
    parts = list(stream_raw(str(tmp_path / "x"), "en", most=3))
    assert [len(part) for part in parts] == [3, 3, 3, 1]
    raw = Raw()
    assert b"".join([*map(raw.add, parts), raw.end()]) == text.encode()
    assert [part.first_line for part in parts] == [1, *(1 + sum(len(p.lines) for p in parts[:k]) for k in (1, 2, 3))]


@pytest.mark.parametrize("library", ["sacremoses", "sentencex"])
def test_without_the_extra_it_says_what_to_install(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageProblem, match=rf"^tokenize needs {library}: pip install 'aligntools\[tokenize\]'"):
        list(stream_raw("-", "en"))


def test_sentences_and_words_of_a_language():
    _, conll = conll_of(
        "L'État, M. Dupont, dit non. Voir http://a.org/b.", Tokenizer("fr").spans, sentence_splitter("fr")
    )
    assert b" ".join(conll.words).decode() == "L' État , M. Dupont , dit non . Voir http://a.org/b ."
    assert conll.offsets.tolist() == [0, 9, 12]
