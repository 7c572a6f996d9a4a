from tests.cli.running import ROOT, run

GOLDENS = ROOT / "tests" / "data" / "symmetrize"
FILES = "-i", GOLDENS / "forward.align", "-j", GOLDENS / "reverse.align"


def atools(*args, stdin=b""):
    return run(*args, stdin=stdin, script="atools")


def test_output_and_messages():
    done = atools("-c", "grow-diag-final-and", *FILES)
    assert done.stdout == (GOLDENS / "atools.grow-diag-final-and.align").read_bytes()
    done = atools("--command=union", f"--input_1={FILES[1]}", "--input_2", FILES[3])
    assert done.stdout == (GOLDENS / "union.align").read_bytes()
    assert atools("-c", "display", "-i", "-", stdin=b"0-1\n").stdout == b" 01\n0.*0\n 01\n\n0-1\n"
    done = atools("-c", "union", "-i", "-", "-j", FILES[3], stdin=b"0-0\n")
    assert (done.returncode, done.stderr) == (1, b"Mismatched number of lines!\n")
    done = atools("-c", "unite", *FILES)
    assert (done.returncode, done.stderr) == (1, b"Don't understand command: unite\n")
    done = atools("-c", "union", *FILES[:2])
    assert (done.returncode, done.stderr) == (1, b"Command 'union' requires two alignment files\n")
    done = atools("-c", "invert", *FILES)
    assert (done.returncode, done.stderr) == (1, b"Command 'invert' requires only one alignment file\n")
    done = atools()
    assert done.returncode == 1
    assert done.stderr.startswith(b"Usage: atools -c COMMAND -i FILE1.AL [-j FILE2.AL]\n")
    done = atools("-c", "convert", "-i", "-", stdin=b"0-0 1\n")
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
