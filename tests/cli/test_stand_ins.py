"""symal, extract_lex and force_align.py as their callers run them."""

import gzip
import re

import pytest

from aligntools.aligning.applying.table_aligner import TableAligner
from tests.cli.running import ROOT, fails, ran, run, succeeds

GOLDENS = ROOT / "tests" / "data" / "symmetrize"
TEXT = ROOT / "data" / "samples" / "de-en.txt"
#: Two pairs; in the first both directions leave f3 to the union.
BAL = b"""1
3 e1 # e3 # 1 2 0
4 f1 f2 f3 f4  # 1 2 3 0
1
2 a b # 2 0
2 c d # 0 2
"""


def symal(*args, stdin=BAL):
    return run(*args, stdin=stdin, script="symal")


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["-alignment=union"], [b"0-0 1-1 2-2", b"1-1 1-0"]),
        (["-a=i"], [b"0-0 1-1", b""]),
        (["-a=s2t"], [b"0-0 1-1 2-2", b"1-1"]),
        (["-alignment=tgttosrc"], [b"0-0 1-1", b"1-0"]),
        (["-alignment=grow", "-diagonal=no", "-final=no", "-both=no"], [b"0-0 1-1", b""]),
        (["-alignment=grow", "-diagonal=yes", "-final=no", "-both=no"], [b"0-0 1-1 2-2", b""]),
        (["-alignment=grow", "-diagonal=no", "-final=yes", "-both=yes"], [b"0-0 1-1 2-2", b"1-0"]),
        (["-alignment=grow", "-d=no", "-f=yes", "-b=no"], [b"0-0 1-1 2-2", b"1-0 1-1"]),
    ],
)
def test_symal(arguments, lines, tmp_path):
    """What Moses' own symal writes for the same."""
    done = symal(*arguments)
    assert (done.returncode, done.stdout.splitlines()) == (0, lines)
    (tmp_path / "bal").write_bytes(BAL)
    done = symal(*arguments, f"-i={tmp_path}/bal", f"-o={tmp_path}/out", stdin=b"")
    assert (done.stdout, (tmp_path / "out").read_bytes().splitlines()) == (b"", lines)


def test_symal_says_what_moses_looks_for():
    assert symal("-a=g", "-d=yes", "-f=yes", "-b=no").stderr == (
        b"symal: computing grow alignment: diagonal (1) final (1)both-uncovered (0)\n"
    )
    assert symal("-a=u").stderr == b"symal: computing union alignment\nSents: 2\n"
    assert symal().returncode == 1
    assert b'Invalid option "-x=1"' in symal("-x=1").stderr
    assert b'Invalid value "maybe"' in symal("-a=u", "-d=maybe").stderr


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"2 a b # 2 0\n", b"2 a b 2 0\n", "<stdin>:5: '2 a b 2 0' is not N words, '#' and N positions"),
        (b"2 0\n2 c", b"3 0\n2 c", "<stdin>:5: a position outside 0 to 2"),
        (b"1\n2 a", b"x\n2 a", "<stdin>:4: 'x' is not the count"),
        (b"2 c d # 0 2\n", b"", "<stdin>:5: the file ends within a sentence pair"),
    ],
)
def test_symal_and_broken_input(old, new, said):
    assert said in symal("-a=u", stdin=BAL.replace(old, new)).stderr.decode()


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


@pytest.fixture
def numbered(tmp_path):
    (tmp_path / "x").write_bytes(b"a b  a\n\nc\n")
    (tmp_path / "y").write_bytes(b"d\ne\nd\tf\n")
    return tmp_path


