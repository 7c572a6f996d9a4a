import os
import subprocess
import sys

from tests.cli.running import ROOT, ran, run

GOLDENS = ROOT / "tests" / "data" / "symmetrize"
FORWARD, REVERSE = GOLDENS / "forward.align", GOLDENS / "reverse.align"


def test_long_files_and_streams(file):
    """What the programs themselves have written, again and again."""
    assert ran("symmetrize", FORWARD, REVERSE).stdout == (GOLDENS / "atools.grow-diag-final-and.align").read_bytes()
    lines = zip(FORWARD.read_bytes().splitlines(True), REVERSE.read_bytes().splitlines(True), strict=True)
    done = run("symmetrize", "-c", "grow-diag-final", "-", "-", stdin=b"".join(a + b for a, b in lines))
    assert done.stdout == (GOLDENS / "atools.grow-diag-final.align").read_bytes()
    forward, reverse = FORWARD.read_bytes() * 2000, file("r", REVERSE.read_bytes() * 2000)
    expected = (GOLDENS / "atools.grow-diag.align").read_bytes() * 2000
    assert run("symmetrize", "-c", "grow-diag", file("f", forward), reverse).stdout == expected
    assert run("symmetrize", "-c", "grow-diag", "-", reverse, stdin=forward).stdout == expected


def test_a_live_pipe_is_answered_line_by_line():
    command = [sys.executable, "-m", "aligntools", "symmetrize", "-c", "union", "-", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=os.environ) as process:
        for _ in range(2):
            process.stdin.write(b"0-0\n1-1\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"0-0 1-1\n"
        process.stdin.close()
        assert process.wait() == 0
