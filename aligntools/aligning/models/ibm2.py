"""IBM 2 (Brown et al. 1993): the words' links are independent of each other, and some positions likelier than others.

Its prior over positions prefers the diagonal (Dyer, Chahuneau & Smith 2013) or is a table ``p(m | n, M, N)``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.base import LexicalModel, Stage, ViewTask
from aligntools.aligning.models.diagonal_series import TENSION_RANGE, climb_as_fast_align
from aligntools.aligning.models.ibm1 import Ibm1, Ibm1Stage, tension_of
from aligntools.aligning.models.lexical import LexicalFields, Lexicon, uniform_lexicon
from aligntools.aligning.models.position_tables import DirectedChunk, PositionTable, arrays_of, positioned, positions_of
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.link_matrices import Both, Chunk
from aligntools.aligning.text.views import ParallelText, TextView
from aligntools.aligning.training.expectation import Expectations
from aligntools.aligning.training.reconstruction_positions import TableClimb
from aligntools.ground.parallel import Pool

# The diagonal prior of IBM 2 (Dyer, Chahuneau & Smith 2013, section 2): its tension, climbed as fast_align does


def sentence_shapes(lengths: np.ndarray, other_lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of lengths that occur, int64 [n, 2], and how often each does."""
    pairs = np.stack([lengths, other_lengths], 1).astype(np.int64)
    shapes, counts = np.unique(pairs[(lengths > 0) & (other_lengths > 0)], axis=0, return_counts=True)
    return np.ascontiguousarray(shapes), counts


def tension_step(
    tension: float,
    expected: float,
    n_real: float,
    shapes: np.ndarray,
    counts: np.ndarray,
    steps: int = 8,
    rate: float = 20.0,
) -> float:
    """Climb the tension's gradient as fast_align does: ``steps`` steps of ``rate`` times the mean gradient.

    expected: Posterior expectation of ``-|i/I - j/J|`` over real links, summed; ``n_real`` of them.
    """
    if n_real <= 0:
        return tension
    tokens = float((shapes[:, 1] * counts).sum())
    for _ in range(steps):
        prior = ki.diagonal_expectation(shapes, counts, tension) / tokens
        tension = min(max(tension + rate * (expected / n_real - prior), TENSION_RANGE[0]), TENSION_RANGE[1])
    return tension


@dataclass(frozen=True, eq=False, kw_only=True)
class Ibm2(Ibm1):
    """IBM 2 with the diagonal prior; settings with ``positions=table`` are those of `TableIbm2`.

    tension (float64 [2]): Forward, then reverse.
    """

    tension: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return {"tension": self.tension}

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> "Ibm2":
        """Rebuild the model from saved arrays."""
        if settings.positions != "table":
            return Ibm2(**fields, tension=arrays["tension"])
        return TableIbm2(**fields, tension=arrays["tension"], positions=positions_of(arrays))

    @classmethod
    def stage(cls, task: ViewTask, before: Stage | None) -> Stage:
        """Begin to train it, with the diagonal or with tables."""
        if task.settings.positions == "table":
            return TableStage(TableIbm2, task, before)
        return DiagonalStage(Ibm2, task, before)

    @classmethod
    def on_text(cls, fields: LexicalFields, old: LexicalModel, text: TextView, settings: ResolvedSettings) -> "Ibm2":
        """Return a model of a new text that begins with an older model's tension, and with its table if it has one."""
        tension = tension_of(old)
        if not tension.any():
            tension = first_tension(settings)
        if settings.positions != "table":
            return Ibm2(**fields, tension=tension.copy())
        source, target = text.source.lengths(), text.target.lengths()
        before: Sequence[PositionTable | None] = old.positions if isinstance(old, TableIbm2) else [None, None]
        positions = [
            _positions_on(source, target, tension[0], before[0]),
            _positions_on(target, source, tension[0], before[1]),
        ]
        return TableIbm2(**fields, tension=tension.copy(), positions=positions)

    def facts(self) -> list[list[Any]]:
        """Return the tension."""
        shown = ", ".join(f"{x:.3f}" for x in self.tension)
        return [["tension to the diagonal", shown]] if self.tension.any() else []


@dataclass(frozen=True, eq=False, kw_only=True)
class TableIbm2(Ibm2):
    """IBM 2 with tables of positions; the tension is that of the diagonal that they began with.

    positions: Forward, then reverse.
    """

    climbing = TableClimb
    positions: list[PositionTable]

    def posteriors(
        self, text: ParallelText, chunk: Chunk, both: Both, directions: int, pool: Pool, logs: np.ndarray
    ) -> None:
        """Turn link matrices into posteriors; see `LexicalModel.posteriors`."""
        sides, lexicon = (text.source, text.target), self.lexicon
        for d, own in enumerate(both):
            if not directions & (d + 1):
                continue
            part = DirectedChunk(chunk, sides[d], sides[1 - d], d == 0)

            def task(b: tuple[int, int], d: int = d, own: np.ndarray = own, part: DirectedChunk = part) -> None:
                inverse, null = (lexicon.s_inverse, lexicon.t_inverse)[d], (self.t_null, self.s_null)[d]
                positioned(b, part, own, inverse, null, self.p_null[d], self.positions[d], 0.0)

            pool.map(task, chunk.sentence_blocks)
            logs[d] = part.outcome.loglik

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return super().arrays() | arrays_of(self.positions)


def first_tension(settings: ResolvedSettings) -> np.ndarray:
    """Return the tension that training begins with."""
    return np.full(2, settings.tension if settings.favor_diagonal else 0.0)


