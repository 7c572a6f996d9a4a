"""Starts: files of link trees and weights."""

import json
from dataclasses import replace

import numpy as np
import pytest

from aligntools.aligning.contrastive import features
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.starts import SHIPPED, ContrastiveStart, former_trees, shipped
from aligntools.aligning.contrastive.tasks import learning_plan
from aligntools.aligning.contrastive.weights import Weights, load_weights
from aligntools.formats.modelfile import read_model, write_model
from aligntools.ground.errors import DataError, ModelError, UsageProblem


def with_trees():
    """A start of other trees than any that come with the program."""
    trees = former_trees()
    return ContrastiveStart(replace(trees, bias=trees.bias + 1), np.arange(len(NAMES)) / 7, {"by": "hand"})


def with_network():
    """A start of another network than any that comes with the program."""
    network = shipped("languages").trees
    return ContrastiveStart(replace(network, trust=network.trust + 1), np.arange(len(NAMES)) / 7, {"by": "hand"})


both = pytest.mark.parametrize("start", [with_trees, with_network])


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_ones_are_whole(name):
    found = shipped(name)
    assert found.trees.layers.shape[:2] == (3, 3)
    assert found.by_name["trees"] > 0
    assert found.about


@both
def test_a_file_gives_the_same_start(tmp_path, start):
    own = start()
    own.save(tmp_path / "s")
    found = ContrastiveStart.load(tmp_path / "s")
    assert type(found.trees) is type(own.trees)
    assert found.trees.fingerprint == own.trees.fingerprint
    assert found.trees.fingerprint != shipped("languages").trees.fingerprint
    np.testing.assert_array_equal(found.weights, own.weights)
    assert found.about == {"by": "hand"}


@pytest.mark.parametrize(
    "broken",
    [
        {"weights": {"no such thing": 1.0}}, {"weights": {"trees": "1"}}, {"weights": [1]}, {"taught": 3},
        {"features": ["no such thing"]}, {"bias": None}, {"network": ["no such thing"]}, {"network": 3},
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, broken):
    (with_network if "network" in broken else with_trees)().save(tmp_path / "s")
    header, arrays = read_model(str(tmp_path / "s"), "contrastive-start")
    write_model(str(tmp_path / "s"), "contrastive-start", header | broken, arrays)
    with pytest.raises(ModelError, match="damaged"):
        ContrastiveStart.load(tmp_path / "s")


@both
def test_weights_go_with_the_judge_of_links_that_they_were_learned_over(tmp_path, start):
    own, active = start(), features.select("all")
    weights = Weights(own.weights, active, trees=own.trees)
    weights.save(tmp_path / "w")
    assert load_weights(tmp_path / "w", own.trees).trees is own.trees
    with pytest.raises(DataError, match="another start than the one that comes with the program; name"):
        load_weights(tmp_path / "w")
    with pytest.raises(DataError, match="another start than that of mine; name the file"):
        load_weights(tmp_path / "w", shipped("languages").trees, "mine")
    text = json.loads((tmp_path / "w").read_text())
    (tmp_path / "w").write_text(json.dumps(text | {"trees": 3}))
    with pytest.raises(DataError, match="'trees' is 3"):
        load_weights(tmp_path / "w")
    without = Weights(own.weights, features.select("paper"), trees=own.trees)
    without.save(tmp_path / "w")
    assert load_weights(tmp_path / "w").trees is None


@pytest.mark.parametrize("judge", [former_trees(), shipped("languages").trees])
def test_weights_over_what_comes_with_the_program_need_no_start(tmp_path, judge):
    Weights(with_trees().weights, features.select("all"), trees=judge).save(tmp_path / "w")
    assert load_weights(tmp_path / "w").trees is judge


def test_weights_of_before_name_no_trees(tmp_path):
    Weights(with_trees().weights, features.select("all"), trees=former_trees()).save(tmp_path / "w")
    text = json.loads((tmp_path / "w").read_text())
    del text["trees"]
    (tmp_path / "w").write_text(json.dumps(text))
    assert load_weights(tmp_path / "w").trees is former_trees()


def test_a_start_without_a_weight_for_any_feature_is_refused():
    with pytest.raises(UsageProblem, match="no weight for these features"):
        learning_plan("paper", "languages")
    assert learning_plan("paper,trees", "languages").start.sum() == 1
