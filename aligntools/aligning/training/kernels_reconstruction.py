"""Compiled: the reconstruction objective of the alignment HMM, and steps of exponentiated gradient.

The objective is that of Cheng, Liu & Xu (2017), equations 23-29: ``P(x | x, y) = Z2 / Z1``. Z1 is the likelihood,
Z2 the same recursion with every emission squared, and the gradient is made of both recursions' expected counts.

Kernels that sum into arrays are compiled without ``fast``: else where the arrays lie could decide on the order.
"""

import numpy as np

from aligntools.aligning.models.kernels_hmm import emissions_of, hmm_sentence, rows_for
from aligntools.aligning.models.kernels_jumps import padded
from aligntools.aligning.text.kernels_pairs import longest_sentence, scatter
from aligntools.ground.compiler import kernel


@kernel(part=True)
def scale_emissions(e, null_e, length):
    """Divide each word's emissions by the largest, so that squares stay in single precision's range.

    Returns float64: the sum of the logarithms of what they were divided by.
    """
    logs = 0.0
    for o in range(e.shape[0]):
        top = max(null_e[o], e[o, 0])
        for g in range(length):
            top = max(top, e[o, g])
        top = max(np.float64(top), 1e-37)
        logs += np.log(top)
        null_e[o] /= top
        for g in range(length):
            e[o, g] /= top
    return logs


@kernel(part=True)
def square_emissions(e, null_e, length):
    """Square each word's emissions."""
    for o in range(e.shape[0]):
        null_e[o] *= null_e[o]
        for g in range(length):
            e[o, g] *= e[o, g]


@kernel(part=True)
def combine(p, q, length, used, nulls):
    """Replace the posteriors P by ``2 Q - P``; write each given word's uses and what is left to NULL."""
    for o in range(p.shape[0]):
        null_p, null_q = 1.0, 1.0
        for g in range(length):
            x, y = p[o, g], q[o, g]
            used[g] += x
            null_p -= x
            null_q -= y
            p[o, g] = y + y - x
        nulls[0, o] = max(null_p, 0.0)
        nulls[1, o] = 2.0 * max(null_q, 0.0) - max(null_p, 0.0)


@kernel
def reconstruct_block(k0, k1, text, cells, forward, inverse, null, p_null, jumps, outcome, jump_counts):
    """What reconstruction needs of sentences ``k0..k1`` in one direction: ``positioned_block`` for the HMM.

    cells (float [cells of the chunk]): Table values before normalization; on return ``2 Q - P``.
    jumps: Of this direction.
    jump_counts (float64 [2, 2, JUMP_SIZE], added to): Expected jumps and exposures (see ``hmm_sentence``) under P, then
        under Q.
    Others are those of ``positioned_block``.
    """
    given_offsets, observed_offsets = text.given_offsets, text.observed_offsets
    width = padded(max(longest_sentence(k0, k1, given_offsets), longest_sentence(k0, k1, observed_offsets)))
    rows, null_e = rows_for(width, cells), np.empty(width, cells.dtype)
    capacity = 0
    store = np.empty((4, 1), cells.dtype)
    for k in range(k0, k1):
        gb, ob = given_offsets[k], observed_offsets[k]
        n_g, n_o = given_offsets[k + 1] - gb, observed_offsets[k + 1] - ob
        used = outcome.uses[gb - given_offsets[text.base] :][:n_g]
        nulls = outcome.nulls[:, ob - observed_offsets[text.base] :][:, :n_o]
        used[:] = 0.0
        nulls[:] = 0.0
        if n_g == 0 or n_o == 0:
            continue
        w = padded(n_g)
        if n_o * w > capacity:
            capacity = n_o * w
            store = np.empty((4, capacity), cells.dtype)
        e = store[0, : n_o * w].reshape((n_o, w))
        p = store[1, : n_o * w].reshape((n_o, w))
        q = store[2, : n_o * w].reshape((n_o, w))
        shifted = store[3, : n_o * w].reshape((n_o, w))
        at = text.cell_offsets[k - text.base]
        own = cells[at : at + n_g * n_o]
        emissions_of(own, forward, text.given[gb : gb + n_g], text.observed[ob : ob + n_o], inverse, null, e, null_e)
        logs = scale_emissions(e, null_e, n_g)
        for which in range(2):
            out = p if which == 0 else q
            if which == 1:
                square_emissions(e, null_e, n_g)
            counted = jump_counts[which : which + 1]
            found = logs + hmm_sentence(e, null_e, n_g, p_null, jumps, None, rows, out, shifted, counted, True)
            if which == 0:
                outcome.loglik[k - text.base] = found
            else:
                outcome.objective[k - text.base] = found + logs - outcome.loglik[k - text.base]
        combine(p, q, n_g, used, nulls)
        scatter(p, forward, n_g, n_o, own)


