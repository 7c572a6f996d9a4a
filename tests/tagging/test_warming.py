"""Warming up leaves nothing of tagging to compile."""

import tempfile
from pathlib import Path

import pytest

from aligntools.cli import precompile
from tests.places import SAMPLES
from tests.warmed import compiled_by


def warm(pool):
    precompile.tagging(Path(), pool)


def work():
    """Do what the commands do: train with tags and without, save, load, tag."""
    import aligntools as at
    from aligntools.formats.annotation.conll import read_conll

    conll = read_conll(str(SAMPLES / "en.conllu"))
    taggers = [at.train_tagger(conll, latent=latent, members=2, iterations=2, threads=2) for latent in (1, 4)]
    for estimator in ("em", "vb", "mre"):
        options = {"iterations": 2, "restarts": 2, "stop": estimator != "em"}
        options |= {"mre_iterations": 2} if estimator == "mre" else {}
        taggers.append(at.induce_tags(SAMPLES / "en.txt", states=5, estimator=estimator, **options))
    with tempfile.TemporaryDirectory() as folder:
        for tagger in taggers:
            tagger.save(f"{folder}/model")
            for one in (tagger, at.Tagger.load(f"{folder}/model")):
                for decoder in ("posterior", "viterbi"):
                    one.tag_text(conll, decode=decoder)
                    list(one.tag_batch(["the wug sleeps", ""], decode=decoder))


@pytest.mark.slow  # what commands do is in tests/test_warming.py
def test_nothing_is_left_to_compile():
    found = compiled_by("tests.tagging.test_warming")
    assert len(found["before"]) > 10
    assert found["added"] == []
