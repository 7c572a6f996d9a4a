"""Compiled: projective trees by Eisner's algorithm (Eisner 1996), in real space with a scale for every word.

A sentence of n words is a chart over spans ``i..j`` of words. ``R[i, j]`` and ``L[i, j]`` are complete spans headed
by their first and their last word, ``IR`` and ``IL`` incomplete ones that end in the arc between the two:

    B[i, j]  = sum_{i<=k<j} R[i, k] L[k+1, j]
    IR[i, j] = w(i -> j) B[i, j]                 IL[i, j] = w(j -> i) B[i, j]
    R[i, j]  = sum_{i<k<=j} IR[i, k] R[k, j]     L[i, j]  = sum_{i<=k<j} L[i, k] IL[k, j]

The root needs no place in the chart: with ``F[j]`` the weight of the first j words as whole trees,
``A[r] = w(0 -> r) sum_{i<=r} F[i] L[i, r]`` and ``F[j+1] = sum_{r<=j} A[r] R[r, j]``, in O(n^2). With a single root
only ``F[0]`` may begin and only ``F[n]`` end. Every sum is over contiguous memory: L and R are kept by row and by
column (``RT[j, i] = R[i, j]``).

The weight of an edge is ``exp(score - best score of that modifier)``, so that the largest is 1, and no sum over up
to (27/4)^n trees leaves the range of a float64 from above before 350 words. What is lost from below is bounded: an
item that underflows has probability at most ``1e-308 * 6.75^n / Z``. Where Z is too small for that to be nothing
the sentence is marked as unsafe, to be done again in log space (`expectation_log`).

Layouts: a batch of sentences is ``lengths`` int64 [sentences] and ``edges`` int64 [sentences + 1], offsets into flat
arrays over edges. The edges of a sentence are n rows of n + 1: ``[modifier - 1, head]``, head 0 the root; the entry
of a word as its own head is never read, and 0 in what is written.
"""

import math

from aligntools.ground.compiler import kernel

#: float64 squares of n x n that the kernels need as scratch, and rows of n + 1.
SQUARES, TANGENT_SQUARES, ROWS = 14, 28, 16
#: Natural log of the factor by which trees of n words can at most grow with every word (27/4).
GROWTH = 1.91
#: Smallest ln Z above that is safe, see above: ln 1e-280.
FLOOR = -644.7
#: Largest ln Z either way whose square a float64 holds with room to spare.
FAR = 230.0


@kernel(inline=True)
def _weights(scores, n, weights, root):
    """Exponentiate scores against the best of each modifier; return the sum of these, or NaN where one has no head."""
    shift = 0.0
    for m in range(n):
        row = scores[m * (n + 1) : (m + 1) * (n + 1)]
        best = row[0]
        for h in range(n):
            if h != m and row[h + 1] > best:
                best = row[h + 1]
        shift += best
        root[m] = math.exp(row[0] - best)
        for h in range(n):
            weights[m, h] = math.exp(row[h + 1] - best)
        weights[m, m] = 0.0
    return shift


# Compiled: what `kernels_projective` computes, in log space: slower by far, for sentences that float64 cannot hold.
#
# Inside, every item is the logarithm of its weight, and beside it the expected value of an edge function over its
# derivations. Outside, what goes down the chart is not an adjoint but probability: an item hands its own to its
# derivations, each the share that it has in the item's weight. So nothing can overflow, and nothing is lost that is
# not far below 1e-16.


