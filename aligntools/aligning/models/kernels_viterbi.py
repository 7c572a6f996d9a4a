"""Compiled: Viterbi paths of the alignment HMM."""

import numpy as np

from aligntools.aligning.models.kernels_hmm import FIRST, FIRST_TAIL, TAIL, WINDOW, normalizers
from aligntools.ground.compiling import kernel


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
    k0,
    k1,
    base,
    s_tokens,
    s_offsets,
    t_tokens,
    t_offsets,
    cell_offsets,
    cells,
    forward,
    inverse,
    null,
    jumps,
    p_null,
):
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
