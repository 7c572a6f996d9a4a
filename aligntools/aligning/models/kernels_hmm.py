"""Compiled: forward-backward and Viterbi paths of the alignment HMM (Vogel et al. 1996; null twins: Och & Ney 2003).

States are positions ``i`` of the conditioning sentence, observations the words ``j`` of the other one. Every
position has a null twin that remembers it: a word that comes from NULL leaves the position unchanged. So the
chance of what follows depends on the position alone, and the twins need no recursion of their own.

A step from one word to the next is in `kernels_jumps`. Jumps may depend on the class of the word that they leave; then
there is a `Reach`, which is None otherwise.
"""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.models.kernels_jumps import (
    FIRST,
    FIRST_TAIL,
    TAIL,
    WINDOW,
    Jumps,
    collect,
    convolve,
    count_step,
    count_step_by_class,
    first_positions,
    lay_out,
    normalizer,
    padded,
    spread,
)
from aligntools.aligning.text.kernels_pairs import gather, longest_sentence, scatter
from aligntools.ground.compiler import kernel


class Rows(NamedTuple):
    """Rows that the recursions of one sentence write to: [>= width], those of ``a`` and ``b`` with padding.

    ``first`` and ``inverse`` are the distribution of the first position and ``1 / Z(i')``; ``beta`` and ``leaving``
    go along with the recursions, ``row`` is what a convolution gives, and ``scale`` [>= observed] has each position's
    scaling factor.
    """

    first: np.ndarray
    inverse: np.ndarray
    row: np.ndarray
    beta: np.ndarray
    leaving: np.ndarray
    scale: np.ndarray
    a: np.ndarray
    b: np.ndarray


@kernel(part=True)
def rows_for(width, cells):
    """Return rows of the type of ``cells`` for sentences up to ``width`` words."""
    return Rows(
        np.empty(width, cells.dtype),
        np.empty(width, cells.dtype),
        np.empty(width, cells.dtype),
        np.empty(width, cells.dtype),
        np.empty(width, cells.dtype),
        np.empty(width, cells.dtype),
        np.empty(width + 2 * WINDOW + 2, cells.dtype),
        np.empty(width + 2 * WINDOW + 2, cells.dtype),
    )


@kernel(part=True)
def forward_pass(emissions, null_emissions, p_null, jumps, reach, rows, posterior, shifted, want_jumps):
    """Write ``A(i)``, the forward probability of each position, scaled to sum to 1 with the null twins'.

    posterior (float32 [observed, width], output): ``A(i)`` of the real positions.
    shifted (float32 [observed, width], output when ``want_jumps``): ``A(i) / Z(i)``, real and null.
    Returns the natural logarithm of the sentence's likelihood.
    """
    observed, width = emissions.shape
    p_real = np.float32(1.0) - p_null
    first, inverse, beta, row, scale = rows.first, rows.inverse, rows.beta, rows.row, rows.scale
    a_pad = rows.a[: width + 2 * WINDOW + 2]
    a_pad[:] = 0.0
    now = a_pad[WINDOW + 1 :][:width]  # A(i) / Z(i) of the position before
    loglik = 0.0
    product = 1.0
    mass = np.float32(0.0)
    for j in range(observed):
        e = emissions[j]
        f = posterior[j]
        null = p_null * null_emissions[j]
        s = np.float32(1e-35)
        if j == 0:
            for i in range(width):
                f[i] = p_real * first[i] * e[i]
                beta[i] = null * first[i]
                s += f[i] + beta[i]
        else:
            if reach is None:
                convolve(jumps.taps[0], a_pad, jumps.rows[0, TAIL] * mass, width, row)
            else:
                spread(reach, now, mass, rows.b[: width + 2 * WINDOW], row)
            for i in range(width):
                f[i] = p_real * row[i] * e[i]
                beta[i] = null * beta[i]
                s += f[i] + beta[i]
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
            mass += y if reach is None else reach.tails[i] * y
        if want_jumps:
            g = shifted[j]
            for i in range(width):
                g[i] = now[i]
    return loglik + np.log(product)


