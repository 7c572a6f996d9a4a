"""What maximum reconstruction trains of a model beside its words: jumps, the tension, or tables of positions.

One class for each, which the model names (`LexicalModel.climbing`); `training.reconstruction` calls them.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models import kernels_positions as kp
from aligntools.aligning.models.jumps import jump_taps
from aligntools.aligning.models.position_tables import DIAGONAL, PositionTable, positioned
from aligntools.aligning.text.kernels_pairs import Directed
from aligntools.aligning.training import kernels_reconstruction as km
from aligntools.aligning.training.exponentiated_steps import DistributionFamily, Tension


class PositionClimb(ABC):
    """The positions of one view's model, in both directions.

    Parameters
    ----------
    climb : Climb
        Its ``model`` is the start; ``of`` is the class of what is reached.
    """

    def __init__(self, climb) -> None:
        self.climb, self.model = climb, climb.model
        self.rate = climb.how.mre_rate if climb.how.mre_positions else 0.0

    @abstractmethod
    def families(self, d: int) -> dict[str, Any]:
        """Return what a `Direction` has of positions, by the names of its fields."""

    def prepare(self, d) -> None:
        """Do what there is to do before the climb of a `Direction`."""
        return None

    def wants_apart(self, d) -> bool:
        """Whether `pass_over` writes matrices of its own too, which `after` takes."""
        return False

    @abstractmethod
    def pass_over(self, chunk, d, cells, scratch, apart) -> Any:
        """Turn a chunk's matrices into gradients of words; return sums for `gradients`."""

    def after(self, chunk, d, apart) -> None:
        """Take the matrices that `pass_over` wrote."""
        return None

    def gradients(self, d, sums) -> None:
        """Take the gradients of positions from what the passes summed."""
        return None

    def log_prior(self, d) -> float:
        """Add the prior's gradients; return its logarithm, but for a constant."""
        return 0.0

    @abstractmethod
    def reached(self, fields: dict[str, Any]) -> Any:
        """Return the model that was reached, with these fields of words."""


class HmmClimb(PositionClimb):
    """Jumps."""

    def families(self, d):
        """Return the jumps."""
        jumps = self.model.jumps[d].copy()
        for part in (slice(0, kh.FIRST), slice(kh.FIRST, kh.JUMP_SIZE)):
            jumps[part] /= jumps[part].sum()
        return {"jumps": DistributionFamily(jumps, np.array([0, kh.FIRST, kh.JUMP_SIZE], np.int64), self.rate)}

    def pass_over(self, chunk, d, cells, scratch, apart):
        """Reconstruct by forward-backward."""
        jumps = np.ascontiguousarray(np.stack([d.jumps.tried] * 2))
        taps, back = jump_taps(jumps)
        ones, pool = self.climb.ones(d), self.climb.pool
        g, o = d.given, d.observed
        text = Directed(chunk.k0, g.tokens, g.offsets, o.tokens, o.offsets, chunk.cell_offsets)
        outcome = kp.Outcome(scratch.uses, scratch.nulls, scratch.loglik, scratch.objective)

        def task(b):
            counts = np.zeros((2, 2, kh.JUMP_SIZE))
            km.reconstruct_block(
                *b,
                text,
                cells,
                d.forward,
                ones,
                d.null.tried,
                np.float32(d.p_null),
                kh.Jumps(jumps[0], taps[0], back[0]),
                outcome,
                counts,
            )
            return counts

        return sum(pool.map(task, chunk.sentence_blocks))

    def gradients(self, d, sums):
        """Take those of the jumps."""
        if d.jumps.moves and np.ndim(sums):
            (c_p, e_p), (c_q, e_q) = sums
            d.jumps.gradient[:] = c_q - c_p - d.jumps.tried * (e_q - e_p)
            d.jumps.totals[:] = c_p[: kh.FIRST].sum(), c_p[kh.FIRST :].sum()

    def reached(self, fields):
        """Return the HMM."""
        jumps = self.model.jumps.copy()
        for d in self.climb.directions:
            jumps[0 if d.forward else 1] = d.jumps.p
        return self.climb.of(**fields, jumps=jumps)


class DiagonalClimb(PositionClimb):
    """The tension to the diagonal; 0 where the start has none."""

    def __init__(self, climb) -> None:
        super().__init__(climb)
        self._tension = getattr(self.model, "tension", np.zeros(2))

    def families(self, d):
        """Return the tension."""
        return {"positions": DIAGONAL, "tension": Tension(self._tension[d], self.rate)}

    def pass_over(self, chunk, d, cells, scratch, apart):
        """Reconstruct word by word."""
        tension = d.tension.tried if d.tension is not None else 0.0
        ones, pool = self.climb.ones(d), self.climb.pool

        def task(b):
            return positioned(
                b,
                chunk,
                d.given,
                d.observed,
                d.forward,
                cells,
                ones,
                d.null.tried,
                d.p_null,
                d.positions,
                tension,
                scratch,
                True,
                apart,
            )

        return sum(pool.map(task, chunk.sentence_blocks))

    def gradients(self, d, sums):
        """Take that of the tension."""
        if d.tension is not None and np.ndim(sums):
            d.tension.slope, d.tension.total = sums

    def reached(self, fields):
        """Return IBM 2."""
        tension = self._tension.copy()
        for d in self.climb.directions:
            tension[0 if d.forward else 1] = d.tension.p
        return self.climb.of(**fields, tension=tension)


class TableClimb(DiagonalClimb):
    """Tables of positions."""

    def families(self, d):
        """Return the direction's table, and its distributions."""
        table = self.model.positions[d]
        values = DistributionFamily(table.values, table.rows(), self.rate)
        return {"positions": PositionTable(table.shapes, table.values), "position_values": values}

    def prepare(self, d):
        """Count the words that each distribution over positions is used for, and prepare its prior."""
        if not self.rate:
            return
        p, climb = d.positions, self.climb
        lengths = [np.minimum(s.lengths(), len(p.shape_of) - 1) for s in (d.given, d.observed)]
        full = np.minimum(*lengths) > 0
        words = np.bincount(p.shape_of[tuple(lengths)][full], d.observed.lengths()[full], len(p.shapes))
        rows = p.shapes[:, 1]
        strength = float(climb.how.mre_position_smoothing)
        d.position_values.totals = np.repeat(words / np.maximum(rows, 1), rows) + strength
        if strength:
            tension = climb.settings.tension if climb.settings.favor_diagonal else 0.0
            d.position_prior = strength * p.estimate(np.zeros_like(p.values), tension, 1.0, climb.pool)

    def wants_apart(self, d):
        """Begin to try; whether positions move."""
        d.positions.values = d.position_values.tried
        return d.position_values.moves

    def after(self, chunk, d, apart):
        """Collect the gradients of positions."""
        if d.position_values.moves:
            place = chunk, d.given, d.observed, d.forward
            d.positions.collect(*place, apart, d.position_values.gradient, self.climb.pool)

    def log_prior(self, d):
        """Add the gradients of the prior of tables."""
        if d.position_prior is None:
            return 0.0
        d.position_values.gradient += d.position_prior
        return float((d.position_prior * np.log(d.position_values.tried)).sum(dtype=np.float64))

    def reached(self, fields):
        """Return IBM 2 with tables."""
        positions = list(self.model.positions)
        for d in self.climb.directions:
            positions[0 if d.forward else 1] = PositionTable(d.positions.shapes, d.position_values.p)
        return type(self.model)(**fields, tension=self.model.tension, positions=positions)
