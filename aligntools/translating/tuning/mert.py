"""Minimum error rate training (Och 2003): BLEU of the best candidates, maximized along one line after another."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from aligntools.ground.parallel import Pool, over
from aligntools.metrics.bleu import corpus_bleu
from aligntools.translating.forest.candidates import CandidateLists
from aligntools.translating.forest.hypergraph import edge_scores
from aligntools.translating.tuning import kernels_mert as kernels

#: A point with less than this to either side in its interval is skipped.
ROOM = 1e-7
#: Random directions in a sweep; a sweep that gains less BLEU than this is the last.
DIRECTIONS, GAIN = 8, 1e-3
#: At most; a sweep is a line along each feature that some candidate has, and some at random.
SWEEPS = 20
#: Of random numbers: one, or several together.
Seed: TypeAlias = int | Sequence[int]


class MertCorpus:
    """CandidateLists with BLEU's statistics, as Och's line search needs them.

    statistics (float32 [candidates, 10]).
    shares (float64 [sentences]): What each sentence's statistics count; 1 if not given.
    """

    def __init__(
        self,
        candidates: CandidateLists,
        statistics: np.ndarray,
        shares: np.ndarray | None = None,
        pool: Pool | None = None,
    ) -> None:
        shares = np.ones(len(candidates)) if shares is None else np.asarray(shares, np.float64)
        self.candidates, self.pool = candidates, pool
        self.offsets, self.shares = candidates.offsets, shares
        self.flat = candidates.hypergraph()
        self.statistics = np.asarray(statistics, np.float64) * np.repeat(shares, np.diff(self.offsets))[:, None]

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """Return the candidates' scores [candidates]."""
        return edge_scores(self.flat, weights, pool=self.pool)

    def value(self, weights: np.ndarray) -> float:
        """Return BLEU of the candidates that score best."""
        scores = self.scores(weights)
        return self._line(scores, np.zeros(len(scores)))[1]

    def _line(self, intercepts: np.ndarray, slopes: np.ndarray) -> tuple[float, float]:
        """Return the best step along a line and BLEU there; 0 where nothing is better than it."""
        offsets, sentences = self.offsets, len(self.candidates)
        points, best = np.empty(len(intercepts)), np.empty(len(intercepts), np.int64)
        counts = np.zeros(sentences, np.int64)
        over(
            self.pool,
            lambda b: kernels.envelopes(offsets, intercepts, slopes, *b, points, best, counts),
            self.flat.blocks(),
        )
        some = counts > 0
        first = offsets[:-1][some]
        place = np.arange(int(counts.sum())) + np.repeat(offsets[:-1] - (np.cumsum(counts) - counts), counts)
        inner = place[~np.isin(place, first)] if len(place) else place
        begin = self.statistics[best[first]].sum(axis=0)
        order = np.argsort(points[inner], kind="stable")
        inner = inner[order]
        change = self.statistics[best[inner]] - self.statistics[best[inner - 1]]
        totals = np.concatenate([begin[None], begin + np.cumsum(change, axis=0)])
        edges = np.concatenate([[-np.inf], points[inner], [np.inf]])
        values = 100 * corpus_bleu(np.maximum(totals, 0), "none")
        here = int(np.searchsorted(edges[1:-1], 0.0))
        wide = np.diff(edges) > 2 * ROOM
        wide[here] = True
        values = np.where(wide, values, -1.0)
        top = values.max()
        if not top > values[here] + 1e-9:
            return 0.0, float(values[here])
        ties = np.flatnonzero(values >= top - 1e-12)
        k = int(ties[np.argmin(np.abs(ties - here))])
        low, high = edges[k], edges[k + 1]
        if np.isinf(low):
            return float(high - max(0.1, 0.1 * abs(high))), float(top)
        if np.isinf(high):
            return float(low + max(0.1, 0.1 * abs(low))), float(top)
        return float(0.5 * (low + high)), float(top)

    def search(self, weights: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the best point along a line through ``weights`` and BLEU there."""
        step, value = self._line(self.scores(weights), self.scores(direction))
        return weights + step * direction, value


def _climb(
    corpus: MertCorpus, weights: np.ndarray, learned: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    value = corpus.value(weights)
    for _ in range(SWEEPS):
        before = value
        directions = list(np.eye(len(weights))[learned])
        for _ in range(DIRECTIONS):
            direction = np.zeros(len(weights))
            direction[learned] = rng.normal(size=len(learned)) * np.maximum(np.abs(weights[learned]), 0.01)
            directions.append(direction)
        for k in rng.permutation(len(directions)):
            moved, reached = corpus.search(weights, directions[k])
            if reached > value:
                weights, value = moved, reached
        if value - before < GAIN:
            break
    return weights, value


def maximize(
    corpus: MertCorpus, start: npt.ArrayLike, seed: Seed, restarts: int = 8, frozen: Sequence[int] = ()
) -> tuple[np.ndarray, float]:
    """Maximize BLEU of the best candidates over the weights.

    start (float64 [features]).
    Returns weights (float64 [features]).
    Returns value: BLEU, 0 to 100.
    """
    start = np.array(start, np.float64)
    rng = np.random.default_rng(seed)
    used = np.unique(corpus.candidates.feature_ids)
    learned = np.array([f for f in used if f not in frozen], np.int64)
    best, value = _climb(corpus, start, learned, rng)
    scale = np.maximum(np.abs(start), np.abs(start).max(initial=0.0) * 0.1 + 1e-3)
    for _ in range(restarts):
        begin = start.copy()
        begin[learned] += (rng.normal(size=len(start)) * scale)[learned]
        found, reached = _climb(corpus, begin, learned, rng)
        if reached > value + 1e-9:
            best, value = found, reached
    return best / max(np.abs(best).max(initial=0.0), 1e-9) if not len(frozen) else best, value
