"""Forward-backward over what each token may be: one tag or several, of which every substate is possible."""

import math

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(part=True)
def _forward(begin, end, cells, pairs, low, at, values, start, transitions, alpha):
    """Write a sentence's scaled forward probabilities; return the scales' logarithm, -inf where all mass is lost."""
    total = 0.0
    for t in range(begin, end):
        now, size, mass = alpha[t - begin], 0, 0.0
        for cell in range(cells[t], cells[t + 1]):
            pair = pairs[cell]
            to, base = low[pair], at[pair]
            wide = at[pair + 1] - base
            row = now[size : size + wide]
            if t == begin:
                for j in range(wide):
                    row[j] = start[to + j]
            else:
                for j in range(wide):
                    row[j] = 0.0
                place = 0
                for other in range(cells[t - 1], cells[t]):
                    before = pairs[other]
                    for i in range(at[before + 1] - at[before]):
                        weight = alpha[t - begin - 1, place]
                        for j in range(wide):
                            row[j] += weight * transitions[low[before] + i, to + j]
                        place += 1
            for j in range(wide):
                row[j] *= values[base + j]
            size += wide
        for j in range(size):  # apart from the products: see "How compiling works" in docs/contributing.md
            mass += now[j]
        if not mass > 0.0:
            return -math.inf
        for j in range(size):
            now[j] /= mass
        total += math.log(mass)
    return total


@kernel(part=True)
def _add_merge_losses(to, base, wide, now, beta, scale, gamma, values, shares, losses):
    """Add what the likelihood would lose at a token if neighbouring states were one; see `observed_block`."""
    for i in range(0, wide - 1, 2):
        one, two = values[base + i], values[base + i + 1]
        reach = (now[i] / one if one > 0.0 else 0.0) + (now[i + 1] / two if two > 0.0 else 0.0)
        share = shares[to + i] / (shares[to + i] + shares[to + i + 1])
        merged = reach * (share * one + (1.0 - share) * two)
        merged *= share * beta[i] + (1.0 - share) * beta[i + 1]
        rest = 1.0 - gamma[i] - gamma[i + 1] + merged * scale
        losses[to + i] -= math.log(max(rest, 1e-300))


@kernel
def observed_block(k0, k1, text, model, gamma, sums, loglik, merging, shares, losses):
    """Add the expected counts of sentences ``k0..k1-1``.

    text: The arrays cells, pairs, places, offsets, low, at.
    model: values, start, transitions, stop.
    sums: start_counts, counts, stop_counts.
    cells (int64 [tokens + 1]): Token ``t`` may be the pairs ``pairs[cells[t]:cells[t + 1]]``, at least one.
    pairs (int32 [cells]): Which pair of word and tag a cell is.
    places (int64 [cells + 1]): Where a cell's posteriors begin in ``gamma``.
    offsets (int64 [sentences + 1]).
    low (int64 [pairs]): First state of the pair's tag.
    at (int64 [pairs + 1]): Where a pair's emissions begin in ``values``, one for each substate of its tag.
    values (float64), start, stop (float64 [states]), transitions (float64 [states, states]), gamma (float64, output),
        start_counts, stop_counts (float64 [states]).
    counts (float64 [states, states]): Without the factor ``transitions``.
    loglik (float64 [sentences], output).
    merging (bool): Whether to find out what the likelihood would lose if neighbours (2i, 2i + 1 of a tag) were one
        state, by Petrov et al. 2006, section 2.3: ``losses`` [states], added to at each pair's first state.
    shares (float64 [states]): ``p(state | tag)``.
    """
    (cells, pairs, places, offsets, low, at), (values, start, transitions, stop) = text, model
    start_counts, counts, stop_counts = sums
    longest, width = 1, 1
    for k in range(k0, k1):
        longest = max(longest, offsets[k + 1] - offsets[k])
        for t in range(offsets[k], offsets[k + 1]):
            width = max(width, places[cells[t + 1]] - places[cells[t]])
    alpha = np.empty((longest, width))
    beta = np.empty(width)
    after = np.empty(width)
    for k in range(k0, k1):
        begin, end = offsets[k], offsets[k + 1]
        total = _forward(begin, end, cells, pairs, low, at, values, start, transitions, alpha)
        loglik[k] = total
        if total == -math.inf:
            for place in range(places[cells[begin]], places[cells[end]]):
                gamma[place] = 0.0
            continue
        for t in range(end - 1, begin - 1, -1):
            c0, c1 = cells[t], cells[t + 1]
            now, found = alpha[t - begin], gamma[places[c0] : places[c1]]
            size = len(found)
            for cell in range(c0, c1):
                to, wide = low[pairs[cell]], places[cell + 1] - places[cell]
                row = beta[places[cell] - places[c0] : places[cell + 1] - places[c0]]
                if t == end - 1:
                    for i in range(wide):
                        row[i] = stop[to + i]
                else:
                    for i in range(wide):
                        mass = 0.0
                        for other in range(c1, cells[t + 2]):
                            onto, next_ = low[pairs[other]], places[other] - places[c1]
                            for j in range(places[other + 1] - places[other]):
                                mass += transitions[to + i, onto + j] * after[next_ + j]
                        row[i] = mass
            mass = 0.0
            for i in range(size):
                mass += now[i] * beta[i]
            if t == end - 1:
                loglik[k] = total + math.log(mass) if mass > 0.0 else -math.inf
            scale = 1.0 / mass if mass > 0.0 else 0.0
            for cell in range(c0, c1):
                pair, own = pairs[cell], places[cell] - places[c0]
                to, base, wide = low[pair], at[pair], places[cell + 1] - places[cell]
                if t < end - 1:
                    for other in range(c1, cells[t + 2]):
                        onto, next_ = low[pairs[other]], places[other] - places[c1]
                        for i in range(wide):
                            weight = now[own + i] * scale
                            for j in range(places[other + 1] - places[other]):
                                counts[to + i, onto + j] += weight * after[next_ + j]
                for i in range(wide):
                    found[own + i] = now[own + i] * beta[own + i] * scale
                if t == end - 1:
                    for i in range(wide):
                        stop_counts[to + i] += found[own + i]
                if t == begin:
                    for i in range(wide):
                        start_counts[to + i] += found[own + i]
                if merging:
                    _add_merge_losses(to, base, wide, now[own:], beta[own:], scale, found[own:], values, shares, losses)
            for cell in range(c0, c1):
                base, own = at[pairs[cell]], places[cell] - places[c0]
                for i in range(places[cell + 1] - places[cell]):
                    after[own + i] = beta[own + i] * values[base + i]
            if mass > 0.0:  # keep what is carried on near 1
                for i in range(size):
                    after[i] *= scale


@kernel
def collect_pairs_block(p0, p1, ptr, occurrences, at, places, gamma, sums):
    """Add up the posteriors of each pair's cells, in the order of the text."""
    for p in range(p0, p1):
        base, wide = at[p], at[p + 1] - at[p]
        for j in range(wide):
            sums[base + j] = 0.0
        for o in range(ptr[p], ptr[p + 1]):
            row = gamma[places[occurrences[o]] :]
            for j in range(wide):
                sums[base + j] += row[j]
