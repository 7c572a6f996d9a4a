"""Compiled: link probabilities of words from those of their pieces."""

import numpy as np

from aligntools.ground.compiler import kernel


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
