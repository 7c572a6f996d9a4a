import re
import shutil

import pytest

from aligntools.adapters import eflomal
from tests.cli.aligning import JOINT, SOURCE, TARGET
from tests.cli.running import fails, ran, run, succeeds


def align(*args, **options):
    return run(*args, script="eflomal-align", **options)


@pytest.fixture(scope="module")
def links(tmp_path_factory):
    """Return a folder with the sample's links, scores and priors."""
    folder = tmp_path_factory.mktemp("eflomal")
    names = [f"-f={folder / 'f'}", f"--forward-links={folder / 'f'}", f"-r{folder / 'r'}"]
    done = align("-i", JOINT, *names, "-F", folder / "F", "--reverse-scores", folder / "R")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    done = run(
        "--input", JOINT, "--forward-alignments", folder / "f", "--reverse-alignments", folder / "r",
        "--priors", folder / "p", script="eflomal-makepriors",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return folder


def test_files_of_a_run(links, tmp_path):
    for name in "frFR":
        assert (links / name).read_bytes().count(b"\n") == 240
    assert re.fullmatch(r"(-?\d+(\.\d+)?\n)+", (links / "F").read_text())
    done = succeeds(align("-s", SOURCE, "--target", TARGET, "-f", tmp_path / "f", "-v", "--debug"))
    assert b"aligning 240 sentence pairs" in done.stderr
    assert (tmp_path / "f").read_bytes() == (links / "f").read_bytes()
    assert align("-s", SOURCE, "-t", SOURCE, "-f", tmp_path / "same", "-m", "1").returncode == 0
    assert (tmp_path / "same").read_text().splitlines()[0] == "0-0 1-1 2-2 3-3 4-4 5-5 6-6 7-7"
    args = ["-q", "-i", JOINT, "-o", tmp_path / "x", "--scores", tmp_path / "scores", "--set", "score_form=eflomal"]
    ran("align", *args)
    columns = zip(*(line.split("\t") for line in (tmp_path / "scores").read_text().splitlines()), strict=True)
    for name, column in zip("FR", columns, strict=True):
        assert list(map(float, column)) == pytest.approx([float(x) for x in (links / name).read_text().split()], 1e-4)


def test_files_and_options_that_are_refused(links, tmp_path):
    shutil.copy(links / "f", tmp_path / "f")
    for flag in ("-f", "-r"):
        done = align("-i", JOINT, flag, tmp_path / "f")
        assert (done.returncode, b"will not overwrite" in done.stderr) == (1, True)
    assert (tmp_path / "f").read_bytes() == (links / "f").read_bytes()
    number = (tmp_path / "f").stat().st_ino
    assert align("-i", JOINT, "-f", tmp_path / "f", "--over", "-m", "1").returncode == 0
    assert (tmp_path / "f").read_bytes() != (links / "f").read_bytes()
    assert (tmp_path / "f").stat().st_ino == number
    args = ["-l", "0.5", "-1", "2", "-2", "2", "-3", "2", "--n-samplers", "1", "-M", "3"]
    args += ["--source-suffix", "0", "--target-prefix=0", "--null-prior", "0.2"]
    assert align("-i", JOINT, *args, "-f", tmp_path / "g").returncode == 0
    assert (tmp_path / "g").read_bytes() == (links / "f").read_bytes()


def test_lines_and_links_that_are_wrong(tmp_path, links):
    (tmp_path / "text").write_text("\ufeffa b ||| c d\nno separator\n\na ||| b ||| c\na b|||c d\na ||| \nb ||| d\n")
    done = succeeds(align("-i", tmp_path / "text", "-f", tmp_path / "f", "-F", tmp_path / "F"))
    assert f"{tmp_path / 'text'}:2: no single ' ||| ' separator, as in 3 of 7 lines" in done.stderr.decode()
    lines = (tmp_path / "f").read_text().split("\n")
    assert [bool(line) for line in lines] == [True, False, False, False, False, False, True, False]
    (tmp_path / "f").write_text((links / "f").read_text().replace("\n", " 77-0\n", 1))
    args = ["-i", JOINT, "-f", tmp_path / "f", "-r", links / "r"]
    fails(run(*args, script="eflomal-makepriors"), f"{tmp_path / 'f'}:1: the link 77-0")
    (tmp_path / "f").write_text("")
    fails(run(*args, script="eflomal-makepriors"), f"{tmp_path / 'f'}:1: there is no such line, but")


def test_priors_and_numbers(links, tmp_path):
    for path, name in ((SOURCE, "s"), (TARGET, "t")):
        (tmp_path / name).write_text("".join(path.read_text(encoding="utf-8").splitlines(True)[:4]))
    text = ["-s", tmp_path / "s", "-t", tmp_path / "t"]
    assert align(*text, "-f", tmp_path / "1", "-F", tmp_path / "F1").returncode == 0
    assert align(*text, "-p", links / "p", "-f", tmp_path / "2", "-F", tmp_path / "F2").returncode == 0
    assert (tmp_path / "1").read_bytes() != (tmp_path / "2").read_bytes()
    costs = [sum(map(float, (tmp_path / name).read_text().split())) for name in ("F1", "F2")]
    assert costs[1] < costs[0]
    args = ["-q", *text, "-o", tmp_path / "x", "--priors", links / "p", "--scores", tmp_path / "S"]
    ran("align", *args, "--set", "score_form=eflomal")
    assert sum(float(line.split("\t")[0]) for line in (tmp_path / "S").read_text().splitlines()) < costs[0]
    args = ["-s", SOURCE, "-t", TARGET, "-f", links / "f", "-r", links / "r"]
    done = run(*args, script="eflomal-makepriors")
    assert done.stdout == (links / "p").read_bytes()
    opposite = run(*args, "--reverse-priors", "-v", script="eflomal-makepriors").stdout.decode()
    assert opposite != done.stdout.decode()
    assert {line.split("\t")[0] for line in opposite.splitlines()} == {"LEX", "FERF", "FERR", "HMMF", "HMMR"}


def test_the_program_of_numbers(links, tmp_path):
    text = [path.read_text(encoding="utf-8").splitlines() for path in (SOURCE, TARGET)]
    with open(tmp_path / "s", "wb") as s, open(tmp_path / "t", "wb") as t:
        eflomal.Aligner().prepare_files(text[0], s, text[1], t, None, None)
    args = ["-s", tmp_path / "s", "-t", tmp_path / "t", "-f", tmp_path / "f", "-r", tmp_path / "r"]
    args += ["-m", "3", "-n", "3", "-N", "0.2", "-1", "2", "-2", "1", "-3", "5", "-q"]
    ran(*args, "-S", tmp_path / "S", script="eflomal")
    for name in "fr":
        assert (tmp_path / name).read_bytes() == (links / name).read_bytes()
    (tmp_path / "t").write_text("1 1\n1 5\n")
    fails(run(*args, script="eflomal"), f"{tmp_path / 't'}:2: the word id 5")


def test_the_environment_asks_for_the_best_links(links, tmp_path, monkeypatch):
    monkeypatch.setenv("ALIGNTOOLS_BEST", "1")
    files = [tmp_path / name for name in "frF"]
    done = align("-i", JOINT, "-f", files[0], "-r", files[1], "-F", files[2])
    assert (done.returncode, done.stderr) == (0, b"")
    expected = run("align", "-q", "--best", "--no-encoder", "-i", JOINT).stdout.splitlines()
    assert files[1].read_bytes().splitlines() == expected != (links / "r").read_bytes().splitlines()
    forward = files[0].read_bytes().splitlines()
    assert [sorted(line.split()) for line in forward] == [sorted(line.split()) for line in expected]
    assert files[2].read_bytes().count(b"\n") == 240
    sides = ["-i", files[0], "-j", files[1]]
    assert run("symmetrize", "-c", "grow-diag-final-and", *sides).stdout.splitlines() == expected
