"""A grammar learned from tags alone, against all trees."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.constituents.inducing.model import Brackets, DenseRules, InducedGrammar, best_spans, expected_counts
from aligntools.constituents.inducing.training import learn, train
from aligntools.constituents.settings import InducedGrammarSettings
from aligntools.ground.em import normalized
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from tests import naive_constituents_dense as naive


def random_rules(rng, symbols, tags):
    size = symbols + tags
    rows = rng.random((1, symbols)), rng.random((symbols, size * size)) ** 3
    return DenseRules.of_rows(*map(normalized, rows))


def text(sentences):
    return np.concatenate(sentences).astype(np.int32), np.append(0, np.cumsum([len(s) for s in sentences]))


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 3), st.lists(st.integers(2, 5), min_size=1, max_size=3)
)
def test_expectations_are_those_of_all_trees_that_cross_no_bracket(seed, symbols, n_tags, lengths):
    rng = np.random.default_rng(seed)
    model = random_rules(rng, symbols, n_tags)
    sentences = [rng.integers(n_tags, size=n) for n in lengths]
    ends = [sorted(rng.choice(n + 1, 2, replace=False).tolist()) for n in lengths]
    brackets = [[tuple(own)] if some else [] for own, some in zip(ends, rng.random(len(lengths)) < 0.6, strict=True)]
    counts, log_likelihood, without = expected_counts(model, *text(sentences), brackets=Brackets.of(brackets))
    found = [
        naive.expectations(model.roots, model.rules, s.tolist(), own)
        for s, own in zip(sentences, brackets, strict=True)
    ]
    assert without == 0
    assert log_likelihood == pytest.approx(sum(math.log(total) for total, *_ in found))
    roots, rules = np.zeros_like(model.roots), np.zeros_like(model.rules)
    for _, by_root, uses, _ in found:
        for key, value in by_root.items():
            roots[key] += value
        for key, value in uses.items():
            rules[key] += value
    np.testing.assert_allclose(counts.roots, roots, atol=1e-12)
    np.testing.assert_allclose(counts.rules, rules, atol=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_decoding_expects_most_spans(seed, n):
    rng = np.random.default_rng(seed)
    model = random_rules(rng, 2, 3)
    tags = rng.integers(3, size=n)
    *_, spans = naive.expectations(model.roots, model.rules, tags.tolist())
    nodes, _ = best_spans(model, *text([tags]))
    assert len(nodes) == 2 * n - 1
    assert sorted((i, j) for i, j, symbol in nodes.tolist() if symbol == -1) == [(i, i + 1) for i in range(n)]
    own = sum(spans[i, j] for i, j, symbol in nodes.tolist() if symbol >= 0)
    assert own == pytest.approx(naive.best_value(tags.tolist(), spans))


def test_long_sentences_and_those_without_trees():
    rng = np.random.default_rng(1)
    model = random_rules(rng, 3, 30)
    words = text([rng.integers(30, size=200)])
    counts, log_likelihood, without = expected_counts(model, *words)
    assert without == 0
    assert -2000 < log_likelihood < -745, "its probability is no float64"
    assert counts.rules.sum() == pytest.approx(199)
    assert counts.roots.sum() == pytest.approx(1)
    model = random_rules(np.random.default_rng(2), 2, 3)
    rules = model.rules.copy()
    rules[:, 2 + 2, :] = rules[:, :, 2 + 2] = 0  # nothing has the last tag
    words = text([[0, 1, 2], [0, 1]])
    counts, log_likelihood, without = expected_counts(DenseRules(model.roots, rules), *words)
    assert without == 1
    assert counts.rules.sum() == pytest.approx(1)
    assert math.isfinite(log_likelihood)
    nodes, _ = best_spans(DenseRules(model.roots, rules), *words)
    assert nodes[:5].tolist() == [[0, 3, -2], [0, 1, -1], [1, 3, -2], [1, 2, -1], [2, 3, -1]]
    assert (nodes[5:, 2] >= -1).all()


@pytest.mark.parametrize("estimator", ["em", "vb"])
def test_the_objective_rises_whatever_the_threads(estimator):
    rng = np.random.default_rng(3)
    words = text([rng.integers(4, size=n) for n in rng.integers(2, 9, size=60)])
    chosen = InducedGrammarSettings(symbols=3, estimator=estimator, prior=0.1, iterations=12, restarts=2)
    alone = learn(*words, 4, chosen)
    values = alone.values[1 if estimator == "vb" else 0 :]
    assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(values))
    assert len(values) > 5
    with Pool(3) as pool:
        assert learn(*words, 4, chosen, pool).model.rules.tobytes() == alone.model.rules.tobytes()
    first = learn(*words, 4, InducedGrammarSettings(**{**chosen.header(), "restarts": 1}))
    assert alone.values[-1] >= first.values[-1]


def test_what_a_grammar_made_is_found():
    """Sentences a^n b^n, n from 1: the spans are those of the pairs, from the inside."""
    rng = np.random.default_rng(0)
    words = text([[0] * n + [1] * n for n in rng.geometric(0.5, size=200)])
    fit = learn(*words, 2, InducedGrammarSettings(symbols=2, prior=0.001, restarts=3, iterations=200))
    nodes, _ = best_spans(fit.model, *text([[0, 0, 0, 1, 1, 1]]))
    spans = {(i, j) for i, j, symbol in nodes.tolist() if symbol >= 0}
    assert {(0, 6), (2, 4)} <= spans
    assert (1, 5) in spans


SENTENCES = [["DT", "NN", "VB", "."], ["DT", "JJ", "NN", "VB", "DT", "NN"], ["``", "NN", "VB", "''", "."], ["VB"]] * 5


def trained(**options):
    found = train(SENTENCES, InducedGrammarSettings(symbols=3, iterations=10, **options))
    assert found is not None
    return found


def test_brackets_hold_the_spans_and_know_nothing_of_punctuation():
    chosen = InducedGrammarSettings(symbols=3, iterations=10)
    tags = [["DT", "NN", "VB", "DT", "NN"], ["NN", "VB", "IN", "DT", "NN"]] * 10
    marked = [["``", "DT", "NN", "''", "VB", "DT", "NN", "."], ["NN", ",", "VB", "IN", "DT", ",", "NN", "."]] * 10
    model, _ = train(tags, chosen, spans=[[(0, 2), (2, 5)], [(0, 3), (2, 3)]] * 10)
    (first, second) = model.parse(tags[:2], tags[:2]).trees
    assert {(0, 2), (2, 5)} <= {span[1:] for span in first.spans()}
    assert (0, 3) in {span[1:] for span in second.spans()}
    other, _ = train(marked, chosen, spans=[[(0, 4), (4, 7), (7, 8)], [(0, 4), (3, 4)]] * 10)
    assert other.rules.rules.tobytes() == model.rules.rules.tobytes()


def test_a_model_comes_back(tmp_path):
    model, report = trained()
    assert (report["sentences"], report["words"], report["tags"]) == (15, 55, 4)
    assert report["skipped"] == {"too short": 5}
    model.save(tmp_path / "m")
    again = InducedGrammar.load(tmp_path / "m")
    words = [[f"w{k}" for k in range(len(tags))] for tags in SENTENCES]
    found = again.parse(words, SENTENCES).trees
    assert found == model.parse(words, SENTENCES).trees
    assert [tree.words() for tree in found] == words
    assert [tree.tags() for tree in found] == SENTENCES


def test_punctuation_stands_in_the_lowest_constituent_around_it():
    model, _ = trained()
    tags = ["``", "DT", ",", "NN", ":", "VB", "."]
    (tree,) = model.parse([list("abcdefg")], [tags]).trees
    bare = [(begin, end) for label, begin, end in tree.spans() if label != "TOP"]
    inner = min(bare, key=lambda span: span[1] - span[0])
    assert (1, 6) in bare, "quotes and stops at the ends are outside"
    assert inner in {(1, 4), (3, 6)}
    assert str(tree).startswith("(TOP (`` a) (X")


def test_odd_sentences_and_punctuation():
    model, _ = trained()
    one, none, other, marks = model.parse(
        [["a"], [], ["a", "b", "c"], ["-"]], [["VB"], [], ["XX", "YY", "VB"], [":"]]
    ).trees
    assert (str(one), none.children, str(marks)) == ("(TOP (VB a))", [], "(TOP (: -))")
    assert len([label for label, *_ in other.spans() if re.fullmatch(r"X\d+", label)]) == 2
    model, report = trained(punct="keep")
    assert report["words"] == 75
    (tree,) = model.parse([["a", "b", "c"]], [["NN", "VB", "."]]).trees
    assert len(list(tree.spans())) == 3
    assert train([["NN"], []]) is None
    assert train([["NN"] * 30]) is None
    with pytest.raises(UsageProblem, match="different tags"):
        train([[f"t{k}", f"u{k}"] for k in range(600)])
    with pytest.raises(UsageProblem, match="symbols"):
        train([[f"t{k}", f"u{k}"] for k in range(300)], InducedGrammarSettings(symbols=100))
