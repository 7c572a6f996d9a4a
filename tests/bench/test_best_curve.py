"""``bench.run best_curve``: what it measures is what ``align`` and ``align --best`` write."""

import types

import pytest

import aligntools as at
from aligntools.aligning.contrastive.weights import shipped
from aligntools.formats.links.goldlinks import read_gold
from aligntools.ground.parallel import Pool
from bench import best_curve
from bench import contrastive_start as starting
from bench.contrastive_base import Study
from bench.contrastive_rounds import second_base
from tests.places import SAMPLES

GOLD, TEXT = 40, 120


@pytest.fixture
def o(tmp_path):
    """German and English: gold sentences, and training text after them."""
    folder = tmp_path / "data" / "en-de"
    folder.mkdir(parents=True)
    for side in ("de", "en"):
        lines = (SAMPLES / f"de-en.{side}").read_text(encoding="utf-8").splitlines()
        (folder / f"gold.{side}").write_text("\n".join(lines[:GOLD]) + "\n")
        (folder / f"train.{side}").write_text("\n".join(lines[GOLD:TEXT]) + "\n")
    (folder / "gold.wa").write_text("0-0 1-1\n" * GOLD)
    (tmp_path / "work").mkdir()
    return types.SimpleNamespace(data=tmp_path / "data", work=tmp_path / "work", threads=1, pairs=10**9)


@pytest.mark.slow
def test_figures_are_those_of_the_commands(o):
    with Pool(1) as pool:
        row = best_curve.measured(o, "en-de", "all", (shipped().network, starting.weights()), pool)
    assert row["pairs"] == TEXT
    _, files = best_curve.whole(o.data, "en-de", o.work)
    gold = read_gold(str(o.data / "en-de" / "gold.wa"), format="pharaoh")
    for way, best in (("align", False), ("--best", True)):
        links = [str(a) for a in at.align(*files, best=best, encoder=False)][:GOLD]
        assert row["aer"]["gold"][way] == pytest.approx(100 * at.aer(gold, links).aer)
    assert row["aer"]["gold"]["align"] != row["aer"]["gold"]["--best"]
    body = best_curve._body(o, {("en-de", "all"): row})
    assert f"| en-de.gold | {TEXT} |" in body
    assert "| all | 1 |" in body


@pytest.mark.slow
def test_a_base_model_is_trained_again_on_the_text_that_it_was_trained_on(o):
    with Pool(1) as pool:
        study = Study(o, "en-de.gold", pool)
        again = second_base(study, shipped().network)
        assert again.sizes == study.model.sizes
        assert again.settings == study.model.settings
        assert again.views[0].lexicon.forward.tolist() != study.model.views[0].lexicon.forward.tolist()
