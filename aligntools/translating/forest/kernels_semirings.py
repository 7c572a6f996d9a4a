"""Sums over hypergraphs: inside, posteriors, expectations and what their gradients are made of.

A node's incoming edges are given the probabilities that the derivations below it have them on top; from these
*conditional* probabilities everything else follows by sums and products, without logarithms.
"""

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(fast=False)
def edge_scores(features, weights, gamma, begin, end, scores):
    """Put ``gamma * weights . features`` of the edges ``begin:end`` into ``scores``; see `Hypergraph.features`."""
    offsets, ids, values = features
    for e in range(begin, end):
        total = 0.0
        for k in range(offsets[e], offsets[e + 1]):
            total += weights[ids[k]] * values[k]
        scores[e] = total * gamma


@kernel(fast=False)
def inside(edge_offsets, tails, scores, begin, end, beta, conditional):
    """Sum over the derivations of the nodes ``begin:end``.

    scores (float64 [edges]): Log-potentials.
    beta (float64 [nodes]): Out: log of the sum; -inf where a node has no derivation.
    conditional (float64 [edges]): Out: the share of the edge in the sum of its head.
    """
    for v in range(begin, end):
        first, last = edge_offsets[v], edge_offsets[v + 1]
        high = -np.inf
        for e in range(first, last):
            s = scores[e]
            if tails[e, 0] >= 0:
                s += beta[tails[e, 0]]
            if tails[e, 1] >= 0:
                s += beta[tails[e, 1]]
            conditional[e] = s
            if s > high:
                high = s
        if high == -np.inf:
            beta[v] = high
            for e in range(first, last):
                conditional[e] = 0.0
            continue
        total = 0.0
        for e in range(first, last):
            p = np.exp(conditional[e] - high)
            conditional[e] = p
            total += p
        beta[v] = high + np.log(total)
        for e in range(first, last):
            conditional[e] /= total


@kernel(fast=False)
def posteriors(edge_offsets, tails, conditional, begin, end, mass, posterior):
    """Hand the mass of the roots down to the edges of the nodes ``begin:end``.

    mass (float64 [nodes]): In: what each root weighs, 0 elsewhere; out: the mass of each node.
    posterior (float64 [edges]): Out.
    """
    for v in range(end - 1, begin - 1, -1):
        m = mass[v]
        for e in range(edge_offsets[v], edge_offsets[v + 1]):
            p = m * conditional[e]
            posterior[e] = p
            if tails[e, 0] >= 0:
                mass[tails[e, 0]] += p
            if tails[e, 1] >= 0:
                mass[tails[e, 1]] += p


@kernel(fast=False)
def expectations(edge_offsets, tails, conditional, posterior, rewards, begin, end, values, excess, slopes):
    """Expect a sum of the edges' rewards below each node, and differentiate the roots' by the edges' scores.

    rewards (float64 [edges]).
    values (float64 [nodes]): Out: the expectation over the derivations of each node.
    excess (float64 [nodes]): Out: mass of the node times by how much derivations with it exceed the expectation over
        all derivations.
    slopes (float64 [edges]): Out: the same of the edge: the derivative of the sum over roots, each weighing what the
        posteriors say.
    """
    for v in range(begin, end):
        first, last = edge_offsets[v], edge_offsets[v + 1]
        total = 0.0
        for e in range(first, last):
            r = rewards[e]
            if tails[e, 0] >= 0:
                r += values[tails[e, 0]]
            if tails[e, 1] >= 0:
                r += values[tails[e, 1]]
            slopes[e] = r
            total += conditional[e] * r
        values[v] = total
        excess[v] = 0.0
    for v in range(end - 1, begin - 1, -1):
        for e in range(edge_offsets[v], edge_offsets[v + 1]):
            slope = posterior[e] * (slopes[e] - values[v]) + conditional[e] * excess[v]
            slopes[e] = slope
            if tails[e, 0] >= 0:
                excess[tails[e, 0]] += slope
            if tails[e, 1] >= 0:
                excess[tails[e, 1]] += slope


@kernel(fast=False)
def surprisals(conditional, begin, end, weight, rewards):
    """Add ``weight * -log`` of the conditional probabilities to ``rewards``: expected, it is the entropy."""
    for e in range(begin, end):
        if conditional[e] > 0.0:
            rewards[e] -= weight * np.log(conditional[e])


@kernel(fast=False)
def add_features(features, factors, begin, end, out):
    """Add the features of the edges ``begin:end``, each times its factor, to ``out`` [features]."""
    offsets, ids, values = features
    for e in range(begin, end):
        factor = factors[e]
        if factor != 0.0:
            for k in range(offsets[e], offsets[e + 1]):
                out[ids[k]] += factor * values[k]


@kernel(fast=False)
def add_rows(rows, factors, begin, end, out):
    """Add ``rows`` [edges, columns] of ``begin:end``, each times its factor, to ``out`` [columns]."""
    for e in range(begin, end):
        factor = factors[e]
        if factor != 0.0:
            for c in range(rows.shape[1]):
                out[c] += factor * rows[e, c]


@kernel(fast=False)
def combine_rows(rows, coefficients, begin, end, out):
    """Put ``rows . coefficients`` of ``begin:end`` into ``out`` [edges]."""
    for e in range(begin, end):
        total = 0.0
        for c in range(rows.shape[1]):
            total += rows[e, c] * coefficients[c]
        out[e] = total
