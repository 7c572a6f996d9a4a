"""Compiled: sums over all trees, projective or not, by the matrix-tree theorem without a single subtraction.

Tutte's theorem gives the partition function as the determinant of a Laplacian (Koo et al. 2007; McDonald & Satta
2007; Smith & Smith 2007). Eliminating a word k from the graph, instead of LU factors of that matrix, needs no
subtraction (Grassmann, Taksar & Heyman 1985): with ``D[k] = sum_h w(h -> k)`` over what is left,

    w(h -> m) += w(h -> k) w(k -> m) / D[k]    for all other h != m,        Z = prod_k D[k],

since the diagonal of the Laplacian stays the sum of the words' incoming weights. All terms are positive: Z is exact
to rounding even where the root's edges weigh 1e-30, where the determinant would lose every digit, and no pivoting
is needed. For a single root the root's weights are first-order: they are carried along but enter no D but the
last one, and Z is the coefficient of t in Z(t w(0 -> .)).

The marginals are the elimination run backwards (its adjoint), in O(n^3) and with absolute errors near 1e-16 n^2,
and the derivative of all of it in a direction costs three times that: so do the entropy's gradient and any
covariance with an edge function, which take O(n^4) when they are made of the inverse matrix.

Layouts are those of `kernels_projective`; inside, words are rows by modifier, ``w[m, h]``, and the root's weights
lie apart. Weights are ``exp(score - best score of that modifier)``.
"""

import math

from aligntools.ground.compiler import kernel

#: float64 squares of n x n and rows of n that the kernels need as scratch.
SQUARES, TANGENT_SQUARES, ROWS = 3, 6, 8
#: Where the total weight of a word's heads becomes less than this, log space is needed.
SMALLEST = 1e-140


@kernel(inline=True)
def _load(scores, n, single, w, root):
    """Exponentiate scores; return the sum of what was taken off and the word that must be eliminated last.

    For a single root, the best head of a word is one of the words, and the root's scores are taken relative to it:
    a tree then loses the same whichever word is its root.
    """
    shift, top, last = 0.0, -math.inf, n - 1
    for m in range(n):
        row = scores[m * (n + 1) : (m + 1) * (n + 1)]
        best = -math.inf if single else row[0]
        for h in range(n):
            if h != m and row[h + 1] > best:
                best = row[h + 1]
        if single and best == -math.inf:  # no head but the root
            best = 0.0
        shift += best
        root[m] = row[0] - best
        if root[m] > top:
            top, last = root[m], m
        for h in range(n):
            w[m, h] = math.exp(row[h + 1] - best)
        w[m, m] = 0.0
    if not single:
        top, last = 0.0, n - 1
    for m in range(n):
        root[m] = math.exp(root[m] - top)
    return shift + top, last


@kernel(inline=True)
def _swap(w, root, n, last):
    """Exchange a word with the last one."""
    if last != n - 1:
        for m in range(n):
            w[m, last], w[m, n - 1] = w[m, n - 1], w[m, last]
        for h in range(n):
            w[last, h], w[n - 1, h] = w[n - 1, h], w[last, h]
        root[last], root[n - 1] = root[n - 1], root[last]


