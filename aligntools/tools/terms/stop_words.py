"""Words that no term begins or ends with, learned from the text itself: frequent, evenly spread, short, diffuse.

Function words are frequent, come evenly in all parts of a text, have many translations or none, and are short (Zipf);
words of a text's subject are frequent in some parts. What has no letter is never the end of a term. No list of any
language is used.
"""

import itertools
import unicodedata
from collections.abc import Sequence

import numpy as np

from aligntools.tools.terms.occurrences import ANYWHERE, NOWHERE, WITHIN

#: A text is cut into so many parts, or fewer of at least so many words; into some in any case.
_PARTS, _PART_WORDS, _FEWEST_PARTS = 200, 2000, 8
#: Words below this share of the text, or with fewer occurrences, are no stop words.
_RARE, _FEW = 2e-4, 8
#: The usual frequency, unevenness, share of the best partner, and letters; what each weighs; and how much is needed.
_FREQUENT, _UNEVEN, _BEST, _LETTERS = 5e-4, 0.6, 0.5, 4
_WEIGHTS = 1.0, 1.5, 3.0, 0.4
_NEEDED = 1.0
_LEAST_UNEVEN = 0.15


def kind_of(word: str) -> int:
    """Return where a word may stand in a term by its characters: without letters within, without digits too nowhere."""
    kinds = {unicodedata.category(c)[0] for c in word}
    return ANYWHERE if "L" in kinds else WITHIN if "N" in kinds else NOWHERE


def unevenness(tokens: np.ndarray, words: int) -> np.ndarray:
    """Return how unevenly each word comes in the parts of a text, beyond chance [shape=(words,)].

    It is the coefficient of variation of its count in parts of equal length, without what a Poisson variable has.
    """
    parts = int(np.clip(len(tokens) // _PART_WORDS, _FEWEST_PARTS, _PARTS))
    edges = np.linspace(0, len(tokens), parts + 1).astype(np.int64)
    squares = np.zeros(words)
    for begin, end in itertools.pairwise(edges.tolist()):
        squares += np.bincount(tokens[begin:end], minlength=words).astype(np.float64) ** 2
    mean = np.bincount(tokens, minlength=words) / parts
    excess = squares / parts - mean**2 - mean
    return np.sqrt(np.maximum(excess, 0)) / np.maximum(mean, 1e-12)


def stop_words(words: Sequence[str], tokens: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Return which words are stop words [shape=(words,), dtype=bool].

    tokens [words of the text].
    best [words]: Which share of a word's occurrences is linked to the partner that it has most often.
    """
    counts = np.bincount(tokens, minlength=len(words))
    share = counts / max(len(tokens), 1)
    frequent = (share >= _RARE) & (counts >= _FEW)
    uneven = np.maximum(unevenness(tokens, len(words)), _LEAST_UNEVEN)
    lengths = np.array([len(word) for word in words])
    parts = (
        np.log(np.maximum(share, 1e-12) / _FREQUENT),
        -np.log(uneven / _UNEVEN),
        _BEST - best,
        _LETTERS - lengths,
    )
    score = np.sum([weight * part for weight, part in zip(_WEIGHTS, parts, strict=True)], axis=0)
    return np.asarray(frequent & (score > _NEEDED))


def best_shares(words: int, own: np.ndarray, other: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return which share of a word's occurrences is linked to its most frequent partner [shape=(words,)].

    own, other [links]: The words of each link.
    counts [words]: Occurrences of each word.
    """
    pairs, times = np.unique(own.astype(np.int64) << 32 | other.astype(np.int64), return_counts=True)
    best = np.zeros(words)
    np.maximum.at(best, pairs >> 32, times)
    shares: np.ndarray = np.minimum(best / np.maximum(counts, 1), 1.0)
    return shares
