"""Latent annotations: EM over trees, splits, merges and smoothing, against all annotations of tiny trees."""

import math
from itertools import pairwise

import numpy as np
import pytest

from aligntools.constituents import learning
from aligntools.constituents.learning import treebank
from aligntools.constituents.lexicon import DRAWN, FREQUENT, GENERAL, MIXED, RARE, Occurrences, shapes
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
        state = learning.split(state, rng)
    grammar = state.grammar.with_weights(
        *(w * rng.uniform(0.2, 1, len(w)) for w in (state.grammar.binary_weights, state.grammar.unary_weights)),
        state.grammar.roots * rng.uniform(0.2, 1, len(state.grammar.roots)),
    ).normalized()
    pair_counts = state.pair_counts * rng.uniform(0.2, 1, len(state.pair_counts))
    return learning.EmState(grammar, pair_counts, pair_counts)


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
    _, after = learning.expected_counts(bank, learning.split(start, np.random.default_rng(1)))
    assert after == pytest.approx(before, abs=0.05)
    state = split_state(bank)
    smoothed = learning.smooth(bank, state, 0.1)
    for own, other in zip(as_dicts(state.grammar)[:2], as_dicts(smoothed.grammar)[:2], strict=True):
        for (parent, *children), weight in other.items():
            mean = np.mean([own[(s, *children)] for s in states_of(state.grammar, parent[0])])
            assert weight == pytest.approx(0.9 * own[(parent, *children)] + 0.1 * mean)
    smoothed = learning.smooth(bank, state, 0.05)  # of words ten times as far
    at = learning.weights_of(bank, state).words_at
    for begin, end in pairwise(at.tolist()):
        expected = 0.5 * state.pair_counts[begin:end] + 0.5 * state.pair_counts[begin:end].mean()
        np.testing.assert_allclose(smoothed.smoothed[begin:end], expected)


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


#: Tag 0 is a noun's, tag 1 a verb's.
SENTENCES = [
    (["the", "walking"], [0, 1]),
    (["the", "talking"], [0, 1]),
    (["the", "milking"], [0, 1]),
    *[(["the", "dog"], [0, 0])] * 5,
    *[(["the", "dog"], [0, 1])],
    (["the", "Rome"], [0, 0]),
]


@pytest.fixture
def made():
    occurrences, pairs = Occurrences.of(SENTENCES)
    counts = np.bincount([pair for own in pairs for pair in own], minlength=len(occurrences.pairs)).astype(float)
    return occurrences, counts


def by_tag(lexicon, words, begins):
    """Return p(tag | word), each word's up to a factor, from p(word | tag)."""
    found = lexicon.scores(words, np.array(begins)) * lexicon.of_states
    return found / found.sum(1, keepdims=True)


def test_how_words_are_known(made):
    occurrences, counts = made
    lexicon = occurrences.lexicon(counts, np.ones(2, np.int32))
    assert occurrences.counts[occurrences.words["the"]] <= FREQUENT
    assert (by_tag(lexicon, ["a", "the"], [0, 1, 2])[1] > 0).all()
    lexicon.counts[occurrences.words["the"]] = FREQUENT + 1
    np.testing.assert_array_equal(by_tag(lexicon, ["a", "the"], [0, 1, 2])[1], [1, 0])
    occurrences, counts = made
    lexicon = occurrences.lexicon(counts, np.ones(2, np.int32))
    shape = lexicon.of_shapes[lexicon.shape("dog", False)]
    expected = (np.array([5, 1]) + MIXED * shape) / (6 + MIXED)
    np.testing.assert_allclose(by_tag(lexicon, ["the", "dog"], [0, 1, 2])[1], expected)
    occurrences, counts = made
    lexicon = occurrences.lexicon(counts, np.ones(2, np.int32))
    # three verbs end in -king, -ing, -ng and -g, in each of which, and in small letters, the more general counts for 2
    noun = 0.25 * (GENERAL / (3 + GENERAL)) ** 5
    np.testing.assert_allclose(by_tag(lexicon, ["the", "barking"], [0, 1, 2])[1], [noun, 1 - noun])
    # what has no shape that was seen is as rare words are: three verbs, one noun
    assert all(n <= RARE for word, n in zip(occurrences.words, occurrences.counts, strict=True) if word == "Rome")
    np.testing.assert_allclose(by_tag(lexicon, ["the", "?"], [0, 1, 2])[1], [0.25, 0.75])
    occurrences, counts = made
    lexicon = occurrences.lexicon(counts, np.ones(2, np.int32))
    lexicon.counts[occurrences.words["dog"]] = FREQUENT + 1
    np.testing.assert_array_equal(lexicon.scores(["Dog"], np.arange(3)), lexicon.scores(["dog"], np.arange(3)))