@kernel
def matrix_tree(scores, lengths, edges, begin, end, single, scratch, log_z, marginals, unsafe):
    """Compute log partition functions and edge marginals over all trees.

    Parameters are as for `kernels_projective.inside_outside`; ``scratch`` is float64 [>= SQUARES n^2 + ROWS n].
    """
    for s in range(begin, end):
        n = lengths[s]
        unsafe[s] = 0
        if n == 0:
            log_z[s] = 0.0
            continue
        squares = scratch[: SQUARES * n * n].reshape(SQUARES, n, n)
        rows = scratch[SQUARES * n * n :][: ROWS * n].reshape(ROWS, n)
        w, g, first = squares[0], squares[1], squares[2]
        root, total, g_root, first_root = rows[0], rows[1], rows[2], rows[3]
        shift, last = _load(scores[edges[s] : edges[s + 1]], n, single, w, root)
        _swap(w, root, n, last)
        first[:] = w
        first_root[:] = root
        logs, ok = 0.0, True
        for k in range(n):
            d = root[k] if k == n - 1 or not single else 0.0
            row = w[k]
            for h in range(k + 1, n):
                d += row[h]
            total[k] = d
            if not (d > SMALLEST and d < math.inf):
                ok = False
                break
            logs += math.log(d)
            for m in range(k + 1, n):
                c = w[m, k] / d
                other = w[m]
                for h in range(k + 1, n):
                    other[h] += c * row[h]
                other[m] = 0.0
                root[m] += c * root[k]
        if not ok:
            unsafe[s] = 1
            continue
        log_z[s] = logs + shift
        for k in range(n - 1, -1, -1):
            d = total[k]
            row, mine = w[k], g[k]
            for h in range(k, n):
                mine[h] = 0.0
            own, used = 0.0, 0.0
            for m in range(k + 1, n):
                other = g[m]
                t = g_root[m] * root[k]
                c = w[m, k] / d
                for h in range(k + 1, n):
                    t += other[h] * row[h]
                    mine[h] += c * other[h]
                other[k] = t / d
                used += c * t
                own += c * g_root[m]
            bar = (1.0 - used) / d
            for h in range(k + 1, n):
                mine[h] += bar
            g_root[k] = own + bar if k == n - 1 or not single else own
        out = marginals[edges[s] : edges[s + 1]].reshape(n, n + 1)
        for m in range(n):
            a = n - 1 if m == last else (last if m == n - 1 else m)
            out[a, 0] = max(first_root[m] * g_root[m], 0.0)
            for h in range(n):
                b = n - 1 if h == last else (last if h == n - 1 else h)
                out[a, b + 1] = max(first[m, h] * g[m, h], 0.0) if h != m else 0.0


@kernel(part=True)
def _eliminate_moving(squares, rows, n, single):
    """Eliminate word after word; return ln Z, its derivative, and whether float64 holds all of it."""
    w, d_w = squares[0], squares[3]
    root, total, d_root, d_total = rows[0], rows[1], rows[4], rows[5]
    logs, expected, ok = 0.0, 0.0, True
    for k in range(n):
        counted = k == n - 1 or not single
        d, dd = (root[k], d_root[k]) if counted else (0.0, 0.0)
        row, d_row = w[k], d_w[k]
        for h in range(k + 1, n):
            d += row[h]
            dd += d_row[h]
        total[k], d_total[k] = d, dd
        if not (d > SMALLEST and d < math.inf):
            ok = False
            break
        logs += math.log(d)
        expected += dd / d
        for m in range(k + 1, n):
            c = w[m, k] / d
            dc = (d_w[m, k] - c * dd) / d
            other, d_other = w[m], d_w[m]
            for h in range(k + 1, n):
                other[h] += c * row[h]
                d_other[h] += dc * row[h] + c * d_row[h]
            other[m] = d_other[m] = 0.0
            root[m] += c * root[k]
            d_root[m] += dc * root[k] + c * d_root[k]
    return logs, expected, ok


