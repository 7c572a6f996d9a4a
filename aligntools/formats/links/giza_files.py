"""Reading GIZA++'s tables, as GIZA++, MGIZA and `giza_tables` write them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import NamedTuple

import numpy as np

from aligntools.formats.opening import files
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words

#: Classes of words are numbered up to this.
_MOST_CLASSES = 10_000
#: Fertilities of a line at most; longer sentences than these GIZA++ does not read.
_MOST_FERTILITIES = 1000
_MOST_DISTANCES = 2_001
_NUMBER = re.compile(rb"[0-9]{1,9}")
_DISTORTED = "nine numbers, the last of them odd, and as many probabilities as it says"


class Entries(NamedTuple):
    """A table of three columns or five: whole numbers, and a probability at the end.

    keys (int64 [n, 2 or 4]), p (float64 [n]).
    """

    keys: np.ndarray
    p: np.ndarray


class GizaDistances(NamedTuple):
    """Distances of IBM 4, by classes.

    observed, given (int64 [n]): Numbers of the classes of the word, and of the word before.
    p (float64 [n, 2 reach + 1]): From ``-reach`` on.
    """

    observed: np.ndarray
    given: np.ndarray
    p: np.ndarray


@dataclass(frozen=True, eq=False)
class Fertilities:
    """Rows of ``n(phi | e)``.

    words (int64 [n]): Numbers of words.
    p (float64 [n, fertilities]).
    """

    words: np.ndarray
    p: np.ndarray


def whole_lines(path: str | PathLike[str]) -> Iterator[tuple[int, bytes]]:
    """Yield a file's lines with their numbers; DataError where the last one does not end.

    These programs end each line, so that a line without an end is one that was cut off.
    """
    number = 0
    with files.reading(path) as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                raise DataError(path, number, "the file ends within this line; it was cut off, write it again")
            yield number, line.rstrip(b" \t\r\n")
    if not number:
        raise DataError(path, None, "is empty; write it again")


def _shown(line: bytes) -> str:
    return line[:40].decode("utf-8", "replace")


def _probability(path: object, number: int, field: bytes) -> float:
    try:
        found = float(field)
    except ValueError:
        found = np.nan
    if not 0 <= found <= 1.001:  # rounding may give a little more than 1
        raise DataError(path, number, f"'{_shown(field)}' is not a probability, from 0 to 1")
    return found


def read_entries(path: str | PathLike[str], columns: int, form: str) -> Entries:
    """Read a table of so many whole numbers and a probability a line.

    columns: 2 for ``t3.final``, 4 for ``a3.final`` and ``d3.final``.
    form: What a line is, for messages.
    Raises DataError when it cannot be read, or for the first line that is not of this form or has no end.
    """
    keys: list[int] = []
    p: list[float] = []
    for number, line in whole_lines(path):
        fields = line.split()
        if len(fields) != columns + 1 or not all(map(_NUMBER.fullmatch, fields[:-1])):
            raise DataError(path, number, f"'{_shown(line)}' is not {form}")
        keys.extend(map(int, fields[:-1]))
        p.append(_probability(path, number, fields[-1]))
    return Entries(np.array(keys, np.int64).reshape(-1, columns), np.array(p))


def read_translations(path: str | PathLike[str]) -> Entries:
    """Read ``t3.final``: ``e f t(f|e)``, words by number, 0 for NULL."""
    return read_entries(path, 2, "e f t(f|e): the numbers of two words and a probability")


def read_distortions(path: str | PathLike[str]) -> Entries:
    """Read ``d3.final``: ``j i l m d(j|i,l,m)``."""
    return read_entries(path, 4, "j i l m d(j|i,l,m): four whole numbers and a probability")


def read_fertilities(path: str | PathLike[str]) -> Fertilities:
    """Read ``n3.final``: ``e n(0|e) n(1|e) ..``, as many on each line."""
    words: list[int] = []
    rows: list[list[float]] = []
    for number, line in whole_lines(path):
        fields = line.split()
        if not 2 < len(fields) <= _MOST_FERTILITIES or not _NUMBER.fullmatch(fields[0]):
            raise DataError(path, number, f"'{_shown(line)}' is not e n(0|e) n(1|e) ..: a word's number, probabilities")
        if rows and len(fields) != len(rows[0]) + 1:
            found = f"has {len(fields) - 1} probabilities, and the first line {len(rows[0])}"
            raise DataError(path, number, f"{found}; each word has as many")
        words.append(int(fields[0]))
        rows.append([_probability(path, number, field) for field in fields[1:]])
    if not rows:
        raise DataError(path, None, "is empty; expected lines of e n(0|e) n(1|e) ..")
    return Fertilities(np.array(words, np.int64), np.array(rows))


def read_p0(path: str | PathLike[str]) -> float:
    """Read ``p0_3.final``: one number."""
    rows = list(enumerate(files.lines(path), 1))  # GIZA++ does not end the line
    if len(rows) != 1:
        raise DataError(path, len(rows) or None, f"has {len(rows)} lines; expected one, the probability p0")
    return _probability(path, *rows[0])


def read_distances(path: str | PathLike[str], heads: bool) -> GizaDistances:
    """Read ``d4.final``, each table a line, or ``D4.final``, each a line of nine numbers and one of probabilities.

    Raises DataError: Besides, when distances depend on other things than classes (``-depM4`` other than 76).
    """
    observed: list[int] = []
    given: list[int] = []
    rows: list[list[float]] = []
    lines = whole_lines(path)
    for number, line in lines:
        fields = line.split()
        if not heads and len(fields) == 9:
            number, values = next(lines, (number, b""))
            fields += values.split()
        whole = all(_NUMBER.fullmatch(field.removeprefix(b"-")) for field in fields[:9])
        if len(fields) < 10 or not whole or len(fields) != 9 + int(fields[8]) or len(fields) % 2:
            raise DataError(path, number, f"'{_shown(line)}' is not {_DISTORTED}")
        if fields[0] != b"76":
            raise DataError(path, number, f"distances by -depM4 {int(fields[0])}; only 76, by classes, is known here")
        f, e = int(fields[3]), int(fields[4])
        if not 0 <= f < _MOST_CLASSES or not 0 <= e < _MOST_CLASSES or len(fields) > _MOST_DISTANCES:
            raise DataError(path, number, f"'{_shown(line)}' has a number out of range")
        if rows and len(fields) - 9 != len(rows[0]):
            raise DataError(path, number, f"has {len(fields) - 9} distances, and the table before {len(rows[0])}")
        observed.append(f)
        given.append(e)
        rows.append([_probability(path, number, field) for field in fields[9:]])
    size = len(rows[0]) if rows else 1
    return GizaDistances(np.array(observed, np.int64), np.array(given, np.int64), np.array(rows).reshape(-1, size))


def read_word_classes(path: str | PathLike[str]) -> dict[bytes, int]:
    """Read ``word class`` lines, as mkcls writes them: GIZA++'s numbers of the words' classes.

    It counts classes as it meets them, from 1; the class ``0`` is that of words without one.
    """
    numbers: dict[bytes, int] = {b"0": 0}
    found: dict[bytes, int] = {}
    for number, line in enumerate(files.lines(path), 1):
        fields = split_words(line)
        if len(fields) != 2:
            raise DataError(path, number, f"'{_shown(line)}' is not a word and its class")
        if fields[0] in found:
            raise DataError(path, number, f"the word '{_shown(fields[0])}' comes twice; each has one class")
        found[fields[0]] = numbers.setdefault(fields[1], len(numbers))
        if len(numbers) > _MOST_CLASSES:
            raise DataError(path, number, f"has over {_MOST_CLASSES} classes")
    return found


def read_settings(path: str | PathLike[str]) -> dict[str, str]:
    """Read ``name value`` lines (``.gizacfg``); names in lower case."""
    found = {}
    for line in files.text_lines(path):
        name, _, value = line.strip(" \t").partition(" ")
        if name:
            found[name.lower()] = value.strip(" \t")
    return found


def read_jumps(path: str | PathLike[str]) -> np.ndarray:
    """Read jumps of the HMM, in MGIZA's form: sums over all lines, of jumps from -100 to 100, float64 [201].

    A line is five numbers, the first and the last place, and ``place probability`` pairs. A place is the position
    before less the position.
    """
    sums = np.zeros(201)
    for number, line in whole_lines(path):
        fields = line.split()
        places = fields[7::2]
        whole = all(_NUMBER.fullmatch(field.removeprefix(b"-")) for field in [*fields[:7], *places])
        if len(fields) < 7 or len(fields) % 2 == 0 or not whole:
            raise DataError(
                path, number, f"'{_shown(line)}' is not seven numbers and pairs of a jump and a probability"
            )
        for place, field in zip(map(int, places), fields[8::2], strict=True):
            if abs(place) <= 100:
                sums[100 - place] += _weight(path, number, field)
    return sums


def read_first_positions(path: str | PathLike[str]) -> np.ndarray:
    """Read how probable first positions are, in MGIZA's form (``alpha``): of the last line, float64.

    A line is the length of a sentence, how many numbers follow, and these.
    """
    found = np.zeros(0)
    for number, line in whole_lines(path):
        fields = line.split()
        whole = len(fields) >= 2 and all(map(_NUMBER.fullmatch, fields[:2]))
        if not whole or len(fields) != 2 + int(fields[1]):
            raise DataError(path, number, f"'{_shown(line)}' is not a length, a number and so many probabilities")
        found = np.array([_weight(path, number, field) for field in fields[2:]])
    return found


def _weight(path: object, number: int, field: bytes) -> float:
    try:
        found = float(field)
    except ValueError:
        found = np.nan
    if not 0 <= found < np.inf:
        raise DataError(path, number, f"'{_shown(field)}' is not a number from 0 on")
    return found
