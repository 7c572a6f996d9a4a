"""Views that agree: an E-step of the HMM of several views at once, each of which counts what all of them found.

Where a view stumbles, over a word that it cuts too short or one that is too rare as a whole, the others tell it where
the links are. After agreement of the two directions (Liang, Taskar & Klein 2006), which the views have by themselves:
the mean stands for the product here.
"""

import numpy as np


def expect_together(steps, lexicons, jumps, counts, stride):
    """One E-step of the HMMs of several views of the same sentences, both directions of each trained jointly.

    Parameters
    ----------
    steps : list of Expectations
        Of each view; their matrices share their cells.
    lexicons : list of Lexicon
    jumps : list of float32 [2, JUMP_SIZE]
    counts : list of float32 [n_pairs]
        Of each view's own table; added to: the mean of all views' posteriors.
    stride : int
        Jumps are counted on every so many sentences, from each view's own posteriors.

    Returns
    -------
    list of (log-likelihoods, jump counts)
        As of `Expectations.hmm`.
    """
    parts = [{} for _ in steps]
    blocks = [own.hmm_block(*of, stride, found) for own, *of, found in zip(steps, lexicons, jumps, parts, strict=True)]
    logliks = np.zeros((len(steps), 2))
    matrices, pool = steps[0].matrices, steps[0].pool
    share = np.float32(1.0 / len(steps))
    for chunk in matrices.chunks:
        cells, total = matrices.cells[: chunk.n_cells], matrices.second[: chunk.n_cells]
        total[:] = 0
        for loglik, own, lexicon, block in zip(logliks, steps, lexicons, blocks, strict=True):
            own.matrices.index(chunk)
            own.matrices.fill(chunk, lexicon.forward, lexicon.default, matrices.cells)
            logs = np.zeros((2, chunk.k1 - chunk.k0))
            pool.map(lambda b: block(b, chunk, cells, cells, logs), chunk.sentence_blocks)  # noqa: B023
            loglik += logs.sum(1)
            total += cells
        total *= share
        for own, of_pairs in zip(steps, counts, strict=True):
            own.matrices.collect(chunk, of_pairs, total)
    return [(loglik, sum(found[b] for b in sorted(found))) for loglik, found in zip(logliks, parts, strict=True)]