@kernel(part=True)
def backward_pass(
    emissions, null_emissions, length, p_null, jumps, reach, rows, posterior, shifted, jump_counts, want_jumps
):
    """Multiply ``A(i)`` by ``beta(i)``, the chance of what follows: the posteriors; count jumps where wanted.

    ``beta`` is scaled as ``A`` is, and the same for a position and its null twin.
    """
    observed, width = emissions.shape
    p_real = np.float32(1.0) - p_null
    inverse, beta, row, leaving, scale = rows.inverse, rows.beta, rows.row, rows.leaving, rows.scale
    b_pad = rows.b[: width + 2 * WINDOW + 2]
    b_pad[:] = 0.0
    for i in range(width):
        beta[i] = 1.0
        leaving[i] = 0.0
    eb = b_pad[WINDOW + 1 :][:width]
    for j in range(observed - 1, -1, -1):
        f = posterior[j]
        e = emissions[j]
        mass = np.float32(0.0)
        pr = p_real * scale[j]
        for i in range(width):
            f[i] *= beta[i]
            x = pr * e[i] * beta[i]
            eb[i] = x
            mass += x
        if j == 0:
            break
        if reach is None:
            convolve(jumps.back_taps[0], b_pad, jumps.rows[0, TAIL] * mass, width, row)
            if want_jumps:
                count_step(shifted[j - 1], b_pad, row, mass, jumps.rows[0], leaving, jump_counts[0])
        else:
            collect(reach, b_pad, mass, row)
            if want_jumps:
                before = shifted[j - 1]
                count_step_by_class(before, b_pad, row, mass, jumps.rows, reach, length, leaving, jump_counts)
        null = p_null * null_emissions[j] * scale[j]
        for i in range(width):
            beta[i] = inverse[i] * row[i] + null * beta[i]


@kernel(part=True)
def expose(exposure, i, length, counts):
    """Count that the jumps from position ``i`` were possible, ``exposure`` times; ``counts`` is [2, JUMP_SIZE]."""
    low, high = max(-WINDOW, -i), min(WINDOW, length - 1 - i)
    near = counts[1, low + WINDOW :][: high - low + 1]
    for k in range(high - low + 1):
        near[k] += exposure
    counts[1, TAIL] += exposure * (length - (high - low + 1))


@kernel(part=True)
def count_exposures(null, length, first_total, reach, rows, posterior, jump_counts):
    """Count the first position, and how often every jump was possible.

    ``null`` is the first word's probability under NULL, scaled: a null twin begins somewhere too.
    """
    counts = jump_counts[0]
    begun = 0.0
    for i in range(length):
        x = posterior[0, i] + null * rows.first[i] * rows.beta[i]
        counts[0, FIRST + i if i <= WINDOW else FIRST_TAIL] += x
        begun += x
    begun /= first_total
    for i in range(length):
        counts[1, FIRST + i if i <= WINDOW else FIRST_TAIL] += begun
        exposure = np.float64(rows.leaving[i] * rows.inverse[i])
        if reach is None:
            expose(exposure, i, length, counts)
        else:
            expose(exposure, i, length, jump_counts[reach.classes[i]])


@kernel(inline=True, owning=False)
def hmm_sentence(
    emissions, null_emissions, length, p_null, jumps, reach, rows, posterior, shifted, jump_counts, want_jumps
):
    """Posteriors of one sentence in one direction.

    emissions (float32 [observed, width]): ``p(word j | word i)``; columns from ``length`` on are zero.
    null_emissions (float32 [>= observed]).
    jumps: Of this direction.
    reach (Reach or None): Where words have classes: what `lay_out` wrote of the given sentence.
    posterior (float32 [observed, width], output): ``P(a_j = i | both sentences)``; the rest up to 1 is NULL's.
    shifted (float32 [observed, width], scratch): ``A(i') / Z(i')`` of every position, for the jump counts.
    jump_counts (float64 [classes, 2, JUMP_SIZE], added to when ``want_jumps``): Expected jumps; and their exposure: the
        expected number of times that a jump was possible, each divided by its ``Z``. The ratio of the two is the M-step
        that cannot lower the likelihood although ``Z`` depends on the parameters (minorize-maximize, as Hunter 2004
        does for Plackett-Luce models).
    Returns the natural logarithm of the sentence's likelihood.
    """
    for i in range(length):
        rows.inverse[i] = normalizer(jumps.rows[0 if reach is None else reach.classes[i]], i, length)
    first_total = first_positions(jumps.rows[0], length, emissions.shape[1], rows.first, rows.inverse)
    loglik = forward_pass(emissions, null_emissions, p_null, jumps, reach, rows, posterior, shifted, want_jumps)
    backward_pass(
        emissions, null_emissions, length, p_null, jumps, reach, rows, posterior, shifted, jump_counts, want_jumps
    )
    if want_jumps:
        null = p_null * null_emissions[0] * rows.scale[0]
        count_exposures(null, length, first_total, reach, rows, posterior, jump_counts)
    return loglik


