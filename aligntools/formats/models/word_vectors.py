"""Vectors of words in text, as word2vec, fastText and GloVe write them: on each line a word and its numbers.

A first line with how many words and numbers there are may come before them; GloVe writes none. Such files have millions
of words, so the numbers of those that are asked for are read alone.
"""

import logging
import re
from collections.abc import Iterable, Sequence
from itertools import chain

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
    own: dict[bytes, int] = {}
    like: dict[bytes, list[int]] = {}
    for n, wanted in enumerate(words):
        own[wanted.encode("utf-8", "surrogatepass")] = n
        like.setdefault(wanted.lower().encode("utf-8", "surrogatepass"), []).append(n)
    memory.ask(4 * len(own) * width, f"the vectors of {len(own)} words")
    vectors, has = np.zeros((len(own), width), np.float32), bytearray(len(own))
    rows, line = 0, 2 if header else 1
    for block in chain([rest if header else first], blocks):
        if not rows and b"\0" in block:
            raise DataError(path, line + block.count(b"\n", 0, block.index(b"\0")), _BINARY)
        for number, row in enumerate(block.replace(b"\t", b" ").split(b"\n"), line):
            rows += bool(row)
            word, _, values = row.partition(b" ")
            lower = word.lower() if word.isascii() else word.decode("utf-8", "replace").lower().encode()
            mine = own.get(word)
            found = [(n, _LIKE) for n in like.get(lower, ()) if has[n] == _NONE and n != mine]
            if mine is not None and has[mine] != _OWN:
                found.append((mine, _OWN))
            vector = _values(path, number, values.split(), width) if found else None
            for n, how in found if vector is not None else ():
                vectors[n], has[n] = vector, how
        line = number
    if announced is not None and rows < announced:
        _log.warning("%s has %d words, and %d by its first line: is it whole?", path, rows, announced)
    return vectors


def _values(path: str, line: int, fields: Sequence[bytes], width: int) -> np.ndarray | None:
    if len(fields) > width:  # a word with spaces in it, which is none of a text
        return None
    if len(fields) < width:
        raise DataError(path, line, f"{len(fields)} numbers after the word; {width} were expected")
    with np.errstate(over="ignore"):
        try:
            values = np.array(list(map(float, fields)), np.float32)
            sound = bool(np.isfinite(values).all())
        except ValueError:
            sound = False
    if not sound:
        bad = next(field for field in fields if not _is_number(field))
        raise DataError(path, line, f"'{shown(bad)}' is not a number")
    return values


def _is_number(field: bytes) -> bool:
    return abs(as_number(field)) <= _LARGEST
