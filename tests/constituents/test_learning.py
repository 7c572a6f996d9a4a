"""Latent annotations: EM over trees, splits, merges and smoothing, against all annotations of tiny trees."""

import math
from itertools import pairwise

import numpy as np
import pytest

from aligntools.constituents import learning
from aligntools.constituents.learning import treebank
from aligntools.constituents.settings import GrammarSettings
from aligntools.formats.annotation.brackets import parse_trees
from aligntools.ground.parallel import Pool
from tests import naive_constituents as naive
from tests.constituents.grammars import as_dicts, random_grammar, state_number, states_of, without_substates

TREES = """
(S (N a) (V (v b) (N a)))
(S (V (v b)) (N (N a) (v a)))
(S (N a) (V (v b)))
(S (N (v b) (N a)) (V (v b) (N a)))
"""


@pytest.fixture
def bank():
    return treebank([tree for _, tree in parse_trees(TREES.split("\n"), "trees")], 0, 1)


def as_tuples(bank):
    """Return the trees as the naive version has them; a word is the number of its pair with the tag."""
    found = []
    nodes = bank.nodes
    for begin, end in zip(nodes.offsets[:-1], nodes.offsets[1:], strict=True):
        done = []
        for k in range(begin, end):
            below = [done[c] for c in (nodes.left[k], nodes.right[k]) if c >= 0]
            done.append((int(nodes.symbols[k]), *(below or [f"{nodes.rules[k]}"])))
        found.append(done[-1])
    return found


def split_state(bank, rounds=1, seed=1):
    """Return a grammar whose symbols have substates that differ much."""
    rng = np.random.default_rng(seed)
    state = learning.start(bank)
    for _ in range(rounds):
        state = learning.split(bank, state, rng)
    grammar = state.grammar.with_weights(
        *(w * rng.uniform(0.2, 1, len(w)) for w in (state.grammar.binary_weights, state.grammar.unary_weights)),
        state.grammar.roots * rng.uniform(0.2, 1, len(state.grammar.roots)),
    ).normalized()
    pair_counts = state.pair_counts * rng.uniform(0.2, 1, len(state.pair_counts))
    return learning.EmState(
        grammar, pair_counts, bank.occurrences.lexicon(pair_counts, grammar.substates[: grammar.n_tags])
    )


def of_words(bank, state):
    weights = learning.weights_of(bank, state)
    found = {}
    for number, (_, tag) in enumerate(bank.occurrences.pairs.tolist()):
        block = weights.words[weights.words_at[number] : weights.words_at[number + 1]]
        found |= {((tag, x), f"{number}"): float(v) for x, v in enumerate(block)}
    return found


def given(bank, state):
    binary, unary, roots = as_dicts(state.grammar)
    return state.grammar.substates.tolist(), binary, unary, roots, of_words(bank, state)


@pytest.mark.parametrize("rounds", [0, 1])
def test_expected_counts_are_those_of_all_annotations(bank, rounds):
    state = split_state(bank, rounds)
    value, uses, tops = naive.expectations(as_tuples(bank), *given(bank, state))
    (counts, pair_counts), found = learning.expected_counts(bank, state)
    assert found == pytest.approx(value)
    for own, rules in zip(as_dicts(counts), (uses, uses, tops), strict=True):
        for rule, n in own.items():
            assert n == pytest.approx(rules[rule], abs=1e-12)
    at = learning.weights_of(bank, state).words_at
    for number, (_, tag) in enumerate(bank.occurrences.pairs.tolist()):
        expected = [uses[s, f"{number}"] for s in states_of(state.grammar, tag)]
        np.testing.assert_allclose(pair_counts[at[number] : at[number + 1]], expected, atol=1e-12)


