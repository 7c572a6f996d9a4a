"""The base models of contrastive alignment that the bench keeps: links of the pairs that have gold links."""

import types

import pytest

from aligntools.aligning.contrastive import tasks
from aligntools.ground.parallel import Pool
from aligntools.metrics.aer import AerScore
from bench.contrastive_base import Study
from tests.conftest import SAMPLES


@pytest.fixture
def study(tmp_path):
    """Of twenty sample pairs with gold links, and fifty more."""
    folder = tmp_path / "data" / "en-de"
    folder.mkdir(parents=True)
    for side in ("en", "de"):
        lines = (SAMPLES / f"de-en.{side}").read_text(encoding="utf-8").splitlines(keepends=True)
        (folder / f"a.{side}").write_text("".join(lines[:20]), encoding="utf-8")
        (folder / f"train.{side}").write_text("".join(lines[20:70]), encoding="utf-8")
    (folder / "a.wa").write_text("0-0\n" * 20)
    (tmp_path / "work").mkdir()
    options = types.SimpleNamespace(data=tmp_path / "data", work=tmp_path / "work", pairs=60, threads=1)
    with Pool(1) as pool:
        yield Study(options, "en-de.a", pool)


@pytest.mark.slow
def test_the_links_are_those_of_the_pairs_with_gold_links(study):
    weights = tasks.learn_weights(study.finder, [study.bitext], tasks.learning_plan("paper", "paper"))
    links = study.links(study.finder, weights)
    assert len(links) == study.text.n_gold == 20
    assert study.text.n_pairs == 60
    assert len(links.pairs) > 40
    assert study.links_aer(study.finder, weights) == pytest.approx(100 * AerScore.of(study.gold, links).aer)
