"""``aligntools teach`` as a user runs it, and contrastive-align with what it wrote."""

import gzip
import json

import pytest

from tests.cli.running import fails, ran, run
from tests.conftest import SAMPLES

TEXT = ("-s", SAMPLES / "de-en.de", "-t", SAMPLES / "de-en.en")


@pytest.fixture(scope="module")
def taught(trained, tmp_path_factory):
    """A folder with a ``start``."""
    folder = tmp_path_factory.mktemp("taught")
    settings = ("--students", "60,100", "--set", "lessons=40", "--set", "networks=2", "--passes", "3", "--threads", "1")
    written = ("-v", "--log-json", folder / "log", "-o", folder / "start")
    done = ran("teach", *TEXT, "-m", trained / "model", *settings, *written)
    assert b"taught by 240 pairs of 1 text and 12 students" in done.stderr
    assert b"network 2, pass 3: cross-entropy 0." in done.stderr
    assert b"student of 60 pairs: " in done.stderr
    log = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    assert [line.get("student") for line in log].count(100) == 6
    assert [line["pass"] for line in log if line.get("network") == 1] == [1, 2, 3]
    return folder


@pytest.mark.slow
def test_the_same_bytes_for_any_threads_and_seeds_that_differ(trained, taught, tmp_path):
    given = ("teach", "-q", "-i", tmp_path / "joint", "-m", trained / "model", "--students", "60,100", "--set",
    "lessons=40",
             "--set", "networks=2", "--passes", 3)  # fmt: skip
    (tmp_path / "joint").write_bytes((SAMPLES / "de-en.txt").read_bytes())
    for seed, threads, same in ((1, 2, True), (2, 1, False)):
        done = run(*given, "--seed", seed, "--threads", threads, "-o", tmp_path / "start")
        assert (done.returncode, done.stderr) == (0, b"")
        name = b"de-en.de, de-en.en", b"joint"
        found = (tmp_path / "start").read_bytes()
        assert name[1] in found
        a, b = (x[-5000:] for x in (found, (taught / "start").read_bytes()))
        assert (a == b) is same


@pytest.mark.slow
def test_several_texts_and_a_teacher_trained_here(tmp_path):
    for x in ("fr", "en"):
        with gzip.open(tmp_path / f"{x}.gz", "wb") as out:
            out.write((SAMPLES / f"fr-en.{x}").read_bytes())
    more = "-s", tmp_path / "fr.gz", "-t", tmp_path / "en.gz"
    done = ran("teach", *TEXT, *more, "--students", "10", "--passes", "1", "--set", "lessons=40", "--case-sensitive",
        "-o", tmp_path / "start")  # fmt: skip
    assert b"of 2 texts and 12 students" in done.stderr


@pytest.mark.slow
def test_contrastive_align_takes_it(trained, taught, tmp_path):
    given = ("contrastive-align", "-q", "-m", trained / "model", *TEXT, "--start", taught / "start")
    ran(*given, "--passes", 0, "--save-weights", tmp_path / "w", "-o", tmp_path / "a")
    base = (trained / "align").read_text()
    ours = (tmp_path / "a").read_text()
    assert ours != base
    assert abs(len(ours.split()) - len(base.split())) < 0.05 * len(base.split())
    again = run(*given, "-w", tmp_path / "w")
    assert again.stdout == (tmp_path / "a").read_bytes()
    lone = run("contrastive-align", "-q", "-m", trained / "model", *TEXT, "-w", tmp_path / "w")
    assert fails(lone, "give the file that they started from as --start")
    usual = run("contrastive-align", "-q", "-m", trained / "model", *TEXT)
    assert usual.stdout != again.stdout


def test_wrong_files_and_options(trained, tmp_path):
    quick = ("--students", "20", "--set", "lessons=3", "--set", "networks=1", "--passes", "1", "-o", tmp_path / "start")
    ran("teach", "-q", *TEXT, "-m", trained / "model", *quick)
    (tmp_path / "bad").write_bytes((tmp_path / "start").read_bytes()[:-9])
    given = ("contrastive-align", "-q", "-m", trained / "model", *TEXT)
    assert fails(run(*given, "--start", tmp_path / "bad"), "is damaged")
    assert fails(run("align", "-m", tmp_path / "start", *TEXT), "is for --start of `aligntools contrastive-align`")
