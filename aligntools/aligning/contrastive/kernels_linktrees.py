"""Compiled: the log-odds of links under boosted decision trees."""

import numpy as np

from aligntools.aligning.contrastive.kernels_features import POSTERIOR
from aligntools.ground.compiling import kernel

#: What candidates that are not there have for a posterior's log-odds.
ABSENT = np.float32(-6.0)
#: Opposite pairs of columns of ``neighbours``: on the diagonal, across it, above and below, beside.
OPPOSITE = ((0, 7), (2, 5), (1, 6), (3, 4))
#: Inputs of a candidate after the columns of its features: posteriors of the neighbours, lower and higher of each
#: opposite pair; logarithms of the link matrix's size and of how far from square it is.
SURROUNDINGS = 10


@kernel
def surroundings(k0, k1, candidates, out):
    """Fill what the trees know of candidates beside their features.

    Parameters
    ----------
    out : float32 [candidates, SURROUNDINGS], output
    """
    starts, neighbours, local = candidates.starts, candidates.neighbours, candidates.local
    for k in range(k0, k1):
        n_i = candidates.s_offsets[k + 1] - candidates.s_offsets[k]
        n_j = candidates.t_offsets[k + 1] - candidates.t_offsets[k]
        first = starts[k]  # neighbours are numbered within the sentence
        for c in range(first, starts[k + 1]):
            at = 0
            for a, b in OPPOSITE:
                x = local[first + neighbours[c, a], POSTERIOR] if neighbours[c, a] >= 0 else ABSENT
                y = local[first + neighbours[c, b], POSTERIOR] if neighbours[c, b] >= 0 else ABSENT
                out[c, at] = min(x, y)
                out[c, at + 1] = max(x, y)
                at += 2
            out[c, at] = np.log(np.float64(n_i) * n_j)
            out[c, at + 1] = abs(np.log(np.float64(n_i) / n_j))


@kernel
def tree_odds(c0, c1, local, around, roots, columns, thresholds, lefts, rights, leaves, bias, out):
    """Sum the leaves that each candidate falls into.

    Parameters
    ----------
    local, around : float32 [candidates, FEATURES], [candidates, SURROUNDINGS]
    roots : int32 [trees]
    columns : int32 [nodes]
        What a node asks about: a column of ``local``, or beyond them of ``around``; -1 in leaves.
    thresholds : float32 [nodes]
        Values up to it go to the left.
    lefts, rights : int32 [nodes]
    leaves : float32 [nodes]
    bias : float
    out : float32 [candidates], output
    """
    width = local.shape[1]
    for c in range(c0, c1):
        total = np.float64(bias)
        for r in range(roots.shape[0]):
            node = roots[r]
            while columns[node] >= 0:
                column = columns[node]
                x = local[c, column] if column < width else around[c, column - width]
                node = lefts[node] if x <= thresholds[node] else rights[node]
            total += leaves[node]
        out[c] = total
