"""Compiled: which symbols of a small grammar without substates are probable above which spans.

Layers, cells and scales are those of `kernels_chart`. All pairs of children's symbols are summed over the places where
they part, before rules are looked at: so the inner loops run over contiguous memory, and each rule is met once a cell.
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.constituents.kernels_chart import cell_of
from aligntools.ground.compiling import kernel


class Coarse(NamedTuple):
    """Memory of a sentence of n words."""

    lower: np.ndarray  # float64 [cells, symbols]
    upper: np.ndarray
    out_upper: np.ndarray
    scale: np.ndarray  # float64 [cells]
    out_lower: np.ndarray  # float64 [symbols]
    pairs: np.ndarray  # float64 [symbols, symbols]


@kernel(owning=False)
def probable(n, words, rules, chart, least, allowed):
    """Write which symbols are above each cell, in either layer, with a probability of at least ``least``.

    Parameters
    ----------
    words : float64 [n, tags]
    rules : kernels_chart.Rules
        Symbols have one state each.
    allowed : bool [cells, symbols]

    Returns
    -------
    bool
        False where the sentence has no tree.
    """
    symbols = len(rules.roots)
    lower, upper, out_upper, scale, out_lower, pairs = chart
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
                    _sum_pairs(i, j, top, upper, scale, pairs)
                    for r in range(len(rules.binary)):
                        low[rules.binary[r, 0]] += (
                            rules.binary_weights[r] * pairs[rules.binary[r, 1], rules.binary[r, 2]]
                        )
            total = 0.0
            for s in range(symbols):
                total += low[s]
            if total == 0:
                scale[cell] = -math.inf
                continue
            scale[cell] = top + math.log(total)
            for s in range(symbols):
                low[s] /= total
                up[s] = low[s]
            for r in range(len(rules.unary)):
                up[rules.unary[r, 0]] += rules.unary_weights[r] * low[rules.unary[r, 1]]
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
            for s in range(symbols):
                allowed[cell, s] = max(lower[cell, s] * out_lower[s], upper[cell, s] * out_up[s]) >= least
            if width > 1:
                pairs[:] = 0
                for r in range(len(rules.binary)):
                    value = rules.binary_weights[r] * out_lower[rules.binary[r, 0]]
                    pairs[rules.binary[r, 1], rules.binary[r, 2]] += value
                _part_pairs(i, j, upper, out_upper, scale, pairs)
    return True


@kernel(inline=True)
def _sum_pairs(i, j, top, upper, scale, pairs):
    """Sum the products of what two symbols have inside, over the places where they part."""
    pairs[:] = 0
    for k in range(i + 1, j):
        a, b = cell_of(i, k), cell_of(k, j)
        factor = math.exp(scale[a] + scale[b] - top)
        if factor == 0:
            continue
        right = upper[b]
        for l in range(len(pairs)):  # noqa: E741
            value = factor * upper[a, l]
            if value > 0:
                row = pairs[l]
                for c in range(len(row)):
                    row[c] += value * right[c]


@kernel(inline=True)
def _part_pairs(i, j, upper, out_upper, scale, pairs):
    """Give to the parts of a cell what its pairs of symbols have outside."""
    here = scale[cell_of(i, j)]
    for k in range(i + 1, j):
        a, b = cell_of(i, k), cell_of(k, j)
        factor = math.exp(scale[a] + scale[b] - here)
        if factor == 0:
            continue
        right, out_right = upper[b], out_upper[b]
        for l in range(len(pairs)):  # noqa: E741
            value = factor * upper[a, l]
            if value > 0:
                row, part = pairs[l], 0.0
                for c in range(len(row)):
                    part += row[c] * right[c]
                    out_right[c] += value * row[c]
                out_upper[a, l] += factor * part
