"""Compiled: what search approximates, computed exactly or by sampling, for studies of the approximation."""

import numpy as np

from aligntools.aligning.contrastive.kernels_features import (
    FEATURES,
    FERTILITY,
    FIRST,
    LAST,
    MOST_SOURCE,
    MOST_TARGET,
    N_LINKS,
    TOTALS,
    State,
    add_link,
    clear,
    empty_features,
    is_linked,
    structural_changes,
)
from aligntools.ground.compiling import kernel


@kernel
def enumerate_alignments(pair, active, one_source, out):
    """Write the features of all ``2 ** candidates`` sets of links, by their bits as a number (float64 [n, FEATURES]).

    The features of a set are those of the set without its highest link, and what that link adds: so each is
    computed once, from the one before. ``one_source``: skip sets that link a target word twice.

    Returns
    -------
    int
        How many were written; with ``one_source`` they stand one after another.
    """
    n = pair.rows.shape[0]
    n_i, n_j = pair.s_words.shape[0], pair.t_words.shape[0]
    change = np.zeros(FEATURES)
    bits = np.empty((n + 1, (n + 63) // 64), np.uint64)
    source = np.empty((n + 1, n_i, 3), np.int32)
    target = np.empty((n + 1, n_j, 3), np.int32)
    totals = np.empty((n + 1, TOTALS), np.int32)
    crossings = np.empty((n + 1, n), np.int32)
    phi = np.empty((n + 1, FEATURES))
    chosen = np.empty(n + 1, np.int32)
    state = State(bits[0], source[0], target[0], totals[0], crossings[0])
    clear(state)
    empty_features(active, pair, phi[0])
    out[0] = phi[0]
    written = 1
    depth, c = 0, 0  # a walk over all sets: at each depth one more link, with a higher number than the last
    while True:
        if c >= n:
            if depth == 0:
                return written
            depth -= 1
            c = chosen[depth] + 1
            continue
        if one_source and target[depth, pair.columns[c], FERTILITY] > 0:
            c += 1
            continue
        state = State(bits[depth], source[depth], target[depth], totals[depth], crossings[depth])
        structural_changes(active, pair, state, c, change)
        for f in range(FEATURES):
            phi[depth + 1, f] = phi[depth, f] + (pair.local[c, f] + change[f] if active[f] else 0.0)
        bits[depth + 1] = bits[depth]
        source[depth + 1] = source[depth]
        target[depth + 1] = target[depth]
        totals[depth + 1] = totals[depth]
        crossings[depth + 1] = crossings[depth]
        state = State(bits[depth + 1], source[depth + 1], target[depth + 1], totals[depth + 1], crossings[depth + 1])
        add_link(pair.rows, pair.columns, state, c)
        chosen[depth] = c
        depth += 1
        out[written] = phi[depth]
        written += 1
        c += 1


@kernel(fast=False)
def chain_expectations(link_scores, null_scores, monotone, swap, counts, pairs):
    """Forward and backward over alignments that link each target word at most once (Dyer et al. 2011).

    The score of an alignment is the sum of ``link_scores[i, j]`` over links and of ``null_scores[j]`` over target
    words without one, plus ``monotone`` (``swap``) for each two neighbours linked to neighbours in (reverse) order.

    Parameters
    ----------
    link_scores : float64 [I, J]; null_scores : float64 [J]
        Log domain; -infinity: not allowed.
    counts : float64 [I, J], output
        Expected links.
    pairs : float64 [2], output
        Expected monotone and swap neighbours.

    Returns
    -------
    float
        ln Z.
    """
    n_i, n_j = link_scores.shape
    alpha, beta = np.empty((n_j, n_i + 1)), np.empty((n_j, n_i + 1))  # the last place is for no link
    for j in range(n_j):
        if j == 0:
            for i in range(n_i):
                alpha[0, i] = link_scores[i, 0]
            alpha[0, n_i] = null_scores[0]
            continue
        total = _log_sum(alpha[j - 1])
        for i in range(n_i + 1):
            x = _with_neighbours(alpha[j - 1], total, i, n_i, monotone, swap)
            alpha[j, i] = x + (link_scores[i, j] if i < n_i else null_scores[j])
    for i in range(n_i + 1):
        beta[n_j - 1, i] = 0.0
    ahead = np.empty(n_i + 1)
    for j in range(n_j - 2, -1, -1):
        for i in range(n_i + 1):
            ahead[i] = beta[j + 1, i] + (link_scores[i, j + 1] if i < n_i else null_scores[j + 1])
        total = _log_sum(ahead)
        for i in range(n_i + 1):
            beta[j, i] = _with_neighbours(ahead, total, i, n_i, swap, monotone)
    log_z = _log_sum(alpha[n_j - 1])
    pairs[0] = 0.0
    pairs[1] = 0.0
    for j in range(n_j):
        for i in range(n_i):
            counts[i, j] = np.exp(alpha[j, i] + beta[j, i] - log_z)
            if j + 1 < n_j:
                if i + 1 < n_i:
                    up = link_scores[i + 1, j + 1] + beta[j + 1, i + 1]
                    pairs[0] += np.exp(alpha[j, i] + monotone + up - log_z)
                if i > 0:
                    down = link_scores[i - 1, j + 1] + beta[j + 1, i - 1]
                    pairs[1] += np.exp(alpha[j, i] + swap + down - log_z)
    return log_z


@kernel(fast=False, inline=True)
def _log_sum(x):
    """Return ``ln sum exp x``."""
    most = x[0]
    for i in range(1, x.shape[0]):
        most = max(most, x[i])
    if most == -np.inf:
        return most
    total = 0.0
    for i in range(x.shape[0]):
        total += np.exp(x[i] - most)
    return most + np.log(total)


@kernel(fast=False, inline=True)
def _with_neighbours(x, total, i, n_i, from_before, from_after):
    """Return ``ln sum exp x``, ``from_before`` added to its place ``i - 1`` and ``from_after`` to ``i + 1``."""
    if i == n_i:
        return total
    before = x[i - 1] if i > 0 else -np.inf
    after = x[i + 1] if i + 1 < n_i else -np.inf
    most = total
    if before > -np.inf:
        most = max(most, before + from_before)
    if after > -np.inf:
        most = max(most, after + from_after)
    if most == -np.inf:
        return most
    rest = 0.0
    for k in range(n_i + 1):
        if k != i - 1 and (k != i + 1 or k == n_i):
            rest += np.exp(x[k] - most)
    if before > -np.inf:
        rest += np.exp(before + from_before - most)
    if after > -np.inf:
        rest += np.exp(after + from_after - most)
    return most + np.log(rest)


@kernel(inline=True)
def uniform(state):
    """Return a random number in [0, 1) and move the generator (xorshift64*; uint64 [1], not 0)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.float64((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@kernel
def remove_link(rows, columns, state, c):
    """Bring the state up to date when link ``c`` is taken away."""
    bits, source, target, totals = state.bits, state.source, state.target, state.totals
    bits[c >> 6] &= ~(np.uint64(1) << np.uint64(c & 63))
    n = rows.shape[0]
    i, j = rows[c], columns[c]
    for x in range(n):
        state.crossings[x] -= 1 if (rows[x] - i) * (columns[x] - j) < 0 else 0
    totals[N_LINKS] -= 1
    source[i, FERTILITY] = 0
    target[j, FERTILITY] = 0
    for x in range(n):
        if is_linked(bits, x) == 0:
            continue
        if rows[x] == i:
            if source[i, FERTILITY] == 0:
                source[i, FIRST] = columns[x]
            source[i, LAST] = columns[x]
            source[i, FERTILITY] += 1
        if columns[x] == j:
            if target[j, FERTILITY] == 0:
                target[j, FIRST] = rows[x]
            target[j, LAST] = rows[x]
            target[j, FERTILITY] += 1
    totals[MOST_SOURCE] = 0
    for x in range(source.shape[0]):
        totals[MOST_SOURCE] = max(totals[MOST_SOURCE], source[x, FERTILITY])
    totals[MOST_TARGET] = 0
    for x in range(target.shape[0]):
        totals[MOST_TARGET] = max(totals[MOST_TARGET], target[x, FERTILITY])


@kernel
def gibbs(pair, weights, active, generator, samples):
    """Sample alignments (Table 1 of the paper): every candidate in turn is linked or not, given all the others.

    Parameters
    ----------
    generator : uint64 [1]
        The first alignment is random, each candidate linked with probability 1/2.
    samples : float64 [n, FEATURES], output
        The features after each sweep over all candidates.
    """
    n = pair.rows.shape[0]
    state = State(
        np.empty((n + 63) // 64, np.uint64), np.empty((pair.s_words.shape[0], 3), np.int32),
        np.empty((pair.t_words.shape[0], 3), np.int32), np.empty(TOTALS, np.int32), np.empty(n, np.int32),
    )  # fmt: skip
    change = np.zeros(FEATURES)
    phi = np.empty(FEATURES)
    clear(state)
    empty_features(active, pair, phi)
    for sweep in range(-1, samples.shape[0]):
        for c in range(n):
            linked = is_linked(state.bits, c) == 1
            if linked:
                remove_link(pair.rows, pair.columns, state, c)
            structural_changes(active, pair, state, c, change)
            score = 0.0
            for f in range(FEATURES):
                if active[f]:
                    difference = pair.local[c, f] + change[f]
                    score += weights[f] * difference
                    if linked:
                        phi[f] -= difference
            p = 0.5 if sweep < 0 else 1.0 / (1.0 + np.exp(-score))
            if uniform(generator) < p:
                add_link(pair.rows, pair.columns, state, c)
                for f in range(FEATURES):
                    if active[f]:
                        phi[f] += pair.local[c, f] + change[f]
        if sweep >= 0:
            samples[sweep] = phi
