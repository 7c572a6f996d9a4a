import os
import subprocess
import sys

from tests.cli.running import ROOT, ran, run

GOLDENS = ROOT / "tests" / "data" / "symmetrize"
FORWARD, REVERSE = GOLDENS / "forward.align", GOLDENS / "reverse.align"


def test_defaults_and_orders(tmp_path):
    done = ran("symmetrize", FORWARD, REVERSE, "-o", tmp_path / "out", "-v")
    assert (tmp_path / "out").read_bytes() == (GOLDENS / "atools.grow-diag-final-and.align").read_bytes()
    assert b"12 sentence pairs" in done.stderr
    assert done.stdout == b""
    done = run("symmetrize", "-c", "grow-diag", "--set", "flavor=symal", "-i", FORWARD, "-j", REVERSE)
    assert done.stdout == (GOLDENS / "symal.grow-diag.align").read_bytes()
    done = run("symmetrize", "-c", "union", "--set", "flavor=symal", FORWARD, REVERSE)
    assert done.stdout == (GOLDENS / "union.align").read_bytes()
    lines = zip(FORWARD.read_bytes().splitlines(True), REVERSE.read_bytes().splitlines(True), strict=True)
    text = b"".join(a + b for a, b in lines)
    done = run("symmetrize", "-c", "grow-diag-final", "-", "-", stdin=text)
    assert done.stdout == (GOLDENS / "atools.grow-diag-final.align").read_bytes()
    done = run("symmetrize", "-c", "union", "-", "-", stdin=b"0-0\n1-1\n2-2\n")
    assert done.stdout == b"0-0 1-1\n"
    text = b"a b ||| 2-1 0-0 0-0:0.5\n\n"
    assert run("symmetrize", "-c", "convert", "-", stdin=text).stdout == b"0-0 2-1\n\n"
    assert run("symmetrize", "-c", "invert", "-", stdin=text).stdout == b"0-0 1-2\n\n"
    picture = b" 01\n0*.0\n1..1\n2.*2\n 01\n\n0-0 2-1\n 0\n0.0\n 0\n\n\n"
    assert run("symmetrize", "-c", "display", "-", stdin=text).stdout == picture


def test_measures_checks_and_sizes(file, command_inside):
    hypothesis, reference = file("a", b"0-0 1-1\n2-2\n"), file("b", b"0-0 1-2\n2-2 3-3\n")
    done = run("symmetrize", "-c", "fmeasure", hypothesis, reference)
    assert done.stdout == b"P: 0.666667\nR: 0.5\nF: 0.571429\n"
    links = file("a", b"0-1 1-0 2-0\n")
    assert command_inside("symmetrize", "-c", "convert", links, "--order", "target").stdout == b"1-0 2-0 0-1\n"
    assert command_inside("symmetrize", "-c", "convert", links).stdout == b"0-1 1-0 2-0\n"
    done = command_inside("symmetrize", "-c", "union", FORWARD, REVERSE, "--order", "source", "--set", "flavor=symal")
    assert done.stdout == (GOLDENS / "union.align").read_bytes()
    source, target = file("s", b"a b\n\nc\n"), file("t", b"x y\r\n\nz\n")
    check = "symmetrize", "-c", "convert", "--check", source, target
    done = run(*check, "-", stdin=b"1-1 0-0\n\n0-0\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"0-0 1-1\n\n0-0\n", b"")
    forward, reverse = FORWARD.read_bytes() * 2000, REVERSE.read_bytes() * 2000
    done = run("symmetrize", "-c", "grow-diag", file("f", forward), file("r", reverse))
    assert done.stdout == (GOLDENS / "atools.grow-diag.align").read_bytes() * 2000
    done = run("symmetrize", "-c", "grow-diag", "-", file("r", reverse), stdin=forward)
    assert done.stdout == (GOLDENS / "atools.grow-diag.align").read_bytes() * 2000


def test_giza_files_of_two_runs(file):
    forward = b"# Sentence pair (%d) source length 2 target length 1 alignment score : 1\nx\n"
    forward += b"NULL ({ }) a ({ }) b ({ 1 })\n"
    reverse = b"# Sentence pair (1) source length 1 target length 2 alignment score : 1\na b\n"
    reverse += b"NULL ({ }) x ({ 1 2 })\n"
    files = file("f", forward % 2 + forward % 1), file("r", reverse)
    done = run("symmetrize", "-c", "union", "--format", "giza", *files)
    assert done.stdout == b"0-0 1-0\n1-0\n"
    assert done.stderr.decode() == f"note: {files[1]}: 1 of 2 sentence pairs are missing and have no links\n"
    assert run("symmetrize", "-q", "-c", "union", "--format", "giza", *files).stderr == b""


def test_a_live_pipe_is_answered_line_by_line():
    command = [sys.executable, "-m", "aligntools", "symmetrize", "-c", "union", "-", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=os.environ) as process:
        for _ in range(2):
            process.stdin.write(b"0-0\n1-1\n")
            process.stdin.flush()
            assert process.stdout.readline() == b"0-0 1-1\n"
        process.stdin.close()
        assert process.wait() == 0