def test_brackets_are_known_as_treebanks_write_them():
    occurrences, _ = Occurrences.of([(["(", "dog", ")"], [0, 1, 2])])
    lexicon = occurrences.lexicon(np.ones(3), np.ones(3, np.int32))
    first = np.arange(4)
    np.testing.assert_array_equal(lexicon.scores(["-LRB-", "-RRB-"], first), lexicon.scores(["(", ")"], first))
    assert not np.array_equal(lexicon.scores(["-LRB-"], first), lexicon.scores(["-LCB-"], first))
    inside, _ = Occurrences.of([(["dog(s)", ":)"], [0, 1])])
    known = inside.lexicon(np.ones(2), np.ones(2, np.int32))
    both = [known.scores(words, np.arange(3)) for words in (["dog-LRB-s-RRB-", ":-RRB-"], ["dog(s)", ":)"])]
    np.testing.assert_array_equal(*both)


def test_substates_sum_up_to_their_tag(made):
    occurrences, counts = made
    substates = np.array([2, 3], np.int32)
    sizes = substates[occurrences.pairs[:, 1]]
    rng = np.random.default_rng(1)
    parts = np.concatenate([n * rng.dirichlet(np.ones(size)) for n, size in zip(counts, sizes, strict=True)])
    fine = occurrences.lexicon(parts, substates)
    coarse, first = occurrences.lexicon(counts, np.ones(2, np.int32)), np.array([0, 2, 5])
    projected = fine.projected(first)
    np.testing.assert_allclose(projected.of_shapes, coarse.of_shapes)
    np.testing.assert_allclose(projected.pair_counts, coarse.pair_counts)
    words = ["the", "dog", "barking", "Rome"]
    of_tags = np.add.reduceat(by_tag(fine, words, first), first[:-1], axis=1)
    np.testing.assert_allclose(of_tags, by_tag(coarse, words, [0, 1, 2]), atol=1e-12)


def test_smoothing_and_rare_words(made):
    occurrences, counts = made
    substates = np.array([2, 3], np.int32)
    rng = np.random.default_rng(2)
    parts = [n * rng.dirichlet(np.ones(substates[t])) for n, (_, t) in zip(counts, occurrences.pairs, strict=True)]
    found = occurrences.drawn(np.concatenate(parts), substates)
    expected = []
    for tag, n, own in zip(occurrences.pairs[:, 1], counts, parts, strict=True):
        alike = sum(part for part, (_, t) in zip(parts, occurrences.pairs, strict=True) if t == tag)
        expected.append(n * (own + DRAWN * alike / alike.sum()) / (n + DRAWN))
    np.testing.assert_allclose(found, np.concatenate(expected))


@pytest.mark.parametrize(
    ("word", "first", "expected"),
    [
        ("Berlin", False, ["crlin", "clin", "cin", "cn", "c"]),
        ("USA", False, ["Asa", "Aa", "A"]),
        ("1,200", False, ["0"]),
        ("mid-1990s", False, ["9-990s", "9-90s", "9-0s", "9-s", "9-"]),
        ("--", True, [".-", "."]),
        ("dog", True, ["og", "g", "a"]),
    ],
)
def test_shapes(word, first, expected):
    assert shapes(word, first) == expected
