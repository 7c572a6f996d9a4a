"""Words with control characters in them: one rule for what separates words, in every reader and writer.

Only spaces, tabs and the end of a line separate words. Tables that other programs read hold no word at which C++
streams stop; rows that would are left out and counted.
"""

import logging

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.annotation.class_lists import ClassList, read_classes
from aligntools.formats.annotation.tagged_text import read_tags, read_words
from aligntools.formats.links.giza import read_giza_a3
from aligntools.formats.links.priors import priors_of, read_priors, write_priors
from aligntools.formats.links.ttable import read_ttable, read_vocabulary
from aligntools.formats.translation.plf import parse_cn, parse_plf
from aligntools.ground.errors import DataError
from tests.cli.running import ran, run

#: Characters that end a word in some programs; those of `CUT` in C++ streams.
ODD = ["\v", "\f", "\r", "\0", "\x1c", "\x85", "\xa0", "\u3000"]
CUT = ODD[:3]
_WORDS = [f"a{c}b" for c in ODD]
_FINE = [word for word in _WORDS if not set(word) & set(CUT)]


def _encoded(words):
    return [word.encode() for word in words]


@pytest.mark.parametrize("between", [" ", "\t"])
def test_lexical_tables_are_read(tmp_path, between):
    (tmp_path / "t").write_text("".join(between.join([w, w.upper(), "0.5"]) + "\n" for w in _WORDS), newline="")
    found = read_ttable(str(tmp_path / "t"))
    assert (list(found.given), list(found.words)) == (_encoded(_WORDS), [w.upper().encode() for w in _WORDS])
    (tmp_path / "crlf").write_bytes(b"a b 0.5\r\nc d 0.25\r\n")
    assert list(read_ttable(str(tmp_path / "crlf")).words) == [b"b", b"d"]
    (tmp_path / "cut").write_bytes(b"a\vb 0.5\n")  # no two words
    with pytest.raises(DataError, match="not two words"):
        read_ttable(str(tmp_path / "cut"))
    (tmp_path / "vcb").write_text("".join(f"{n} {w} 7\n" for n, w in enumerate(_WORDS, 2)), newline="")
    assert list(read_vocabulary(str(tmp_path / "vcb")).values())[1:] == _encoded(_WORDS)


def test_lexical_tables_are_written(tmp_path):
    for side in "st":
        (tmp_path / side).write_text("".join(f"{w} {side}\n" for w in _WORDS * 3), newline="")
    sides = "-s", tmp_path / "s", "-t", tmp_path / "t"
    done = ran("align", "--fast", *sides, "--set", "views=0", "--ttable", tmp_path / "p", "-o", tmp_path / "a")
    assert b"left out: a word holds a carriage return, vertical tab or form feed" in done.stderr
    table = read_ttable(str(tmp_path / "p"))
    assert set(table.given) - {b"<eps>"} == {*_encoded(_FINE), b"s"}
    assert set(table.words) == {*_encoded(_FINE), b"t"}


def test_priors(tmp_path, caplog):
    path = tmp_path / "p"
    pairs, fertilities = [(w, w.upper(), 2) for w in _WORDS], [(w, 1, 3) for w in _WORDS]
    write_priors(str(path), priors_of(pairs, fertilities, [("b", 1, 1)], [(0, 1)], [(1, 1)]))
    assert "6 rows left out" in caplog.text
    found = read_priors(str(path))
    assert (len(found.lexical.keys), len(found.source_fertilities.keys)) == (len(_FINE), len(_FINE))
    assert set(found.source_vocabulary.words()[1:]) == set(_FINE)
    assert [len(table.keys) for table in found.tables().values()][2:] == [1, 1, 1]


@pytest.mark.parametrize("paths", [True, False])
def test_lists_of_classes(tmp_path, caplog, paths):
    classes = [format(k, "04b").encode() if paths else b"c%d" % k for k in range(len(_WORDS))]
    ClassList(_encoded(_WORDS), classes, np.arange(1, len(_WORDS) + 1), paths).save(tmp_path / "c")
    assert "3 rows left out" in caplog.text
    found = read_classes(tmp_path / "c")
    assert sorted(found.words) == sorted(_encoded(_FINE))
    assert found.paths == paths


