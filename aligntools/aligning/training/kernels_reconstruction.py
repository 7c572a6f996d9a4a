"""Compiled: the reconstruction objective of the alignment HMM, and steps of exponentiated gradient.

The objective is that of Cheng, Liu & Xu (2017), equations 23-29: ``P(x | x, y) = Z2 / Z1``. Z1 is the likelihood,
Z2 the same recursion with every emission squared, and the gradient is made of both recursions' expected counts.

Kernels that sum into arrays are compiled without ``fast``: else where the arrays lie could decide on the order.
"""

import numpy as np

from aligntools.aligning.models.kernels_hmm import LANES, WINDOW, hmm_sentence
from aligntools.aligning.models.kernels_positions import gather, scatter
from aligntools.ground.compiling import kernel


@kernel
def reconstruct_block(
    k0, k1, base, given, given_offsets, observed, observed_offsets, cell_offsets, cells, forward, inverse, null,
    p_null, jumps, taps, back_taps, uses, nulls, loglik, objective, jump_counts,
):  # fmt: skip
    """What reconstruction needs of sentences ``k0..k1`` in one direction: ``positioned_block`` for the HMM.

    Parameters
    ----------
    cells : float [cells of the chunk]
        Table values before normalization; on return ``2 Q - P``.
    jumps, taps, back_taps : float [JUMP_SIZE], [TAPS], [TAPS]
    jump_counts : float64 [2, 2, JUMP_SIZE], added to
        Expected jumps and exposures (see ``hmm_sentence``) under P, then under Q.

    Others are those of ``positioned_block``.
    """
    longest = 1
    for k in range(k0, k1):
        longest = max(longest, given_offsets[k + 1] - given_offsets[k], observed_offsets[k + 1] - observed_offsets[k])
    width = (longest + LANES - 1) // LANES * LANES
    first = np.empty(width, cells.dtype)
    inverse_z = np.empty(width, cells.dtype)
    row = np.empty(width, cells.dtype)
    beta = np.empty(width, cells.dtype)
    leaving = np.empty(width, cells.dtype)
    scale = np.empty(width, cells.dtype)
    null_e = np.empty(width, cells.dtype)
    a_store = np.empty(width + 2 * WINDOW + 2, cells.dtype)
    b_store = np.empty(width + 2 * WINDOW + 2, cells.dtype)
    capacity = 0
    store = np.empty((4, 1), cells.dtype)
    for k in range(k0, k1):
        gb, ob = given_offsets[k], observed_offsets[k]
        n_g, n_o = given_offsets[k + 1] - gb, observed_offsets[k + 1] - ob
        used = uses[gb - given_offsets[base] :][:n_g]
        used[:] = 0.0
        ours = ob - observed_offsets[base]
        for o in range(n_o):
            nulls[0, ours + o] = 0.0
            nulls[1, ours + o] = 0.0
        if n_g == 0 or n_o == 0:
            continue
        w = (n_g + LANES - 1) // LANES * LANES
        if n_o * w > capacity:
            capacity = n_o * w
            store = np.empty((4, capacity), cells.dtype)
        e = store[0, : n_o * w].reshape((n_o, w))
        p = store[1, : n_o * w].reshape((n_o, w))
        q = store[2, : n_o * w].reshape((n_o, w))
        shifted = store[3, : n_o * w].reshape((n_o, w))
        at = cell_offsets[k - base]
        own = cells[at : at + n_g * n_o]
        e[:] = 0.0
        gather(own, forward, n_g, n_o, given[gb : gb + n_g], inverse, e)
        # scaled by each word's largest emission, so that squares stay in single precision's range
        logs = 0.0
        for o in range(n_o):
            null_e[o] = null[observed[ob + o]]
            top = max(null_e[o], e[o, 0])
            for g in range(n_g):
                top = max(top, e[o, g])
            top = max(np.float64(top), 1e-37)
            logs += np.log(top)
            null_e[o] /= top
            for g in range(n_g):
                e[o, g] /= top
        for which in range(2):
            out = p if which == 0 else q
            if which == 1:
                for o in range(n_o):
                    null_e[o] *= null_e[o]
                    for g in range(n_g):
                        e[o, g] *= e[o, g]
            found = logs + hmm_sentence(
                e, n_g, w, n_o, jumps, taps, back_taps, p_null, null_e, out, first, inverse_z, a_store, b_store, row,
                beta, leaving, shifted, scale, jump_counts[which], True,
            )  # fmt: skip
            if which == 0:
                loglik[k - base] = found
            else:
                objective[k - base] = found + logs - loglik[k - base]
        for o in range(n_o):
            null_p, null_q = 1.0, 1.0
            for g in range(n_g):
                x, y = p[o, g], q[o, g]
                used[g] += x
                null_p -= x
                null_q -= y
                p[o, g] = y + y - x
            nulls[0, ours + o] = max(null_p, 0.0)
            nulls[1, ours + o] = 2.0 * max(null_q, 0.0) - max(null_p, 0.0)
        scatter(p, forward, n_g, n_o, own)


@kernel(fast=False)
def slopes(ptr, ids, by_id, p, counts, totals, sums):
    """Turn gradients into exponents at rate 1, in place: ``(counts / p - sums) / totals`` of each distribution.

    Distributions are rows ``ptr[v]..ptr[v + 1]`` of a flat array, or with ``by_id`` what has the same ``ids``.

    Parameters
    ----------
    p : float32 [n]
    counts : float32 [n]
        ``p`` times the slope of the objective; on return the exponents.
    totals : float64 [n_groups]
        How often each distribution was used; one that never was stays as it is.
    sums : float64 [n_groups], output
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

    Parameters
    ----------
    step : float
        Limit of an exponent.
    least : float
        What is above 0 stays at least this.
    sums : float64 [2, n_groups], scratch
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

    Parameters
    ----------
    words : float64 [n_observed_words]
        How often each occurs; a distribution is drawn to the share of each among the words that it has.
    uses : float64 [n_groups]
        How often each distribution was used.
    sums : float64 [n_groups], output
        One over what ``words`` sums to over each distribution, as `pull` takes it.
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
