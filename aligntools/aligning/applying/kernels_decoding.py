"""Compiled: averaging members' posteriors, deciding on links, Viterbi paths."""

import numpy as np

from aligntools.aligning.models.kernels_hmm import FIRST, FIRST_TAIL, TAIL, WINDOW, normalizers
from aligntools.ground.compiling import kernel

#: Ways to decide: the mean of both directions' posteriors, or one direction's, above a threshold; or for each
#: word of one direction its most probable position, unless NULL is more probable.
JOINT, FORWARD, REVERSE, FORWARD_BEST, REVERSE_BEST = range(5)


@kernel
def mix_block(
    k0, k1, base, source_offsets, target_offsets, cell_offsets, total, posteriors, weight,
    forward, sizes, positions, masses, sampler_weight,
):  # fmt: skip
    """Add one direction's posteriors and sampled link marginals, each with its weight, to ``total``."""
    for k in range(k0, k1):
        n_i = source_offsets[k + 1] - source_offsets[k]
        n_j = target_offsets[k + 1] - target_offsets[k]
        b = cell_offsets[k - base]
        for x in range(b, b + n_i * n_j):
            total[x] += weight * posteriors[x]
        if sizes.shape[0] == 0:
            continue
        if forward:
            at = target_offsets[k] - target_offsets[base]
            for j in range(n_j):
                for x in range(abs(sizes[at + j])):
                    total[b + positions[at + j, x] * n_j + j] += sampler_weight * masses[at + j, x]
        else:
            at = source_offsets[k] - source_offsets[base]
            for i in range(n_i):
                for x in range(abs(sizes[at + i])):
                    total[b + i * n_j + positions[at + i, x]] += sampler_weight * masses[at + i, x]


@kernel
def decide_block(
    k0, k1, base, source_offsets, target_offsets, cell_offsets, forward, reverse, way, threshold,
    offsets, pairs, probabilities,
):  # fmt: skip
    """Write the links of sentences ``k0..k1``, by (i, j).

    Parameters
    ----------
    forward, reverse : float32 [cells]
        Both directions' posteriors.
    way : int
        JOINT, FORWARD, REVERSE, FORWARD_BEST or REVERSE_BEST. A tie goes to the lowest position, and to a
        position before NULL.
    offsets : int64 [k1 - k0], output
        Links of each sentence.
    pairs, probabilities : int32 [n, 2], float32 [n], output
        May be empty, to count.

    Returns
    -------
    int
        Number of links.
    """
    n = 0
    writing = pairs.shape[0] > 0
    for k in range(k0, k1):
        n_i = source_offsets[k + 1] - source_offsets[k]
        n_j = target_offsets[k + 1] - target_offsets[k]
        b = cell_offsets[k - base]
        begun = n
        for i in range(n_i):
            best_j = -1
            if way == REVERSE_BEST:
                s = np.float32(0.0)
                best = np.float32(0.0)
                for j in range(n_j):
                    x = reverse[b + i * n_j + j]
                    s += x
                    if x > best:
                        best = x
                        best_j = j
                if best < np.float32(1.0) - s:
                    best_j = -1
            for j in range(n_j):
                c = b + i * n_j + j
                if way == JOINT:
                    p = np.float32(0.5) * (forward[c] + reverse[c])
                    linked = p > threshold
                elif way == FORWARD:
                    p = forward[c]
                    linked = p > threshold
                elif way == REVERSE:
                    p = reverse[c]
                    linked = p > threshold
                elif way == REVERSE_BEST:
                    p = reverse[c]
                    linked = j == best_j
                else:
                    p = forward[c]
                    linked = p > 0.0
                    if linked:
                        s = np.float32(0.0)
                        for i2 in range(n_i):
                            x = forward[b + i2 * n_j + j]
                            s += x
                            if x > p or (x == p and i2 < i):
                                linked = False
                                break
                        if linked and p < np.float32(1.0) - s:
                            linked = False
                if linked:
                    if writing:
                        pairs[n, 0] = i
                        pairs[n, 1] = j
                        probabilities[n] = p
                    n += 1
        offsets[k - k0] = n - begun
    return n


