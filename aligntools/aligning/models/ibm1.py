"""IBM 1 (Brown et al. 1993): the words' links are independent of each other, and all positions equally likely."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.base import LexicalModel, Stage, ViewTask
from aligntools.aligning.models.lexical import Lexicon
from aligntools.aligning.text.kernels_pairs import Pairs
from aligntools.aligning.text.link_matrices import Both, Chunk, pairs_of
from aligntools.aligning.text.views import ParallelText
from aligntools.aligning.training.expectation import Expectations
from aligntools.aligning.training.reconstruction_positions import DiagonalClimb
from aligntools.ground.parallel import Pool


def tension_of(model: LexicalModel) -> np.ndarray:
    """Return how strongly a model's links are drawn to the diagonal, forward and reverse: 0 where it has none."""
    return getattr(model, "tension", np.zeros(2))


def ibm_block(
    block: tuple[int, int],
    pairs: Pairs,
    both: Both,
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
    s_null, t_null, p_null = nulls
    place = pairs, both, (lexicon.s_inverse, lexicon.t_inverse, s_null, t_null), p_null
    if tension.any():
        ki.ibm_block(*block, *place, tension, directions, joint, logs, features)
    else:
        ki.ibm1_block(*block, *place, directions, joint, logs)
    return features


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Ibm1(LexicalModel):
    """IBM 1; with a ``tension`` of its own, a subclass draws links to the diagonal."""

    STAGE = Ibm1Stage
    climbing = DiagonalClimb

    def posteriors(
        self, text: ParallelText, chunk: Chunk, both: Both, directions: int, pool: Pool, logs: np.ndarray
    ) -> None:
        """Turn link matrices into posteriors; see `LexicalModel.posteriors`."""
        pairs, nulls = pairs_of(text, chunk), (self.s_null, self.t_null, self.p_null)

        def task(b: tuple[int, int]) -> None:
            ibm_block(b, pairs, both, self.lexicon, nulls, tension_of(self), directions, False, logs)

        pool.map(task, chunk.sentence_blocks)


def expect(
    steps: Expectations, lexicon: Lexicon, tension: np.ndarray, all_counts: list[np.ndarray], measured: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Take expectations of IBM 1, or of IBM 2 with the diagonal: log-likelihoods, and the tension's expectations.

    measured: Find the expected feature for IBM 1 too, which does not use it.
    """
    found: list[np.ndarray] = []

    def block(b: tuple[int, int], chunk: Chunk, both: Both, logs: np.ndarray) -> np.ndarray:
        pairs, nulls = pairs_of(steps.matrices, chunk), (steps.s_null, steps.t_null, steps.p_null)
        return ibm_block(b, pairs, both, lexicon, nulls, tension, steps.directions, steps.joint, logs)

    def then(chunk: Chunk, both: Both) -> None:
        steps.count_null(chunk, both)
        if features is not None:  # of a model that does not use it; for the report alone
            for d in (0, 1):
                if steps.directions & (d + 1):
                    text = steps.source.offsets, steps.target.offsets, chunk.cell_offsets
                    place = chunk.k0, *text, both[d], d == 0

                    def feature(block: tuple[int, int], place: tuple[Any, ...] = place) -> float:
                        return ki.diagonal_features(*block, *place)  # type: ignore[no-any-return]

                    features[d, 0] += float(sum(steps.pool.map(feature, chunk.sentence_blocks)))

    features = np.zeros((2, 2)) if measured else None
    steps.forget_null()
    loglik = steps.over(lexicon, all_counts, steps.by_blocks(block, found), None if steps.joint else then)
    return loglik, sum(found, np.zeros((2, 2))) if features is None else features
