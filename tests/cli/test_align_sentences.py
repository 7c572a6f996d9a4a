"""`align-sentences` and `eval-sentences`: what is written, what is refused."""

import gzip
import json
import os
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aligntools as at
from aligntools.formats.links.ladder import format_ladder
from tests import docx_files
from tests.cli.running import ran, run
from tests.places import REALDATA, ROOT

NAMES = [
    *("Anna", "Berlin", "Carla", "Dresden", "Emil", "Florenz", "Gustav", "Hamburg"),
    *("Ida", "Jena", "Karl", "London", "Maria", "Nizza", "Otto", "Paris"),
]
ALONE = "Nur hier steht ein langer Satz ohne Gegenstück ."
#: Sentences 0 and 1 are one in French, 9 is here alone, a blank line is after the fifth.
DE_LINES = [f"{name} {1900 + n} ." for n, name in enumerate(NAMES)]
FR_LINES = [f"{name} , {1900 + n} ." for n, name in enumerate(NAMES)]
DE_LINES[9:9], FR_LINES[:2], DE_LINES[5:5] = [ALONE], [" ".join(FR_LINES[:2])], [""]
DE, FR = ("".join(line + "\n" for line in lines) for lines in (DE_LINES, FR_LINES))
#: The groups by lines, in which the blank one counts.
GOLD = ["[0, 1]:[0]", *(f"[{n}]:[{n - 1}]" for n in range(2, 5)), *(f"[{n}]:[{n - 2}]" for n in range(6, 10))]
GOLD += ["[10]:[]", *(f"[{n}]:[{n - 3}]" for n in range(11, 18))]
QUICK = "--no-encoder"


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "de").write_text(DE)
    (tmp_path / "fr").write_text(FR)
    return tmp_path


def test_pairs_ladder_and_what_is_alone(texts):
    outputs = ("-o", "pairs", "--ladder", "ladder", "--source-alone", "alone.s", "--target-alone", "alone.t")
    done = run("align-sentences", "-s", "de", "-t", "fr", QUICK, *outputs, cwd=texts)
    assert done.stdout == b""
    assert b"17 and 15 sentences: 15 groups, 1 and 0 sentences without a partner" in done.stderr
    pairs = (texts / "pairs").read_text().splitlines()
    assert pairs[:2] == [
        "Anna 1900 . Berlin 1901 . ||| Anna , 1900 . Berlin , 1901 .",
        "Carla 1902 . ||| Carla , 1902 .",
    ]
    assert pairs[-1] == "Paris 1915 . ||| Paris , 1915 ."
    rungs = [line.rsplit(":", 1)[0] for line in (texts / "ladder").read_text().splitlines()]
    assert rungs == GOLD
    assert (texts / "alone.s").read_text() == ALONE + "\n"
    assert (texts / "alone.t").read_text() == ""
    same = run("align-sentences", "-s", "-", "-t", "fr", QUICK, "--threads", "2", stdin=DE.encode(), cwd=texts)
    assert same.stdout == (texts / "pairs").read_bytes()
    (texts / "de.gz").write_bytes(gzip.compress(DE.encode()))
    sides = ("--source-output", "s", "--target-output", "t", "-q")
    assert run("align-sentences", "-s", "de.gz", "-t", "fr", QUICK, *sides, cwd=texts).stderr == b""
    pasted = zip((texts / "s").read_text().splitlines(), (texts / "t").read_text().splitlines(), strict=True)
    assert [" ||| ".join(one) for one in pasted] == (texts / "pairs").read_text().splitlines()


