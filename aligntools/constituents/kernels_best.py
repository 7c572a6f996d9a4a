"""Compiled: the best trees of a chart.

``max_rule`` finds the tree whose rules are, together, most probably right: the product of the posterior probabilities
of its rules of symbols, each summed over substates (Petrov & Klein 2007, section 4), and multiplied over the members
of a product of grammars (Petrov 2010, "Products of random latent variable grammars"). ``viterbi`` finds the most
probable derivation, with substates. Both write for each cell and symbol which rule is above it, in either layer.
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.constituents.kernels_chart import cell_of
from aligntools.ground.compiler import kernel


class BestDerivations(NamedTuple):
    """The best tree below each symbol, or each state, of each cell."""

    lower: np.ndarray  # float64 [cells, symbols or states]: logarithms
    upper: np.ndarray
    rules: np.ndarray  # int32 [cells, symbols or states]: of the lower layer, -1 where there is none
    places: np.ndarray  # int32 [cells, symbols or states]: where its children part
    above: np.ndarray  # int32 [cells, symbols or states]: the unary rule of the upper layer, -1 for none
    parts: np.ndarray  # int32 [cells, states, 2]: children's states; of symbols, empty
    below: np.ndarray  # int32 [cells, states]: the unary rule's child; of symbols, empty


class Members(NamedTuple):
    """Grammars with the same rules of symbols, one row or block each (Petrov 2010)."""

    first: np.ndarray  # int64 [members, symbols + 1]
    binary_at: np.ndarray  # int64 [members, rules + 1]
    binary_states: np.ndarray  # int32 [weights, 3]: of all members
    binary_weights: np.ndarray  # float64 [weights]
    unary_at: np.ndarray  # int64 [members, rules + 1]
    unary_states: np.ndarray  # int32 [weights, 2]
    unary_weights: np.ndarray  # float64 [weights]
    roots: np.ndarray  # float64 [members, states of the member that has most]


class Charts(NamedTuple):
    """Inside and outside of a sentence under each member; `kernels_chart.Chart` without what they share."""

    lower: np.ndarray  # float64 [members, cells, states of the member that has most]
    upper: np.ndarray
    out_lower: np.ndarray
    out_upper: np.ndarray
    scale: np.ndarray  # float64 [members, cells]


@kernel(owning=False)
def max_rule(n, rules, members, charts, chart, best):
    """Fill the best trees of symbols from charts with inside and outside; return the top symbol, -1 for none.

    rules: Of the first member; which rules of symbols there are is the same for all.
    chart: Of the first member.
    """
    symbols = len(rules.first) - 1
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_of(i, j)
            low, up = best.lower[cell], best.upper[cell]
            low[:], best.rules[cell, :], best.above[cell, :] = -math.inf, -1, -1
            if width == 1:
                for c in range(symbols):
                    low[c] = tag_score(c, cell, members, charts)
            elif chart.scale[cell] > -math.inf:
                for k in range(i + 1, j):
                    _join(cell, k, cell_of(i, k), cell_of(k, j), rules, members, charts, chart, best)
            for c in range(symbols):
                up[c] = low[c]
            for c in range(symbols):
                if low[c] == -math.inf:
                    continue
                for r in range(rules.by_child[c], rules.by_child[c + 1]):
                    p = rules.unary[r, 0]
                    if not chart.allowed[cell, p] or low[c] <= up[p]:
                        continue
                    value = with_unary(low[c], up[p], r, cell, members, charts)
                    if value > up[p]:
                        up[p], best.above[cell, p] = value, r
    cell, chosen, top = cell_of(0, n), -1, -math.inf
    for c in range(symbols):
        value = best.upper[cell, c] + root_score(c, cell, members, charts)
        if value > top:
            chosen, top = c, value
    return chosen


@kernel(inline=True)
def tag_score(c, cell, members, charts):
    """Return the logarithm of the posterior of a symbol in the lower layer of a cell, summed over members."""
    value = 0.0
    for m in range(len(members.first)):
        total = 0.0
        for s in range(members.first[m, c], members.first[m, c + 1]):
            total += charts.lower[m, cell, s] * charts.out_lower[m, cell, s]
        value += math.log(total) if total > 0 else -math.inf
    return value


@kernel(inline=True)
def root_score(c, cell, members, charts):
    """Return the logarithm of the posterior of a symbol above the sentence, up to a constant, summed over members."""
    value = 0.0
    for m in range(len(members.first)):
        total = 0.0
        for s in range(members.first[m, c], members.first[m, c + 1]):
            total += members.roots[m, s] * charts.upper[m, cell, s]
        value += math.log(total) if total > 0 else -math.inf
    return value


@kernel(inline=True)
def with_unary(value, least, r, cell, members, charts):
    """Add to a value the logarithms of a rule's posteriors under the members, until it is not above the least."""
    for m in range(len(members.first)):
        total, above, below = 0.0, charts.out_upper[m, cell], charts.lower[m, cell]
        for e in range(members.unary_at[m, r], members.unary_at[m, r + 1]):
            total += members.unary_weights[e] * above[members.unary_states[e, 0]] * below[members.unary_states[e, 1]]
        value += math.log(total) if total > 0 else -math.inf
        if value <= least:  # a posterior is at most 1
            break
    return value


