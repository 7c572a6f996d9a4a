import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.aligning import JOINT, done, proper
from tests.cli.running import ROOT, fails, program, run

# Bad input: a blank line for a pair, or one line of error

BAD = [
    b"der zug ||| the train",
    b"",
    b"der zug |||",
    b"||| the train",
    b"  \t ||| \t",
    b"caf\xe9 ||| coffee",
    b"a " * 10_000 + b"||| b",
    b"das haus ||| " + b"the " * 2001,
    b"das haus ||| the house",
]
BAD_LENGTHS = [(2, 2), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (2, 2)]


def test_pairs_that_cannot_be_aligned_get_blank_lines(trained, inside, file, tmp_path):
    bad = file("bad", b"\n".join(BAD) + b"\n")
    summary = b"blank lines written for: 4 blank, 1 not UTF-8, 2 over-long; first at line 2\n"
    for options in ((), ("--fast",), ("-m", trained / "model"), ("-m", trained / "model", "--unbuffered")):
        process = done(inside("-i", bad, "-o", tmp_path / "out", "--scores", tmp_path / "scores", *options))
        links = proper((tmp_path / "out").read_bytes(), BAD_LENGTHS)
        assert links[0]
        assert links[-1]
        assert summary in process.stderr
        scores = (tmp_path / "scores").read_text().splitlines()
        assert len(scores) == len(BAD)
        assert scores[1] == "0\t0\t0\t0"
    longer = done(inside("-i", bad, "-o", tmp_path / "out", "--max-length", "20000", "-m", trained / "model"))
    assert b"over-long" not in longer.stderr


@pytest.mark.parametrize("line", [6, 7])
def test_strict_stops_there(trained, inside, file, tmp_path, line):
    bad = file("bad", b"\n".join([BAD[0], BAD[line], BAD[-1]]))
    for options in ((), ("-m", trained / "model"), ("-m", trained / "model", "--unbuffered")):
        fails(inside("-i", bad, "-o", tmp_path / "out", "--strict", *options), f"{bad}:2: ")
    assert [p.name for p in tmp_path.iterdir()] == ["bad"]


def test_lines_that_are_malformed_tabbed_or_blank(trained, inside, file, tmp_path):
    lines = JOINT.read_bytes().splitlines(keepends=True)[:40]
    expected = (trained / "align").read_bytes().splitlines(keepends=True)[:40]
    lines[6:6], expected[6:6] = [b"no separator\n", b"a ||| b ||| c\n"], [b"\n", b"\n"]
    text, out = file("text", b"".join(lines)), tmp_path / "out"
    for options in ((), ("-m", trained / "model"), ("-m", trained / "model", "--unbuffered")):
        process = done(inside("-i", text, "-o", out, *options))
        assert b"blank lines written for: 2 malformed (lines 7, 8); first at line 7\n" in process.stderr
        found = out.read_bytes().splitlines(keepends=True)
        assert found == expected if options else (len(found), found[6:8]) == (len(lines), [b"\n", b"\n"])
    none = run("align", "-q", "-m", trained / "model", "-i", "-", "--unbuffered", stdin=b"no separator\n" * 101)
    assert (none.returncode, none.stdout, none.stderr) == (0, b"\n" * 101, b"")  # a service always answers
    text, out = file("text", JOINT.read_bytes().replace(b" ||| ", b"\t")), tmp_path / "out"
    for options in ((), ("-m", trained / "model", "--unbuffered"), ("--input-format", "tsv")):
        process = done(inside("-i", text, "-o", out, *options))
        said = f"note: {text}: its first line has one tab and no ' ||| ', so it is read as tab-separated pairs"
        assert process.stderr.decode().count(said) == ("tsv" not in options)
        assert out.read_bytes() == (trained / "align").read_bytes()
    assert not done(inside("-q", "-m", trained / "model", "-i", text, "-o", out)).stderr
    blank = file("blank", b"\n" * 5)
    for options in ((), ("--model-type", "ibm2"), ("--fast",), ("-m", trained / "model")):
        process = done(inside("-i", blank, "-o", tmp_path / "out", "--save-model" if not options else "--scores",
            tmp_path / "x", *options))  # fmt: skip
        assert (tmp_path / "out").read_bytes() == b"\n" * 5
        assert b"5 blank" in process.stderr


