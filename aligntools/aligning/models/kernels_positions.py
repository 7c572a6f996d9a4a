"""Compiled: IBM 2 with a prior over positions, by table (Brown et al. 1993) or by diagonal (Dyer et al. 2013).

One direction at a time: words ``o`` of the observed sentence choose positions ``g`` of the given one. The table
has a block of ``rows x columns`` probabilities for each pair of lengths: row ``o`` is the distribution over ``g``.
A sentence that is longer than its block is scaled: the positions that fall into one column share its probability.
"""

import numpy as np

from aligntools.ground.compiling import kernel


@kernel(inline=True)
def scaled(x, n, size):
    """Return the bin of position ``x`` of ``n`` among ``size`` bins: where the middle of the position falls."""
    return ((2 * x + 1) * size) // (2 * n)


@kernel(inline=True)
def write_prior(block, rows, columns, n_given, n_observed, tension, out):
    """Write ``p(g | o)`` to ``out`` [n_observed, >= n_given], each row summing to 1.

    Parameters
    ----------
    block : float [rows * columns]
        The table's probabilities; with ``rows = 0`` the prior is ``exp(-tension |g/G - o/O|) / Z``, 1-based.
    """
    for o in range(n_observed):
        total = 0.0
        row = scaled(o, n_observed, rows) * columns
        for g in range(n_given):
            if rows > 0:
                x = np.float64(block[row + scaled(g, n_given, columns)])
            else:
                x = np.exp(-tension * abs((g + 1.0) / n_given - (o + 1.0) / n_observed))
            out[o, g] = x
            total += x
        share = 1.0 / max(total, 1e-300)
        for g in range(n_given):
            out[o, g] = out[o, g] * share


@kernel(inline=True)
def gather(cells, forward, n_given, n_observed, given, inverse, out):
    """Copy a link matrix to ``out`` [n_observed, >= n_given] as ``p(observed word | given word)``."""
    if forward:
        for g in range(n_given):
            z = inverse[given[g]]
            for o in range(n_observed):
                out[o, g] = cells[g * n_observed + o] * z
    else:
        for o in range(n_observed):
            for g in range(n_given):
                out[o, g] = cells[o * n_given + g] * inverse[given[g]]


@kernel(inline=True)
def scatter(matrix, forward, n_given, n_observed, cells):
    """Copy ``matrix`` [n_observed, >= n_given] back to a link matrix."""
    if forward:
        for g in range(n_given):
            for o in range(n_observed):
                cells[g * n_observed + o] = matrix[o, g]
    else:
        for o in range(n_observed):
            for g in range(n_given):
                cells[o * n_given + g] = matrix[o, g]


