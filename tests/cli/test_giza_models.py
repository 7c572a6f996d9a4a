"""GIZA++'s tables align new text: align -m with a folder of them."""

import gzip
import shutil

import numpy as np
import pytest

import aligntools as at
from aligntools.aligning.giza_import import model_of_giza
from aligntools.formats.text.giza_trainings import read_trainings
from aligntools.ground.errors import DataError
from tests.cli.aligning import done, lower_case
from tests.cli.running import fails, run

TABLES = ("t3", "n3", "d4", "D4", "hhmm")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The beginning of the samples in lower case; links of IBM 4 and of IBM 3, their model files, GIZA++'s files."""
    folder = tmp_path_factory.mktemp("giza")
    sides = lower_case(folder)
    for model in ("ibm4", "ibm3"):
        files = ("--giza-dir", folder / model, "--save-model", folder / f"{model}.atm", *outputs(folder, model))
        how = ("--model-type", model, "--iterations", 2, *(("--set", "word_classes=6") if model == "ibm4" else ()))
        done(run("align", "-q", *sides, *how, *files))
    return folder


def outputs(folder, name):
    ends = (("-o", "links"), ("--forward-output", "f"), ("--reverse-output", "r"))
    return [x for option, end in ends for x in (option, folder / f"{name}.{end}")]


@pytest.fixture
def giza(text, tmp_path):
    """A copy of IBM 4's files."""
    return shutil.copytree(text / "ibm4", tmp_path / "giza")


def test_tables_align_as_the_model_that_they_were_written_of(text, tmp_path):
    done(run("align", "-q", "-m", text / "ibm4", "-s", text / "de", "-t", text / "en", *outputs(tmp_path, "new")))
    for end in ("links", "f", "r"):
        assert (tmp_path / f"new.{end}").read_bytes() == (text / f"ibm4.{end}").read_bytes()
    model, tables = at.Aligner.load(text / "ibm4.atm"), at.load(text / "ibm4")
    for pair in (
        ("der zug fährt um acht uhr ab .", "the train leaves at eight o'clock ."),
        ("zug", ""),
        ("xyz", "xyz"),
    ):
        assert str(tables.align(*pair)) == str(model.align(*pair))
    tables.save(tmp_path / "saved")
    again = at.Aligner.load(tmp_path / "saved")
    assert [str(a) for a in again.align_batch(text / "de", text / "en")] == (
        text / "ibm4.links"
    ).read_text().splitlines()


def test_positions_of_ibm3_are_those_of_its_links(text, tmp_path):
    """Its d3 has shares of links, so that some links differ."""
    done(run("align", "-q", "-m", text / "ibm3", "-s", text / "de", "-t", text / "en", *outputs(tmp_path, "new")))
    files = tmp_path / "new.f", text / "ibm3.f"
    new, old = ([set(line.split()) for line in path.read_text().splitlines()] for path in files)
    same = sum(len(a & b) for a, b in zip(new, old, strict=True))
    assert same > 0.9 * max(sum(map(len, new)), sum(map(len, old)))


def test_one_training_alone(text, giza, tmp_path):
    """Whatever its files are called it is the forward one, but for 'reverse'; MGIZA's copies of vocabularies do."""
    pair = ("-s", text / "de", "-t", text / "en")
    for end in ("r", "f"):
        own = giza if end == "r" else shutil.copytree(text / "ibm4", tmp_path / "other")
        for path in own.glob("forward.*" if end == "r" else "reverse.*"):
            path.unlink()
        for path in own.glob("forward.*"):
            path.rename(path.with_name(path.name.replace("forward", "de-en", 1)))
        out = done(run("align", "-q", "-m", own, *pair)).stdout
        assert out == (text / f"ibm4.{end}").read_bytes()
    (own / "de-en.gizacfg").unlink()
    for name, copy in (("source", "src"), ("target", "trg")):
        for end in ("vcb", "vcb.classes"):
            (own / f"{name}.{end}").rename(own / f"de-en.trn.{copy}.{end}")
    assert run("align", "-q", "-m", own, *pair).stdout == out


@pytest.mark.parametrize("table", TABLES)
def test_a_file_that_is_cut_off_names_its_line(giza, table):
    path = giza / f"forward.{table}.final"
    whole = path.read_bytes()
    for size in (len(whole) // 2, len(whole) // 3):
        path.write_bytes(whole[:size])
        with pytest.raises(DataError) as error:
            at.Aligner.load(giza)
        assert str(error.value).startswith(
            f"{path}:{whole[:size].count(10) + 1}: the file ends within this line; it was"
        )
    if table == "n3":
        path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
        with pytest.raises(DataError, match=r"n3.final:\d+: ends before word"):
            at.Aligner.load(giza)


WRONG = [
    ("t3", b"0 2 0.5\n", b"0 2\n", ":1: '0 2' is not e f t"),
    ("t3", b"0 2 0.5\n", b"0 -2 0.5\n", ":1: '0 -2 0.5' is not e f t"),
    ("t3", b"0 2 0.5\n", b"0 2 nan\n", ":1: 'nan' is not a probability"),
    ("t3", b"0 2 0.5\n", b"0 2 1.5\n", ":1: '1.5' is not a probability"),
    ("t3", b"0 2 0.5\n", b"0 99999 0.5\n", ":1: no word has the number 99999"),
    ("n3", b"2 ", b"x ", ":1: 'x "),
    ("n3", b"2 ", b"2 0 ", "2: has 10 probabilities, and the first line 11; each word has as many"),
    ("p0_3", b"", b"1\n", "has 2 lines; expected one, the probability p0"),
    ("d4", b"76 ", b"79 ", ":1: distances by -depM4 79; only 76, by classes, is known here"),
    ("d4", b" 203 ", b" 205 ", ":1: '76 "),
    ("D4", b"-1 203\n", b"-1 \n", ":1: '76 "),
    ("hhmm", b"100 ", b"100.5 ", ":1: '100.5 "),
]


@pytest.mark.parametrize(("table", "old", "new", "message"), WRONG)
def test_lines_that_are_not_as_they_should_be(giza, table, old, new, message):
    path = giza / f"forward.{table}.final"
    data = path.read_bytes()
    at_start = table == "t3"
    path.write_bytes(
        new + data[data.index(b"\n") + 1 :] if at_start else data.replace(old, new, 1) if old else new + data
    )
    with pytest.raises(DataError) as error:
        at.Aligner.load(giza)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)