@kernel(inline=True)
def _inside(w, root, n, single, r, rt, lf, lt, ir, il, f, a):
    """Fill the chart; ``lf`` is L by row, ``lt`` and ``il`` by column; return Z."""
    for i in range(n):
        r[i, i] = rt[i, i] = lf[i, i] = lt[i, i] = 1.0
    for d in range(1, n):
        for i in range(n - d):
            j = i + d
            left, right = r[i, i:j], lt[j, i + 1 : j + 1]
            total = 0.0
            for k in range(d):
                total += left[k] * right[k]
            ir[i, j] = w[j, i] * total
            il[j, i] = w[i, j] * total
            left, right = ir[i, i + 1 : j + 1], rt[j, i + 1 : j + 1]
            total = 0.0
            for k in range(d):
                total += left[k] * right[k]
            r[i, j] = rt[j, i] = total
            left, right = lf[i, i:j], il[j, i:j]
            total = 0.0
            for k in range(d):
                total += left[k] * right[k]
            lf[i, j] = lt[j, i] = total
    if single:
        z = 0.0
        for j in range(n):
            a[j] = root[j] * lt[j, 0]
            z += a[j] * r[j, n - 1]
        return z
    f[0] = 1.0
    for j in range(n):
        total = 0.0
        for i in range(j + 1):
            total += f[i] * lt[j, i]
        a[j] = root[j] * total
        total = 0.0
        for i in range(j + 1):
            total += a[i] * rt[j, i]
        f[j + 1] = total
    return f[n]


@kernel
def inside_outside(scores, lengths, edges, begin, end, single, chart, log_z, marginals, unsafe):
    """Compute log partition functions and edge marginals.

    scores, marginals (float64 [edges]), lengths (int64 [sentences]), edges (int64 [sentences + 1]).
    begin, end (int): The sentences to do.
    single (bool): Whether exactly one word has the root as its head.
    chart (float64 [>= SQUARES n^2 + ROWS (n + 1)]): Scratch, for the longest sentence.
    log_z (float64 [sentences]).
    unsafe (uint8 [sentences]): 1 where float64 does not hold the sentence; nothing else of it is then to be read.
    """
    for s in range(begin, end):
        n = lengths[s]
        unsafe[s] = 0
        if n == 0:
            log_z[s] = 0.0
            continue
        squares = chart[: SQUARES * n * n].reshape(SQUARES, n, n)
        rows = chart[SQUARES * n * n :][: ROWS * (n + 1)].reshape(ROWS, n + 1)
        w, r, rt, lf, lt = squares[0], squares[1], squares[2], squares[3], squares[4]
        ir, il = squares[5], squares[6]
        root, f, a = rows[0], rows[1], rows[2]
        shift = _weights(scores[edges[s] : edges[s + 1]], n, w, root)
        z = _inside(w, root, n, single, r, rt, lf, lt, ir, il, f, a)
        if not (z > 0.0 and z < math.inf and math.log(z) > GROWTH * n + FLOOR):
            unsafe[s] = 1
            continue
        log_z[s] = math.log(z) + shift
        # The adjoints of ln Z, from the largest spans down.
        squares[7:13] = 0.0
        rows[3:5] = 0.0
        g_r, g_rt, g_lf, g_lt = squares[7], squares[8], squares[9], squares[10]
        g_ir, g_il = squares[11], squares[12]
        g_f, g_a = rows[3], rows[4]
        out = marginals[edges[s] : edges[s + 1]].reshape(n, n + 1)
        if single:
            for j in range(n):
                out[j, 0] = a[j] * r[j, n - 1] / z
                g_rt[n - 1, j] = a[j] / z
                g_lt[j, 0] = root[j] * r[j, n - 1] / z
        else:
            g_f[n] = 1.0 / z
            for j in range(n - 1, -1, -1):
                g = g_f[j + 1]
                for i in range(j + 1):
                    g_a[i] += g * rt[j, i]
                    g_rt[j, i] += g * a[i]
                out[j, 0] = g_a[j] * a[j]
                g = g_a[j] * root[j]
                for i in range(j + 1):
                    g_f[i] += g * lt[j, i]
                    g_lt[j, i] += g * f[i]
        for d in range(n - 1, 0, -1):
            for i in range(n - d):
                j = i + d
                g = g_r[i, j] + g_rt[j, i]
                left, right = ir[i, i + 1 : j + 1], rt[j, i + 1 : j + 1]
                g_left, g_right = g_ir[i, i + 1 : j + 1], g_rt[j, i + 1 : j + 1]
                for k in range(d):
                    g_left[k] += g * right[k]
                    g_right[k] += g * left[k]
                g = g_lf[i, j] + g_lt[j, i]
                left, right = lf[i, i:j], il[j, i:j]
                g_left, g_right = g_lf[i, i:j], g_il[j, i:j]
                for k in range(d):
                    g_left[k] += g * right[k]
                    g_right[k] += g * left[k]
                out[j, i + 1] = g_ir[i, j] * ir[i, j]
                out[i, j + 1] = g_il[j, i] * il[j, i]
                g = g_ir[i, j] * w[j, i] + g_il[j, i] * w[i, j]
                left, right = r[i, i:j], lt[j, i + 1 : j + 1]
                g_left, g_right = g_r[i, i:j], g_lt[j, i + 1 : j + 1]
                for k in range(d):
                    g_left[k] += g * right[k]
                    g_right[k] += g * left[k]
        for j in range(n):
            out[j, j + 1] = 0.0


