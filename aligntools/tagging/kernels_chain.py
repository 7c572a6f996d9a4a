"""Compiled: forward, backward and expected counts of a chain of K states (Rabiner 1989; the sum semiring).

    P(x, z) = start[z_1] e[x_1, z_1]  prod_t transitions[z_{t-1}, z_t] e[x_t, z_t]  stop[z_n]

Every position is scaled so that its forward probabilities sum to one, and every row of emissions by its largest
allowed entry, so long sentences neither underflow nor overflow. Where even so all mass is lost (a path that is
more than 1e300 times worse than another one and yet the only one that arrives), the sentence is worked again in
log space. A sentence of probability zero, like one of no words, adds nothing.

The inner loops run along contiguous rows, padded with zeros to whole vectors; eight rows of a matrix are taken
at a time, so that a row of results is loaded and stored once for eight products. Expected transitions are sums of
outer products of forward and backward rows, taken four positions at a time and *not* multiplied by the
transition probabilities: that the caller does once.
"""

import math

import numpy as np

from aligntools.ground.compiler import kernel

#: Rows are padded to a multiple of this many float64.
LANES = 8
#: Forward probabilities below this are zero: keeps backward ones from overflowing.
TINY = 1e-280


@kernel(inline=True)
def emission_row(emissions, word, low, high, squared, out):
    """Write states ``low .. high - 1`` of a word's emissions over their largest, which is returned."""
    peak = 0.0
    source = emissions[word, low:high]
    for s in range(high - low):
        peak = max(peak, source[s])
    if peak > 0.0:
        over = 1.0 / peak
        if squared:
            for s in range(high - low):
                e = source[s] * over
                out[s] = e * e
        else:
            for s in range(high - low):
                out[s] = source[s] * over
    else:
        for s in range(high - low):
            out[s] = 0.0
    return peak


@kernel(inline=True)
def times_matrix(vector, matrix, width, out):
    """Write ``out = vector @ matrix``; all padded with zeros to ``width``, a multiple of LANES."""
    for s in range(width):
        out[s] = 0.0
    for s in range(0, width, 8):
        v0, v1, v2, v3 = vector[s], vector[s + 1], vector[s + 2], vector[s + 3]
        v4, v5, v6, v7 = vector[s + 4], vector[s + 5], vector[s + 6], vector[s + 7]
        rows = matrix[s : s + 8]
        for j in range(width):
            out[j] += (
                v0 * rows[0, j]
                + v1 * rows[1, j]
                + v2 * rows[2, j]
                + v3 * rows[3, j]
                + v4 * rows[4, j]
                + v5 * rows[5, j]
                + v6 * rows[6, j]
                + v7 * rows[7, j]
            )


@kernel(inline=True)
def outer_products(left, right, n, width, out):
    """Add ``sum_t outer(left[t], right[t])`` over ``t < n`` to ``out``; rows from n to a multiple of four are zero."""
    for t in range(0, n, 4):
        for s in range(width):
            a0, a1, a2, a3 = left[t, s], left[t + 1, s], left[t + 2, s], left[t + 3, s]
            rows = right[t : t + 4]
            sums = out[s]
            for j in range(width):
                sums[j] += a0 * rows[0, j] + a1 * rows[1, j] + a2 * rows[2, j] + a3 * rows[3, j]


@kernel(inline=True)
def normalize(row, width):
    """Divide a row by its sum, which is returned; what is tiny then becomes zero."""
    total = 0.0
    for s in range(width):
        total += row[s]
    if total > 0.0:
        over = 1.0 / total
        for s in range(width):
            a = row[s] * over
            row[s] = a if a > TINY else 0.0
    return total