def test_python_finds_the_same(texts):
    run("align-sentences", "-s", "de", "-t", "fr", QUICK, "-o", "pairs", cwd=texts)
    found = at.align_sentences(texts / "de", texts / "fr", encoder=False)
    assert [" ||| ".join(pair) for pair in found.pairs] == (texts / "pairs").read_text().splitlines()
    again = at.align_sentences(DE.splitlines(), FR.splitlines(), encoder=False, threads=1)
    assert again.groups == found.groups
    assert sorted(k for group in found for k in group.source) == list(range(17))
    assert found.alone == ([9], [])
    found = at.align_sentences(DE.splitlines(), FR.splitlines(), encoder=False, min_score=1)
    assert not list(found.pairs)
    assert found.alone == (list(range(17)), list(range(15)))
    source, target = ["a b", "<p>", "c d", "e"], ["x", "y", "<p>", "z"]
    found = at.align_sentences(source, target, encoder=False, anchors="<p>")
    assert all((max(g.source, default=0) < 1) == (max(g.target, default=0) < 2) for g in found if g.source and g.target)
    with pytest.raises(at.DataError, match=r"source: 1 lines '<p>', but target has 0 lines"):
        at.align_sentences(source, ["x"], encoder=False, anchors="<p>")
    with pytest.raises(at.DataError, match="source:2: bytes that are not UTF-8"):
        at.align_sentences(["a", "b\udce9"], ["a"], encoder=False)


def test_forms_of_ladders_and_options(texts):
    base = ("align-sentences", "-s", "de", "-t", "fr", QUICK, "-q", "-o", "pairs")
    for form in ("vecalign", "hunalign", "xces", "intertext"):
        run(*base, "--ladder", form, "--ladder-format", form, cwd=texts)
    done = run("eval-sentences", "vecalign", "xces", "intertext", "--json", "-q", "--bootstrap", 0, cwd=texts)
    assert [one["f1"] for one in json.loads(done.stdout)["results"]] == [1, 1]
    assert "<link type='1-2' xtargets='1;1 2' status='auto'/>" in (texts / "intertext").read_text()
    assert (texts / "hunalign").read_text().splitlines()[1].startswith("2\t1\t")
    base = ("align-sentences", "-s", "de", "-t", "fr", "-q", "--ladder", "-", "-o", "pairs")
    one = run(*base, QUICK, "--group-size", 1, "--no-moved", cwd=texts).stdout.decode()
    assert all("," not in line for line in one.splitlines())
    assert run(*base, QUICK, "--min-score", 1, cwd=texts).stdout.decode().count("[]") == 31
    assert (texts / "pairs").read_bytes() == b""
    unmarked = run("align-sentences", "-s", "de", "-t", "fr", QUICK, "--anchors", "<p>", "-o", "pairs", cwd=texts)
    assert b"warning: de and fr have no line '<p>'" in unmarked.stderr


@given(st.lists(st.sampled_from(["<p>", "a b", "c", "d e"]), max_size=12), st.data())
def test_no_group_has_sentences_of_both_sides_of_a_mark(source, data):
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=source.count("<p>") + 1, max_size=source.count("<p>") + 1))
    target = [line for k, size in enumerate(sizes) for line in ["<p>"] * (k > 0) + ["c e"] * size]
    found = at.align_sentences(source, target, encoder=False, threads=1, anchors="<p>")
    parts = [[sum(line == "<p>" for line in side[:k]) for k in range(len(side))] for side in (source, target)]
    for source_lines, target_lines, _ in found.of_lines:
        assert len({parts[0][k] for k in source_lines} | {parts[1][k] for k in target_lines}) == 1
    for k, side in enumerate((source, target)):
        own = [n for group in found.of_lines for n in group[k]]
        assert own == [n for n, line in enumerate(side) if line != "<p>"]


