"""Compiled: charts of one sentence under a grammar with substates.

A span has two layers: in the *lower* one a symbol has two children, or is a tag above a word; in the *upper* one it is
the same symbol, or the parent of a unary rule above the lower one. Children are of the upper layer. The span from word
i to before word j is cell ``j (j - 1) / 2 + i``. The numbers of a cell are kept divided by ``exp(scale)``, so that
sentences of any length neither under- nor overflow; those of the outside are kept multiplied by it and divided by the
probability of the sentence, so that inside times outside is a probability.
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel


class Rules(NamedTuple):
    """A grammar: rules of symbols as `grammar.ConstituentGrammar` has them, and of each block the weights that count.

    After a few rounds of latent annotations nine of ten weights are next to nothing.
    """

    first: np.ndarray  # int64 [symbols + 1]
    binary: np.ndarray  # int32 [rules, 3]
    binary_at: np.ndarray  # int64 [rules + 1]: where the weights of each rule begin, and the end
    binary_states: np.ndarray  # int32 [weights, 3]: of parent, left and right child
    binary_weights: np.ndarray  # float64 [weights]
    by_left: np.ndarray  # int64 [symbols + 1]
    unary: np.ndarray  # int32 [rules, 2]
    unary_at: np.ndarray  # int64 [rules + 1]
    unary_states: np.ndarray  # int32 [weights, 2]
    unary_weights: np.ndarray  # float64 [weights]
    by_child: np.ndarray  # int64 [symbols + 1]
    roots: np.ndarray  # float64 [states]


class Chart(NamedTuple):
    """Memory of a sentence of n words."""

    lower: np.ndarray  # float64 [cells, states]
    upper: np.ndarray
    out_lower: np.ndarray
    out_upper: np.ndarray
    scale: np.ndarray  # float64 [cells]
    live: np.ndarray  # int32 [cells, symbols]: those of the upper layer, in the first places
    n_live: np.ndarray  # int32 [cells]
    allowed: np.ndarray  # bool [cells, symbols]


@kernel(inline=True)
def cell_of(i, j):
    """Return the number of a span."""
    return j * (j - 1) // 2 + i


@kernel(owning=False)
def fill_inside(n, words, rules, chart):
    """Fill the inside; return the log-probability of the sentence, -inf where it has no tree.

    words (float64 [n, states of tags]): Of each word, given the tag's state.
    """
    states, symbols = len(rules.roots), len(rules.first) - 1
    lower, upper, scale = chart.lower, chart.upper, chart.scale
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_of(i, j)
            low = lower[cell]
            low[:] = 0
            top = -math.inf
            if not chart.allowed[cell].any():
                scale[cell], chart.n_live[cell] = -math.inf, 0
                upper[cell, :] = 0
                continue
            if width == 1:
                top = 0.0
                for c in range(symbols):
                    if rules.first[c] < words.shape[1] and chart.allowed[cell, c]:
                        for s in range(rules.first[c], rules.first[c + 1]):
                            low[s] = words[i, s]
            else:
                for k in range(i + 1, j):
                    top = max(top, scale[cell_of(i, k)] + scale[cell_of(k, j)])
                if top > -math.inf:
                    for k in range(i + 1, j):
                        a, b = cell_of(i, k), cell_of(k, j)
                        factor = math.exp(scale[a] + scale[b] - top)
                        if factor > 0:
                            _combine(cell, a, b, factor, rules, chart)
            total = 0.0
            for s in range(states):
                total += low[s]
            if total == 0:
                scale[cell], chart.n_live[cell] = -math.inf, 0
                upper[cell, :] = 0
                continue
            scale[cell] = top + math.log(total)
            up = upper[cell]
            for s in range(states):
                low[s] /= total
                up[s] = low[s]
            for c in range(symbols):
                first, last = rules.first[c], rules.first[c + 1]
                if not _any(low, first, last):
                    continue
                for r in range(rules.by_child[c], rules.by_child[c + 1]):
                    if chart.allowed[cell, rules.unary[r, 0]]:
                        for e in range(rules.unary_at[r], rules.unary_at[r + 1]):
                            up[rules.unary_states[e, 0]] += rules.unary_weights[e] * low[rules.unary_states[e, 1]]
            count = 0
            for c in range(symbols):
                if _any(up, rules.first[c], rules.first[c + 1]):
                    chart.live[cell, count] = c
                    count += 1
            chart.n_live[cell] = count
    cell, total = cell_of(0, n), 0.0
    if scale[cell] == -math.inf:
        return -math.inf
    for s in range(states):
        total += rules.roots[s] * upper[cell, s]
    return scale[cell] + math.log(total) if total > 0 else -math.inf


@kernel(inline=True)
def _any(values, first, last):
    """Tell whether some of the values are above 0."""
    for s in range(first, last):
        if values[s] > 0:
            return True
    return False


@kernel(inline=True)
def _combine(cell, a, b, factor, rules, chart):
    """Add to the lower layer of a cell what the upper ones of its parts give."""
    low, left, right, allowed = chart.lower[cell], chart.upper[a], chart.upper[b], chart.allowed[cell]
    for place in range(chart.n_live[a]):
        l = chart.live[a, place]  # noqa: E741
        for r in range(rules.by_left[l], rules.by_left[l + 1]):
            p, c = rules.binary[r, 0], rules.binary[r, 2]
            if not allowed[p] or not _any(right, rules.first[c], rules.first[c + 1]):
                continue
            for e in range(rules.binary_at[r], rules.binary_at[r + 1]):
                x, y, z = rules.binary_states[e]
                low[x] += factor * rules.binary_weights[e] * left[y] * right[z]


@kernel(owning=False)
def fill_outside(n, rules, chart):
    """Fill the outside of a sentence that has a tree; inside times outside are probabilities."""
    states, symbols = len(rules.roots), len(rules.first) - 1
    scale, out_lower, out_upper = chart.scale, chart.out_lower, chart.out_upper
    cells = n * (n + 1) // 2
    out_upper[:cells] = 0
    top, total = cell_of(0, n), 0.0
    for s in range(states):
        total += rules.roots[s] * chart.upper[top, s]
    for s in range(states):
        out_upper[top, s] = rules.roots[s] / total
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_of(i, j)
            if scale[cell] == -math.inf:
                out_lower[cell, :] = 0
                continue
            low, out_low, out_up = chart.lower[cell], out_lower[cell], out_upper[cell]
            for s in range(states):
                out_low[s] = out_up[s]
            for c in range(symbols):
                first, last = rules.first[c], rules.first[c + 1]
                if not _any(low, first, last):
                    continue
                for r in range(rules.by_child[c], rules.by_child[c + 1]):
                    if chart.allowed[cell, rules.unary[r, 0]]:
                        for e in range(rules.unary_at[r], rules.unary_at[r + 1]):
                            out_low[rules.unary_states[e, 1]] += (
                                rules.unary_weights[e] * out_up[rules.unary_states[e, 0]]
                            )
            for k in range(i + 1, j):
                a, b = cell_of(i, k), cell_of(k, j)
                factor = math.exp(scale[a] + scale[b] - scale[cell])
                if factor > 0:
                    _spread(cell, a, b, factor, rules, chart)


@kernel(inline=True)
def _spread(cell, a, b, factor, rules, chart):
    """Add to the outside of the upper layers of two parts what the lower one of their cell has."""
    out, left, right = chart.out_lower[cell], chart.upper[a], chart.upper[b]
    out_left, out_right = chart.out_upper[a], chart.out_upper[b]
    for place in range(chart.n_live[a]):
        l = chart.live[a, place]  # noqa: E741
        for r in range(rules.by_left[l], rules.by_left[l + 1]):
            p, c = rules.binary[r, 0], rules.binary[r, 2]
            if not chart.allowed[cell, p] or not _any(right, rules.first[c], rules.first[c + 1]):
                continue
            for e in range(rules.binary_at[r], rules.binary_at[r + 1]):
                x, y, z = rules.binary_states[e]
                above = factor * rules.binary_weights[e] * out[x]
                out_left[y] += above * right[z]
                out_right[z] += above * left[y]
