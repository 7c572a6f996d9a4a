"""Compiled: forward-backward for the HMM whose jumps depend on the class of the word that they leave.

As in `kernels_hmm`, with ``g_c(d)``, ``tail_c`` and ``Z`` of the class ``c`` of the word at ``i'``. Of each sentence
the values ``h_c(d) = g_c(d) - tail_c`` of every position are written side by side, so that a step of the recursion
adds ``2 W + 1`` products of rows:

    sum_i' A(i') tail_c(i') / Z(i')  +  sum_|d|<=W h_c(i-d)(d) A(i - d) / Z(i - d).
"""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.models.kernels_hmm import (
    FIRST,
    FIRST_TAIL,
    TAIL,
    WINDOW,
    emissions_of,
    first_positions,
    padded,
    rows_for,
)
from aligntools.aligning.text.kernels_pairs import longest_sentence, scatter
from aligntools.ground.compiling import kernel


class ClassJumps(NamedTuple):
    """Jump parameters of both directions.

    Attributes
    ----------
    rows : float32 [2, classes + 1, JUMP_SIZE]
        Forward, then reverse; row 0 is of words without a class, and has the first positions.
    s_classes, t_classes : int16 [n_words + 1]
        Class of each word, the last one of unknown words.
    """

    rows: np.ndarray
    s_classes: np.ndarray
    t_classes: np.ndarray


@kernel(inline=True, owning=False)
def lay_out(rows, classes, given, width, reach, tails, inverse):
    """Write what leaves each position of a sentence.

    Parameters
    ----------
    rows : float32 [classes + 1, JUMP_SIZE]
    classes : int16 [n_words + 1]
    given : int32 [length]
    reach : float32 [2 * WINDOW + 1, >= width], output
        ``h_c(d)`` by jump and position, 0 in the padding.
    tails, inverse : float32 [>= width], output
        ``tail_c`` and ``1 / Z``.
    """
    length = given.shape[0]
    for i in range(length):
        row = rows[classes[given[i]]]
        tail = row[TAIL]
        total = np.float32(0.0)
        low, high = max(-WINDOW, -i), min(WINDOW, length - 1 - i)
        for d in range(low, high + 1):
            total += row[d + WINDOW]
        total += tail * (length - (high - low + 1))
        inverse[i] = np.float32(1.0) / total
        tails[i] = tail
    for i in range(length, width):
        tails[i] = 0.0
    for tap in range(2 * WINDOW + 1):
        for i in range(length):
            reach[tap, i] = rows[classes[given[i]], tap] - tails[i]
        for i in range(length, width):
            reach[tap, i] = 0.0


@kernel(part=True)
def class_forward(emissions, null_emissions, p_null, reach, tails, rows, posterior, shifted):
    """Write ``A(i)`` and ``A(i) / Z(i)``; see `kernels_hmm.forward_pass`. Return the log-likelihood."""
    observed, width = emissions.shape
    p_real = np.float32(1.0) - p_null
    first, inverse, beta, scale = rows.first, rows.inverse, rows.beta, rows.scale
    spread = rows.a[: width + 2 * WINDOW]  # where steps arrive, with room on both sides
    row = spread[WINDOW:][:width]
    loglik = 0.0
    product = 1.0
    mass = np.float32(0.0)
    for j in range(observed):
        e, f, now = emissions[j], posterior[j], shifted[j]
        null = p_null * null_emissions[j]
        if j == 0:
            for i in range(width):
                row[i] = first[i]
                beta[i] = null * first[i]
        else:
            before = shifted[j - 1]
            spread[:] = mass
            for tap in range(2 * WINDOW + 1):
                there, steps = spread[tap:][:width], reach[tap]
                for i in range(width):
                    there[i] += steps[i] * before[i]
            for i in range(width):
                beta[i] = null * beta[i]
        s = np.float32(1e-35)
        for i in range(width):
            x = p_real * row[i] * e[i]
            f[i] = x
            s += x + beta[i]
        product *= np.float64(s)
        if product < 1e-200:
            loglik += np.log(product)
            product = 1.0
        r = np.float32(1.0) / s
        scale[j] = r
        mass = np.float32(0.0)
        for i in range(width):
            x = r * f[i]
            y = x + r * beta[i]
            f[i] = x
            beta[i] = y
            y *= inverse[i]
            now[i] = y
            mass += tails[i] * y
    return loglik + np.log(product)


