"""Compiled: the best projective tree: Eisner's algorithm with maxima for the sums of `kernels_projective`.

Spans and layouts are those of `kernels_projective`; scores are added, so nothing needs a scale.
"""

import math

from aligntools.ground.compiler import kernel


@kernel(fast=False, part=True)
def _best_chart(sc, n, single, sq, f, cut, marks):
    """Fill the chart of best spans and where each is split.

    ``f[0, j]`` becomes the score of the best trees over the first j words. ``marks[0, j]`` is the root that ends
    them, and ``marks[1, r]`` the number of words before the root r's span.
    """
    r, rt, lf, lt, ir, il = sq[0], sq[1], sq[2], sq[3], sq[4], sq[5]
    cut_b, cut_r, cut_l = cut[0], cut[1], cut[2]
    for i in range(n):
        r[i, i] = rt[i, i] = lf[i, i] = lt[i, i] = 0.0
    for d in range(1, n):
        for i in range(n - d):
            j = i + d
            top, at = r[i, i] + lt[j, i + 1], i
            for k in range(i + 1, j):
                x = r[i, k] + lt[j, k + 1]
                if x > top:
                    top, at = x, k
            cut_b[i, j] = at
            ir[i, j] = sc[j, i + 1] + top
            il[j, i] = sc[i, j + 1] + top
            top, at = ir[i, i + 1] + rt[j, i + 1], i + 1
            for k in range(i + 2, j + 1):
                x = ir[i, k] + rt[j, k]
                if x > top:
                    top, at = x, k
            cut_r[i, j] = at
            r[i, j] = rt[j, i] = top
            top, at = lf[i, i] + il[j, i], i
            for k in range(i + 1, j):
                x = lf[i, k] + il[j, k]
                if x > top:
                    top, at = x, k
            cut_l[i, j] = at
            lf[i, j] = lt[j, i] = top
    f[0, 0] = 0.0
    for j in range(n):
        top, at = f[0, 0] + lt[j, 0], 0
        if not single:
            for i in range(1, j + 1):
                x = f[0, i] + lt[j, i]
                if x > top:
                    top, at = x, i
        f[1, j] = sc[j, 0] + top
        marks[1, j] = at
        if not single or j == n - 1:
            top, at = f[1, 0] + rt[j, 0], 0
            for i in range(1, j + 1):
                x = f[1, i] + rt[j, i]
                if x > top:
                    top, at = x, i
            f[0, j + 1] = top
            marks[0, j + 1] = at


@kernel(fast=False, part=True)
def _read_tree(n, cut, marks, tree):
    """Write the heads of the best tree that `_best_chart` found."""
    cut_b, cut_r, cut_l = cut[0], cut[1], cut[2]
    # Spans of two words and more that are still to be opened, as (first, last, whether complete from the left)
    stack = marks[2:5]
    left = n
    while left > 0:
        head, depth = marks[0, left], 0
        tree[head] = 0
        first = marks[1, head]
        if first < head:
            stack[0, 0], stack[1, 0], stack[2, 0] = first, head, 0
            depth = 1
        if head < left - 1:
            stack[0, depth], stack[1, depth], stack[2, depth] = head, left - 1, 1
            depth += 1
        while depth > 0:
            depth -= 1
            i, j, kind = stack[0, depth], stack[1, depth], stack[2, depth]
            if kind == 1:
                k = cut_r[i, j]
                tree[k] = i + 1
                a, b, c, d = i, k, k, j
            else:
                k = cut_l[i, j]
                tree[k] = j + 1
                a, b, c, d = k, j, i, k
            # c..d is complete the same way; the incomplete a..b opens into complete spans from either end
            if c < d:
                stack[0, depth], stack[1, depth], stack[2, depth] = c, d, kind
                depth += 1
            k = cut_b[a, b]
            if a < k:
                stack[0, depth], stack[1, depth], stack[2, depth] = a, k, 1
                depth += 1
            if k + 1 < b:
                stack[0, depth], stack[1, depth], stack[2, depth] = k + 1, b, 0
                depth += 1
        left = first


@kernel(fast=False)
def best_tree(scores, lengths, edges, words, begin, end, single, chart, splits, heads, best):
    """Find the highest-scoring tree.

    Ties go to the lowest split point of a span, the lowest root. Where no tree is possible the words get a flat
    tree (the first word under the root, the others under it) and the score is -inf.

    words (int64 [sentences + 1]): Offsets into ``heads``.
    chart (float64 [>= 6 n^2 + 2 (n + 1)]), splits (int32 [>= 3 n^2 + 6 (n + 1)]).
    heads (int32 [words]): Written: 0 for the root, else 1 to n.
    best (float64 [sentences]): The trees' scores.
    The others are as for `inside_outside`.
    """
    for s in range(begin, end):
        n = lengths[s]
        if n == 0:
            best[s] = 0.0
            continue
        sc = scores[edges[s] : edges[s + 1]].reshape(n, n + 1)
        sq = chart[: 6 * n * n].reshape(6, n, n)
        f = chart[6 * n * n :][: 2 * (n + 1)].reshape(2, n + 1)
        cut = splits[: 3 * n * n].reshape(3, n, n)
        marks = splits[3 * n * n :][: 6 * (n + 1)].reshape(6, n + 1)
        _best_chart(sc, n, single, sq, f, cut, marks)
        best[s] = f[0, n]
        tree = heads[words[s] : words[s + 1]]
        if not f[0, n] > -math.inf:
            tree[:] = 1
            tree[0] = 0
            best[s] = -math.inf
            continue
        _read_tree(n, cut, marks, tree)
