"""Hypergraphs as JSON lines: there and back, and lines that are wrong."""

import json

import numpy as np
import pytest

from aligntools.formats.translation import hypergraphs
from aligntools.ground.errors import DataError
from aligntools.translating.forest.hypergraph import Hypergraph
from tests.translating.making import FEATURES, WORDS, arrays, forest

NAMES = ["lm", "p(e|f)", "tm, log", "größe"]
TEXT = ["", *(f"w{k}" for k in range(1, WORDS)), "größer"]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "some.hg.gz")


def test_there_and_back(path):
    rng = np.random.default_rng(1)
    h = arrays([forest(rng), None, forest(rng)])
    hypergraphs.write_hypergraphs(path, h, NAMES, TEXT.__getitem__)
    found, names, words = hypergraphs.read_hypergraphs(path)
    again = Hypergraph(**found)
    again.check(FEATURES)
    assert names == NAMES
    word = dict(enumerate(words, 1))
    for name, values in found.items():
        wanted = getattr(h, name)
        assert values.dtype == wanted.dtype
        if name in ("words", "left", "right"):
            text = [word[w] if w > 0 else w for w in values.ravel().tolist()]
            assert text == [TEXT[w] if w > 0 else w for w in wanted.ravel().tolist()]
        else:
            assert np.array_equal(values, wanted), name
    other = path.removesuffix(".gz")
    hypergraphs.write_hypergraphs(other, again, names, lambda w: word[w])
    assert [*hypergraphs.files.lines(other)] == [*hypergraphs.files.lines(path)]


def test_a_file_of_no_sentences(path):
    hypergraphs.write_hypergraphs(path, arrays([]), NAMES, TEXT.__getitem__)
    found, _, words = hypergraphs.read_hypergraphs(path)
    Hypergraph(**found).check(0)
    assert words == []


EDGE = {"tails": [], "rule": 1, "target": ["a"], "features": {"lm": -1.5}}
NODE = {"left": ["a"], "right": ["a"], "edges": [EDGE]}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a sentence"),
        ("{}", "is not a sentence"),
        (json.dumps({"root": 1, "nodes": [NODE]}), "the root 1 is not one of the 1 nodes"),
        (json.dumps({"root": 0, "nodes": [NODE | {"left": []}]}), "0 first and 1 last"),
        (json.dumps({"root": 0, "nodes": [NODE | {"edges": [EDGE | {"tails": [0]}]}]}), "the tails [0]"),
        (json.dumps({"root": 0, "nodes": [NODE | {"edges": [EDGE | {"target": [-1]}]}]}), "each of its 0 tails"),
        (json.dumps({"root": 0, "nodes": [NODE | {"edges": [EDGE | {"target": [""]}]}]}), "where a word"),
        (json.dumps({"root": 0, "nodes": [NODE | {"edges": [EDGE | {"features": {"x": 1}}]}]}), "'x' is not named"),
        (json.dumps({"root": 0, "nodes": [NODE | {"edges": [EDGE | {"features": {"lm": None}}]}]}), "not a sentence"),
        ('{"root": 0, "nodes": [{"left": [], "right": [], "edges": [{"tails": [], "rule": 1, "target": [],'
         ' "features": {"lm": NaN}}]}]}', "has the value nan"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named(tmp_path, line, problem):
    path = tmp_path / "bad"
    path.write_bytes(hypergraphs.format_header(NAMES) + b'{"root": null, "nodes": []}\n' + line.encode() + b"\n")
    with pytest.raises(DataError) as error:
        hypergraphs.read_hypergraphs(path)
    assert error.value.line == 3
    assert problem in error.value.problem


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ('{"root": null, "nodes": []}\n', "not the first line"),
        ('{"format": "aligntools hypergraph", "version": 2}\n', "version 2"),
        ('{"format": "aligntools hypergraph", "version": 1}\n', "no list of features"),
    ],
)
def test_a_wrong_beginning_is_named(tmp_path, text, problem):
    path = tmp_path / "bad"
    path.write_text(text)
    with pytest.raises(DataError, match=problem):
        hypergraphs.read_hypergraphs(path)
