"""Gold alignments: sure and possible links, in Pharaoh text or the numbered lines of the 2003 workshop."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aligntools.formats.links.pharaoh import Links, check_base, tokenize_links
from aligntools.formats.opening import files
from aligntools.formats.opening.files import FOR_OBJECTS
from aligntools.formats.opening.json_text import as_number
from aligntools.ground.errors import DataError, UsageProblem

FORMATS = ("pharaoh", "naacl")

_PHARAOH = re.compile(rb"\d{1,9}[-?pP]\d{1,9}")
_NUMBER = re.compile(rb"#[1-9]\d{0,8}")
_NAACL = re.compile(rb"\d{1,9}[ \t]+\d{1,9}[ \t]+\d{1,9}([ \t]|$)")


@dataclass(eq=False)
class Gold:
    """Gold links of the first sentences of a corpus.

    sure, possible: Every sure link is possible too.
    first_sentence: Number that the file gives to the first sentence; 1 in Pharaoh text.
    null_links: Links to position 0, NULL in the numbered format, that were dropped.
    numbers (int64 [sentences] or None): Lines of the corpus, from 1, that the sentences are; None: the first ones.
    """

    sure: Links
    possible: Links
    format: str
    index_base: int
    first_sentence: int = 1
    null_links: int = 0
    numbers: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.possible)

    def all_sure(self) -> "Gold":
        """Return the gold with every possible link taken as sure."""
        return replace(self, sure=self.possible)

    def ignore_possible(self) -> "Gold":
        """Return the gold without the links that are only possible."""
        return replace(self, possible=self.sure)

    @property
    def rows(self) -> np.ndarray:
        """Which sentences of the corpus have gold links, counted from 0 [shape=(sentences,), dtype=int64]."""
        return np.arange(len(self)) if self.numbers is None else self.numbers - 1

    @property
    def reach(self) -> int:
        """How many sentences the corpus must have."""
        return len(self) if self.numbers is None else int(self.numbers[-1])


def read_gold(path: str, **how: Any) -> Gold:
    """Read gold links; see `parse_gold`."""
    with files.reading(path, FOR_OBJECTS) as file:
        return parse_gold(file.read(), path=path, **how)


def parse_gold(
    data: bytes,
    *,
    path: str = "-",
    format: str = "auto",
    index_base: int | None = None,
    first_sentence: int | None = None,
    sentences: int | None = None,
) -> Gold:
    """Read gold links from a file's contents; docs/reference/formats.md shows both formats.

    format: ``pharaoh``, ``naacl`` or ``auto``, which goes by the first line that is not blank.
    index_base: What the first word is called; None is 0 in Pharaoh text, 1 otherwise.
    first_sentence: Of ``naacl``, the number of the corpus's first pair; None works it out from ``sentences``, its size.
    """
    data, numbers = _without_ids(path, data)
    if format == "auto":
        line, row = next(((n, row) for n, row in enumerate(data.split(b"\n"), 1) if row.strip()), (0, b""))
        if not line:
            raise DataError(path, None, "has no gold links")
        format = "naacl" if _NAACL.match(row.lstrip()) else "pharaoh"
        if format == "pharaoh" and not all(_PHARAOH.fullmatch(token) for token in row.split()):
            expected = "links such as 3-4 and 3?5, or lines such as '1 4 5 S'"
            raise DataError(path, line, f"'{files.start_of(row)}' is not a gold alignment ({expected})")
    if format == "pharaoh":
        if first_sentence is not None:
            raise UsageProblem(f"`first_sentence` is of numbered gold (`gold_format=naacl`); {path} is Pharaoh text")
        return replace(_read_pharaoh(path, data, index_base or 0), numbers=numbers)
    if index_base == 0:
        raise UsageProblem("the numbered gold format counts words from 1; 0 is NULL there")
    return _read_naacl(path, data, first_sentence, sentences)


def _without_ids(path: str, data: bytes) -> tuple[bytes, np.ndarray | None]:
    """Return lines without ids before a tab, if the first one has one; and the numbers of lines that ids say."""
    first = next((row for row in data.split(b"\n") if row.strip()), b"")
    name, tab, links = first.partition(b"\t")
    is_links = [all(_PHARAOH.fullmatch(token) for token in part.split()) for part in (name, links)]
    if not tab or is_links != [False, True]:
        return data, None
    rows, ids = data.split(b"\n"), []
    for line, row in enumerate(rows, 1):
        id, tab, rows[line - 1] = row.partition(b"\t")
        ids.append(id)
        if row.strip() and not tab:
            problem = f"'{files.start_of(row)}' has no id and tab before its links, as the lines before it have"
            raise DataError(path, line, problem)
    if not _NUMBER.fullmatch(name):
        return b"\n".join(rows), None
    numbers = [0]
    for line, id in enumerate(ids[: len(ids) - (not ids[-1])], 1):
        if not _NUMBER.fullmatch(id) or int(id[1:]) <= numbers[-1]:
            problem = f"'{files.start_of(id)}' is not the number of a later line, as in '#{numbers[-1] + 1}'"
            raise DataError(path, line, problem)
        numbers.append(int(id[1:]))
    return b"\n".join(rows), np.array(numbers[1:])


def _read_pharaoh(path: str, data: bytes, index_base: int) -> Gold:
    tokens = tokenize_links(data, b"-?pP")
    if tokens is None:
        rows = ((line, re.split(rb"[ \t\r]+", row)) for line, row in enumerate(data.split(b"\n"), 1))
        bad = ((line, one) for line, row in rows for one in row if one and not _PHARAOH.fullmatch(one))
        number, token = next(bad, (None, b""))
        problem = f"'{files.start_of(token)}' is not a gold link (3-4 is sure, 3?4 or 3p4 possible)"
        raise DataError(path, number, problem)
    pairs, marks, offsets = tokens
    possible = Links(pairs, offsets)
    if index_base:
        check_base(possible, path=path)
        pairs -= np.int32(index_base)
    sure = np.flatnonzero(marks == ord("-"))
    return Gold(Links(pairs[sure], np.searchsorted(sure, offsets)).sorted(), possible.sorted(), "pharaoh", index_base)


def _read_naacl(path: str, data: bytes, first_sentence: int | None, sentences: int | None) -> Gold:
    found: list[tuple[int, int, int, bool]] = []
    null_links = 0
    for line, row in enumerate(data.split(b"\n"), 1):
        fields = row.split()
        if not fields:
            continue
        flags = [field.upper() for field in fields[3:4] if field in (b"S", b"P", b"s", b"p")]
        rest = fields[3 + len(flags) :]
        sound = len(fields) >= 3 and all(f.isdigit() and len(f) < 10 for f in fields[:3]) and len(rest) < 2
        if not sound or not all(as_number(field) >= 0 for field in rest):
            problem = f"'{files.start_of(row).strip()}' is not 'sentence source target [S|P] [confidence]'"
            raise DataError(path, line, problem)
        number, i, j = map(int, fields[:3])
        if i == 0 or j == 0:
            null_links += 1
            continue
        found.append((number, i - 1, j - 1, flags != [b"P"]))
    if not found:
        raise DataError(path, None, "has no gold links")
    table = np.array(sorted(found))
    lowest, last = table[[0, -1], 0].tolist()
    if first_sentence is not None:
        first = first_sentence
        if lowest < first:
            raise DataError(path, None, f"has a sentence {lowest}, which is before the first sentence, {first}")
    elif lowest == 1 or sentences == last:
        first = 1
    elif lowest == 0 or sentences == last - lowest + 1:
        first = lowest
    else:
        problem = f"sentence numbers run from {lowest} to {last}: give the number of the corpus's first line"
        raise DataError(path, None, f"{problem} (`first_sentence={lowest}`, or 1?)")
    sure, possible = (
        Links(rows[:, 1:3].astype(np.int32), np.searchsorted(rows[:, 0], np.arange(first, last + 2))).sorted()
        for rows in (table[table[:, 3] == 1], table)
    )
    return Gold(sure, possible, "naacl", 1, first, null_links)
