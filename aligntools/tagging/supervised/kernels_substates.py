"""Forward-backward where every token's tag is seen and only its substate is not."""

import math

import numpy as np

from aligntools.ground.compiling import kernel


@kernel(part=True)
def _forward(begin, end, pairs, tags, at, values, first, start, transitions, alpha):
    """Write a sentence's scaled forward probabilities; return the scales' logarithm, -inf where all mass is lost."""
    total = 0.0
    for t in range(begin, end):
        pair = pairs[t]
        low, base = first[tags[pair]], at[pair]
        wide = at[pair + 1] - base
        now = alpha[t - begin]
        if t == begin:
            for j in range(wide):
                now[j] = start[low + j]
        else:
            tag = tags[pairs[t - 1]]
            for j in range(wide):
                now[j] = 0.0
            for i in range(first[tag + 1] - first[tag]):
                weight = alpha[t - begin - 1, i]
                for j in range(wide):
                    now[j] += weight * transitions[first[tag] + i, low + j]
        mass = 0.0
        for j in range(wide):
            now[j] *= values[base + j]
        for j in range(wide):  # apart from the products: see "How compiling works" in docs/contributing.md
            mass += now[j]
        if not mass > 0.0:
            return -math.inf
        for j in range(wide):
            now[j] /= mass
        total += math.log(mass)
    return total


@kernel(part=True)
def _add_merge_losses(t, low, base, wide, now, beta, scale, gamma, values, shares, losses):
    """Add what the likelihood would lose at a token if neighbouring states were one; see `observed_block`."""
    for i in range(0, wide - 1, 2):
        one, two = values[base + i], values[base + i + 1]
        reach = (now[i] / one if one > 0.0 else 0.0) + (now[i + 1] / two if two > 0.0 else 0.0)
        share = shares[low + i] / (shares[low + i] + shares[low + i + 1])
        merged = reach * (share * one + (1.0 - share) * two)
        merged *= share * beta[i] + (1.0 - share) * beta[i + 1]
        rest = 1.0 - gamma[t, i] - gamma[t, i + 1] + merged * scale
        losses[low + i] -= math.log(max(rest, 1e-300))


@kernel
def observed_block(
    k0, k1, pairs, offsets, tags, at, values, first, start, transitions, stop, gamma, start_counts, counts, stop_counts,
    loglik, merging, shares, losses,
):  # fmt: skip
    """Add the expected counts of sentences ``k0..k1-1``.

    Parameters
    ----------
    pairs : int32 [tokens]
        Which pair of word and tag a token is.
    offsets : int64 [sentences + 1]
    tags : int32 [pairs]
    at : int64 [pairs + 1]
        Where a pair's emissions begin in ``values``, one for each substate of its tag.
    values : float64
    first : int64 [tags + 1]
        Tag ``g`` has the states ``first[g]`` to ``first[g + 1] - 1``.
    start, stop : float64 [states]
    transitions : float64 [states, states]
    gamma : float64 [tokens, widest], output
    start_counts, stop_counts : float64 [states]
    counts : float64 [states, states]
        Without the factor ``transitions``.
    loglik : float64 [sentences], output
    merging : bool
        Whether to find out what the likelihood would lose if neighbours (2i, 2i + 1 of a tag) were one state, by
        Petrov et al. 2006, section 2.3: ``losses`` [states], added to at each pair's first state.
    shares : float64 [states]
        ``p(state | tag)``.
    """
    longest, width = 1, gamma.shape[1]
    for k in range(k0, k1):
        longest = max(longest, offsets[k + 1] - offsets[k])
    alpha = np.empty((longest, width))
    beta = np.empty(width)
    after = np.empty(width)
    for k in range(k0, k1):
        begin, end = offsets[k], offsets[k + 1]
        total = _forward(begin, end, pairs, tags, at, values, first, start, transitions, alpha)
        loglik[k] = total
        if total == -math.inf:
            for t in range(begin, end):
                for j in range(width):
                    gamma[t, j] = 0.0
            continue
        for t in range(end - 1, begin - 1, -1):
            pair = pairs[t]
            low, base = first[tags[pair]], at[pair]
            wide = at[pair + 1] - base
            now = alpha[t - begin]
            if t == end - 1:
                for i in range(wide):
                    beta[i] = stop[low + i]
            else:
                tag = tags[pairs[t + 1]]
                to, across = first[tag], first[tag + 1] - first[tag]
                for i in range(wide):
                    mass = 0.0
                    for j in range(across):
                        mass += transitions[low + i, to + j] * after[j]
                    beta[i] = mass
            mass = 0.0
            for i in range(wide):
                mass += now[i] * beta[i]
            if t == end - 1:
                loglik[k] = total + math.log(mass) if mass > 0.0 else -math.inf
            scale = 1.0 / mass if mass > 0.0 else 0.0
            if t < end - 1:
                for i in range(wide):
                    weight = now[i] * scale
                    for j in range(across):
                        counts[low + i, to + j] += weight * after[j]
            for i in range(wide):
                gamma[t, i] = now[i] * beta[i] * scale
            if t == end - 1:
                for i in range(wide):
                    stop_counts[low + i] += gamma[t, i]
            if t == begin:
                for i in range(wide):
                    start_counts[low + i] += gamma[t, i]
            if merging:
                _add_merge_losses(t, low, base, wide, now, beta, scale, gamma, values, shares, losses)
            for i in range(wide):
                after[i] = beta[i] * values[base + i]
            if mass > 0.0:  # keep what is carried on near 1
                for i in range(wide):
                    after[i] *= scale


@kernel
def collect_pairs_block(p0, p1, ptr, occurrences, at, gamma, sums):
    """Add up the posteriors of each pair's tokens, in the order of the text."""
    for p in range(p0, p1):
        base, wide = at[p], at[p + 1] - at[p]
        for j in range(wide):
            sums[base + j] = 0.0
        for o in range(ptr[p], ptr[p + 1]):
            for j in range(wide):
                sums[base + j] += gamma[occurrences[o], j]