def test_plain2snt_and_snt2cooc(numbered):
    """What GIZA++'s own programs write for the same."""
    weights = "-weight", "2", "-weight", "0.5"
    done = run("plain2snt", "x", "y", "x", "y", *weights, cwd=numbered, script="plain2snt")
    assert (done.returncode, done.stdout) == (1, b"")  # the first word is a file here: five of them
    done = run("x", "y", "x", "y", *weights, cwd=numbered, script="plain2snt")
    assert (done.returncode, done.stdout) == (0, b"x -> x\ny -> y\n")
    assert done.stderr == b"WARNING: filtered out empty sentence (source: x 0 target: y 1).\n" * 2
    files = {name: (numbered / name).read_bytes() for name in ("x.vcb", "y.vcb", "x_y.snt", "y_x.snt")}
    assert files == {
        "x.vcb": b"2 a 4\n3 b 2\n4 c 2\n",
        "y.vcb": b"2 d 4\n3 e 2\n4 f 2\n",
        "x_y.snt": b"2\n2 3 2 \n2 \n2\n4 \n2 4 \n0.5\n2 3 2 \n2 \n0.5\n4 \n2 4 \n",
        "y_x.snt": b"2\n2 \n2 3 2 \n2\n2 4 \n4 \n0.5\n2 \n2 3 2 \n0.5\n2 4 \n4 \n",
    }
    done = run("o", "x.vcb", "y.vcb", "x_y.snt", cwd=numbered, script="snt2cooc")
    assert (done.returncode, done.stderr) == (0, b"END.\n")
    assert (numbered / "o").read_bytes() == b"0 2\n0 4\n2 2\n3 2\n4 2\n4 4\n"
    done = run("o", "x.vcb", "y.vcb", "x_y.snt", "-counts", cwd=numbered, script="snt2cooc")
    assert (numbered / "o").read_bytes() == b"4 0 2\n2 0 4\n4 2 2\n2 3 2\n2 4 2\n2 4 4\n"


def test_plain2snt_names_its_files(numbered):
    (numbered / "a.txt").write_bytes(b"a\n")
    (numbered / "b.txt").write_bytes(b"b\n")
    done = run("./a.txt", "b.txt", "-snt2", "other", "-vcb2", "words", cwd=numbered, script="plain2snt")
    assert done.stderr == b"w1:./a w2:b\n"
    assert done.stdout == b"./a -> a\nb -> b\n"
    assert {p.name for p in numbered.iterdir()} == {"a.txt", "b.txt", "x", "y", "a_b.snt", "other", "a.vcb", "words"}


def test_wrong_input_of_plain2snt_and_snt2cooc(numbered):
    (numbered / "two").write_bytes(b"a\nb\n")
    assert fails_after(run("x", "two", cwd=numbered, script="plain2snt"), "x: 3 lines, but two has 2")
    assert b"plain2snt txt1 txt2" in run("x", cwd=numbered, script="plain2snt").stderr
    assert (
        b"-weight 'much' is not a number" in run("x", "y", "-weight", "much", cwd=numbered, script="plain2snt").stderr
    )
    assert b"Usage: snt2cooc" in run("o", cwd=numbered, script="snt2cooc").stderr
    assert b"wrong option -c" in run("o", "x", "y", "x", "-c", cwd=numbered, script="snt2cooc").stderr


def test_mkcls(tmp_path):
    (tmp_path / "t").write_text("the dog barks\na cat sleeps\nthe cat barks\na dog sleeps\n")
    done = ran("-n2", "-c3", "-pt", "-Vout", "-ata", "-e4", "0.7", "opt", cwd=tmp_path, script="mkcls")
    assert b"***** 2 runs." in done.stdout
    assert b"words: 7\n" in done.stdout
    assert (tmp_path / "out").read_text() == "a\t2\nbarks\t4\ncat\t3\ndog\t3\nsleeps\t4\nthe\t2\n"
    assert (tmp_path / "out.cats").read_text().startswith(";KategProblem:cats: 3   words: 7\n0:$,\n1:\n2:a,the,\n")
    ran("-m2", "-c2", "-pt", cwd=tmp_path, script="mkcls")  # writes no file, as mkcls
    for wrong in ("-x", "-c1", "-nmany", "-l", "meta-opt"):
        done = run("-pt", wrong, cwd=tmp_path, script="mkcls")
        assert (done.returncode, done.stdout) == (1, b""), wrong
        assert b"mkcls - a program for making word classes" in done.stderr
    assert fails_after(run("-pnone", "opt", cwd=tmp_path, script="mkcls"), "none: ")