@kernel(part=True)
def _adjoint_moving(squares, rows, n, single):
    """Run the elimination backwards: adjoints of the weights and their derivatives."""
    w, g, d_w, d_g = squares[0], squares[1], squares[3], squares[4]
    root, total, g_root = rows[0], rows[1], rows[2]
    d_root, d_total, dg_root = rows[4], rows[5], rows[6]
    for k in range(n - 1, -1, -1):
        d, dd = total[k], d_total[k]
        row, d_row, mine, d_mine = w[k], d_w[k], g[k], d_g[k]
        for h in range(k, n):
            mine[h] = d_mine[h] = 0.0
        own, d_own, used, d_used = 0.0, 0.0, 0.0, 0.0
        for m in range(k + 1, n):
            other, d_other = g[m], d_g[m]
            t = g_root[m] * root[k]
            dt = dg_root[m] * root[k] + g_root[m] * d_root[k]
            c = w[m, k] / d
            dc = (d_w[m, k] - c * dd) / d
            for h in range(k + 1, n):
                t += other[h] * row[h]
                dt += d_other[h] * row[h] + other[h] * d_row[h]
                mine[h] += c * other[h]
                d_mine[h] += dc * other[h] + c * d_other[h]
            other[k] = t / d
            d_other[k] = (dt - other[k] * dd) / d
            used += c * t
            d_used += dc * t + c * dt
            own += c * g_root[m]
            d_own += dc * g_root[m] + c * dg_root[m]
        bar = (1.0 - used) / d
        d_bar = -(d_used + bar * dd) / d
        for h in range(k + 1, n):
            mine[h] += bar
            d_mine[h] += d_bar
        if k == n - 1 or not single:
            own += bar
            d_own += d_bar
        g_root[k], dg_root[k] = own, d_own


@kernel
def expectation(scores, direction, lengths, edges, begin, end, single, scratch, log_z, marginals, mean, slopes, unsafe):
    """Compute what `matrix_tree` does and its derivative as scores move in a direction.

    Parameters are as for `kernels_projective.expectation`; ``scratch`` is float64 [>= TANGENT_SQUARES n^2 + ROWS n].
    """
    for s in range(begin, end):
        n = lengths[s]
        unsafe[s] = 0
        if n == 0:
            log_z[s] = mean[s] = 0.0
            continue
        squares = scratch[: TANGENT_SQUARES * n * n].reshape(TANGENT_SQUARES, n, n)
        rows = scratch[TANGENT_SQUARES * n * n :][: ROWS * n].reshape(ROWS, n)
        w, g, first, d_w, d_g, d_first = squares[0], squares[1], squares[2], squares[3], squares[4], squares[5]
        root, g_root, first_root = rows[0], rows[2], rows[3]
        d_root, dg_root, d_first_root = rows[4], rows[6], rows[7]
        towards = direction[edges[s] : edges[s + 1]].reshape(n, n + 1)
        shift, last = _load(scores[edges[s] : edges[s + 1]], n, single, w, root)
        for m in range(n):
            d_root[m] = root[m] * towards[m, 0]
            for h in range(n):
                d_w[m, h] = w[m, h] * towards[m, h + 1]
            d_w[m, m] = 0.0
        _swap(w, root, n, last)
        _swap(d_w, d_root, n, last)
        first[:] = w
        first_root[:] = root
        d_first[:] = d_w
        d_first_root[:] = d_root
        logs, expected, ok = _eliminate_moving(squares, rows, n, single)
        if not ok:
            unsafe[s] = 1
            continue
        log_z[s] = logs + shift
        mean[s] = expected
        _adjoint_moving(squares, rows, n, single)
        out = marginals[edges[s] : edges[s + 1]].reshape(n, n + 1)
        moved = slopes[edges[s] : edges[s + 1]].reshape(n, n + 1)
        for m in range(n):
            a = n - 1 if m == last else (last if m == n - 1 else m)
            out[a, 0] = max(first_root[m] * g_root[m], 0.0)
            moved[a, 0] = d_first_root[m] * g_root[m] + first_root[m] * dg_root[m]
            for h in range(n):
                b = n - 1 if h == last else (last if h == n - 1 else h)
                if h == m:
                    out[a, b + 1] = moved[a, b + 1] = 0.0
                else:
                    out[a, b + 1] = max(first[m, h] * g[m, h], 0.0)
                    moved[a, b + 1] = d_first[m, h] * g[m, h] + first[m, h] * d_g[m, h]


# Compiled: what `kernels_nonprojective` computes, in log space, for sentences that float64 cannot hold.
#
# The same elimination of one word after the other, but every stage is kept, O(n^3) memory, and what runs backwards is
# probability: an edge of the reduced graph hands its own to the edge that was there and to the two edges of the path
# through the eliminated word, each its share.


