"""Compiled: IBM 2 with a prior over positions, by table (Brown et al. 1993) or by diagonal (Dyer et al. 2013).

One direction at a time: words ``o`` of the observed sentence choose positions ``g`` of the given one. The table
has a block of ``rows x columns`` probabilities for each pair of lengths: row ``o`` is the distribution over ``g``.
A sentence that is longer than its block is scaled: the positions that fall into one column share its probability.
"""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.text.kernels_pairs import gather, scatter
from aligntools.ground.compiler import kernel


class PositionBlocks(NamedTuple):
    """A table of positions.

    shape_of (int32 [longest + 1, longest + 1]): Block for a length of the given and of the observed side (longer ones
        are looked up as the longest), or -1.
    shapes (int32 [n, 2]); starts (int64 [n + 1]); values: Columns and rows of each block, and where it lies in
        ``values``.
    """

    shape_of: np.ndarray
    shapes: np.ndarray
    starts: np.ndarray
    values: np.ndarray


class Outcome(NamedTuple):
    """What is found of a chunk in one direction beside posteriors.

    uses (float [given words of the chunk]): Expected number of words that chose each given word, under P.
    nulls (float [2, observed words of the chunk]): P of NULL; the same of ``2 Q - P``.
    loglik, objective (float64 [chunk]): ``ln Z1`` and ``ln Z2 - ln Z1``.
    """

    uses: np.ndarray
    nulls: np.ndarray
    loglik: np.ndarray
    objective: np.ndarray


@kernel(part=True)
def scaled(x, n, size):
    """Return the bin of position ``x`` of ``n`` among ``size`` bins: where the middle of the position falls."""
    return ((2 * x + 1) * size) // (2 * n)


