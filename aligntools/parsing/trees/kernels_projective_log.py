"""Compiled: what `kernels_projective` computes, in log space: slower by far, for sentences that float64 cannot hold.

Inside, every item is the logarithm of its weight, and beside it the expected value of an edge function over its
derivations. Outside, what goes down the chart is not an adjoint but probability: an item hands its own to its
derivations, each the share that it has in the item's weight. So nothing can overflow, and nothing is lost that is
not far below 1e-16.
"""

import math

from aligntools.ground.compiler import kernel

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
def _share(value, slope, p, dp, a, da, b, db, p_a, dp_a, p_b, dp_b, d):
    """Hand the probability ``p`` (and its derivative) of an item of weight ``value`` to its parts."""
    if value == -math.inf:
        return
    for k in range(d):
        share = math.exp(a[k] + b[k] - value)
        moved = dp * share + p * share * (da[k] + db[k] - slope)
        share *= p
        p_a[k] += share
        dp_a[k] += moved
        p_b[k] += share
        dp_b[k] += moved


@kernel(fast=False, part=True)
def _inside(sc, fn, n, single, sq, rows):
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
def _outside_of_root(sc, fn, n, single, sq, rows, out, moved):
    """Write what the root's edges have, and hand the rest of the probability to the spans under them."""
    rt, lt, d_rt, d_lt = sq[1], sq[3], sq[6], sq[8]
    f, a, d_f, d_a = rows[0], rows[1], rows[2], rows[3]
    rows[4:8] = 0.0
    p_f, p_a, dp_f, dp_a = rows[4], rows[5], rows[6], rows[7]
    p_c, dp_c = sq[14], sq[15]
    if single:
        _share(f[n], d_f[n], 1.0, 0.0, a, d_a, rt[n - 1], d_rt[n - 1], p_a, dp_a, p_c[:, n - 1], dp_c[:, n - 1], n)
        for j in range(n):
            out[j, 0], moved[j, 0] = p_a[j], dp_a[j]
            p_c[j, 0] += p_a[j] if j else 0.0
            dp_c[j, 0] += dp_a[j] if j else 0.0
    else:
        p_f[n], dp_f[n] = 1.0, 0.0
        for j in range(n - 1, -1, -1):
            _share(
                f[j + 1],
                d_f[j + 1],
                p_f[j + 1],
                dp_f[j + 1],
                a,
                d_a,
                rt[j],
                d_rt[j],
                p_a,
                dp_a,
                p_c[:, j],
                dp_c[:, j],
                j + 1,
            )
            out[j, 0], moved[j, 0] = p_a[j], dp_a[j]
            if a[j] == -math.inf:
                continue
            _share(
                a[j] - sc[j, 0],
                d_a[j] - fn[j, 0],
                p_a[j],
                dp_a[j],
                f,
                d_f,
                lt[j],
                d_lt[j],
                p_f,
                dp_f,
                p_c[j],
                dp_c[j],
                j + 1,
            )


@kernel(fast=False, part=True)
def _outside(sc, fn, n, single, sq, rows, out, moved):
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
    _outside_of_root(sc, fn, n, single, sq, rows, out, moved)
    for d in range(n - 1, 0, -1):
        for i in range(n - d):
            j = i + d
            i1, j1 = i + 1, j + 1
            _share(
                r[i, j],
                d_r[i, j],
                p_c[i, j],
                dp_c[i, j],
                ir[i, i1:j1],
                d_ir[i, i1:j1],
                rt[j, i1:j1],
                d_rt[j, i1:j1],
                p_i[i, i1:j1],
                dp_i[i, i1:j1],
                p_c[i1:j1, j],
                dp_c[i1:j1, j],
                d,
            )
            _share(
                lf[i, j],
                d_lf[i, j],
                p_c[j, i],
                dp_c[j, i],
                lf[i, i:j],
                d_lf[i, i:j],
                il[j, i:j],
                d_il[j, i:j],
                p_c[i:j, i],
                dp_c[i:j, i],
                p_i[j, i:j],
                dp_i[j, i:j],
                d,
            )
            out[j, i1], moved[j, i1] = p_i[i, j], dp_i[i, j]
            out[i, j1], moved[i, j1] = p_i[j, i], dp_i[j, i]
            _share(
                b[i, j],
                d_b[i, j],
                p_i[i, j] + p_i[j, i],
                dp_i[i, j] + dp_i[j, i],
                r[i, i:j],
                d_r[i, i:j],
                lt[j, i1:j1],
                d_lt[j, i1:j1],
                p_c[i, i:j],
                dp_c[i, i:j],
                p_c[j, i1:j1],
                dp_c[j, i1:j1],
                d,
            )


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
        log_z[s], mean[s] = _inside(sc, fn, n, single, sq, rows)
        out[:] = 0.0
        moved[:] = 0.0
        if log_z[s] > -math.inf:
            _outside(sc, fn, n, single, sq, rows, out, moved)
