"""GIZA++'s files: what align --giza-dir and the programs in GIZA++'s place write."""

import numpy as np
import pytest

from aligntools.formats.links.giza import read_giza_a3
from tests.cli.aligning import SAMPLES, done
from tests.cli.running import fails, run

PAIRS = 60
TABLES = ("t3", "n3", "a3", "d3", "d4", "D4", "p0_3", "hhmm")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The beginning of the samples in lower case, and GIZA++'s files of a model of it."""
    folder = tmp_path_factory.mktemp("giza")
    for name in ("de", "en"):
        lines = (SAMPLES / f"de-en.{name}").read_text().lower().splitlines()[:PAIRS]
        (folder / name).write_text("".join(line + "\n" for line in lines))
    files = ("--forward-output", folder / "f", "--reverse-output", folder / "r", "--ttable", folder / "tt")
    how = ("--model-type", "ibm4", "--word-classes", 6, "--iterations", 2, "--giza-dir", folder / "giza", *files)
    done(run("align", "-q", "-s", folder / "de", "-t", folder / "en", *how, "-o", folder / "links"))
    done(run("de", "en", cwd=folder, script="plain2snt"))
    return folder


def rows(path, kind=float):
    return [tuple(map(kind, line.split())) for line in path.read_text().splitlines()]


def test_alignments_are_those_of_the_directions(text):
    for name, direction in (("f", "forward"), ("r", "reverse")):
        links, missing = read_giza_a3(str(text / "giza" / f"{direction}.A3.final"))
        turned = [{(i, j) if name == "f" else (j, i) for i, j in pairs} for pairs in links.tolists()]
        written = [line.split() for line in (text / name).read_text().splitlines()]
        assert turned == [{tuple(map(int, link.split("-"))) for link in links} for links in written]
        assert missing == 0


def test_text_in_numbers_is_as_plain2snt_writes_it(text):
    for ours, theirs in (("source.vcb", "de.vcb"), ("target.vcb", "en.vcb"), ("source_target.snt", "de_en.snt")):
        assert (text / "giza" / ours).read_bytes() == (text / theirs).read_bytes()
    assert (text / "giza" / "target_source.snt").read_bytes() == (text / "en_de.snt").read_bytes()


def test_tables_are_those_of_the_model(text):
    """Translations as --ttable has them; distributions sum to 1, and each is there for each direction."""
    folder = text / "giza"
    names = {f"{d}.{table}.final" for d in ("forward", "reverse") for table in (*TABLES, "A3")}
    assert {p.name for p in folder.glob("*.final")} == names
    vocabularies = [(folder / f"{side}.vcb").read_text().splitlines() for side in ("source", "target")]
    words = [["<eps>", "", *(line.split()[1] for line in lines)] for lines in vocabularies]
    known = {}
    for line in (text / "tt").read_text().splitlines():
        source, target, p = line.split("\t")
        known[source, target] = np.exp(float(p))
    found = {(words[0][int(s)], words[1][int(t)]): p for s, t, p in rows(folder / "forward.t3.final")}
    assert {pair for pair, p in known.items() if p > 1e-6} <= set(found)
    for pair, p in known.items():
        assert found.get(pair, 0) == pytest.approx(p, rel=1e-3, abs=1e-6)
    for direction, given, observed in (("forward", 0, 1), ("reverse", 1, 0)):
        fertilities = np.array(rows(folder / f"{direction}.n3.final"))
        assert fertilities[:, 0].tolist() == list(range(2, len(words[given])))
        assert fertilities.shape[1] == 11
        np.testing.assert_allclose(fertilities[:, 1:].sum(1), 1, atol=1e-3)
        for name, key in (("a3", lambda _, j, length, __: (j, length)), ("d3", lambda _, i, __, length: (i, length))):
            sums = {}
            for *place, p in rows(folder / f"{direction}.{name}.final"):
                sums[key(*place)] = sums.get(key(*place), 0) + p
            assert list(sums.values()) == pytest.approx([1] * len(sums), abs=1e-4)
        assert (folder / f"{direction}.p0_3.final").read_text() == "0.92\n"
        others = (folder / f"{direction}.D4.final").read_text().splitlines()
        lines = (folder / f"{('source', 'target')[observed]}.vcb.classes").read_text().splitlines()
        classes = {line.split("\t")[1] for line in lines}
        assert {line.split()[3] for line in others[::2]} == classes
        for line in (folder / f"{direction}.d4.final").read_text().splitlines():
            fields = line.split()
            assert fields[0] == "76"
            assert fields[3] in classes
            assert (len(fields[9:]), fields[8]) == (203, "203")
            assert sum(map(float, fields[9:])) == pytest.approx(1, abs=1e-3)


