"""Alignment error rate, precision and recall against gold links, and how far chance could explain them.

Och & Ney (2003), "A systematic comparison of various statistical alignment models", section 7.2.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.goldlinks import Gold
from aligntools.formats.pharaoh import Links

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


def _resampled(counts, samples, seed):
    """Yield sums of counts over as many sentences drawn with replacement, ``samples`` times."""
    rng = np.random.default_rng(seed)
    n = counts.shape[-2]
    values = counts.astype(np.float64)  # exact, and multiplied far faster than integers
    for _ in range(samples):
        weights = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        yield weights @ values


def _interval(values, level):
    return tuple(np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist())


def bootstrap(counts, samples=1000, seed=1, level=0.95) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the AER over sentences.

    Parameters
    ----------
    counts : np.ndarray [shape=(sentences, 5)]
    samples : int
    seed : int
    level : float
        Share of the samples within the interval.
    """
    totals = np.array(list(_resampled(counts, samples, seed)))
    return _interval(figures(totals)[:, 3], level)


@dataclass(frozen=True)
class Difference:
    """One system's AER minus another's.

    Attributes
    ----------
    aer : float
        Below 0 where the system is better.
    interval : (float, float)
        Paired bootstrap: both systems are scored on the same drawn sentences.
    p_value : float
        Approximate randomization, two-sided: how often exchanging the systems' outputs, sentence by sentence
        with probability 1/2, makes at least this difference (Riezler & Maxwell 2005).
    """

    aer: float
    interval: tuple[float, float]
    p_value: float


def compare(counts, baseline, samples=1000, seed=1, level=0.95) -> Difference:
    """Compare a system with a baseline on the same sentences.

    Parameters
    ----------
    counts, baseline : np.ndarray [shape=(sentences, 5)]
    samples, seed, level
        As for `bootstrap`; ``samples`` is also the number of randomizations.
    """
    both = np.stack([counts, baseline])

    def difference(totals):
        aers = figures(totals)[..., 3]
        return aers[..., 0] - aers[..., 1]

    observed = float(difference(both.sum(axis=1)))
    drawn = difference(np.array(list(_resampled(both, samples, seed))))
    rng = np.random.default_rng(seed)
    total, change = both.sum(axis=1), (counts - baseline).astype(np.float64)
    extreme = 0
    for _ in range(samples):
        moved = (rng.random(len(change)) < 0.5).astype(np.float64) @ change
        # A hair of tolerance: a difference that equals the observed one counts, whatever the rounding.
        extreme += abs(difference(total + np.stack([-moved, moved]))) >= abs(observed) - 1e-12
    return Difference(observed, _interval(drawn, level), (int(extreme) + 1) / (samples + 1))
