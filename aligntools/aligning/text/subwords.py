"""Byte-pair encoding of one side of a text (Sennrich, Haddow & Birch 2016), learned from its words.

*Pieces* are parts of words. Models of whole words, and of their first letters, do not see what words share inside
compounds or before endings. Here words begin as letters, and the most frequent pair of neighbouring pieces is merged
again and again. This gives stems and endings that occur often enough to learn from.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from aligntools.aligning.text import kernels_byte_pairs as kb
from aligntools.formats.text.corpus import Side

#: Merges are learned from so many words of a side, the most frequent ones; others hardly change what is merged.
LEARNED = 10_000
#: Longer words stay whole: they are addresses and the like.
LONGEST = 60
#: A sentence pair with more pieces on a side is not cut: link matrices grow with the square of their number.
MOST = 1000
#: Two pieces are merged if they are neighbours at least so often.
LEAST = 2

Merge = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Subwords:
    """How words of one side are cut.

    merges: Pieces that become one, in the order in which they were learned.
    """

    merges: list[Merge]

    @cached_property
    def _pieces(self) -> list[str]:
        return list(dict.fromkeys(piece for left, right in self.merges for piece in (left, right, left + right)))

    @cached_property
    def _numbers(self) -> tuple[np.ndarray, ...]:
        """Merges as numbers of pieces, as `kernels_byte_pairs.cut_words` takes them."""
        ids = {piece: n for n, piece in enumerate(self._pieces)}
        rows = [[ids[left], ids[right], ids[left + right]] for left, right in self.merges]
        lefts, rights, made = np.ascontiguousarray(np.array(rows, np.int32).reshape(-1, 3).T)
        order = np.lexsort((rights, lefts)).astype(np.int32)
        ptr = np.searchsorted(lefts[order], np.arange(len(ids) + 1))
        return lefts, rights, made, ptr, rights[order], order

    @cached_property
    def _letters(self) -> dict[str, int]:
        """Pieces of one letter, by number."""
        return {piece: n for n, piece in enumerate(self._pieces) if len(piece) == 1}

    def cut(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Cut any words into pieces.

        Returns how many pieces each word has (int64 [words]; NULL none), those of all words as numbers (int32), and the
        pieces that these stand for, in order of first occurrence.
        """
        known, text, starts = self._pieces, "".join(words), _starts(words)
        # what is no piece of the merges is numbered behind them: letters by code points, then words that stay whole
        numbers = {letter: self._letters.get(letter, len(known) + ord(letter)) for letter in set(text)}
        out, sizes = np.empty(len(text), np.int32), np.zeros(len(words), np.int64)
        letters = np.fromiter(map(numbers.__getitem__, text), np.int32, len(text))
        out = out[: kb.cut_words(letters, starts, LONGEST, *self._numbers, out, sizes)]
        whole, first = np.flatnonzero(out < 0), len(known) + sys.maxunicode + 1
        out[whole] = np.arange(first, first + len(whole))
        found = list(dict.fromkeys(out.tolist()))
        rank = np.empty(max(found, default=-1) + 1, np.int32)
        rank[found] = np.arange(len(found))
        long = [word for word in words if len(word) > LONGEST]
        n = len(known)
        spelled = [known[k] if k < n else chr(k - n) if k < first else long[k - first] for k in found]
        return sizes, rank[out], spelled


def _starts(words: Sequence[str]) -> np.ndarray:
    """Return where each of words begins that stand one after another, int64 [words + 1]."""
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=starts[1:])
    return starts


def learn_subwords(words: Sequence[str], counts: Iterable[int], merges: int) -> Subwords:
    """Learn merges from words and how often they occur.

    words: All different; the LEARNED most frequent ones are used.
    merges: Their number, at most. Of pairs that are equally frequent, the first in alphabetical order is merged first.
    """
    known = [(word, int(n)) for word, n in zip(words, counts, strict=True) if 1 < len(word) <= LONGEST and n]
    if not known:
        return Subwords([])
    known = sorted(known, key=lambda found: -found[1])[:LEARNED]
    spelled = [word for word, _ in known]
    spelling = np.frombuffer("".join(spelled).encode("utf-32-le"), np.uint32)
    letters, points = np.unique(spelling, return_inverse=True)
    each = np.array([n for _, n in known], np.int64)
    found = kb.learn_merges(points.astype(np.int32), _starts(spelled), each, len(letters), LONGEST, merges, LEAST)
    left, right, spelling, ends = found
    text = letters[spelling].tobytes().decode("utf-32-le")
    pieces = [text[begin:end] for begin, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)]
    return Subwords([(pieces[a], pieces[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)])


@dataclass(eq=False)
class PieceSide(Side):
    """One side of a text in pieces, with where each word's begin.

    starts (int64 [words + 1]): Counted over all sentences, also those whose pieces are too many and left out of
        ``tokens``.
    """

    starts: np.ndarray


def cut_sides(*sides: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]) -> list[PieceSide]:
    """Put pieces in the place of words; a sentence pair gets none if one of its sides would have more than MOST.

    sides ((int32 [words], int64 [sentences + 1], int64 [vocabulary], int32 [pieces]), each): Words, where sentences
        begin, how many pieces each word of the vocabulary has, and these, word after word.
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
