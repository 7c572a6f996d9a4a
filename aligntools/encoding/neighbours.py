"""Which words of two languages are near to each other, by vectors in one space.

Some words, called hubs, are near to all others. So a cosine counts by how far it is above what is usual around both
words (Lample et al. 2018, CSLS), halved here:

    c(x, y) - (r(x) + r(y)) / 2,

where r is the mean cosine of a word's nearest words of the other side. The cosines are never held whole: blocks of
words are compared with blocks of words, which do not depend on the number of threads.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from aligntools.encoding.similarities import unit
from aligntools.ground.parallel import Pool, one_thread

#: How many words of the other side tell what is usual around a word: this share of them and at most so many; of large
#: vocabularies fewer, so that no more pairs come of it than memory holds easily.
SHARE, MOST, LEAST, PAIRS = 0.2, 300, 10, 4_000_000
#: Words of a side that are compared at most, the first that have vectors: the time goes by the square of these.
WORDS = 100_000
#: Words that are compared with so many others at a time.
_ROWS, _COLUMNS = 512, 4096


def nearest_of(words: int, others: int) -> int:
    """Return how many nearest words tell what is usual, where so many words are compared with so many others."""
    return min(words, others, max(LEAST, min(MOST, int(SHARE * min(words, others)), PAIRS // (words + others + 1))))


def near_pairs(source: np.ndarray, target: np.ndarray, pool: Pool) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of words that are nearer to each other than is usual around them.

    source, target (float32 [words, numbers]): Zeros stand for words that have no vector. Each side's mean is taken off
        first. Of each side WORDS are compared, the first ones.
    pool: Does not show in the result.
    Returns pairs (int64 [n, 2]): By source word, then by target word.
    Returns margins (float32 [n]): Above 0.
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
        found = pool.map(lambda begin: _above(begin, a, b, around[0], around[1]), begins)
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
    usual: np.ndarray = np.sort(best, axis=1).mean(1, dtype=np.float32)
    return usual


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
