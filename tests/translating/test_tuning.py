"""Rounds of decoding and optimizing, on forests whose best weights are known."""

import json

import numpy as np
import pytest

from aligntools.formats.text.corpus import Side
from aligntools.ground.errors import DataError, ModelError
from aligntools.ground.parallel import Pool
from aligntools.translating.decoding.system_tables import COUNTS
from aligntools.translating.forest import derivations, hypergraph
from aligntools.translating.translation_weights import TranslationWeights, default_weights, in_order, read_weights
from aligntools.translating.tuning import linear_bleu, tuning
from tests.translating.making import FEATURES, arrays, forest

HIDDEN = np.array([1.0, -0.5, 0.7, -1.0])
START = np.array([-0.2, 0.1, 0.1, 0.3])


@pytest.fixture(scope="module")
def part():
    """Forests whose references are what the hidden weights say; every third has none, but a blank line."""
    rng = np.random.default_rng(1)
    made = [None if k % 7 == 3 else forest(rng, levels=4, width=6, words=40) for k in range(40)]
    h = arrays(made)
    best = derivations.best(h, hypergraph.edge_scores(h, HIDDEN), FEATURES)
    lengths = np.zeros(len(made), np.int64)
    lengths[np.diff(best.offsets) > 0] = np.diff(best.word_offsets)
    side = Side(best.words, np.concatenate([[0], np.cumsum(lengths)]))
    references = linear_bleu.References.of([side])
    return tuning.TuningSet(lambda weights: h, references, np.arange(len(made)), np.ones(len(made)))


