"""Views that learn from each other: an E-step over several views at once, each of which counts what all of them found.

Where a view stumbles, over a word that it cuts too short or one that is too rare as a whole, the others tell it where
the links are. After agreement of the two directions (Liang, Taskar & Klein 2006), which the views have by themselves:
the mean stands for the product here.
"""

import numpy as np


def expect_together(stages, steps, lexicons, counts):
    """Take expectations of the models of several views of the same sentences, whose directions are trained jointly.

    Parameters
    ----------
    stages : list of Stage
        Of each view.
    steps : list of Expectations
        Their matrices share their cells.
    lexicons : list of Lexicon
    counts : list of float32 [n_pairs]
        Of each view's own table; added to: the mean of all views' posteriors.

    Returns
    -------
    list of (log-likelihoods, counted)
        As of `Stage.expect`; what is counted of positions is from each view's own posteriors.
    """
    parts = [{} for _ in steps]
    blocks = [stage.block(*of, found) for stage, *of, found in zip(stages, steps, lexicons, parts, strict=True)]
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
