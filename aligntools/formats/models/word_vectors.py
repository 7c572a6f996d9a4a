"""Vectors of words in text, as word2vec, fastText and GloVe write them: on each line a word and its numbers.

A first line with how many words and numbers there are may come before them; GloVe writes none. Such files have millions
of words, so the numbers of those that are asked for are read alone.
"""

import logging
import re
from collections.abc import Iterable, Sequence

import numpy as np

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import as_number
from aligntools.ground import memory
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import shown
from aligntools.words.vocabulary import split_words

_log = logging.getLogger("aligntools")
_HEADER = re.compile(rb"[ \t]*(\d+)[ \t]+(\d+)[ \t\r]*")
#: Most numbers of a word.
MOST = 1 << 14
_LARGEST = float(np.finfo(np.float32).max)
_CONTENT = "on each line a word and its numbers were expected, as in .vec files of fastText and word2vec"
_BINARY = f"is binary; {_CONTENT}"
#: How a word got its vector: none yet, that of a word that differs in case alone, its own.
_NONE, _LIKE, _OWN = 0, 1, 2


def read_word_vectors(path: str, words: Iterable[str]) -> np.ndarray:
    """Read the vectors of some words, float32 [words, numbers], in memory that grows with these alone.

    A word whose very letters are not in the file has the vector of the first one that differs in case alone, or zeros.
    """
    blocks = files.blocks_of_lines(path)
    first = next(blocks, b"")
    begin, _, rest = first.partition(b"\n")
    header = _HEADER.fullmatch(begin)
    announced = int(header[1]) if header else None
    width = int(header[2]) if header else len(split_words(begin)) - 1
    if b"\0" in begin:
        raise DataError(path, 1, _BINARY)
    if not 0 < width <= MOST or (not header and not _is_number(split_words(begin)[-1])):
        raise DataError(path, 1, f"'{shown(begin)}': {_CONTENT}")
    reader = _Reader(path, width, words)
    reader.take(rest if header else first, 2 if header else 1)
    for block in blocks:
        reader.take(block, reader.line)
    if announced is not None and reader.rows < announced:
        _log.warning("%s has %d words, and %d by its first line: is it whole?", path, reader.rows, announced)
    return reader.vectors


class _Reader:
    """The vectors of words that are asked for, while their file is read."""

    def __init__(self, path: str, width: int, words: Iterable[str]) -> None:
        self._path, self._width = path, width
        self._own: dict[bytes, int] = {}
        self._like: dict[bytes, list[int]] = {}
        for n, word in enumerate(words):
            self._own[word.encode("utf-8", "surrogatepass")] = n
            self._like.setdefault(word.lower().encode("utf-8", "surrogatepass"), []).append(n)
        size = len(self._own)
        memory.ask(4 * size * width, f"the vectors of {size} words")
        self.vectors = np.zeros((size, width), np.float32)
        self._has = bytearray(size)
        self.line, self.rows = 1, 0

    def take(self, block: bytes, line: int) -> None:
        """Read a block of whole lines, the first of which has the number ``line``."""
        if not self.rows and b"\0" in block:
            raise DataError(self._path, line + block.count(b"\n", 0, block.index(b"\0")), _BINARY)
        if b"\t" in block:
            block = block.replace(b"\t", b" ")
        lines = block.split(b"\n")
        self.line = line + len(lines) - 1
        for number, row in enumerate(lines, line):
            word, _, rest = row.partition(b" ")
            self.rows += bool(row)
            if wanted := self._wanted(word):
                values = self._values(rest.split(), number)
                for n, how in wanted if values is not None else ():
                    self.vectors[n], self._has[n] = values, how

    def _wanted(self, word: bytes) -> list[tuple[int, int]]:
        """Return the words that get the vector of this one, and how."""
        lower = word.lower() if word.isascii() else word.decode("utf-8", "replace").lower().encode()
        like = self._like.get(lower)
        if like is None:
            return []
        own = self._own.get(word)
        found = [(n, _LIKE) for n in like if self._has[n] == _NONE and n != own]
        return found if own is None or self._has[own] == _OWN else [(own, _OWN), *found]

    def _values(self, fields: Sequence[bytes], line: int) -> np.ndarray | None:
        if len(fields) > self._width:  # a word with spaces in it, which is none of a text
            return None
        if len(fields) < self._width:
            raise DataError(self._path, line, f"{len(fields)} numbers after the word; {self._width} were expected")
        with np.errstate(over="ignore"):
            try:
                values = np.array(list(map(float, fields)), np.float32)
                sound = bool(np.isfinite(values).all())
            except ValueError:
                sound = False
        if not sound:
            bad = next(field for field in fields if not _is_number(field))
            raise DataError(self._path, line, f"'{shown(bad)}' is not a number")
        return values


def _is_number(field: bytes) -> bool:
    return abs(as_number(field)) <= _LARGEST
