"""Compiled: forward-backward for the alignment HMM (Vogel et al. 1996; null twins after Och & Ney 2003).

States are positions ``i`` of the conditioning sentence, observations the words ``j`` of the other one. Every
position has a null twin that remembers it: a word that comes from NULL leaves the position unchanged. So the
chance of what follows depends on the position alone, and the twins need no recursion of their own.

Transitions depend on the jump ``d = i - i'`` alone: ``g(d)`` for ``|d| <= W`` and one constant ``tail`` beyond,
divided by ``Z(i')``, the sum over the positions that exist. With ``h(d) = g(d) - tail`` a step of the recursion is

    sum_i' A(i') g(i - i') / Z(i') = tail * sum_i' A(i') / Z(i')  +  sum_|d|<=W h(d) A(i - d) / Z(i - d),

a convolution with ``2 W + 1`` taps instead of an ``I x I`` product. Rows are padded to whole vectors, and by
``W`` zeros on both sides, so that the inner loops run along contiguous memory without branches.
"""

import numpy as np

from aligntools.ground.compiling import kernel

#: Half width of the jump window; jumps beyond share one value.
WINDOW = 9
#: Taps stored: ``2 * WINDOW + 1`` jumps, ``g(d)`` at ``d + WINDOW``, then a zero: 20, as ``convolve`` needs.
TAPS = 2 * WINDOW + 2
#: A row of jump parameters: the taps, the tail, ``WINDOW + 1`` first positions, the first position's tail.
TAIL = TAPS
FIRST = TAPS + 1
FIRST_TAIL = FIRST + WINDOW + 1
JUMP_SIZE = FIRST_TAIL + 1
#: Vectors are padded to a multiple of this many floats.
LANES = 16


@kernel(inline=True)
def convolve(taps, padded, base, width, out):
    """Compute ``out[i] = base + sum_d taps[d + W] * padded[i - d]``.

    Parameters
    ----------
    taps : float32 [TAPS]
    padded : float32 [width + 2 * WINDOW + 2]
        Index 0 lies at ``WINDOW + 1``: one more zero than the window keeps the last, empty tap in range.
    width : int
        A multiple of LANES.
    """
    h0, h1, h2, h3, h4 = taps[0], taps[1], taps[2], taps[3], taps[4]
    h5, h6, h7, h8, h9 = taps[5], taps[6], taps[7], taps[8], taps[9]
    near = padded[TAPS - 10 :][: width + 10]
    for i in range(width):
        out[i] = (
            base + h0 * near[i + 9] + h1 * near[i + 8] + h2 * near[i + 7] + h3 * near[i + 6] + h4 * near[i + 5]
            + h5 * near[i + 4] + h6 * near[i + 3] + h7 * near[i + 2] + h8 * near[i + 1] + h9 * near[i]
        )  # fmt: skip
    g0, g1, g2, g3, g4 = taps[10], taps[11], taps[12], taps[13], taps[14]
    g5, g6, g7, g8, g9 = taps[15], taps[16], taps[17], taps[18], taps[19]
    far = padded[TAPS - 20 :][: width + 10]
    for i in range(width):
        out[i] += (
            g0 * far[i + 9] + g1 * far[i + 8] + g2 * far[i + 7] + g3 * far[i + 6] + g4 * far[i + 5]
            + g5 * far[i + 4] + g6 * far[i + 3] + g7 * far[i + 2] + g8 * far[i + 1] + g9 * far[i]
        )  # fmt: skip


@kernel(inline=True)
def normalizers(jumps, length, inverse):
    """Write ``1 / Z(i')``: one over the sum of ``g(i - i')`` over the positions ``i`` that exist."""
    tail = jumps[TAIL]
    for i in range(length):
        total = np.float32(0.0)
        low, high = max(-WINDOW, -i), min(WINDOW, length - 1 - i)
        for d in range(low, high + 1):
            total += jumps[d + WINDOW]
        total += tail * (length - (high - low + 1))
        inverse[i] = np.float32(1.0) / total