@kernel(inline=True)
def _dot(a, da, b, db, d):
    """Return the inner product of two rows and its derivative."""
    total, slope = 0.0, 0.0
    for k in range(d):
        total += a[k] * b[k]
        slope += a[k] * db[k] + da[k] * b[k]
    return total, slope


@kernel(inline=True)
def _spread(g, dg, rows, adjoints, d):
    """Hand the adjoint of an inner product to its two rows, with the derivatives of everything."""
    (a, da, b, db), (g_a, dg_a, g_b, dg_b) = rows, adjoints
    for k in range(d):
        g_a[k] += g * b[k]
        dg_a[k] += dg * b[k] + g * db[k]
        g_b[k] += g * a[k]
        dg_b[k] += dg * a[k] + g * da[k]


@kernel(part=True)
def _inside_moving(sq, rows, n, single):
    """Fill the chart and its derivatives; return Z and its derivative. Squares and rows are as in `expectation`."""
    w, r, rt, lf, lt, ir, il = sq[0], sq[1], sq[2], sq[3], sq[4], sq[5], sq[6]
    d_w, d_r, d_rt, d_lf, d_lt, d_ir, d_il = sq[7], sq[8], sq[9], sq[10], sq[11], sq[12], sq[13]
    root, f, a, d_root, d_f, d_a = rows[0], rows[1], rows[2], rows[5], rows[6], rows[7]
    for i in range(n):
        r[i, i] = rt[i, i] = lf[i, i] = lt[i, i] = 1.0
        d_r[i, i] = d_rt[i, i] = d_lf[i, i] = d_lt[i, i] = 0.0
    for d in range(1, n):
        for i in range(n - d):
            j = i + d
            t, dt = _dot(r[i, i:j], d_r[i, i:j], lt[j, i + 1 : j + 1], d_lt[j, i + 1 : j + 1], d)
            ir[i, j], d_ir[i, j] = w[j, i] * t, d_w[j, i] * t + w[j, i] * dt
            il[j, i], d_il[j, i] = w[i, j] * t, d_w[i, j] * t + w[i, j] * dt
            t, dt = _dot(ir[i, i + 1 : j + 1], d_ir[i, i + 1 : j + 1], rt[j, i + 1 : j + 1], d_rt[j, i + 1 : j + 1], d)
            r[i, j] = rt[j, i] = t
            d_r[i, j] = d_rt[j, i] = dt
            t, dt = _dot(lf[i, i:j], d_lf[i, i:j], il[j, i:j], d_il[j, i:j], d)
            lf[i, j] = lt[j, i] = t
            d_lf[i, j] = d_lt[j, i] = dt
    z, dz = 0.0, 0.0
    if single:
        for j in range(n):
            a[j], d_a[j] = root[j] * lt[j, 0], d_root[j] * lt[j, 0] + root[j] * d_lt[j, 0]
            z += a[j] * r[j, n - 1]
            dz += d_a[j] * r[j, n - 1] + a[j] * d_r[j, n - 1]
    else:
        f[0], d_f[0] = 1.0, 0.0
        for j in range(n):
            t, dt = _dot(f, d_f, lt[j], d_lt[j], j + 1)
            a[j], d_a[j] = root[j] * t, d_root[j] * t + root[j] * dt
            f[j + 1], d_f[j + 1] = _dot(a, d_a, rt[j], d_rt[j], j + 1)
        z, dz = f[n], d_f[n]
    return z, dz