CASES = [
    {"method": "mert"},
    {"method": "likelihood"},
    {"method": "mira", "step": 0.01},
    {"method": "mira", "loss": "sentence", "step": 0.01},
    {"method": "perceptron", "step": 0.1},
    {"loss": "corpus"},
    {"loss": "sentence"},
    {"loss": "linear"},
    {"loss": "corpus", "forest": True},
    {"loss": "linear", "forest": True, "quench": 4.0},
    {"loss": "sentence", "temperature": 0.01},
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_way_finds_most_of_what_the_hidden_weights_say(part, case):
    rounds = []
    settings = tuning.TuningSettings(n_best=8, rounds=6, patience=6, **case)
    found = tuning.tune([part], START, settings, report=rounds.append)
    assert found.done
    assert [r.number for r in rounds] == list(range(len(rounds)))
    assert rounds[0].score < 60
    assert max(r.score for r in rounds) > 88
    h = part.decode(None)
    best = derivations.best(h, hypergraph.edge_scores(h, found.best), FEATURES)
    counts = linear_bleu.corpus_statistics(best, part.references)
    again = 100 * tuning.bleu.corpus_bleu(counts)
    assert again == pytest.approx(found.best_round.score, abs=1e-9)


def same(a, b):
    assert a.rounds == b.rounds
    assert a.weights.tobytes() == b.weights.tobytes()
    assert a.best.tobytes() == b.best.tobytes()


@pytest.mark.parametrize(
    "case",
    [
        {"method": "mert"}, {"loss": "corpus"}, {"loss": "linear", "forest": True}, {"method": "mira"},
        {"method": "perceptron"},
    ],
    ids=str,
)  # fmt: skip
def test_an_interrupted_run_goes_on_to_the_same_weights(part, case, tmp_path):
    settings = tuning.TuningSettings(n_best=4, rounds=4, patience=9, restarts=2, **case)
    whole = tuning.tune([part], START, settings)
    path = str(tmp_path / "state")

    class Interrupted(Exception):
        pass

    def keep(progress):
        tuning.save_state(path, "own", progress)
        if len(progress.rounds) == 2:
            raise Interrupted

    with pytest.raises(Interrupted):
        tuning.tune([part], START, settings, keep=keep)
    kept = tuning.load_state(path, "own")
    assert len(kept.rounds) == 2
    same(tuning.tune([part], kept, settings, keep=lambda p: tuning.save_state(path, "own", p)), whole)
    ended = tuning.load_state(path, "own")
    assert ended.done
    same(tuning.tune([part], ended, settings), whole)
    with pytest.raises(ModelError, match="other text, weights or options"):
        tuning.load_state(path, "another")


@pytest.mark.parametrize(
    "case",
    [
        {"method": "mert"}, {"loss": "corpus"}, {"method": "likelihood"}, {"method": "mira"}, {"method": "perceptron"},
    ],
    ids=str,
)  # fmt: skip
def test_a_frozen_feature_keeps_its_weight_and_parts_count_by_theirs(part, case):
    asked = []

    def decode(weights):
        asked.append(weights.copy())
        return part.decode(weights)

    other = tuning.TuningSet(decode, part.references, part.groups, part.shares, counted=False)
    settings = tuning.TuningSettings(n_best=4, rounds=3, gamma=2.0, restarts=1, **case)
    found = tuning.tune([part, other], START, settings, frozen={1: -0.6})
    assert len(asked) > 2
    assert all(weights[1] == pytest.approx(-0.3) for weights in asked)
    assert all(len(r.bleu) == 2 and r.bleu[0] == pytest.approx(r.bleu[1]) for r in found.rounds)
    assert all(r.score == pytest.approx(r.bleu[0]) for r in found.rounds)


def test_priors_patience_and_threads(part):
    for prior, held in (("start", START), ("zero", np.zeros(FEATURES))):
        found = tuning.tune([part], START, tuning.TuningSettings(rounds=2, l2=1e4, prior=prior))
        assert found.weights == pytest.approx(held, abs=1e-3)
    found = tuning.tune([part], HIDDEN, tuning.TuningSettings(rounds=20, patience=1))
    assert found.rounds[0].score == pytest.approx(100)
    assert len(found.rounds) == 2
    assert found.best.tolist() == HIDDEN.tolist()
    assert tuning.fingerprint(tuning.TuningSettings(), HIDDEN) != tuning.fingerprint(
        tuning.TuningSettings(seed=2), HIDDEN
    )
    assert tuning.fingerprint(tuning.TuningSettings(), HIDDEN) != tuning.fingerprint(tuning.TuningSettings(), START)
    for case in ({"loss": "sentence"}, {"loss": "corpus", "forest": True}):
        settings = tuning.TuningSettings(n_best=4, rounds=2, **case)
        with Pool(3) as pool:
            same(tuning.tune([part], START, settings, pool=pool), tuning.tune([part], START, settings))


NAMES = ["lm", "PhraseEgivenF", *COUNTS, "DT_NN"]


def load(path, names):
    """Return a file's weights in the order of a system's features."""
    return in_order(path, read_weights(path)[0], names)


def test_weights_that_are_saved_or_no_json(tmp_path):
    values = np.arange(len(NAMES)) / 7
    TranslationWeights(dict(zip(NAMES, values, strict=True)), {"bleu": 40.5}).save(tmp_path / "w")
    assert np.array_equal(load(tmp_path / "w", NAMES), values)
    assert np.array_equal(load(tmp_path / "w", NAMES[::-1]), values[::-1])
    assert read_weights(tmp_path / "w") == (dict(zip(NAMES, values, strict=True)), {"bleu": 40.5})
    for data in (b"", b"{", b"\xff", b"[1]"):
        (tmp_path / "w").write_bytes(data)
        with pytest.raises(DataError, match="is not a file of translation weights"):
            read_weights(tmp_path / "w")
    weights = dict(zip(NAMES, default_weights(NAMES), strict=True))
    assert weights["lm"] > 0
    assert weights["PhraseEgivenF"] > 0
    assert weights["unknown"] < 0
    assert weights["DT_NN"] == 0


@pytest.mark.parametrize(
    ("change", "fragments"),
    [
        (lambda t: t.update(format="other"), ["is not a file of translation weights"]),
        (lambda t: t.update(kind="alignment"), ["is not a file of translation weights"]),
        (lambda t: t.update(version=9), ["has version 9, this program reads 1"]),
        (lambda t: t.pop("features"), ["has no 'features'"]),
        (lambda t: t["features"].update(lm="much"), ["the weight of 'lm' is \"much\"; a number was expected"]),
        (lambda t: t["features"].update(lm=True), ["the weight of 'lm' is true"]),
        (lambda t: t["features"].update(lm=float("inf")), ["the weight of 'lm' is Infinity"]),
        (lambda t: t["features"].pop("lm"), ["no weight for the feature 'lm';"]),
        (lambda t: [t["features"].pop(n) for n in NAMES[:3]], ["no weight for the feature 'lm' and 2 more;"]),
        (lambda t: t["features"].update(b=1, a=2), ["a weight for 'a' and 1 more, which the system does not have"]),
    ],
)
def test_what_does_not_fit_is_one_line(change, fragments, tmp_path):
    TranslationWeights(dict.fromkeys(NAMES, 1.0)).save(tmp_path / "w")
    text = json.loads((tmp_path / "w").read_text())
    change(text)
    (tmp_path / "w").write_text(json.dumps(text))
    with pytest.raises(DataError) as error:
        load(str(tmp_path / "w"), NAMES)
    assert "\n" not in str(error.value)
    for fragment in [str(tmp_path / "w"), *fragments]:
        assert fragment in str(error.value)
