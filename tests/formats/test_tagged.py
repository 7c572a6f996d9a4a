import io
import sys
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation.conll import Conll, parse_conll
from aligntools.formats.annotation.tagged_text import (
    Tokens,
    format_tagged,
    read_tags,
    read_words,
    stream_sentences,
    stream_tags,
    stream_text,
)
from aligntools.formats.annotation.text_kinds import sniff
from aligntools.ground.errors import DataError, UsageProblem
from tests.cli.running import ROOT

CONLL = ROOT / "tests" / "data" / "conll"


def joined(parts):
    return list(chain.from_iterable(parts))


def sentences(tokens, values=None):
    values = tokens.words if values is None else values
    return [values[a:b] for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


PLAIN = b"\xef\xbb\xbfa  b\tc\r\n\n \nd\x0be\x85 \xff f\r\r\n\r\ng"


def test_every_line_is_a_sentence(file):
    found = read_words(file(PLAIN), "text")
    assert sentences(found) == [[b"a", b"b", b"c"], [], [], [b"d\x0be\x85", b"\xff", b"f\r"], [], [b"g"]]
    assert (found.tags, found.lines.tolist(), found.offsets.dtype) == (None, [1, 2, 3, 4, 5, 6], np.int64)
    for size in (1, 2, 100):
        parts = list(stream_text(file(PLAIN, "x.gz"), size))
        assert joined(map(sentences, parts)) == sentences(found)
        assert np.concatenate([part.lines for part in parts]).tolist() == found.lines.tolist()
        assert {len(part) for part in parts[:-1]} <= {size}


@pytest.mark.parametrize(("raw", "count"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\n\n", 2)])
def test_no_line_is_lost(file, raw, count):
    assert len(read_words(file(raw), "text")) == count
    assert sum(map(len, stream_text(file(raw), 1))) == count
    assert sum(map(len, stream_sentences(file(raw)))) == count


BYTES = st.binary(max_size=6).map(lambda raw: raw.replace(b"\n", b"")).filter(lambda x: not x.startswith(b"\xef"))


@given(st.lists(BYTES, max_size=5), st.booleans())
def test_words_are_what_stands_between_spaces_and_tabs(lines, last):
    from aligntools.formats.annotation.tagged_text import parse_text

    raw = [line + b"\n" for line in lines]
    if raw and not last:
        raw[-1] = raw[-1][:-1]
    expected = [[w for w in x.removesuffix(b"\r").replace(b"\t", b" ").split(b" ") if w] for x in lines]
    assert sentences(parse_text(raw, 1)) == expected


def test_tagged_text_and_what_is_written(file):
    path = file(b"The_DET dog's_NOUN  a_b_X\r\n\n__PUNCT\tand/or_CCONJ\n")
    found = read_tags(path, format="tagged", separator=b"_")
    assert sentences(found) == [[b"The", b"dog's", b"a_b"], [], [b"_", b"and/or"]]
    assert sentences(found, found.tags) == [[b"DET", b"NOUN", b"X"], [], [b"PUNCT", b"CCONJ"]]
    assert found.lines.tolist() == [1, 2, 3]
    parts = list(stream_tags(path, "tagged", b"_", 2))
    assert [part.lines.tolist() for part in parts] == [[1, 2], [3]]
    assert joined(part.tags for part in parts) == found.tags
    slash = read_tags(file(b"a_b/X 1/2/NUM"), format="tagged", separator=b"/")
    assert (slash.words, slash.tags) == ([b"a_b", b"1/2"], [b"X", b"NUM"])
    assert read_tags(file(b"a###X"), format="tagged", separator=b"###").words == [b"a"]
    words, tags = [b"a", b"b_c", b"10 000"], [b"X", b"Y", b"NUM"]
    assert format_tagged(words, [0, 2, 2, 3], tags) == "a_X b_c_Y\n\n10\u00a0000_NUM\n".encode()
    assert format_tagged(words, np.array([0, 3]), tags, b"/") == "a/X b_c/Y 10\u00a0000/NUM\n".encode()
    assert format_tagged([], [0], []) == b""
    for tag in (b"A_B", b"", b"A B"):
        with pytest.raises(UsageProblem, match="use another separator"):
            format_tagged([b"a"], [0, 1], [tag])
    assert format_tagged([b"a"], [0, 1], [b"A_B"], b"/") == b"a/A_B\n"


@pytest.mark.parametrize(
    ("raw", "line", "fragment"),
    [
        (b"a_X\n\nb_X dog c_X\n", 3, "token 'dog' has no separator '_'"),
        (b"a_X b_\n", 1, "token 'b_' has no tag"),
        (b"\n_X\n", 2, "token '_X' has no word"),
    ],
)
def test_tokens_without_tags_are_errors(file, raw, line, fragment):
    path = file(raw)
    for read in (read_tags, lambda path: list(stream_tags(path, "tagged", sentences=1))):
        with pytest.raises(DataError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}:{line}: {fragment}")


WORDS = st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\ufeff"), min_size=1, max_size=4)
TAGS = st.text(st.characters(codec="ascii", categories=["L", "N", "P"], exclude_characters="_/"), min_size=1)
PAIRS = st.tuples(WORDS.map(str.encode), TAGS.map(str.encode))


CONLL_LINE = b"1\tDogs\t_\tNOUN\tNNS\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("lines", "format"),
    [
        ([CONLL_LINE], "conll"),
        ([b"# text = x_Y\n", b"\n", b"\xef\xbb\xbf" + CONLL_LINE], "conll"),
        ([b"1-2\tdon't" + b"\t_" * 8 + b"\n"], "conll"),
        ([b"0.1\tx" + b"\t_" * 8 + b"\n"], "conll"),
        ([CONLL_LINE.replace(b"\t_\n", b"\n")], "conll"),  # 9 columns: its reader knows better what is wrong
        ([CONLL_LINE.replace(b"\t", b" "), CONLL_LINE.replace(b"\t", b" ").replace(b"1", b"2")], "conll"),
        ([b"o" + CONLL_LINE, CONLL_LINE.replace(b"1", b"2")], "conll"),
        ([b"1 2 3 4 5 6 7 8 9 10\n", b"1 2 3 4 5 6 7 8 9 10\n"], "text"),
        ([b"a_X b_Y\n", b"#_SYM 1_NUM\n"], "tagged"),
        ([b"a_X\tb_Y\n"], "tagged"),
        ([b"a/X b_c/Y\n"], "tagged"),
        ([b"a_X b_Y c_Z d_X e_X f_X g_X h_X i_X j_X k_X l_X dog\n"], "tagged"),
        ([b"Dogs\tNNS\r\n", b"bark\tVBP\r\n", b"\r\n", b"_\tSYM\n"], "columns"),
        ([b"Dogs bark .\n", b"word_TAG\n"], "text"),
        ([b"A\tB C\n", b"D E\n"], "text"),
        ([b"\n", b" \n"], "text"),
        ([b"The DT\n", b"dog NN\n", b"\n", b"It PRP\n", b"barks VBZ\n"], "columns"),
        ([b"Stop !\n", b"\n", b"Go !\n", b"Now .\n", b"Oh !\n"], "text"),
        ([b"( Applause )\n", b"( ( see below ) , and so on )\n"], "text"),
        ([b"( The President )\n"], "text"),
        ([b"Der Hund / die Katze\n", b"und/oder\n"], "text"),
        ([b"( (S (NN dog)))\n"], "trees"),
        ([b"<DOC>\n", b"wsj_1 (S (NN dog) (VBZ sleeps))\n"], "trees"),
        ([b"(S (NP (NN dog)\n", b"(VBZ sleeps) (RB now) oops))\n"], "trees"),  # its reader says what is wrong
        ([], "text"),
    ],
)
def test_formats_are_told_by_their_first_lines(lines, format):
    assert sniff(lines)[0] == format


def test_telling_looks_at_what_is_possible():
    assert sniff([b"Dogs bark .\n"], ("conll", "tagged", "columns"))[0] == "tagged"
    assert sniff([], ("conll", "tagged", "columns"))[0] == "tagged"
    assert sniff([b"a_X\tb_Y\n"], ("conll", "text"))[0] == "text"
    assert sniff([b"a/X b_c/Y\n"]) == ("tagged", b"/")
    assert sniff([b"a_X b/c_Y\n"]) == ("tagged", b"_")
    assert sniff([b"a_b/X c_d/Y\n"], separator=b"/") == ("tagged", b"/")
    assert sniff([b"a_b c_d\n"], separator=b"/")[0] == "text"


def feed(monkeypatch, raw):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(fileno=io.BytesIO().fileno, buffer=io.BytesIO(raw)))


@pytest.mark.parametrize("size", [1, 2, 100])
def test_input_to_be_tagged_is_told_apart_even_from_a_pipe(monkeypatch, size):
    raw = (CONLL / "header-comments.conllu").read_bytes()
    feed(monkeypatch, raw)
    parts = list(stream_sentences("-", sentences=size))
    assert all(isinstance(part, Conll) for part in parts)
    assert b"".join(part.format() for part in parts) == raw
    assert joined(part.words for part in parts) == b"Dogs bark . Stop !".split()
    feed(monkeypatch, b"\n# a\nb_c d\n\n")
    parts = list(stream_sentences("-", sentences=size))
    assert all(isinstance(part, Tokens) for part in parts)
    assert joined(map(sentences, parts)) == [[], [b"#", b"a"], [b"b_c", b"d"], []]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_text_with_tags_is_told_apart_even_from_a_pipe(monkeypatch, size):
    raw = (CONLL / "header-comments.conllu").read_bytes()
    feed(monkeypatch, raw)
    assert b"".join(part.format() for part in stream_tags("-", sentences=size)) == raw
    feed(monkeypatch, b"\n\xef\xbb\xbfa/X b_c/Y\n\nd/Z\n")
    parts = list(stream_tags("-", sentences=size))
    assert [len(part) for part in parts] == {1: [1] * 4, 2: [2, 2], 100: [4]}[size]
    assert joined(part.tags for part in parts) == [b"X", b"Y", b"Z"]
    assert joined(part.lines.tolist() for part in parts) == [1, 2, 3, 4]
    feed(monkeypatch, b"a_b/X\n")
    assert next(stream_tags("-", "tagged", b"/")).words == [b"a_b"]


def test_a_format_that_is_given_is_not_doubted(file):
    path = CONLL / "conll-x.conll"
    assert sum(map(len, stream_sentences(path, "text"))) == 7
    with pytest.raises(DataError, match=":1: no tab"):
        list(stream_sentences(file(b"a b\n"), "conll"))
    assert read_words(path, "text").words[0] == b"1"


def test_tags_from_any_format(file):
    path = CONLL / "ranges-empty-nodes-comments.conllu"
    found = read_tags(path)
    assert (found.format, found.lines.tolist(), found.tags[:3]) == ("conll", [4, 14], [b"PRON", b"AUX", b"PART"])
    assert read_tags(path, "xpos").tags[:3] == [b"PRP", b"VBP", b"RB"]
    assert read_tags(path, 8).tags[:3] == [b"nsubj", b"aux", b"advmod"]
    conll = parse_conll("x", path.read_bytes().splitlines(keepends=True))
    tagged = read_tags(file(format_tagged(conll.words, conll.offsets, found.tags, b"/"), "tagged"))
    assert (tagged.format, tagged.words, tagged.tags) == ("tagged", found.words, found.tags)
    pairs = zip(found.words, found.tags, strict=True)
    lines = [word + b"\t" + tag + b"\n" for word, tag in pairs]
    lines.insert(5, b"\n\n")
    columns = read_tags(file(b"".join(lines), "columns"))
    assert (columns.format, columns.words, columns.tags) == ("columns", found.words, found.tags)
    assert (columns.offsets.tolist(), columns.lines.tolist()) == ([0, 5, 10], [1, 8])


def test_columns_of_tags(file):
    chunks = file(b"He PRP B-NP\nreckons VBZ B-VP\n\n# # X\n")
    found = read_tags(chunks, 2, "columns")
    assert (sentences(found), found.tags) == ([[b"He", b"reckons"], [b"#"]], [b"PRP", b"VBZ", b"#"])
    assert read_tags(chunks, 3, "columns").tags == [b"B-NP", b"B-VP", b"X"]
    with pytest.raises(DataError, match="file:1: 3 columns, and none of number 4"):
        read_tags(chunks, 4, "columns")
    with pytest.raises(DataError, match="file:2: 1 columns"):
        read_tags(file(b"a\tX\nb\n"), format="columns")
    spaced = read_tags(file(b"# a comment\n10 000\tNUM\n\n#\tSYM\n"))
    assert (spaced.format, spaced.words, spaced.lines.tolist()) == ("columns", [b"10 000", b"#"], [2, 4])
    path = CONLL / "conll-x.conll"
    with pytest.raises(DataError, match=r"conll-x.conll: column 6 \(FEATS\) is _ in every line"):
        read_tags(path, "feats")
    empty = file(CONLL_LINE + b"2\tbark\t_\t\tV\t_\t1\tx\t_\t_\n")
    with pytest.raises(DataError, match=r"file:2: column 4 \(UPOS\) is empty"):
        read_tags(empty)
    for column in ("pos", 0, 11):
        with pytest.raises(UsageProblem, match="column"):
            read_tags(path, column)
    with pytest.raises(UsageProblem, match="no tags"):
        read_tags(path, format="text")


@pytest.mark.parametrize("raw", [b"", b"\n", b" \n\n"])
def test_files_without_words(file, raw):
    found = read_tags(file(raw))
    assert (found.words, found.tags, len(found)) == ([], [], raw.count(b"\n"))
    for format in ("conll", "columns"):
        found = read_tags(file(raw), format=format)
        assert (found.words, found.tags, found.offsets.tolist(), found.lines.tolist()) == ([], [], [0], [])
