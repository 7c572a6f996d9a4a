"""Lists of trees: the k best, trees that are drawn, and probabilities of trees, against all derivations."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtrc

from aligntools.constituents import derivation_lists
from aligntools.constituents.decoding import Product, best_tree, filled, log_probability, max_rule
from tests import naive_constituents as naive
from tests.constituents.grammars import as_dicts, everything, other_member, random_grammar, random_words


def bare_tree(steps, grammar, n):
    """Return a derivation as `tests.naive_constituents.bare` has it."""
    word = iter(range(n))

    def below(number):
        symbol, rule, left, right = steps[number]
        if rule < 0:
            k = next(word)
            return (symbol, k, k + 1)
        rules = grammar.unary if right < 0 else grammar.binary
        parts = [below(child) for child in (left, right) if child >= 0]
        assert [symbol, *(part[0] for part in parts)] == rules[rule].tolist()
        return (symbol, parts[0][1], parts[-1][2], *parts)

    return below(0)


def product_of(seed, n, members, density=0.2):
    """Return a product of grammars, the words under each, and what is true of each; None where there is no tree."""
    rng = np.random.default_rng(seed)
    grammars = [random_grammar(rng, 2, density)]
    grammars += [other_member(rng, grammars[0]) for _ in range(members - 1)]
    words, truth = [], []
    for grammar in grammars:
        own, as_words = random_words(rng, grammar, n)
        words.append(own)
        binary, unary, roots = as_dicts(grammar)
        found = naive.sentence(binary, unary, roots, as_words)
        if not found:
            return None
        total = math.fsum(w for w, _ in found)
        scores = naive.max_rule(found, binary, unary, as_words, roots)
        probabilities = Counter()
        for w, d in found:
            probabilities[naive.bare(d)] += w / total
        truth.append((scores, probabilities, total))
    return Product.of(*grammars), words, truth


@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 2))
def test_the_best_trees_are_all_trees_in_order(seed, n, members):
    given_ = product_of(seed, n, members)
    if given_ is None:
        return
    product, words, truth = given_
    grammar = product.grammars[0]
    charts, parts, values = filled(words, product, everything(grammar, n))
    np.testing.assert_allclose(values, [math.log(total) for *_, total in truth])
    best, _ = max_rule(n, product, charts, parts[0])
    listed = [
        (score, bare_tree(steps, grammar, n))
        for score, steps in derivation_lists.BestTrees(n, product, charts, parts[0], best, values)
    ]
    expected = {tree: sum(math.log(scores[tree]) for scores, *_ in truth) for tree in truth[0][0]}
    assert Counter(tree for _, tree in listed) == Counter(expected.keys())
    np.testing.assert_allclose([score for score, _ in listed], [expected[tree] for _, tree in listed], atol=1e-9)
    np.testing.assert_allclose([score for score, _ in listed], sorted(expected.values(), reverse=True), atol=1e-9)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_the_probability_of_a_tree_is_that_of_its_derivations(seed, n):
    given_ = product_of(seed, n, 1)
    if given_ is None:
        return
    product, words, ((_, probabilities, total),) = given_
    level = product.grammars[0]
    charts, parts, values = filled(words, product, everything(level, n))
    best, _ = max_rule(n, product, charts, parts[0])
    for _, steps in derivation_lists.BestTrees(n, product, charts, parts[0], best, values):
        expected = probabilities[bare_tree(steps, level, n)] * total
        assert log_probability(steps, words[0], level) == pytest.approx(math.log(expected))


@pytest.mark.parametrize(
    ("seed", "members"),
    [pytest.param(1, 1, marks=pytest.mark.slow), pytest.param(2, 1, marks=pytest.mark.slow), (3, 2)],
)
def test_trees_are_drawn_as_often_as_they_are_probable(seed, members, monkeypatch):
    """Chi-square of 1,000 draws over the trees; the seed is fixed, so that it does not fail by chance."""
    product, words, truth = product_of(seed, 3, members, 0.25)
    grammar, drawn = product.grammars[0], Counter()
    means = {tree: sum(p[tree] for _, p, _ in truth) / members for tree in truth[0][1]}
    logs = []

    def kept(steps, *_):
        drawn[bare_tree(steps, grammar, 3)] += 1
        return []

    monkeypatch.setattr(derivation_lists, "tree_of", kept)
    allowed, random = everything(grammar, 3), np.random.default_rng(5)
    for one in derivation_lists.drawn_trees(list("abc"), [""] * 3, words, product, allowed, 1000, random):
        logs.append(one.log_probability)
    assert set(drawn) <= set(means)
    np.testing.assert_allclose(
        sorted({round(x, 9) for x in logs}), sorted({round(math.log(means[t]), 9) for t in drawn})
    )
    common = [tree for tree, p in means.items() if 1000 * p >= 5]
    assert len(common) > 3
    counts = [drawn[tree] for tree in common] + [1000 - sum(drawn[tree] for tree in common)]
    expected = [1000 * means[tree] for tree in common]
    expected.append(1000 - sum(expected))
    if expected[-1] < 5:
        counts, expected = counts[:-1], expected[:-1]
        expected = [x * sum(counts) / sum(expected) for x in expected]
    statistic = sum((n - e) ** 2 / e for n, e in zip(counts, expected, strict=True))
    assert chdtrc(len(counts) - 1, statistic) > 0.01


def test_lists_of_few_and_long_sentences():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        grammar = random_grammar(rng, 2)
        words, cells = [random_words(rng, grammar, 4)[0]], everything(grammar, 4)
        given_ = list("abcd"), ["x", "", "y", ""], words, Product.of(grammar), cells
        trees = derivation_lists.best_trees(*given_, 7)
        assert trees[0].tree == best_tree(*given_, "max-rule")[0]
        assert len({str(one.tree) for one in trees}) == len(trees)
        assert [one.score for one in trees] == sorted((one.score for one in trees), reverse=True)
    rng = np.random.default_rng(1)
    grammar = random_grammar(rng, 2)
    words = [np.zeros((2, int(grammar.first[grammar.n_tags])))]
    given_ = list("ab"), [""] * 2, words, Product.of(grammar), everything(grammar, 2)
    assert derivation_lists.best_trees(*given_, 3) == []
    assert derivation_lists.drawn_trees(*given_, 3, rng) == []
    rng = np.random.default_rng(3)
    grammar = random_grammar(rng, 1)
    words, _ = random_words(rng, grammar, 60)
    trees = derivation_lists.best_trees(
        ["w"] * 60, [""] * 60, [words], Product.of(grammar), everything(grammar, 60), 20
    )
    assert len(trees) == 20
    drawn = derivation_lists.drawn_trees(
        ["w"] * 60, [""] * 60, [words], Product.of(grammar), everything(grammar, 60), 5, rng
    )
    assert all(math.isfinite(one.log_probability) and len(one.tree.words()) == 60 for one in drawn)
