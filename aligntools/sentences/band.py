"""Where paths may go: anchors, the chain of those that agree with each other, and the band around it.

An anchor is a pair of sentences of which each is the other's best. The longest chain of anchors that a path could go
through is its rough course. Of n random anchors it has about 2 sqrt(n): so its length tells how far it is believed.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.sentences import kernels_lexicon as kernels
from aligntools.sentences import vectors
from aligntools.sentences.lexicon import GroupLexicon
from aligntools.sentences.text import Text

#: Words in more sentences do not vote for anchors; nor do ratios below this.
RARE, LEAST = 60, 4.0
#: An anchor has another one within so many sentences on both sides, except in short documents.
NEAR, SHORT = 10, 60
#: The band goes from the so-manieth anchor before to the so-manieth behind, and so many sentences further.
ANCHORS, MARGIN = 3, 8
#: Documents of more sentences are compared by blocks first: of so many sentences at least, so many blocks at most; each
#: with so many before and behind it; matches that support each other are so near; a chain of them has such a share of
#: the blocks at least (0.57 in translations that were tried, 0.17 in others).
LARGE, BLOCK, MOST_BLOCKS, BESIDE, NEAR_BLOCKS, FOUND = 300, 8, 4096, 2, 3, 0.25
#: Nodes of a band.
NODES = 6_000_000


@dataclass(frozen=True, eq=False)
class Band:
    """The nodes that a path may go through; see `kernels_groups`.

    begin, end (int64 [n + 1]), at (int64 [n + 2]).
    """

    begin: np.ndarray
    end: np.ndarray
    at: np.ndarray

    @classmethod
    def of(cls, begin: np.ndarray, end: np.ndarray) -> "Band":
        """Return the band of these rows."""
        return cls(begin, end, np.concatenate([[0], np.cumsum(end - begin)]))

    @property
    def nodes(self) -> int:
        """How many there are."""
        return int(self.at[-1])


def lexical_anchors(source: Text, target: Text, lexicon: GroupLexicon) -> np.ndarray:
    """Return the pairs of sentences that words speak for from both sides (int64 [anchors, 2])."""
    sizes = len(source), len(target)
    where = around_blocks(source, target, lexicon) if min(sizes) > LARGE else None
    near = where or [(np.arange(a) * b // max(1, a), np.full(a, vectors.REACH)) for a, b in (sizes, sizes[::-1])]
    found = []
    for one, other, d, (centre, reach) in zip((source, target), (target, source), lexicon, near, strict=True):
        n, m = len(one), len(other)
        rows = np.repeat(np.arange(m), other.side.lengths())
        keys = np.unique(other.side.tokens.astype(np.int64) * max(1, m) + rows)  # a word counts once in a sentence
        start = np.searchsorted(keys, np.arange(len(other.words) + 1) * max(1, m))
        best, margin = np.zeros(n, np.int64), np.zeros(n)
        own = one.side.tokens, one.side.offsets, d.ptr, d.ids, d.ratios, LEAST
        sentences = start, (keys % max(1, m)).astype(np.int32), RARE, centre, reach
        kernels.votes(*own, *sentences, np.zeros(m), np.zeros(m, np.int32), best, margin)
        found.append((best, margin > 0))
    (forward, sure), (reverse, back_sure) = found
    return mutual(forward, reverse, sure, back_sure)


def around_blocks(source: Text, target: Text, lexicon: GroupLexicon) -> list[tuple[np.ndarray, np.ndarray]] | None:
    """Return for each sentence of both sides where in the other its translation is, and how far off it may be; or None.

    Blocks of sentences are compared by the words that the lexicon expects, weighed by how few blocks have them, with
    the blocks around. A block whose best has it as best, beside such a one, tells where its sentences are.
    """
    from scipy.sparse import csr_matrix

    size = max(BLOCK, -(-max(len(source), len(target)) // MOST_BLOCKS))
    blocks = -(-max(len(source), len(target)) // size)

    def counts(text: Text) -> Any:
        rows = np.repeat(np.arange(len(text)) * blocks // len(text), text.side.lengths())
        found = csr_matrix((np.ones(len(rows), np.float32), (rows, text.side.tokens)), (blocks, len(text.words)))
        found.data[:] = 1.0 + np.log(found.data)
        return found

    d = lexicon[0]
    chances = d.ratios * target.shares[d.ids].astype(np.float32)
    words = counts(source) @ csr_matrix((chances, d.ids, d.ptr), (len(source.words), len(target.words)))
    others = counts(target)
    rarity = np.log(blocks / np.maximum(1.0, np.bincount(others.indices, minlength=others.shape[1]))).astype(np.float32)
    sides = []
    for one in (words, others):
        weighed = one.multiply(rarity).tocsr()
        norms = np.sqrt(np.asarray(weighed.multiply(weighed).sum(1)).ravel())
        sides.append(weighed.multiply(1.0 / np.maximum(norms, 1e-9)[:, None]).tocsr().astype(np.float32))
    alike = (sides[0] @ sides[1].T).toarray()
    summed = alike.copy()
    for k in range(1, BESIDE + 1):
        summed[k:, k:] += alike[:-k, :-k]
        summed[:-k, :-k] += alike[k:, k:]
    found = mutual(summed.argmax(1), summed.argmax(0), summed.max(1) > 0, summed.max(0) > 0)
    found = supported(found, blocks, NEAR_BLOCKS)
    if len(chain(found)) < FOUND * blocks:
        return None
    near = []
    for own, other, (a, b) in ((0, 1, (source, target)), (1, 0, (target, source))):
        points = found[np.argsort(found[:, own], kind="stable")]
        rows = np.arange(len(a)) * blocks // len(a)
        after = np.clip(np.searchsorted(points[:, own], rows), 0, len(points) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.where(np.abs(points[before, own] - rows) <= np.abs(points[after, own] - rows), before, after)
        away = rows - points[nearest, own]
        centre = (
            np.arange(len(a)) * len(b) // len(a) + (points[nearest, other] - points[nearest, own]) * len(b) // blocks
        )
        near.append((centre, (np.abs(away) + 2 * BESIDE) * (len(b) // blocks + 1)))
    return near


def mutual(best: np.ndarray, back: np.ndarray, sure: np.ndarray, back_sure: np.ndarray) -> np.ndarray:
    """Return the pairs each of which is the other's best, by source sentence (int64 [anchors, 2])."""
    rows = np.flatnonzero(sure)
    columns = best[rows]
    kept = back_sure[columns] & (back[columns] == rows) if len(rows) else np.empty(0, bool)
    return np.stack([rows[kept], columns[kept]], 1).astype(np.int64)