def test_what_has_no_such_files_is_refused(text):
    given = ("align", "-s", text / "de", "-t", text / "en", "--giza-dir", text / "new")
    for options, message in (
        ((), "--giza-dir writes whole words, and the model's first view cuts them; use --views 0"),
        (("--decode", "posterior"), "--giza-dir has one link for each word; leave out --decode posterior"),
        (("--workers", 1), "--workers works a text in parts, and --giza-dir is about a text in memory"),
    ):
        fails(run(*given, "--views", "5" if not options else "0", *options), message, status=2)
    done(run("align", "-q", "--fast", *given[1:5], "--save-model", text / "model", "-o", text / "x"))
    message = "--giza-dir has the tables of the text that is trained on; leave out -m"
    fails(run(*given, "-m", text / "model"), message, status=2)
    (text / "file").write_text("")
    fails(run(*given[:-1], text / "file" / "new", "--views", 0), "cannot be made: Not a directory")


def test_one_direction_has_its_files_alone(text, tmp_path):
    how = ("--model-type", "hmm", "--direction", "reverse", "--views", 0, "--giza-dir", tmp_path)
    done(run("align", "-q", "-s", text / "de", "-t", text / "en", *how, "-o", tmp_path / "links"))
    names = {"reverse.t3.final", "reverse.a3.final", "reverse.d3.final", "reverse.A3.final"}
    assert {p.name for p in tmp_path.glob("*.final")} == names


MOSES = ("-m1", 5, "-m2", 0, "-m3", 3, "-m4", 0, "-mh", 2, "-model4smoothfactor", 0.4, "-nsmooth", 4, "-p0", 0.999)
FILES = ("-CoocurrenceFile", "none", "-s", "de.vcb", "-t", "en.vcb", "-c", "de_en.snt")


def test_programs_in_the_place_of_gizas(text):
    """The same tables; MGIZA's alignments are in parts, of which there is one. Settings may stand in a file."""
    assert run(*FILES, *MOSES, "-ncpus", 4, "-o", "m", cwd=text, script="mgiza").returncode == 0
    own = {p.name for p in text.glob("m.*")}
    tables = {f"m.{table}.final" for table in ("t3", "n3", "a3", "d3", "p0_3", "hhmm")}
    assert own == {"m.A3.final.part000", "m.gizacfg", "m.hhmm.final.alpha", *tables}
    (text / "config").write_text("s de.vcb\nt en.vcb\nc de_en.snt\nm3 3\nm4 0\nmh 2\np0 0.999\n")
    assert run("config", "-o", "g", cwd=text, script="GIZA++").returncode == 0
    assert (text / "g.A3.final").read_bytes() == (text / "m.A3.final.part000").read_bytes()
    assert len(read_giza_a3(str(text / "g.A3.final"))[0]) == PAIRS


def test_wrong_input_of_the_programs(text, tmp_path):
    def mgiza(*args):
        return run(*args, cwd=text, script="mgiza")

    assert b"parameter 'mm' does not exist" in mgiza("-mm", 1).stderr
    assert b"-m4 takes a whole number, not 'x'" in mgiza(*FILES, "-o", "x", "-m4", "x").stderr
    assert b"-s and -t and -c and -o must be given" in mgiza("-m4", 1).stderr
    assert mgiza("-m4", 1).returncode == 1
    whole = (text / "de_en.snt").read_bytes()
    for name, damaged, message in (
        ("-c", whole[: whole.rindex(b"\n1\n") + 5], "ends within a sentence pair"),
        ("-c", whole.replace(b"1\n2 3 ", b"1\n2 9999 ", 1), "damaged:2: de.vcb has no word 9999"),
        ("-c", b"2" + whole[1:], "damaged:1: each pair counts once here"),
        ("-s", b"2 der 4\n3 zug\n", "damaged:2: '3 zug' is not the number of a word, from 1 on, the word and its"),
        ("-t", b"2 the 4\n2 train 1\n", "damaged:2: word 2 comes twice"),
    ):
        (text / "damaged").write_bytes(damaged)
        fails(mgiza(*FILES, name, "damaged", "-o", "none"), message)
        assert not list(text.glob("none.*"))
