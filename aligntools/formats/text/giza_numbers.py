"""Parallel text as numbers, as GIZA++ reads it: ``.vcb`` (number, word, count), ``.snt`` and ``.cooc``.

Words have the numbers from 2 on, in the order of their first occurrence: 0 is NULL, and 1 is no word. A sentence pair
is three lines of an ``.snt`` file: how often it counts, the source's numbers and the target's, each with a space behind
it. A ``.cooc`` file has a line ``source target`` for all words that occur in a pair together, by number; NULL, as a
source word, occurs in each.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from aligntools.formats.links.giza import FIRST as FIRST
from aligntools.formats.opening import files
from aligntools.formats.text.corpus import Side
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words

_LINES = 10_000  # formatted at a time


def format_vcb(words: Iterable[bytes], counts: Iterable[int]) -> bytes:
    """Return a vocabulary file of words in the order of their numbers."""
    rows = zip(words, counts, strict=True)
    return b"".join(b"%d %s %d\n" % (number, word, count) for number, (word, count) in enumerate(rows, FIRST))


def read_vcb(path: object) -> dict[int, bytes]:
    """Read a vocabulary file: words by their numbers.

    Raises DataError when it cannot be read, or for the first line that is no number from 1 on, word and count, or whose
    number has come before.
    """
    found: dict[int, bytes] = {}
    for number, line in enumerate(files.lines(path), 1):
        fields = split_words(line)
        if len(fields) != 3 or not fields[0].isdigit() or len(fields[0]) > 9 or int(fields[0]) < 1:
            shown = line[:40].decode("utf-8", "replace")
            raise DataError(path, number, f"'{shown}' is not the number of a word, from 1 on, the word and its count")
        if int(fields[0]) in found:
            raise DataError(path, number, f"word {int(fields[0])} comes twice")
        found[int(fields[0])] = fields[1]
    return found


def format_snt(source: Side, target: Side, weights: Sequence[float]) -> Iterator[bytes]:
    """Yield a file of sentence pairs in blocks.

    source, target: With the numbers that are written.
    weights: How often each pair counts.
    """
    for begin in range(0, len(source), _LINES):
        end = min(begin + _LINES, len(source))
        rows = []
        for weight, *ends in zip(
            weights[begin:end],
            pairwise(source.offsets[begin : end + 1].tolist()),
            pairwise(target.offsets[begin : end + 1].tolist()),
            strict=True,
        ):
            rows.append(f"{weight:g}\n")
            for side, (a, b) in zip((source, target), ends, strict=True):
                rows.append("".join(f"{number} " for number in side.tokens[a:b].tolist()) + "\n")
        yield "".join(rows).encode()


def read_snt(path: object) -> tuple[Side, Side, np.ndarray]:
    """Read a file of sentence pairs.

    Returns Side, Side, np.ndarray [shape=(pairs,), dtype=float64]: with the file's numbers; and how often each pair
    counts. Raises DataError when it cannot be read, or for the first line that is not as it has to be.
    """
    weights: list[float] = []
    rows: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    number = 0
    for number, line in enumerate(files.lines(path), 1):
        if number % 3 == 1:
            weights.append(_weight(path, number, line))
        else:
            rows[number % 3 == 0].append(_numbers(path, number, line))
    if number % 3:
        raise DataError(
            path, number, "ends within a sentence pair; expected three lines for each: count, source, target"
        )
    sides = []
    for some in rows:
        offsets = np.zeros(len(some) + 1, np.int64)
        np.cumsum([len(row) for row in some], out=offsets[1:])
        sides.append(Side(np.concatenate([np.empty(0, np.int32), *some]), offsets))
    return sides[0], sides[1], np.array(weights)


def _weight(path: object, number: int, line: bytes) -> float:
    try:
        found = float(line)
    except ValueError:
        found = np.nan
    if not 0 <= found < np.inf:
        shown = line[:40].decode("utf-8", "replace")
        raise DataError(
            path, number, f"'{shown}' is not how often a pair counts; expected a number, then two lines of words"
        )
    return found


def _numbers(path: object, number: int, line: bytes) -> np.ndarray:
    if not line.translate(None, b"0123456789 "):
        words = line.split()
        if all(len(word) < 10 for word in words):
            found = np.array(words, np.int64).astype(np.int32)
            if not len(found) or found.min() > 0:
                return found
    shown = line[:40].decode("utf-8", "replace")
    raise DataError(path, number, f"'{shown}' is not a line of numbers of words, from 1 on")


def format_cooc(starts: np.ndarray, words: np.ndarray, counts: np.ndarray | None = None) -> Iterator[bytes]:
    """Yield a file of words that occur together in blocks.

    starts (int64 [source words + 1]): Where each source word's target words begin, by number, NULL first.
    words (int32 [pairs]).
    counts (int64 [pairs] or None): How often they do; they are written first.
    """
    given = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for a in range(0, len(words), 1 << 16):
        part = slice(a, a + (1 << 16))
        rows = zip(given[part].tolist(), words[part].tolist(), strict=True)
        if counts is None:
            yield "".join(f"{i} {j}\n" for i, j in rows).encode()
        else:
            yield "".join(f"{n} {i} {j}\n" for n, (i, j) in zip(counts[part].tolist(), rows, strict=True)).encode()
