"""Positions in maximum reconstruction: jumps, the tension, or tables of positions.

There is a class for each, which the model names (`LexicalModel.climbing`); `training.reconstruction` calls them.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.jumps import jump_taps
from aligntools.aligning.models.lexical import LexicalFields
from aligntools.aligning.models.position_tables import DIAGONAL, DirectedChunk, PositionTable, positioned
from aligntools.aligning.text.link_matrices import Chunk
from aligntools.aligning.training import kernels_reconstruction as km
from aligntools.aligning.training.exponentiated_steps import DirectionClimb, DistributionFamily, Tension


class PositionClimb(ABC):
    """The positions of one view's model, in both directions.

    climb: The training of the model, `reconstruction.Climb`, whose module imports this one.
    """

    def __init__(self, climb: Any) -> None:
        self.climb, self.model = climb, climb.model
        self.rate = climb.how.mre_rate if climb.how.mre_positions else 0.0

    @abstractmethod
    def begin(self, d: int) -> DistributionFamily | Tension:
        """Return the parameters of one direction, 0 forward or 1 reverse."""

    def prepare(self, d: DirectionClimb) -> None:
        """Prepare the training of a direction."""
        return None

    def wants_apart(self, d: DirectionClimb) -> bool:
        """Whether `pass_over` writes matrices of its own too, which `after` takes."""
        return False

    @abstractmethod
    def pass_over(self, part: DirectedChunk, d: DirectionClimb, cells: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Turn a chunk's matrices into gradients of words; return an array whose sum `gradients` takes."""

    def after(self, chunk: Chunk, d: DirectionClimb, apart: np.ndarray) -> None:
        """Take the matrices that `pass_over` wrote."""
        return None

    def gradients(self, d: DirectionClimb, sums: np.ndarray) -> None:
        """Take the gradients of positions from the sums of the passes; ``sums`` is a number if the text is empty."""
        return None

    def log_prior(self, d: DirectionClimb) -> float:
        """Add the prior's gradients; return its logarithm, up to a constant."""
        return 0.0

    @abstractmethod
    def reached(self, fields: LexicalFields) -> Any:
        """Return the model that was reached, with these fields of words."""