@kernel(part=True)
def emissions_of(cells, forward, given, observed, inverse, null, out, null_out):
    """Write one direction's emissions of a sentence pair, from its link matrix and words.

    forward, given, inverse: See `gather`.
    observed (int32 [n_observed]); null (float32 [n_observed_words]).
    out (float32 [n_observed, width], output): ``p(observed word | given word)``, padded with zeros.
    null_out (float32 [>= n_observed], output).
    """
    n_given, n_observed = given.shape[0], observed.shape[0]
    gather(cells, forward, n_given, n_observed, given, inverse, out)
    for o in range(n_observed):
        null_out[o] = null[observed[o]]
        for g in range(n_given, out.shape[1]):
            out[o, g] = 0.0


@kernel(part=True)
def count_unlinked(posterior, length, out):
    """Write the probability that each observed word is linked to NULL: what its posteriors leave of 1."""
    for o in range(posterior.shape[0]):
        linked = np.float32(0.0)
        for g in range(length):
            linked += posterior[o, g]
        out[o] = max(np.float32(1.0) - linked, np.float32(0.0))


@kernel
def hmm_block(
    k0, k1, pairs, both, words, jumps, reach, p_null, directions, joint, jump_stride, jump_counts, unlinked, loglik
):
    """Replace the link matrices of sentences ``k0..k1`` by both directions' posteriors.

    both (float32 [cells of the chunk], each): Table values before normalization, forward and reverse; in joint training
        they may be one array. On return: the product of the posteriors (``joint``, in the first), or each direction's
        own.
    words (float32 [n_words], each): Of source and of target words one over the sum that normalizes ``p(. | word)``, and
        their probabilities under NULL.
    jumps: Forward (states are source positions), then reverse.
    reach (Reach or None): Where jumps depend on classes of words: these, and room for the longest of the sentences.
    directions (int): 1 forward, 2 reverse, 3 both.
    jump_stride (int): Jumps are counted on every such sentence (0: on none).
    jump_counts (float64 [2, classes, 2, JUMP_SIZE]); loglik (float64 [2, chunk], outputs).
    unlinked ((float32 [target tokens of the text], float32 [source tokens of the text]), outputs): Forward and reverse,
        the probability that each observed word is linked to NULL; not written where empty.
    """
    cells, reverse_cells = both
    s_inverse, t_inverse, s_null, t_null = words
    s_offsets, t_offsets = pairs.s_offsets, pairs.t_offsets
    width = padded(max(longest_sentence(k0, k1, s_offsets), longest_sentence(k0, k1, t_offsets)))
    rows, null_e = rows_for(width, cells), np.empty(width, cells.dtype)
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
                given, observed, inverse, null, found = s, t, s_inverse, t_null, own
            else:
                given, observed, inverse, null, found = t, s, t_inverse, s_null, own_reverse
            n, w = len(observed), padded(len(given))
            emissions = store[0, : n * w].reshape((n, w))
            shifted = store[1, : n * w].reshape((n, w))
            posterior = store[2 + d, : n * w].reshape((n, w))
            emissions_of(found, d == 0, given, observed, inverse, null, emissions, null_e)
            of_direction = Jumps(jumps.rows[d], jumps.taps[d], jumps.back_taps[d])
            if reach is not None:
                lay_out(of_direction, reach.s_classes if d == 0 else reach.t_classes, given, w, reach)
            length, counts = len(given), jump_counts[d]
            loglik[d, k - pairs.base] = hmm_sentence(
                emissions, null_e, length, p_null[d], of_direction, reach, rows, posterior, shifted, counts, want
            )
            left = unlinked[d]
            if left.shape[0] > 0:
                count_unlinked(posterior, len(given), left[(t_offsets if d == 0 else s_offsets)[k] :])
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
def viterbi_block(k0, k1, pairs, cells, forward, inverse, null, jumps, classes, p_null):
    """Replace table values by 1 where the Viterbi path of one direction links, and 0 elsewhere.

    jumps (float32 [rows, JUMP_SIZE]): Of this direction.
    classes (int16 [n_given_words + 1]): The row of the jumps that leave each given word.
    """
    base, s_tokens, s_offsets, t_tokens, t_offsets, cell_offsets = pairs
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
