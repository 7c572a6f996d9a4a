"""Classes of words from files: align --set source_classes=FILE, target_classes, and GIZA++'s ``.vcb.classes``."""

import numpy as np
import pytest

import aligntools as at
from aligntools.formats.links.giza import read_word_classes
from tests.cli.aligning import done, lower_case
from tests.cli.running import fails, run

PAIRS = 60
IBM4 = ("--model-type", "ibm4", "--set", "word_classes=6", "--iterations", 2)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The beginning of the samples in lower case; IBM 4's links, and its classes as it found them."""
    folder = tmp_path_factory.mktemp("classes")
    sides = lower_case(folder, PAIRS)
    done(run("align", "-q", *sides, *IBM4, "--giza-dir", folder / "giza", "-o", folder / "links"))
    return folder


def given(folder):
    names = ("source", "target")
    return [x for name in names for x in (f"--{name}-classes", folder / "giza" / f"{name}.vcb.classes")]


def test_given_classes_are_those_that_are_gone_by(text):
    """The classes that the model found itself, whatever their names are, give its links; others give other links."""
    sides = ("-s", text / "de", "-t", text / "en")
    assert run("align", "-q", *sides, *IBM4, *given(text)).stdout == (text / "links").read_bytes()
    aligner = at.train_aligner(at.with_word_classes(at.read_bitext(text / "de", text / "en"),
        at.read_classes(text / "giza" / "source.vcb.classes"), text / "giza" / "target.vcb.classes"), model_type="ibm4",
        iterations=2)  # fmt: skip
    links = [str(a) for a in aligner.align_batch(text / "de", text / "en")]
    assert links == (text / "links").read_text().splitlines()
    words = at.read_classes(text / "giza" / "source.vcb.classes")
    (text / "one").write_text("".join(f"x{word.decode()}\tx\n" for word in words.words))
    (text / "names").write_text("".join(f"{word.decode()}\t{k % 90}\n" for k, word in enumerate(words.words)))
    other = run("align", "-q", *sides, *IBM4, f"--set=source_classes={text / 'names'}").stdout
    assert other != (text / "links").read_bytes()
    how = ("--model-type", "hmm-classes", "--set", "views=0", "--set", "word_classes=5")
    found = [run("align", "-q", *sides, *how, *more) for more in ((), (f"--set=source_classes={text / 'names'}",))]
    assert found[0].stdout != found[1].stdout
    assert found[1].stdout.count(b"\n") == PAIRS
    told = run("align", *sides, *how, f"--set=source_classes={text / 'one'}").stderr.decode()
    assert "none of the words of --set source_classes is one of the text" in told


def test_classes_of_a_saved_model(text, tmp_path):
    sides = ("-s", text / "de", "-t", text / "en")
    files = ("--save-model", tmp_path / "model", "-o", tmp_path / "links")
    how = ("--model-type", "hmm-classes", "--set", "views=0", *given(text))
    done(run("align", "-q", *sides, *how, *files))
    assert run("align", "-q", *sides, "-m", tmp_path / "model").stdout == (tmp_path / "links").read_bytes()


def test_more_than_500_classes_are_refused(text):
    sides = ("-s", text / "de", "-t", text / "en")
    (text / "many").write_text("".join(f"w{k}\tc{k}\n" for k in range(501)))
    message = "--set source_classes has 501 classes; at most 500 are taken"
    fails(run("align", *sides, *IBM4, f"--set=source_classes={text / 'many'}"), message, status=2)


def test_gizas_programs_take_classes_and_p0(text, tmp_path):
    """Classes beside the vocabularies, where there are any."""
    done(run(text / "de", text / "en", cwd=tmp_path, script="plain2snt"))
    files = ("-s", text / "de.vcb", "-t", text / "en.vcb", "-c", text / "de_en.snt")
    (text / "de.vcb.classes").write_bytes((text / "giza" / "source.vcb.classes").read_bytes())

    def mgiza(*options):
        return run(*files, "-m1", 3, "-mh", 2, "-m3", 0, *options, cwd=tmp_path, script="mgiza")

    assert mgiza("-m4", 2, "-p0", 0.99, "-o", "m").returncode == 0
    numbers = read_word_classes(text / "de.vcb.classes")
    heads = [line.split() for line in (tmp_path / "m.d4.final").read_text().splitlines()]
    assert {int(row[4]) for row in heads} == {0, *numbers.values()}
    assert not (tmp_path / "m.source.classes").exists()
    assert (tmp_path / "m.target.classes").exists()
    assert np.isclose(float((tmp_path / "m.p0_3.final").read_text()), 0.99)
    assert "p0 0.99\n" in (tmp_path / "m.gizacfg").read_text()
    assert mgiza("-m4", 0, "-p0", -1, "-o", "h").returncode == 0
    assert mgiza("-m4", 0, "-p0", 0.999, "-o", "k").returncode == 0  # what the script passes when it is told nothing
    assert (tmp_path / "k.A3.final.part000").read_bytes() == (tmp_path / "h.A3.final.part000").read_bytes()
    for p0 in ("1.5", "x", "nan"):
        assert b"-p0 takes a probability" in mgiza("-p0", p0, "-o", "x").stderr
    (text / "de.vcb.classes").write_text("der 1\n")
    fails(mgiza("-m4", 1, "-o", "x"), "de.vcb.classes:1: has 1 fields between tabs")
