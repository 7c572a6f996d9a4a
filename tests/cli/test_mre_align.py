import itertools
import json

import numpy as np
import pytest

from tests.cli.aligning import JOINT, TEXT, done, proper


@pytest.fixture
def mre(command_inside):
    """Run ``aligntools mre-align`` in this process."""
    return lambda *args: command_inside("mre-align", *args)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--estimator", "em", "--set", "agreement=false", "--set", "mre_positions=true", "--set", "mre_null=true"),
        ("--model-type", "ibm2"),
        ("--model-type", "ibm2", "--set", "positions=table", "--set", "mre_positions=true"),
        ("--direction", "reverse", "--set", "views=0"),
        ("--set", "views=0,4", "--symmetrize", "grow-diag-final-and"),
    ],
    ids=" ".join,
)
def test_align_applies_what_was_trained(mre, inside, command_inside, tmp_path, options):
    model, outputs = tmp_path / "model", ("-o", tmp_path / "one", "--scores", tmp_path / "scores")
    done(mre(*TEXT, *options, "--save-model", model, *outputs))
    assert sum(map(len, proper((tmp_path / "one").read_bytes()))) > 900
    scores = np.loadtxt(tmp_path / "scores")
    trained = [1, 3] if "reverse" in options else [0, 1, 2, 3]
    assert np.isfinite(scores[:, trained]).all()
    assert np.isnan(np.delete(scores, trained, axis=1)).all()  # nothing is said of a direction that was not trained
    kept = ("--symmetrize", "grow-diag-final-and") if "--symmetrize" in options else ()
    for run in (inside, mre):
        done(run("-m", model, "-i", JOINT, "-o", tmp_path / "two", "--scores", tmp_path / "again", *kept))
        assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()
        assert (tmp_path / "again").read_bytes() == (tmp_path / "scores").read_bytes()
    few = b"".join(JOINT.read_bytes().splitlines(keepends=True)[:40])
    streamed = command_inside("align", "-m", model, "-i", "-", "-q", "--unbuffered", *kept, stdin=few)
    assert (tmp_path / "one").read_bytes().startswith(streamed.stdout)
    assert streamed.stdout.count(b"\n") == 40


def test_blank_pairs(mre, tmp_path, file):
    bad = file("bad", b"das haus ||| the house\n\n ||| the\nein haus ||| a house\n")
    process = done(mre("-i", bad, "-o", tmp_path / "out"))
    lines = (tmp_path / "out").read_bytes().split(b"\n")
    assert (len(lines), lines[1], lines[2]) == (5, b"", b"")
    assert b"blank lines written for: 2 blank" in process.stderr


def test_what_is_said_of_each_iteration(mre, tmp_path):
    process = done(
        mre(*TEXT, "-v", "-o", tmp_path / "out", "--log-json", tmp_path / "log", "--set", "mre_iterations=4")
    )
    rows = [r for r in map(json.loads, (tmp_path / "log").read_text().splitlines()) if r["stage"] == "mre"]
    assert [r["iteration"] for r in rows] == list(range(5))
    for before, after in itertools.pairwise(rows):
        assert all(b >= a for a, b in zip(before["objective"], after["objective"], strict=True))
    for r in rows:
        text = "mre iteration {}: ln P(x|x) {:.1f} forward, {:.1f} reverse".format(r["iteration"], *r["reconstruction"])
        assert text in process.stderr.decode()
    assert mre(*TEXT, "-q", "-o", tmp_path / "out", "--set", "mre_iterations=1").stderr == b""


def test_starting_from_a_model(trained, mre, inside, tmp_path):
    """A model of any kind may be the start; none of EM's iterations are done again."""
    done(inside(*TEXT, "--model-type", "ibm1", "-q", "-o", tmp_path / "x", "--save-model", tmp_path / "ibm1"))
    for model, options in ((trained / "model", ()), (tmp_path / "ibm1", ("--set", "positions=table"))):
        log = "--log-json", tmp_path / "log"
        done(mre(*TEXT, "--init-model", model, *options, *log, "-o", tmp_path / "o", "--save-model", tmp_path / "m"))
        stages = {json.loads(line)["stage"] for line in (tmp_path / "log").read_text().splitlines()}
        assert stages == {"reading", "mre", "saving", "aligning"}
        done(inside("-m", tmp_path / "m", *TEXT, "-o", tmp_path / "again"))
        assert (tmp_path / "again").read_bytes() == (tmp_path / "o").read_bytes()
    new = tmp_path / "new"
    new.write_text("Der Zug fährt nicht ab . ||| The train does not leave .\nneu ||| novel\n", encoding="utf-8")
    done(mre("--init-model", trained / "model", "-i", new, "-o", tmp_path / "out"))
    first, _ = proper((tmp_path / "out").read_bytes(), [(6, 6), (1, 1)])
    assert {(0, 0), (1, 1)} <= set(first)


