"""Charts and best trees of grammars with substates, against all derivations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aligntools.constituents import kernels_best, kernels_chart
from aligntools.constituents.decoding import Product, Pruning, _best, best_tree
from tests import naive_constituents as naive
from tests.constituents.grammars import (
    SYMBOLS,
    as_dicts,
    everything,
    filled,
    other_member,
    random_grammar,
    random_words,
    state_number,
    without_substates,
)


def cell(i, j):
    return j * (j - 1) // 2 + i


def examples(seed, n, zeros=0):
    """Return a grammar, a share of whose weights is 0, words, and all derivations."""
    rng = np.random.default_rng(seed)
    grammar = random_grammar(rng, 2, 0.25)  # with more rules naive enumeration takes seconds
    weights = (
        np.where(rng.random(len(own)) < zeros, 0, own) for own in (grammar.binary_weights, grammar.unary_weights)
    )
    grammar = grammar.with_weights(*weights, grammar.roots)
    words, as_words = random_words(rng, grammar, n)
    binary, unary, roots = as_dicts(grammar)
    found = naive.sentence(binary, unary, roots, as_words)
    return grammar, words, found, (binary, unary, as_words, roots)


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_inside_and_outside_are_those_of_all_derivations(seed, n):
    grammar, words, found, _ = examples(seed, n, 0.2)
    level, chart, value = filled(grammar, words)
    if not found:
        assert value == -math.inf
        return
    assert value == pytest.approx(math.log(math.fsum(w for w, _ in found)))
    kernels_chart.fill_outside(n, level.rules, chart)
    expected = {"lower": np.zeros_like(chart.lower), "upper": np.zeros_like(chart.lower)}
    for (layer, i, j, state), p in naive.posteriors(found).items():
        expected[layer][cell(i, j), state_number(grammar, state)] = p
    np.testing.assert_allclose(chart.lower * chart.out_lower, expected["lower"], atol=1e-12)
    np.testing.assert_allclose(chart.upper * chart.out_upper, expected["upper"], atol=1e-12)


def test_weights_next_to_nothing_are_left_out():
    rng = np.random.default_rng(3)
    grammar = random_grammar(rng, 3, 1.0)
    words, _ = random_words(rng, grammar, 4)
    values = []
    for little in 0, 1e-17:
        weights = [np.where(own > 0.1, own, little) for own in (grammar.binary_weights, grammar.unary_weights)]
        values.append(filled(grammar.with_weights(*weights, grammar.roots), words)[2])
    assert values[0] == values[1] < filled(grammar, words)[2]


def read_off(best, grammar, own, i, j, of_states, upper=True):
    """Return the derivation that a chart of best rules has below a symbol or state."""
    place = cell(i, j)
    symbol = int(np.searchsorted(grammar.first, own, "right") - 1) if of_states else own
    name = (symbol, own - int(grammar.first[symbol])) if of_states else symbol
    if upper and best.above[place, own] >= 0:
        rule = best.above[place, own]
        below = int(best.below[place, own]) if of_states else int(grammar.unary[rule, 1])
        return (name, i, j, read_off(best, grammar, below, i, j, of_states, upper=False))
    if j - i == 1:
        return (name, i, j)
    k = int(best.places[place, own])
    children = best.parts[place, own] if of_states else grammar.binary[best.rules[place, own], 1:]
    left, right = map(int, children)
    return (name, i, j, read_off(best, grammar, left, i, k, of_states), read_off(best, grammar, right, k, j, of_states))


def by_rules(grammars, words):
    """Return the best rules of a product of grammars, and the symbol at the top."""
    n, product = len(words[0]), Product.of(*grammars)
    charts, parts = product.charts(n, everything(grammars[0], n))
    for own, level, chart in zip(words, product.grammars, parts, strict=True):
        kernels_chart.fill_inside(n, own, level.rules, chart)
        kernels_chart.fill_outside(n, level.rules, chart)
    best = _best(n * (n + 1) // 2, len(SYMBOLS), False)
    return best, kernels_best.max_rule(n, product.grammars[0].rules, product.members, charts, parts[0], best)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 3))
def test_max_rule_multiplies_the_posteriors_of_members(seed, n, members):
    rng = np.random.default_rng(seed)
    first = random_grammar(rng, 2, 0.2)
    every = [first, *(other_member(rng, first) for _ in range(members - 1))]
    values, words = [], []
    for grammar in every:
        of_grammar, as_words = random_words(rng, grammar, n)
        words.append(of_grammar)
        binary, unary, roots = as_dicts(grammar)
        found = naive.sentence(binary, unary, roots, as_words)
        if not found:
            return
        values.append(naive.max_rule(found, binary, unary, as_words, roots))
    product = {tree: math.prod(own[tree] for own in values) for tree in values[0]}
    best, top = by_rules(every, words)
    assert product[read_off(best, first, top, 0, n, False)] == pytest.approx(max(product.values()))


def test_long_sentences_and_missing_rules():
    """Or kernels were compiled once more for it."""
    grammar = next(g for k in range(99) if not len((g := random_grammar(np.random.default_rng(k))).unary))
    coarse = without_substates(grammar, np.ones(grammar.n_states))
    assert {coarse.binary_weights.dtype, coarse.unary_weights.dtype} == {np.dtype(np.float64)}
    rng = np.random.default_rng(3)
    grammar = random_grammar(rng, 2)
    for factor in (1e-30, 1e30):
        words, _ = random_words(rng, grammar, 150)
        words *= factor
        level, chart, value = filled(grammar, words)
        assert math.isfinite(value)
        kernels_chart.fill_outside(150, level.rules, chart)
        of_words = [cell(i, i + 1) for i in range(150)]
        np.testing.assert_allclose((chart.lower[of_words] * chart.out_lower[of_words]).sum(1), 1, rtol=1e-9)


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_viterbi_is_the_most_probable_derivation(seed, n):
    grammar, words, found, _ = examples(seed, n)
    if not found:
        return
    level, chart, _ = filled(grammar, words)
    best = _best(n * (n + 1) // 2, grammar.n_states, True)
    top, value = kernels_best.viterbi(n, words, level.rules, chart, best)
    most = max(w for w, _ in found)
    assert value == pytest.approx(math.log(most))
    derivation = read_off(best, grammar, top, 0, n, True)
    assert dict((d, w) for w, d in found)[derivation] == pytest.approx(most)


def test_what_is_pruned_is_left_out_and_the_rest_stays():
    rng = np.random.default_rng(4)
    grammar = random_grammar(rng, 2, 0.6)
    weights = rng.random(grammar.n_states)
    words, _ = random_words(rng, grammar, 6)
    of_tags = np.add.reduceat(words, grammar.first[: grammar.n_tags], axis=1)
    level, chart, _ = filled(without_substates(grammar, weights), of_tags)
    kernels_chart.fill_outside(6, level.rules, chart)
    pruning = Pruning.of(grammar, weights)
    allowed = pruning.allowed(of_tags, 0.05)
    posterior = np.maximum(chart.lower * chart.out_lower, chart.upper * chart.out_upper)
    np.testing.assert_array_equal(allowed, posterior >= 0.05)
    level, chart, value = filled(grammar, words)

    def inside(allowed):
        return kernels_chart.fill_inside(6, words, level.rules, Product.of(grammar).charts(6, allowed)[1][0])

    assert -math.inf < inside(allowed) < value
    assert inside(pruning.allowed(of_tags, 0.0)) == pytest.approx(value)


@pytest.mark.parametrize("decode", ["max-rule", "viterbi"])
def test_pruning_of_what_is_improbable_changes_no_tree(decode):
    rng = np.random.default_rng(5)
    for _ in range(5):
        grammar = random_grammar(rng, 3, 0.6)
        words, _ = random_words(rng, grammar, 5)
        of_tags = np.add.reduceat(words, grammar.first[: grammar.n_tags], axis=1)
        pruning, product = Pruning.of(grammar, np.ones(grammar.n_states)), Product.of(grammar)
        cells = [everything(grammar, 5), *(pruning.allowed(of_tags, least) for least in (0.0, 1e-12))]
        trees = [str(best_tree(list("abcde"), [""] * 5, [words], product, allowed, decode)[0]) for allowed in cells]
        assert len(set(trees)) == 1
