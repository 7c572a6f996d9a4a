"""The pictures in docs/images are what the commands in docs/view.md make."""

import re
from xml.etree import ElementTree

import pytest

from tests.cli.running import ran
from tests.places import ROOT, SAMPLES

IMAGES = ROOT / "docs" / "images"


def made(name, folder, *args):
    """Run ``view ARGS --svg NAME`` and return the picture, and the one in the docs."""
    ran("view", *args, "--svg", folder / name)
    return (folder / name).read_text(), (IMAGES / name).read_text()


def test_pictures_of_trees_and_tags(tmp_path):
    text = re.sub(r"(?m)^(6\tin\t.*)\t8\tcase", r"\1\t5\tcase", (SAMPLES / "en.conllu").read_text())
    text = re.sub(r"(?m)^(2\tnew\t.*)amod", r"\1nmod", text)
    (tmp_path / "parsed.conllu").write_text(text)
    new, kept = made("tree.svg", tmp_path, tmp_path / "parsed.conllu", SAMPLES / "en.conllu", "--sentence", "10")
    assert new == kept
    text = (SAMPLES / "en.mrg").read_text()
    text = text.replace("(PP (IN in) (NP (PRP$ our) (NN street)))", "(IN in) (ADJP (PRP$ our) (NN street))")
    (tmp_path / "parsed.mrg").write_text(text)
    new, kept = made("constituents.svg", tmp_path, tmp_path / "parsed.mrg", SAMPLES / "en.mrg", "--sentence", "11")
    assert new == kept
    text = (SAMPLES / "en.tagged").read_text().replace("_ADJ", "_NOUN").replace("leaves_VERB", "leaves_NOUN")
    (tmp_path / "tagged").write_text(text)
    new, kept = made("tags.svg", tmp_path, tmp_path / "tagged", SAMPLES / "en.tagged")
    assert new == kept


def test_pictures_of_models(trained, tmp_path):
    new, kept = made("jumps.svg", tmp_path, "-m", trained / "model", "--number", "1")
    assert new == kept

    def do(*args):
        ran(*args, cwd=tmp_path)

    few = b"".join((SAMPLES / "de-en.de").read_bytes().splitlines(True)[:4])
    (tmp_path / "few.de").write_bytes(few)
    do("extract-grammar", "-q", "-i", SAMPLES / "de-en.txt", "-a", trained / "align", "-o", "g")
    do("train-lm", "-q", "-n", "3", SAMPLES / "de-en.en", "-o", "lm")
    do("translate", "-q", "--grammar", "g", "--lm", "lm", "few.de", "--derivations", "few.derivations", "-o", "few.out")
    new, kept = made("derivation.svg", tmp_path, "--derivations", tmp_path / "few.derivations", "--number", "2")
    assert new == kept
    pytest.importorskip("matplotlib")
    (tmp_path / "align.jsonl").write_bytes((trained / "log").read_bytes())
    pictures = made("training.svg", tmp_path, "--log", tmp_path / "align.jsonl", "--number", "1")
    texts = [[t.text for t in ElementTree.fromstring(p).iter("{http://www.w3.org/2000/svg}text")] for p in pictures]
    assert texts[0] == texts[1]
    assert "whole words, forward" in texts[0]
