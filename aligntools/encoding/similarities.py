"""How similar the words of two sentences are, by an encoder's states: cosines without hubs, and probabilities of links.

Some words, called hubs, are similar to all others. Half the mean of its row and half that of its column is subtracted
from each cosine, so that hubs have no advantage (cf. the scaling by neighbourhoods of Lample et al. 2018).
"""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np

from aligntools.ground.parallel import Pool, one_thread

#: What cosines are multiplied by before each row and each column is made to sum to 1.
SHARPNESS = 25.0
#: What part of a row's and of a column's mean is taken off.
HUB = np.float32(0.5)
#: Links of less probability are not written.
LEAST = 0.1
_SMALL = np.float32(1e-9)


#: How like the words of a sentence pair are, float32 [source words, target words] each: cosines without hubs, the mean
#: over layers; of each source word the share of each target word, and of each target word that of each source word.
#: Words without a piece have zeros.
Similarities: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


def compare_pair(source: np.ndarray, target: np.ndarray) -> Similarities:
    """Compare the states of two sentences, float32 [layers, words, width]."""
    known = np.any(source, (0, 2))[:, None] & np.any(target, (0, 2))[None, :]
    cosines = np.zeros(known.shape, np.float32)
    if not known.any():
        return cosines, cosines, cosines
    for one, other in zip(source, target, strict=True):
        cosines += unhubbed(unit(one) @ unit(other).T)
    cosines /= np.float32(len(source))
    scores = np.where(known, cosines * np.float32(SHARPNESS), np.float32(-1e4))
    forward, reverse = (np.exp(scores - scores.max(axis, keepdims=True)) for axis in (1, 0))
    return (
        cosines,
        forward / forward.sum(1, keepdims=True) * known,
        reverse / reverse.sum(0, keepdims=True) * known,
    )


def compare(sources: Iterable[np.ndarray], targets: Iterable[np.ndarray]) -> list[Similarities]:
    """Compare the states of pairs of sentences."""
    with one_thread():
        return list(map(compare_pair, sources, targets))


def unit(states: np.ndarray) -> np.ndarray:
    """Return states of length 1, or zeros where they are zeros; the last axis is a state."""
    lengths = np.sqrt(np.einsum("...k,...k->...", states, states))[..., None]
    return np.asarray(states / np.maximum(lengths, _SMALL))


def unhubbed(cosines: np.ndarray) -> np.ndarray:
    """Take half the mean of its row and half that of its column off each cosine."""
    return np.asarray(cosines - HUB * (cosines.mean(1, keepdims=True) + cosines.mean(0, keepdims=True)))


#: How many words of the other side tell what is usual around a word: this share of them and at most so many; of large
#: vocabularies fewer, so that no more pairs come of it than memory holds easily.
SHARE, MOST, FEWEST, PAIRS = 0.2, 300, 10, 4_000_000
# Which words of two languages are near to each other, by vectors in one space.
#
# Some words, called hubs, are near to all others. So a cosine counts by how far it is above what is usual around both
# words (Lample et al. 2018, CSLS), halved here:
#
#     c(x, y) - (r(x) + r(y)) / 2,
#
# where r is the mean cosine of a word's nearest words of the other side. The cosines are never held whole: blocks of
# words are compared with blocks of words, which do not depend on the number of threads.

#: Words of a side that are compared at most, the first that have vectors: the time goes by the square of these.
WORDS = 100_000
#: Words that are compared with so many others at a time.
_ROWS, _COLUMNS = 512, 4096


def nearest_of(words: int, others: int) -> int:
    """Return how many nearest words tell what is usual, where so many words are compared with so many others."""
    return min(words, others, max(FEWEST, min(MOST, int(SHARE * min(words, others)), PAIRS // (words + others + 1))))


def near_pairs(source: np.ndarray, target: np.ndarray, pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of words that are nearer to each other than is usual around them, and their margins above 0.

    source, target (float32 [words, numbers]): Zeros stand for no vector. The first WORDS of each side are compared.
    Returns int64 [n, 2], by source word, then by target word; float32 [n].
    """
    known = [np.flatnonzero(side.any(1))[:WORDS] for side in (source, target)]
    a, b = (centered(side[rows]) for side, rows in zip((source, target), known, strict=True))
    if not len(a) or not len(b):
        return np.empty((0, 2), np.int64), np.empty(0, np.float32)
    count = nearest_of(len(a), len(b))
    with one_thread():
        around = [
            np.concatenate(pool.map(partial(_usual, others=others, count=count), _blocks(words, _ROWS)))
            for words, others in ((a, b), (b, a))
        ]
        begins = range(0, len(a), _ROWS)
        found = pool.map(lambda begin: _above(begin, a, b, *around), begins)
    rows, columns, margins = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return np.stack([known[0][rows], known[1][columns]], 1), margins


def centered(vectors: np.ndarray) -> np.ndarray:
    """Return vectors of length 1 from the mean of their directions, however large or small their numbers are."""
    if not len(vectors):
        return vectors
    directions = unit(vectors / np.maximum(np.abs(vectors).max(1, keepdims=True), np.finfo(np.float32).tiny))
    return unit(directions - directions.mean(0, dtype=np.float64).astype(np.float32))


def _blocks(vectors: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (vectors[begin : begin + size] for begin in range(0, len(vectors), size))


def _usual(words: np.ndarray, others: np.ndarray, count: int) -> np.ndarray:
    """Return the mean cosine of each word's nearest words."""
    best = np.empty((len(words), 0), np.float32)
    for block in _blocks(others, _COLUMNS):
        best = np.concatenate([best, words @ block.T], 1)
        if best.shape[1] > count:
            best = np.partition(best, -count, axis=1)[:, -count:]
    return np.asarray(np.sort(best, axis=1).mean(1, dtype=np.float32))


def _above(
    begin: int, source: np.ndarray, target: np.ndarray, around: np.ndarray, around_target: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and margins of a block of source words."""
    words, half = source[begin : begin + _ROWS], np.float32(0.5)
    own, found = around[begin : begin + _ROWS, None], []
    for first in range(0, len(target), _COLUMNS):
        last = first + _COLUMNS
        margins = words @ target[first:last].T
        margins -= half * (own + around_target[None, first:last])
        i, j = np.nonzero(margins > 0)
        found.append((begin + i, first + j, margins[i, j]))
    rows, columns, margins = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(rows, kind="stable")
    return rows[order], columns[order], margins[order]
