"""IBM 1 and IBM 2 (Brown et al. 1993): the words' links are independent of each other.

IBM 2's prior over positions is drawn to the diagonal (Dyer, Chahuneau & Smith 2013) or a table ``p(m | n, M, N)``.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.base import LexicalModel, pairs_of
from aligntools.aligning.models.position_tables import PositionTable, Scratch, positioned


def tension_of(model: LexicalModel) -> np.ndarray:
    """Return how strongly a model's links are drawn to the diagonal, forward and reverse: 0 where it has none."""
    return getattr(model, "tension", np.zeros(2))


def ibm_block(block, place, tension, directions, joint, logs):
    """Call `kernels_ibm.ibm_block`, or where nothing is drawn to the diagonal the smaller kernel; return features."""
    features = np.zeros((2, 2))
    if tension.any():
        ki.ibm_block(*block, *place, tension, directions, joint, logs, features)
    else:
        ki.ibm1_block(*block, *place, directions, joint, logs)
    return features


class _Diagonal(LexicalModel):
    """What IBM 1 and IBM 2 with the diagonal share: IBM 1 is the tension 0."""

    def posteriors(self, text, chunk, cells, other, directions, pool, logs):
        """Turn link matrices into posteriors; see `LexicalModel.posteriors`."""
        place = (
            pairs_of(text, chunk), cells, other, self.lexicon.s_inverse, self.lexicon.t_inverse, self.s_null,
            self.t_null, self.p_null,
        )  # fmt: skip

        def task(b):
            ibm_block(b, place, tension_of(self), directions, False, logs)

        pool.map(task, chunk.sentence_blocks)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ibm1(_Diagonal):
    """IBM 1: all positions are equally likely."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DiagonalIbm2(_Diagonal):
    """IBM 2 with the diagonal prior.

    Attributes
    ----------
    tension : float64 [2]
        Forward, then reverse.
    """

    tension: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class TableIbm2(LexicalModel):
    """IBM 2 with tables of positions.

    Attributes
    ----------
    tension : float64 [2]
        Of the diagonal that the tables began with.
    positions : list of PositionTable
        Forward, then reverse.
    """

    tension: np.ndarray
    positions: list[PositionTable]

    def posteriors(self, text, chunk, cells, other, directions, pool, logs):
        """Turn link matrices into posteriors; see `LexicalModel.posteriors`."""
        sides, lexicon = (text.source, text.target), self.lexicon
        for d, own in enumerate((cells, other)):
            if not directions & (d + 1):
                continue
            given, observed = sides[d], sides[1 - d]
            scratch = Scratch(chunk, given, observed)

            def task(b, d=d, own=own, given=given, observed=observed, scratch=scratch):
                positioned(
                    b, chunk, given, observed, d == 0, own, (lexicon.s_inverse, lexicon.t_inverse)[d],
                    (self.t_null, self.s_null)[d], self.p_null[d], self.positions[d], 0.0, scratch,
                )  # fmt: skip

            pool.map(task, chunk.sentence_blocks)
            logs[d] = scratch.loglik
