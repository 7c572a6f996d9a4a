"""Compiled: the labels of given edges, one by one, by multinomial logistic regression on hashed features."""

import math

import numpy as np

from aligntools.ground.compiling import kernel
from aligntools.parsing.features.kernels_features import GOLDEN, prepare_keys


@kernel
def label_rows(layers, starts, lengths, words, heads, sides, seeds, shift, keys, rows):
    """Find the weights' row of each feature of each word's edge.

    Parameters
    ----------
    layers, starts, lengths, sides, seeds, keys
        As for `kernels_features.add_scores`, for all sentences.
    words : int64 [sentences + 1]
    heads : int32 [words]
    shift : uint64
        64 less the binary logarithm of the number of rows.
    rows : int32 [words, templates]
        Written.
    """
    for s in range(len(lengths)):
        n = lengths[s]
        for t in range(len(sides)):
            head, right, left = keys[0], keys[1], keys[2]
            prepare_keys(layers, starts[s], n, sides[t], seeds[t], head, right, left)
            for m in range(1, n + 1):
                h = heads[words[s] + m - 1]
                x = head[h] ^ (right[m] if h < m else left[m])
                rows[words[s] + m - 1, t] = np.int32((x * GOLDEN) >> shift)


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
def fit_labels(rows, labels, order, rate, weights, squares, p):
    """Go over the words once, moving the weights by adaptive gradients (Duchi et al. 2011).

    Parameters
    ----------
    rows : int32 [words, templates]
    labels : int32 [words]
    order : int64 [words]
    rate : float32
    weights, squares : float32 [rows, labels]
        Changed; ``squares`` sums the squared gradients.
    p : float32 [labels]
        Scratch.
    """
    small = np.float32(1e-8)
    for i in order:
        _distribution(weights, rows[i], p)
        p[labels[i]] -= np.float32(1.0)
        for r in rows[i]:
            row, past = weights[r], squares[r]
            for k in range(len(p)):
                past[k] += p[k] * p[k]
                row[k] -= rate * p[k] / np.sqrt(past[k] + small)


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
