"""Alignment error rate, precision and recall against gold links, and how far chance could explain them.

Och & Ney (2003), "A systematic comparison of various statistical alignment models", section 7.2.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.goldlinks import Gold
from aligntools.formats.pharaoh import Links
from aligntools.ground import resampling

#: Columns of the counts: links of the hypothesis, sure and possible gold links, and what is in common.
COLUMNS = ("links", "sure", "possible", "links_in_sure", "links_in_possible")


@dataclass(frozen=True)
class Scores:
    """Counts over a corpus and the figures made of them, as fractions of 1.

    ``precision = |A∩P| / |A|``, ``recall = |A∩S| / |S|``, ``f1`` their harmonic mean and
    ``aer = 1 - (|A∩S| + |A∩P|) / (|A| + |S|)``; 0 where the denominator is 0.
    """

    links: int
    sure: int
    possible: int
    links_in_sure: int
    links_in_possible: int
    precision: float
    recall: float
    f1: float
    aer: float


def count(hypothesis: Links, gold: Gold) -> np.ndarray:
    """Count links, gold links and what they have in common.

    Parameters
    ----------
    hypothesis : Links
        Of as many sentences as the gold.
    gold : Gold

    Returns
    -------
    np.ndarray [shape=(sentences, 5), dtype=int64]
        The columns of `COLUMNS`.

    Raises
    ------
    ValueError
        When there are not equally many sentences.
    """
    if len(hypothesis) != len(gold):
        raise ValueError(f"{len(hypothesis)} sentences where the gold has {len(gold)}")
    sides = (hypothesis, gold.sure, gold.possible)
    counts = np.stack([links.counts() for links in (*sides, *sides[1:])], axis=1)
    keys = _keys(sides)
    for column in (1, 2):
        common = np.isin(keys[0], keys[column])
        counts[:, column + 2] = np.bincount(hypothesis.sentences()[common], minlength=len(gold))
    return counts


def _keys(sides):
    """Return an array for each set of links: one number a link, the same for the same one of a sentence."""
    links = [side.pairs[:, 0].astype(np.int64) << 32 | side.pairs[:, 1] for side in sides]
    different, ranks = np.unique(np.concatenate(links), return_inverse=True)
    ranks = np.split(ranks, np.cumsum([len(part) for part in links[:-1]]))
    return [side.sentences() * len(different) + rank.ravel() for side, rank in zip(sides, ranks, strict=True)]


def _divide(above, below):
    return np.divide(above, below, out=np.zeros(np.shape(above)), where=np.asarray(below) > 0)


def figures(totals) -> np.ndarray:
    """Return precision, recall, F1 and AER.

    Parameters
    ----------
    totals : np.ndarray [shape=(..., 5)]
        Sums of counts, see `COLUMNS`.

    Returns
    -------
    np.ndarray [shape=(..., 4), dtype=float64]
    """
    links, sure, _, in_sure, in_possible = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
    precision, recall = _divide(in_possible, links), _divide(in_sure, sure)
    f1 = _divide(2 * precision * recall, precision + recall)
    # Nothing to find and nothing found is no error.
    aer = np.where(links + sure > 0, 1 - _divide(in_sure + in_possible, links + sure), 0.0)
    return np.stack([precision, recall, f1, aer], axis=-1)


def score(counts) -> Scores:
    """Return the figures of a corpus from its sentences' counts [shape=(sentences, 5)]."""
    totals = np.sum(counts, axis=0)
    return Scores(*totals.tolist(), *figures(totals).tolist())


def _aer(totals):
    return figures(totals)[..., 3]


def bootstrap(counts, samples=1000, seed=1, level=0.95) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the AER over sentences [counts: shape=(sentences, 5)]."""
    return resampling.bootstrap(counts, _aer, samples, seed, level)


def compare(counts, baseline, samples=1000, seed=1, level=0.95) -> resampling.Difference:
    """Return a system's AER minus a baseline's: below 0 where the system is better."""
    return resampling.compare(counts, baseline, _aer, samples, seed, level)
