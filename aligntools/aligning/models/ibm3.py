"""IBM 3 (Brown et al. 1993): fertilities, and positions ``d(j | i, l, m)`` of the words that each word generates."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.models.cepts import CeptModel, CeptStage, CeptTotals
from aligntools.aligning.models.lexical import LexicalFields
from aligntools.aligning.models.position_tables import PositionTable, arrays_of, positions_of
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.link_matrices import Both, Chunk
from aligntools.aligning.training.expectation import Expectations


class Ibm3Stage(CeptStage):
    """IBM 3 in training."""

    def first(self) -> dict[str, Any]:
        """Return parameters for the first iteration."""
        source, target = self.task.lengths()
        tension = self.task.settings.tension
        tables = [PositionTable.of_lengths(*lengths, tension) for lengths in ((target, source), (source, target))]
        return super().first() | {"positions": tables}

    def begin_counts(self) -> CeptTotals:
        """Return what counts begin as."""
        counted = super().begin_counts()
        counted.positions = [np.zeros_like(table.values) for table in self.parameters()["positions"]]
        return counted

    def count_positions(self, steps: Expectations, chunk: Chunk, both: Both, counted: CeptTotals) -> None:
        """Count positions of a chunk's posteriors."""
        sides = (steps.source, steps.target), (steps.target, steps.source)
        for d, table in enumerate(self.parameters()["positions"]):
            if steps.directions & (d + 1):
                given, observed = sides[d]  # rows are given positions, so that the table's given side is the observed
                table.collect(chunk, observed, given, d == 1, both[d], counted.positions[d], steps.pool)

    def maximize(self, counted: CeptTotals, steps: Expectations | None = None) -> None:
        """Estimate positions too."""
        tension, pool = self.task.settings.tension, steps.pool if steps else None
        self.own["positions"] = [
            PositionTable(old.shapes, old.estimate(c, tension, self.task.position_smoothing, pool))
            for old, c in zip(self.own["positions"], counted.positions, strict=True)
        ]
        super().maximize(counted, steps)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ibm3(CeptModel):
    """IBM 3.

    positions: Forward, then reverse: for each given position a distribution over the observed ones.
    """

    STAGE = Ibm3Stage

    positions: list[PositionTable]

    def position_table(self, d: int) -> PositionTable:
        """Return one direction's table of positions."""
        return self.positions[d]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return super().arrays() | arrays_of(self.positions)

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> "Ibm3":
        """Rebuild the model from saved arrays."""
        own = cls.own_fields(fields, arrays)
        return cls(**fields, **own, positions=positions_of(arrays), pegs=settings.pegging)
