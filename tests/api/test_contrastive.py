"""The contrastive aligner from Python: the same weights and links as the command, immutable, shared by threads."""

import pickle

import numpy as np
import pytest

import aligntools as at
from tests import models
from tests.cli.running import ran, run
from tests.conftest import SAMPLES
from tests.listing import lines, pharaoh


@pytest.fixture(scope="module")
def text():
    return lines("de-en.de"), lines("de-en.en")


@pytest.fixture(scope="module")
def base():
    return at.load(models.model("fast"))


@pytest.fixture(scope="module")
def model(base, text):
    return at.train_contrastive_aligner(*text, aligner=base, sentences=40, passes=1)


def test_what_the_command_learns_and_writes(base, model, text, tmp_path):
    base.save(tmp_path / "model")
    done = ran(
        "contrastive-align", "-q", "-m", tmp_path / "model", "-i", SAMPLES / "de-en.txt", "--sentences", "40",
        "--passes", "1", "--save-weights", tmp_path / "weights",
    )  # fmt: skip
    model.save_weights(tmp_path / "own")
    assert (tmp_path / "own").read_bytes() == (tmp_path / "weights").read_bytes()
    assert pharaoh(model.align_batch(*text)) == done.stdout.decode().splitlines()
    read = at.ContrastiveAligner.load(tmp_path / "weights", at.Aligner.load(tmp_path / "model"))
    assert pharaoh(read.align_batch(SAMPLES / "de-en.txt")) == done.stdout.decode().splitlines()
    assert read.weights.by_name == model.weights.by_name


def test_it_trains_a_base_model_of_its_own(text):
    steps = []
    model = at.train_contrastive_aligner(
        *text, fast=True, case_sensitive=True, sentences=10, passes=1, seed=3, progress=steps.append
    )
    assert model.aligner.settings.views == (5,)
    assert model.aligner.settings.seed == 3
    assert not model.aligner.model.lowercase
    assert {"hmm", "learning"} <= {step.stage for step in steps}
    assert model.weights.about["pairs"] == 10
    assert model.report is None


def test_weights_from_gold_links(base, text):
    options = {"aligner": base, "features": "posterior,link-count,mismatch", "folds": 2}
    by_file = at.train_contrastive_aligner(*text, gold=SAMPLES / "de-en.wa", **options)
    assert list(by_file.weights.by_name) == ["link-count", "posterior", "mismatch"]
    assert 0 < by_file.report.fitted <= by_file.report.validated < 0.2
    assert by_file.report.base < 0.2
    gold = [[(i, i) for i in range(3)]] * 5
    found = at.train_contrastive_aligner(*text, gold=gold, **options).weights
    assert found.about["pairs"] == 5
    assert found.by_name != by_file.weights.by_name
    with pytest.raises(at.DataError, match="241 sentence pairs, but the text has 240"):
        at.train_contrastive_aligner(*text, gold=[[]] * 241, **options)
    with pytest.raises(at.DataError, match="past the source sentence"):
        at.train_contrastive_aligner(*text, gold=[[(99, 0)]], **options)


def test_a_model_that_does_not_change(model, text, base):
    for name in ("aligner", "weights", "report"):
        with pytest.raises(AttributeError):
            setattr(model, name, None)
    with pytest.raises(AttributeError):
        model.weights.search = None
    with pytest.raises(ValueError, match="read-only"):
        model.weights.values[0] = 1.0
    assert pickle.loads(pickle.dumps(model)).weights.search == model.weights.search
    found = list(model.align_batch(*text))
    assert len(found) == 240
    assert [str(model.align(s, t)) for s, t in zip(*(side[:10] for side in text), strict=True)] == pharaoh(found[:10])
    a = found[0]
    assert a.links == list(a)
    assert len(a.probabilities) == len(a.links)
    assert ((a.probabilities >= 0) & (a.probabilities <= 1)).all()
    assert a.forward is None
    assert a.scores.forward < 0