@kernel(fast=False)
def slopes(ptr, ids, by_id, p, counts, totals, sums):
    """Turn gradients into exponents at rate 1, in place: ``(counts / p - sums) / totals`` of each distribution.

    Distributions are rows ``ptr[v]..ptr[v + 1]`` of a flat array, or with ``by_id`` what has the same ``ids``.

    p (float32 [n]).
    counts (float32 [n]): ``p`` times the slope of the objective; on return the exponents.
    totals (float64 [n_groups]): How often each distribution was used; one that never was stays as it is.
    sums (float64 [n_groups], output).
    """
    sums[:] = 0.0
    for v in range(ptr.shape[0] - 1):
        for x in range(ptr[v], ptr[v + 1]):
            sums[ids[x] if by_id else v] += counts[x]
    for v in range(ptr.shape[0] - 1):
        for x in range(ptr[v], ptr[v + 1]):
            g = ids[x] if by_id else v
            if p[x] > 0.0 and totals[g] > 0.0:
                counts[x] = (np.float64(counts[x]) / np.float64(p[x]) - sums[g]) / totals[g]
            else:
                counts[x] = 0.0


@kernel(fast=False)
def agreement(ptr, ids, by_id, p, ways, before, rates, step, sums):
    """Sum ``p * ways * exponent`` of each distribution, ``exponent`` being that of the step before."""
    sums[:] = 0.0
    for v in range(ptr.shape[0] - 1):
        for x in range(ptr[v], ptr[v + 1]):
            g = ids[x] if by_id else v
            sums[g] += p[x] * ways[x] * min(max(rates[g] * before[x], -step), step)


@kernel(fast=False)
def move(ptr, ids, by_id, p, ways, rates, step, least, sums, out):
    """Write ``p * exp(rate * way)``, every distribution scaled to the sum that it had.

    step (float): Limit of an exponent.
    least (float): What is above 0 stays at least this.
    sums (float64 [2, n_groups], scratch).
    """
    sums[:] = 0.0
    for v in range(ptr.shape[0] - 1):
        for x in range(ptr[v], ptr[v + 1]):
            g = ids[x] if by_id else v
            y = np.float64(p[x]) * np.exp(min(max(rates[g] * ways[x], -step), step))
            out[x] = y
            sums[0, g] += p[x]
            sums[1, g] += y
    for g in range(sums.shape[1]):
        sums[0, g] = sums[0, g] / sums[1, g] if sums[1, g] > 0.0 else 1.0
    for v in range(ptr.shape[0] - 1):
        for x in range(ptr[v], ptr[v + 1]):
            if p[x] > 0.0:
                out[x] = max(out[x] * sums[0, ids[x] if by_id else v], least)


@kernel(fast=False)
def smooth(ptr, ids, by_id, p, words, strength, uses, sums):
    """Mix distributions with the text's own words, as if each had been used ``strength`` times more; in place.

    words (float64 [n_observed_words]): How often each occurs; a distribution is drawn to the share of each among the
        words that it has.
    uses (float64 [n_groups]): How often each distribution was used.
    sums (float64 [n_groups], output): One over what ``words`` sums to over each distribution, as `pull` takes it.
    """
    sums[:] = 0.0
    for v in range(ptr.shape[0] - 1):
        for x in range(ptr[v], ptr[v + 1]):
            sums[ids[x] if by_id else v] += words[v if by_id else ids[x]]
    for g in range(sums.shape[0]):
        sums[g] = 1.0 / max(sums[g], 1e-300)
    for v in range(ptr.shape[0] - 1):
        for x in range(ptr[v], ptr[v + 1]):
            g = ids[x] if by_id else v
            prior = strength * words[v if by_id else ids[x]] * sums[g]
            p[x] = (uses[g] * p[x] + prior) / (uses[g] + strength)


@kernel(fast=False)
def pull(ptr, ids, by_id, p, words, strength, sums, gradient):
    """Add to the gradient what draws distributions to the text's words; return its part of the objective.

    The part is ``strength * sum_x u(x) ln p(x)`` for each distribution, with ``u`` the shares that `smooth` mixes in.
    """
    total = 0.0
    for v in range(ptr.shape[0] - 1):
        for x in range(ptr[v], ptr[v + 1]):
            prior = strength * words[v if by_id else ids[x]] * sums[ids[x] if by_id else v]
            gradient[x] += prior
            total += prior * np.log(max(np.float64(p[x]), 1e-300))
    return total