def test_giza(tmp_path):
    """Lines of links keep their pairs: words stay whole, and the text's line says what is in them."""
    (tmp_path / "s").write_text("".join(f"{w} x\n" for w in _WORDS), newline="")
    (tmp_path / "a").write_text("0-1 1-0\n" * len(_WORDS))
    how = "symmetrize", "-c", "convert", tmp_path / "a", "--check", tmp_path / "s", tmp_path / "s", "--to", "giza"
    done = ran(*how, "-o", tmp_path / "g")
    assert done.stderr.count(b"7 lines have white space other than spaces and tabs within words") == 1  # one file
    links, missing = read_giza_a3(str(tmp_path / "g"))
    assert (links.tolists(), missing) == ([[(0, 1), (1, 0)]] * len(_WORDS), 0)
    (tmp_path / "b").write_text("0-1 2-0\n" * 3 + "0-1\n" * 5)
    (tmp_path / "wide").write_text("a\u3000b c\n" * 8, encoding="utf-8")
    how = "symmetrize", "-c", "convert", tmp_path / "b", "--check", tmp_path / "wide", tmp_path / "wide", "--to", "giza"
    split = run(*how, "--split", "unicode")
    assert split.stdout.startswith(b"# Sentence pair (1) source length 3 target length 3 ")
    assert b"\nNULL ({ 3 }) a ({ 2 }) b ({ }) c ({ 1 }) \n" in split.stdout
    refused = run(*how)
    assert refused.returncode == 1
    assert b"--split unicode separates words there too" in refused.stderr


@pytest.mark.parametrize("format", ["hiero", "moses"])
def test_grammars(tmp_path, caplog, format):
    caplog.set_level(logging.INFO)
    sides = [[f"{w} {x}" for w in _WORDS] for x in "xy"]
    grammar = at.extract_grammar(*sides, ["0-0 1-1"] * len(_WORDS))
    assert "9 rules left out" in caplog.text  # of three words: the word, both words, the word and a gap
    assert "which the format cannot express" in caplog.text
    grammar.save(tmp_path / "g", format)
    again = at.Grammar.load(tmp_path / "g")
    sides = [sorted(str(rule).split(" ||| ")[1:3] for rule in rules) for rules in (grammar, again)]
    assert sides[0] == sides[1]
    assert (tmp_path / "g").read_bytes().count(b"\n") == len(grammar)
    known = {word for source, _ in sides[1] for word in source.split(" ")}
    assert set(_FINE) <= known
    assert not known & (set(_WORDS) - set(_FINE))


def test_tagged_words_and_lattices(tmp_path):
    for separator in ("_", "/"):
        (tmp_path / "t").write_text("".join(f"{w}{separator}N x{separator}V\n" for w in _WORDS), newline="")
        found = read_tags(str(tmp_path / "t"))
        assert found.words[::2] == _encoded(_WORDS)
    (tmp_path / "c").write_text("".join(f"{w} N\n" for w in _WORDS), newline="")
    assert read_words(str(tmp_path / "c"), format="columns").words == _encoded(_WORDS)
    tagger = at.train_tagger(["a_N b_V", "b_V a_N"], latent=1)
    for format, name in (("tagged", "tagged"), ("conll", "conll")):
        text = tagger.tag_text(read_words(str(tmp_path / "c"), format="columns"))
        (tmp_path / name).write_bytes(text.format(format))
        assert read_tags(str(tmp_path / name)).words == _encoded(_WORDS)
    text = [" ".join(f"{w}_N" for w in _WORDS)]
    assert at.score_tags(text, text).table.words == len(_WORDS)
    parser = at.train_parser("data/samples/en.conllu", iterations=1)
    assert parser.parse("New\u00a0York sleeps", ["PROPN", "VERB"]).tokens == ("New\u00a0York", "sleeps")
    for word in _WORDS:
        assert parse_plf(f"((('{word}',0.5,1),),)").nodes[0][0].word == word
        assert parse_cn([f"{word} 0.5 x 0.5\r\n"]).nodes[0][0].word == word
    with pytest.raises(DataError, match="has a space in it"):
        parse_plf("((('a b',0.5,1),),)")