def test_search_of_saved_weights_can_be_changed(base, model, text, tmp_path):
    model.save_weights(tmp_path / "weights")
    wide = at.ContrastiveAligner.load(tmp_path / "weights", base, beam=8, constraint="itg")
    assert (wide.weights.search.beam, wide.weights.search.constraint) == (8, "itg")
    np.testing.assert_array_equal(wide.weights.values, model.weights.values)
    for a in wide.align_batch(*text):  # one-to-one
        assert len({i for i, _ in a}) == len({j for _, j in a}) == len(a)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "crosses"}, "no feature 'crosses'"), ({"noise": "none"}, "noise is one of shuffle"),
        ({"start": "zero"}, "zero: cannot be opened"),
        ({"density": "high"}, "density is one of"),
        ({"method": "sgd"}, "method is one of"), ({"constraint": "tree"}, "constraint is one of"),
    ],
)  # fmt: skip
def test_what_does_not_exist_is_refused_before_anything_is_trained(options, message):
    steps = []
    with pytest.raises((at.UsageProblem, at.ModelError), match=message):
        at.train_contrastive_aligner(["a b"], ["c d"], progress=steps.append, **options)
    assert not steps


def test_gold_links_that_do_not_fit_are_refused_before_anything_is_trained(tmp_path):
    steps, gold, text = [], tmp_path / "gold", tmp_path / "text"
    gold.write_text("0-0 1-9\n")
    text.write_text("a b ||| c d\n")
    with pytest.raises(at.DataError, match="gold:1: link 1-9 points past the target"):
        at.train_contrastive_aligner(["a b"], ["c d"], gold=gold, progress=steps.append)
    assert not steps
    done = run("contrastive-align", "-i", text, "--gold", gold, "--save-model", tmp_path / "model")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"gold:1: link 1-9 points past the target" in done.stderr
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("features", ["all", "paper"])
def test_there_are_as_many_links_as_the_base_model_decides_on(base, text, features):
    def count(links):
        return sum(map(len, links))

    model = at.train_contrastive_aligner(*text, aligner=base, features=features, sentences=240, passes=0)
    own, by_mean = (count(base.align_batch(*text, symmetrize=way)) for way in ("joint", "mean"))
    assert count(model.align_batch(*text)) == own != by_mean


@pytest.mark.slow
def test_a_second_round_by_default(text):
    whole = at.read_bitext(*text)
    given = {"sentences": 20, "passes": 0}
    once, twice = (at.train_contrastive_aligner(whole, rounds=n, **given) for n in (1, 2))
    usual = at.train_contrastive_aligner(*text, **given)
    assert pharaoh(usual.align_batch(*text)) == pharaoh(twice.align_batch(*text))
    first = at.train_contrastive_aligner(whole, aligner=at.train_aligner(whole), **given)
    assert pharaoh(first.align_batch(*text)) == pharaoh(once.align_batch(*text)) != pharaoh(twice.align_batch(*text))


def test_rounds(text, base):
    whole = at.read_bitext(*text)
    first = at.train_aligner(whole).model
    paper = at.train_contrastive_aligner(whole, start="paper", sentences=5, passes=0).model
    for one, other in zip(paper.views, first.views, strict=True):
        np.testing.assert_array_equal(one.lexicon.forward, other.lexicon.forward)
    with pytest.raises(at.UsageProblem, match="a start other than paper"):
        at.train_contrastive_aligner(whole, start="paper", rounds=2)
    with pytest.raises(at.UsageProblem, match="taken as it is"):
        at.train_contrastive_aligner(*text, aligner=base, rounds=2)
    with pytest.raises(at.UsageProblem, match="needs the feature trees"):
        at.train_contrastive_aligner(*text, features="paper", rounds=2)
    with pytest.raises(at.UsageProblem, match="rounds"):
        at.train_contrastive_aligner(*text, rounds=0)
    steps = []
    at.train_contrastive_aligner(
        *(side[:40] for side in text), rounds=3, sentences=5, passes=0, progress=steps.append
    )  # fmt: skip
    trained = [s for s in steps if s.total is not None]
    assert [s.done for s in trained] == list(range(1, trained[0].total + 1))
    assert {s.total for s in trained} == {len(trained)}
    one = at.train_aligner(*text, fast=True, direction="forward")
    with pytest.raises(at.UsageProblem, match="one direction alone"):
        at.train_contrastive_aligner(*text, aligner=one)