@kernel(inline=True)
def viterbi_sentence(emissions, length, observed, jumps, p_null, null_emissions, path):
    """Most probable path of one sentence in one direction, in log space.

    Parameters
    ----------
    emissions : float32 [observed, >= length]
        ``p(word j | word i)``.
    path : int32 [observed], output
        The position, or -1 for NULL. Ties go to the lowest position.

    Returns
    -------
    float
        Natural logarithm of the path's probability.
    """
    inverse = np.empty(length, np.float32)
    normalizers(jumps, length, inverse)
    log_z = np.log(inverse.astype(np.float64))
    log_g = np.empty(2 * WINDOW + 1, np.float64)
    for d in range(2 * WINDOW + 1):
        log_g[d] = np.log(np.float64(jumps[d]) + 1e-300)
    log_tail = np.log(np.float64(jumps[TAIL]) + 1e-300)
    score = np.empty(length, np.float64)  # best path to position i, its last word real or null
    total = 0.0
    for i in range(length):
        total += jumps[FIRST + i] if i <= WINDOW else jumps[FIRST_TAIL]
    back = np.empty((observed, length), np.int32)  # the position before, when word j is real
    real = np.empty((observed, length), np.bool_)  # whether the best path to i at j has word j real
    new = np.empty(length, np.float64)
    for j in range(observed):
        null = np.log(np.float64(p_null * null_emissions[j]) + 1e-300)
        for i in range(length):
            emit = np.log(np.float64((1 - p_null) * emissions[j, i]) + 1e-300)
            if j == 0:
                start = np.log(
                    (np.float64(jumps[FIRST + i]) if i <= WINDOW else np.float64(jumps[FIRST_TAIL])) / total + 1e-300
                )
                back[j, i] = -1
                stay = start + null
                move = start + emit
            else:
                best = -np.inf
                for i2 in range(length):
                    d = i - i2
                    x = score[i2] + log_z[i2] + (log_g[d + WINDOW] if -WINDOW <= d <= WINDOW else log_tail)
                    if x > best:
                        best = x
                        back[j, i] = i2
                move = best + emit
                stay = score[i] + null
            real[j, i] = move >= stay
            new[i] = max(move, stay)
        for i in range(length):
            score[i] = new[i]
    at = 0
    for i in range(1, length):
        if score[i] > score[at]:
            at = i
    result = score[at]
    for j in range(observed - 1, -1, -1):
        if real[j, at]:
            path[j] = at
            at = back[j, at]
        else:
            path[j] = -1
    return result


@kernel
def viterbi_block(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, cell_offsets, cells, forward,
    inverse, null, jumps, p_null,
):  # fmt: skip
    """Replace table values by 1 where the Viterbi path of one direction links, and 0 elsewhere."""
    for k in range(k0, k1):
        sb, tb = s_offsets[k], t_offsets[k]
        n_i, n_j = s_offsets[k + 1] - sb, t_offsets[k + 1] - tb
        if n_i == 0 or n_j == 0:
            continue
        b = cell_offsets[k - base]
        length, observed = (n_i, n_j) if forward else (n_j, n_i)
        emissions = np.empty((observed, length), np.float32)
        null_emissions = np.empty(observed, np.float32)
        path = np.empty(observed, np.int32)
        for o in range(observed):
            null_emissions[o] = null[t_tokens[tb + o]] if forward else null[s_tokens[sb + o]]
            for c in range(length):
                word = s_tokens[sb + c] if forward else t_tokens[tb + c]
                x = cells[b + c * n_j + o] if forward else cells[b + o * n_j + c]
                emissions[o, c] = x * inverse[word]
        viterbi_sentence(emissions, length, observed, jumps, p_null, null_emissions, path)
        for x in range(b, b + n_i * n_j):
            cells[x] = 0.0
        for o in range(observed):
            if path[o] >= 0:
                cells[b + path[o] * n_j + o if forward else b + o * n_j + path[o]] = 1.0
