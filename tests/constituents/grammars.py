"""Small random grammars, in arrays and as `tests.naive_constituents` has them."""

from dataclasses import replace

import numpy as np

from aligntools.constituents import kernels_chart
from aligntools.constituents.decoding import Product
from aligntools.constituents.grammar import ConstituentGrammar

#: Tags, then labels.
SYMBOLS = "t", "u", "A", "B", "C"
TAGS = 2


def random_grammar(rng, most=3, density=0.35):
    """Return a grammar whose weights sum to 1 for each state."""
    n = len(SYMBOLS)
    labels = range(TAGS, n)
    binary = sorted((c, r, p) for p in labels for c in range(n) for r in range(n) if rng.random() < density)
    binary = sorted({*binary, (0, 0, 2), (0, 2, 2), (2, 2, 2)})
    unary = sorted((c, p) for p in labels for c in range(n) if c != p and rng.random() < density)
    rules = [(p, a, b) for a, b, p in binary], [(p, c) for c, p in unary]
    binary, unary = (np.array(own, np.int32).reshape(-1, size) for own, size in zip(rules, (3, 2), strict=True))
    substates, none = rng.integers(1, most + 1, n).astype(np.int32), np.zeros(0)
    found = ConstituentGrammar(SYMBOLS, TAGS, substates, binary, none, unary, none, none, ((),) * len(unary))
    return with_random_weights(rng, found)


def with_random_weights(rng, grammar):
    roots = rng.random(grammar.n_states)
    roots[: grammar.first[TAGS]] = 0
    return grammar.with_weights(
        rng.random(grammar.binary_at[-1]) ** 2, rng.random(grammar.unary_at[-1]) ** 2, roots
    ).normalized()


def other_member(rng, grammar, most=2):
    """Return a grammar with the same rules of symbols, and other substates and weights."""
    other = replace(grammar, substates=rng.integers(1, most + 1, len(grammar.symbols)).astype(np.int32))
    return with_random_weights(rng, other)


def states_of(grammar, symbol):
    return [(symbol, x) for x in range(grammar.substates[symbol])]


def as_dicts(grammar):
    """Return binary and unary rules, those that have a probability, and roots of states."""
    found = []
    for rules, at, weights in (
        (grammar.binary, grammar.binary_at, grammar.binary_weights),
        (grammar.unary, grammar.unary_at, grammar.unary_weights),
    ):
        own = {}
        for rule, begin, end in zip(rules.tolist(), at[:-1], at[1:], strict=True):
            block = weights[begin:end].reshape([grammar.substates[s] for s in rule])
            for place, weight in np.ndenumerate(block):
                if weight > 0:
                    own[tuple(zip(rule, place, strict=True))] = float(weight)
        found.append(own)
    every = [state for symbol in range(len(grammar.symbols)) for state in states_of(grammar, symbol)]
    return (*found, dict(zip(every, grammar.roots.tolist(), strict=True)))


def random_words(rng, grammar, n):
    """Return p(word | state) in an array, and as dicts."""
    states = [state for tag in range(grammar.n_tags) for state in states_of(grammar, tag)]
    words = rng.random((n, len(states)))
    return words, [dict(zip(states, row.tolist(), strict=True)) for row in words]


def state_number(grammar, state):
    return int(grammar.first[state[0]]) + state[1]


def without_substates(grammar, weights):
    """Return the grammar of the same symbols without substates."""
    return grammar.projected(weights, np.arange(len(grammar.symbols)), grammar.symbols, grammar.n_tags)


def everything(grammar, n):
    """Return that the cells of n words may have all symbols."""
    return np.ones((n * (n + 1) // 2, len(grammar.symbols)), np.bool_)


def filled(grammar, words):
    """Return a level, its chart of the words' inside, and the log-probability."""
    product, n = Product.of(grammar), len(words)
    (level,), (chart,) = product.grammars, product.charts(n, everything(grammar, n))[1]
    return level, chart, kernels_chart.fill_inside(len(words), words, level.rules, chart)