def test_ids_in_a_column_hold_the_path(tmp_path):
    """Verses of several sentences, one that is missing, one that stands elsewhere, one without an id."""
    (tmp_path / "s").write_text("v1\ta b\nv1\tc d\n\nv2\te f\nv3\tg h\nv4\ti\n\tj\nv9\tk\n")
    (tmp_path / "t").write_text("v9\tz\nv1\tx\nv3\ty y y y y y y y\nv4\tw\n")
    base = ("align-sentences", "-s", "s", "-t", "t", QUICK, "-q", "--ladder", "ladder", "-o", "pairs", "--anchors")
    run(*base, 1, cwd=tmp_path)
    rungs = (line.split(":")[:2] for line in (tmp_path / "ladder").read_text().splitlines())
    groups = [tuple(map(json.loads, rung)) for rung in rungs]
    assert sorted(k for one, _ in groups for k in one) == [0, 1, 3, 4, 5, 6, 7]
    verses = {0: 1, 1: 1, 3: 2, 4: 3, 5: 4, 6: 4, 7: 4}, {0: 0, 1: 1, 2: 3, 3: 4}
    for one, other in groups:
        if one and other:
            assert {verses[0][k] for k in one if k != 3} <= {verses[1][k] for k in other}  # v2 is in one alone
    assert "v1" not in (tmp_path / "pairs").read_text()
    for name in "st":
        rows = (line.split("\t") for line in (tmp_path / name).read_text().splitlines())
        (tmp_path / f"{name}2").write_text("".join("\t".join(reversed(row)) + "\n" for row in rows))
    again = tuple({"s": "s2", "t": "t2"}.get(one, one) for one in base)
    kept = (tmp_path / "ladder").read_bytes()
    run(*again, 2, cwd=tmp_path)
    assert (tmp_path / "ladder").read_bytes() == kept
    (tmp_path / "t").write_text("a\tz\n")
    done = run("align-sentences", "-s", "s", "-t", "t", QUICK, "--anchors", 1, cwd=tmp_path)
    assert b"warning: s and t have no id in common" in done.stderr


@given(
    *(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8), max_size=30),) * 2,
    st.sampled_from([{}, {"group_size": 1}, {"min_score": 0.9}, {"moved": False}, {"anchors": "x"}]),
)
def test_every_line_with_text_is_in_one_line_of_the_ladder(source, target, options):
    if "anchors" in options:
        source, target = (
            [*(line for line in side if line.strip(" \t\r") != "x"), "x", "y"] for side in (source, target)
        )
    found = at.align_sentences(source, target, encoder=False, threads=1, **options)
    rows = [line.split(":")[:2] for line in format_ladder(found.of_lines, "vecalign").splitlines()]
    for side, lines in enumerate((source, target)):
        there = [k for k, line in enumerate(lines) if line.strip(" \t\r") and line.strip() != options.get("anchors")]
        assert sorted(k for row in rows for k in json.loads(row[side])) == there


def test_enormous_lines():
    lines = [line for line in DE_LINES if line]
    plain = at.align_sentences(lines, FR_LINES, encoder=False)
    more = at.align_sentences(["x" * 1_000_000, *lines], FR_LINES, encoder=False)
    assert [(g.source, g.target) for g in plain] == [
        (tuple(k - 1 for k in g.source), g.target) for g in more if g.source != (0,)
    ]
    found = at.align_sentences(["a " * 1_000_000, "b c"], ["d e"] * 500, encoder=False, threads=1)
    assert sorted(k for group in found for k in group.target) == list(range(500))


def test_scores(texts):
    (texts / "gold").write_text("".join(line + "\n" for line in GOLD))
    (texts / "other").write_text("0\t0\t0.5\n2\t1\n11\t8\n18\t15\n")  # rungs: three groups
    run("align-sentences", "-s", "de", "-t", "fr", QUICK, "-o", "pairs", "--ladder", "ladder", cwd=texts)
    found = run("eval-sentences", "gold", "ladder", "other", "--json", "--bootstrap", 10, "-q", cwd=texts)
    first, second = json.loads(found.stdout)["results"]
    assert (first["f1"], first["groups"], first["gold"]) == (1, 16, 15)
    assert (second["groups"], second["precision"], second["precision_lax"]) == (3, 1 / 3, 1)
    assert b"gold: 15 groups with both sides" in run("eval-sentences", "gold", "ladder", cwd=texts).stdout


@pytest.mark.slow
@pytest.mark.skipif(not REALDATA, reason="real text is not there")
def test_text_berg(tmp_path):
    documents = REALDATA / "documents"
    a, b = documents / "de-fr.dev.de", documents / "de-fr.dev.fr"
    run("align-sentences", "-s", a, "-t", b, QUICK, "-o", tmp_path / "pairs", "--ladder", tmp_path / "ladder")
    done = run("eval-sentences", documents / "de-fr.dev.gold", tmp_path / "ladder", "--json", "--bootstrap", 0)
    assert json.loads(done.stdout)["results"][0]["f1"] > 0.87


