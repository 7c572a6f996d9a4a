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
def ranges_sentence(text, chain, t0, n, squared, alpha, ahead, first, scales, gamma, g0):
    """Posteriors where every token has its range of states; columns count from the range's first state.

    Returns the natural logarithm of the sentence's probability; -inf where all mass was lost.
    """
    (tokens, _, low, high), (start, transitions, stop, emissions) = text, chain
    factor = 2.0 if squared else 1.0
    loglik = 0.0
    for t in range(n):
        row, lo, size = alpha[t], low[t0 + t], high[t0 + t] - low[t0 + t]
        e = first if t == 0 else ahead[t - 1]
        peak = emission_row(emissions, tokens[t0 + t], lo, lo + size, squared, e)
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
        scales[t] = total
        loglik += math.log(total) + factor * math.log(peak)
    lo, size = low[t0 + n - 1], high[t0 + n - 1] - low[t0 + n - 1]
    total = 0.0
    for s in range(size):
        total += alpha[n - 1, s] * stop[lo + s]
    if not total > 0.0:
        return -np.inf
    loglik += math.log(total)
    beta = first
    for s in range(size):
        beta[s] = stop[lo + s] / total
    for t in range(n - 1, -1, -1):
        row, out = alpha[t], gamma[g0 + t]
        lo, size = low[t0 + t], high[t0 + t] - low[t0 + t]
        for s in range(size):
            beta[s] = beta[s] if row[s] > 0.0 else 0.0
            out[s] = row[s] * beta[s]
        for s in range(size, gamma.shape[1]):
            out[s] = 0.0
        if t > 0:
            e = ahead[t - 1]
            over = 1.0 / scales[t]
            for s in range(size):
                e[s] = e[s] * over * beta[s]
            lo_before = low[t0 + t - 1]
            for r in range(high[t0 + t - 1] - lo_before):
                step = transitions[lo_before + r, lo : lo + size]
                sum_ahead = 0.0
                for s in range(size):
                    sum_ahead += step[s] * e[s]
                beta[r] = sum_ahead
    total = 0.0
    for s in range(high[t0] - low[t0]):
        total += gamma[g0, s]
    return loglik if abs(total - 1.0) < 1e-6 else -np.inf


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
def forward_backward_block(k0, k1, base, text, chain, squared, gamma, counts, loglik):
    """Posteriors and expected counts of sentences ``k0 .. k1 - 1``.

    text: The arrays tokens, offsets, low, high.
    chain: start, transitions, stop, emissions.
    counts: start_counts, transition_counts, stop_counts.
    base (int): First sentence of the chunk: row 0 of ``gamma`` is token ``offsets[base]``, entry 0 of ``loglik`` is
        its.
    tokens (int32 [tokens]): Row of ``emissions`` of every token of the corpus.
    offsets (int64 [sentences + 1]).
    low, high (int32 [tokens] or empty): Token t may only be in states ``low[t] .. high[t] - 1``; empty: in any.
    start, stop (float64 [K]); transitions (float64 [K, K]); emissions (float64 [rows, K]).
    squared (bool): Emissions count twice: the distribution Q of reconstruction (Cheng, Liu & Xu 2017, equation 29).
    gamma (float64 [chunk's tokens, W], output): Posterior of state ``low[t] + c`` (or c) in column c; W is the largest
        range (or K).
    start_counts, stop_counts (float64 [K], added to).
    transition_counts (float64 [K, K], added to): Expected transitions over ``transitions``: to be multiplied by it.
    loglik (float64 [chunk's sentences], output): Natural logarithms; -inf for a sentence that has no path (its
        posteriors are zero), 0 for an empty one.
    """
    (tokens, offsets, low, high), (start, transitions, stop, emissions) = text, chain
    start_counts, transition_counts, stop_counts = counts
    k = len(start)
    ranged = len(low) > 0
    width = (k + LANES - 1) // LANES * LANES
    columns = gamma.shape[1] if ranged else width
    longest = longest_sentence(k0, k1, offsets)
    alpha = np.zeros((longest + 4, columns))
    ahead = np.zeros((longest + 4, columns))
    first = np.zeros(columns)
    scales = np.zeros(longest + 1)
    inner = 0 if ranged else width
    starts, stops, beta = np.zeros(inner), np.zeros(inner), np.zeros(inner)
    matrix, back, sums = np.zeros((inner, inner)), np.zeros((inner, inner)), np.zeros((inner, inner))
    if not ranged:
        padded_copies(start, transitions, stop, width, starts, matrix, back, stops)
    for sentence in range(k0, k1):
        t0 = offsets[sentence]
        n = offsets[sentence + 1] - t0
        g0 = t0 - offsets[base]
        if n == 0:
            loglik[sentence - base] = 0.0
            continue
        if ranged:
            found = ranges_sentence(text, chain, t0, n, squared, alpha, ahead, first, scales, gamma, g0)
        else:
            found = forward_all_states(
                tokens, t0, n, starts, matrix, stops, emissions, squared, width, alpha, ahead, first, scales
            )
            if found > -np.inf:
                total = backward_all_states(n, back, stops, k, width, alpha, ahead, beta, scales, gamma, g0)
                found = found if abs(total - 1.0) < 1e-6 else -np.inf
        if found > -np.inf:
            if ranged:
                for t in range(n - 1):
                    lo, lo_next = low[t0 + t], low[t0 + t + 1]
                    e = ahead[t]
                    size = high[t0 + t + 1] - lo_next
                    for r in range(high[t0 + t] - lo):
                        a = alpha[t, r]
                        into = transition_counts[lo + r, lo_next : lo_next + size]
                        for s in range(size):
                            into[s] += a * e[s]
            else:
                outer_products(alpha, ahead, n - 1, width, sums)
        else:
            found = log_sentence(text, chain, t0, n, squared, gamma, g0, transition_counts)
        loglik[sentence - base] = found
        lo, size = (low[t0], high[t0] - low[t0]) if ranged else (0, k)
        for s in range(size):
            start_counts[lo + s] += gamma[g0, s]
        lo, size = (low[t0 + n - 1], high[t0 + n - 1] - low[t0 + n - 1]) if ranged else (0, k)
        for s in range(size):
            stop_counts[lo + s] += gamma[g0 + n - 1, s]
    if not ranged:
        for s in range(k):
            for r in range(k):
                transition_counts[s, r] += sums[s, r]


