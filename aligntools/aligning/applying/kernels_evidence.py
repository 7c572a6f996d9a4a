"""Compiled: evidence of places in link matrices, before positions are taken into account."""

import numpy as np

from aligntools.ground.compiler import kernel


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