@kernel(part=True)
def _outside_moving(sq, rows, n, single, z, dz, out, moved):
    """Write marginals and covariances, by the adjoints of ln Z and their derivatives, from the largest spans down."""
    w, r, rt, lf, lt, ir, il = sq[0], sq[1], sq[2], sq[3], sq[4], sq[5], sq[6]
    d_w, d_r, d_rt, d_lf, d_lt, d_ir, d_il = sq[7], sq[8], sq[9], sq[10], sq[11], sq[12], sq[13]
    root, f, a, d_root, d_f, d_a = rows[0], rows[1], rows[2], rows[5], rows[6], rows[7]
    sq[14:26] = 0.0
    rows[3:5] = 0.0
    rows[8:10] = 0.0
    g_r, g_rt, g_lf, g_lt, g_ir, g_il = sq[14], sq[15], sq[16], sq[17], sq[18], sq[19]
    dg_r, dg_rt, dg_lf, dg_lt, dg_ir, dg_il = sq[20], sq[21], sq[22], sq[23], sq[24], sq[25]
    g_f, g_a, dg_f, dg_a = rows[3], rows[4], rows[8], rows[9]
    g, dg = 1.0 / z, -dz / z / z
    if single:
        for j in range(n):
            x, dx = r[j, n - 1], d_r[j, n - 1]
            out[j, 0] = a[j] * x * g
            moved[j, 0] = (d_a[j] * x + a[j] * dx) * g + a[j] * x * dg
            g_rt[n - 1, j], dg_rt[n - 1, j] = a[j] * g, d_a[j] * g + a[j] * dg
            g_lt[j, 0] = root[j] * x * g
            dg_lt[j, 0] = (d_root[j] * x + root[j] * dx) * g + root[j] * x * dg
    else:
        g_f[n], dg_f[n] = g, dg
        for j in range(n - 1, -1, -1):
            ways, theirs = (a, d_a, rt[j], d_rt[j]), (g_a, dg_a, g_rt[j], dg_rt[j])
            _spread(g_f[j + 1], dg_f[j + 1], ways, theirs, j + 1)
            out[j, 0] = g_a[j] * a[j]
            moved[j, 0] = dg_a[j] * a[j] + g_a[j] * d_a[j]
            g, dg = g_a[j] * root[j], dg_a[j] * root[j] + g_a[j] * d_root[j]
            _spread(g, dg, (f, d_f, lt[j], d_lt[j]), (g_f, dg_f, g_lt[j], dg_lt[j]), j + 1)
    for d in range(n - 1, 0, -1):
        for i in range(n - d):
            j = i + d
            i1, j1, near, far = i + 1, j + 1, slice(i, j), slice(i + 1, j + 1)
            right = ir[i, far], d_ir[i, far], rt[j, far], d_rt[j, far]
            of_right = g_ir[i, far], dg_ir[i, far], g_rt[j, far], dg_rt[j, far]
            _spread(g_r[i, j] + g_rt[j, i], dg_r[i, j] + dg_rt[j, i], right, of_right, d)
            left = lf[i, near], d_lf[i, near], il[j, near], d_il[j, near]
            of_left = g_lf[i, near], dg_lf[i, near], g_il[j, near], dg_il[j, near]
            _spread(g_lf[i, j] + g_lt[j, i], dg_lf[i, j] + dg_lt[j, i], left, of_left, d)
            out[j, i1] = g_ir[i, j] * ir[i, j]
            out[i, j1] = g_il[j, i] * il[j, i]
            moved[j, i1] = dg_ir[i, j] * ir[i, j] + g_ir[i, j] * d_ir[i, j]
            moved[i, j1] = dg_il[j, i] * il[j, i] + g_il[j, i] * d_il[j, i]
            g = g_ir[i, j] * w[j, i] + g_il[j, i] * w[i, j]
            dg = dg_ir[i, j] * w[j, i] + g_ir[i, j] * d_w[j, i] + dg_il[j, i] * w[i, j] + g_il[j, i] * d_w[i, j]
            both = r[i, near], d_r[i, near], lt[j, far], d_lt[j, far]
            _spread(g, dg, both, (g_r[i, near], dg_r[i, near], g_lt[j, far], dg_lt[j, far]), d)
    for j in range(n):
        out[j, j + 1] = moved[j, j + 1] = 0.0