def test_files_that_are_no_models(trained, inside, file, tmp_path):
    data = (trained / "model").read_bytes()
    out = "-o", tmp_path / "out", "-i", JOINT
    for name, content in (("half", data[: len(data) // 2]), ("longer", data + b"x")):
        for option in ("-m", "--init-model"):
            fails(inside(option, file(name, content), *out), f"{name}: is damaged or not a model file")
    older = file("older", data.replace(b'\\"version\\": 1', b'\\"version\\": 0'))
    assert older.read_bytes() != data
    fails(inside("-m", older, *out), "model version 0")
    assert {p.name for p in tmp_path.iterdir()} == {"half", "longer", "older"}


# Outputs: whole or not at all


def test_full_disks_and_links_that_stay(trained, inside, tmp_path):
    command = [sys.executable, "-m", "aligntools", "align", "-q", "-m", str(trained / "model"), "-i", str(JOINT)]
    with open("/dev/full", "wb") as full:
        process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, timeout=60, check=False)
    fails(process, "No space left on device")
    (tmp_path / "real").write_text("old\n")
    os.symlink("real", tmp_path / "out")
    done(inside("-m", trained / "model", "-i", JOINT, "-o", tmp_path / "out"))
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "real").read_bytes() == (trained / "align").read_bytes()


def waiting(tmp_path, *args, interrupt=signal.SIG_DFL):
    """Start a run that has opened its outputs and waits for its text."""
    command = [*program(), "align", "-i", "-", "-o", tmp_path / "out", "--scores", tmp_path / "scores", *args]
    process = subprocess.Popen(
        list(map(str, command)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        # a shell's background jobs ignore the one, nohup the other
        preexec_fn=lambda: [signal.signal(signal.SIGINT, interrupt), signal.signal(signal.SIGHUP, signal.SIG_DFL)],
    )
    process.stdin.write(JOINT.read_bytes())
    process.stdin.flush()
    for _ in range(600):
        if len(list(tmp_path.glob(".*.part"))) >= 2:
            break
        time.sleep(0.05)
    assert len(list(tmp_path.glob(".*.part"))) >= 2
    return process


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_run_that_is_stopped_leaves_nothing(tmp_path, number, status):
    (tmp_path / "scores").write_text("what was there before\n")
    process = waiting(tmp_path, "--save-model", tmp_path / "model")
    time.sleep(0.3)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == status
    assert b"Traceback" not in errors
    assert [p.name for p in tmp_path.iterdir()] == ["scores"]
    assert (tmp_path / "scores").read_text() == "what was there before\n"


def test_runs_in_the_background_and_killed_ones(tmp_path):
    """A shell starts it with interrupts ignored, and they stay so."""
    process = waiting(tmp_path, "--fast", interrupt=signal.SIG_IGN)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert {p.name for p in tmp_path.iterdir()} == {"out", "scores"}
    for path in tmp_path.iterdir():
        path.unlink()
    process = waiting(tmp_path, "--save-model", tmp_path / "model")
    process.kill()
    process.communicate(timeout=60)
    assert all(p.name.endswith(".part") for p in tmp_path.iterdir())
    (tmp_path / "links").write_bytes(b"0-0\n")
    again = done(run("symmetrize", "-c", "convert", tmp_path / "links", "-o", tmp_path / "out"))
    left = f"out\\.{process.pid}@.*\\.part was left by a killed run \\(process {process.pid} on .*last written .* ago"
    assert re.search(left, again.stderr.decode())
    assert again.stderr.count(b"\n") == 1