@kernel
def forward_block(k0, k1, tokens, offsets, start, transitions, stop, emissions, squared, loglik):
    """Natural logarithms of the probabilities of sentences ``k0 .. k1 - 1``, over all states.

    Parameters as in `forward_backward_block`; ``loglik`` is float64 [all sentences]. Where all mass was lost
    it is NaN: the caller asks `forward_backward_block`, which knows how to go on.
    """
    k = len(start)
    width = (k + LANES - 1) // LANES * LANES
    longest = longest_sentence(k0, k1, offsets)
    alpha, ahead = np.zeros((longest, width)), np.zeros((longest, width))
    first, scales = np.zeros(width), np.zeros(longest + 1)
    starts, stops = np.zeros(width), np.zeros(width)
    matrix, back = np.zeros((width, width)), np.zeros((width, width))
    padded_copies(start, transitions, stop, width, starts, matrix, back, stops)
    for sentence in range(k0, k1):
        t0 = offsets[sentence]
        n = offsets[sentence + 1] - t0
        found = 0.0
        if n > 0:
            found = forward_all_states(
                tokens, t0, n, starts, matrix, stops, emissions, squared, width, alpha, ahead, first, scales
            )
        loglik[sentence] = found if found > -np.inf else np.nan


@kernel
def collect_block(w0, w1, ptr, occurrences, low, gamma, base_token, counts):
    """Add posteriors to the expected emissions of rows ``w0 .. w1 - 1``, in the order of the text.

    ptr (int64 [rows + 1]).
    occurrences (int64 [chunk's tokens]): Tokens (numbered over the corpus) of row w at ``ptr[w] .. ptr[w + 1]``, in
        ascending order.
    low (int32 [tokens] or empty): As in `forward_backward_block`.
    gamma (float64 [chunk's tokens, W]).
    base_token (int): Token of row 0 of ``gamma``.
    counts (float64 [rows, K], added to).
    """
    k = counts.shape[1]
    ranged = len(low) > 0
    for w in range(w0, w1):
        for at in range(ptr[w], ptr[w + 1]):
            token = occurrences[at]
            lo = low[token] if ranged else 0
            size = min(gamma.shape[1], k - lo)
            into, row = counts[w, lo : lo + size], gamma[token - base_token]
            for s in range(size):
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
def log_sentence(text, chain, t0, n, squared, gamma, g0, transition_counts):
    """Posteriors and expected transitions of one sentence, parameters as in `forward_backward_block`.

    Returns the natural logarithm of the sentence's probability; -inf, and posteriors of zero, where it has no path.
    """
    (tokens, _, low, high), (start, transitions, stop, emissions) = text, chain
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


# The k best state sequences of a chain (the max semiring; Viterbi where k is 1). Everything is in logarithms, so that
# no path is lost however long the sentence. Ties go to the lowest state, at the last position first.


@kernel(fast=False, inline=True)
def allowed(token, low, high, k):
    """First state and number of states that a token may be in."""
    if len(low) > 0:
        return low[token], high[token] - low[token]
    return 0, k


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
def k_best_block(k0, k1, n_best, text, logs, states, scores):
    """The ``n_best`` best distinct state sequences of sentences ``k0 .. k1 - 1``, best first.

    text, logs: As `forward_backward_block` takes a text and a chain, the chain in natural logarithms, -inf for zero.
    states (int32 [n_best, tokens], output): -1 where a sentence has fewer paths.
    scores (float64 [sentences, n_best], output): ``log P(x, z)``; -inf where a sentence has fewer paths. A sentence of
        no words has one, of logarithm 0.
    """
    (tokens, offsets, low, high), (log_start, log_transitions, log_stop, log_emissions) = text, logs
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
        lo, size = allowed(t0, low, high, k)
        best[:, :] = -np.inf
        for s in range(size):
            best[s, 0] = log_start[lo + s] + log_emissions[tokens[t0], lo + s]
        for t in range(1, n):
            lo_before, size_before = lo, size
            lo, size = allowed(t0 + t, low, high, k)
            for s in range(size):
                values, origins = reached[s], back[t, s]
                values[:] = -np.inf
                for r in range(size_before):
                    step = log_transitions[lo_before + r, lo + s]
                    rank = 0
                    while rank < n_best and insert(values, origins, n_best, best[r, rank] + step, r * n_best + rank):
                        rank += 1
                emission = log_emissions[tokens[t0 + t], lo + s]
                for rank in range(n_best):
                    values[rank] += emission
            for s in range(size):
                for rank in range(n_best):
                    best[s, rank] = reached[s, rank]
        final = scores[sentence]
        for s in range(size):
            rank = 0
            while rank < n_best and insert(final, last, n_best, best[s, rank] + log_stop[lo + s], s * n_best + rank):
                rank += 1
        for which in range(n_best):
            found = final[which] > -np.inf
            at = last[which]
            for t in range(n - 1, -1, -1):
                lo, size = allowed(t0 + t, low, high, k)
                s, rank = at // n_best, at % n_best
                states[which, t0 + t] = lo + s if found else -1
                at = back[t, s, rank] if t > 0 and found else 0