@kernel
def expectation(scores, direction, lengths, edges, begin, end, single, chart, log_z, marginals, mean, slopes, unsafe):
    """Compute what `inside_outside` does, and the derivative of all of it as scores move in a direction.

    The derivative of ln Z is the expected value of the edge function ``direction``; that of an edge's marginal is
    the covariance of the function with the edge, which is the gradient of the expected value. This is inside-outside
    over the first-order expectation semiring (Eisner 2002; Li & Eisner 2009), that is, forward over reverse.

    direction (float64 [edges]): Finite.
    chart (float64 [>= TANGENT_SQUARES n^2 + ROWS (n + 1)]).
    mean (float64 [sentences]): Expected value of the direction.
    slopes (float64 [edges]): Covariances.
    The others are as for `inside_outside`.
    """
    for s in range(begin, end):
        n = lengths[s]
        unsafe[s] = 0
        if n == 0:
            log_z[s] = mean[s] = 0.0
            continue
        sq = chart[: TANGENT_SQUARES * n * n].reshape(TANGENT_SQUARES, n, n)
        rows = chart[TANGENT_SQUARES * n * n :][: ROWS * (n + 1)].reshape(ROWS, n + 1)
        w, d_w, root, d_root = sq[0], sq[7], rows[0], rows[5]
        shift = _weights(scores[edges[s] : edges[s + 1]], n, w, root)
        towards = direction[edges[s] : edges[s + 1]].reshape(n, n + 1)
        for m in range(n):
            d_root[m] = root[m] * towards[m, 0]
            for h in range(n):
                d_w[m, h] = w[m, h] * towards[m, h + 1]
        z, dz, safe = 0.0, 0.0, True
        for _ in range(2):
            z, dz = _inside_moving(sq, rows, n, single)
            safe = z > 0.0 and z < math.inf and math.log(z) > GROWTH * n + FLOOR
            if not safe or abs(math.log(z)) < FAR:
                break
            # Once more with other weights, so that Z is near 1 and its square is a number too.
            factor = math.exp(-math.log(z) / n)
            shift += math.log(z)
            for m in range(n):
                root[m] *= factor
                d_root[m] *= factor
                for h in range(n):
                    w[m, h] *= factor
                    d_w[m, h] *= factor
        if not safe:
            unsafe[s] = 1
            continue
        log_z[s] = math.log(z) + shift
        mean[s] = dz / z
        out = marginals[edges[s] : edges[s + 1]].reshape(n, n + 1)
        moved = slopes[edges[s] : edges[s + 1]].reshape(n, n + 1)
        _outside_moving(sq, rows, n, single, z, dz, out, moved)


# Compiled: the best projective tree: Eisner's algorithm with maxima for the sums of `kernels_projective`.
#
# Spans and layouts are those of `kernels_projective`; scores are added, so nothing needs a scale.


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


#: float64 squares of n x n, and rows of n + 1, that the kernel needs as scratch.
LOG_SQUARES, LOG_ROWS = 18, 10


@kernel(fast=False, inline=True)
def _sum(a, da, b, db, d):
    """Return ``ln sum_k exp(a[k] + b[k])`` and the mean of ``da + db`` under the shares."""
    top = -math.inf
    for k in range(d):
        top = max(top, a[k] + b[k])
    if top == -math.inf:
        return -math.inf, 0.0
    total, mean = 0.0, 0.0
    for k in range(d):
        share = math.exp(a[k] + b[k] - top)
        total += share
        mean += share * (da[k] + db[k])
    return top + math.log(total), mean / total


@kernel(fast=False, inline=True)
def _share(value, slope, p, dp, parts, shares, d):
    """Hand the probability ``p`` (and its derivative) of an item of weight ``value`` to its parts."""
    if value == -math.inf:
        return
    (a, da, b, db), (p_a, dp_a, p_b, dp_b) = parts, shares
    for k in range(d):
        share = math.exp(a[k] + b[k] - value)
        moved = dp * share + p * share * (da[k] + db[k] - slope)
        share *= p
        p_a[k] += share
        dp_a[k] += moved
        p_b[k] += share
        dp_b[k] += moved


