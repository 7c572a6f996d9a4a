"""Words cut into the pieces that an encoder knows.

A word is cut by itself, after a space, so each type is cut once. Words of scripts that are written without spaces are
joined first: there a piece may begin in one word and end in the next, and belongs to both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Ranges of characters that are written without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, and what
#: Chinese and Japanese are written with.
UNSPACED = (
    *((0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3001, 0x30FF), (0x31F0, 0x31FF)),
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF01, 0xFF9F), (0x20000, 0x3FFFF)),
)
#: Words that are remembered with their pieces.
REMEMBERED = 1 << 18
#: What stands for a space in pieces of unigram models.
SPACE = "\u2581"
#: A piece that is not known costs so much more than the least likely one.
UNKNOWN = 10.0


class UnigramCutter:
    """Cuts words into their most probable sequence of pieces (Kudo 2018); ``replaced`` maps characters to others."""

    def __init__(
        self,
        pieces: Sequence[str],
        scores: Sequence[float],
        begin: int,
        end: int,
        unknown: int,
        replaced: dict[int, str],
    ) -> None:
        self.begin, self.end, self._unknown, self._replaced = begin, end, unknown, replaced
        self._scores = scores = [float(score) for score in scores]
        self._numbers = {piece: n for n, piece in enumerate(pieces) if piece and n != unknown}
        self._longest = max(map(len, self._numbers), default=1)
        self._cost = min(scores, default=0.0) - UNKNOWN

    def cut(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the pieces' numbers, and the characters ``text[a:b]`` that each is of."""
        written: list[str] = []  # what pieces are looked up for, and the character that each of its characters is of
        places: list[int] = []
        for place, character in enumerate(text):
            for other in self._replaced.get(ord(character), character):
                if other != " " or (written and written[-1] != SPACE):
                    written.append(SPACE if other == " " else other)
                    places.append(place)
        shown = "".join(written).rstrip(SPACE)
        if not shown:
            return [], []
        numbers: list[int] = []
        spans: list[tuple[int, int]] = []
        for number, a, b in self._best(SPACE + shown):
            first = places[max(a - 1, 0)] if b > 1 else 0
            last = places[b - 2] + 1 if b > 1 else 0
            if number == self._unknown and numbers and numbers[-1] == number:
                spans[-1] = (spans[-1][0], last)  # what is not known is one piece, however long
            else:
                numbers.append(number)
                spans.append((first, last))
        return numbers, spans

    def _best(self, text: str) -> list[tuple[int, int, int]]:
        size, numbers, scores = len(text), self._numbers, self._scores
        best, back = [0.0] + [-1e30] * size, [(0, 0)] * (size + 1)
        for a in range(size):
            so_far = best[a]
            for b in range(a + 1, min(a + self._longest, size) + 1):
                number = numbers.get(text[a:b])
                if number is not None and so_far + scores[number] > best[b]:
                    best[b], back[b] = so_far + scores[number], (a, number)
            if so_far + self._cost > best[a + 1]:
                best[a + 1], back[a + 1] = so_far + self._cost, (a, self._unknown)
        found, b = [], size
        while b:
            a, number = back[b]
            found.append((number, a, b))
            b = a
        return found[::-1]


class LibraryCutter:
    """Cuts as the library ``tokenizers`` does."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        around = tokenizer.encode("", add_special_tokens=True).ids
        if len(around) != 2:
            raise ValueError("does not put one piece before a text and one after it")
        self.begin, self.end = around

    def cut(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the pieces' numbers, and the characters ``text[a:b]`` that each is of."""
        found = self._tokenizer.encode([text], is_pretokenized=True, add_special_tokens=False)
        alone = [token == SPACE for token in found.tokens]  # a space that is of no word
        return found.ids, [(0, 0) if a else span for a, span in zip(alone, found.offsets, strict=True)]


@dataclass(frozen=True, eq=False)
class PieceSequence:
    """A sentence in pieces.

    pieces (int32 [pieces]).
    of, word (int32 [n]): Piece ``of[k]`` is part of word ``word[k]``; by words in order.
    """

    pieces: np.ndarray
    of: np.ndarray
    word: np.ndarray
    words: int


class Pieces:
    """Cuts sentences, and remembers how words are cut."""

    def __init__(self, cutter: UnigramCutter | LibraryCutter) -> None:
        self.cutter = cutter
        self._known: dict[str, tuple[list[int], list[tuple[int, int]]]] = {}

    def cut(self, words: Sequence[str]) -> PieceSequence:
        """Cut a sentence; words that are written without spaces are joined first."""
        pieces: list[int] = []
        pairs: list[tuple[int, int]] = []
        for first, last in runs(words):
            if last == first + 1:
                found = self._known.get(words[first])
                if found is None:
                    if len(self._known) >= REMEMBERED:
                        self._known.clear()
                    found = self._known[words[first]] = self.cutter.cut(words[first])
                numbers, spans = found
                pairs += [(first, len(pieces) + k) for k, (a, b) in enumerate(spans) if b > a]
            else:
                numbers, spans = self.cutter.cut("".join(words[first:last]))
                pairs += _of_words(words, first, last, spans, len(pieces))
            pieces += numbers
        table = np.array(sorted(pairs), np.int32).reshape(-1, 2)
        word, of = np.ascontiguousarray(table.T)  # kernels compile for one kind
        return PieceSequence(np.array(pieces, np.int32), of, word, len(words))


def _of_words(
    words: Sequence[str], first: int, last: int, spans: Sequence[tuple[int, int]], base: int
) -> list[tuple[int, int]]:
    """Return (word, piece) of pieces that have characters of a word."""
    pairs, begin, k = [], 0, 0
    for word in range(first, last):
        end = begin + len(words[word])
        while k < len(spans) and spans[k][1] <= begin:
            k += 1
        at = k
        while at < len(spans) and spans[at][0] < end:
            if spans[at][1] > spans[at][0]:
                pairs.append((word, base + at))
            at += 1
        begin = end
    return pairs


def runs(words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the words ``first:last`` that are written without a space between them."""
    found: list[tuple[int, int]] = []
    before = False
    for k, word in enumerate(words):
        if before and word and unspaced(word[0]):
            found[-1] = (found[-1][0], k + 1)
        else:
            found.append((k, k + 1))
        before = bool(word) and unspaced(word[-1])
    return found


def unspaced(character: str) -> bool:
    """Return whether a character is of a script that is written without spaces."""
    number = ord(character)
    return number >= UNSPACED[0][0] and any(a <= number <= b for a, b in UNSPACED)
