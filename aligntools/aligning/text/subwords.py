"""Byte-pair encoding of one side of a text (Sennrich, Haddow & Birch 2016), learned from its words.

Compounds and endings hide what words have in common from models of whole words, and from views of their beginnings.
Merging the pair of neighbouring pieces that is the most frequent, again and again, gives stems and endings that occur
often enough to learn from.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

#: Different words of a side that merges are learned from, the most frequent ones; others hardly change what is merged.
LEARNED = 10_000
#: Longer words stay whole: they are no words.
LONGEST = 60
#: Sentences with more pieces have none: link matrices grow with their square.
MOST = 1000
#: How often two pieces have to stand side by side to become one.
LEAST = 2

Merge = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Subwords:
    """How words of one side are cut.

    Attributes
    ----------
    merges : list of (str, str)
        Pieces that become one, in the order in which they were learned.
    """

    merges: list[Merge]

    @cached_property
    def _ranks(self) -> dict[Merge, int]:
        return {merge: n for n, merge in enumerate(self.merges)}

    def cut(self, word: str) -> list[str]:
        """Return the pieces of any word; joined they are the word. NULL, which is empty, has none."""
        if len(word) > LONGEST:
            return [word]
        pieces, ranks, last = list(word), self._ranks, len(self.merges)
        while len(pieces) > 1:
            rank, merge = min((ranks.get(pair, last), pair) for pair in pairwise(pieces))
            if rank == last:
                break
            pieces = merged(pieces, merge)
        return pieces


def merged(pieces: Sequence[str], merge: Merge) -> list[str]:
    """Join two pieces wherever they stand side by side, from the left on."""
    found, at = [], 0
    while at < len(pieces):
        both = at + 1 < len(pieces) and (pieces[at], pieces[at + 1]) == merge
        found.append(pieces[at] + pieces[at + 1] if both else pieces[at])
        at += 2 if both else 1
    return found


def learn_subwords(words: Sequence[str], counts: Iterable[int], merges: int) -> Subwords:
    """Learn merges from words and how often they occur.

    Parameters
    ----------
    words : sequence of str
        Different ones, of which the LEARNED most frequent count.
    counts : iterable of int
    merges : int
        At most so many. Of pairs that are equally frequent the first in alphabetical order is merged first.
    """
    known = [(list(word), int(n)) for word, n in zip(words, counts, strict=True) if 1 < len(word) <= LONGEST and n]
    known = sorted(known, key=lambda found: -found[1])[:LEARNED]
    pieces, weights = [p for p, _ in known], [n for _, n in known]
    frequency: Counter[Merge] = Counter()
    places: defaultdict[Merge, set[int]] = defaultdict(set)
    for n, (word, weight) in enumerate(known):
        for pair in pairwise(word):
            frequency[pair] += weight
            places[pair].add(n)
    queue = [(-count, pair) for pair, count in frequency.items()]
    heapq.heapify(queue)
    found: list[Merge] = []
    seen: set[Merge] = set()
    while queue and len(found) < merges:
        count, best = heapq.heappop(queue)
        if frequency[best] != -count:  # changed since; what it is now is in the queue too
            continue
        if -count < LEAST:
            break
        if best not in seen:  # pieces that come together in several ways may part again
            found.append(best)
            seen.add(best)
        changed = set()
        for n in places.pop(best):
            for pair in pairwise(pieces[n]):
                frequency[pair] -= weights[n]
                changed.add(pair)
            pieces[n] = merged(pieces[n], best)
            for pair in pairwise(pieces[n]):
                frequency[pair] += weights[n]
                places[pair].add(n)
                changed.add(pair)
        for pair in changed:
            if frequency[pair] > 0:
                heapq.heappush(queue, (-frequency[pair], pair))
    return Subwords(found)


@dataclass(frozen=True, eq=False)
class PieceSide:
    """One side of a text in pieces, with where each word's begin.

    Attributes
    ----------
    tokens : int32 [pieces]
    offsets : int64 [sentences + 1]
    starts : int64 [words + 1]
        Counted over all sentences, those too that have no pieces in ``tokens`` because they have too many.
    """

    tokens: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray


def cut_sides(*sides: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> list[PieceSide]:
    """Put pieces in the place of words; a pair of which a side has more than MOST pieces gets none.

    Parameters
    ----------
    sides : (int32 [words], int64 [sentences + 1], int64 [vocabulary], int32 [pieces]), each
        Words, where sentences begin, how many pieces each word of the vocabulary has, and these, word after word.
    """
    places, lengths = [], []
    for tokens, offsets, sizes, _ in sides:
        starts = np.zeros(len(tokens) + 1, np.int64)
        np.cumsum(sizes[tokens], out=starts[1:])
        places.append(starts)
        lengths.append(np.diff(starts[offsets]))
    kept = np.max(lengths, axis=0) <= MOST
    found = []
    for (tokens, offsets, sizes, ids), starts, own in zip(sides, places, lengths, strict=True):
        firsts = np.cumsum(sizes) - sizes
        pieces = ids[np.arange(starts[-1]) + np.repeat(firsts[tokens] - starts[:-1], sizes[tokens])]
        ends = np.zeros(len(offsets), np.int64)
        np.cumsum(np.where(kept, own, 0), out=ends[1:])
        found.append(PieceSide(pieces[np.repeat(kept, own)], ends, starts))
    return found