@kernel(inline=True)
def hmm_sentence(
    emissions, length, width, observed, jumps, taps, back_taps, p_null, null_emissions,
    posterior, first, inverse, a_pad, b_pad, row, beta, leaving, shifted, scale, jump_counts, want_jumps,
):  # fmt: skip
    """Posteriors of one sentence in one direction.

    Parameters
    ----------
    emissions : float32 [observed, width]
        ``p(word j | word i)``; columns from ``length`` on are zero.
    jumps, taps, back_taps : float32 [JUMP_SIZE], [TAPS], [TAPS]
        Jump parameters; ``h(d)`` and ``h(-d)``.
    null_emissions : float32 [observed]
    posterior : float32 [observed, width], output
        ``P(a_j = i | both sentences)``; the rest up to 1 is NULL's.
    first, inverse, row, beta, leaving : float32 [>= width], scratch; a_pad, b_pad : [>= width + 2 W + 2], scratch
    shifted : float32 [observed, width], scratch: ``A(i') / Z(i')`` of every position, for the jump counts.
    jump_counts : float64 [2, JUMP_SIZE], added to when ``want_jumps``
        Expected jumps; and their exposure: the expected number of times that a jump was possible, each
        divided by its ``Z``. The ratio of the two is the M-step that cannot lower the likelihood although
        ``Z`` depends on the parameters (minorize-maximize, as Hunter 2004 does for Plackett-Luce models).

    Returns
    -------
    float
        The natural logarithm of the sentence's likelihood.
    """
    tail = jumps[TAIL]
    p_real = np.float32(1.0) - p_null
    a_pad = a_pad[: width + 2 * WINDOW + 2]
    b_pad = b_pad[: width + 2 * WINDOW + 2]
    normalizers(jumps, length, inverse)
    first_total = np.float32(0.0)
    for i in range(length):
        first[i] = jumps[FIRST + min(i, WINDOW)] if i <= WINDOW else jumps[FIRST_TAIL]
        first_total += first[i]
    for i in range(length):
        first[i] /= first_total
    for i in range(length, width):
        first[i] = 0.0
        inverse[i] = 0.0
    a_pad[:] = 0.0
    b_pad[:] = 0.0
    now = a_pad[WINDOW + 1 :][:width]  # A(i) / Z(i) of the position before
    loglik = 0.0
    # A(i): forward probability of position i, real or null, scaled to sum to 1
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
            convolve(taps, a_pad, tail * mass, width, row)
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
            mass += y
        if want_jumps:
            g = shifted[j]
            for i in range(width):
                g[i] = now[i]
    loglik += np.log(product)
    # beta(i): chance of what follows position i, scaled alike; the same for a position and its null twin
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
        convolve(back_taps, b_pad, tail * mass, width, row)
        if want_jumps:
            g = shifted[j - 1]
            before = np.float32(0.0)
            for i in range(width):
                before += g[i]
                leaving[i] += g[i] * row[i]
            inside = 0.0
            for tap in range(2 * WINDOW + 1):
                ahead = b_pad[tap + 1 :][:width]
                x = np.float32(0.0)
                for i in range(width):
                    x += g[i] * ahead[i]
                jump_counts[0, tap] += np.float64(x) * jumps[tap]
                inside += x
            outside = np.float64(tail) * (np.float64(before) * mass - inside)
            jump_counts[0, TAIL] += max(outside, 0.0)
        null = p_null * null_emissions[j] * scale[j]
        for i in range(width):
            beta[i] = inverse[i] * row[i] + null * beta[i]
    if want_jumps:
        begun = 0.0
        null = p_null * null_emissions[0] * scale[0]
        for i in range(length):
            x = posterior[0, i] + null * first[i] * beta[i]  # a null twin begins somewhere too
            jump_counts[0, FIRST + i if i <= WINDOW else FIRST_TAIL] += x
            begun += x
        begun /= first_total
        for i in range(length):
            jump_counts[1, FIRST + i if i <= WINDOW else FIRST_TAIL] += begun
            exposure = np.float64(leaving[i] * inverse[i])
            low, high = max(-WINDOW, -i), min(WINDOW, length - 1 - i)
            for d in range(low, high + 1):
                jump_counts[1, d + WINDOW] += exposure
            jump_counts[1, TAIL] += exposure * (length - (high - low + 1))
    return loglik


