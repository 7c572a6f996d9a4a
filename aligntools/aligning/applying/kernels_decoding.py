"""Compiled: averaging the posteriors of several views' models, and deciding on links."""

import numpy as np

from aligntools.ground.compiler import kernel

#: Ways to decide: the mean of both directions' posteriors, or one direction's, above a threshold; or for each
#: word of one direction its most probable position, unless NULL is more probable; or the mean above a threshold that
#: depends on the word's more probable links (`joint_block`).
MEAN, FORWARD, REVERSE, FORWARD_BEST, REVERSE_BEST, JOINT = range(6)


@kernel
def mix_block(
    k0,
    k1,
    base,
    source_offsets,
    target_offsets,
    cell_offsets,
    total,
    posteriors,
    weight,
    forward,
    sizes,
    positions,
    masses,
    sampler_weight,
):
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


@kernel(inline=True)
def mean(forward, reverse, c):
    """Return the mean of both directions' posteriors of a cell."""
    return np.float32(0.5) * (forward[c] + reverse[c])


@kernel
def decide_block(
    k0,
    k1,
    base,
    source_offsets,
    target_offsets,
    cell_offsets,
    forward,
    reverse,
    way,
    threshold,
    offsets,
    pairs,
    probabilities,
):
    """Write the links of sentences ``k0..k1``, by (i, j).

    forward, reverse (float32 [cells]): Both directions' posteriors.
    way (int): MEAN, FORWARD, REVERSE, FORWARD_BEST or REVERSE_BEST. A tie goes to the lowest position, and to a
        position before NULL.
    offsets (int64 [k1 - k0], output): Links of each sentence.
    pairs, probabilities (int32 [n, 2], float32 [n], output): May be empty, to count.
    Returns number of links.
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
                if way == MEAN:
                    p = mean(forward, reverse, c)
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


@kernel
def joint_block(
    k0,
    k1,
    base,
    source_offsets,
    target_offsets,
    cell_offsets,
    forward,
    reverse,
    thresholds,
    best,
    offsets,
    pairs,
    probabilities,
):
    """Write the links of sentences ``k0..k1`` whose mean posterior exceeds a threshold, by (i, j).

    Which one depends on the more probable links that the two words have.

    forward, reverse (float32 [cells]): Both directions' posteriors.
    thresholds (float32 [3]): Of a pair whose words have no more probable links; of one where one of the words has, and
        has one beside it; of all others. The more probable links are those that exceed the first threshold.
    best (float32 [2, longest sentence], scratch).
    Others, and what is returned, are those of `decide_block`.
    """
    n = 0
    writing = pairs.shape[0] > 0
    first, beside, apart = thresholds[0], thresholds[1], thresholds[2]
    for k in range(k0, k1):
        n_i = source_offsets[k + 1] - source_offsets[k]
        n_j = target_offsets[k + 1] - target_offsets[k]
        b = cell_offsets[k - base]
        best[0, :n_i] = 0
        best[1, :n_j] = 0
        for i in range(n_i):
            for j in range(n_j):
                p = mean(forward, reverse, b + i * n_j + j)
                best[0, i] = max(best[0, i], p)
                best[1, j] = max(best[1, j], p)
        begun = n
        for i in range(n_i):
            for j in range(n_j):
                c = b + i * n_j + j
                p = mean(forward, reverse, c)
                if p <= beside:
                    continue
                least = max(p, first)
                of_source, of_target = best[0, i] > least, best[1, j] > least
                needed = first
                if of_source or of_target:
                    needed = apart
                if of_source and not of_target:
                    near = j > 0 and mean(forward, reverse, c - 1) > least
                    if near or (j + 1 < n_j and mean(forward, reverse, c + 1) > least):
                        needed = beside
                elif of_target and not of_source:
                    near = i > 0 and mean(forward, reverse, c - n_j) > least
                    if near or (i + 1 < n_i and mean(forward, reverse, c + n_j) > least):
                        needed = beside
                if p > needed:
                    if writing:
                        pairs[n, 0] = i
                        pairs[n, 1] = j
                        probabilities[n] = p
                    n += 1
        offsets[k - k0] = n - begun
    return n


@kernel(owning=False)
def believe_links(
    k0, k1, base, s_starts, t_starts, s_words, t_words, pairs, s_inverse, t_inverse, links, cells, strengths, sums, out
):
    """Add links, with their probabilities, to the expected counts that each cell's words have in the model.

    ``p(t | s)`` is then ``(n(s, t) + w) / (n(s) + w(s))``, with ``w(s)`` the sum of this word's links; the other
    direction alike. A link of words in pieces is spread over the cells of their pieces.

    s_words, t_words (int64 [sentences + 1]): Where sentences begin among the words.
    s_starts, t_starts (int64 [words + 1]): Where the pieces of each word begin; words that are whole are one each.
    pairs (Pairs): In the model's words or pieces; ids beyond those of an inverse are unknown.
    s_inverse, t_inverse (float32 [n_words + 1]): See `Lexicon`.
    links (int64 [sentences + 1]), cells (int32 [links, 2]), strengths (float32 [links]): Of all sentences.
    sums (float32 [2, words or pieces of the longest side], scratch).
    out (tuple of two float32 [cells of the chunk]): Values of the lexicon's forward and reverse tables, changed.
    """
    rows, columns = sums[0], sums[1]
    forward, reverse = out
    for k in range(k0, k1):
        at = pairs.cell_offsets[k - base]
        if pairs.cell_offsets[k - base + 1] == at:
            continue
        s0, t0 = pairs.s_offsets[k], pairs.t_offsets[k]
        n_i, n_j = pairs.s_offsets[k + 1] - s0, pairs.t_offsets[k + 1] - t0
        rows[:n_i] = 0.0
        columns[:n_j] = 0.0
        s_first, t_first = s_starts[s_words[k]], t_starts[t_words[k]]
        for x in range(links[k], links[k + 1]):
            i, j = s_words[k] + cells[x, 0], t_words[k] + cells[x, 1]
            wide, high = s_starts[i + 1] - s_starts[i], t_starts[j + 1] - t_starts[j]
            share = strengths[x] / np.float32(max(wide, high, 1))
            for a in range(s_starts[i] - s_first, s_starts[i + 1] - s_first):
                for b in range(t_starts[j] - t_first, t_starts[j + 1] - t_first):
                    forward[at + a * n_j + b] += share
                    reverse[at + a * n_j + b] += share
                    rows[a] += share
                    columns[b] += share
        for a in range(n_i):
            word = min(pairs.s_tokens[s0 + a], s_inverse.shape[0] - 1)
            factor = np.float32(1.0) / (np.float32(1.0) + rows[a] * s_inverse[word])
            for b in range(n_j):
                forward[at + a * n_j + b] *= factor
        for b in range(n_j):
            word = min(pairs.t_tokens[t0 + b], t_inverse.shape[0] - 1)
            columns[b] = np.float32(1.0) / (np.float32(1.0) + columns[b] * t_inverse[word])
        for a in range(n_i):
            for b in range(n_j):
                reverse[at + a * n_j + b] *= columns[b]


@kernel(owning=False)
def fold_block(
    k0, k1, base, s_offsets, t_offsets, cell_offsets, s_starts, t_starts, piece_offsets, posteriors, weight, total
):
    """Mix what pieces say of each pair of words into ``total``.

    Two words are linked unless none of their pieces are, as if these were independent: ``1 - prod (1 - p)``.
    Sentence pairs without pieces stay as they are.

    s_offsets, t_offsets (int64 [sentences + 1]): Of words.
    cell_offsets (int64 [chunk's sentences + 1]): Of the words' link matrices; sentence ``base`` is the first.
    s_starts, t_starts (int64 [words + 1]): Where the pieces of each word begin.
    piece_offsets (int64 [chunk's sentences + 1]): Of the pieces' link matrices.
    posteriors (float32 [cells of the pieces]).
    weight (float): Share of the pieces in what comes out.
    total (float32 [cells], output).
    """
    for k in range(k0, k1):
        if piece_offsets[k - base + 1] == piece_offsets[k - base]:
            continue
        s0, t0 = s_offsets[k], t_offsets[k]
        n_i, n_j = s_offsets[k + 1] - s0, t_offsets[k + 1] - t0
        begin, first = piece_offsets[k - base], t_starts[t0]
        width = t_starts[t0 + n_j] - first
        for i in range(n_i):
            for j in range(n_j):
                none = np.float32(1.0)
                for x in range(s_starts[s0 + i] - s_starts[s0], s_starts[s0 + i + 1] - s_starts[s0]):
                    row = begin + x * width - first
                    for y in range(t_starts[t0 + j], t_starts[t0 + j + 1]):
                        none *= np.float32(1.0) - min(posteriors[row + y], np.float32(1.0))
                c = cell_offsets[k - base] + i * n_j + j
                total[c] += weight * (np.float32(1.0) - none - total[c])


@kernel
def unseen_cells(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, cell_offsets, s_value, t_value, default, alike, moved, cells
):
    """Set cells of words that a model has not seen, where they hold the ``default`` of a missing pair.

    s_value, t_value (float32 [n_words + 1]): See `unseen_words.UnseenWords`.
    alike: Cells of so much are of words that look alike.
    moved (bool [cells], output): Cells of unseen words, but for words that look like another one of the pair.
    """
    n_s, n_t = len(s_value) - 1, len(t_value) - 1
    for k in range(k0, k1):
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        begin = cell_offsets[k - base]
        for i in range(n_i):
            s = s_tokens[s_offsets[k] + i]
            for j in range(n_j):
                t, at = t_tokens[t_offsets[k] + j], begin + i * n_j + j
                moved[at] = s >= n_s or t >= n_t
                if moved[at] and cells[at] == default:
                    cells[at] = s_value[min(s, n_s)] if t >= n_t else t_value[t]
        for i in range(n_i):
            for j in range(n_j):
                unseen = s_tokens[s_offsets[k] + i] >= n_s or t_tokens[t_offsets[k] + j] >= n_t
                if unseen and cells[begin + i * n_j + j] >= alike:
                    for x in range(n_i):
                        moved[begin + x * n_j + j] = False
                    for x in range(n_j):
                        moved[begin + i * n_j + x] = False