@kernel
def positioned_block(
    k0, k1, base, given, given_offsets, observed, observed_offsets, cell_offsets, cells, forward, inverse, null,
    p_null, tension, shape_of, shapes, starts, values, squared, apart, uses, nulls, loglik, objective, features,
):  # fmt: skip
    """Posteriors of sentences ``k0..k1`` in one direction; or what reconstruction needs of them.

    Reconstruction (Cheng, Liu & Xu 2017): ``P(x | x, y) = Z2 / Z1`` with ``Z1 = sum_z P(z) P(x | z)`` and
    ``Z2 = sum_z P(z) P(x | z)^2`` (equations 23-25); words are independent here, so that both are products over
    them. Q is the posterior with emissions squared (equation 29).

    Parameters
    ----------
    base : int
        First sentence of the chunk that ``cell_offsets`` counts from.
    cells : float [cells of the chunk]
        Table values before normalization; on return the posteriors P, or with ``squared`` 2 Q - P: what equation
        26 calls for.
    forward : bool
        The given side is the source, by which link matrices have their rows.
    inverse : float [n_given_words]; null : float [n_observed_words]
    tension : float
        Of the diagonal, where ``shapes`` is empty.
    shape_of : int32 [longest + 1, longest + 1]
        Block for a length of the given and of the observed side (longer ones are looked up as the longest), or -1.
    shapes : int32 [n, 2]; starts : int64 [n + 1]; values : float
        Columns and rows of each block, and where it lies in ``values``.
    apart : float [cells of the chunk or 0], output
        Q - P, for the prior's gradient (equation 27).
    uses : float [given words of the chunk], output
        Expected number of words that chose each given word, under P.
    nulls : float [2, observed words of the chunk], output
        P of NULL; the same of ``2 Q - P``.
    loglik, objective : float64 [chunk], output
        ``ln Z1`` and ``ln Z2 - ln Z1``.
    features : float64 [2], added to
        Slope of the objective along the tension, and expected links under P.
    """
    longest_o, longest_g = 1, 1
    for k in range(k0, k1):
        longest_g = max(longest_g, given_offsets[k + 1] - given_offsets[k])
        longest_o = max(longest_o, observed_offsets[k + 1] - observed_offsets[k])
    limit = shape_of.shape[0] - 1
    capacity = 0
    store = np.empty((3, 1), cells.dtype)
    for k in range(k0, k1):
        gb, ob = given_offsets[k], observed_offsets[k]
        n_g, n_o = given_offsets[k + 1] - gb, observed_offsets[k + 1] - ob
        if n_g == 0 or n_o == 0:
            for o in range(n_o):
                nulls[0, ob - observed_offsets[base] + o] = 0.0
                nulls[1, ob - observed_offsets[base] + o] = 0.0
            for g in range(n_g):
                uses[gb - given_offsets[base] + g] = 0.0
            continue
        if n_g * n_o > capacity:
            capacity = n_g * n_o
            store = np.empty((3, capacity), cells.dtype)
        prior = store[0, : n_o * n_g].reshape((n_o, n_g))
        p = store[1, : n_o * n_g].reshape((n_o, n_g))
        q = store[2, : n_o * n_g].reshape((n_o, n_g))
        at = cell_offsets[k - base]
        own = cells[at : at + n_g * n_o]
        gather(own, forward, n_g, n_o, given[gb : gb + n_g], inverse, p)
        s = np.int64(shape_of[min(n_g, limit), min(n_o, limit)])
        if s >= 0:
            write_prior(values[starts[s] : starts[s + 1]], np.int64(shapes[s, 1]), np.int64(shapes[s, 0]), n_g, n_o,
                        tension, prior)  # fmt: skip
        else:
            write_prior(values[:0], np.int64(0), np.int64(0), n_g, n_o, tension, prior)
        used = uses[gb - given_offsets[base] :][:n_g]
        used[:] = 0.0
        log_one = 0.0
        log_two = 0.0
        for o in range(n_o):
            e = p[o]
            f = prior[o]
            null_e = np.float64(null[observed[ob + o]])
            # scaled by the largest emission, so that squares stay in single precision's range
            top = max(null_e, 1e-37)
            for g in range(n_g):
                top = max(top, np.float64(e[g]))
            scale = 1.0 / top
            one, two = 0.0, 0.0
            for g in range(n_g):
                x = e[g] * scale
                a = (1.0 - p_null) * f[g] * x
                one += a
                two += a * x
                e[g] = a
                q[o, g] = a * x
            a = p_null * null_e * scale
            one += a + 1e-35
            two += a * null_e * scale + 1e-35
            null_p, null_q = a / one, a * null_e * scale / two
            log_one += np.log(top) + np.log(one)
            log_two += np.log(top) + np.log(two) - np.log(one)
            mean, links, slope = 0.0, 0.0, 0.0
            if squared and s < 0:
                for g in range(n_g):
                    mean += f[g] * abs((g + 1.0) / n_g - (o + 1.0) / n_o)
            for g in range(n_g):
                x = e[g] / one
                y = q[o, g] / two
                used[g] += x
                links += x
                if squared and s < 0:
                    slope += (y - x) * (mean - abs((g + 1.0) / n_g - (o + 1.0) / n_o))
                q[o, g] = y - x
                e[g] = y + y - x if squared else x
            features[0] += slope
            features[1] += links
            nulls[0, ob - observed_offsets[base] + o] = null_p
            nulls[1, ob - observed_offsets[base] + o] = null_q + null_q - null_p
        loglik[k - base] = log_one
        objective[k - base] = log_two
        scatter(p, forward, n_g, n_o, own)
        if squared and apart.shape[0] > 0:
            scatter(q, forward, n_g, n_o, apart[at : at + n_g * n_o])


@kernel
def collect_positions(
    a, b, bounds, sentences, base, forward, given_offsets, observed_offsets, cell_offsets, cells, shape_ids, shapes,
    starts, counts,
):  # fmt: skip
    """Add link matrices to the counts of groups ``a..b`` of sentences that have the same shape.

    Parameters
    ----------
    bounds : int64 [n_groups + 1]; sentences : int64
        Sentences of a group, of the whole text, are ``sentences[bounds[x]:bounds[x + 1]]``.
    shape_ids : int64 [n_groups]
        The block of each group.
    counts : float32, as long as the table's values, added to
    """
    for x in range(a, b):
        s = shape_ids[x]
        columns, rows = np.int64(shapes[s, 0]), np.int64(shapes[s, 1])
        for y in range(bounds[x], bounds[x + 1]):
            k = sentences[y]
            n_g = given_offsets[k + 1] - given_offsets[k]
            n_o = observed_offsets[k + 1] - observed_offsets[k]
            at = cell_offsets[k - base]
            for o in range(n_o):
                row = starts[s] + scaled(o, n_o, rows) * columns
                for g in range(n_g):
                    cell = at + (g * n_o + o if forward else o * n_g + g)
                    counts[row + scaled(g, n_g, columns)] += cells[cell]


@kernel
def estimate_positions(a, b, shapes, starts, counts, smoothing, tension, values):
    """Estimate blocks ``a..b`` from counts: ``smoothing`` more words a row, drawn to the diagonal by ``tension``."""
    for s in range(a, b):
        columns, rows = np.int64(shapes[s, 0]), np.int64(shapes[s, 1])
        for o in range(rows):
            at = starts[s] + o * columns
            z, total = 0.0, 0.0
            for g in range(columns):
                z += np.exp(-tension * abs((g + 1.0) / columns - (o + 1.0) / rows))
                total += counts[at + g]
            z = smoothing / z
            for g in range(columns):
                prior = z * np.exp(-tension * abs((g + 1.0) / columns - (o + 1.0) / rows))
                values[at + g] = (counts[at + g] + prior) / (total + smoothing)
