"""Learning by jobs over parts in files: the same bytes as in memory, whoever does the jobs and ends meanwhile."""

import contextlib
import os
import shutil

import numpy as np
import pytest

import aligntools as at
from aligntools.ground.engines import Serial
from aligntools.ground.errors import ModelError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.processes import Processes
from aligntools.parsing import feature_space as features
from aligntools.parsing.feature_space import FeatureSpace
from aligntools.parsing.learning import training, treebank
from aligntools.parsing.learning.checkpoints import Checkpoint
from aligntools.parsing.learning.training import EntropyLoss, ExpectedLoss, InParts, ParserObjective, TreeLoss
from aligntools.parsing.settings import ParserSettings, TransferSettings, TreeConstraints
from aligntools.parsing.transfer import learning
from aligntools.store.stores import Store
from tests.ground.jobs import Dying
from tests.parsing.test_parser import TEXT, split
from tests.parsing.test_transfer import pairs, parser  # noqa: F401
from tests.places import SAMPLES

SETTINGS = ParserSettings(bits=10, l2=0.1, iterations=4, labels=False)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Cut these few sentences into many parts, and sums into chunks that are not those parts."""
    monkeypatch.setattr(training, "FEWEST", 60)
    monkeypatch.setattr(training, "MOST", 60)
    monkeypatch.setattr(training, "CHUNK", 100)


@contextlib.contextmanager
def engine_of(kind, folder, pool):
    if kind == "cluster":
        distributed = pytest.importorskip("distributed")
        from aligntools.ground.cluster import Cluster

        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
        with distributed.LocalCluster(processes=False, **options) as found:
            engine = Cluster(found.scheduler_address)
            yield engine
            engine.close()
        return
    make = {
        "serial": lambda: Serial(pool), "one": lambda: Processes(1), "two": lambda: Processes(2),
        "dying": lambda: Dying(folder, {"losses", "gradient"}),
        "dying over pairs": lambda: Dying(folder, {"transferring", "trees"}),
    }[kind]  # fmt: skip
    engine = make()
    try:
        yield engine
    finally:
        engine.close()


@contextlib.contextmanager
def in_parts(kind, folder):
    (folder / "parts").mkdir()
    with Pool(2) as pool, engine_of(kind, folder, pool) as engine:
        yield InParts(Store(str(folder / "parts")), engine, pool)


@pytest.fixture(scope="module")
def sentences():
    words, tags, offsets, heads, _ = split(TEXT * 4)
    return words, tags, offsets, heads


@pytest.fixture
def expected(sentences):
    return treebank.train(*sentences, None, SETTINGS)[0].weights.tobytes()


@pytest.mark.parametrize(
    "kind",
    [
        "serial",
        pytest.param("one", marks=pytest.mark.slow),
        pytest.param("two", marks=pytest.mark.slow),
        pytest.param("dying", marks=pytest.mark.slow),
        "cluster",
    ],
)
def test_the_same_parser(kind, sentences, expected, tmp_path):
    with in_parts(kind, tmp_path) as place:
        model, report = treebank.train(*sentences, None, SETTINGS, place.pool, parts=place)
    assert model.weights.tobytes() == expected
    assert report["steps"] == 4
    if kind == "dying":
        assert {"ended in losses", "ended in gradient"} <= set(os.listdir(tmp_path))
    left = {name.split(".")[0] for name in os.listdir(tmp_path / "parts")}
    assert left == {"loss"}  # nothing of an evaluation stays


def test_value_and_gradient_of_all_losses(sentences, tmp_path):
    words, tags, offsets, heads = sentences
    model = treebank.train(*sentences, None, SETTINGS)[0]
    x, trees = model.sentences(words, tags, offsets), TreeConstraints(projective=False)
    marginals = np.random.default_rng(1).random(int(x.edges[-1]))
    losses = [TreeLoss(x, heads, trees), ExpectedLoss(x, marginals, trees), EntropyLoss(x, trees, 0.3, 2.0),
              TreeLoss(x.part(0, 0), heads[:0], trees)]  # fmt: skip
    space = FeatureSpace.fitted(features.TAGS, x, 9)
    weights = np.random.default_rng(2).normal(size=space.size)
    with in_parts("serial", tmp_path) as place:
        found = ParserObjective(space, losses, 0.5, parts=place)
        assert len(place.keep("loss", x.edges, losses[0].part)) > 3
        whole = ParserObjective(space, losses, 0.5)
        assert found.active().tolist() == whole.active().tolist()
        value, gradient = found(weights)
    assert value == whole(weights)[0]
    assert gradient.tobytes() == whole(weights)[1].tobytes()


@pytest.mark.parametrize("method", ["full", "projected"])
@pytest.mark.parametrize("kind", ["serial", pytest.param("dying over pairs", marks=pytest.mark.slow)])
def test_the_same_transferred_parser(method, kind, parser, pairs, tmp_path):  # noqa: F811
    settings = TransferSettings(method=method, bits=8, min_length=1, iterations=3, rounds=2, l2=1.0)
    plain = pairs[1] if method == "full" else None
    whole, _ = learning.train([learning.TransferSource(parser, *pairs)], plain, settings)
    with in_parts(kind, tmp_path) as place:
        stages = []
        note = lambda stage, *_: stages.append(stage)  # noqa: E731
        sides = [learning.TransferSource(parser, *pairs)]
        found, _ = learning.train(sides, plain, settings, place.pool, note, parts=place)
    assert found.weights.tobytes() == whole.weights.tobytes()
    assert len({*stages}) == (2 if method == "full" else 3)
    ended = "ended in transferring" if method == "full" else "ended in trees"
    assert (ended in os.listdir(tmp_path)) == (kind != "serial")


@pytest.mark.parametrize("method", ["full", "projected"])
def test_a_stopped_training_goes_on_to_the_same_parser(method, parser, pairs, tmp_path):  # noqa: F811
    """In memory, where it may have been stopped again, and in parts."""
    how = {"method": method, "bits": 8, "min_length": 1, "iterations": 9, "tolerance": 0.0, "rounds": 1, "l2": 1.0}
    sides, plain = [learning.TransferSource(parser, *pairs)], pairs[1] if method == "full" else None
    settings = TransferSettings(**how)
    whole, _ = learning.train(sides, plain, settings)

    class Stop(Exception):
        pass

    def stop(stage, number, _):
        if (stage, number) in (("entropy", 5), ("round 1", 3)):
            raise Stop

    with pytest.raises(Stop):
        learning.train(sides, plain, settings, progress=stop, checkpoint=Checkpoint(str(tmp_path / "one")))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    steps = []
    note = lambda stage, number, _: steps.append((stage, number))  # noqa: E731
    with Pool(3) as pool:
        again, _ = learning.train(sides, plain, settings, pool, note, Checkpoint(str(tmp_path / "one")))
    with in_parts("serial", tmp_path) as place:
        two = Checkpoint(str(tmp_path / "two"))
        parts, _ = learning.train(sides, plain, settings, place.pool, note, two, parts=place)
        with pytest.raises(ModelError, match="other text or options"):
            learning.train(sides, plain, TransferSettings(**how | {"l2": 3.0}), checkpoint=two, parts=place)
    assert again.weights.tobytes() == parts.weights.tobytes() == whole.weights.tobytes()
    assert not {("train", 1), ("seed", 1)} & {*steps}  # what was done is not done again


def test_the_public_functions_take_workers(tmp_path):
    bank = tmp_path / "bank"
    bank.write_text("\n\n".join((SAMPLES / "en.conllu").read_text().split("\n\n")[:12]) + "\n\n")
    options = {"iterations": 2, "bits": 12, "labels": False, "threads": 2}
    plain = at.train_parser(bank, **options)
    for where in ({"workers": 1}, {"tmpdir": tmp_path}):
        found = at.train_parser(bank, **options, **where)
        assert found.model.weights.tobytes() == plain.model.weights.tobytes()
    assert os.listdir(tmp_path) == ["bank"]
    with pytest.raises(UsageProblem, match="workers are processes on this machine"):
        at.train_parser(bank, workers=2, cluster="tcp://127.0.0.1:9")
    with pytest.raises(UsageProblem, match="is not a directory"):
        at.train_parser(bank, tmpdir=tmp_path / "none")
    with pytest.raises(UsageProblem, match="nothing for workers to do"):
        at.transfer_parser(plain, method="direct", workers=2)
