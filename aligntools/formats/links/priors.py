"""Priors of alignment models in eflomal's form: counts of links, fertilities and jumps, one a line, tab-separated.

``LEX source target alpha`` is a link between two words, ``FERF source n alpha`` a source word with n links,
``FERR target n alpha`` a target word with n links, ``HMMF jump alpha`` and ``HMMR jump alpha`` a jump between linked
words, forward and reverse. ``<NULL>`` is the word that words without a link are linked to. A file may have some of
these kinds alone, in any order.
"""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import as_number
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import shown
from aligntools.words.vocabulary import Vocabulary
from aligntools.words.white_space import is_blank, tell_unwritten, whole_words

_log = logging.getLogger("aligntools")

#: How NULL, id 0 of every vocabulary, is called in files.
NULL = b"<NULL>"
#: Kinds of lines with two columns before the number; those with one.
PAIRS, JUMPS = ("LEX", "FERF", "FERR"), ("HMMF", "HMMR")
_KINDS = {kind.encode(): kind for kind in PAIRS + JUMPS}
_FORMS = {
    "LEX": "LEX, a source word, a target word and a number",
    "FERF": "FERF, a source word, how many links and a number",
    "FERR": "FERR, a target word, how many links and a number",
    "HMMF": "HMMF, a jump and a number",
    "HMMR": "HMMR, a jump and a number",
}
#: Largest fertility and jump, and largest count that are read.
_MOST, _MUCH = 1_000_000, 1e15
_WRITE = 1 << 17  # lines formatted at a time


@dataclass(frozen=True, eq=False)
class Counted:
    """Pseudo-counts of distinct keys, in ascending order.

    keys (int32 [n, columns]): Word ids, fertilities or jumps.
    """

    keys: np.ndarray
    alphas: np.ndarray

    def __len__(self) -> int:
        return len(self.alphas)

    @classmethod
    def of(cls, columns: Sequence[np.ndarray], alphas: np.ndarray) -> "Counted":
        """Sort by the columns, the first one first; the numbers of keys that come several times add."""
        keys = np.empty((len(alphas), len(columns)), np.int32)
        for k, column in enumerate(columns):
            keys[:, k] = column
        alphas = np.asarray(alphas, np.float64)
        if len(alphas) < 2:
            return cls(keys, alphas)
        whole = keys[:, 0].astype(np.int64)
        for k in range(1, keys.shape[1]):
            whole = (whole << 32) + keys[:, k]
        if not np.all(whole[1:] > whole[:-1]):
            order = np.argsort(whole, kind="stable")
            whole = whole[order]
            first = np.flatnonzero(np.append(True, whole[1:] != whole[:-1]))
            keys, alphas = keys[order[first]], np.add.reduceat(alphas[order], first)
        return cls(keys, alphas)

    @classmethod
    def none(cls, columns: int) -> "Counted":
        """Return no counts."""
        return cls(np.empty((0, columns), np.int32), np.empty(0))


@dataclass(frozen=True, eq=False)
class Priors:
    """Counts of links, fertilities and jumps, with the words that they are of; id 0 is NULL.

    Columns of ``lexical`` are source word and target word, of fertilities word and number of links, in the forward and
    in the reverse direction; of jumps the distance between the positions of consecutive linked words.
    """

    source_vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary.from_words([]))
    target_vocabulary: Vocabulary = field(default_factory=lambda: Vocabulary.from_words([]))
    lexical: Counted = field(default_factory=lambda: Counted.none(2))
    source_fertilities: Counted = field(default_factory=lambda: Counted.none(2))
    target_fertilities: Counted = field(default_factory=lambda: Counted.none(2))
    forward_jumps: Counted = field(default_factory=lambda: Counted.none(1))
    reverse_jumps: Counted = field(default_factory=lambda: Counted.none(1))

    def tables(self) -> dict[str, Counted]:
        """Return the counts by the kind of their lines, in the order of files."""
        fertilities = self.source_fertilities, self.target_fertilities
        return dict(zip(_FORMS, (self.lexical, *fertilities, self.forward_jumps, self.reverse_jumps), strict=True))

    def believed(self, share: float) -> "Priors":
        """Return the same with links of words that count for so much; without these for 0."""
        table = self.lexical
        return replace(self, lexical=Counted(table.keys, table.alphas * share) if share else Counted.none(2))

    def __len__(self) -> int:
        return sum(map(len, self.tables().values()))

    def __repr__(self) -> str:
        return f"<Priors: {', '.join(f'{len(table)} {kind}' for kind, table in self.tables().items())}>"


