"""symal, extract_lex and force_align.py as their callers run them."""

import gzip
import re

import pytest

from aligntools.aligning.applying.table_aligner import TableAligner
from tests.cli.running import ROOT, fails, run, succeeds

TEXT = ROOT / "data" / "samples" / "de-en.txt"


def extract_lex(folder, *names):
    done = run(*[folder / name for name in names], script="extract_lex")
    assert "Traceback" not in done.stderr.decode()
    return done


def test_extract_lex(tmp_path):
    """Numbers as by the original, single precision included; pairs with a blank side count for NULL."""
    with gzip.open(tmp_path / "t.gz", "wb") as file:
        file.write(b"the house\n\na house NULL\nthe\n" + b"x y\n" * 16)
    (tmp_path / "s").write_bytes(b"das Haus\nallein\nein Haus\n\n" + b"u u\n" * 16)
    (tmp_path / "a").write_bytes(b"0-0 1-1\n\n1-1 7-1\n\n" + b"0-0 1-0\n" * 15 + b"0-1\n")
    done = succeeds(extract_lex(tmp_path, "t.gz", "s", "a", "s2t", "t2s"))
    assert done.stderr.startswith(b"Starting...\n")
    assert done.stderr.endswith(b"\nFinished\n")
    s2t = (tmp_path / "s2t").read_text().splitlines()
    assert {"the das 1.0000000", "house Haus 1.0000000", "NULL allein 1.0000000", "NULL ein 1.0000000"} <= set(s2t)
    assert {"x u 0.9375000", "y u 0.0312500", "NULL u 0.0312500"} <= set(s2t)
    assert "y NULL 0.7894737" in s2t  # 15 of 19
    t2s = (tmp_path / "t2s").read_text().splitlines()
    assert {"das the 0.5000000", "NULL the 0.5000000", "Haus house 1.0000000", "NULL a 1.0000000"} <= set(t2s)
    assert s2t == sorted(s2t, key=str.encode)


def test_extract_lex_and_wrong_input(tmp_path):
    for name in "tsa":
        (tmp_path / name).write_bytes(b"0-0\n")
    (tmp_path / "two").write_bytes(b"a\nb\n")
    assert fails_after(extract_lex(tmp_path, "two", "s", "a", "x", "y"), f"{tmp_path}/s: 1 lines, but ")
    assert fails_after(extract_lex(tmp_path, "t", "s", "two", "x", "y"), "two:1: 'a' is not a link")
    assert extract_lex(tmp_path, "t", "s").returncode == 1
    assert not (tmp_path / "x").exists()


def fails_after(done, said):
    """Check the one line of error behind what the program always says."""
    done.stderr = done.stderr.removeprefix(b"Starting...\n")
    return fails(done, said)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Return tables and messages of both directions, as files."""
    folder = tmp_path_factory.mktemp("trained")
    for name, flags in (("fwd", []), ("rev", ["-r"])):
        done = run("-i", TEXT, "-dov", "-p", folder / f"{name}_params", *flags, script="fast_align")
        (folder / f"{name}_err").write_bytes(done.stderr)
        (folder / f"{name}_align").write_bytes(done.stdout)
    return folder


def test_force_align_is_two_forced_alignments_and_atools(trained, tmp_path):
    names = [trained / n for n in ("fwd_params", "fwd_err", "rev_params", "rev_err")]
    text = b"".join(TEXT.read_bytes().splitlines(keepends=True)[:50])
    done = run(*names, stdin=text, script="force_align.py")
    assert (done.returncode, done.stderr) == (0, b"")
    files = []
    for name, flags in (("fwd", []), ("rev", ["-r"])):
        said = (trained / f"{name}_err").read_text()
        tension = re.findall("final tension: (.*)", said)[-1]
        ratio = re.findall(r"source length \* (.*)", said)[-1]
        table = trained / f"{name}_params"
        forced = run("-i", "-", "-d", "-T", tension, "-m", ratio, "-f", table, *flags, stdin=text, script="fast_align")
        files.append(tmp_path / name)
        files[-1].write_bytes(b"".join(x.split(b"|||")[2].strip() + b"\n" for x in forced.stdout.splitlines()))
    atools = run("-c", "grow-diag-final-and", "-i", files[0], "-j", files[1], script="atools")
    assert done.stdout == atools.stdout
    assert run(*names, "union", stdin=text, script="force_align.py").stdout != done.stdout


def test_force_align_and_wrong_input(trained):
    names = [trained / n for n in ("fwd_params", "fwd_err", "rev_params", "rev_err")]
    done = run(*names[:3], script="force_align.py")
    assert done.returncode == 2
    assert b"fast_align -i corpus.f-e -r -d -v -o -p rev_params" in done.stderr
    assert run(*names, "grow-all", script="force_align.py").stderr == b"Don't understand command: grow-all\n"
    fails(run(names[0], names[0], *names[2:], script="force_align.py"), "has no 'final tension'")
    fails(run(*names, stdin=b"a ||| b\n ||| b\n", script="force_align.py"), "<stdin>:2: the source side is blank")


def test_a_pair_that_memory_does_not_hold_is_named(trained, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(TableAligner, "align", full)
    names = [trained / n for n in ("fwd_params", "fwd_err", "rev_params", "rev_err")]
    done = run(*names, stdin=b"ein Haus ||| a house\n", script="force_align.py")
    fails(done, "<stdin>:1: 2 by 2 words take more memory than there is (remove the pair)")