@kernel(inline=True)
def forward_all_states(tokens, t0, n, start, matrix, stop, emissions, squared, width, alpha, ahead, first, scales):
    """Forward probabilities of one sentence over all states.

    start, stop (float64 [width]); matrix (float64 [width, width]): Padded with zeros.
    alpha, ahead (float64 [>= n, width], output): Scaled forward probabilities; scaled emissions of the position *after*
        this one.
    first (float64 [width], scratch), scales (float64 [>= n], output).
    Returns the natural logarithm of the sentence's probability; -inf where all mass was lost.
    """
    k = emissions.shape[1]
    factor = 2.0 if squared else 1.0
    loglik = 0.0
    for t in range(n):
        row = alpha[t]
        e = first if t == 0 else ahead[t - 1]
        peak = emission_row(emissions, tokens[t0 + t], 0, k, squared, e)
        if t == 0:
            for s in range(width):
                row[s] = start[s] * e[s]
        else:
            times_matrix(alpha[t - 1], matrix, width, row)
            for s in range(width):
                row[s] *= e[s]
        total = normalize(row, width)
        if not total > 0.0:
            return -np.inf
        scales[t] = total
        loglik += math.log(total) + factor * math.log(peak)
    total = 0.0
    for s in range(width):
        total += alpha[n - 1, s] * stop[s]
    if not total > 0.0:
        return -np.inf
    scales[n] = total
    return loglik + math.log(total)