def test_many_documents(texts):
    """Each has its files; what failed is named at the end; what is there is made again where a document is newer."""
    (texts / "list.tsv").write_text("# books\nde\tfr\n\nde\tfr\tother\nnone\tfr\n")
    done = run("align-sentences", "--documents", "list.tsv", "-o", "out/", "--links", QUICK, "--workers", 2, cwd=texts)
    assert done.returncode == 1
    assert b"list.tsv: 1 of 3 pairs of documents failed; the others are written" in done.stderr
    assert b"error: none: cannot be opened" in done.stderr
    assert b"warning" not in done.stderr
    run("align-sentences", "-s", "de", "-t", "fr", QUICK, "-o", "pairs", "--ladder", "ladder", cwd=texts)
    for name in ("de", "other"):
        assert (texts / "out" / f"{name}.txt").read_bytes() == (texts / "pairs").read_bytes()
        assert (texts / "out" / f"{name}.ladder").read_bytes() == (texts / "ladder").read_bytes()
    (texts / "list.tsv").write_text("de\tfr\nde\tfr\tother\n")
    again = ("align-sentences", "--documents", "list.tsv", "-o", "out", QUICK)
    assert b"0 pairs of documents aligned, 2 were there" in run(*again, cwd=texts).stderr
    os.utime(texts / "out" / "other.txt", (1, 1))
    assert b"1 pairs of documents aligned, 1 were there" in run(*again, cwd=texts).stderr


def test_documents_that_are_no_translation_are_told(tmp_path):
    lines = (ROOT / "data/samples/de-en.en").read_text().splitlines()
    (tmp_path / "s").write_text("\n".join(lines[:60]) + "\n")
    for other, said in (
        (lines[60:], "seem to be of one language"),
        ([" ".join(lines)], "one has 60 sentences, the other 1"),
    ):
        (tmp_path / "t").write_text("\n".join(other) + "\n")
        done = ran("align-sentences", "-s", "s", "-t", "t", QUICK, "-o", "pairs", cwd=tmp_path)
        assert done.stderr.decode().count("warning: s and t ") == 1
        assert said in done.stderr.decode()


def test_translation_memories_and_tables(texts):
    base = ("align-sentences", "-s", "de", "-t", "fr", QUICK, "-q")
    rows = [line.split("\t") for line in run(*base, "--output-format", "tsv", cwd=texts).stdout.decode().splitlines()]
    plain = run(*base, cwd=texts).stdout.decode().splitlines()
    assert [" ||| ".join(row[:2]) for row in rows] == plain
    assert all(0 < float(row[2]) <= 1 for row in rows)
    run(*base, "--output-format", "tmx", "--languages", "de-fr", "-o", "m.tmx", cwd=texts)
    written = (texts / "m.tmx").read_bytes()
    assert run(*base, "--output-format", "tmx", "--languages", "de,fr", cwd=texts).stdout == written
    for languages in ("de,fr", "de-fr"):
        links = run("align", "-q", "-i", "m.tmx", "--languages", languages, "--fast", cwd=texts).stdout
        assert links.count(b"\n") == len(plain)
    units = ElementTree.parse(texts / "m.tmx").getroot().iter("tu")
    assert [one.find("prop").text for one in units] == [row[2] for row in rows]


