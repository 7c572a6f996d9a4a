"""Positions in maximum reconstruction: jumps, the tension, or tables of positions.

There is a class for each, which the model names (`LexicalModel.climbing`); `training.reconstruction` calls them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.jumps import jump_taps
from aligntools.aligning.models.lexical import LexicalFields
from aligntools.aligning.models.position_tables import DIAGONAL, DirectedChunk, PositionTable, positioned
from aligntools.aligning.text.link_matrices import Chunk
from aligntools.aligning.training import kernels_reconstruction as km
from aligntools.aligning.training.exponentiated_steps import DirectionClimb, DistributionFamily, Tension
from aligntools.formats.text.corpus import Side


class PositionClimb(ABC):
    """The positions of one direction of a view's model, a family of parameters; ``climb`` is a `reconstruction.Climb`.

    With ``apart`` `pass_over` writes matrices of its own too, which `after` takes.
    """

    family: Any
    apart = False

    def __init__(self, climb: Any, way: int, given: Side, observed: Side) -> None:
        self.climb, self.given, self.observed = climb, given, observed
        self.rate = climb.how.mre_rate if climb.how.mre_positions else 0.0
        self.begin(way)

    @abstractmethod
    def begin(self, way: int) -> None:
        """Make the family of a direction, 0 forward or 1 reverse."""

    @abstractmethod
    def pass_over(self, part: DirectedChunk, d: DirectionClimb, cells: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Turn a chunk's matrices into gradients of words; return an array whose sum `gradients` takes."""

    def after(self, chunk: Chunk, forward: bool, apart: np.ndarray) -> None:
        """Take the matrices that `pass_over` wrote."""
        return None

    def gradients(self, sums: np.ndarray) -> None:
        """Take the gradients of positions from the sums of the passes; ``sums`` is a number if the text is empty."""
        return None

    def log_prior(self) -> float:
        """Add the prior's gradients; return its logarithm, up to a constant."""
        return 0.0

    @staticmethod
    @abstractmethod
    def reached(climb: Any, fields: LexicalFields, found: Mapping[int, Any]) -> Any:
        """Return the model that was reached, with these fields of words; ``found`` has the positions by direction."""


