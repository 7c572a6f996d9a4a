"""Compiled: what `kernels_nonprojective` computes, in log space, for sentences that float64 cannot hold.

The same elimination of one word after the other, but every stage is kept, O(n^3) memory, and what runs backwards is
probability: an edge of the reduced graph hands its own to the edge that was there and to the two edges of the path
through the eliminated word, each its share.
"""

import math

from aligntools.ground.compiler import kernel


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