@kernel(part=True)
def write_prior(block, rows, columns, n_given, n_observed, tension, out):
    """Write ``p(g | o)`` to ``out`` [n_observed, >= n_given], each row summing to 1.

    block (float [rows * columns]): The table's probabilities; with ``rows = 0`` the prior is ``exp(-tension |g/G -
        o/O|) / Z``, 1-based.
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


@kernel(part=True)
def word_posteriors(e, prior, p_null, null_e, q):
    """Turn one observed word's emissions into its posteriors, and those with every emission squared.

    e (float [n_given]): ``p(word | g)``; on return ``P(g)``, times the first sum returned.
    prior (float [n_given]): ``p(g)``, summing to 1.
    null_e (float64): The word's probability under NULL.
    q (float [n_given], output): ``Q(g)`` (equation 29), times the second sum returned.
    Returns one, two (float64): The sums over ``g`` and NULL: ``Z1`` and ``Z2`` of the word, scaled.
    Returns null_one, null_two (float64): NULL's part of them.
    Returns log_top (float64): The logarithm of the scale: emissions are divided by the largest, so that squares stay in
        single precision's range.
    """
    n_given = e.shape[0]
    top = max(null_e, 1e-37)
    for g in range(n_given):
        top = max(top, np.float64(e[g]))
    scale = 1.0 / top
    one, two = 0.0, 0.0
    for g in range(n_given):
        x = e[g] * scale
        a = (1.0 - p_null) * prior[g] * x
        one += a
        two += a * x
        e[g] = a
        q[g] = a * x
    a = p_null * null_e * scale
    one += a + 1e-35
    two += a * null_e * scale + 1e-35
    return one, two, a, a * null_e * scale, np.log(top)


@kernel(part=True)
def add_word(e, q, prior, one, two, squared, place, length, on_diagonal, used, features):
    """Add one observed word's posteriors to what each given word is used for, and to the tension's slope.

    e, q (float [n_given]): As `word_posteriors` leaves them; on return P, or with ``squared`` ``2 Q - P``; and ``Q -
        P``.
    place, length (int): The word's, counted from 0, and the observed side's.
    on_diagonal (bool): The prior is the diagonal's.
    used (float [n_given], added to).
    features (float64 [2], added to): See `positioned_block`.
    """
    n_given = e.shape[0]
    mean, links, slope = 0.0, 0.0, 0.0
    if squared and on_diagonal:
        for g in range(n_given):
            mean += prior[g] * abs((g + 1.0) / n_given - (place + 1.0) / length)
    for g in range(n_given):
        x = e[g] / one
        y = q[g] / two
        used[g] += x
        links += x
        if squared and on_diagonal:
            slope += (y - x) * (mean - abs((g + 1.0) / n_given - (place + 1.0) / length))
        q[g] = y - x
        e[g] = y + y - x if squared else x
    features[0] += slope
    features[1] += links


@kernel(inline=True, owning=False)
def sentence_posteriors(p, q, prior, words, null, p_null, squared, on_diagonal, used, nulls, features):
    """Turn one pair's emissions into posteriors, word by word.

    p, q, prior (float [n_observed, n_given]): Emissions, on return the posteriors; scratch, on return ``Q - P``; ``p(g
        | o)``.
    words (int32 [n_observed]).
    used (float [n_given]); nulls (float [2, n_observed], outputs): See `Outcome`.
    Returns loglik, objective (float64): ``ln Z1`` and ``ln Z2 - ln Z1``.
    """
    log_one = 0.0
    log_two = 0.0
    used[:] = 0.0
    for o in range(p.shape[0]):
        one, two, null_one, null_two, log_top = word_posteriors(
            p[o], prior[o], p_null, np.float64(null[words[o]]), q[o]
        )
        null_p, null_q = null_one / one, null_two / two
        log_one += log_top + np.log(one)
        log_two += log_top + np.log(two) - np.log(one)
        add_word(p[o], q[o], prior[o], one, two, squared, o, p.shape[0], on_diagonal, used, features)
        nulls[0, o] = null_p
        nulls[1, o] = null_q + null_q - null_p
    return log_one, log_two


@kernel
def positioned_block(
    k0, k1, text, cells, forward, inverse, null, p_null, tension, table, squared, apart, outcome, features
):
    """Posteriors of sentences ``k0..k1`` in one direction; or what reconstruction needs of them.

    Reconstruction (Cheng, Liu & Xu 2017): ``P(x | x, y) = Z2 / Z1`` with ``Z1 = sum_z P(z) P(x | z)`` and
    ``Z2 = sum_z P(z) P(x | z)^2`` (equations 23-25); words are independent here, so that both are products over
    them. Q is the posterior with emissions squared (equation 29).

    text (Directed).
    cells (float [cells of the chunk]): Table values before normalization; on return the posteriors P, or with
        ``squared`` 2 Q - P: what equation 26 calls for.
    forward (bool): The given side is the source, by which link matrices have their rows.
    inverse (float [n_given_words]); null (float [n_observed_words]).
    tension (float): Of the diagonal, where the table has no shapes.
    table (PositionBlocks).
    apart (float [cells of the chunk or 0], output): Q - P, for the prior's gradient (equation 27).
    features (float64 [2], added to): Slope of the objective along the tension, and expected links under P.
    """
    given_offsets, observed_offsets = text.given_offsets, text.observed_offsets
    limit = table.shape_of.shape[0] - 1
    capacity = 0
    store = np.empty((3, 1), cells.dtype)
    for k in range(k0, k1):
        gb, ob = given_offsets[k], observed_offsets[k]
        n_g, n_o = given_offsets[k + 1] - gb, observed_offsets[k + 1] - ob
        used = outcome.uses[gb - given_offsets[text.base] :][:n_g]
        nulls = outcome.nulls[:, ob - observed_offsets[text.base] :][:, :n_o]
        if n_g == 0 or n_o == 0:
            nulls[:] = 0.0
            used[:] = 0.0
            continue
        if n_g * n_o > capacity:
            capacity = n_g * n_o
            store = np.empty((3, capacity), cells.dtype)
        prior = store[0, : n_o * n_g].reshape((n_o, n_g))
        p = store[1, : n_o * n_g].reshape((n_o, n_g))
        q = store[2, : n_o * n_g].reshape((n_o, n_g))
        at = text.cell_offsets[k - text.base]
        own = cells[at : at + n_g * n_o]
        gather(own, forward, n_g, n_o, text.given[gb : gb + n_g], inverse, p)
        s = np.int64(table.shape_of[min(n_g, limit), min(n_o, limit)])
        if s >= 0:
            block = table.values[table.starts[s] : table.starts[s + 1]]
            rows, columns = np.int64(table.shapes[s, 1]), np.int64(table.shapes[s, 0])
        else:
            block, rows, columns = table.values[:0], np.int64(0), np.int64(0)
        write_prior(block, rows, columns, n_g, n_o, tension, prior)
        outcome.loglik[k - text.base], outcome.objective[k - text.base] = sentence_posteriors(
            p, q, prior, text.observed[ob : ob + n_o], null, p_null, squared, s < 0, used, nulls, features
        )
        scatter(p, forward, n_g, n_o, own)
        if squared and apart.shape[0] > 0:
            scatter(q, forward, n_g, n_o, apart[at : at + n_g * n_o])


@kernel
def collect_positions(
    a,
    b,
    bounds,
    sentences,
    base,
    forward,
    given_offsets,
    observed_offsets,
    cell_offsets,
    cells,
    shape_ids,
    shapes,
    starts,
    counts,
):
    """Add link matrices to the counts of groups ``a..b`` of sentences that have the same shape.

    bounds (int64 [n_groups + 1]); sentences (int64): Sentences of a group, of the whole text, are
        ``sentences[bounds[x]:bounds[x + 1]]``.
    shape_ids (int64 [n_groups]): The block of each group.
    counts (float32, as long as the table's values, added to).
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