@kernel(part=True)
def class_step_counts(before, ahead, mass, jumps, classes, given, reach, tails, jump_counts):
    """Count the jumps of one step by the class that is left; see `kernels_hmm.count_step`."""
    for i in range(given.shape[0]):
        c = classes[given[i]]
        inside = np.float32(0.0)
        for tap in range(2 * WINDOW + 1):
            x = ahead[tap + i]
            jump_counts[c, 0, tap] += np.float64(before[i] * x) * jumps[c, tap]
            inside += x
        outside = np.float64(before[i]) * np.float64(tails[i]) * (np.float64(mass) - np.float64(inside))
        jump_counts[c, 0, TAIL] += max(outside, 0.0)


@kernel(part=True)
def class_backward(
    emissions, null_emissions, p_null, jumps, classes, given, reach, tails, rows, posterior, shifted, jump_counts, want
):
    """Multiply ``A(i)`` by the chance of what follows; count jumps where wanted. See `kernels_hmm.backward_pass`."""
    observed, width = emissions.shape
    p_real = np.float32(1.0) - p_null
    inverse, beta, row, leaving, scale = rows.inverse, rows.beta, rows.row, rows.leaving, rows.scale
    ahead = rows.b[: width + 2 * WINDOW]
    ahead[:] = 0.0
    eb = ahead[WINDOW:][:width]
    for i in range(width):
        beta[i] = 1.0
        leaving[i] = 0.0
    for j in range(observed - 1, -1, -1):
        f, e = posterior[j], emissions[j]
        mass = np.float32(0.0)
        pr = p_real * scale[j]
        for i in range(width):
            f[i] *= beta[i]
            x = pr * e[i] * beta[i]
            eb[i] = x
            mass += x
        if j == 0:
            break
        for i in range(width):
            row[i] = tails[i] * mass
        for tap in range(2 * WINDOW + 1):
            there, steps = ahead[tap:][:width], reach[tap]
            for i in range(width):
                row[i] += steps[i] * there[i]
        if want:
            before = shifted[j - 1]
            for i in range(width):
                leaving[i] += before[i] * row[i]
            class_step_counts(before, ahead, mass, jumps, classes, given, reach, tails, jump_counts)
        null = p_null * null_emissions[j] * scale[j]
        for i in range(width):
            beta[i] = inverse[i] * row[i] + null * beta[i]


@kernel(part=True)
def class_exposures(null, first_total, classes, given, rows, posterior, jump_counts):
    """Count the first position, in row 0, and how often every jump was possible, by the class that is left."""
    length = given.shape[0]
    begun = 0.0
    for i in range(length):
        x = posterior[0, i] + null * rows.first[i] * rows.beta[i]
        jump_counts[0, 0, FIRST + i if i <= WINDOW else FIRST_TAIL] += x
        begun += x
    begun /= first_total
    for i in range(length):
        jump_counts[0, 1, FIRST + i if i <= WINDOW else FIRST_TAIL] += begun
        c = classes[given[i]]
        exposure = np.float64(rows.leaving[i] * rows.inverse[i])
        low, high = max(-WINDOW, -i), min(WINDOW, length - 1 - i)
        for d in range(low, high + 1):
            jump_counts[c, 1, d + WINDOW] += exposure
        jump_counts[c, 1, TAIL] += exposure * (length - (high - low + 1))