@kernel(inline=True)
def with_binary(value, least, r, cell, a, b, members, charts):
    """Add to a value the logarithms of a rule's posteriors above two parts of a cell, as `with_unary`."""
    for m in range(len(members.first)):
        total, scale = 0.0, charts.scale[m]
        above, left, right = charts.out_lower[m, cell], charts.upper[m, a], charts.upper[m, b]
        for e in range(members.binary_at[m, r], members.binary_at[m, r + 1]):
            x, y, z = members.binary_states[e]
            total += members.binary_weights[e] * above[x] * left[y] * right[z]
        value += math.log(total) + (scale[a] + scale[b] - scale[cell]) if total > 0 else -math.inf
        if value <= least:
            break
    return value


@kernel(inline=True)
def _join(cell, k, a, b, rules, members, charts, chart, best):
    """Try the rules above two parts of a cell."""
    low = best.lower[cell]
    for place in range(chart.n_live[a]):
        l = chart.live[a, place]  # noqa: E741
        if best.upper[a, l] == -math.inf:
            continue
        for r in range(rules.by_left[l], rules.by_left[l + 1]):
            p = rules.binary[r, 0]
            below = best.upper[a, l] + best.upper[b, rules.binary[r, 2]]
            if not chart.allowed[cell, p] or below <= low[p]:
                continue
            value = with_binary(below, low[p], r, cell, a, b, members, charts)
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
                    if chart.lower[cell, s] > 0:  # where the symbol is allowed
                        low[s] = math.log(words[i, s])
            for k in range(i + 1, j):
                _derive(cell, k, cell_of(i, k), cell_of(k, j), rules, chart, best)
            for s in range(states):
                up[s] = low[s]
            for c in range(symbols):
                for r in range(rules.by_child[c], rules.by_child[c + 1]):
                    if not chart.allowed[cell, rules.unary[r, 0]]:
                        continue
                    for e in range(rules.unary_at[r], rules.unary_at[r + 1]):
                        x, y = rules.unary_states[e]
                        value = math.log(rules.unary_weights[e]) + low[y]
                        if value > up[x]:
                            up[x], best.above[cell, x], best.below[cell, x] = value, r, y
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
            if not chart.allowed[cell, rules.binary[r, 0]]:
                continue
            for e in range(rules.binary_at[r], rules.binary_at[r + 1]):
                x, y, z = rules.binary_states[e]
                below = left[y] + right[z]
                if below > low[x] and math.log(rules.binary_weights[e]) + below > low[x]:
                    low[x] = math.log(rules.binary_weights[e]) + below
                    best.rules[cell, x], best.places[cell, x] = r, k
                    best.parts[cell, x, 0], best.parts[cell, x, 1] = y, z
