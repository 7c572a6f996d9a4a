"""Derivations: what translate writes of them, and how they are looked at."""

import json
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

import aligntools as at
from aligntools.formats.translation.derivations import (
    Derivation,
    DerivedSentence,
    RuleUse,
    format_header,
    format_sentences,
    read_derivations,
)
from aligntools.viewing.derivations import boxes, derivation_svg
from tests.cli.running import fails, ran, run
from tests.places import ROOT, SAMPLES
from tests.viewing.browsing import page_of, shot

KEPT = ROOT / "tests" / "data" / "models" / "0.3.0"
SVG = "{http://www.w3.org/2000/svg}"
#: das ist ein Haus -> this is a house: a rule with two gaps over two others.
SENTENCE = DerivedSentence(
    ("das", "ist", "ein", "Haus"),
    (
        Derivation(
            ("this", "is", "a", "house"), -1.5,
            (
                RuleUse("S", ("[X,1]",), ("[X,1]",), (0, 4), (1,), 0.0, {"glue-unary": 1.0}),
                RuleUse("X", ("[X,1]", "ist", "[X,2]"), ("[X,1]", "is", "[X,2]"), (0, 4), (2, 3), -0.5, {"lm": -0.5}),
                RuleUse("X", ("das",), ("this",), (0, 1), (), -0.5, {}),
                RuleUse("X", ("ein", "Haus"), ("a", "house"), (2, 4), (), -0.5, {}),
            ),
        ),
        Derivation(("it", "is", "house"), -2.0, (RuleUse("X", ("das",), ("it",), (0, 4), (), -2.0, {}),)),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def translator():
    return at.Translator(KEPT / "grammar", KEPT / "lm", KEPT / "translate.weights", threads=1)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "few.derivations"
    path.write_bytes(format_header() + b"".join(format_sentences([SENTENCE, DerivedSentence((), ())])))
    return path


def check(sentence, derivation):
    """A derivation is a tree of rules over the sentence, whose target sides make the translation."""
    rules = derivation.rules
    assert rules[0].span == (0, len(sentence.source))
    covered = []

    def walk(k):
        words, place = [], rules[k].span[0]
        for symbol in rules[k].source:
            if symbol.startswith("[X,"):
                tail = rules[rules[k].tails[int(symbol[3]) - 1]]
                assert tail.span[0] == place
                place = tail.span[1]
            else:
                assert symbol == sentence.source[place]
                covered.append(place)
                place += 1
        assert place == rules[k].span[1]
        for symbol in rules[k].target:
            words += walk(rules[k].tails[int(symbol[3]) - 1]) if symbol.startswith("[X,") else [symbol]
        return words

    assert walk(0) == list(derivation.words)
    assert sorted(covered) == list(range(len(sentence.source)))
    assert derivation.score == pytest.approx(sum(use.score for use in rules), abs=1e-4)


def test_derivations_are_those_of_the_n_best_list(translator):
    text = [*(SAMPLES / "de-en.de").read_text().splitlines()[:6], "", "Der unbekannteste Zug ."]
    best = list(translator.n_best(text, 4))
    weights = translator.weights.features
    found = list(translator.derivations(text, 4))
    assert [d.source for d in found] == [tuple(line.split()) for line in text]
    for sentence, candidates in zip(found, best, strict=True):
        if not sentence.source:
            assert sentence.derivations == ()
            continue
        assert [d.words for d in sentence.derivations] == [c.words for c in candidates]
        assert [d.score for d in sentence.derivations] == pytest.approx([c.score for c in candidates], abs=1e-4)
        for d in sentence.derivations:
            check(sentence, d)
            for use in d.rules:
                assert use.score == pytest.approx(sum(weights[name] * x for name, x in use.features.items()), abs=1e-4)
        assert all(a.score >= b.score - 1e-9 for a, b in pairwise(sentence.derivations))
    assert any(use.source == ("unbekannteste",) == use.target for use in found[-1].derivations[0].rules)


def test_the_file_comes_back(file):
    assert read_derivations(file) == [SENTENCE, DerivedSentence((), ())]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("aligntools derivations", "other"), "few.derivations:1: is not the first line"),
        (('"version": 1', '"version": 2'), "few.derivations:1: version 2, this program reads 1"),
        (('"span": [2, 4]', '"span": [2, 9]'), "few.derivations:2: rule 3 has the span [2, 9]; the sentence has 4"),
        (('"tails": [2, 3]', '"tails": [2, 7]'), "few.derivations:2: rule 1 has the tails [2, 7]"),
        (('"tails": [2, 3]', '"tails": [2, 2]'), "few.derivations:2: a derivation must use each"),
        (('"[X,1]", "ist"', '"y", "ist"'), "few.derivations:2: rule 1 has 2 tails"),
        (('"score": -1.5', '"score": "x"'), 'few.derivations:2: "x" stands where a number'),
        (('{"source"', "{source"), "few.derivations:2: is not JSON"),
        (('"derivations": []', '"other": []'), "few.derivations:3: is not a sentence"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(file, change, problem):
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change, 1))
    fails(run("view", "--derivations", file), problem)