@kernel(inline=True)
def backward_all_states(n, back, stop, k, width, alpha, ahead, beta, scales, gamma, g0):
    """Posteriors ``gamma[g0 .. g0 + n, :k]`` of one sentence; returns the sum of the first row, 1 when all is well.

    ``ahead[t]`` becomes ``e * beta / scale`` of the next position, so that expected transitions are
    ``alpha[t]`` times ``transitions`` times ``ahead[t]``; a multiple of four of its rows is left usable.
    """
    for s in range(width):
        beta[s] = stop[s] / scales[n]
    total = 0.0
    for t in range(n - 1, -1, -1):
        row, out = alpha[t], gamma[g0 + t]
        for s in range(width):
            beta[s] = beta[s] if row[s] > 0.0 else 0.0
        for s in range(k):
            out[s] = row[s] * beta[s]
        if t > 0:
            e = ahead[t - 1]
            over = 1.0 / scales[t]
            for s in range(width):
                e[s] = e[s] * over * beta[s]
            times_matrix(e, back, width, beta)
    for s in range(k):
        total += gamma[g0, s]
    for t in range(n - 1, (n + 2) // 4 * 4):
        ahead[t, :] = 0.0
    return total


@kernel(inline=True)
def forward_ranges(tokens, low, high, chain, t0, n, alpha, e):
    """Sum over the paths of one sentence that stay in each token's range of states.

    alpha, e (float64 [>= n, W] and [W], scratch): W is the largest range.
    Returns the natural logarithm of the sum; -inf where all mass was lost.
    """
    start, transitions, stop, emissions = chain
    loglik = 0.0
    for t in range(n):
        row, lo, size = alpha[t], low[t0 + t], high[t0 + t] - low[t0 + t]
        peak = emission_row(emissions, tokens[t0 + t], lo, lo + size, False, e)
        if t == 0:
            for s in range(size):
                row[s] = start[lo + s] * e[s]
        else:
            before, lo_before = alpha[t - 1], low[t0 + t - 1]
            for s in range(size):
                row[s] = 0.0
            for r in range(high[t0 + t - 1] - lo_before):
                a = before[r]
                step = transitions[lo_before + r, lo : lo + size]
                for s in range(size):
                    row[s] += a * step[s]
            for s in range(size):
                row[s] *= e[s]
        total = normalize(row, size)
        if not total > 0.0:
            return -np.inf
        loglik += math.log(total) + math.log(peak)
    lo, size = low[t0 + n - 1], high[t0 + n - 1] - low[t0 + n - 1]
    total = 0.0
    for s in range(size):
        total += alpha[n - 1, s] * stop[lo + s]
    return loglik + math.log(total) if total > 0.0 else -np.inf


@kernel(inline=True)
def longest_sentence(k0, k1, offsets):
    """Length of the longest of sentences ``k0 .. k1 - 1``."""
    longest = 0
    for k in range(k0, k1):
        longest = max(longest, offsets[k + 1] - offsets[k])
    return longest


@kernel(inline=True)
def padded_copies(start, transitions, stop, width, starts, matrix, back, stops):
    """Copy a chain's parameters into arrays padded to ``width``; ``back`` is the transpose."""
    k = len(start)
    for s in range(k):
        starts[s], stops[s] = start[s], stop[s]
        for r in range(k):
            matrix[s, r] = transitions[s, r]
            back[r, s] = transitions[s, r]


@kernel
def forward_backward_block(k0, k1, base, tokens, offsets, chain, squared, gamma, counts, loglik):
    """Posteriors and expected counts of sentences ``k0 .. k1 - 1``.

    base (int): First sentence of the chunk: row 0 of ``gamma`` is token ``offsets[base]``, entry 0 of ``loglik`` is
        its.
    tokens (int32 [tokens]): Row of ``emissions`` of every token of the corpus.
    offsets (int64 [sentences + 1]).
    chain: start (float64 [K]), transitions (float64 [K, K]), stop (float64 [K]), emissions (float64 [rows, K]).
    squared (bool): Emissions count twice: the distribution Q of reconstruction (Cheng, Liu & Xu 2017, equation 29).
    gamma (float64 [chunk's tokens, K], output): Posteriors.
    counts: Of starts (float64 [K], added to), transitions (float64 [K, K], added to; expected ones over the chain's
        transitions: to be multiplied by these) and stops.
    loglik (float64 [chunk's sentences], output): Natural logarithms; -inf for a sentence that has no path (its
        posteriors are zero), 0 for an empty one.
    """
    start, transitions, stop, emissions = chain
    start_counts, transition_counts, stop_counts = counts
    k = len(start)
    width = (k + LANES - 1) // LANES * LANES
    longest = longest_sentence(k0, k1, offsets)
    alpha, ahead = np.zeros((longest + 4, width)), np.zeros((longest + 4, width))
    first, scales = np.zeros(width), np.zeros(longest + 1)
    starts, stops, beta = np.zeros(width), np.zeros(width), np.zeros(width)
    matrix, back, sums = np.zeros((width, width)), np.zeros((width, width)), np.zeros((width, width))
    padded_copies(start, transitions, stop, width, starts, matrix, back, stops)
    for sentence in range(k0, k1):
        t0 = offsets[sentence]
        n = offsets[sentence + 1] - t0
        g0 = t0 - offsets[base]
        if n == 0:
            loglik[sentence - base] = 0.0
            continue
        found = forward_all_states(
            tokens, t0, n, starts, matrix, stops, emissions, squared, width, alpha, ahead, first, scales
        )
        if found > -np.inf:
            total = backward_all_states(n, back, stops, k, width, alpha, ahead, beta, scales, gamma, g0)
            found = found if abs(total - 1.0) < 1e-6 else -np.inf
        if found > -np.inf:
            outer_products(alpha, ahead, n - 1, width, sums)
        else:
            found = log_sentence(tokens, chain, t0, n, squared, gamma, g0, transition_counts)
        loglik[sentence - base] = found
        for s in range(k):
            start_counts[s] += gamma[g0, s]
            stop_counts[s] += gamma[g0 + n - 1, s]
    for s in range(k):
        for r in range(k):
            transition_counts[s, r] += sums[s, r]


@kernel
def forward_block(k0, k1, tokens, offsets, low, high, widest, chain, loglik):
    """Natural logarithms of the probabilities of sentences ``k0 .. k1 - 1``, float64 [all sentences].

    low, high (int32 [tokens] or empty): Token t may only be in states ``low[t] .. high[t] - 1``, at most ``widest``;
        empty: in any. The others are as for `forward_backward_block`.
    """
    start, transitions, stop, emissions = chain
    k = len(start)
    ranged = len(low) > 0
    width = widest if ranged else (k + LANES - 1) // LANES * LANES
    inner = 0 if ranged else width
    longest = longest_sentence(k0, k1, offsets)
    alpha, ahead = np.zeros((longest, width)), np.zeros((longest, inner))
    first, scales = np.zeros(width), np.zeros(longest + 1)
    starts, stops = np.zeros(inner), np.zeros(inner)
    matrix, back = np.zeros((inner, inner)), np.zeros((inner, inner))
    if not ranged:
        padded_copies(start, transitions, stop, width, starts, matrix, back, stops)
    for sentence in range(k0, k1):
        t0 = offsets[sentence]
        n = offsets[sentence + 1] - t0
        found = 0.0
        if n > 0 and ranged:
            found = forward_ranges(tokens, low, high, chain, t0, n, alpha, first)
        elif n > 0:
            found = forward_all_states(
                tokens, t0, n, starts, matrix, stops, emissions, False, width, alpha, ahead, first, scales
            )
        if found == -np.inf:
            found = log_forward(tokens, low, high, chain, t0, n, 1.0, np.empty((n, k)), np.empty(k))
        loglik[sentence] = found


@kernel
def collect_block(w0, w1, ptr, occurrences, gamma, base_token, counts):
    """Add posteriors to the expected emissions of rows ``w0 .. w1 - 1``, in the order of the text.

    ptr (int64 [rows + 1]).
    occurrences (int64 [chunk's tokens]): Tokens (numbered over the corpus) of row w at ``ptr[w] .. ptr[w + 1]``, in
        ascending order.
    gamma (float64 [chunk's tokens, K]).
    base_token (int): Token of row 0 of ``gamma``.
    counts (float64 [rows, K], added to).
    """
    for w in range(w0, w1):
        for at in range(ptr[w], ptr[w + 1]):
            into, row = counts[w], gamma[occurrences[at] - base_token]
            for s in range(len(into)):
                into[s] += row[s]


# The chain in log space, for sentences whose probabilities do not fit in scaled numbers: many times slower than the
# scaled recursion, and hardly ever needed.


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
def log_forward(tokens, low, high, chain, t0, n, factor, alpha, terms):
    """Fill ``alpha`` [n, K] of one sentence, parameters as in `forward_block`; return its probability's logarithm.

    factor (float): How often emissions count. terms (float64 [K], scratch).
    """
    start, transitions, stop, emissions = chain
    ranged, k = len(low) > 0, len(start)
    before_lo, before_hi = 0, 0
    for t in range(n):
        lo, hi = (low[t0 + t], high[t0 + t]) if ranged else (0, k)
        for s in range(lo, hi):
            if t == 0:
                reached = log_or_zero(start[s])
            else:
                for r in range(before_lo, before_hi):
                    terms[r - before_lo] = alpha[t - 1, r] + log_or_zero(transitions[r, s])
                reached = log_sum(terms, before_hi - before_lo)
            alpha[t, s] = reached + factor * log_or_zero(emissions[tokens[t0 + t], s])
        before_lo, before_hi = lo, hi
    for s in range(before_lo, before_hi):
        terms[s - before_lo] = alpha[n - 1, s] + log_or_zero(stop[s])
    return log_sum(terms, before_hi - before_lo)


@kernel(fast=False, inline=True)
def log_sentence(tokens, chain, t0, n, squared, gamma, g0, transition_counts):
    """Posteriors and expected transitions of one sentence, parameters as in `forward_backward_block`.

    Returns the natural logarithm of the sentence's probability; -inf, and posteriors of zero, where it has no path.
    """
    _, transitions, stop, emissions = chain
    k, factor, every = len(stop), 2.0 if squared else 1.0, np.zeros(0, np.int32)
    alpha, beta, terms = np.empty((n, k)), np.empty((n, k)), np.empty(k)
    loglik = log_forward(tokens, every, every, chain, t0, n, factor, alpha, terms)
    for t in range(n):
        for s in range(k):
            gamma[g0 + t, s] = 0.0
    if loglik == -np.inf:
        return loglik
    for s in range(k):
        beta[n - 1, s] = log_or_zero(stop[s])
    for t in range(n - 2, -1, -1):
        for s in range(k):
            for after in range(k):
                e = factor * log_or_zero(emissions[tokens[t0 + t + 1], after])
                terms[after] = log_or_zero(transitions[s, after]) + e + beta[t + 1, after]
                share = math.exp(alpha[t, s] + terms[after] - loglik)
                if share > 0.0:
                    transition_counts[s, after] += share / transitions[s, after]
            beta[t, s] = log_sum(terms, k)
    for t in range(n):
        for s in range(k):
            gamma[g0 + t, s] = math.exp(alpha[t, s] + beta[t, s] - loglik)
    return loglik


# The k best state sequences of a chain (the max semiring; Viterbi where k is 1). Everything is in logarithms, so that
# no path is lost however long the sentence. Ties go to the lowest state, at the last position first.


@kernel(fast=False, inline=True)
def insert(values, origins, n, value, origin):
    """Put a value into a descending list of at most n; it stands behind its equals. Tell whether there was room."""
    if not value > values[n - 1]:
        return False
    at = n - 1
    while at > 0 and value > values[at - 1]:
        values[at], origins[at] = values[at - 1], origins[at - 1]
        at -= 1
    values[at], origins[at] = value, origin
    return True


@kernel(fast=False)
def k_best_block(k0, k1, n_best, tokens, offsets, logs, states, scores):
    """The ``n_best`` best distinct state sequences of sentences ``k0 .. k1 - 1``, best first.

    tokens, offsets: As for `forward_backward_block`; logs are a chain's natural logarithms, -inf for zero.
    states (int32 [n_best, tokens], output): -1 where a sentence has fewer paths.
    scores (float64 [sentences, n_best], output): ``log P(x, z)``; -inf where a sentence has fewer paths. A sentence of
        no words has one, of logarithm 0.
    """
    log_start, log_transitions, log_stop, log_emissions = logs
    k = len(log_start)
    back = np.zeros((longest_sentence(k0, k1, offsets), k, n_best), np.int32)
    best, reached = np.zeros((k, n_best)), np.zeros((k, n_best))
    last = np.zeros(n_best, np.int32)
    for sentence in range(k0, k1):
        t0 = offsets[sentence]
        n = offsets[sentence + 1] - t0
        scores[sentence, :] = -np.inf
        if n == 0:
            scores[sentence, 0] = 0.0
            continue
        best[:, :] = -np.inf
        for s in range(k):
            best[s, 0] = log_start[s] + log_emissions[tokens[t0], s]
        for t in range(1, n):
            for s in range(k):
                values, origins = reached[s], back[t, s]
                values[:] = -np.inf
                for r in range(k):
                    step = log_transitions[r, s]
                    rank = 0
                    while rank < n_best and insert(values, origins, n_best, best[r, rank] + step, r * n_best + rank):
                        rank += 1
                emission = log_emissions[tokens[t0 + t], s]
                for rank in range(n_best):
                    values[rank] += emission
            for s in range(k):
                for rank in range(n_best):
                    best[s, rank] = reached[s, rank]
        final = scores[sentence]
        for s in range(k):
            rank = 0
            while rank < n_best and insert(final, last, n_best, best[s, rank] + log_stop[s], s * n_best + rank):
                rank += 1
        for which in range(n_best):
            found = final[which] > -np.inf
            at = last[which]
            for t in range(n - 1, -1, -1):
                s, rank = at // n_best, at % n_best
                states[which, t0 + t] = s if found else -1
                at = back[t, s, rank] if t > 0 and found else 0