def combined(parts: Iterable[Priors]) -> Priors:
    """Add priors: the numbers of what several of them have add."""
    builder = _Builder()
    for part in parts:
        words = [list(_names(v)) for v in (part.source_vocabulary, part.target_vocabulary)]
        for kind, table in part.tables().items():
            columns = [table.keys[:, k] for k in range(table.keys.shape[1])]
            if kind in PAIRS:
                side = 1 if kind == "FERR" else 0
                columns[0] = builder.number(side, words[side])[table.keys[:, 0]]
            if kind == "LEX":
                columns[1] = builder.number(1, words[1])[table.keys[:, 1]]
            builder.add(kind, columns, table.alphas)
    return builder.finish()


def priors_of(
    lexical: Iterable[tuple[Any, ...]] = (),
    source_fertilities: Iterable[tuple[Any, ...]] = (),
    target_fertilities: Iterable[tuple[Any, ...]] = (),
    forward_jumps: Iterable[tuple[Any, ...]] = (),
    reverse_jumps: Iterable[tuple[Any, ...]] = (),
) -> Priors:
    """Make priors of Python objects."""
    builder = _Builder()
    given = (lexical, source_fertilities, target_fertilities, forward_jumps, reverse_jumps)
    for kind, rows in zip(PAIRS + JUMPS, given, strict=True):
        fields = [tuple(str(value).encode("utf-8", "surrogatepass") for value in row) for row in rows]
        for k, row in enumerate(fields, 1):
            _check_row(kind, row, f"<{kind}>", k)
        builder.take(kind, list(zip(*fields, strict=True)))
    return builder.finish()


def read_priors(path: object) -> Priors:
    """Read priors; what comes several times adds."""
    builder = _Builder()
    line = 1
    for block in files.blocks_of_lines(path):
        files.check_utf8(block, path, line)
        block += b"" if block.endswith(b"\n") else b"\n"
        # all at once where each line has three fields behind the same kind; else line by line, to name what is wrong
        fields = block.replace(b"\n", b"\t\n\t").split(b"\t")
        kinds, rows = set(fields[:-1:5]), block.count(b"\n")
        even = len(fields) == 5 * rows + 1 and set(fields[4::5]) == {b"\n"} and len(kinds) == 1
        kind = _KINDS.get(kinds.pop(), "") if even and b"" not in fields[1::5] and b"" not in fields[2::5] else ""
        if kind not in PAIRS or not builder.take(kind, (fields[1::5], fields[2::5], fields[3::5])):
            found: dict[str, list[list[bytes]]] = {kind: [] for kind in PAIRS + JUMPS}
            for number, row in enumerate(block.split(b"\n")[:-1], line):
                if not is_blank(row):
                    kind, own = row_of(row.removesuffix(b"\r"), path, number)
                    found[kind].append(own)
            for kind, own_rows in found.items():
                builder.take(kind, list(zip(*own_rows, strict=True)))
        line += rows
    priors = builder.finish()
    if not len(priors):
        _log.warning("%s has no counts", path)
    return priors


def row_of(row: bytes, path: object, line: int) -> tuple[str, list[bytes]]:
    """Return the kind of a line, without its end, and its other fields."""
    name, *fields = row.split(b"\t")
    kind = _KINDS.get(name)
    if kind is None:
        known = ", ".join(PAIRS + JUMPS)
        raise DataError(path, line, f"'{shown(row)}' does not begin with {known} and a tab")
    _check_row(kind, fields, path, line)
    return kind, fields


def _check_row(kind: str, fields: Sequence[bytes], path: object, line: int) -> None:
    """Raise the error of a line's fields, if they have one."""
    row = b" ".join([kind.encode(), *fields])[:60].decode("utf-8", "replace")
    columns = 2 if kind in PAIRS else 1
    words = {"LEX": fields[:2], "FERF": fields[:1], "FERR": fields[:1]}.get(kind, [])
    if len(fields) != columns + 1 or b"" in words:
        raise DataError(path, line, f"'{row}' is not {_FORMS[kind]}, with tabs between them")
    if kind != "LEX":
        what, least = ("a jump", -_MOST) if kind in JUMPS else ("a number of links", 0)
        try:
            fine = least <= int(fields[-2]) <= _MOST
        except ValueError:
            fine = False
        if not fine:
            raise DataError(path, line, f"'{shown(fields[-2])}' is not {what}, in '{row}'")
    if not 0 <= as_number(fields[-1]) <= _MUCH:
        value = shown(fields[-1])
        raise DataError(path, line, f"'{value}' is not a count from 0 to {_MUCH:g}, in '{row}'")