@kernel(fast=False, part=True)
def _inside_log(sc, fn, n, single, sq, rows):
    """Fill the chart; return ln Z and the expected value."""
    r, rt, lf, lt, b = sq[0], sq[1], sq[2], sq[3], sq[4]
    d_r, d_rt, d_lf, d_lt, d_b = sq[5], sq[6], sq[7], sq[8], sq[9]
    ir, il, d_ir, d_il = sq[10], sq[11], sq[12], sq[13]
    f, a, d_f, d_a = rows[0], rows[1], rows[2], rows[3]
    for i in range(n):
        r[i, i] = rt[i, i] = lf[i, i] = lt[i, i] = 0.0
        d_r[i, i] = d_rt[i, i] = d_lf[i, i] = d_lt[i, i] = 0.0
    for d in range(1, n):
        for i in range(n - d):
            j = i + d
            i1, j1 = i + 1, j + 1
            b[i, j], d_b[i, j] = _sum(r[i, i:j], d_r[i, i:j], lt[j, i1:j1], d_lt[j, i1:j1], d)
            ir[i, j], d_ir[i, j] = b[i, j] + sc[j, i1], d_b[i, j] + fn[j, i1]
            il[j, i], d_il[j, i] = b[i, j] + sc[i, j1], d_b[i, j] + fn[i, j1]
            t, dt = _sum(ir[i, i1:j1], d_ir[i, i1:j1], rt[j, i1:j1], d_rt[j, i1:j1], d)
            r[i, j] = rt[j, i] = t
            d_r[i, j] = d_rt[j, i] = dt
            t, dt = _sum(lf[i, i:j], d_lf[i, i:j], il[j, i:j], d_il[j, i:j], d)
            lf[i, j] = lt[j, i] = t
            d_lf[i, j] = d_lt[j, i] = dt
    if single:
        for j in range(n):
            a[j], d_a[j] = lt[j, 0] + sc[j, 0], d_lt[j, 0] + fn[j, 0]
        f[n], d_f[n] = _sum(a, d_a, rt[n - 1], d_rt[n - 1], n)
    else:
        f[0] = d_f[0] = 0.0
        for j in range(n):
            t, dt = _sum(f, d_f, lt[j], d_lt[j], j + 1)
            a[j], d_a[j] = t + sc[j, 0], dt + fn[j, 0]
            f[j + 1], d_f[j + 1] = _sum(a, d_a, rt[j], d_rt[j], j + 1)
    return f[n], d_f[n]


@kernel(fast=False, part=True)
def _outside_of_root_log(sc, fn, n, single, sq, rows, out, moved):
    """Write what the root's edges have, and hand the rest of the probability to the spans under them."""
    rt, lt, d_rt, d_lt = sq[1], sq[3], sq[6], sq[8]
    f, a, d_f, d_a = rows[0], rows[1], rows[2], rows[3]
    rows[4:8] = 0.0
    p_f, p_a, dp_f, dp_a = rows[4], rows[5], rows[6], rows[7]
    p_c, dp_c = sq[14], sq[15]
    if single:
        parts, shares = (a, d_a, rt[n - 1], d_rt[n - 1]), (p_a, dp_a, p_c[:, n - 1], dp_c[:, n - 1])
        _share(f[n], d_f[n], 1.0, 0.0, parts, shares, n)
        for j in range(n):
            out[j, 0], moved[j, 0] = p_a[j], dp_a[j]
            p_c[j, 0] += p_a[j] if j else 0.0
            dp_c[j, 0] += dp_a[j] if j else 0.0
    else:
        p_f[n], dp_f[n] = 1.0, 0.0
        for j in range(n - 1, -1, -1):
            parts, shares = (a, d_a, rt[j], d_rt[j]), (p_a, dp_a, p_c[:, j], dp_c[:, j])
            _share(f[j + 1], d_f[j + 1], p_f[j + 1], dp_f[j + 1], parts, shares, j + 1)
            out[j, 0], moved[j, 0] = p_a[j], dp_a[j]
            if a[j] == -math.inf:
                continue
            before, under = (f, d_f, lt[j], d_lt[j]), (p_f, dp_f, p_c[j], dp_c[j])
            _share(a[j] - sc[j, 0], d_a[j] - fn[j, 0], p_a[j], dp_a[j], before, under, j + 1)


