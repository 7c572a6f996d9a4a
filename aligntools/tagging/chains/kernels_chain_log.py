"""Compiled: the chain in log space, for sentences whose probabilities do not fit in scaled numbers.

Many times slower than the scaled recursion and hardly ever needed; see `aligntools.tagging.kernels_chain`.
"""

import math

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(fast=False, inline=True)
def log_or_zero(p):
    """Natural logarithm; -inf of zero."""
    return math.log(p) if p > 0.0 else -np.inf


@kernel(fast=False, inline=True)
def log_sum(values, n):
    """``log sum exp`` of the first n values."""
    peak = -np.inf
    for s in range(n):
        peak = max(peak, values[s])
    if peak == -np.inf:
        return peak
    total = 0.0
    for s in range(n):
        total += math.exp(values[s] - peak)
    return peak + math.log(total)


@kernel(fast=False, inline=True)
def log_sentence(tokens, t0, n, low, high, start, transitions, stop, emissions, squared, gamma, g0, transition_counts):
    """Posteriors and expected transitions of one sentence, parameters as in `forward_backward_block`.

    Returns the natural logarithm of the sentence's probability; -inf, and posteriors of zero, where it has no path.
    """
    ranged = len(low) > 0
    k = len(start)
    factor = 2.0 if squared else 1.0
    alpha, beta = np.full((n, k), -np.inf), np.full((n, k), -np.inf)
    terms = np.empty(k)
    lows, highs = np.zeros(n, np.int64), np.full(n, k)
    if ranged:
        for t in range(n):
            lows[t], highs[t] = low[t0 + t], high[t0 + t]
    for t in range(n):
        for s in range(lows[t], highs[t]):
            if t == 0:
                reached = log_or_zero(start[s])
            else:
                size = highs[t - 1] - lows[t - 1]
                for r in range(size):
                    before = lows[t - 1] + r
                    terms[r] = alpha[t - 1, before] + log_or_zero(transitions[before, s])
                reached = log_sum(terms, size)
            alpha[t, s] = reached + factor * log_or_zero(emissions[tokens[t0 + t], s])
    size = highs[n - 1] - lows[n - 1]
    for r in range(size):
        s = lows[n - 1] + r
        beta[n - 1, s] = log_or_zero(stop[s])
        terms[r] = alpha[n - 1, s] + beta[n - 1, s]
    loglik = log_sum(terms, size)
    for t in range(n):
        for s in range(gamma.shape[1]):
            gamma[g0 + t, s] = 0.0
    if loglik == -np.inf:
        return loglik
    for t in range(n - 2, -1, -1):
        size = highs[t + 1] - lows[t + 1]
        for s in range(lows[t], highs[t]):
            for r in range(size):
                after = lows[t + 1] + r
                e = factor * log_or_zero(emissions[tokens[t0 + t + 1], after])
                terms[r] = log_or_zero(transitions[s, after]) + e + beta[t + 1, after]
                share = math.exp(alpha[t, s] + terms[r] - loglik)
                if share > 0.0:
                    transition_counts[s, after] += share / transitions[s, after]
            beta[t, s] = log_sum(terms, size)
    for t in range(n):
        for s in range(lows[t], highs[t]):
            gamma[g0 + t, s - lows[t]] = math.exp(alpha[t, s] + beta[t, s] - loglik)
    return loglik
