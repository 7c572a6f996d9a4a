"""Compiled: the best trees of a chart.

``max_rule`` finds the tree whose rules are, together, most probably right: the product of the posterior probabilities
of its rules of symbols, each summed over substates (Petrov & Klein 2007, section 4). ``viterbi`` finds the most
probable derivation, with substates. Both write for each cell and symbol which rule is above it, in either layer.
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.constituents.kernels_chart import cell_of
from aligntools.ground.compiling import kernel


class Best(NamedTuple):
    """The best tree below each symbol, or each state, of each cell."""

    lower: np.ndarray  # float64 [cells, symbols or states]: logarithms
    upper: np.ndarray
    rules: np.ndarray  # int32 [cells, symbols or states]: of the lower layer, -1 where there is none
    places: np.ndarray  # int32 [cells, symbols or states]: where its children part
    above: np.ndarray  # int32 [cells, symbols or states]: the unary rule of the upper layer, -1 for none
    parts: np.ndarray  # int32 [cells, states, 2]: children's states; of symbols, empty
    below: np.ndarray  # int32 [cells, states]: the unary rule's child; of symbols, empty


@kernel(owning=False)
def max_rule(n, rules, chart, best):
    """Fill the best trees of symbols from a chart with inside and outside; return the top symbol, -1 for none."""
    symbols = len(rules.first) - 1
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_of(i, j)
            low, up = best.lower[cell], best.upper[cell]
            low[:], best.rules[cell, :], best.above[cell, :] = -math.inf, -1, -1
            out = chart.out_lower[cell]
            if width == 1:
                for c in range(symbols):
                    total = 0.0
                    for s in range(rules.first[c], rules.first[c + 1]):
                        total += chart.lower[cell, s] * out[s]
                    if total > 0:
                        low[c] = math.log(total)
            elif chart.scale[cell] > -math.inf:
                for k in range(i + 1, j):
                    a, b = cell_of(i, k), cell_of(k, j)
                    factor = math.exp(chart.scale[a] + chart.scale[b] - chart.scale[cell])
                    if factor > 0:
                        _join(cell, k, a, b, factor, rules, chart, best)
            for c in range(len(low)):
                up[c] = low[c]
            for c in range(symbols):
                if low[c] == -math.inf:
                    continue
                for r in range(rules.by_child[c], rules.by_child[c + 1]):
                    p, at, total = rules.unary[r, 0], rules.unary_at[r], 0.0
                    if not chart.allowed[cell, p]:
                        continue
                    for x in range(rules.first[p], rules.first[p + 1]):
                        for y in range(rules.first[c], rules.first[c + 1]):
                            total += chart.out_upper[cell, x] * rules.unary_weights[at] * chart.lower[cell, y]
                            at += 1
                    if total > 0 and math.log(total) + low[c] > up[p]:
                        up[p], best.above[cell, p] = math.log(total) + low[c], r
    cell, chosen, top = cell_of(0, n), -1, -math.inf
    for c in range(symbols):
        total = 0.0
        for s in range(rules.first[c], rules.first[c + 1]):
            total += rules.roots[s] * chart.upper[cell, s]
        if total > 0 and math.log(total) + best.upper[cell, c] > top:
            chosen, top = c, math.log(total) + best.upper[cell, c]
    return chosen


@kernel(inline=True)
def _join(cell, k, a, b, factor, rules, chart, best):
    """Try the rules above two parts of a cell."""
    out, left, right = chart.out_lower[cell], chart.upper[a], chart.upper[b]
    low = best.lower[cell]
    for place in range(chart.n_live[a]):
        l = chart.live[a, place]  # noqa: E741
        l_first, l_last = rules.first[l], rules.first[l + 1]
        if best.upper[a, l] == -math.inf:
            continue
        for r in range(rules.by_left[l], rules.by_left[l + 1]):
            p, c = rules.binary[r, 0], rules.binary[r, 2]
            below = best.upper[a, l] + best.upper[b, c]
            if not chart.allowed[cell, p] or below <= low[p]:  # a rule's posterior is at most 1
                continue
            at, total = rules.binary_at[r], 0.0
            for x in range(rules.first[p], rules.first[p + 1]):
                for y in range(l_first, l_last):
                    part = 0.0
                    for z in range(rules.first[c], rules.first[c + 1]):
                        part += rules.binary_weights[at] * right[z]
                        at += 1
                    total += out[x] * left[y] * part
            if total > 0:
                value = math.log(total * factor) + below
                if value > low[p]:
                    low[p], best.rules[cell, p], best.places[cell, p] = value, r, k


@kernel(owning=False)
def viterbi(n, words, rules, chart, best):
    """Fill the best derivations of states of a pruned chart; return the top state, -1 for none, and its value."""
    symbols, states = len(rules.first) - 1, len(rules.roots)
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_of(i, j)
            low, up = best.lower[cell], best.upper[cell]
            low[:], best.rules[cell, :], best.above[cell, :] = -math.inf, -1, -1
            if width == 1:
                for s in range(words.shape[1]):
                    if words[i, s] > 0:
                        low[s] = math.log(words[i, s])
            for k in range(i + 1, j):
                _derive(cell, k, cell_of(i, k), cell_of(k, j), rules, chart, best)
            for s in range(states):
                up[s] = low[s]
            for c in range(symbols):
                for r in range(rules.by_child[c], rules.by_child[c + 1]):
                    p, at = rules.unary[r, 0], rules.unary_at[r]
                    if not chart.allowed[cell, p]:
                        continue
                    for x in range(rules.first[p], rules.first[p + 1]):
                        for y in range(rules.first[c], rules.first[c + 1]):
                            weight = rules.unary_weights[at]
                            at += 1
                            if weight > 0 and math.log(weight) + low[y] > up[x]:
                                up[x], best.above[cell, x] = math.log(weight) + low[y], r
                                best.below[cell, x] = y
    cell, chosen, top = cell_of(0, n), -1, -math.inf
    for s in range(states):
        if rules.roots[s] > 0 and math.log(rules.roots[s]) + best.upper[cell, s] > top:
            chosen, top = s, math.log(rules.roots[s]) + best.upper[cell, s]
    return chosen, top


@kernel(inline=True)
def _derive(cell, k, a, b, rules, chart, best):
    """Try the rules of states above two parts of a cell."""
    low, left, right = best.lower[cell], best.upper[a], best.upper[b]
    for place in range(chart.n_live[a]):
        l = chart.live[a, place]  # noqa: E741
        for r in range(rules.by_left[l], rules.by_left[l + 1]):
            p, c = rules.binary[r, 0], rules.binary[r, 2]
            if not chart.allowed[cell, p]:
                continue
            at = rules.binary_at[r]
            for x in range(rules.first[p], rules.first[p + 1]):
                for y in range(rules.first[l], rules.first[l + 1]):
                    for z in range(rules.first[c], rules.first[c + 1]):
                        weight, below = rules.binary_weights[at], left[y] + right[z]
                        at += 1
                        if weight > 0 and below > low[x] and math.log(weight) + below > low[x]:
                            low[x] = math.log(weight) + below
                            best.rules[cell, x], best.places[cell, x] = r, k
                            best.parts[cell, x, 0], best.parts[cell, x, 1] = y, z
