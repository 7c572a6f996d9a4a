"""IBM 1 (Brown et al. 1993): the words' links are independent of each other, and all positions equally likely."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.base import LexicalModel, Stage, ViewTask
from aligntools.aligning.models.lexical import Lexicon
from aligntools.aligning.text.kernels_pairs import Pairs
from aligntools.aligning.text.link_matrices import Chunk, pairs_of
from aligntools.aligning.text.views import ParallelText
from aligntools.aligning.training.expectation import Expectations
from aligntools.aligning.training.reconstruction_positions import DiagonalClimb, PositionClimb
from aligntools.ground.parallel import Pool


def tension_of(model: LexicalModel) -> np.ndarray:
    """Return how strongly a model's links are drawn to the diagonal, forward and reverse: 0 where it has none."""
    return getattr(model, "tension", np.zeros(2))


def ibm_block(
    block: tuple[int, int],
    pairs: Pairs,
    cells: np.ndarray,
    other: np.ndarray,
    lexicon: Lexicon,
    nulls: tuple[np.ndarray, np.ndarray, np.ndarray],
    tension: np.ndarray,
    directions: int,
    joint: bool,
    logs: np.ndarray,
) -> np.ndarray:
    """Call `kernels_ibm.ibm_block`, or where nothing is drawn to the diagonal the smaller kernel; return features.

    nulls: ``s_null``, ``t_null`` and ``p_null`` of `LexicalModel`.
    """
    features = np.zeros((2, 2))
    place = pairs, cells, other, lexicon.s_inverse, lexicon.t_inverse, *nulls
    if tension.any():
        ki.ibm_block(*block, *place, tension, directions, joint, logs, features)
    else:
        ki.ibm1_block(*block, *place, directions, joint, logs)
    return features


@dataclass(frozen=True, eq=False, kw_only=True)
class Ibm1(LexicalModel):
    """IBM 1; with a ``tension`` of its own, a subclass draws links to the diagonal."""

    def posteriors(
        self,
        text: ParallelText,
        chunk: Chunk,
        cells: np.ndarray,
        other: np.ndarray,
        directions: int,
        pool: Pool,
        logs: np.ndarray,
    ) -> None:
        """Turn link matrices into posteriors; see `LexicalModel.posteriors`."""
        pairs, nulls = pairs_of(text, chunk), (self.s_null, self.t_null, self.p_null)

        def task(b: tuple[int, int]) -> None:
            ibm_block(b, pairs, cells, other, self.lexicon, nulls, tension_of(self), directions, False, logs)

        pool.map(task, chunk.sentence_blocks)

    @classmethod
    def stage(cls, task: ViewTask, before: Stage | None) -> Stage:
        """Begin to train it."""
        return Ibm1Stage(cls, task, before)

    def climbing(self) -> type[PositionClimb]:
        """Return the class that trains the tension in maximum reconstruction, which goes on as IBM 2."""
        return DiagonalClimb


class Ibm1Stage(Stage):
    """IBM 1 in training."""

    def __init__(self, model: type[LexicalModel], task: ViewTask, before: Stage | None = None) -> None:
        super().__init__(model, task, before)
        self.tension = np.zeros(2)
        self._figures: dict[str, Any] = {}

    def expect(self, steps: Expectations, lexicon: Lexicon, counts: list[np.ndarray]) -> tuple[np.ndarray, Any]:
        """Return log-likelihoods, and the expected feature of the diagonal."""
        settings = self.task.settings
        loglik, features = expect(steps, lexicon, self.tension, counts, not settings.favor_diagonal)
        if not settings.agreement:
            nulls = [float(counts.sum()) for counts in steps.null_counts]
            self._figures = {"null": nulls, "diagonal": features[:, 0].tolist()}
        return loglik, features

    def maximize(self, counted: Any, steps: Expectations | None = None) -> None:
        """Estimate the words of NULL."""
        if self.task.learns_null:
            assert steps is not None, "NULL is not learned in parts"
            steps.estimate_null(self.task.settings)

    def figures(self) -> dict[str, Any]:
        """Return the links to NULL and the diagonal's feature, if each direction is trained by itself."""
        found, self._figures = self._figures, {}
        return found


def expect(
    steps: Expectations, lexicon: Lexicon, tension: np.ndarray, all_counts: list[np.ndarray], measured: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Take expectations of IBM 1, or of IBM 2 with the diagonal: log-likelihoods, and the tension's expectations.

    measured: Find the expected feature for IBM 1 too, which does not use it.
    """
    parts: dict[tuple[int, int], np.ndarray] = {}

    def block(b: tuple[int, int], chunk: Chunk, cells: np.ndarray, other: np.ndarray, logs: np.ndarray) -> None:
        pairs, nulls = pairs_of(steps.matrices, chunk), (steps.s_null, steps.t_null, steps.p_null)
        parts[b] = ibm_block(b, pairs, cells, other, lexicon, nulls, tension, steps.directions, steps.joint, logs)

    def then(chunk: Chunk, cells: np.ndarray, other: np.ndarray) -> None:
        steps.count_null(chunk, cells, other)
        if features is not None:
            for d in (0, 1):
                if steps.directions & (d + 1):
                    features[d, 0] += _features(steps, chunk, (cells, other)[d], d == 0)

    features = np.zeros((2, 2)) if measured else None
    steps.forget_null()
    loglik = steps.over(lexicon, all_counts, steps.by_blocks(block), None if steps.joint else then)
    return loglik, sum((parts[b] for b in sorted(parts)), np.zeros((2, 2))) if features is None else features


def _features(steps: Expectations, chunk: Chunk, posteriors: np.ndarray, forward: bool) -> float:
    """Return the expected feature of the diagonal in a model that does not use it; for the report alone."""
    place = chunk.k0, steps.source.offsets, steps.target.offsets, chunk.cell_offsets, posteriors, forward
    return float(sum(steps.pool.map(lambda b: ki.diagonal_features(*b, *place), chunk.sentence_blocks)))
