"""Compiled: inside and outside over a grammar of binary rules between all symbols, for induction from tags.

A grammar has K symbols above spans of two words and more, and T tags above words. A symbol has two children, of which
each is a symbol or a tag. Rules stand in four tables, so that those of a span are read in order: ``NN[A, B, C]``
between symbols, ``TN[t, A, C]`` with tag t on the left, ``NT[t, A, B]`` with it on the right, ``TT[t, u, A]`` of tags.

    in(i, j, A) = sum_k sum_BC p(A -> B C) in(i, k, B) in(k, j, C)                      (Baker 1979; Lari & Young 1990)

The numbers of a span are kept divided by their sum, whose logarithm is ``scale``; so sentences of any length neither
under- nor overflow. ``out(i, j, A)`` is kept multiplied by that sum and divided by the probability of the sentence:
times ``in`` it is the probability that A is above the span.

A sentence may have brackets (Pereira & Schabes 1992): spans that cross one of them are closed, and have nothing inside.
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel


class TensorRules(NamedTuple):
    """Probabilities of rules, or sums over them."""

    roots: np.ndarray  # float64 [K]
    symbols: np.ndarray  # float64 [K, K, K]: NN
    left_tag: np.ndarray  # float64 [T, K, K]: TN
    right_tag: np.ndarray  # float64 [T, K, K]: NT
    tags: np.ndarray  # float64 [T, T, K]: TT


class TensorChart(NamedTuple):
    """Memory of a sentence of up to n words; spans are i, j with j one beyond the last word."""

    inside: np.ndarray  # float64 [n, n + 1, K]
    outside: np.ndarray  # float64 [n, n + 1, K]
    scale: np.ndarray  # float64 [n, n + 1]
    open: np.ndarray  # bool [n, n + 1]
    products: np.ndarray  # float64 [K, K]
    adjoint: np.ndarray  # float64 [K, K]


@kernel(inline=True)
def fill_inside(tags, rules, chart):
    """Fill the inside of a sentence of at least two words; return its log-probability."""
    n, size = len(tags), len(rules.roots)
    inside, scale, products = chart.inside, chart.scale, chart.products
    for width in range(2, n + 1):
        for i in range(n - width + 1):
            j = i + width
            here = inside[i, j]
            if not chart.open[i, j]:
                here[:], scale[i, j] = 0, -math.inf
                continue
            if width == 2:
                top = 0.0
                for a in range(size):
                    here[a] = rules.tags[tags[i], tags[i + 1], a]
            else:
                top = max(scale[i + 1, j], scale[i, j - 1])
                for k in range(i + 2, j - 1):
                    top = max(top, scale[i, k] + scale[k, j])
                if top == -math.inf:
                    here[:], scale[i, j] = 0, -math.inf
                    continue
                _children(i, j, top, inside, scale, products)
                first, last = math.exp(scale[i + 1, j] - top), math.exp(scale[i, j - 1] - top)
                right, left = inside[i + 1, j], inside[i, j - 1]
                for a in range(size):
                    by_tags = 0.0
                    row, other = rules.left_tag[tags[i], a], rules.right_tag[tags[j - 1], a]
                    for b in range(size):
                        by_tags += first * row[b] * right[b] + last * other[b] * left[b]
                    here[a] = by_tags
                if width > 3:
                    for a in range(size):
                        here[a] += _product(rules.symbols[a], products)
            total = 0.0
            for a in range(size):
                total += here[a]
            if total > 0:
                scale[i, j] = top + math.log(total)
                for a in range(size):
                    here[a] /= total
            else:
                scale[i, j] = -math.inf
    total = 0.0
    for a in range(size):
        total += rules.roots[a] * inside[0, n, a]
    return scale[0, n] + math.log(total) if total > 0 and scale[0, n] > -math.inf else -math.inf


@kernel(inline=True)
def _children(i, j, top, inside, scale, products):
    """Sum up the products of what two symbols have inside, over the places between them."""
    size = len(products)
    products[:] = 0
    for k in range(i + 2, j - 1):
        factor = math.exp(scale[i, k] + scale[k, j] - top)
        if factor == 0:
            continue
        left, right = inside[i, k], inside[k, j]
        for b in range(size):
            value, row = factor * left[b], products[b]
            for c in range(size):
                row[c] += value * right[c]


@kernel(inline=True)
def _product(first, second):
    """Return the inner product of two squares."""
    total = 0.0
    for b in range(len(first)):
        row, other, part = first[b], second[b], 0.0
        for c in range(len(row)):
            part += row[c] * other[c]
        total += part
    return total


@kernel(inline=True)
def fill_outside(tags, rules, chart, counts):
    """Fill the outside of a sentence whose inside is there, and add up what each rule is to be multiplied by.

    Adds to ``counts`` sums over spans of outside times the children's inside; times the rule's probability they are its
    expected number. Those of roots are expected numbers already.
    """
    n, size = len(tags), len(rules.roots)
    inside, outside, scale, _, products, adjoint = chart
    outside[:n, : n + 1] = 0
    total = 0.0
    for a in range(size):
        total += rules.roots[a] * inside[0, n, a]
    for a in range(size):
        outside[0, n, a] = rules.roots[a] / total
        counts.roots[a] += rules.roots[a] * inside[0, n, a] / total
    for width in range(n, 1, -1):
        for i in range(n - width + 1):
            j = i + width
            top, over = scale[i, j], outside[i, j]
            if top == -math.inf:
                continue
            if width == 2:
                factor = math.exp(-top)
                for a in range(size):
                    counts.tags[tags[i], tags[i + 1], a] += over[a] * factor
                continue
            first, last = math.exp(scale[i + 1, j] - top), math.exp(scale[i, j - 1] - top)
            right, left = inside[i + 1, j], inside[i, j - 1]
            over_right, over_left = outside[i + 1, j], outside[i, j - 1]
            for a in range(size):
                row, other = rules.left_tag[tags[i], a], rules.right_tag[tags[j - 1], a]
                sums, others = counts.left_tag[tags[i], a], counts.right_tag[tags[j - 1], a]
                by_first, by_last = over[a] * first, over[a] * last
                for b in range(size):
                    over_right[b] += by_first * row[b]
                    over_left[b] += by_last * other[b]
                    sums[b] += by_first * right[b]
                    others[b] += by_last * left[b]
            if width > 3:
                _children(i, j, top, inside, scale, products)
                adjoint[:] = 0
                for a in range(size):
                    value = over[a]
                    for b in range(size):
                        row, place = rules.symbols[a, b], adjoint[b]
                        sums, found = counts.symbols[a, b], products[b]
                        for c in range(size):
                            place[c] += value * row[c]
                            sums[c] += value * found[c]
                for k in range(i + 2, j - 1):
                    factor = math.exp(scale[i, k] + scale[k, j] - top)
                    if factor == 0:
                        continue
                    left, right = inside[i, k], inside[k, j]
                    over_left, over_right = outside[i, k], outside[k, j]
                    for b in range(size):
                        row, part, value = adjoint[b], 0.0, factor * left[b]
                        for c in range(size):
                            part += row[c] * right[c]
                            over_right[c] += value * row[c]
                        over_left[b] += factor * part


@kernel(inline=True)
def _close(n, brackets, opened):
    """Write which spans of a sentence cross none of its brackets."""
    opened[:n, : n + 1] = True
    for k in range(len(brackets)):
        begin, end = brackets[k]
        for i in range(begin):
            opened[i, begin + 1 : end] = False
        for i in range(begin + 1, end):
            opened[i, end + 1 : n + 1] = False


@kernel
def expect(tags, offsets, brackets, brackets_at, first, last, rules, chart, counts):
    """Add up expectations of sentences ``first`` to ``last``; return their log-probability and the number without one.

    Sentences of one word have no rule and count nothing.

    brackets (int32 [brackets, 2]), brackets_at (int64 [sentences + 1]): Begin and end; where those of each sentence
        begin, and the end.
    """
    total, without = 0.0, 0
    for s in range(first, last):
        sentence = tags[offsets[s] : offsets[s + 1]]
        if len(sentence) < 2:
            continue
        _close(len(sentence), brackets[brackets_at[s] : brackets_at[s + 1]], chart.open)
        value = fill_inside(sentence, rules, chart)
        if value == -math.inf:
            without += 1
            continue
        total += value
        fill_outside(sentence, rules, chart, counts)
    return total, without


@kernel
def decode(tags, offsets, first, last, rules, chart, counts, best, splits, labels, scores):
    """Find the tree of each sentence that has the most spans right, as far as the grammar knows (Goodman 1996).

    Writes for each sentence of n words 2 n - 1 nodes in ``labels`` at ``2 * offset - s``: begin, end and symbol (-1 for
    a word, -2 where the grammar has no tree: then every node branches to the right), parents before children.

    best, splits (float64 and int64 [n, n + 1]): Memory.
    labels (int32 [2 * words - sentences, 3]).
    scores (float64 [sentences]): Log-probabilities; -inf where there is no tree, 0 of a word alone.
    """
    size = len(rules.roots)
    stack = np.empty((chart.inside.shape[0] + 1, 2), np.int64)
    for s in range(first, last):
        sentence = tags[offsets[s] : offsets[s + 1]]
        n, at = len(sentence), 2 * offsets[s] - s
        if n == 0:
            continue
        good = False
        if n > 1:
            scores[s] = fill_inside(sentence, rules, chart)
            good = scores[s] > -math.inf
        if good:
            fill_outside(sentence, rules, chart, counts)
            for i in range(n):
                best[i, i + 1] = 0
            for width in range(2, n + 1):
                for i in range(n - width + 1):
                    j, own = i + width, 0.0
                    for a in range(size):
                        own += chart.inside[i, j, a] * chart.outside[i, j, a]
                    top = -1.0
                    for k in range(i + 1, j):
                        if best[i, k] + best[k, j] > top:
                            top, splits[i, j] = best[i, k] + best[k, j], k
                    best[i, j] = top + own
        depth = 1
        stack[0, 0], stack[0, 1] = 0, n
        while depth:
            depth -= 1
            i, j = stack[depth]
            labels[at, 0], labels[at, 1], labels[at, 2] = i, j, -1
            if j - i > 1:
                if good:
                    top, chosen = -1.0, 0
                    for a in range(size):
                        value = chart.inside[i, j, a] * chart.outside[i, j, a]
                        if value > top:
                            top, chosen = value, a
                    labels[at, 2], k = chosen, splits[i, j]
                else:
                    labels[at, 2], k = -2, i + 1
                stack[depth, 0], stack[depth, 1] = k, j
                stack[depth + 1, 0], stack[depth + 1, 1] = i, k
                depth += 2
            at += 1
