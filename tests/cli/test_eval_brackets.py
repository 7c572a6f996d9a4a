"""eval-brackets: tables, options, and trees that do not fit."""

import json

import pytest

from tests.cli.running import ROOT, ran

GOLD = b"( (S (NP-SBJ (DT The) (NN dog))\n     (VP (VBZ barks)) (. .)))\n(S (NP (NNS Cats)) (VP (VBP sleep)) (. .))\n"
PARSED = b"(S (NP (DT The) (NN dog) (VP (VBZ barks))) (. .))\n(())\n"


@pytest.fixture
def texts(file):
    return file("gold", GOLD), file("parsed", PARSED)


def done(*args):
    finished = ran("eval-brackets", *args)
    return finished


def test_tables_and_options(texts, file):
    lines = done(*texts, "-v", "--by", "label", "--by", "length", "--bootstrap", "0").stdout.decode().splitlines()
    assert lines[0].split() == ["parsed", "F1%", "precision", "recall", "exact%", "tags%", "crossing", "none%", "up",
        "to", "2%"]  # fmt: skip
    assert lines[1].split()[1:] == ["44.44", "66.67", "33.33", "0.00", "60.00", "0.00", "100.00", "100.00"]
    assert "gold: 6 brackets in 2 sentences count" in lines
    assert any(line.split() == ["NP", "2", "1", "0.00", "0.00", "0.00"] for line in lines)
    assert any(line.split()[:3] == ["1-10", "6", "3"] for line in lines)
    assert b"sentences without a tree: 1" in done(*texts, "-v").stderr
    out = done(*texts, file("other", GOLD), "--paired", "--bootstrap", "50").stdout.decode()
    assert "minus" in out
    assert "p = " in out
    gold = texts[0]
    ignoring = file("e", b"(S (NP (DT A) (NN cat)) (VP (VBZ barks)) (. .))\n(())\n")
    done(gold, ignoring, "--set", "ignore_forms=true")
    path = ROOT / "data" / "samples" / "en.mrg"
    finished = done(path, path, "--json", "--bootstrap", "0")
    assert json.loads(finished.stdout)["results"][0]["f1"] == 1


def test_options(texts):
    def figures(*args):
        return json.loads(done(*texts, "--json", "--bootstrap", "0", *args).stdout)["results"][0]

    assert figures()["f1"] == pytest.approx(4 / 9)
    assert figures("--unlabelled")["recall"] == pytest.approx(2 / 6)
    assert figures("--unlabelled", "--no-whole")["recall"] == 0
    assert figures("--functions")["recall"] == pytest.approx(2 / 6)
    assert figures("--leave-out", "none")["tags"] == pytest.approx(4 / 7)
    assert figures("--leave-out", "DT . NNS")["sentences"] == 2
    assert figures("--max-length", "3")["sentences"] == 1
    assert "left_out:''+,+.+:+``" in done(*texts, "--bootstrap", "0").stdout.decode()
