"""Starts: files of a network and weights."""

import json
from dataclasses import replace

import numpy as np
import pytest

from aligntools.aligning.contrastive import features
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.tasks import learning_plan
from aligntools.aligning.contrastive.weights import FORMER, SHIPPED, ContrastiveStart, Weights, load_weights, shipped
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.errors import DataError, ModelError, UsageProblem


def with_network():
    """A start of another network than any that comes with the program."""
    network = shipped("languages").network
    return ContrastiveStart(replace(network, trust=network.trust + 1), np.arange(len(NAMES)) / 7, {"by": "hand"})


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_ones_are_whole(name):
    found = shipped(name)
    assert found.network.layers.shape[:2] == (3, 3)
    assert found.by_name["trees"] > 0
    assert found.about


def test_starts_of_files(tmp_path):
    own = with_network()
    own.save(tmp_path / "s")
    found = ContrastiveStart.load(tmp_path / "s")
    assert found.network.fingerprint == own.network.fingerprint
    assert found.network.fingerprint != shipped("languages").network.fingerprint
    np.testing.assert_array_equal(found.weights, own.weights)
    assert found.about == {"by": "hand"}
    network = shipped("languages").network
    Weights(with_network().weights, features.select("all"), network=network).save(tmp_path / "w")
    assert load_weights(tmp_path / "w").network is network
    nodes = {"roots": np.zeros(1, np.int32), "columns": np.full(1, -1, np.int32)}
    write_model(str(tmp_path / "s"), "contrastive-start", {"bias": 0.0, "weights": {}, "taught": {}}, nodes)
    with pytest.raises(ModelError, match=r"s: is a start of link trees, .*; make it again with teach"):
        ContrastiveStart.load(tmp_path / "s")
    with pytest.raises(UsageProblem, match="no weight for these features"):
        learning_plan("paper", "languages")
    assert learning_plan("paper,trees", "languages").start.sum() == 1


@pytest.mark.parametrize(
    "broken",
    [
        {"weights": {"no such thing": 1.0}}, {"weights": {"trees": "1"}}, {"weights": [1]}, {"taught": 3},
        {"network": ["no such thing"]}, {"network": 3},
    ],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, broken):
    with_network().save(tmp_path / "s")
    header, arrays = read_model(str(tmp_path / "s"), "contrastive-start")
    write_model(str(tmp_path / "s"), "contrastive-start", header | broken, arrays)
    with pytest.raises(ModelError, match="damaged"):
        ContrastiveStart.load(tmp_path / "s")


def test_weights_go_with_the_network_that_they_were_learned_over(tmp_path):
    own, active = with_network(), features.select("all")
    weights = Weights(own.weights, active, network=own.network)
    weights.save(tmp_path / "w")
    assert load_weights(tmp_path / "w", own.network).network is own.network
    with pytest.raises(DataError, match="another start than the one that comes with the program; give the file"):
        load_weights(tmp_path / "w")
    with pytest.raises(DataError, match="another start than that of mine; give the file"):
        load_weights(tmp_path / "w", shipped("languages").network, "mine")
    text = json.loads((tmp_path / "w").read_text())
    (tmp_path / "w").write_text(json.dumps(text | {"trees": 3}))
    with pytest.raises(DataError, match="'trees' is 3"):
        load_weights(tmp_path / "w")
    without = Weights(own.weights, features.select("paper"), network=own.network)
    without.save(tmp_path / "w")
    assert load_weights(tmp_path / "w").network is None


@pytest.mark.parametrize("named", [{}, {"trees": FORMER}])
def test_weights_over_link_trees_are_refused(tmp_path, named):
    Weights(with_network().weights, features.select("all"), network=shipped("languages").network).save(tmp_path / "w")
    text = json.loads((tmp_path / "w").read_text())
    del text["trees"]
    (tmp_path / "w").write_text(json.dumps(text | named))
    with pytest.raises(DataError, match=r"w: its weights were learned over link trees, .*; learn them again"):
        load_weights(tmp_path / "w")