@kernel(inline=True, owning=False)
def class_hmm_sentence(
    emissions, null_emissions, given, classes, p_null, jumps, reach, tails, rows, posterior, shifted, jump_counts, want
):
    """Posteriors of one sentence in one direction; see `kernels_hmm.hmm_sentence`. Return its log-likelihood."""
    width = emissions.shape[1]
    lay_out(jumps, classes, given, width, reach, tails, rows.inverse)
    first_total = first_positions(jumps[0], given.shape[0], width, rows.first, rows.inverse)
    loglik = class_forward(emissions, null_emissions, p_null, reach, tails, rows, posterior, shifted)
    class_backward(
        emissions,
        null_emissions,
        p_null,
        jumps,
        classes,
        given,
        reach,
        tails,
        rows,
        posterior,
        shifted,
        jump_counts,
        want,
    )
    if want:
        null = p_null * null_emissions[0] * rows.scale[0]
        class_exposures(null, first_total, classes, given, rows, posterior, jump_counts)
    return loglik


@kernel
def class_hmm_block(
    k0,
    k1,
    pairs,
    cells,
    reverse_cells,
    s_inverse,
    t_inverse,
    s_null,
    t_null,
    jumps,
    p_null,
    directions,
    joint,
    jump_stride,
    jump_counts,
    loglik,
):
    """Replace the link matrices of sentences ``k0..k1`` by both directions' posteriors, as `kernels_hmm.hmm_block`.

    Parameters
    ----------
    jumps : ClassJumps
    jump_counts : float64 [2, classes + 1, 2, JUMP_SIZE], output
    """
    s_offsets, t_offsets = pairs.s_offsets, pairs.t_offsets
    width = padded(max(longest_sentence(k0, k1, s_offsets), longest_sentence(k0, k1, t_offsets)))
    rows, null_e = rows_for(width, cells), np.empty(width, cells.dtype)
    reach, tails = np.empty((2 * WINDOW + 1, width), cells.dtype), np.empty(width, cells.dtype)
    capacity = 0
    store = np.empty((4, 1), cells.dtype)
    for k in range(k0, k1):
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        if n_i == 0 or n_j == 0:
            continue
        need = max(n_j * padded(n_i), n_i * padded(n_j))
        if need > capacity:
            capacity = need
            store = np.empty((4, capacity), cells.dtype)
        s, t = pairs.s_tokens[s_offsets[k] :][:n_i], pairs.t_tokens[t_offsets[k] :][:n_j]
        b = pairs.cell_offsets[k - pairs.base]
        own, own_reverse = cells[b : b + n_i * n_j], reverse_cells[b : b + n_i * n_j]
        want = jump_stride > 0 and k % max(jump_stride, 1) == 0
        for d in range(2):
            if not directions & (d + 1):
                continue
            if d == 0:
                given, observed, inverse, null, found, classes = s, t, s_inverse, t_null, own, jumps.s_classes
            else:
                given, observed, inverse, null, found, classes = t, s, t_inverse, s_null, own_reverse, jumps.t_classes
            n, w = len(observed), padded(len(given))
            emissions = store[0, : n * w].reshape((n, w))
            shifted = store[1, : n * w].reshape((n, w))
            posterior = store[2 + d, : n * w].reshape((n, w))
            emissions_of(found, d == 0, given, observed, inverse, null, emissions, null_e)
            loglik[d, k - pairs.base] = class_hmm_sentence(
                emissions,
                null_e,
                given,
                classes,
                p_null[d],
                jumps.rows[d],
                reach,
                tails,
                rows,
                posterior,
                shifted,
                jump_counts[d],
                want,
            )
        w_i, w_j = padded(n_i), padded(n_j)
        forward, reverse = store[2, : n_j * w_i].reshape((n_j, w_i)), store[3, : n_i * w_j].reshape((n_i, w_j))
        if joint:
            for i in range(n_i):
                for j in range(n_j):
                    own[i * n_j + j] = forward[j, i] * reverse[i, j]
            continue
        if directions & 1:
            scatter(forward, True, n_i, n_j, own)
        if directions & 2:
            scatter(reverse, False, n_j, n_i, own_reverse)
