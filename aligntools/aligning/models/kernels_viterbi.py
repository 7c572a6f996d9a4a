"""Compiled: Viterbi paths of the alignment HMM."""

import numpy as np

from aligntools.aligning.models.kernels_jumps import FIRST, FIRST_TAIL, TAIL, WINDOW, normalizer
from aligntools.ground.compiler import kernel


@kernel(inline=True)
def viterbi_sentence(emissions, length, observed, jumps, log_jumps, classes, p_null, null_emissions, path):
    """Most probable path of one sentence in one direction, in log space.

    emissions (float32 [observed, >= length]): ``p(word j | word i)``.
    jumps (float32 [rows, JUMP_SIZE]); log_jumps (float64 [rows, JUMP_SIZE]): Weights of jumps, and their logarithms.
        Row 0 has the first positions.
    classes (int16 [length]): The row of the jumps that leave each position.
    path (int32 [observed], output): The position, or -1 for NULL. Ties go to the lowest position.
    Returns natural logarithm of the path's probability.
    """
    inverse = np.empty(length, np.float32)
    for i in range(length):
        inverse[i] = normalizer(jumps[classes[i]], i, length)
    log_z = np.log(inverse.astype(np.float64))
    score = np.empty(length, np.float64)  # best path to position i, its last word real or null
    total = 0.0
    for i in range(length):
        total += jumps[0, FIRST + i] if i <= WINDOW else jumps[0, FIRST_TAIL]
    back = np.empty((observed, length), np.int32)  # the position before, when word j is real
    real = np.empty((observed, length), np.bool_)  # whether the best path to i at j has word j real
    new = np.empty(length, np.float64)
    best = np.empty(length, np.float64)
    for j in range(observed):
        null = np.log(np.float64(p_null * null_emissions[j]) + 1e-300)
        best[:] = -np.inf
        for i2 in range(length if j else 0):
            left, row = score[i2] + log_z[i2], log_jumps[classes[i2]]
            far = left + row[TAIL]
            for i in range(length):
                d = i - i2
                x = left + row[d + WINDOW] if -WINDOW <= d <= WINDOW else far
                if x > best[i]:
                    best[i] = x
                    back[j, i] = i2
        for i in range(length):
            emit = np.log(np.float64((1 - p_null) * emissions[j, i]) + 1e-300)
            if j == 0:
                start = np.log(
                    (np.float64(jumps[0, FIRST + i]) if i <= WINDOW else np.float64(jumps[0, FIRST_TAIL])) / total
                    + 1e-300
                )
                back[j, i] = -1
                stay = start + null
                move = start + emit
            else:
                move = best[i] + emit
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
    classes,
    p_null,
):
    """Replace table values by 1 where the Viterbi path of one direction links, and 0 elsewhere.

    jumps (float32 [rows, JUMP_SIZE]): Of this direction.
    classes (int16 [n_given_words + 1]): The row of the jumps that leave each given word.
    """
    log_jumps = np.log(jumps.astype(np.float64) + 1e-300)
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
        of_words = np.empty(length, classes.dtype)
        for c in range(length):
            of_words[c] = classes[s_tokens[sb + c] if forward else t_tokens[tb + c]]
        for o in range(observed):
            null_emissions[o] = null[t_tokens[tb + o]] if forward else null[s_tokens[sb + o]]
            for c in range(length):
                word = s_tokens[sb + c] if forward else t_tokens[tb + c]
                x = cells[b + c * n_j + o] if forward else cells[b + o * n_j + c]
                emissions[o, c] = x * inverse[word]
        viterbi_sentence(emissions, length, observed, jumps, log_jumps, of_words, p_null, null_emissions, path)
        for x in range(b, b + n_i * n_j):
            cells[x] = 0.0
        for o in range(observed):
            if path[o] >= 0:
                cells[b + path[o] * n_j + o if forward else b + o * n_j + path[o]] = 1.0