def test_what_is_missing_is_named(text, giza):
    def refused(message, *options):
        fails(run("align", "-q", "-m", giza, "-s", text / "de", "-t", text / "en", *options), message)

    classes = giza / "source.vcb.classes"
    lines = classes.read_bytes()
    classes.write_bytes(lines.replace(b"\t", b"\t1 ", 1))
    refused("source.vcb.classes:1: '")
    classes.write_bytes(lines + lines)
    refused("comes twice; each has one class")
    classes.write_bytes(lines[: lines.index(b"\n") + 1])
    refused("source.vcb.classes: has 1 classes, and ")
    classes.write_bytes(lines)
    (giza / "reverse.n3.final").unlink()
    refused("reverse.n3.final: is not there; a model of IBM 3 or IBM 4 has it")
    for path in giza.glob("reverse.*"):
        path.rename(giza / path.name.replace("reverse", "second"))
    refused("has tables of forward, second; expected one training, or 'forward' and 'reverse'")
    for path in giza.glob("second.*"):
        path.unlink()
    (giza / "source.vcb").unlink()
    refused("source.vcb: is not there; expected the vocabulary here, as ")
    for path in giza.glob("forward.*"):
        path.unlink()
    refused("is a directory without GIZA++'s tables; expected a model file, or PREFIX.t3.final")
    given = ("align", "-s", text / "de", "-t", text / "en", "--init-model", text / "ibm4")
    fails(run(*given), "--init-model goes on from a model file; GIZA++'s tables have no counts", status=2)


@pytest.mark.parametrize("model", ["ibm3", "ibm4"])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_no_table_that_is_missing_empty_or_compressed_changes_links_silently(text, tmp_path, model, direction):
    folder = shutil.copytree(text / model, tmp_path / "giza")
    pair = at.Aligner.load(folder).align("der zug fährt um acht uhr ab .", "the train leaves at eight o'clock .")
    tables = ("t3", "n3", "p0_3", "hhmm", *(("d4", "D4") if model == "ibm4" else ("d3",)))
    for name in (*(f"{direction}.{table}.final" for table in tables), f"{direction}.hhmm.final.alpha"):
        path = folder / name
        whole = path.read_bytes()
        path.write_bytes(b"")
        with pytest.raises(DataError, match=f"{name}: (is empty|has 0 lines)"):
            at.Aligner.load(folder)
        path.unlink()
        with pytest.raises(DataError, match=f"{name}: is not there"):
            at.Aligner.load(folder)
        (folder / f"{name}.gz").write_bytes(gzip.compress(whole))
    for name in ("source.vcb", "target.vcb", f"{direction}.gizacfg"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
        (folder / name).unlink()
    found = at.Aligner.load(folder).align("der zug fährt um acht uhr ab .", "the train leaves at eight o'clock .")
    assert str(found) == str(pair)
    table = folder / f"{direction}.t3.final.gz"
    lines = gzip.decompress(table.read_bytes()).split(b"\n")
    table.write_bytes(gzip.compress(b"\n".join(lines[: len(lines) // 2]) + b"\n"))
    with pytest.raises(DataError, match=r"t3.final.gz:\d+: ends before word"):
        at.Aligner.load(folder)


def test_gizas_smoothing_of_distances(giza):
    """It is done when tables are used: the settings say how much."""
    plain = model_of_giza(*read_trainings(giza)).views[0]
    for name in ("forward", "reverse"):
        with open(giza / f"{name}.gizacfg", "a") as file:
            file.write("model4smoothfactor 0.4\n")
    smooth = model_of_giza(*read_trainings(giza)).views[0]
    for d in (0, 1):
        known = plain.heads[d].any(-1)
        np.testing.assert_allclose(smooth.heads[d][known], 0.6 * plain.heads[d][known] + 0.4 / 39, rtol=1e-5)
        assert not smooth.heads[d][~known].any()
        known = plain.others[d].any(-1)
        np.testing.assert_allclose(smooth.others[d][known], 0.6 * plain.others[d][known] + 0.4 / 19, rtol=1e-5)
    (giza / "forward.gizacfg").write_text("s source.vcb\nt target.vcb\nmodel4smoothfactor 4\n")
    with pytest.raises(DataError, match="model4smoothfactor is '4'; expected a number from 0 to 1"):
        at.Aligner.load(giza)
