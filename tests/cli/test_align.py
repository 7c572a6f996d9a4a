import functools
import json
import math
import re
from collections import defaultdict

import pytest

from aligntools.formats.text import bitext
from tests.cli.aligning import JOINT, LENGTHS, SAMPLES, SOURCE, TEXT, done, proper
from tests.cli.running import fails, run

# What comes out


def test_a_default_run(trained):
    links = proper((trained / "align").read_bytes())
    assert sum(map(len, links)) > 1500
    errors = (trained / "errors").read_text()
    assert re.fullmatch(rf"240 pairs, {sum(map(len, links))} links in [\d.]+ s \(\d+ pairs/s\)\n", errors)
    forward, reverse = (proper((trained / name).read_bytes()) for name in ("forward", "reverse"))
    for f, r in zip(forward, reverse, strict=True):
        assert len({j for _, j in f}) == len(f)  # a word of the observed side has one link at most
        assert len({i for i, _ in r}) == len(r)
    gold = [
        {tuple(map(int, re.split(r"[-?]", x))) for x in line.split()}
        for line in (SAMPLES / "de-en.wa").read_text().splitlines()
    ]
    found = proper((trained / "align").read_bytes())[: len(gold)]
    right = sum(len(set(f) & g) for f, g in zip(found, gold, strict=True))
    assert right / sum(map(len, found)) > 0.8
    assert right / sum(map(len, gold)) > 0.65
    rows = [list(map(float, line.split("\t"))) for line in (trained / "scores").read_text().splitlines()]
    assert len(rows) == len(LENGTHS)
    for (f, r, per_target, per_source), (i, j) in zip(rows, LENGTHS, strict=True):
        assert -1e5 < f < 0 > r > -1e5
        assert math.isclose(per_target, f / j, rel_tol=1e-4)
        assert math.isclose(per_source, r / i, rel_tol=1e-4)
    sums, rows = defaultdict(float), []
    for line in (trained / "ttable").read_text().splitlines():
        source, target, logarithm = line.split("\t")
        rows.append((source, target))
        assert float(logarithm) <= 1e-6
        sums[source] += math.exp(float(logarithm))
    assert len(set(rows)) == len(rows)
    assert "<eps>" in sums
    assert max(sums.values()) <= 1 + 1e-4
    words = {w.lower() for line in SOURCE.read_text(encoding="utf-8").splitlines() for w in line.split()}
    assert set(sums) == words | {"<eps>"}
    rows = [json.loads(line) for line in (trained / "log").read_text().splitlines()]
    assert {row["stage"] for row in rows} == {"reading", "table", "ibm1", "hmm", "sampler", "saving", "aligning"}
    assert all(row["seconds"] >= 0 for row in rows)
    assert all(len(row["log_likelihood"]) == 2 for row in rows if "iteration" in row)


def test_the_same_bytes_by_threads_models_and_blocks(trained, tmp_path, inside, monkeypatch):
    done(run("align", *TEXT, "-o", tmp_path / "align", "--threads", 2, "--save-model", tmp_path / "model",
        "--forward-output", tmp_path / "forward", "--reverse-output", tmp_path / "reverse", "--scores",
        tmp_path / "scores", "--ttable", tmp_path / "ttable", "-q"))  # fmt: skip
    for name in ("align", "forward", "reverse", "scores", "ttable", "model"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes(), name
    done(run("align", "-m", trained / "model", *TEXT, "-o", tmp_path / "align", "--forward-output",
        tmp_path / "forward", "--reverse-output", tmp_path / "reverse", "--scores", tmp_path / "scores", "--ttable",
        tmp_path / "ttable"))  # fmt: skip
    for name in ("align", "forward", "reverse", "scores", "ttable"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes(), name
    monkeypatch.setattr(bitext, "stream_bitext", functools.partial(bitext.stream_bitext, block_lines=7))
    done(inside("-m", trained / "model", *TEXT, "-o", tmp_path / "align", "--scores", tmp_path / "scores"))
    for name in ("align", "scores"):
        assert (tmp_path / name).read_bytes() == (trained / name).read_bytes(), name
    lines = JOINT.read_bytes().splitlines(keepends=True)
    expected = (trained / "align").read_bytes().splitlines(keepends=True)
    (tmp_path / "part").write_bytes(b"".join(lines[100:140]) + lines[3])
    done(inside("-m", trained / "model", "-i", tmp_path / "part", "-o", tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b"".join(expected[100:140]) + expected[3]


def test_a_table_of_words_that_are_cut_is_refused(inside, tmp_path):
    """A model of words' beginnings has no table of words to write."""
    done(inside(*TEXT, "--fast", "-o", tmp_path / "out", "--save-model", tmp_path / "model"))
    process = inside(*TEXT, "-m", tmp_path / "model", "--ttable", tmp_path / "table", "-o", tmp_path / "out")
    fails(process, "--ttable writes whole words", status=2)
    assert {p.name for p in tmp_path.iterdir()} == {"out", "model"}
    done(inside(*TEXT, "--fast", "--set", "views=0", "--ttable", tmp_path / "table", "-o", tmp_path / "out"))
    assert b"Gemeinderat".lower() in (tmp_path / "table").read_bytes()


# A saved model


@pytest.mark.parametrize("more", [(), ("--unbuffered",), ("--threads", "3", "--max-memory", "300M")])
def test_from_standard_input_too(trained, more):
    got = done(run("align", "-m", trained / "model", "-i", "-", "-q", *more, stdin=JOINT.read_bytes()))
    assert got.stdout == (trained / "align").read_bytes()
    assert got.stderr == b""


@pytest.mark.parametrize("kind", ["hmm", "ibm2", "apart"])
def test_other_models_are_applied_as_they_were_trained(inside, tmp_path, kind):
    options = {
        "hmm": ("--fast",),
        "ibm2": ("--model-type", "ibm2", "--direction", "reverse"),
        "apart": ("--set", "agreement=false", "--set", "sweeps=4", "--case-sensitive"),
    }[kind]
    model = tmp_path / "model"
    how = () if "--direction" in options else ("--symmetrize", "grow-diag")
    done(inside(*TEXT, *options, "-o", tmp_path / "one", "--save-model", model, *how))
    done(inside("-m", model, "-i", JOINT, "-o", tmp_path / "two", *how))
    proper((tmp_path / "one").read_bytes())
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_going_on_from_a_model(trained, inside, tmp_path):
    new = tmp_path / "new"
    new.write_text("Der Zug fährt nicht ab . ||| The train does not leave .\nneu ||| novel\n", encoding="utf-8")
    done(
        inside("--init-model", trained / "model", "-i", new, "-o", tmp_path / "out", "--save-model", tmp_path / "model")
    )
    (first, second) = proper((tmp_path / "out").read_bytes(), [(6, 6), (1, 1)])
    assert {(0, 0), (1, 1), (3, 3)} <= set(first)
    assert second == [(0, 0)]
    done(inside("-m", tmp_path / "model", "-i", new, "-o", tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "out").read_bytes()
    model = "--model-type", "hmm", "--direction", "reverse", "-q"
    done(inside("-i", JOINT, *model, "-o", tmp_path / "old", "--save-model", tmp_path / "a"))
    done(inside("-i", JOINT, "--init-model", tmp_path / "a", "-o", tmp_path / "new", "--save-model", tmp_path / "b"))
    done(inside("-i", JOINT, "-m", tmp_path / "b", "-o", tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "new").read_bytes()
    for sentence in proper((tmp_path / "new").read_bytes()):
        assert len({i for i, _ in sentence}) == len(sentence)