@kernel(fast=False, part=True)
def _outside_log(sc, fn, n, single, sq, rows, out, moved):
    """Write marginals and covariances, from the largest spans down."""
    r, rt, lf, lt, b = sq[0], sq[1], sq[2], sq[3], sq[4]
    d_r, d_rt, d_lf, d_lt, d_b = sq[5], sq[6], sq[7], sq[8], sq[9]
    ir, il, d_ir, d_il = sq[10], sq[11], sq[12], sq[13]
    # Probabilities of R and L in the two halves of one square, R[i, j] at [i, j] and L[i, j] at [j, i]; likewise
    # of what is incomplete. The diagonal belongs to single words and is never read.
    p_c, dp_c, p_i, dp_i = sq[14], sq[15], sq[16], sq[17]
    p_c[:] = 0.0
    dp_c[:] = 0.0
    p_i[:] = 0.0
    dp_i[:] = 0.0
    _outside_of_root_log(sc, fn, n, single, sq, rows, out, moved)
    for d in range(n - 1, 0, -1):
        for i in range(n - d):
            j = i + d
            i1, j1, near, far = i + 1, j + 1, slice(i, j), slice(i + 1, j + 1)
            right = ir[i, far], d_ir[i, far], rt[j, far], d_rt[j, far]
            of_right = p_i[i, far], dp_i[i, far], p_c[far, j], dp_c[far, j]
            _share(r[i, j], d_r[i, j], p_c[i, j], dp_c[i, j], right, of_right, d)
            left = lf[i, near], d_lf[i, near], il[j, near], d_il[j, near]
            of_left = p_c[near, i], dp_c[near, i], p_i[j, near], dp_i[j, near]
            _share(lf[i, j], d_lf[i, j], p_c[j, i], dp_c[j, i], left, of_left, d)
            out[j, i1], moved[j, i1] = p_i[i, j], dp_i[i, j]
            out[i, j1], moved[i, j1] = p_i[j, i], dp_i[j, i]
            both = r[i, near], d_r[i, near], lt[j, far], d_lt[j, far]
            of_both = p_c[i, near], dp_c[i, near], p_c[j, far], dp_c[j, far]
            _share(b[i, j], d_b[i, j], p_i[i, j] + p_i[j, i], dp_i[i, j] + dp_i[j, i], both, of_both, d)


@kernel(fast=False)
def expectation_log(scores, direction, lengths, edges, begin, end, single, chart, log_z, marginals, mean, slopes):
    """Compute log partition functions, marginals, the direction's expected value and its covariances.

    Parameters are as for `kernels_projective.expectation`; ``chart`` is float64 [>= LOG_SQUARES n^2 + LOG_ROWS
    (n + 1)]. Where no tree is possible ``log_z`` is -inf and the rest is 0.
    """
    for s in range(begin, end):
        n = lengths[s]
        if n == 0:
            log_z[s] = mean[s] = 0.0
            continue
        sc = scores[edges[s] : edges[s + 1]].reshape(n, n + 1)
        fn = direction[edges[s] : edges[s + 1]].reshape(n, n + 1)
        out = marginals[edges[s] : edges[s + 1]].reshape(n, n + 1)
        moved = slopes[edges[s] : edges[s + 1]].reshape(n, n + 1)
        sq = chart[: LOG_SQUARES * n * n].reshape(LOG_SQUARES, n, n)
        rows = chart[LOG_SQUARES * n * n :][: LOG_ROWS * (n + 1)].reshape(LOG_ROWS, n + 1)
        log_z[s], mean[s] = _inside_log(sc, fn, n, single, sq, rows)
        out[:] = 0.0
        moved[:] = 0.0
        if log_z[s] > -math.inf:
            _outside_log(sc, fn, n, single, sq, rows, out, moved)
