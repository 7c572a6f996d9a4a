"""Compiled: posteriors of IBM 1, and of IBM 2 with the diagonal reparameterization (Dyer et al. 2013)."""

import numpy as np

from aligntools.ground.compiling import kernel


@kernel
def ibm_block(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, cell_offsets, cells, reverse_cells,
    s_inverse, t_inverse, s_null, t_null, p_null, tension, directions, joint, loglik, features,
):  # fmt: skip
    """Replace the link matrices of sentences ``k0..k1`` by both directions' posteriors.

    The position prior is ``(1 - p0) exp(-tension |i/I - j/J|) / Z`` with 1-based positions; with tension 0
    it is IBM 1's. Arguments are those of ``hmm_block``; ``tension`` is float64 [2].

    Parameters
    ----------
    joint : bool
        Write the mean of the posteriors to ``cells``. (Their product, right for the HMM, starves IBM 1.)
    features : float64 [2, 2], output
        Posterior expectation of ``-|i/I - (j-1)/J|`` over real links, summed, and of the number of real links:
        with `diagonal_expectation` they give the tension's gradient (Dyer et al. 2013, section 2.1), but for
        the observed position, which counts from 0 here, as in fast_align. That draws the tension lower, more so
        for short sentences, and measures better once the two directions are symmetrized.
    """
    longest = 1
    for k in range(k0, k1):
        longest = max(longest, s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k])
    sums = np.empty(longest, np.float32)
    prior_sums = np.empty(longest, np.float32)
    capacity = 0
    store = np.empty((2, 1), np.float32)
    for k in range(k0, k1):
        sb, tb = s_offsets[k], t_offsets[k]
        n_i, n_j = s_offsets[k + 1] - sb, t_offsets[k + 1] - tb
        if n_i == 0 or n_j == 0:
            continue
        if n_i * n_j > capacity:
            capacity = n_i * n_j
            store = np.empty((2, capacity), np.float32)
        b = cell_offsets[k - base]
        f_cells = cells[b : b + n_i * n_j].reshape((n_i, n_j))
        r_cells = reverse_cells[b : b + n_i * n_j].reshape((n_i, n_j))
        fwd = store[0, : n_i * n_j].reshape((n_i, n_j))
        rev = store[1, : n_i * n_j].reshape((n_i, n_j))
        log_f = 0.0
        log_r = 0.0
        # forward: each j chooses an i (both are computed: this model is cheap)
        diagonal = tension[0] > 0.0
        sums[:n_j] = 0.0
        prior_sums[:n_j] = 0.0
        for i in range(n_i):
            z = s_inverse[s_tokens[sb + i]]
            if diagonal:
                for j in range(n_j):
                    d = np.exp(-tension[0] * abs((i + 1.0) / n_i - (j + 1.0) / n_j))
                    prior_sums[j] += d
                    fwd[i, j] = f_cells[i, j] * z * d
                    sums[j] += fwd[i, j]
            else:
                for j in range(n_j):
                    fwd[i, j] = f_cells[i, j] * z
                    sums[j] += fwd[i, j]
        for j in range(n_j):
            share = (1.0 - p_null[0]) / (prior_sums[j] if diagonal else n_i)
            total = share * sums[j] + p_null[0] * t_null[t_tokens[tb + j]] + 1e-35
            log_f += np.log(total)
            sums[j] = share / total
        for i in range(n_i):
            for j in range(n_j):
                fwd[i, j] *= sums[j]
        if diagonal:
            for j in range(n_j):
                for i in range(n_i):
                    d = abs((i + 1.0) / n_i - j / n_j)
                    features[0, 0] -= fwd[i, j] * d
                    features[0, 1] += fwd[i, j]
        # reverse: each i chooses a j
        diagonal = tension[1] > 0.0
        for i in range(n_i):
            sum_r = 0.0
            prior = 0.0
            for j in range(n_j):
                x = r_cells[i, j] * t_inverse[t_tokens[tb + j]]
                if diagonal:
                    d = np.exp(-tension[1] * abs((i + 1.0) / n_i - (j + 1.0) / n_j))
                    prior += d
                    x *= d
                rev[i, j] = x
                sum_r += x
            share = (1.0 - p_null[1]) / (prior if diagonal else n_j)
            total = share * sum_r + p_null[1] * s_null[s_tokens[sb + i]] + 1e-35
            log_r += np.log(total)
            for j in range(n_j):
                rev[i, j] *= share / total
                if diagonal:
                    d = abs(i / n_i - (j + 1.0) / n_j)
                    features[1, 0] -= rev[i, j] * d
                    features[1, 1] += rev[i, j]
        loglik[0, k - base] = log_f
        loglik[1, k - base] = log_r
        if joint:
            for i in range(n_i):
                for j in range(n_j):
                    f_cells[i, j] = np.float32(0.5) * (fwd[i, j] + rev[i, j])
            continue
        if directions & 1:
            for i in range(n_i):
                for j in range(n_j):
                    f_cells[i, j] = fwd[i, j]
        if directions & 2:
            for i in range(n_i):
                for j in range(n_j):
                    r_cells[i, j] = rev[i, j]


@kernel
def null_posteriors(k0, k1, base, s_offsets, t_offsets, cell_offsets, posteriors, forward, out):
    """Write the posterior of NULL for the words of one side of sentences ``k0..k1``: what links leave over.

    Parameters
    ----------
    forward : bool
        The target words choose, else the source words.
    out : float32 [words of that side from sentence ``base`` on], output
    """
    for k in range(k0, k1):
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        b = cell_offsets[k - base]
        at = t_offsets[k] - t_offsets[base] if forward else s_offsets[k] - s_offsets[base]
        n = n_j if forward else n_i
        if n_i == 0 or n_j == 0:
            out[at : at + n] = 0.0
            continue
        out[at : at + n] = 1.0
        if forward:
            for i in range(n_i):
                for j in range(n_j):
                    out[at + j] -= posteriors[b + i * n_j + j]
        else:
            # summed in a local: in memory, where the arrays lie would decide on the order of the sum
            for i in range(n_i):
                left = np.float32(1.0)
                for j in range(n_j):
                    left -= posteriors[b + i * n_j + j]
                out[at + i] = left
        for x in range(at, at + n):
            out[x] = max(out[x], np.float32(0.0))


@kernel
def diagonal_expectation(lengths, counts, tension):
    """Expected ``-|i/I - j/J|`` under the position prior, summed over observed words and sentence shapes.

    Parameters
    ----------
    lengths : int64 [n_shapes, 2]; counts : int64 [n_shapes]
        Conditioning and observed lengths that occur, and how often.
    """
    total = 0.0
    for s in range(lengths.shape[0]):
        n_c, n_o = lengths[s, 0], lengths[s, 1]
        for o in range(n_o):
            z = 0.0
            e = 0.0
            for c in range(n_c):
                d = abs((c + 1.0) / n_c - (o + 1.0) / n_o)
                w = np.exp(-tension * d)
                z += w
                e -= d * w
            total += counts[s] * e / z
    return total
