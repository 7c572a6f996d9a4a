"""The stand-in for hunalign, as its callers run it."""

from itertools import pairwise

import pytest

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


def test_batches(texts):
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


def test_other_encodings_are_written_as_they_were(texts):
    (texts / "latin").write_bytes("".join(f"{line} é\n" for line in FR).encode("latin-1"))
    done = hunalign("-text", "-onebyteencoding", "null.dic", "de", "latin", cwd=texts)
    assert [line.split(b"\t")[1].decode("latin-1") for line in done.stdout.splitlines()] == [f"{x} é" for x in FR]
