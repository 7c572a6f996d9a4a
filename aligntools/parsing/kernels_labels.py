"""Compiled: the labels of given edges, one by one, by multinomial logistic regression on hashed features."""

import math

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.parsing.kernels_features import GOLDEN, prepare_keys


@kernel
def label_rows(layers, starts, lengths, edges, heads, modifiers, sides, seeds, shift, keys, rows):
    """Find the weights' row of each feature of each edge.

    layers, starts, lengths, sides, seeds, keys: As for `kernels_features.add_scores`, for all sentences.
    edges (int64 [sentences + 1]): Where the edges of each sentence begin.
    heads, modifiers (int32 [edges]): 0 for the root, 1 to n.
    shift (uint64): 64 less the binary logarithm of the number of rows.
    rows (int32 [edges, templates]): Written.
    """
    for s in range(len(lengths)):
        n = lengths[s]
        for t in range(len(sides)):
            head, right, left = keys[0], keys[1], keys[2]
            prepare_keys(layers, starts[s], n, sides[t], seeds[t], head, right, left)
            for e in range(edges[s], edges[s + 1]):
                h, m = heads[e], modifiers[e]
                x = head[h] ^ (right[m] if h < m else left[m])
                rows[e, t] = np.int32((x * GOLDEN) >> shift)


@kernel(inline=True)
def _distribution(weights, rows, p):
    """Write the probabilities of the labels."""
    p[:] = np.float32(0.0)
    for r in rows:
        row = weights[r]
        for k in range(len(p)):
            p[k] += row[k]
    top = p[0]
    for k in range(len(p)):
        top = max(top, p[k])
    total = np.float32(0.0)
    for k in range(len(p)):
        p[k] = math.exp(p[k] - top)
        total += p[k]
    for k in range(len(p)):
        p[k] /= total


@kernel
def fit_labels(rows, starts, labels, shares, order, rate, weights, squares, p):
    """Go over the edges once, moving the weights by adaptive gradients (Duchi et al. 2011).

    rows (int32 [edges, templates]).
    starts (int64 [edges + 1]): Where the labels of each edge begin.
    labels (int32 [labels of edges]).
    shares (float32 [labels of edges]): What each of them counts.
    order (int64 [edges]), rate (float32).
    weights, squares (float32 [rows, labels]): Changed; ``squares`` sums the squared gradients.
    p (float32 [labels]): Scratch.
    """
    small = np.float32(1e-8)
    for i in order:
        _distribution(weights, rows[i], p)
        total = np.float32(0.0)
        for e in range(starts[i], starts[i + 1]):
            total += shares[e]
        for k in range(len(p)):
            p[k] *= total
        for e in range(starts[i], starts[i + 1]):
            p[labels[e]] -= shares[e]
        for r in rows[i]:
            row, past = weights[r], squares[r]
            for k in range(len(p)):
                past[k] += p[k] * p[k]
                row[k] -= rate * p[k] / np.sqrt(past[k] + small)


@kernel
def label_distributions(rows, weights, found):
    """Write the probabilities of each edge's labels, float32 [edges, labels]."""
    for i in range(len(rows)):
        _distribution(weights, rows[i], found[i])


@kernel
def blend(theirs, share, least, found):
    """Replace distributions by their geometric mean with others.

    theirs (float32 [edges, labels]).
    share (float64): Of ``found``.
    least (float64): Added to all probabilities.
    found (float32 [edges, labels]): Changed.
    """
    for i in range(len(found)):
        own, other = found[i], theirs[i]
        for k in range(len(own)):
            logarithm = share * math.log(own[k] + least) + (1.0 - share) * math.log(other[k] + least)
            own[k] = math.exp(logarithm)
        total = 0.0
        for k in range(len(own)):
            total += own[k]
        for k in range(len(own)):
            own[k] /= total


@kernel
def find_labels(rows, weights, scores, labels):
    """Write each word's best label, the first of equals; ``scores`` is scratch, float32 [labels]."""
    for i in range(len(rows)):
        scores[:] = np.float32(0.0)
        for r in rows[i]:
            row = weights[r]
            for k in range(len(scores)):
                scores[k] += row[k]
        best = 0
        for k in range(1, len(scores)):
            if scores[k] > scores[best]:
                best = k
        labels[i] = best
