"""How well sentence pairs fit together, by their links and probabilities: the scores of a filter."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from aligntools.formats.links.pharaoh import Links

#: Links below this posterior count for nothing.
LEAST = 0.02
#: Log-probability per word that lowers a score by a factor of e.
SCALE = 8.0


def coverage(links: Links, probabilities: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return how far the words of each side are linked: the mean over them of the best link's posterior.

    probabilities [links].
    lengths (int64 [2, pairs]): Words of the source and target sentences.
    Returns float64 [2, pairs]: 0 for sentences without words.
    """
    sentence, found = links.sentences(), np.zeros((2, len(links)))
    for side in (0, 1):
        begins = np.concatenate([[0], np.cumsum(lengths[side])])
        best = np.zeros(begins[-1] + 1)
        np.maximum.at(best, begins[sentence] + links.pairs[:, side], probabilities)
        sums = np.concatenate([[0.0], np.cumsum(best)])
        found[side] = (sums[begins[1:]] - sums[begins[:-1]]) / np.maximum(lengths[side], 1)
    return found


def scores(covered: np.ndarray, per_word: np.ndarray) -> np.ndarray:
    """Return a score of each pair, 0 to 1: the lower coverage times the lower probability per word, which is damped.

    covered [2, pairs]: See `coverage`.
    per_word [2, pairs]: ``ln p(target | source)`` and ``ln p(source | target)`` per word; NaN for a direction that is
        not there.
    """
    worse = np.nan_to_num(np.fmin(per_word[0], per_word[1]), nan=0.0)
    found: np.ndarray = covered.min(axis=0) * np.exp(np.minimum(worse, 0.0) / SCALE)
    return found


def copied(source: Sequence[str], target: Sequence[str]) -> float:
    """Return the share of the longer sentence's words that the other has too; words without letters are left out."""
    words = [[word for word in map(str.lower, side) if any(c.isalpha() for c in word)] for side in (source, target)]
    longer = max(map(len, words))
    return (Counter(words[0]) & Counter(words[1])).total() / longer if longer else 0.0
