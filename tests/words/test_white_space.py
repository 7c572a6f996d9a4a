"""What separates words, in every reader: spaces and tabs, or all that `str.split` splits at."""

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligntools.formats.annotation import tagged_text
from aligntools.formats.text import bitext, numbered_text
from aligntools.formats.text.bitext import TextLines
from aligntools.formats.text.raw_pairs import RawPairs
from aligntools.ground.errors import UsageProblem
from aligntools.words import line_scan, white_space
from aligntools.words.vocabulary import CompiledLexicon, split_words
from aligntools.words.white_space import WhiteSpace, as_spaces, as_spaces_of_models, has_others, split_as

_SPACES = "".join(c for c in map(chr, range(0x110000)) if c.isspace())
_LINES = st.lists(st.text(st.sampled_from(_SPACES.replace("\n", "") + "ab«»„“…。、")).map(lambda s: s.rstrip("\r")))


@given(_LINES)
def test_unicode_splits_as_str_split(lines):
    block = "".join(f"{line}\n" for line in lines).encode()
    found = [split_words(line) for line in as_spaces(block).split(b"\n")[:-1]]
    assert found == [[word.encode() for word in line.split()] for line in lines]


@given(_LINES)
def test_others_are_found_where_str_split_makes_more_words(lines):
    block = "".join(f"{line}\n" for line in lines).encode()
    others = [any(c.isspace() and c not in " \t" for c in line) for line in lines]
    assert has_others(block) == has_others(block * 300) == any(others)
    white = WhiteSpace("text")
    white(block)
    assert white.lines == sum(others)
    assert white.characters == {c for c in "".join(lines) if c.isspace()} - set(" \t")


def test_a_block_may_end_in_the_middle_of_nothing():
    assert as_spaces("a\u00a0b\r".encode()) == b"a b\r"
    assert as_spaces("a\rb\r\nc\u2028d".encode()) == b"a b\r\nc d"
    assert not has_others(b"a\r\nb\r")
    assert not has_others(b"a\r\n" * 300 + b"b\r")


def _compiled(monkeypatch, compiled):
    monkeypatch.setattr(line_scan, "_SMALL", 0 if compiled else 1 << 40)


def _sentences(side, vocabulary):
    words = vocabulary.words()
    return [[words[k] for k in side.tokens[a:b]] for a, b in zip(side.offsets, side.offsets[1:], strict=False)]


@pytest.mark.parametrize("compiled", [False, True])
def test_every_reader_splits_alike(tmp_path, monkeypatch, compiled):
    _compiled(monkeypatch, compiled)
    lines = [f"x{c}y z" for c in _SPACES if c != "\n"] + ["x\u00a0\u202fy", "\u3000x y\u2009"]
    path = tmp_path / "text"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    expected = [line.split() for line in lines]
    name = split_as(path, "unicode")
    assert _sentences(*bitext.read_side(name)) == expected
    both = bitext.read_bitext(name, name)
    assert _sentences(both.target, both.target_vocabulary) == expected
    assert [t.words for t in tagged_text.stream_text(name)] == [[w.encode() for words in expected for w in words]]
    assert list(tagged_text.read_words(name, "text").offsets) == list(np.cumsum([0, *map(len, expected)]))
    lexicon = CompiledLexicon()
    (side,) = numbered_text.stream_numbered(name, lexicon)
    assert _sentences(side, lexicon.vocabulary()) == expected
    raw = RawPairs(name, name)
    sides = raw.read(len(lines))
    assert [split_words(line) for line in raw.spaced(sides)[1]] == [[w.encode() for w in words] for words in expected]
    assert sides[0][-2] == "x\u00a0\u202fy".encode()  # as it stands, to be written
    raw.close()
    memory = bitext.read_bitext(TextLines(lines, split="unicode"), TextLines(expected, split="unicode"))
    assert _sentences(memory.source, memory.source_vocabulary) == expected
    joint = tmp_path / "joint"
    joint.write_bytes("".join(f"{line} ||| {line}\n" for line in lines).encode())
    found = bitext.read_bitext(joint=split_as(joint, "unicode"))
    assert _sentences(found.source, found.source_vocabulary) == expected


@pytest.mark.parametrize("compiled", [False, True])
def test_spaces_and_tabs_alone_separate_words_otherwise(tmp_path, monkeypatch, compiled, caplog):
    _compiled(monkeypatch, compiled)
    path = tmp_path / "text"
    path.write_bytes("a\u00a0b c\na\td\r\ne\u202f\u00a0f\n".encode())
    with caplog.at_level(logging.WARNING, "aligntools"):
        found = _sentences(*bitext.read_side(path))
    assert found == [["a\u00a0b", "c"], ["a", "d"], ["e\u202f\u00a0f"]]
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == (
        f"{path}: 2 lines have white space other than spaces and tabs within words (U+00A0 NO-BREAK SPACE, U+202F"
        " NARROW NO-BREAK SPACE); `split=unicode` separates words there too, as Python's str.split() does"
    )


def test_lists_of_words_are_split_already(caplog):
    text = TextLines([["a\u00a0b", "c"], "d e"])
    with caplog.at_level(logging.WARNING, "aligntools"):
        found = bitext.read_bitext(text, TextLines(["f", "g\u2028h"], "the target"))
    assert found.source.lengths().tolist() == [2, 2]
    assert [record.getMessage()[:27] for record in caplog.records] == ["the target: 1 line has white"[:27]]


def test_words_of_conll_are_split_already(tmp_path, caplog):
    path = tmp_path / "text.conllu"
    path.write_bytes("1\t25 000\t_\t_\t_\t_\t_\t_\t_\t_\n2\ta\u00a0b\t_\t_\t_\t_\t_\t_\t_\t_\n\n".encode())
    with caplog.at_level(logging.WARNING, "aligntools"):
        side, _ = bitext.read_side(split_as(path, "unicode"))
    assert side.lengths().tolist() == [2]
    assert not caplog.records


def test_language_models_split_where_kenlm_does(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\rb\r\nc\0d\ve\ff\tg h\r\r\ni\r\n")
    lexicon = CompiledLexicon()
    (side,) = numbered_text.stream_numbered(str(path), lexicon)
    assert _sentences(side, lexicon.vocabulary()) == [["a", "b"], list("cdefgh"), ["i"]]
    assert as_spaces_of_models("a\u00a0b".encode()) == "a\u00a0b".encode()


def test_no_other_splitting():
    with pytest.raises(UsageProblem, match=r"no splitting 'words'; there are spaces, unicode"):
        split_as("text", "words")
    assert white_space.split_of(split_as(split_as("text", "unicode"), None)) == "unicode"
