"""Compiled: inside and outside of treebank trees whose symbols have substates; linear in the trees' size.

Trees are binary, their nodes after their children. A node has a vector of as many numbers as its symbol has substates,
divided by their sum; the product of the sums is the probability of the tree.
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel


class Nodes(NamedTuple):
    """Nodes of trees, one tree after the other."""

    offsets: np.ndarray  # int64 [trees + 1]
    symbols: np.ndarray  # int32 [nodes]
    left: np.ndarray  # int32 [nodes]: the left or only child, counted from the tree's first node; -1 of a leaf
    right: np.ndarray  # int32 [nodes]: the right child; -1 of a unary node and a leaf
    rules: np.ndarray  # int32 [nodes]: number of the binary or unary rule; of a leaf, of the pair of word and tag


class RuleWeights(NamedTuple):
    """Weights of rules by node, or counts of them; blocks begin at ``at``."""

    first: np.ndarray  # int64 [symbols + 1]
    binary_at: np.ndarray  # int64 [binary rules + 1]
    binary: np.ndarray
    unary_at: np.ndarray
    unary: np.ndarray
    words_at: np.ndarray  # int64 [pairs of word and tag + 1]
    words: np.ndarray
    roots: np.ndarray  # float64 [states]


@kernel(inline=True)
def _size(nodes, first, node):
    return first[nodes.symbols[node] + 1] - first[nodes.symbols[node]]


@kernel(inline=True)
def fill_inside(nodes, tree, weights, inside):
    """Fill the inside [nodes of the tree, substates]; return the log-probability."""
    begin, end = nodes.offsets[tree], nodes.offsets[tree + 1]
    total_log = 0.0
    for node in range(begin, end):
        own, size, rule = inside[node - begin], _size(nodes, weights.first, node), nodes.rules[node]
        total = 0.0
        if nodes.left[node] < 0:
            at = weights.words_at[rule]
            for x in range(size):
                own[x] = weights.words[at + x]
        elif nodes.right[node] < 0:
            child = inside[nodes.left[node]]
            inner, at = _size(nodes, weights.first, begin + nodes.left[node]), weights.unary_at[rule]
            for x in range(size):
                own[x] = 0
                for y in range(inner):
                    own[x] += weights.unary[at] * child[y]
                    at += 1
        else:
            left, right = inside[nodes.left[node]], inside[nodes.right[node]]
            n_left = _size(nodes, weights.first, begin + nodes.left[node])
            n_right = _size(nodes, weights.first, begin + nodes.right[node])
            at = weights.binary_at[rule]
            for x in range(size):
                own[x] = 0
                for y in range(n_left):
                    part = 0.0
                    for z in range(n_right):
                        part += weights.binary[at] * right[z]
                        at += 1
                    own[x] += part * left[y]
        for x in range(size):
            total += own[x]
        if total <= 0:
            return -math.inf
        total_log += math.log(total)
        for x in range(size):
            own[x] /= total
    root, size = weights.first[nodes.symbols[end - 1]], _size(nodes, weights.first, end - 1)
    total = 0.0
    for x in range(size):
        total += weights.roots[root + x] * inside[end - 1 - begin, x]
    return total_log + math.log(total) if total > 0 else -math.inf


@kernel(owning=False)
def log_probability(nodes, weights, inside):
    """Return the log-probability of the first tree."""
    return fill_inside(nodes, 0, weights, inside)


@kernel(inline=True)
def fill_outside(nodes, tree, weights, inside, outside, counts):
    """Fill the outside, so that inside times outside of a node sums to 1, and add the expected number of each rule."""
    begin, end = nodes.offsets[tree], nodes.offsets[tree + 1]
    first = weights.first
    root, size = first[nodes.symbols[end - 1]], _size(nodes, first, end - 1)
    total = 0.0
    for x in range(size):
        total += weights.roots[root + x] * inside[end - 1 - begin, x]
    for x in range(size):
        outside[end - 1 - begin, x] = weights.roots[root + x] / total
        counts.roots[root + x] += outside[end - 1 - begin, x] * inside[end - 1 - begin, x]
    for node in range(end - 1, begin - 1, -1):
        own, size, rule = outside[node - begin], _size(nodes, first, node), nodes.rules[node]
        if nodes.left[node] < 0:
            at = weights.words_at[rule]
            for x in range(size):
                counts.words[at + x] += own[x] * inside[node - begin, x]
        elif nodes.right[node] < 0:
            child, below = inside[nodes.left[node]], outside[nodes.left[node]]
            inner, at = _size(nodes, first, begin + nodes.left[node]), weights.unary_at[rule]
            total = 0.0
            for x in range(size):
                for y in range(inner):
                    total += own[x] * weights.unary[at + x * inner + y] * child[y]
            for y in range(inner):
                below[y] = 0
            for x in range(size):
                for y in range(inner):
                    value = own[x] * weights.unary[at] / total
                    below[y] += value
                    counts.unary[at] += value * child[y]
                    at += 1
        else:
            left, right = inside[nodes.left[node]], inside[nodes.right[node]]
            over_left, over_right = outside[nodes.left[node]], outside[nodes.right[node]]
            n_left = _size(nodes, first, begin + nodes.left[node])
            n_right = _size(nodes, first, begin + nodes.right[node])
            at, total = weights.binary_at[rule], 0.0
            for y in range(n_left):
                over_left[y] = 0
            for z in range(n_right):
                over_right[z] = 0
            for x in range(size):
                for y in range(n_left):
                    part = 0.0
                    for z in range(n_right):
                        weight = weights.binary[at]
                        at += 1
                        part += weight * right[z]
                        over_right[z] += own[x] * left[y] * weight
                    over_left[y] += own[x] * part
                    total += own[x] * left[y] * part
            for y in range(n_left):
                over_left[y] /= total
            for z in range(n_right):
                over_right[z] /= total
            at = weights.binary_at[rule]
            for x in range(size):
                for y in range(n_left):
                    value = own[x] * left[y] / total
                    for z in range(n_right):
                        counts.binary[at] += value * weights.binary[at] * right[z]
                        at += 1


@kernel(owning=False)
def expect(nodes, first_tree, last_tree, weights, inside, outside, counts):
    """Add up the expected numbers of rules in some trees; return the log-probability of those that have one."""
    total = 0.0
    for tree in range(first_tree, last_tree):
        value = fill_inside(nodes, tree, weights, inside)
        if value > -math.inf:
            total += value
            fill_outside(nodes, tree, weights, inside, outside, counts)
    return total


@kernel(owning=False)
def losses(nodes, first_tree, last_tree, weights, inside, outside, counts, share, found):
    """Add up what the log-probability of some trees loses where two substates become one (Petrov et al. 2006).

    Substates 2 k and 2 k + 1 of a symbol are a pair.

    share (float64 [states]): Of a pair, how often each of the two occurs; they sum to 1.
    found (float64 [states]): At the first state of each pair.
    """
    first = weights.first
    for tree in range(first_tree, last_tree):
        if fill_inside(nodes, tree, weights, inside) == -math.inf:
            continue
        fill_outside(nodes, tree, weights, inside, outside, counts)
        begin = nodes.offsets[tree]
        for node in range(begin, nodes.offsets[tree + 1]):
            state, size = first[nodes.symbols[node]], _size(nodes, first, node)
            own, out, total = inside[node - begin], outside[node - begin], 0.0
            for x in range(size):
                total += own[x] * out[x]
            for x in range(0, size - 1, 2):
                apart = own[x] * out[x] + own[x + 1] * out[x + 1]
                mean = share[state + x] * own[x] + share[state + x + 1] * own[x + 1]
                merged = mean * (out[x] + out[x + 1])
                found[state + x] += math.log(max(total, 1e-300)) - math.log(max(total - apart + merged, 1e-300))
