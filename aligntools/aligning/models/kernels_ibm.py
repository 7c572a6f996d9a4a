"""Compiled: posteriors of IBM 1, and of IBM 2 with the diagonal reparameterization (Dyer et al. 2013)."""

import numpy as np

from aligntools.aligning.text.kernels_pairs import longest_sentence
from aligntools.ground.compiler import kernel


@kernel(part=True)
def forward_posteriors(cells, s, t, inverse, null, p_null, tension, sums, prior_sums, out, features):
    """Write the posteriors of one pair where each target word chooses a source word; return the log-likelihood.

    cells, out (float32 [I, J]), s, t (int32 [I], [J]), inverse, null (float32 [n_source_words + 1], [n_target_words +
        1]), sums, prior_sums (float32 [>= J], scratch).
    features (float64 [2], added to): See `ibm_block`.
    """
    n_i, n_j = cells.shape
    diagonal = tension > 0.0
    sums[:n_j] = 0.0
    prior_sums[:n_j] = 0.0
    for i in range(n_i):
        z = inverse[s[i]]
        if diagonal:
            for j in range(n_j):
                d = np.exp(-tension * abs((i + 1.0) / n_i - (j + 1.0) / n_j))
                prior_sums[j] += d
                out[i, j] = cells[i, j] * z * d
                sums[j] += out[i, j]
        else:
            for j in range(n_j):
                out[i, j] = cells[i, j] * z
                sums[j] += out[i, j]
    loglik = 0.0
    for j in range(n_j):
        share = (1.0 - p_null) / (prior_sums[j] if diagonal else n_i)
        total = share * sums[j] + p_null * null[t[j]] + 1e-35
        loglik += np.log(total)
        sums[j] = share / total
    for i in range(n_i):
        for j in range(n_j):
            out[i, j] *= sums[j]
    if diagonal:
        for j in range(n_j):
            for i in range(n_i):
                d = abs((i + 1.0) / n_i - j / n_j)
                features[0] -= out[i, j] * d
                features[1] += out[i, j]
    return loglik


@kernel(part=True)
def reverse_posteriors(cells, s, t, inverse, null, p_null, tension, out, features):
    """The same where each source word chooses a target word."""
    n_i, n_j = cells.shape
    diagonal = tension > 0.0
    loglik = 0.0
    for i in range(n_i):
        sums = 0.0
        prior = 0.0
        for j in range(n_j):
            x = cells[i, j] * inverse[t[j]]
            if diagonal:
                d = np.exp(-tension * abs((i + 1.0) / n_i - (j + 1.0) / n_j))
                prior += d
                x *= d
            out[i, j] = x
            sums += x
        share = (1.0 - p_null) / (prior if diagonal else n_j)
        total = share * sums + p_null * null[s[i]] + 1e-35
        loglik += np.log(total)
        for j in range(n_j):
            out[i, j] *= share / total
            if diagonal:
                d = abs(i / n_i - (j + 1.0) / n_j)
                features[0] -= out[i, j] * d
                features[1] += out[i, j]
    return loglik


@kernel
def ibm_block(k0, k1, pairs, both, words, p_null, tension, directions, joint, loglik, features):
    """Replace the link matrices of sentences ``k0..k1`` by both directions' posteriors.

    The position prior is ``(1 - p0) exp(-tension |i/I - j/J|) / Z`` with 1-based positions; with tension 0
    it is IBM 1's. Arguments are those of ``hmm_block``; ``tension`` is float64 [2].

    joint (bool): Write the mean of the posteriors to the first of ``both``. (Their product, right for the HMM, starves
        IBM 1.)
    features (float64 [2, 2], output): Posterior expectation of ``-|i/I - (j-1)/J|`` over real links, summed, and of the
        number of real links: with `diagonal_expectation` they give the tension's gradient (Dyer et al. 2013, section
        2.1), but for the observed position, which counts from 0 here, as in fast_align. That draws the tension lower,
        more so for short sentences, and measures better once the two directions are symmetrized.
    """
    cells, reverse_cells = both
    s_inverse, t_inverse, s_null, t_null = words
    s_offsets, t_offsets = pairs.s_offsets, pairs.t_offsets
    longest = max(longest_sentence(k0, k1, s_offsets), longest_sentence(k0, k1, t_offsets))
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
        b = pairs.cell_offsets[k - pairs.base]
        f_cells = cells[b : b + n_i * n_j].reshape((n_i, n_j))
        r_cells = reverse_cells[b : b + n_i * n_j].reshape((n_i, n_j))
        fwd = store[0, : n_i * n_j].reshape((n_i, n_j))
        rev = store[1, : n_i * n_j].reshape((n_i, n_j))
        s, t = pairs.s_tokens[sb : sb + n_i], pairs.t_tokens[tb : tb + n_j]
        # both are computed whatever the direction: this model is cheap
        loglik[0, k - pairs.base] = forward_posteriors(
            f_cells, s, t, s_inverse, t_null, p_null[0], tension[0], sums, prior_sums, fwd, features[0]
        )
        loglik[1, k - pairs.base] = reverse_posteriors(
            r_cells, s, t, t_inverse, s_null, p_null[1], tension[1], rev, features[1]
        )
        for i in range(n_i):
            for j in range(n_j):
                if joint:
                    f_cells[i, j] = np.float32(0.5) * (fwd[i, j] + rev[i, j])
                else:
                    if directions & 1:
                        f_cells[i, j] = fwd[i, j]
                    if directions & 2:
                        r_cells[i, j] = rev[i, j]


