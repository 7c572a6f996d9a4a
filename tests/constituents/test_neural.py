"""Neural and compound PCFGs: rules, expectations and derivatives, word by word."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from aligntools.constituents.inducing.model import DenseRules
from aligntools.constituents.neural.charts import best_tree, expectations
from aligntools.constituents.neural.layers import KEPT, KEPT_SQUARES, LEAST, LONGEST, RATE, adam
from aligntools.constituents.neural.learning import STEP, batches, climb, divergence, learn, train
from aligntools.constituents.neural.model import NeuralGrammar, is_mark, terminal
from aligntools.constituents.neural.network import Sizes, encode, heads, scores_of_symbols
from aligntools.constituents.settings import GrammarDecisions, InducedGrammarSettings
from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground.em import normalized
from aligntools.ground.errors import ModelError, UsageProblem
from aligntools.ground.parallel import Pool
from tests import naive_constituents_dense, naive_neural


def random_rules(rng, symbols, hidden, words):
    size = symbols + hidden
    rows = rng.random((1, symbols)), rng.random((symbols, size * size)) ** 3
    return DenseRules.of_rows(*map(normalized, rows)), rng.random((words, hidden)) ** 2 / 100 + 1e-6


def random_arrays(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, 0.5, shape) for name, shape in sizes.shapes().items()}


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 2), st.integers(1, 3), st.integers(2, 4))
def test_expectations_are_those_of_all_trees(seed, symbols, hidden, n):
    model, emissions = random_rules(np.random.default_rng(seed), symbols, hidden, n)
    value, tables, likely = expectations(model.tables(), emissions)
    total, roots, rules, tags, spans = naive_neural.hidden(model.roots, model.rules, emissions)
    assert value == pytest.approx(math.log(total))
    wanted = np.zeros_like(model.roots), np.zeros_like(model.rules), np.zeros_like(emissions)
    for array, counts in zip(wanted, (roots, rules, tags), strict=True):
        for key, count in counts.items():
            array[key] = count
    np.testing.assert_allclose(tables.roots, wanted[0], atol=1e-12)
    np.testing.assert_allclose(DenseRules.of_tables(tables).rules * model.rules, wanted[1], atol=1e-12)
    np.testing.assert_allclose(likely, wanted[2], atol=1e-12)
    nodes, score, posteriors = best_tree(model.tables(), emissions)
    assert score == pytest.approx(value)
    np.testing.assert_allclose(posteriors, likely, atol=1e-12)
    own = sum(spans.get((i, j), 0) for i, j, symbol in nodes.tolist() if symbol >= 0)
    assert own == pytest.approx(naive_constituents_dense.best_value([0] * n, spans))


@pytest.mark.parametrize("latent", [0, 3])
def test_rules_are_those_of_the_equations(latent):
    sizes = Sizes(3, 4, 6, 5, latent)
    arrays, rng = random_arrays(sizes), np.random.default_rng(1)
    z = rng.normal(size=latent) if latent else None
    found = heads(arrays, scores_of_symbols(arrays), z)
    roots, pairs, words = naive_neural.rules(arrays, [] if z is None else z)
    np.testing.assert_allclose(np.exp(found.roots[0]), roots)
    np.testing.assert_allclose(np.exp(found.rules), pairs)
    np.testing.assert_allclose(np.exp(found.words), words)
    probable = found.probabilities()
    np.testing.assert_allclose(probable.rules[1, 2, 5], pairs[1][2 * 7 + 5])
    np.testing.assert_allclose(found.emissions(np.array([4, 0]))[0, 3], words[3][4])


def test_the_encoder_is_that_of_the_equations():
    sizes = Sizes(2, 2, 6, 4, 3)
    arrays = random_arrays(sizes)
    sentences = np.array([[1, 5, 0, 2], [3, 3, 4, 1]])
    means, log_variances, _ = encode(arrays, sentences)
    for k, words in enumerate(sentences.tolist()):
        mean, log_variance = naive_neural.encode(arrays, words)
        np.testing.assert_allclose(means[k], mean)
        np.testing.assert_allclose(log_variances[k], log_variance)
    # of normal distributions, the integral of q log(q / p)
    at = np.linspace(-30, 30, 200_001)
    total = 0.0
    for mean, log_variance in zip(means.ravel(), log_variances.ravel(), strict=True):
        log_q = -0.5 * ((at - mean) ** 2 / math.exp(log_variance) + log_variance)
        total += trapezoid(np.exp(log_q) * (log_q + at**2 / 2), at) / math.sqrt(2 * math.pi)
    assert divergence(means, log_variances) == pytest.approx(total)


@pytest.mark.parametrize("latent", [0, 3])
def test_derivatives_are_those_of_finite_differences(latent):
    sizes = Sizes(3, 4, 6, 5, latent)
    arrays, rng = random_arrays(sizes), np.random.default_rng(2)
    sentences = rng.integers(6, size=(2, 5))
    noise = rng.normal(size=(2, latent)) if latent else None
    _, found = climb(arrays, sentences, noise)
    for name, array in arrays.items():
        flat, own = array.reshape(-1), found[name].reshape(-1)
        for k in rng.choice(len(flat), min(len(flat), 3), replace=False):
            before, values = flat[k], []
            for step in (-1e-5, 1e-5):
                flat[k] = before + step
                values.append(climb(arrays, sentences, noise)[0])
            flat[k] = before
            assert (values[0] - values[1]) / 2e-5 == pytest.approx(own[k], rel=1e-5, abs=1e-7), (name, k)


def test_steps_are_those_of_adam():
    rng = np.random.default_rng(3)
    array, mean, square = rng.normal(size=4), np.zeros(4), np.zeros(4)
    arrays = {"a": array[:2].copy(), "b": array[2:].copy()}
    make_step = adam(arrays)
    for step in range(1, 6):
        by = rng.normal(size=4) * step
        make_step({"a": by[:2].copy(), "b": by[2:].copy()})
        by *= min(1, LONGEST / np.linalg.norm(by))
        mean, square = KEPT * mean + (1 - KEPT) * by, KEPT_SQUARES * square + (1 - KEPT_SQUARES) * by**2
        root = np.sqrt(square / (1 - KEPT_SQUARES**step))
        array = array - RATE * mean / (1 - KEPT**step) / (root + LEAST)
    np.testing.assert_allclose(np.concatenate([arrays["a"], arrays["b"]]), array)


def test_passes_and_words():
    lengths = np.random.default_rng(4).integers(2, 6, size=50)
    found = batches(lengths, np.random.default_rng(5))
    assert sorted(np.concatenate(found).tolist()) == list(range(50))
    assert all(len(set(lengths[one].tolist())) == 1 and len(one) <= STEP for one in found)
    assert len(found) <= 50 // STEP + 4
    assert [terminal(word) for word in ("The", "1,234.5", "B2", "ÄB")] == ["the", "0", "b2", "äb"]
    assert all(map(is_mark, [".", "--", "``", "''", "«", "-LRB-", "...", "。"]))
    assert not any(map(is_mark, ["%", "&", "#", "$", "-1", "a.", "'s"]))


def test_long_sentences_and_those_without_trees():
    sizes = Sizes(3, 4, 9, 8, 0)
    arrays = {name: array.astype(np.float32) for name, array in random_arrays(sizes).items()}
    arrays["words.out.weights"] *= 40  # probabilities that are no float32
    sentence = np.random.default_rng(6).integers(9, size=(1, 150)).astype(np.int32)
    value, by = climb(arrays, sentence)
    assert -1e5 < value < -200
    assert all(np.isfinite(array).all() for array in by.values())
    model, _ = trained(terminals="words")
    model.arrays["words.out.bias"][0] = -1e4  # nothing has a word that is not known
    found = model.parse([["new", "word", "here"], ["new"], ["dog", "dog"]], None)
    assert found.uncovered.tolist() == [True, False, False]
    assert found.trees[0].words() == ["new", "word", "here"]
    assert list(found.trees[0].spans()) == [("TOP", 0, 3), ("X", 0, 3), ("X", 1, 3)]
    assert found.scores[0] == -np.inf


@pytest.mark.parametrize("latent", [0, 2])
def test_the_objective_rises_whatever_the_threads(latent):
    """Sentences a^n b^n c, n from 1."""
    rng = np.random.default_rng(0)
    sentences = [np.array([1] * n + [2] * n + [3], np.int32) for n in rng.geometric(0.5, size=24)]
    sizes = Sizes(3, 4, 4, 8, latent)
    alone = learn(sentences, sizes, 4, [1, 0])
    assert len(alone.values) == 4
    assert alone.values[-1] > alone.values[0]
    with Pool(3) as pool:
        told = []
        again = learn(sentences, sizes, 4, [1, 0], pool, lambda step, value: told.append((step, value)))
    assert again.values == alone.values
    assert told == list(enumerate(alone.values, 1))
    assert all(again.model[name].tobytes() == array.tobytes() for name, array in alone.model.items())
    assert learn(sentences, sizes, 1, [2, 0]).values != alone.values[:1]


TAGS = [["DT", "NN", "VB", "."], ["DT", "JJ", "NN", "VB", "DT", "NN"], ["``", "NN", "VB", "''", "."], ["VB"]] * 3
WORDS = [
    ["The", "dog", "ran", "."],
    ["A", "big", "cat", "saw", "12", "dogs"],
    ["``", "Rain", "fell", "''", "."],
    ["Go"],
] * 3


def trained(words=WORDS, tags=TAGS, **options):
    small = {"symbols": 3, "preterminals": 4, "width": 8, "epochs": 2, "estimator": "compound"}
    found = train(words, tags, InducedGrammarSettings(**small | options), about={"column": "xpos"})
    assert found is not None
    return found


def test_what_it_is_trained_on():
    _, report = trained()
    assert (report["sentences"], report["words"], report["tags"], report["steps"]) == (9, 33, 4, 2)
    assert report["skipped"] == {"too short": 3}
    assert trained(punct="keep")[1]["tags"] == 7
    model, report = trained(terminals="words")
    assert (report["words"], report["tags"]) == (33, 11)
    assert model.numbers(["DOG", "9,000", "unseen"], None).tolist()[2] == 0
    assert model.vocabulary.word(int(model.numbers(["9,000"], None)[0])) == "0"
    alone, report = trained(tags=None, terminals="words")
    assert report["words"] == 33
    assert alone.arrays["root"].tobytes() == model.arrays["root"].tobytes()
    assert train([["a"]], [["DT"]], InducedGrammarSettings(estimator="neural")) is None
    with pytest.raises(UsageProblem, match='needs estimator="neural" or'):
        InducedGrammarSettings(terminals="words").checked()
    with pytest.raises(UsageProblem, match="too many with a width of 1000"):
        trained(preterminals=500, width=1000)
    first, second = trained(restarts=1)[1]["objective"], trained(restarts=2)[1]["objective"]
    assert second >= first


@pytest.mark.parametrize("estimator", ["neural", "compound"])
def test_a_model_comes_back(tmp_path, estimator):
    model, _ = trained(estimator=estimator, terminals="words")
    model.save(tmp_path / "m")
    again = NeuralGrammar.load(tmp_path / "m")
    assert (again.sizes, again.settings) == (model.sizes, model.settings)
    first, second = model.parse(WORDS, TAGS), again.parse(WORDS, TAGS)
    assert list(map(str, first.trees)) == list(map(str, second.trees))
    np.testing.assert_array_equal(first.scores, second.scores)
    with Pool(2) as pool:
        assert list(map(str, again.parse(WORDS, TAGS, pool=pool).trees)) == list(map(str, first.trees))
    header, arrays = read_model(tmp_path / "m", NeuralGrammar.KIND)
    for change, more in (
        ({}, {"root": arrays["root"] * np.float32(np.inf)}),
        ({}, {"symbols": arrays["symbols"][:2].copy()}),
        ({"sizes": header["sizes"] | {"width": 0}}, {}),
        ({"sizes": header["sizes"] | {"latent": 1}}, {}),
        ({"settings": header["settings"] | {"terminals": "x"}}, {}),
        ({"settings": header["settings"] | {"column": "x"}}, {}),
        ({"settings": 3}, {}),
    ):
        write_model(tmp_path / "bad", NeuralGrammar.KIND, header | change, arrays | more)
        with pytest.raises(ModelError):
            NeuralGrammar.load(tmp_path / "bad")


def test_trees_have_all_words():
    model, _ = trained(terminals="words")
    texts = [["The", "dog", "ran", "."], [".", "."], [], ["dog"], ["The"] * 9]
    found = model.parse(texts, None, GrammarDecisions(max_length=8))
    assert [tree.words() for tree in found.trees] == texts
    assert found.flat.tolist() == [False] * 4 + [True]
    assert found.trees[0].tags()[3] == found.trees[1].tags()[0] == "PUNCT"
    assert found.trees[0].tags()[0][0] == "T"
    tags = model.parse(texts[:1], [["DT", "", "VB", "."]]).trees[0].tags()
    assert tags[0] == "DT"
    assert tags[1][0] == "T"
    of_tags, _ = trained(terminals="tags")
    with pytest.raises(UsageProblem, match="parses text with tags"):
        of_tags.parse(texts[:1])
    assert of_tags.parse(texts[:1], TAGS[:1]).trees[0].tags() == TAGS[0]
    assert of_tags.parse([[]], None).trees[0].words() == []