def test_paragraphs_are_split(texts):
    """Lines with blank ones between paragraphs, or a paragraph a line; ladders count sentences."""
    for name, lines in (("de", DE_LINES), ("fr", FR_LINES)):
        whole = [line for line in lines if line]
        (texts / f"{name}.wrapped").write_text("\n".join(whole[:6]) + "\n\n" + "\n".join(whole[6:]) + "\n")
        (texts / f"{name}.long").write_text(" ".join(whole[:6]) + "\n" + " ".join(whole[6:]) + "\n")
    outputs = ("--source-sentences", "sentences", "--target-sentences", "others", "--ladder", "ladder")
    found = []
    for kind in ("wrapped", "long"):
        files = ("-s", f"de.{kind}", "-t", f"fr.{kind}")
        run("align-sentences", *files, QUICK, "-q", "--split-sentences", "de-fr", "-o", "pairs", *outputs, cwd=texts)
        sentences = (texts / "sentences").read_text().splitlines()
        assert " ".join(sentences) == " ".join(line for line in DE_LINES if line)
        assert (texts / "others").read_text().split() == FR.split()
        numbers = json.loads("[" + ",".join(re.findall(r"^\[([\d, ]+)\]", (texts / "ladder").read_text(), re.M)) + "]")
        assert sorted(numbers) == list(range(len(sentences)))
        found.append((texts / "pairs").read_text())
    assert found[0] == found[1]


def test_pages_and_scripture(texts):
    page = "<!DOCTYPE html><html><body>{}</body></html>"
    for name, lines in (("de", DE_LINES), ("fr", FR_LINES)):
        (texts / f"{name}.html").write_text(page.format("".join(f"<p>{line}</p>\n" for line in lines if line)))
        verses = "".join(f"\\v {n} {line}\n" for n, line in enumerate(lines[-6:], 1))
        (texts / f"{name}.usfm").write_text(f"\\id GEN\n\\c 1\n\\p\n{verses}")
    done = run("align-sentences", "-s", "de.html", "-t", "fr.html", QUICK, "-q", cwd=texts)
    assert done.stdout.decode().splitlines()[0].endswith(" ||| Anna , 1900 . Berlin , 1901 .")
    done = run("align-sentences", "-s", "de.usfm", "-t", "fr.usfm", QUICK, "-q", "--ladder", "ladder", cwd=texts)
    assert done.stdout.decode().splitlines() == [
        f"{a} ||| {b}" for a, b in zip(DE_LINES[-6:], FR_LINES[-6:], strict=True)
    ]
    paragraphs = [docx_files.paragraph(docx_files.text(line)) for line in DE_LINES if line]
    docx_files.write_docx(texts / "de.docx", docx_files.body(*paragraphs))
    pages = run("align-sentences", "-s", "de.docx", "-t", "fr.html", QUICK, "-q", cwd=texts).stdout
    assert pages == run("align-sentences", "-s", "de.html", "-t", "fr.html", QUICK, "-q", cwd=texts).stdout


@pytest.mark.parametrize("kind", ["--dictionary", "--priors", "--vectors"])
def test_what_is_known_of_words_pairs_sentences(tmp_path, kind):
    """Sentences of one length, and nothing that looks alike, one further in the source: what is known decides."""
    letters = "abcdefgh"
    source = [" ".join(f"{one}{two}qqq" for two in letters) for one in letters]
    target = [" ".join(f"{one}{two}zzz"[::-1] for two in letters) for one in letters]
    (tmp_path / "s").write_text("\n".join(source) + "\n")
    (tmp_path / "t").write_text("\n".join([*target[1:], "x" * 47]) + "\n")
    words = list(zip(" ".join(source).split(), " ".join(target).split(), strict=True))
    numbers = np.random.default_rng(1).standard_normal((len(words), 50)).round(3).tolist()
    rows = {
        "--dictionary": {"d": [f"{b} @ {a}" for a, b in words]},
        "--priors": {"d": [f"LEX\t{a}\t{b}\t9" for a, b in words]},
        "--vectors": {
            name: [" ".join([pair[side], *map(str, row)]) for pair, row in zip(words, numbers, strict=True)]
            for side, name in enumerate("de")
        },
    }[kind]
    for name, lines in rows.items():
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    base = ("align-sentences", "-s", "s", "-t", "t", QUICK, "-q")
    right = {f"{a} ||| {b}" for a, b in zip(source[1:], target[1:], strict=True)}
    assert right <= set(run(*base, kind, *rows, cwd=tmp_path).stdout.decode().splitlines())
    assert not right & set(run(*base, cwd=tmp_path).stdout.decode().splitlines())