@kernel
def ibm1_block(k0, k1, pairs, both, words, p_null, directions, joint, loglik):
    """The same as `ibm_block` without tension, which takes half as long to compile: `align` needs no more.

    Where ``p_null`` is negative, NULL is one position among the others.
    """
    cells, reverse_cells = both
    s_inverse, t_inverse, s_null, t_null = words
    s_offsets, t_offsets = pairs.s_offsets, pairs.t_offsets
    sums = np.empty(longest_sentence(k0, k1, t_offsets), np.float32)
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
        b = pairs.cell_offsets[k - pairs.base]
        f_cells = cells[b : b + n_i * n_j].reshape((n_i, n_j))
        r_cells = reverse_cells[b : b + n_i * n_j].reshape((n_i, n_j))
        fwd = store[0, : n_i * n_j].reshape((n_i, n_j))
        rev = store[1, : n_i * n_j].reshape((n_i, n_j))
        s, t = pairs.s_tokens[sb : sb + n_i], pairs.t_tokens[tb : tb + n_j]
        sums[:n_j] = 0.0
        for i in range(n_i):
            z = s_inverse[s[i]]
            for j in range(n_j):
                fwd[i, j] = f_cells[i, j] * z
                sums[j] += fwd[i, j]
        p = p_null[0] if p_null[0] >= 0.0 else np.float32(1.0 / (n_i + 1.0))
        share = (1.0 - p) / n_i
        log = 0.0
        for j in range(n_j):
            total = share * sums[j] + p * t_null[t[j]] + 1e-35
            log += np.log(total)
            sums[j] = share / total
        loglik[0, k - pairs.base] = log
        for i in range(n_i):
            for j in range(n_j):
                fwd[i, j] *= sums[j]
        p = p_null[1] if p_null[1] >= 0.0 else np.float32(1.0 / (n_j + 1.0))
        share = (1.0 - p) / n_j
        log = 0.0
        for i in range(n_i):
            total = 0.0
            for j in range(n_j):
                x = r_cells[i, j] * t_inverse[t[j]]
                rev[i, j] = x
                total += x
            total = share * total + p * s_null[s[i]] + 1e-35
            log += np.log(total)
            for j in range(n_j):
                rev[i, j] *= share / total
        loglik[1, k - pairs.base] = log
        for i in range(n_i):
            for j in range(n_j):
                if joint:
                    f_cells[i, j] = np.float32(0.5) * (fwd[i, j] + rev[i, j])
                else:
                    if directions & 1:
                        f_cells[i, j] = fwd[i, j]
                    if directions & 2:
                        r_cells[i, j] = rev[i, j]


@kernel
def null_posteriors(k0, k1, base, s_offsets, t_offsets, cell_offsets, posteriors, forward, out):
    """Write the posterior of NULL for the words of one side of sentences ``k0..k1``: what links leave over.

    forward (bool): The target words choose, else the source words.
    out (float32 [words of that side from sentence ``base`` on], output).
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
def diagonal_features(k0, k1, base, s_offsets, t_offsets, cell_offsets, posteriors, forward):
    """Posterior expectation of ``-|i/I - (j-1)/J|`` over sentences ``k0..k1``, summed; see `ibm_block`."""
    total = 0.0
    for k in range(k0, k1):
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        b = cell_offsets[k - base]
        for i in range(n_i):
            for j in range(n_j):
                d = abs((i + 1.0) / n_i - j / n_j) if forward else abs(i / n_i - (j + 1.0) / n_j)
                total -= posteriors[b + i * n_j + j] * d
    return total


@kernel
def diagonal_expectation(lengths, counts, tension):
    """Expected ``-|i/I - j/J|`` under the position prior, summed over observed words and sentence shapes.

    lengths (int64 [n_shapes, 2]); counts (int64 [n_shapes]): Conditioning and observed lengths that occur, and how
        often.
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
