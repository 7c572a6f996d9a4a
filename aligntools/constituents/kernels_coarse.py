"""Compiled: which symbols of a small grammar without substates are probable above which spans.

Layers, cells and scales are those of `kernels_chart`. What two children have is summed over the places where they part,
once for all rules that have them, before the rules' probabilities are looked at; the pairs of a left child stand side
by side.
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.constituents.kernels_chart import cell_of
from aligntools.ground.compiler import kernel

#: Cells whose symbols are together less probable than this share of the threshold give nothing to their parts.
_SKIPPED = 1e-3


class CoarseRules(NamedTuple):
    """A grammar whose symbols have one state each."""

    binary: np.ndarray  # int32 [rules, 2]: parent, and pair of children
    binary_weights: np.ndarray  # float64 [rules]
    right: np.ndarray  # int32 [pairs]: the right child of each
    by_left: np.ndarray  # int64 [symbols + 1]: where the pairs of each left child begin, and the end
    unary: np.ndarray  # int32 [rules, 2]
    unary_weights: np.ndarray  # float64 [rules]
    roots: np.ndarray  # float64 [symbols]


class CoarseChart(NamedTuple):
    """Memory of a sentence of n words."""

    lower: np.ndarray  # float64 [cells, symbols]
    upper: np.ndarray
    out_upper: np.ndarray
    scale: np.ndarray  # float64 [cells]
    out_lower: np.ndarray  # float64 [symbols]
    sums: np.ndarray  # float64 [pairs]
    live: np.ndarray  # int32 [cells, symbols]: those of the upper layer, in the first places
    n_live: np.ndarray  # int32 [cells]


@kernel(owning=False)
def probable(n, words, rules, chart, least, allowed):
    """Write which symbols are above each cell, in either layer, with a probability of at least ``least``.

    words (float64 [n, tags]).
    allowed (bool [cells, symbols]).
    Returns False where the sentence has no tree.
    """
    symbols = len(rules.roots)
    lower, upper, out_upper, scale, out_lower, sums, live, n_live = chart
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_of(i, j)
            low, up, top = lower[cell], upper[cell], -math.inf
            low[:], up[:] = 0, 0
            if width == 1:
                top = 0.0
                for s in range(words.shape[1]):
                    low[s] = words[i, s]
            else:
                for k in range(i + 1, j):
                    top = max(top, scale[cell_of(i, k)] + scale[cell_of(k, j)])
                if top > -math.inf:
                    _sum_children(i, j, top, rules, chart)
                    for r in range(len(rules.binary)):
                        low[rules.binary[r, 0]] += rules.binary_weights[r] * sums[rules.binary[r, 1]]
            total = 0.0
            for s in range(symbols):
                total += low[s]
            n_live[cell] = 0
            if total == 0:
                scale[cell] = -math.inf
                continue
            scale[cell] = top + math.log(total)
            for s in range(symbols):
                low[s] /= total
                up[s] = low[s]
            for r in range(len(rules.unary)):
                up[rules.unary[r, 0]] += rules.unary_weights[r] * low[rules.unary[r, 1]]
            for s in range(symbols):
                if up[s] > 0:
                    live[cell, n_live[cell]] = s
                    n_live[cell] += 1
    cell, total = cell_of(0, n), 0.0
    if scale[cell] > -math.inf:
        for s in range(symbols):
            total += rules.roots[s] * upper[cell, s]
    if total == 0:
        return False
    for other in range(n * (n + 1) // 2):
        out_upper[other, :] = 0
    for s in range(symbols):
        out_upper[cell, s] = rules.roots[s] / total
    for width in range(n, 0, -1):
        for i in range(n - width + 1):
            j = i + width
            cell = cell_of(i, j)
            out_up = out_upper[cell]
            if scale[cell] == -math.inf:
                allowed[cell, :] = False
                continue
            for s in range(symbols):
                out_lower[s] = out_up[s]
            for r in range(len(rules.unary)):
                out_lower[rules.unary[r, 1]] += rules.unary_weights[r] * out_up[rules.unary[r, 0]]
            mass = 0.0
            for s in range(symbols):
                low = lower[cell, s] * out_lower[s]
                allowed[cell, s] = max(low, upper[cell, s] * out_up[s]) >= least
                mass += low
            if width > 1 and mass >= least * _SKIPPED:
                sums[:] = 0
                for r in range(len(rules.binary)):
                    sums[rules.binary[r, 1]] += rules.binary_weights[r] * out_lower[rules.binary[r, 0]]
                _part_children(i, j, rules, chart)
    return True


@kernel(inline=True)
def _sum_children(i, j, top, rules, chart):
    """Sum the products of what each pair of children has inside, over the places where they part."""
    upper, scale, sums = chart.upper, chart.scale, chart.sums
    sums[:] = 0
    for k in range(i + 1, j):
        a, b = cell_of(i, k), cell_of(k, j)
        factor = math.exp(scale[a] + scale[b] - top)
        if factor == 0:
            continue
        right = upper[b]
        for place in range(chart.n_live[a]):
            l = chart.live[a, place]  # noqa: E741
            value = factor * upper[a, l]
            for pair in range(rules.by_left[l], rules.by_left[l + 1]):
                sums[pair] += value * right[rules.right[pair]]


@kernel(inline=True)
def _part_children(i, j, rules, chart):
    """Give to the parts of a cell what the rules of each pair of children have outside, which ``sums`` has."""
    upper, out_upper, scale, sums = chart.upper, chart.out_upper, chart.scale, chart.sums
    here = scale[cell_of(i, j)]
    for k in range(i + 1, j):
        a, b = cell_of(i, k), cell_of(k, j)
        factor = math.exp(scale[a] + scale[b] - here)
        if factor == 0:
            continue
        right, out_right = upper[b], out_upper[b]
        for place in range(chart.n_live[a]):
            l, part = chart.live[a, place], 0.0  # noqa: E741
            value = factor * upper[a, l]
            for pair in range(rules.by_left[l], rules.by_left[l + 1]):
                c = rules.right[pair]
                part += sums[pair] * right[c]
                out_right[c] += value * sums[pair]
            out_upper[a, l] += factor * part
