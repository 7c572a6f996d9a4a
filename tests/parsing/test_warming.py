"""Warming up leaves nothing of parsing to compile."""

import tempfile
from pathlib import Path

import pytest

from aligntools.cli import precompile
from tests.places import SAMPLES
from tests.warmed import compiled_by


def warm(pool):
    precompile.parsing(Path(), pool)


def work():
    """Do what the commands do: train, transfer by each method, save, load, parse, with each kind of trees."""
    import aligntools as at
    from aligntools.formats.annotation.tagged import read_tagged

    tagged = read_tagged(str(SAMPLES / "en.tagged"))
    pairs = ["the_DET dog_NOUN sleeps_VERB"], ["der_DET Hund_NOUN schläft_VERB"], ["0-0 1-1 2-2"]
    with tempfile.TemporaryDirectory() as folder:
        for projective in (True, False):
            options = {"iterations": 2, "projective": projective, "threads": 2}
            for single_root in (True, False):
                parser = at.train_parser(SAMPLES / "en.conllu", single_root=single_root,
                                         checkpoint=f"{folder}/{projective}{single_root}", **options)  # fmt: skip
            parser.save(f"{folder}/model")
            for one in (parser, at.Parser.load(f"{folder}/model")):
                for only in (True, False):
                    one.parse_text(tagged, projective=only)
                one.parse("a_DET dog_NOUN")
            for method in ("full", "projected"):
                text = {"unlabeled": tagged} if method == "full" else {}
                for entropy in ("shannon", "renyi"):
                    at.transfer_parser(parser, *pairs, method=method, l2=1.0, entropy=entropy, **text, **options)
            at.transfer_parser(parser, method="direct").parse_text(tagged)


@pytest.mark.slow  # what commands do is in tests/test_warming.py
def test_nothing_is_left_to_compile():
    found = compiled_by("tests.parsing.test_warming")
    assert len(found["before"]) > 20
    assert found["added"] == []
