"""`align-sentences` and `eval-sentences`: what is written, what is refused."""

import gzip
import json

import pytest

import aligntools as at
from tests.cli.running import fails, run
from tests.places import REALDATA

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


def test_ladders_have_other_forms(texts):
    base = ("align-sentences", "-s", "de", "-t", "fr", QUICK, "-q", "-o", "pairs")
    for form in ("vecalign", "hunalign", "xces"):
        run(*base, "--ladder", form, "--ladder-format", form, cwd=texts)
    done = run("eval-sentences", "vecalign", "xces", "--json", "-q", "--bootstrap", 0, cwd=texts)
    assert json.loads(done.stdout)["results"][0]["f1"] == 1
    assert (texts / "hunalign").read_text().splitlines()[1].startswith("2\t1\t")
    fails(run(*base, "--ladder-format", "xces", cwd=texts), "--ladder-format needs --ladder", status=2)
    fails(run(*base, "--source-output", "x", "--target-output", "y", cwd=texts), "exclude each other", status=2)


def test_options_of_groups(texts):
    base = ("align-sentences", "-s", "de", "-t", "fr", "-q", "--ladder", "-", "-o", "pairs")
    one = run(*base, QUICK, "--group-size", 1, "--no-moved", cwd=texts).stdout.decode()
    assert all("," not in line for line in one.splitlines())
    assert run(*base, QUICK, "--min-score", 1, cwd=texts).stdout.decode().count("[]") == 31
    assert (texts / "pairs").read_bytes() == b""
    marked = run(*base, QUICK, "--anchors", "Emil 1904 .", cwd=texts)  # of one document alone
    fails(marked, "de: 1 lines 'Emil 1904 .', but fr has 0 lines")
    fails(run(*base, "--encoder", "nowhere", cwd=texts), "nowhere")


def test_groups_below_a_score_are_taken_apart(texts):
    found = at.align_sentences(DE.splitlines(), FR.splitlines(), encoder=False, min_score=1)
    assert not list(found.pairs)
    assert found.alone == (list(range(17)), list(range(15)))


def test_marks_hold_the_path(texts):
    source, target = ["a b", "<p>", "c d", "e"], ["x", "y", "<p>", "z"]
    found = at.align_sentences(source, target, encoder=False, anchors="<p>")
    assert all((max(g.source, default=0) < 1) == (max(g.target, default=0) < 2) for g in found if g.source and g.target)
    with pytest.raises(at.DataError, match=r"source: 1 lines '<p>', but target has 0 lines"):
        at.align_sentences(source, ["x"], encoder=False, anchors="<p>")


@pytest.mark.parametrize(("source", "target"), [("", ""), ("", "a\n"), ("a\n", ""), ("\n\n", "b\n"), ("a\n", "a\n")])
def test_every_sentence_of_small_documents_is_somewhere(tmp_path, source, target):
    (tmp_path / "s").write_text(source)
    (tmp_path / "t").write_text(target)
    alone = ("--source-alone", "x", "--target-alone", "y")
    done = run("align-sentences", "-s", "s", "-t", "t", QUICK, *alone, cwd=tmp_path)
    both = [line.split(" ||| ") for line in done.stdout.decode().splitlines()]
    for side, (text, rest) in enumerate(((source, "x"), (target, "y"))):
        assert [pair[side] for pair in both] + (tmp_path / rest).read_text().split() == text.split()


def test_a_sentence_of_a_million_words_costs_what_a_long_one_does(tmp_path):
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


@pytest.mark.parametrize(
    ("ladder", "said"),
    [
        ("[0]:[0]\nx\n", "ladder:2: 'x' is no group"),
        ("[0]:[0]\n[1]:[99999999999]\n", "ladder:2: sentence 99999999999 is beyond"),
        ("[0]:[0]:nan\n", "ladder:1: 'nan' is no score"),
        ("0\t0\n5\t-1\n", "ladder:2: '5"),
        ("0\t0\n5\t5\n3\t7\n", "ladder:3: rung 3 7 goes back"),
        ("0\t0\n99999999999\t5\n", "ladder:2: sentence 99999999999 is beyond"),
        ("<a>\n\n<b></a>", "ladder:3: is no XML"),
        ("<a><link xtargets='s1;x'/></a>", "xtargets='s1;x' is not of two sides"),
        ("<a><link xtargets='s0;s1'/></a>", "xtargets='s0;s1' is not of two sides"),
        ("<a><link xtargets='s1'/></a>", "xtargets='s1' is not of two sides"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "declares entities"),
        ("[0]:[0]\n[0]:[1]\n", "source sentence 0 is in two groups"),
    ],
)
def test_a_damaged_ladder_is_one_line(tmp_path, ladder, said):
    (tmp_path / "ladder").write_text(ladder)
    assert fails(run("eval-sentences", "ladder", "ladder", cwd=tmp_path), said)


def test_what_is_wrong_is_one_line(texts):
    (texts / "bars").write_text("a\nb ||| c\n")
    fails(run("align-sentences", "-s", "bars", "-t", "fr", QUICK, cwd=texts), "bars:2: the sentence has ' ||| ' in it")


@pytest.mark.slow
@pytest.mark.skipif(not REALDATA, reason="real text is not there")
def test_text_berg(tmp_path):
    documents = REALDATA / "documents"
    a, b = documents / "de-fr.dev.de", documents / "de-fr.dev.fr"
    run("align-sentences", "-s", a, "-t", b, QUICK, "-o", tmp_path / "pairs", "--ladder", tmp_path / "ladder")
    done = run("eval-sentences", documents / "de-fr.dev.gold", tmp_path / "ladder", "--json", "--bootstrap", 0)
    assert json.loads(done.stdout)["results"][0]["f1"] > 0.87