@kernel(fast=False, inline=True)
def _add(a, b):
    """Return ``ln(exp(a) + exp(b))``."""
    top, low = max(a, b), min(a, b)
    return top if low == -math.inf else top + math.log1p(math.exp(low - top))


@kernel(fast=False, part=True)
def _last_word(scores, n):
    """Return the word that most needs the root: it is eliminated last, so that the others have heads left."""
    last, top = n - 1, -math.inf
    for m in range(n):
        best = -math.inf
        for h in range(1, n + 1):
            if h != m + 1:
                best = max(best, scores[m * (n + 1) + h])
        x = math.inf if best == -math.inf else scores[m * (n + 1)] - best
        if x > top:
            top, last = x, m
    return last


@kernel(fast=False, part=True)
def _eliminate(n, single, stages, d_stages, totals, d_totals, log_z, mean):
    """Eliminate word after word, every stage kept; return where the stages end, or -1 where no tree is possible."""
    start = 0
    for k in range(n):
        r = n - k
        size = r * (r + 1)
        w = stages[start : start + size].reshape(r, r + 1)
        d_w = d_stages[start : start + size].reshape(r, r + 1)
        counted = 0 if k == n - 1 or not single else 1
        top = -math.inf
        for h in range(counted, r + 1):
            if h != 1:
                top = max(top, w[0, h])
        if top == -math.inf:
            log_z[0], mean[0] = -math.inf, 0.0
            return -1
        d, dd = 0.0, 0.0
        for h in range(counted, r + 1):
            if h != 1:
                x = math.exp(w[0, h] - top)
                d += x
                dd += x * d_w[0, h]
        totals[k], d_totals[k] = top + math.log(d), dd / d
        log_z[0] += totals[k]
        mean[0] += d_totals[k]
        start += size
        if r == 1:
            break
        new = stages[start : start + (r - 1) * r].reshape(r - 1, r)
        d_new = d_stages[start : start + (r - 1) * r].reshape(r - 1, r)
        for m in range(1, r):
            c, dc = w[m, 1] - totals[k], d_w[m, 1] - d_totals[k]
            for h in range(r + 1):
                if h == 1:
                    continue
                to = h if h == 0 else h - 1
                if h == m + 1:
                    new[m - 1, to], d_new[m - 1, to] = -math.inf, 0.0
                    continue
                v, dv = c + w[0, h], dc + d_w[0, h]
                both = _add(w[m, h], v)
                new[m - 1, to] = both
                if both == -math.inf:
                    d_new[m - 1, to] = 0.0
                else:
                    d_new[m - 1, to] = math.exp(w[m, h] - both) * d_w[m, h] + math.exp(v - both) * dv
    return start