def supported(anchors: np.ndarray, sentences: int, distance: int = NEAR) -> np.ndarray:
    """Return the anchors that have another one near, on both sides; all of them in a short document."""
    if sentences <= SHORT or not len(anchors):
        return anchors
    i, j = anchors.T
    kept = np.zeros(len(i), bool)
    for step in range(1, min(distance, len(i) - 1) + 1):
        near = (i[step:] - i[:-step] <= distance) & (np.abs(j[step:] - j[:-step]) <= distance) & (j[step:] != j[:-step])
        kept[step:] |= near
        kept[:-step] |= near
    return anchors[kept]


def chain(anchors: np.ndarray, ties: bool = False) -> np.ndarray:
    """Return the longest chain of anchors, each of which lies behind the one before on both sides.

    anchors (int64 [anchors, 2]): By source sentence, no sentence twice.
    ties: Sentences may come twice, and be in the chain twice.
    """
    ends: list[int] = []  # the smallest target sentence that a chain of each length ends with
    last: list[int] = []
    before = np.full(len(anchors), -1, np.int64)
    for n, j in enumerate(anchors[:, 1].tolist()):
        k = (bisect_right if ties else bisect_left)(ends, j)
        before[n] = last[k - 1] if k else -1
        ends[k : k + 1] = [j]
        last[k : k + 1] = [n]
    found, n = [], last[-1] if last else -1
    while n >= 0:
        found.append(n)
        n = int(before[n])
    return anchors[found[::-1]]


def belief(anchors: np.ndarray, found: np.ndarray) -> float:
    """Return how far anchors are believed, 0 to 1: how much longer their chain is than by chance."""
    by_chance = 2.0 * np.sqrt(len(anchors))
    return float(np.clip((len(found) - by_chance) / max(len(anchors) - by_chance, 1.0), 0.0, 1.0))


def around(found: np.ndarray, n: int, m: int, nodes: int = NODES) -> Band:
    """Return the band around a chain of anchors, and around the line between distant ones: not many more nodes."""
    points = np.concatenate([[[0, 0]] * ANCHORS, found, [[n, m]] * ANCHORS])
    rows = np.arange(n + 1)
    where = np.searchsorted(points[:, 0], rows, side="right")  # the first anchor behind each row
    low = points[np.clip(where - ANCHORS, 0, len(points) - 1), 1] - MARGIN
    high = points[np.clip(where + ANCHORS - 1, 0, len(points) - 1), 1] + MARGIN
    middle = np.interp(rows, points[:, 0], points[:, 1]).astype(np.int64)
    half = max(4 * MARGIN, nodes // (2 * (n + 1)))
    if int((high - low + 1).sum()) > nodes:
        low, high = np.maximum(low, middle - half), np.minimum(high, middle + half)
    low[rows < MARGIN], high[rows > n - MARGIN] = 0, m
    low, high = np.minimum(low, middle), np.maximum(high, middle)
    begin = np.minimum.accumulate(np.clip(low, 0, m)[::-1])[::-1].astype(np.int64)  # widened so that both never fall
    end = np.maximum.accumulate(np.clip(high, 0, m) + 1).astype(np.int64)
    begin[0], end[-1] = 0, m + 1
    end[:-1] = np.maximum(end[:-1], begin[1:] + 1)  # so that rows touch
    return Band.of(begin, np.maximum.accumulate(end))


def forced(band: Band, places: np.ndarray, m: int) -> Band:
    """Return a band all of whose paths pair some sentences, given that these are in no group with others.

    places (int64 [places, 2]): Source and target sentences, each behind the one before on both sides.
    """
    n = len(band.begin) - 1
    low, high = np.zeros(n + 1, np.int64), np.full(n + 1, m, np.int64)
    for i, j in places.tolist():
        low[i + 1 :] = j + 1
    for i, j in places[::-1].tolist():
        high[: i + 1] = j
    begin = np.clip(band.begin, low, high)
    end = np.clip(band.end - 1, low, high) + 1
    i, j = places.T
    begin[[0, *(i + 1)]], end[[*i, n]] = [0, *(j + 1)], [*(j + 1), m + 1]
    return Band.of(begin, end)
