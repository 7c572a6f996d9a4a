"""``aligntools filter``: every line is kept or rejected, with its number and a reason."""

import gzip

import pytest

from tests import models
from tests.cli.aligning import JOINT, SOURCE, TARGET, done
from tests.cli.running import run

LINES = JOINT.read_text(encoding="utf-8").splitlines()
NOISE = [
    *("Der Zug fährt um acht Uhr ab . ||| Yesterday I bought a new bicycle .", "", "x y"),
    *("Der Zug fährt ab . ||| Der Zug fährt ab .", "Guten Tag ||| "),
]
REASONS = ["score", "unaligned", "unaligned", "copied", "unaligned"]


@pytest.fixture(scope="module")
def model():
    return models.model("align")


@pytest.fixture
def noisy(file):
    return file("noisy", "".join(line + "\n" for line in LINES[:100] + NOISE + LINES[100:]).encode())


def rows(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_is_rejected(model, noisy, tmp_path):
    out, rejected, scores = (tmp_path / name for name in ("out", "rejected", "scores"))
    found = done(run("filter", "-m", model, "-i", noisy, "-o", out, "--rejected", rejected, "--scores", scores))
    assert out.read_text(encoding="utf-8").splitlines() == LINES
    assert [(int(row[0]), row[1]) for row in rows(rejected)] == list(enumerate(REASONS, 101))
    assert [" ||| ".join(row[3:]).strip() for row in rows(rejected)] == [
        NOISE[0], "|||", "x y |||", NOISE[3], "Guten Tag |||"
    ]  # fmt: skip
    assert len(rows(scores)) == len(LINES) + len(NOISE)
    assert [row[-1] for row in rows(scores)][99:106] == ["", *REASONS, ""]
    assert b"rejected unaligned: 2 blank, 1 malformed (line 103); first at line 102\n" in found.stderr
    assert b"240 of 245 pairs kept, 5 rejected (1 copied, 1 score, 3 unaligned)\n" in found.stderr
    everything = done(run("filter", "-q", "-m", model, "-i", noisy, "--all", "--min-score", "0.6")).stdout.decode()
    table = [line.split("\t") for line in everything.splitlines()]
    assert [int(row[0]) for row in table] == list(range(1, len(LINES) + len(NOISE) + 1))
    kept = done(
        run("filter", "-q", "-m", model, "-i", noisy, "--min-score", "0.6", "--rejected", tmp_path / "r")
    ).stdout
    assert [f"{row[3]} ||| {row[4]}" for row in table if row[1] == "kept"] == kept.decode().splitlines()
    assert [row for row in table if row[1] != "kept"] == rows(tmp_path / "r")
    assert all(float(row[2]) >= 0.6 for row in table if row[1] == "kept")
    assert 0 < len(kept.splitlines()) < len(LINES)


def test_files_that_are_filtered(model, tmp_path, noisy, file):
    text = ("-s", SOURCE, "-t", TARGET)
    columns = done(run("filter", "-q", "-m", model, *text)).stdout.decode()
    sides = ("--source-output", tmp_path / "s.gz", "--target-output", tmp_path / "t")
    assert done(run("filter", "-q", "-m", model, *text, *sides)).stdout == b""
    assert columns.replace("\t", " ||| ").splitlines() == LINES
    assert gzip.decompress((tmp_path / "s.gz").read_bytes()) == SOURCE.read_bytes()
    assert (tmp_path / "t").read_bytes() == TARGET.read_bytes()
    stream = done(run("filter", "-q", "-i", "-", "--save-model", tmp_path / "m", stdin=noisy.read_bytes()))
    again = done(run("filter", "-q", "-i", noisy, "-m", tmp_path / "m"))
    assert stream.stdout == again.stdout
    assert 200 < stream.stdout.count(b"\n") <= 241
    fast = done(run("filter", "-q", "-i", noisy, "--fast", "--min-score", "0", "--max-copied", "1")).stdout
    assert fast.count(b"\n") == len(LINES) + 2
    text = "".join(line.replace(" ||| ", "\t") + "\n" for line in LINES).encode()
    assert done(run("filter", "-q", "-m", model, "-i", file("x.tsv", text))).stdout == text


@pytest.mark.parametrize(
    ("limit", "reason"), [(("--min-coverage", "0.95"), "coverage"), (("--min-probability", "-2.5"), "probability")]
)
def test_other_limits(model, tmp_path, limit, reason):
    done(run("filter", "-q", "-m", model, "-i", JOINT, "--min-score", "0", *limit, "--rejected", tmp_path / "r"))
    assert {row[1] for row in rows(tmp_path / "r")} == {reason}
