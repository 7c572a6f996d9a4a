"""Imputing the missing source side (Li, Wang, Eisner & Khudanpur 2011, section 3.4).

A reverse system turns a target sentence y into sources x with probabilities p(x|y): its k best with their probabilities
rescaled, or samples that all weigh the same. The forward system then translates each x and is tuned on y (equation 8).
Round trips rule by rule are in `round_trips`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligntools.ground.parallel import Pool
from aligntools.translating.forest import derivations
from aligntools.translating.forest.candidates import CandidateLists
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(eq=False)
class Imputed:
    """Imputed sources, those of one sentence together.

    candidates: One a sentence; their words are the reverse system's target ids.
    groups (int64 [sources]): The sentence that each was imputed for.
    shares (float64 [sources]): p(x|y): they sum to 1 over a sentence's.
    """

    candidates: CandidateLists
    groups: np.ndarray
    shares: np.ndarray


def impute(
    forest: Hypergraph,
    weights: npt.ArrayLike,
    how: str = "kbest",
    k: int = 1,
    gamma: float = 1.0,
    seed: int = 1,
    pool: Pool | None = None,
    equal: bool = False,
) -> Imputed:
    """Impute sources from what a reverse system made of target sentences.

    forest: Derivations of the sources; a sentence without any is skipped.
    weights (float64 [features]): The reverse system's.
    how: ``kbest``: the k best different sources, their probabilities rescaled to 1 in all. ``samples``: k independent
        samples, each with the weight 1 / k (multiple imputation: Rubin 1987); the same source drawn again adds to its
        weight.
    gamma: Sharpness of p(x|y).
    seed: Of the samples.
    equal: Weigh the k best sources of a sentence all alike, as the paper's experiments do (its last footnote).
    """
    weights = np.asarray(weights, np.float64)
    scores = edge_scores(forest, weights, gamma, pool=pool)
    if how == "samples":
        found = derivations.samples(forest, scores, len(weights), k, seed, pool)
        sentence = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        keys = found.featureless().keys() ^ (sentence.astype(np.uint64) * _FACTOR)
        _, first, count = np.unique(keys, return_index=True, return_counts=True)
        order = np.argsort(first)
        rows, shares = first[order], count[order] / k
    else:
        found = derivations.k_best(forest, scores, len(weights), k, pool=pool)
        sentence = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        scores = np.zeros(found.count) if equal else found.scores
        rows, shares = np.arange(found.count), normalized(scores, found.offsets)
    return Imputed(found.take(rows, np.arange(len(rows) + 1)), sentence[rows], shares)


def normalized(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the exponentials of scores, rescaled to 1 over each of the runs that ``offsets`` cut."""
    full = np.diff(offsets) > 0
    if not full.any():
        return np.zeros(0)
    first, sizes = offsets[:-1][full], np.diff(offsets)[full]
    shares = np.exp(scores - np.repeat(np.maximum.reduceat(scores, first), sizes))
    normal: np.ndarray = shares / np.repeat(np.add.reduceat(shares, first), sizes)
    return normal
