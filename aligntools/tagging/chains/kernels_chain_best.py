"""Compiled: the best and the k best state sequences of a chain (the max semiring of `kernels_chain`).

Everything is in logarithms, so that no path is lost however long the sentence. Ties go to the lowest state, at the
last position first.
"""

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(fast=False, inline=True)
def allowed(token, low, high, k):
    """First state and number of states that a token may be in."""
    if len(low) > 0:
        return low[token], high[token] - low[token]
    return 0, k


@kernel(fast=False)
def viterbi_block(
    k0, k1, tokens, offsets, low, high, log_start, log_transitions, log_stop, log_emissions, states, scores
):
    """Best state sequences of sentences ``k0 .. k1 - 1``.

    tokens, offsets, low, high: As `aligntools.tagging.kernels_chain.forward_backward_block` takes them.
    log_start, log_stop (float64 [K]); log_transitions (float64 [K, K]); log_emissions (float64 [rows, K]): Natural
        logarithms, -inf for zero.
    states (int32 [tokens], output): The lowest allowed states where a sentence has no path.
    scores (float64 [sentences], output): ``log P(x, z)`` of the best path; -inf where there is none, 0 for a sentence
        of no words.
    """
    k = len(log_start)
    longest = 0
    for sentence in range(k0, k1):
        longest = max(longest, offsets[sentence + 1] - offsets[sentence])
    back = np.zeros((longest, k), np.int32)
    best, reached, origin = np.zeros(k), np.zeros(k), np.zeros(k, np.int64)
    for sentence in range(k0, k1):
        t0 = offsets[sentence]
        n = offsets[sentence + 1] - t0
        if n == 0:
            scores[sentence] = 0.0
            continue
        lo, size = allowed(t0, low, high, k)
        emission = log_emissions[tokens[t0], lo : lo + size]
        for s in range(size):
            best[s] = log_start[lo + s] + emission[s]
        for t in range(1, n):
            lo_before, size_before = lo, size
            lo, size = allowed(t0 + t, low, high, k)
            for s in range(size):
                reached[s] = -np.inf
                origin[s] = 0
            for r in range(size_before):
                step = log_transitions[lo_before + r, lo : lo + size]
                value = best[r]
                for s in range(size):
                    candidate = value + step[s]
                    better = candidate > reached[s]
                    reached[s] = candidate if better else reached[s]
                    origin[s] = r if better else origin[s]
            emission = log_emissions[tokens[t0 + t], lo : lo + size]
            for s in range(size):
                best[s] = reached[s] + emission[s]
                back[t, s] = origin[s]
        top, at = -np.inf, 0
        for s in range(size):
            if best[s] + log_stop[lo + s] > top:
                top, at = best[s] + log_stop[lo + s], s
        scores[sentence] = top
        for t in range(n - 1, -1, -1):
            lo, size = allowed(t0 + t, low, high, k)
            states[t0 + t] = lo + at
            at = back[t, at] if t > 0 else 0


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
def k_best_block(
    k0, k1, n_best, tokens, offsets, low, high, log_start, log_transitions, log_stop, log_emissions, states, scores
):
    """The ``n_best`` best distinct state sequences of sentences ``k0 .. k1 - 1``, best first.

    Parameters as in `viterbi_block`, except

    states : int32 [n_best, tokens], output
        -1 where a sentence has fewer paths.
    scores : float64 [sentences, n_best], output
        -inf where a sentence has fewer paths; a sentence of no words has one, of logarithm 0.
    """
    k = len(log_start)
    longest = 0
    for sentence in range(k0, k1):
        longest = max(longest, offsets[sentence + 1] - offsets[sentence])
    back = np.zeros((longest, k, n_best), np.int32)
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


@kernel(fast=False)
def posterior_best_block(r0, r1, base_token, low, gamma, states):
    """Most probable state of each of rows ``r0 .. r1 - 1`` of a chunk's posteriors; ties go to the lowest.

    base_token (int): Token of row 0.
    low (int32 [tokens] or empty), gamma (float64 [chunk's tokens, W]), states (int32 [tokens], output).
    """
    for r in range(r0, r1):
        top, at = -1.0, 0
        for s in range(gamma.shape[1]):
            if gamma[r, s] > top:
                top, at = gamma[r, s], s
        states[base_token + r] = at + (low[base_token + r] if len(low) > 0 else 0)