@pytest.mark.parametrize(
    ("options", "way"),
    [
        (("--model-type", "ibm2"), "joint"),
        (("--model-type", "ibm2", "--estimator", "em", "--set", "agreement=false"), "grow-diag-final-and"),
        (("--estimator", "em", "--set", "agreement=false"), "joint"),
        (("--preset", "paper"), "grow-diag-final-and"),
        (("--preset", "paper", "--model-type", "hmm"), "grow-diag-final-and"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else x,
)
def test_how_directions_are_combined_depends_on_the_training(mre, tmp_path, options, way):
    """As the help says: what measured better."""
    steps, model = ("-q", "--set", "mre_iterations=1"), tmp_path / "model"
    done(mre(*TEXT, *steps, *options, "--save-model", model, "-o", tmp_path / "links"))
    found = {}
    for name in ("grow-diag-final-and", "joint"):
        done(mre("-m", model, *TEXT, "-q", "--symmetrize", name, "-o", tmp_path / name))
        found[name] = (tmp_path / name).read_bytes()
    assert len(set(found.values())) == 2
    assert (tmp_path / "links").read_bytes() == found[way]
    assert done(mre("-m", model, *TEXT, "-q")).stdout == found["joint"]
    done(mre(*TEXT, *steps, *options, "--moses-dir", tmp_path, "-o", tmp_path / "again"))
    assert (tmp_path / "aligned.grow-diag-final-and").read_bytes() == found[way]


@pytest.mark.parametrize(
    ("start", "way"), [("--set=agreement=true", "joint"), ("--set=agreement=false", "grow-diag-final-and")]
)
def test_after_a_model_it_depends_on_that_ones_training(mre, inside, tmp_path, start, way):
    model = tmp_path / "model"
    done(inside(*TEXT, "-q", "--model-type", "ibm2", start, "--save-model", model, "-o", tmp_path / "links"))
    further = ("--init-model", model, *TEXT, "-q", "--set", "mre_iterations=1")
    found = {name: done(mre(*further, "--symmetrize", name)).stdout for name in ("grow-diag-final-and", "joint")}
    assert len(set(found.values())) == 2
    assert done(mre(*further)).stdout == found[way]
    paper = done(mre(*further, "--preset", "paper")).stdout
    assert paper == done(mre(*further, "--preset", "paper", "--symmetrize", "grow-diag-final-and")).stdout


PAPER = (
    *("--estimator", "em", "--set", "agreement=false", "--set", "mre_positions=true", "--set", "mre_null=true"),
    *("--set", "mre_smoothing=0"),
)
TABLE = ("--set", "positions=table", "--set", "tension=0", "--set", "mre_position_smoothing=0")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "spelled"),
    [
        (("--set", "mre_iterations=3"), ("--model-type", "ibm2", *PAPER, *TABLE, "--set", "mre_iterations=3")),
        (("--model-type", "hmm"), ("--model-type", "hmm", *PAPER, "--set", "mre_iterations=50")),
        (("--set=mre_smoothing=2", "--set=positions=diagonal", "--set=mre_iterations=3", "--set=mre_null=false"),
         ("--model-type", "ibm2", *PAPER, "--set", "tension=0", "--set", "mre_smoothing=2", "--set", "mre_iterations=3",
          "--set", "mre_null=false")),
    ],
    ids=["ibm2", "hmm", "overruled"],
)  # fmt: skip
def test_the_paper_is_what_its_help_says(mre, tmp_path, preset, spelled):
    for name, options in (("a", ("--preset", "paper", *preset)), ("b", spelled)):
        log = ("--log-json", tmp_path / f"{name}.log")
        done(mre(*TEXT, *options, *log, "-q", "-o", tmp_path / f"{name}.links", "--save-model", tmp_path / name))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    rows = [r for r in map(json.loads, (tmp_path / "a.log").read_text().splitlines()) if r["stage"] == "mre"]
    assert len(rows) == 1 + (50 if "hmm" in preset else 3)
    if "--set=mre_smoothing=2" not in preset:
        assert all(r["objective"] == r["reconstruction"] for r in rows)  # no prior of anything


def test_the_paper_after_a_model_says_how_it_is_reconstructed(trained, mre, tmp_path):
    steps = (
        *("--set", "mre_iterations=2", "--set", "mre_positions=true", "--set", "mre_null=true", "--set"),
        "mre_smoothing=0",
    )
    for name, options in (("a", ("--preset", "paper", "--set", "mre_iterations=2")), ("b", steps)):
        init = ("--init-model", trained / "model", "--save-model", tmp_path / name)
        done(mre(*TEXT, *init, *options, "-q", "-o", tmp_path / "links"))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
