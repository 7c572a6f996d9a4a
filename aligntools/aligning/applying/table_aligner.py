"""Alignment with a given table of word probabilities, one direction, one sentence pair at a time.

It is what fast_align does with ``-f``: IBM 2 with the diagonal prior of Dyer, Chahuneau & Smith (2013), section 2, or
IBM 1 without it. The length of the observed side is Poisson. Sentence pairs are small enough for plain NumPy.
"""

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from aligntools.aligning.models.diagonal_series import TENSION_RANGE, prior_as_fast_align
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.ttable import NULL, TTable

#: Probability of a pair of words that the table does not have.
FLOOR = 1e-9


def log_length(observed: int, conditioning: int, ratio: float) -> float:
    """Return the log probability of so many observed words, ``ratio`` being expected for each given one."""
    mean = 0.05 + conditioning * ratio
    return observed * math.log(mean) - math.lgamma(observed + 1) - mean


@dataclass
class TableAligner:
    """A table of word probabilities, and the other parameters.

    Without a tension all positions are equally likely, and NULL is one like the others.
    ``ratio`` observed words are expected for each given word.
    """

    table: TTable
    tension: float | None = None
    p_null: float = 0.08
    use_null: bool = True
    ratio: float = 1.0

    def align(self, conditioning: list[bytes], observed: list[bytes]) -> tuple[np.ndarray, float]:
        """Link each observed word to its most probable given word.

        conditioning, observed (list of bytes, not empty).
        Returns int64 [len(observed)], float: positions, -1 for NULL, which wins where it is as probable; else the first
        of equals. The natural logarithm of the observed side's probability, its length included.
        """
        best, nats = self.link(conditioning, observed)
        return best, log_length(len(observed), len(conditioning), self.ratio) + nats

    def link(self, conditioning: list[bytes], observed: list[bytes]) -> tuple[np.ndarray, float]:
        """Do what `align` does, but leave the length out of the probability."""
        n_c, n_o = len(conditioning), len(observed)
        scores = self.table.lookup(conditioning, observed, FLOOR)
        if self.tension is None:
            null = 1.0 / (n_c + self.use_null)
            scores *= null
        else:
            null = self.p_null
            i, j = np.arange(1.0, n_o + 1)[None, :], np.arange(1.0, n_c + 1)[:, None]
            if self.tension >= TENSION_RANGE[0]:
                scores *= prior_as_fast_align(i, j, float(n_o), float(n_c), self.tension, null)
            else:  # the series have no sum here
                prior = np.exp(-self.tension * np.abs(j / n_c - i / n_o))
                scores *= prior * ((1 - null) / prior.sum(axis=0))
        total, best = scores.sum(axis=0), scores.argmax(axis=0)
        if self.use_null:
            nulls = null * self.table.lookup([NULL], observed, FLOOR)[0]
            total += nulls
            best[scores.max(axis=0) <= nulls] = -1
        with np.errstate(divide="ignore"):
            return best, float(np.log(total).sum())


def link_by_position(aligner: TableAligner, given: np.ndarray, observed: np.ndarray) -> tuple[Links, np.ndarray]:
    """Link unknown words by their positions alone; the table of the aligner is not used.

    given, observed (int64 [sentences]): Words of the sentences.
    Returns links, the given word's position first, and float64 [sentences]: ``ln p`` without the length; 0 if blank.
    """
    blind = replace(aligner, table=TTable({}, {}, np.empty(0, np.int64), np.empty(0)))

    @cache
    def found(n_given: int, n_observed: int) -> tuple[list[tuple[int, int]], float]:
        if not n_given or not n_observed:
            return [], 0.0
        positions, nats = blind.link([b""] * n_given, [b""] * n_observed)
        return [(j, i) for i, j in enumerate(positions.tolist()) if j >= 0], nats

    rows = [found(*lengths) for lengths in zip(given.tolist(), observed.tolist(), strict=True)]
    return Links.from_lists(links for links, _ in rows), np.array([nats for _, nats in rows])