@kernel
def hmm_block(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, cell_offsets, cells, reverse_cells,
    s_inverse, t_inverse, s_null, t_null, jumps, taps, back_taps, p_null, directions, joint, jump_stride,
    jump_counts, loglik,
):  # fmt: skip
    """Replace the link matrices of sentences ``k0..k1`` by both directions' posteriors.

    Parameters
    ----------
    base : int
        First sentence of the chunk that ``cell_offsets`` counts from.
    cells, reverse_cells : float32 [cells of the chunk]
        Table values before normalization; ``reverse_cells`` may be ``cells`` itself (joint training).
        On return: the product of the posteriors (``joint``, in ``cells``), or each direction's own.
    s_inverse, t_inverse : float32 [n_words]
        One over the sum that normalizes ``p(. | word)``.
    s_null, t_null : float32 [n_words]
        Probability of the word under NULL.
    jumps, taps, back_taps : float32 [2, ...]
        Forward (states are source positions), then reverse.
    directions : int
        1 forward, 2 reverse, 3 both.
    jump_stride : int
        Jumps are counted on every such sentence (0: on none).
    jump_counts : float64 [2, 2, JUMP_SIZE]; loglik : float64 [2, chunk], outputs
    """
    longest = 1
    for k in range(k0, k1):
        longest = max(longest, s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k])
    width = (longest + LANES - 1) // LANES * LANES
    first = np.empty(width, np.float32)
    inverse = np.empty(width, np.float32)
    row = np.empty(width, np.float32)
    beta = np.empty(width, np.float32)
    leaving = np.empty(width, np.float32)
    scale = np.empty(width, np.float32)
    null_f = np.empty(width, np.float32)
    null_r = np.empty(width, np.float32)
    a_store = np.empty(width + 2 * WINDOW + 2, np.float32)
    b_store = np.empty(width + 2 * WINDOW + 2, np.float32)
    capacity = 0
    store = np.empty((5, 1), np.float32)
    for k in range(k0, k1):
        sb, tb = s_offsets[k], t_offsets[k]
        n_i, n_j = s_offsets[k + 1] - sb, t_offsets[k + 1] - tb
        if n_i == 0 or n_j == 0:
            continue
        w_i = (n_i + LANES - 1) // LANES * LANES
        w_j = (n_j + LANES - 1) // LANES * LANES
        need = max(n_j * w_i, n_i * w_j)
        if need > capacity:
            capacity = need
            store = np.empty((5, capacity), np.float32)
        e_f = store[0, : n_j * w_i].reshape((n_j, w_i))
        e_r = store[1, : n_i * w_j].reshape((n_i, w_j))
        p_f = store[2, : n_j * w_i].reshape((n_j, w_i))
        p_r = store[3, : n_i * w_j].reshape((n_i, w_j))
        h_f = store[4, : n_j * w_i].reshape((n_j, w_i))
        h_r = store[4, : n_i * w_j].reshape((n_i, w_j))
        b = cell_offsets[k - base]
        f_cells = cells[b : b + n_i * n_j].reshape((n_i, n_j))
        r_cells = reverse_cells[b : b + n_i * n_j].reshape((n_i, n_j))
        for j in range(n_j):
            null_f[j] = t_null[t_tokens[tb + j]]
            for i in range(n_i, w_i):
                e_f[j, i] = 0.0
        for i in range(n_i):
            z = s_inverse[s_tokens[sb + i]]
            null_r[i] = s_null[s_tokens[sb + i]]
            for j in range(n_j):
                e_f[j, i] = f_cells[i, j] * z
                e_r[i, j] = r_cells[i, j] * t_inverse[t_tokens[tb + j]]
            for j in range(n_j, w_j):
                e_r[i, j] = 0.0
        want = jump_stride > 0 and k % max(jump_stride, 1) == 0
        if directions & 1:
            loglik[0, k - base] = hmm_sentence(
                e_f, n_i, w_i, n_j, jumps[0], taps[0], back_taps[0], p_null[0], null_f, p_f, first, inverse,
                a_store, b_store, row, beta, leaving, h_f, scale, jump_counts[0], want,
            )  # fmt: skip
        if directions & 2:
            loglik[1, k - base] = hmm_sentence(
                e_r, n_j, w_j, n_i, jumps[1], taps[1], back_taps[1], p_null[1], null_r, p_r, first, inverse,
                a_store, b_store, row, beta, leaving, h_r, scale, jump_counts[1], want,
            )  # fmt: skip
        if joint:
            for i in range(n_i):
                for j in range(n_j):
                    f_cells[i, j] = p_f[j, i] * p_r[i, j]
            continue
        if directions & 1:
            for i in range(n_i):
                for j in range(n_j):
                    f_cells[i, j] = p_f[j, i]
        if directions & 2:
            for i in range(n_i):
                for j in range(n_j):
                    r_cells[i, j] = p_r[i, j]
