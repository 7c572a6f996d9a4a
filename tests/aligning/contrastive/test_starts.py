"""Starts: files of link trees and weights."""

import json
from dataclasses import replace

import numpy as np
import pytest

from aligntools.aligning.contrastive import features
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.starts import SHIPPED, ContrastiveStart, shipped
from aligntools.aligning.contrastive.weights import Weights, load_weights
from aligntools.formats.modelfile import read_model, write_model
from aligntools.ground.errors import DataError, ModelError


def start():
    """A start of other trees than any that come with the program."""
    trees = shipped("languages").trees
    return ContrastiveStart(replace(trees, bias=trees.bias + 1), np.arange(len(NAMES)) / 7, {"by": "hand"})


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_ones_are_whole(name):
    found = shipped(name)
    assert len(found.trees.roots) > 50
    assert found.by_name["trees"] > 0
    assert found.about


def test_a_file_gives_the_same_start(tmp_path):
    own = start()
    own.save(tmp_path / "s")
    found = ContrastiveStart.load(tmp_path / "s")
    assert found.trees.fingerprint == own.trees.fingerprint
    assert found.trees.fingerprint != shipped("languages").trees.fingerprint
    np.testing.assert_array_equal(found.weights, own.weights)
    assert found.about == {"by": "hand"}


@pytest.mark.parametrize(
    "broken",
    [
        {"weights": {"no such thing": 1.0}}, {"weights": {"trees": "1"}}, {"weights": [1]}, {"taught": 3},
        {"features": ["no such thing"]}, {"bias": None},
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, broken):
    start().save(tmp_path / "s")
    header, arrays = read_model(str(tmp_path / "s"), "contrastive-start")
    write_model(str(tmp_path / "s"), "contrastive-start", header | broken, arrays)
    with pytest.raises(ModelError, match="damaged"):
        ContrastiveStart.load(tmp_path / "s")


def test_weights_go_with_the_trees_that_they_were_learned_over(tmp_path):
    own, active = start(), features.select("all")
    weights = Weights(own.weights, active, trees=own.trees)
    weights.save(tmp_path / "w")
    assert load_weights(tmp_path / "w", own.trees).trees is own.trees
    with pytest.raises(DataError, match="other link trees than those that come with the program; name"):
        load_weights(tmp_path / "w")
    with pytest.raises(DataError, match="other link trees than those of mine; name the file"):
        load_weights(tmp_path / "w", shipped("languages").trees, "mine")
    text = json.loads((tmp_path / "w").read_text())
    (tmp_path / "w").write_text(json.dumps(text | {"trees": 3}))
    with pytest.raises(DataError, match="'trees' is 3"):
        load_weights(tmp_path / "w")
    without = Weights(own.weights, features.select("paper"), trees=own.trees)
    without.save(tmp_path / "w")
    assert load_weights(tmp_path / "w").trees is None


def test_weights_of_before_name_no_trees(tmp_path):
    Weights(start().weights, features.select("all"), trees=shipped("languages").trees).save(tmp_path / "w")
    assert "trees" not in json.loads((tmp_path / "w").read_text())
    assert load_weights(tmp_path / "w").trees is shipped("languages").trees