def test_iterations_splits_and_smoothing(bank):
    state, values = split_state(bank), list[float]()
    learning._train(bank, state, 12, None, lambda _, figures: values.append(figures["objective"]), 1, "split")
    assert all(b >= a - 1e-9 for a, b in pairwise(values))
    assert values[-1] > values[0] + 0.5
    start = learning.start(bank)
    _, before = learning.expected_counts(bank, start)
    _, after = learning.expected_counts(bank, learning.split(bank, start, np.random.default_rng(1)))
    assert after == pytest.approx(before, abs=0.05)
    state = split_state(bank)
    smoothed = learning.smooth(bank, state, 0.1)
    for own, other in zip(as_dicts(state.grammar)[:2], as_dicts(smoothed.grammar)[:2], strict=True):
        for (parent, *children), weight in other.items():
            mean = np.mean([own[(s, *children)] for s in states_of(state.grammar, parent[0])])
            assert weight == pytest.approx(0.9 * own[(parent, *children)] + 0.1 * mean)


def test_losses_are_those_of_merging_at_each_node(bank):
    state = split_state(bank)
    counts, _ = learning.expected_counts(bank, state)
    frequencies = learning.state_counts(bank, *counts).reshape(-1, 2)
    shares = frequencies / frequencies.sum(1, keepdims=True)
    found = learning._losses(bank, state, np.ascontiguousarray(shares.ravel()), None)[::2]
    expected = np.zeros(len(shares))
    for tree in as_tuples(bank):
        for place in naive.places(tree):
            symbol = naive.node_at(tree, place)[0]
            pair = state_number(state.grammar, (symbol, 0)) // 2
            expected[pair] += naive.loss(tree, place, (0, 1), shares[pair], *given(bank, state))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_merging_keeps_the_splits_that_matter_and_all_counts(bank):
    state = split_state(bank)
    merged = learning.merge(bank, state, 0.5)
    n = state.grammar.n_states
    assert merged.grammar.n_states == n - n // 4
    (_, pair_counts), _ = learning.expected_counts(bank, state)
    assert merged.pair_counts.sum() == pytest.approx(pair_counts.sum())
    everything = learning.merge(bank, state, 1.0)
    np.testing.assert_allclose(everything.grammar.binary_weights, learning.start(bank).grammar.binary_weights)
    np.testing.assert_allclose(everything.grammar.unary_weights, learning.start(bank).grammar.unary_weights)
    assert learning.merge(bank, state, 0.0).grammar.n_states == n


def test_threads_and_totals():
    trees = [tree for _, tree in parse_trees(["(S (N a) (V (v b) (N (d c) (N a))))", "(S (V (v b)))"] * 30, "trees")]
    bank, how = treebank(trees, 0, 1), GrammarSettings(latent=2, iterations=2)
    alone, frequencies = learning.learn(bank, how)
    with Pool(3) as pool:
        together, others = learning.learn(bank, how, pool)
    np.testing.assert_array_equal(alone.grammar.binary_weights, together.grammar.binary_weights)
    np.testing.assert_array_equal(alone.pair_counts, together.pair_counts)
    np.testing.assert_array_equal(frequencies, others)
    grammar = random_grammar(np.random.default_rng(1))
    doubled = grammar.with_weights(grammar.binary_weights * 2, grammar.unary_weights * 2, grammar.roots)
    binary, unary, _ = as_dicts(doubled)
    for symbol in range(len(grammar.symbols)):
        for state in states_of(grammar, symbol):
            total = math.fsum(w for rules in (binary, unary) for rule, w in rules.items() if rule[0] == state)
            assert doubled.totals()[state_number(grammar, state)] == pytest.approx(total)
    np.testing.assert_allclose(doubled.normalized().binary_weights, grammar.binary_weights)


def test_a_projection_has_the_rules_frequencies():
    rng = np.random.default_rng(2)
    grammar = random_grammar(rng)
    weights = rng.random(grammar.n_states)
    coarse = without_substates(grammar, weights)
    fine, found = as_dicts(grammar), as_dicts(coarse)
    for k in (0, 1):
        for rule, value in found[k].items():
            symbols = [symbol for symbol, _ in rule]
            own = [(w, r) for r, w in fine[k].items() if [symbol for symbol, _ in r] == symbols]
            parents = {s: weights[state_number(grammar, s)] for s in states_of(grammar, symbols[0])}
            expected = math.fsum(w * parents[r[0]] for w, r in own) / math.fsum(parents.values())
            assert value == pytest.approx(expected)
    assert coarse.roots.sum() == pytest.approx(1)
    totals = coarse.totals()
    np.testing.assert_allclose(totals[totals > 0], 1)