class _Builder:
    """Priors while they are read: words are numbered in order of occurrence, counts are kept in arrays."""

    def __init__(self) -> None:
        self._ids: tuple[dict[bytes, int], dict[bytes, int]] = ({NULL: 0}, {NULL: 0})
        self._parts: dict[str, list[tuple[list[np.ndarray], np.ndarray]]] = {kind: [] for kind in PAIRS + JUMPS}

    def number(self, side: int, words: Sequence[bytes]) -> np.ndarray:
        """Return the ids of words of side 0 (source) or 1, new ones for those that are new."""
        ids = self._ids[side]
        return np.fromiter((ids.setdefault(word, len(ids)) for word in words), np.int32, len(words))

    def take(self, kind: str, columns: Sequence[Sequence[bytes]]) -> bool:
        """Add lines of one kind, as columns of bytes; False, and nothing is added, if a number is none."""
        if not columns:
            return True
        try:
            alphas = np.array(list(map(float, columns[-1])), np.float64)
            numbers = None if kind == "LEX" else np.array(list(map(int, columns[-2])), np.int64)
        except (ValueError, OverflowError):
            return False
        least = -_MOST if kind in JUMPS else 0
        if not np.all((alphas >= 0) & (alphas <= _MUCH)):
            return False
        if numbers is not None and (numbers.min() < least or numbers.max() > _MOST):
            return False
        if kind in JUMPS and numbers is not None:
            self.add(kind, [numbers], alphas)
            return True
        first = self.number(1 if kind == "FERR" else 0, columns[0])
        self.add(kind, [first, self.number(1, columns[1]) if numbers is None else numbers], alphas)
        return True

    def add(self, kind: str, columns: list[np.ndarray], alphas: np.ndarray) -> None:
        """Add lines of one kind, as columns of numbers."""
        self._parts[kind].append(([np.asarray(column, np.int32) for column in columns], alphas))

    def finish(self) -> Priors:
        """Return what was added."""
        tables = []
        for kind in PAIRS + JUMPS:
            parts = self._parts.pop(kind)
            width = 2 if kind in PAIRS else 1
            columns = [np.concatenate([part[k] for part, _ in parts] or [np.empty(0, np.int32)]) for k in range(width)]
            tables.append(Counted.of(columns, np.concatenate([alphas for _, alphas in parts] or [np.empty(0)])))
        source, target = (Vocabulary.from_bytes(list(islice(ids, 1, None))) for ids in self._ids)
        return Priors(source, target, *tables)


def _names(vocabulary: Vocabulary) -> list[bytes]:
    """Return the words of a vocabulary as files have them, NULL first."""
    return [NULL, *(word.encode("utf-8", "surrogatepass") for word in vocabulary.words()[1:])]


def format_priors(priors: Priors) -> Iterator[bytes]:
    """Yield the lines of a file in blocks, sorted and rounded (``%g``) as eflomal writes them."""
    names = _names(priors.source_vocabulary), _names(priors.target_vocabulary)
    fine = [whole_words(words) for words in names]
    ranks, left_out = [], 0
    for words in names:
        rank = np.empty(len(words), np.int64)
        rank[np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)] = np.arange(len(words))
        ranks.append(rank)
    for kind, table in priors.tables().items():
        sides = {"LEX": (0, 1), "FERF": (0,), "FERR": (1,)}.get(kind, ())
        columns = [table.keys[:, k] for k in range(table.keys.shape[1])]
        sorting = [ranks[sides[k]][column] if k < len(sides) else column for k, column in enumerate(columns)]
        order = np.lexsort(sorting[::-1])
        whole = np.logical_and.reduce([fine[side][table.keys[order, k]] for k, side in enumerate(sides)], initial=True)
        left_out += int(np.count_nonzero(~whole)) if sides else 0
        order = order[whole] if sides else order
        for begin in range(0, len(order), _WRITE):
            rows = order[begin : begin + _WRITE]
            fields: list[Iterable[bytes]] = []
            for k, column in enumerate(columns):
                values = column[rows].tolist()
                fields.append(map(names[sides[k]].__getitem__, values) if k < len(sides) else _formatted("%d", values))
            values, places = np.unique(table.alphas[rows], return_inverse=True)
            numbers = _formatted("%g", values.tolist())
            fields.append(map(numbers.__getitem__, places.tolist()))
            start = kind.encode() + b"\t"
            yield b"".join([start + b"\t".join(row) + b"\n" for row in zip(*fields, strict=True)])
    tell_unwritten(left_out)


def _formatted(form: str, values: list[float]) -> list[bytes]:
    return [(form % value).encode() for value in values]


def write_priors(path: str | os.PathLike[str], priors: Priors) -> None:
    """Write priors."""
    with files.writing(path) as file:
        file.writelines(format_priors(priors))
