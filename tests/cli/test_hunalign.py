"""The stand-in for hunalign, as its callers run it."""

from itertools import pairwise

import pytest

from aligntools.formats.links.ladder import read_ladder
from tests.cli.running import run

DE = [
    f"{name} {1900 + n} ." for n, name in enumerate(["Anna", "Berlin", "Carla", "Dresden", "Emil", "Florenz", "Gustav"])
]
FR = [" ".join(DE[:2]), *DE[2:]]


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "de").write_text("".join(line + "\n" for line in DE))
    (tmp_path / "fr").write_text("".join(line + "\n" for line in FR))
    (tmp_path / "null.dic").write_text("")
    (tmp_path / "some.dic").write_text("Anna @ Anna\n")
    return tmp_path


def hunalign(*args, cwd):
    return run(*args, script="hunalign", cwd=cwd)


def test_ladders_and_text(texts):
    ladder = hunalign("-utf", "-realign", "null.dic", "de", "fr", cwd=texts).stdout.decode()
    rungs = [line.split("\t") for line in ladder.splitlines()]
    assert [row[:2] for row in rungs] == [["0", "0"], *([str(k + 1), str(k)] for k in range(1, 7))]
    assert all(len(row) == 3 and 0 <= float(row[2]) <= 1 for row in rungs)
    (texts / "ladder").write_text(ladder)
    assert read_ladder(str(texts / "ladder"))[0][:2] == ((0, 1), (0,))
    text = hunalign("-text", "some.dic", "de", "fr", cwd=texts).stdout.decode().splitlines()
    assert text[0].split("\t")[:2] == [" ~~~ ".join(DE[:2]), FR[0]]
    assert [line.split("\t")[1] for line in text] == FR
    single = hunalign("-bisent", "null.dic", "de", "fr", cwd=texts).stdout.decode().splitlines()
    assert single == ladder.splitlines()[1:-1]
    sure = hunalign("-bisent", "-cautious", "null.dic", "de", "fr", cwd=texts).stdout.decode().splitlines()
    assert sure == single[1:]
    for none in ("-thresh=101", "-ppthresh101", "-topothresh=101", "-headerthresh=101"):
        assert hunalign("-text", "-bisent", none, "null.dic", "de", "fr", cwd=texts).stdout == b""
        joined = hunalign(none, "null.dic", "de", "fr", cwd=texts).stdout.decode().splitlines()
        assert [line.split("\t")[:2] for line in joined] == [["0", "0"], ["7", "6"]]


def test_a_caller_that_reads_ladders_gets_every_sentence(texts):
    """As bitextor's script does: segments are from rung to rung; -0.3 is the score of what has no partner."""
    (texts / "more").write_text("".join(line + "\n" for line in [*FR[:3], "Nur hier steht ein langer Satz .", *FR[3:]]))
    for options, alone in (((), 1), (("-thresh=0",), 0)):
        done = hunalign("-realign", *options, "null.dic", "de", "more", cwd=texts).stdout.decode()
        rungs = [line.split("\t") for line in done.splitlines()]
        assert sum(row[2] == "-0.3" for row in rungs) == alone
        assert all((row[2] == "-0.3") == (row[0] == after[0]) for row, after in pairwise(rungs))
        places = [range(int(a[1]), int(b[1])) for a, b in pairwise(rungs)]
        assert [k for place in places for k in place] == list(range(7))


def test_gold_and_batches(texts):
    (texts / "gold").write_text("0\t0\n2\t1\n3\t2\n4\t3\n5\t4\n7\t6\n")
    done = hunalign("-hand=gold", "null.dic", "de", "fr", cwd=texts)
    assert (
        done.stderr.decode()
        == "1 misaligned out of 6 correct items, 7 bets.\nPrecision: 0.857143, Recall: 1\n"
        + done.stderr.decode().splitlines()[-1]
        + "\n"
    )
    assert done.stderr.decode().splitlines()[-1].startswith("Quality 0.")
    (texts / "jobs").write_text("de\tfr\tone\nnone\tfr\tthree\nde\tde\ttwo\n")
    done = hunalign("-text", "-batch", "null.dic", "jobs", cwd=texts)
    assert [line.split("\t")[:2] for line in done.stderr.decode().splitlines() if "\t" in line] == [
        ["Quality", "one"],
        ["Quality", "two"],
    ]
    assert done.returncode == 1
    assert b"none: cannot be opened" in done.stderr
    assert b"Align failed for three\n" in done.stderr
    assert (texts / "one").read_bytes() == hunalign("-text", "null.dic", "de", "fr", cwd=texts).stdout


def test_paragraphs(texts):
    """Lines <p> are in both places, or borders where their numbers differ; they count as lines of ladders."""
    for name in ("de", "fr"):
        lines = (texts / name).read_text().splitlines()
        (texts / f"{name}.p").write_text("\n".join([*lines[:3], "<p>", *lines[3:]]) + "\n")
    found = hunalign("null.dic", "de.p", "fr", cwd=texts).stdout.decode().splitlines()
    assert found[-1].split("\t")[:2] == ["8", "6"]
    rows = hunalign("-text", "null.dic", "de.p", "fr.p", cwd=texts).stdout.decode().splitlines()
    assert [row for row in rows if "<p>" in row] == ["<p>\t<p>\t0"]


@pytest.mark.parametrize("args", [(), ("-wrong", "a", "b", "c"), ("a", "b"), ("-thresh", "a", "b", "c")])
def test_what_is_wrong(texts, args):
    done = hunalign(*args, cwd=texts)
    assert done.returncode == 1
    assert b"Usage (either)" in done.stderr
    assert hunalign("-autodict=x", "null.dic", "de", "fr", cwd=texts).returncode in (1, 2)
    assert hunalign("null.dic", "none", "fr", cwd=texts).returncode == 1


def test_other_encodings_are_written_as_they_were(texts):
    (texts / "latin").write_bytes("".join(f"{line} é\n" for line in FR).encode("latin-1"))
    done = hunalign("-text", "-onebyteencoding", "null.dic", "de", "latin", cwd=texts)
    assert [line.split(b"\t")[1].decode("latin-1") for line in done.stdout.splitlines()] == [f"{x} é" for x in FR]
