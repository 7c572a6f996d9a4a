"""``aligntools terms``: a glossary from text with links, from TMX, and against a known one."""

import csv
import io
import re
import sys
from xml.etree import ElementTree

import pytest

from tests.cli.aligning import done
from tests.cli.running import ROOT, run

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
    text = MANUAL.read_text(encoding="utf-8")
    raw = [row for row in found if f"<seg>{row[7]}</seg>" in text]
    assert len(raw) > 20, "examples are as they were written; inline codes are passed over"
    assert not any(row[7].endswith(" .") for row in found)
    scores = [float(row[5]) for row in found]
    assert scores == sorted(scores, reverse=True)
    assert f"{len(found)} terms of 48 sentence pairs\n".encode() in table.stderr


def test_known_terms_and_glossaries(table, tmp_path, monkeypatch):
    places = tmp_path / "places.tsv"
    found = done(run("terms", *RAW, "--known", GLOSSARY, "--inconsistent", places))
    known = {line.split("\t")[0] for line in GLOSSARY.read_text(encoding="utf-8").splitlines()}
    assert [row[0] for row in rows(found.stdout)] == [row[0] for row in rows(table.stdout) if row[0] not in known]
    assert rows(places.read_bytes()) == [
        ["line", "source", "expected", "found"],
        *([str(line), "dampfdüse", "steam wand", "steam nozzle"] for line in range(23, 27)),
    ]
    assert b"known terms translated otherwise: 4 times, in 4 sentence pairs\n" in found.stderr
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    done(run("terms", *RAW, "--known", GLOSSARY))


def test_links_that_are_there(tmp_path):
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


def test_terms_have_tags_of_a_pattern(tmp_path):
    sides = ("-s", SAMPLES / "de-en.de", "-t", SAMPLES / "de-en.en", "-a", tmp_path / "a", "--no-stop-words")
    done(run("align", "-q", *sides[:4], "--fast", "-o", tmp_path / "a"))
    lines = (SAMPLES / "de-en.en").read_text("utf-8").splitlines()

    def tag(word):
        return "X" if word in ("the", "The", "a") else "Y"

    (tmp_path / "tags").write_text("\n".join(" ".join(f"{w}_{tag(w)}" for w in line.split()) for line in lines) + "\n")
    (tmp_path / "words").write_text("".join("".join(f"{w}\tZ\n" for w in s.split()) + "\n" for s in
                                            (SAMPLES / "de-en.de").read_text("utf-8").splitlines()))  # fmt: skip
    pattern = ("--patterns", "X Y | Z+")
    both = ("--target-tags", tmp_path / "tags", "--source-tags", tmp_path / "words")
    found = rows(done(run("terms", "-q", *sides, *both[:2], *pattern)).stdout)[1:]
    assert len(found) > 10
    assert {tuple(map(tag, row[1].split())) for row in found} == {("X", "Y")}
    free = rows(done(run("terms", "-q", *sides)).stdout)[1:]
    assert ("Y",) in {tuple(map(tag, row[1].split())) for row in free}
    assert rows(done(run("terms", "-q", *sides, *both, *pattern)).stdout)[1:] == found


#: What TBX-Basic in DCA style allows of what is written here: children of each element in their order, with how many
#: there may be, attributes with their values (ISO 30042:2019; core structure TBXcoreStructV03 and TBX-Basic 1.2.1).
STRUCTURE = {
    "tbx": ("tbxHeader text", {"type": "TBX-Basic", "style": "dca", "xml:lang": r"[a-z]{2,3}"}),
    "tbxHeader": ("fileDesc", {}),
    "fileDesc": ("sourceDesc", {}),
    "sourceDesc": ("p+", {}),
    "p": ("", {}),
    "text": ("body", {}),
    "body": ("conceptEntry+", {}),
    "conceptEntry": ("note* langSec+", {"id": r"[A-Za-z_][\w.-]*"}),
    "note": ("", {}),
    "langSec": ("termSec+", {"xml:lang": r"[a-z]{2,3}"}),
    "termSec": ("term descrip*", {}),
    "term": ("", {}),
    "descrip": ("", {"type": "context"}),
}


def test_tbx_has_the_structure_of_the_basic_dialect(tmp_path):
    out = tmp_path / "terms.tbx"
    done(run("terms", *RAW, "-o", out))
    root = ElementTree.parse(out).getroot()
    seen = set()
    for element in root.iter():
        space, _, name = element.tag[1:].partition("}")
        seen.add(name)
        assert space == "urn:iso:std:iso:30042:ed-2"
        children, attributes = STRUCTURE[name]
        own = "".join(child.tag.partition("}")[2] + " " for child in element)
        assert re.fullmatch("".join(rf"(?:{re.split('[*+]', c)[0]} ){c[-1] if c[-1] in '*+' else ''}"
                                    for c in children.split()), own)  # fmt: skip
        assert bool((element.text or "").strip()) == (not children)
        found = {key.replace("{http://www.w3.org/XML/1998/namespace}", "xml:"): value for key, value in element.items()}
        assert found.keys() == attributes.keys()
        assert all(re.fullmatch(pattern, found[key]) for key, pattern in attributes.items())
    assert seen == STRUCTURE.keys()
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(set(ids)) == len(ids) > 5
