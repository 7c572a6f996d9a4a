"""What `view` shows, by the type of what it is given, and what shows itself in a notebook."""

import gzip
import subprocess
import sys

import pytest

import aligntools as at
from aligntools.formats.annotation.conll import read_conll
from aligntools.viewing.constituents import ConstituentsView
from aligntools.viewing.derivations import DerivationsView
from aligntools.viewing.models import ModelView
from aligntools.viewing.tags import TagsView
from aligntools.viewing.training import TrainingView
from aligntools.viewing.trees import TreesView
from tests.cli.running import ran, run
from tests.places import ROOT, SAMPLES

KEPT = ROOT / "tests" / "data" / "models" / "0.3.0"


def test_each_result_is_shown_as_what_it_is():
    parser, tagger, aligner = (at.load(KEPT / name) for name in ("parse.labels", "tag.hmm", "align.hmm"))
    grammar, lm = at.load(KEPT / "grammar"), at.load(KEPT / "lm")
    sentence = tagger.tag("the dog sleeps")
    parse = parser.parse(sentence)
    conll = read_conll(SAMPLES / "en.conllu")
    for thing in (parse, parser.parse_text(conll), conll):
        assert isinstance(at.view(thing), TreesView)
    tree = at.Tree("S", [at.Tree("N", [], "rain")])
    assert isinstance(at.view(tree), ConstituentsView)
    assert at.view([tree], gold=[tree]).headline.startswith("F1 100.00 %")
    assert at.view(parse, gold=parse, title="T").headline.startswith("UAS 100.00 %")
    assert isinstance(at.view(sentence), TagsView)
    for model in (parser, tagger, aligner, grammar, lm, at.TranslationWeights({"lm": 1.0})):
        assert isinstance(at.view(model), ModelView)
    for model in (parser, tagger, aligner):
        assert "iframe" in model._repr_html_()
    derived = list(at.Translator(grammar, lm, threads=1).derivations(["das"]))
    assert isinstance(at.view(derived, gold=["the"]), DerivationsView)
    assert isinstance(at.view([at.Step("hmm", figures={"seconds": 1.0})]), TrainingView)


@pytest.mark.parametrize("name", ["en.mrg", "en.conllu", "en.tagged"])
def test_standard_input_is_known_by_its_beginning(name):
    """From a pipe, and packed, it is shown as the file is."""
    data = (SAMPLES / name).read_bytes()
    shown = run("view", SAMPLES / name).stdout
    assert shown
    assert run("view", "-", stdin=data).stdout == shown
    assert run("view", "-", stdin=gzip.compress(data)).stdout == shown
    ran("view", "-", SAMPLES / name, stdin=data)


def test_standard_input_may_be_a_file():
    """What is looked at beforehand is read again."""
    command = [sys.executable, "-m", "aligntools", "view", "-"]
    with (SAMPLES / "en.mrg").open("rb") as file:
        file.seek(0)
        found = subprocess.run(command, stdin=file, capture_output=True, cwd=ROOT)
    assert found.stdout == run("view", SAMPLES / "en.mrg").stdout