class HmmClimb(PositionClimb):
    """Jumps."""

    def __init__(self, climb: Any) -> None:
        super().__init__(climb)
        self._jumps: dict[int, DistributionFamily] = {}

    def begin(self, d: int) -> DistributionFamily:
        """Return the jumps."""
        jumps = self.model.jumps[d].copy()
        for part in (slice(0, kj.FIRST), slice(kj.FIRST, kj.JUMP_SIZE)):
            jumps[part] /= jumps[part].sum()
        self._jumps[d] = DistributionFamily(jumps, np.array([0, kj.FIRST, kj.JUMP_SIZE], np.int64), self.rate)
        return self._jumps[d]

    def pass_over(self, part: DirectedChunk, d: DirectionClimb, cells: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Reconstruct by forward-backward."""
        jumps = np.ascontiguousarray(np.stack([self._jumps[d.way].tried] * 2))
        taps, back = jump_taps(jumps)
        ones, pool = self.climb.ones(d), self.climb.pool

        words = ones, d.null.tried, np.float32(d.p_null)

        def task(b: tuple[int, int]) -> np.ndarray:
            counts, own = np.zeros((2, 2, kj.JUMP_SIZE)), kj.Jumps(jumps[:1], taps[:1], back[:1])
            km.reconstruct_block(*b, part.text, cells, d.forward, *words, own, part.outcome, counts)
            return counts

        return sum(pool.map(task, part.chunk.sentence_blocks), np.zeros((2, 2, kj.JUMP_SIZE)))

    def gradients(self, d: DirectionClimb, sums: np.ndarray) -> None:
        """Take those of the jumps."""
        jumps = self._jumps[d.way]
        if jumps.moves and np.ndim(sums):
            (c_p, e_p), (c_q, e_q) = sums
            jumps.gradient[:] = c_q - c_p - jumps.tried * (e_q - e_p)
            jumps.totals[:] = c_p[: kj.FIRST].sum(), c_p[kj.FIRST :].sum()

    def reached(self, fields: LexicalFields) -> Any:
        """Return the HMM."""
        jumps = self.model.jumps.copy()
        for d, family in self._jumps.items():
            jumps[d] = family.p
        return self.climb.of(**fields, jumps=jumps)


class DiagonalClimb(PositionClimb):
    """The tension to the diagonal; 0 where the start has none."""

    def __init__(self, climb: Any) -> None:
        super().__init__(climb)
        self._start: np.ndarray = getattr(self.model, "tension", np.zeros(2))
        self._tension: dict[int, Tension] = {}

    def begin(self, d: int) -> DistributionFamily | Tension:
        """Return the tension."""
        self._tension[d] = Tension(self._start[d], self.rate)
        return self._tension[d]

    def place(self, d: DirectionClimb) -> tuple[PositionTable, float]:
        """Return the table and the tension that are tried."""
        return DIAGONAL, self._tension[d.way].tried

    def pass_over(self, part: DirectedChunk, d: DirectionClimb, cells: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Reconstruct word by word."""
        positions, tension = self.place(d)
        ones, pool = self.climb.ones(d), self.climb.pool

        def task(b: tuple[int, int]) -> np.ndarray:
            null, p_null = d.null.tried, d.p_null
            return positioned(b, part, cells, ones, null, p_null, positions, tension, squared=True, apart=apart)

        return sum(pool.map(task, part.chunk.sentence_blocks), np.zeros(2))

    def gradients(self, d: DirectionClimb, sums: np.ndarray) -> None:
        """Take that of the tension."""
        if np.ndim(sums):
            self._tension[d.way].slope, self._tension[d.way].total = sums

    def reached(self, fields: LexicalFields) -> Any:
        """Return IBM 2."""
        tension = self._start.copy()
        for d, climbed in self._tension.items():
            tension[d] = climbed.p
        return self.climb.of(**fields, tension=tension)


class TableClimb(DiagonalClimb):
    """Tables of positions."""

    def __init__(self, climb: Any) -> None:
        super().__init__(climb)
        self._tables: dict[int, PositionTable] = {}
        self._values: dict[int, DistributionFamily] = {}
        self._priors: dict[int, np.ndarray] = {}

    def begin(self, d: int) -> DistributionFamily:
        """Return the table's distributions."""
        table = self.model.positions[d]
        self._tables[d] = PositionTable(table.shapes, table.values)
        self._values[d] = DistributionFamily(table.values, table.rows(), self.rate)
        return self._values[d]

    def place(self, d: DirectionClimb) -> tuple[PositionTable, float]:
        """Return the table that is tried."""
        return self._tables[d.way], 0.0

    def prepare(self, d: DirectionClimb) -> None:
        """Count the words that each distribution over positions is used for, and prepare its prior."""
        if not self.rate:
            return
        p, climb = self._tables[d.way], self.climb
        lengths = [np.minimum(s.lengths(), len(p.shape_of) - 1) for s in (d.given, d.observed)]
        full = np.minimum(*lengths) > 0
        words = np.bincount(p.shape_of[tuple(lengths)][full], d.observed.lengths()[full], len(p.shapes))
        rows = p.shapes[:, 1]
        strength = float(climb.how.mre_position_smoothing)
        self._values[d.way].totals = np.repeat(words / np.maximum(rows, 1), rows) + strength
        if strength:
            tension = climb.settings.tension if climb.settings.favor_diagonal else 0.0
            self._priors[d.way] = strength * p.estimate(np.zeros_like(p.values), tension, 1.0, climb.pool)

    def wants_apart(self, d: DirectionClimb) -> bool:
        """Put the step that is tried into the table; return whether positions are trained."""
        self._tables[d.way].values = self._values[d.way].tried
        return self._values[d.way].moves

    def after(self, chunk: Chunk, d: DirectionClimb, apart: np.ndarray) -> None:
        """Collect the gradients of positions."""
        values = self._values[d.way]
        if values.moves:
            place = chunk, d.given, d.observed, d.forward
            self._tables[d.way].collect(*place, apart, values.gradient, self.climb.pool)

    def gradients(self, d: DirectionClimb, sums: np.ndarray) -> None:
        """Do nothing: `after` has taken them."""

    def log_prior(self, d: DirectionClimb) -> float:
        """Add the gradients of the prior of tables."""
        prior, values = self._priors.get(d.way), self._values[d.way]
        if prior is None:
            return 0.0
        values.gradient += prior
        return float((prior * np.log(values.tried)).sum(dtype=np.float64))

    def reached(self, fields: LexicalFields) -> Any:
        """Return IBM 2 with tables."""
        positions = list(self.model.positions)
        for d, values in self._values.items():
            positions[d] = PositionTable(self._tables[d].shapes, values.p)
        return type(self.model)(**fields, tension=self.model.tension, positions=positions)