class HmmClimb(PositionClimb):
    """Jumps."""

    family: DistributionFamily

    def begin(self, way: int) -> None:
        """Begin with the model's jumps."""
        jumps = self.climb.model.jumps[way].copy()
        for part in (slice(0, kj.FIRST), slice(kj.FIRST, kj.JUMP_SIZE)):
            jumps[part] /= jumps[part].sum()
        self.family = DistributionFamily(jumps, np.array([0, kj.FIRST, kj.JUMP_SIZE], np.int64), self.rate)

    def pass_over(self, part: DirectedChunk, d: DirectionClimb, cells: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Reconstruct by forward-backward."""
        jumps = np.ascontiguousarray(np.stack([self.family.tried] * 2))
        taps, back = jump_taps(jumps)
        words = self.climb.ones[d.way], d.null.tried, np.float32(d.p_null)

        def task(b: tuple[int, int]) -> np.ndarray:
            counts, own = np.zeros((2, 2, kj.JUMP_SIZE)), kj.Jumps(jumps[:1], taps[:1], back[:1])
            km.reconstruct_block(*b, part.text, cells, d.forward, *words, own, part.outcome, counts)
            return counts

        return sum(self.climb.pool.map(task, part.chunk.sentence_blocks), np.zeros((2, 2, kj.JUMP_SIZE)))

    def gradients(self, sums: np.ndarray) -> None:
        """Take those of the jumps."""
        if self.family.moves and np.ndim(sums):
            (c_p, e_p), (c_q, e_q) = sums
            self.family.gradient[:] = c_q - c_p - self.family.tried * (e_q - e_p)
            self.family.totals[:] = c_p[: kj.FIRST].sum(), c_p[kj.FIRST :].sum()

    @staticmethod
    def reached(climb: Any, fields: LexicalFields, found: Mapping[int, "HmmClimb"]) -> Any:
        """Return the HMM."""
        jumps = climb.model.jumps.copy()
        for way, one in found.items():
            jumps[way] = one.family.p
        return climb.of(**fields, jumps=jumps)


class DiagonalClimb(PositionClimb):
    """The tension to the diagonal; 0 where the start has none."""

    family: DistributionFamily | Tension

    def begin(self, way: int) -> None:
        """Begin with the model's tension."""
        self.family = Tension(_tension(self.climb.model)[way], self.rate)

    def tried(self) -> tuple[PositionTable, float]:
        """Return the table and the tension that are tried."""
        return DIAGONAL, float(self.family.tried)

    def pass_over(self, part: DirectedChunk, d: DirectionClimb, cells: np.ndarray, apart: np.ndarray) -> np.ndarray:
        """Reconstruct word by word."""
        words = self.climb.ones[d.way], d.null.tried, d.p_null, *self.tried()

        def task(b: tuple[int, int]) -> np.ndarray:
            return positioned(b, part, cells, *words, squared=True, apart=apart)

        return sum(self.climb.pool.map(task, part.chunk.sentence_blocks), np.zeros(2))

    def gradients(self, sums: np.ndarray) -> None:
        """Take that of the tension."""
        if isinstance(self.family, Tension) and np.ndim(sums):
            self.family.slope, self.family.total = sums

    @staticmethod
    def reached(climb: Any, fields: LexicalFields, found: Mapping[int, Any]) -> Any:
        """Return IBM 2."""
        tension = _tension(climb.model).copy()
        for way, one in found.items():
            tension[way] = one.family.p
        return climb.of(**fields, tension=tension)


def _tension(model: Any) -> np.ndarray:
    found: np.ndarray = getattr(model, "tension", np.zeros(2))
    return found


class TableClimb(DiagonalClimb):
    """Tables of positions."""

    family: DistributionFamily
    prior: np.ndarray | None = None

    def begin(self, way: int) -> None:
        """Begin with the model's table; count the words that each distribution is used for, and prepare its prior."""
        start, climb = self.climb.model.positions[way], self.climb
        self.table = p = PositionTable(start.shapes, start.values)
        self.family = DistributionFamily(start.values, start.rows(), self.rate)
        self.apart = self.family.moves
        if not self.rate:
            return
        lengths = [np.minimum(s.lengths(), len(p.shape_of) - 1) for s in (self.given, self.observed)]
        full = np.minimum(*lengths) > 0
        words = np.bincount(p.shape_of[tuple(lengths)][full], self.observed.lengths()[full], len(p.shapes))
        rows = p.shapes[:, 1]
        strength = float(climb.how.mre_position_smoothing)
        self.family.totals = np.repeat(words / np.maximum(rows, 1), rows) + strength
        if strength:
            tension = climb.settings.tension if climb.settings.favor_diagonal else 0.0
            self.prior = strength * p.estimate(np.zeros_like(p.values), tension, 1.0, climb.pool)

    def tried(self) -> tuple[PositionTable, float]:
        """Return the table that is tried."""
        self.table.values = self.family.tried
        return self.table, 0.0

    def after(self, chunk: Chunk, forward: bool, apart: np.ndarray) -> None:
        """Collect the gradients of positions."""
        place = chunk, self.given, self.observed, forward
        self.table.collect(*place, apart, self.family.gradient, self.climb.pool)

    def log_prior(self) -> float:
        """Add the gradients of the prior of tables."""
        if self.prior is None:
            return 0.0
        self.family.gradient += self.prior
        return float((self.prior * np.log(self.family.tried)).sum(dtype=np.float64))

    @staticmethod
    def reached(climb: Any, fields: LexicalFields, found: Mapping[int, "TableClimb"]) -> Any:
        """Return IBM 2 with tables."""
        positions = list(climb.model.positions)
        for way, one in found.items():
            positions[way] = PositionTable(one.table.shapes, one.family.p)
        return type(climb.model)(**fields, tension=climb.model.tension, positions=positions)
