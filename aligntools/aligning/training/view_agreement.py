"""Views that learn from each other: an E-step over several views at once; each counts the mean of their posteriors.

Where a view goes wrong, because it cuts a word too short or the whole word is too rare, the others correct it. The idea
is that of agreement between the two directions (Liang, Taskar & Klein 2006), which are trained so within each view; the
mean takes the place of the product here.
"""

from typing import Any

import numpy as np

from aligntools.aligning.models.base import Stage
from aligntools.aligning.models.lexical import Lexicon
from aligntools.aligning.training.expectation import Expectations


def expect_together(
    stages: list[Stage], steps: list[Expectations], lexicons: list[Lexicon], counts: list[np.ndarray]
) -> list[tuple[np.ndarray, Any]]:
    """Take expectations of the models of several views of the same sentences, whose directions are trained jointly.

    stages, lexicons: Of each view.
    steps: Their matrices share their cells.
    counts (list of float32 [n_pairs]): Of each view's own table; added to: the mean of all views' posteriors.
    Returns as of `Stage.expect`; what is counted of positions is from each view's own posteriors.
    """
    parts: list[dict[tuple[int, int], np.ndarray]] = [{} for _ in steps]
    turns = [
        own.by_blocks(stage.block(own, lexicon, found))
        for stage, own, lexicon, found in zip(stages, steps, lexicons, parts, strict=True)
    ]
    logliks = np.zeros((len(steps), 2))
    matrices = steps[0].matrices
    share = np.float32(1.0 / len(steps))
    for chunk in matrices.chunks:
        cells, total = matrices.cells[: chunk.n_cells], matrices.second[: chunk.n_cells]
        total[:] = 0
        for loglik, own, lexicon, turn in zip(logliks, steps, lexicons, turns, strict=True):
            own.matrices.index(chunk)
            own.matrices.fill(chunk, lexicon.forward, lexicon.default, matrices.cells)
            logs = np.zeros((2, chunk.k1 - chunk.k0))
            turn(chunk, cells, cells, logs)
            loglik += logs.sum(1)
            total += cells
        total *= share
        for own, of_pairs in zip(steps, counts, strict=True):
            own.matrices.collect(chunk, of_pairs, total)
    return [(loglik, sum(found[b] for b in sorted(found))) for loglik, found in zip(logliks, parts, strict=True)]