@kernel(fast=False, part=True)
def _probabilities(n, single, stages, d_stages, start, totals, d_totals, squares):
    """Hand probabilities back through the stages; return which of the squares holds those of all edges."""
    # Backwards: p is the probability of the edges of the graph before a word went, q of those after.
    which = 0
    squares[0, 0], squares[1, 0], squares[0, 1], squares[1, 1] = 1.0, 0.0, 0.0, 0.0
    start -= 2
    for k in range(n - 2, -1, -1):
        r = n - k
        size = r * (r + 1)
        w_new = stages[start : start + (r - 1) * r].reshape(r - 1, r)
        d_new = d_stages[start : start + (r - 1) * r].reshape(r - 1, r)
        q = squares[which, : (r - 1) * r].reshape(r - 1, r)
        dq = squares[which + 1, : (r - 1) * r].reshape(r - 1, r)
        which = 2 - which
        start -= size
        w = stages[start : start + size].reshape(r, r + 1)
        d_w = d_stages[start : start + size].reshape(r, r + 1)
        p = squares[which, :size].reshape(r, r + 1)
        dp = squares[which + 1, :size].reshape(r, r + 1)
        p[:] = 0.0
        dp[:] = 0.0
        used, d_used = 0.0, 0.0
        for m in range(1, r):
            c, dc = w[m, 1] - totals[k], d_w[m, 1] - d_totals[k]
            for h in range(r + 1):
                if h == 1 or h == m + 1:
                    continue
                to = h if h == 0 else h - 1
                both, d_both = w_new[m - 1, to], d_new[m - 1, to]
                if both == -math.inf:
                    continue
                share = math.exp(w[m, h] - both)
                d_share = share * (d_w[m, h] - d_both)
                p[m, h] = q[m - 1, to] * share
                dp[m, h] = dq[m - 1, to] * share + q[m - 1, to] * d_share
                share = math.exp(c + w[0, h] - both)
                d_share = share * (dc + d_w[0, h] - d_both)
                x = q[m - 1, to] * share
                dx = dq[m - 1, to] * share + q[m - 1, to] * d_share
                p[m, 1] += x
                dp[m, 1] += dx
                p[0, h] += x
                dp[0, h] += dx
                used += x
                d_used += dx
        for h in range(1 if single else 0, r + 1):
            if h != 1:
                x = math.exp(w[0, h] - totals[k])
                dx = x * (d_w[0, h] - d_totals[k])
                p[0, h] += x * (1.0 - used)
                dp[0, h] += dx * (1.0 - used) - x * d_used
    return which


@kernel(fast=False)
def expectation_log(scores, direction, n, single, stages, d_stages, work, log_z, marginals, mean, slopes):
    """Compute the log partition function, marginals, a direction's expected value and its covariances.

    scores, direction, marginals, slopes (float64 [n (n + 1)]): One sentence, ``[modifier - 1, head]``.
    n (int): At least 1.
    stages, d_stages (float64 [>= sum of r (r + 1) for r = 1..n]): Scratch: the graph of the last r words, ``[modifier,
        head]`` with the root first.
    work (float64 [>= 4 n (n + 1) + 2 n]): Scratch.
    log_z, mean (float64 [1]): Written; without any possible tree -inf and 0, and zeros elsewhere.
    """
    last = _last_word(scores, n) if single else n - 1
    w = stages[: n * (n + 1)].reshape(n, n + 1)
    d_w = d_stages[: n * (n + 1)].reshape(n, n + 1)
    for m in range(n):
        a = n - 1 if m == last else (last if m == n - 1 else m)
        for h in range(n + 1):
            b = h if h == 0 else (n if h == last + 1 else (last + 1 if h == n else h))
            w[a, b] = scores[m * (n + 1) + h]
            d_w[a, b] = direction[m * (n + 1) + h]
        w[a, a + 1], d_w[a, a + 1] = -math.inf, 0.0
    totals, d_totals = work[: 2 * n].reshape(2, n)[0], work[: 2 * n].reshape(2, n)[1]
    log_z[0] = mean[0] = 0.0
    for i in range(n * (n + 1)):
        marginals[i] = slopes[i] = 0.0
    start = _eliminate(n, single, stages, d_stages, totals, d_totals, log_z, mean)
    if start < 0:
        return
    squares = work[2 * n : 2 * n + 4 * n * (n + 1)].reshape(4, n * (n + 1))
    which = _probabilities(n, single, stages, d_stages, start, totals, d_totals, squares)
    p = squares[which, : n * (n + 1)].reshape(n, n + 1)
    dp = squares[which + 1, : n * (n + 1)].reshape(n, n + 1)
    for m in range(n):
        a = n - 1 if m == last else (last if m == n - 1 else m)
        for h in range(n + 1):
            if h == m + 1:
                continue
            b = h if h == 0 else (n if h == last + 1 else (last + 1 if h == n else h))
            marginals[m * (n + 1) + h] = max(p[a, b], 0.0)
            slopes[m * (n + 1) + h] = dp[a, b]
