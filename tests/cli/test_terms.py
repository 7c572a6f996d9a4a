"""``aligntools terms``: a glossary from text with links, from TMX, and against a known one."""

import csv
import io

import pytest

from tests.cli.aligning import done
from tests.cli.running import ROOT, fails, run

SAMPLES = ROOT / "data" / "samples"
MANUAL, GLOSSARY = SAMPLES / "manual.tmx", SAMPLES / "glossary.tsv"
RAW = ("-i", MANUAL, "--languages", "de,en", "--tokenize", "de-en", "--min-count", "2")


def rows(text):
    return [line.split("\t") for line in text.decode().splitlines()]


@pytest.fixture(scope="module")
def table():
    return done(run("terms", *RAW))


def test_tmx_becomes_a_glossary(table):
    head, *found = rows(table.stdout)
    assert head[:4] == ["source", "target", "count", "p(target|source)"]
    pairs = {row[0]: row for row in found}
    assert pairs["Dampfdüse"][1:4] == ["steam nozzle", "4", "1.0000"]
    assert pairs["Kaffeebohnen"][1] == "coffee beans"
    assert "Kaffeebohnen" in pairs["Kaffeebohnen"][7]
    scores = [float(row[5]) for row in found]
    assert scores == sorted(scores, reverse=True)
    assert f"{len(found)} terms of 48 sentence pairs\n".encode() in table.stderr


def test_known_terms_are_left_out_and_checked(table, tmp_path):
    places = tmp_path / "places.tsv"
    found = done(run("terms", *RAW, "--known", GLOSSARY, "--inconsistent", places))
    known = {line.split("\t")[0] for line in GLOSSARY.read_text(encoding="utf-8").splitlines()}
    assert [row[0] for row in rows(found.stdout)] == [row[0] for row in rows(table.stdout) if row[0] not in known]
    assert rows(places.read_bytes()) == [
        ["line", "source", "expected", "found"],
        *([str(line), "dampfdüse", "steam wand", "steam nozzle"] for line in range(23, 27)),
    ]
    assert b"known terms translated otherwise: 4 times, in 4 sentence pairs\n" in found.stderr


def test_links_that_are_there(table, tmp_path):
    sides = ("-s", SAMPLES / "de-en.de", "-t", SAMPLES / "de-en.en")
    done(run("align", "-q", *sides, "--fast", "-o", tmp_path / "a"))
    given = done(run("terms", "-q", *sides, "-a", tmp_path / "a", "--top", "20")).stdout
    assert given == done(run("terms", "-q", *sides, "--fast", "--top", "20")).stdout
    assert len(rows(given)) == 21
    joint = done(run("terms", "-q", "-i", SAMPLES / "de-en.txt", "-a", tmp_path / "a", "--top", "20")).stdout
    assert joint == given
    out = tmp_path / "terms.csv"
    done(run("terms", "-q", *sides, "-a", tmp_path / "a", "--top", "20", "-o", out))
    assert [tuple(row) for row in csv.reader(io.StringIO(out.read_text(encoding="utf-8")))] == [
        tuple(row) for row in rows(given)
    ]
    tbx = tmp_path / "terms.tbx"
    done(run("terms", "-q", *sides, "-a", tmp_path / "a", "--top", "20", "-o", tbx, "--languages", "de,en"))
    assert tbx.read_text(encoding="utf-8").count("<conceptEntry ") == 20
    left = done(run("terms", "-q", *sides, "-a", tmp_path / "a", "--top", "20", "--known", tbx)).stdout
    assert len(rows(left)) == 1


def test_which_terms_are_taken(tmp_path):
    sides = ("-s", SAMPLES / "de-en.de", "-t", SAMPLES / "de-en.en")
    done(run("align", "-q", *sides, "--fast", "-o", tmp_path / "a"))
    found = {}
    for name, how in {
        "all": ("--min-probability", "0", "--no-stop-words"),
        "likely": ("--min-probability", "0.9", "--no-stop-words"),
        "words": ("--max-words", "1", "--output-format", "tsv"),
        "usual": (),
    }.items():
        found[name] = rows(done(run("terms", "-q", *sides, "-a", tmp_path / "a", *how)).stdout)[1:]
    assert min(float(p) for row in found["likely"] for p in row[3:5]) >= 0.9
    assert {row[0] for row in found["likely"]} < {row[0] for row in found["all"]}
    assert {" " in row[0] + row[1] for row in found["words"]} == {False}
    assert {" " in row[0] for row in found["usual"]} == {False, True}
    assert "der" in {row[0].lower() for row in found["all"]} - {row[0].lower() for row in found["usual"]}


def test_what_is_refused(tmp_path):
    sides = ("-s", SAMPLES / "de-en.de", "-t", SAMPLES / "de-en.en")
    (tmp_path / "a").write_text("0-0\n", encoding="utf-8")
    fails(run("terms", *sides, "-a", tmp_path / "a"), "a: 1 lines, but the text has 240 sentence pairs")
    fails(run("terms", *sides, "-o", tmp_path / "x.tbx"), "give --languages, such as de,en", status=2)
    fails(run("terms", *sides, "--inconsistent", tmp_path / "x"), "give that too", status=2)
    fails(run("terms", *sides, "-a", "x", "-m", "y"), "give one of them", status=2)
    fails(run("terms", *sides, "-a", "x", "--tokenize", "de-en"), "--tokenize finds other words", status=2)
    (tmp_path / "known").write_text("Haus\n", encoding="utf-8")
    fails(run("terms", *sides, "--fast", "--known", tmp_path / "known", "-q"), "known:1: 'Haus' has no translation")
    assert not (tmp_path / "x.tbx").exists()