def test_boxes_and_room():
    found = boxes(SENTENCE.derivations[0])
    assert {(box.row, box.use.span, box.target, box.source) for box in found} == {
        (0, (0, 4), "this is a house", ""), (1, (0, 4), "① is ②", "① ist ②"), (2, (0, 1), "this", "das"),
        (2, (2, 4), "a house", "ein Haus"),
    }  # fmt: skip
    assert boxes(Derivation((), 0.0, ())) == []
    long = RuleUse("X", ("a",), ("an", "incomprehensibly", "long", "translation"), (0, 1), (), 0.0, {})
    rest = RuleUse("X", ("b",), ("<b>",), (1, 2), (), 0.0, {})
    top = RuleUse("S", ("[X,1]", "[X,2]"), ("[X,1]", "[X,2]"), (0, 2), (1, 2), 0.0, {})
    words = ("an", "incomprehensibly", "long", "translation", "<b>")
    root = ElementTree.fromstring(derivation_svg(("a", "b"), Derivation(words, 0.0, (top, long, rest))))
    rects = [(float(r.get("x")), float(r.get("width"))) for r in root.iter(f"{SVG}rect")]
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert "<b>" in texts
    assert max(width for _, width in rects[1:]) > 6.5 * len("an incomprehensibly long translation")
    assert rects[0][1] <= float(root.get("width"))


def test_text_marks_what_is_not_in_the_reference(file):
    shown = at.view_derivations(file, ["it is a house", ""])
    assert shown.text(number=1).splitlines() == [
        *("sentence 1  das ist ein Haus", " reference  -it is a house", "   -1.5000  +this is a house"),
        *("   -2.0000  it is house", "  S 0-4  [X,1] ||| [X,1]  0.0000"),
        *("  X 0-4  [X,1] ist [X,2] ||| [X,1] is [X,2]  -0.5000", "    X 0-1  das ||| this  -0.5000"),
        "    X 2-4  ein Haus ||| a house  -0.5000",
    ]
    (file.parent / "marked").write_bytes(b"\xef\xbb\xbfit is a house\n\n")
    assert at.view_derivations(file, file.parent / "marked").references == shown.references
    with pytest.raises(at.DataError, match="references: 1 lines, but there are 2 sentences"):
        at.view_derivations(file, ["one"])
    with pytest.raises(at.UsageProblem, match="sentence 2 has no derivation"):
        shown.svg(2)


def test_the_commands(tmp_path):
    def done(*args):
        found = ran(*args, cwd=tmp_path)
        return found.stdout

    lines = (SAMPLES / "de-en.de").read_bytes().splitlines(True)[:3]
    (tmp_path / "de").write_bytes(b"".join(lines))
    (tmp_path / "en").write_bytes(b"".join((SAMPLES / "de-en.en").read_bytes().splitlines(True)[:3]))
    system = "--grammar", KEPT / "grammar", "--lm", KEPT / "lm", "-w", KEPT / "translate.weights", "--threads", "1"
    plain = done("translate", "-q", *system, "de")
    assert done("translate", "-q", *system, "de", "--derivations", "one") == plain
    assert [len(s.derivations) for s in read_derivations(tmp_path / "one")] == [1, 1, 1]
    done("translate", "-q", *system, "de", "--n-best", 3, "--derivations", "three", "-o", "n")
    assert all(1 <= len(s.derivations) <= 3 for s in read_derivations(tmp_path / "three"))
    assert b"reference" in done("view", "--derivations", "three", "--reference", "en")
    done("view", "--derivations", "three", "--number", 2, "--svg", "d.svg")
    assert "bicycle" in (tmp_path / "d.svg").read_text() or "Fahrrad" in (tmp_path / "d.svg").read_text()
    (tmp_path / "short").write_text("a\n")
    fails(
        run("view", "--derivations", "three", "--reference", "short", cwd=tmp_path), "short: 1 lines, but there are 3"
    )
    fails(run("view", "--derivations", "three", "--number", "9", cwd=tmp_path), "there is no sentence 9", status=2)
    fails(run("view", "--derivations", "three", "x", cwd=tmp_path), "'x'", status=2)


def test_the_page(browser, file):
    odd = {"source": ["<img src=x onerror=alert(1)>"], "derivations": []}
    (file.parent / "en").write_text("it is a house\n\n\n")
    file.write_text(file.read_text() + json.dumps(odd) + "\n")
    browser.open(page_of(file.parent, "--derivations", file, "--reference", file.parent / "en"))
    with shot(browser, "derivations"):
        assert browser.texts("#hypotheses .other") == ["this"]
    assert browser.texts("#hypotheses .lacking") == ["it"]
    assert browser.texts("#picture .target") == ["this is a house", "① is ②", "a house", "this"]
    browser.js("document.querySelectorAll('#hypotheses input')[1].click()")
    assert browser.texts("#picture .target") == ["it"]
    assert len(browser.all("#rules tbody tr")) == 1
    browser.keys("END")
    assert browser.one("#source").text == odd["source"][0]
    browser.one("#query").send_keys("house")
    assert re.match("1 of 3", browser.js("return document.querySelector('#count').textContent"))
    browser.resize(400, 800)
    assert not browser.overflows()