class DiagonalStage(Ibm1Stage):
    """IBM 2 with the diagonal in training."""

    def __init__(self, model: type[LexicalModel], task: ViewTask, before: Stage | None = None) -> None:
        super().__init__(model, task, before)
        self.tension = first_tension(self.task.settings)
        self._shapes: list[tuple[np.ndarray, np.ndarray]] | None = None

    def parameters(self) -> dict[str, Any]:
        """Return the tension."""
        return {"tension": self.tension}

    def start(self, steps: Expectations, counts: list[np.ndarray]) -> np.ndarray:
        """Iterate once with all words equally likely, if no IBM 1 goes before; this uses the diagonal too."""
        table = steps.matrices.table
        for one in counts:
            one[:] = 0
        if not self.task.settings.agreement:  # NULL is learned then, and begins uniform as the words do
            steps.t_null = np.full_like(steps.t_null, 1 / table.n_target)
            steps.s_null = np.full_like(steps.s_null, 1 / table.n_source)
        loglik, _ = Ibm1Stage.expect(self, steps, uniform_lexicon(table), counts)
        Ibm1Stage.maximize(self, None, steps)
        return loglik

    def maximize(self, counted: Any, steps: Expectations | None = None) -> None:
        """Estimate the words of NULL, and climb the tension."""
        super().maximize(counted, steps)
        settings, tension = self.task.settings, self.tension
        if not settings.optimize_tension:
            return
        if self._shapes is None:
            source, target = self.task.lengths()
            self._shapes = [sentence_shapes(source, target), sentence_shapes(target, source)]
        if settings.optimize_tension == "fast_align":
            found = [climb_as_fast_align(tension[d], counted[d, 0], *self._shapes[d]) for d in (0, 1)]
            self.tension = np.array([one for one, _ in found])
            self._figures["climb"] = [climbed for _, climbed in found]
        else:
            self.tension = np.array(
                [tension_step(tension[d], counted[d, 0], counted[d, 1], *self._shapes[d]) for d in (0, 1)]
            )

    def figures(self) -> dict[str, Any]:
        """Return the tension too."""
        return {"tension": self.tension.tolist()} | super().figures()


class TableStage(DiagonalStage):
    """IBM 2 with tables of positions in training."""

    def __init__(self, model: type[LexicalModel], task: ViewTask, before: Stage | None = None) -> None:
        super().__init__(model, task, before)
        old = self.task.old
        if isinstance(old, TableIbm2):
            self._positions = old.positions
        else:
            source, target = self.task.lengths()
            self._positions = [
                PositionTable.of_lengths(given, observed, self.tension[0])
                for given, observed in ((source, target), (target, source))
            ]

    def parameters(self) -> dict[str, Any]:
        """Return the tension and the tables."""
        return super().parameters() | {"positions": self._positions}

    def expect(
        self, steps: Expectations, lexicon: Lexicon, counts: list[np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return log-likelihoods, and each table's expected counts."""
        return expect_tables(steps, lexicon, self._positions, counts)

    def maximize(self, counted: Any, steps: Expectations | None = None) -> None:
        """Estimate the words of NULL, and the tables."""
        Ibm1Stage.maximize(self, counted, steps)
        for p, c in zip(self._positions, counted, strict=True):
            p.values = p.estimate(c, self.tension[0], self.task.position_smoothing, steps.pool if steps else None)


def expect_tables(
    steps: Expectations, lexicon: Lexicon, positions: list[PositionTable], all_counts: list[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Take expectations of IBM 2 with tables of positions: log-likelihoods, and each table's expected counts.

    In joint training both tables count the mean of the posteriors, as the lexicon does.
    """
    counts = [np.zeros_like(p.values) for p in positions]
    parts: list[DirectedChunk] = []
    sides = (steps.source, steps.target), (steps.target, steps.source)
    used = [d for d in (0, 1) if steps.joint or steps.directions & (d + 1)]

    def first(chunk: Chunk) -> None:
        parts[:] = [DirectedChunk(chunk, *sides[d], d == 0) for d in (0, 1)]

    def block(b: tuple[int, int], chunk: Chunk, both: Both, logs: np.ndarray) -> None:
        for d in used:
            inverse, null = (lexicon.s_inverse, lexicon.t_inverse)[d], (steps.t_null, steps.s_null)[d]
            positioned(b, parts[d], both[d], inverse, null, steps.p_null[d], positions[d], 0.0)
            own = slice(b[0] - chunk.k0, b[1] - chunk.k0)
            logs[d, own] = parts[d].outcome.loglik[own]

    def then(chunk: Chunk, both: Both) -> None:
        steps.count_words(chunk, both)
        for d in used:
            found = both[0 if steps.joint else d]
            positions[d].collect(chunk, *sides[d], d == 0, found, counts[d], steps.pool)

    steps.forget_null()
    return steps.over(lexicon, all_counts, steps.by_blocks(block, []), then, apart=True, first=first), counts


def _positions_on(given: np.ndarray, observed: np.ndarray, tension: float, old: PositionTable | None) -> PositionTable:
    """Return a table for a text's lengths, with the older one's blocks where it has them."""
    table = PositionTable.of_lengths(given, observed, tension)
    if old is None:
        return table
    own = {tuple(shape): s for s, shape in enumerate(old.shapes.tolist())}
    for s, shape in enumerate(table.shapes.tolist()):
        if tuple(shape) in own:
            t = own[tuple(shape)]
            table.values[table.starts[s] : table.starts[s + 1]] = old.values[old.starts[t] : old.starts[t + 1]]
    return table
