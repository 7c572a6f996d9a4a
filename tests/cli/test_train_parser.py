"""train-parser --unsupervised: from tags to trees, through the shell."""

import json

import pytest

from tests import models
from tests.cli.running import fails, ran, run


@pytest.fixture(scope="module")
def model():
    said = (models.folder("dmv") / "errors").read_bytes()
    assert b"100 sentences, 647 words, 14 tags; objective -" in said
    assert b"too long 1" in said
    return models.model("dmv")


def rows(data):
    return [line.split(b"\t") for line in data.splitlines() if line[:1].isdigit()]


def test_trees_of_text_and_of_treebanks(model, samples, tmp_path):
    done = ran("parse", "-m", model, samples / "en.tagged")
    assert done.stderr == b""
    found = rows(done.stdout)
    assert {row[7] for row in found} == {b"_", b"root"}
    assert all((row[7] == b"root") == (row[6] == b"0") for row in found)
    lines = (samples / "en.tagged").read_text().splitlines()
    assert sum(row[6] == b"0" for row in found) == len(lines)
    assert run("train-parser", "-q", "--unsupervised", samples / "en.tagged", "-o", tmp_path / "m", "--separator", "_",
               "--threads", "1").stderr == b""  # fmt: skip
    bare = tmp_path / "bare.conllu"
    lines = (samples / "en.conllu").read_text().split("\n")
    bare.write_text("\n".join("\t".join([*f[:6], "_", "_", "_", "_"]) if len(f := x.split("\t")) == 10 else x
                              for x in lines))  # fmt: skip
    ran("train-parser", "-q", "--unsupervised", bare, "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == model.read_bytes()


def test_logs_checkpoints_and_views(model, samples, tmp_path):
    steps = [json.loads(line) for line in (model.parent / "log").read_text().splitlines()]
    assert [step["step"] for step in steps] == list(range(len(steps)))
    values = [step["objective"] for step in steps]
    assert values == sorted(values)
    ran("view", "--log", model.parent / "log")
    how = ("--unsupervised", samples / "en.conllu", "--checkpoint", model.parent / "state")
    ran("train-parser", "-q", *how, "-o", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == model.read_bytes()
    fails(run("train-parser", *how, "-o", tmp_path / "x", "--prior", "2"), "other text or options")
    shown = ran("view", "-m", model)
    assert b"learned without trees" in shown.stdout
    assert b"VERB" in shown.stdout
