"""Documents: sentences a line, with blank lines between paragraphs and lines that mark the same places in both."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aligntools.formats.annotation.as_plain_text import refuse_file
from aligntools.formats.opening import files
from aligntools.formats.text.memory_text import TextLines, name_of
from aligntools.ground.errors import DataError

#: What it costs to have the sentences around a blank line in one group (natural logarithm).
BORDER = 3.0


@dataclass(frozen=True, eq=False)
class SentenceDocument:
    """The sentences of a document.

    name: What messages call it.
    lines: The sentences, as they stand in the text.
    numbers: The line of each, from 0: blank lines and marks count.
    costs (float64 [sentences + 1]): What it costs to have the sentences on both sides of a place in one group.
    marks: How many sentences stand before each mark.
    """

    name: str
    lines: list[str]
    numbers: list[int]
    costs: np.ndarray
    marks: list[int]

    def text(self, sentences: Iterable[int]) -> str:
        """Return sentences, with spaces between."""
        return " ".join(self.lines[k].strip(" \t\r") for k in sentences)


def read_document(document: str | Path | Iterable[str], name: str, mark: str | None = None) -> SentenceDocument:
    """Read a document from a file, or from the lines of one.

    mark: A line that is this alone is no sentence; it stands at the same place of both documents.
    Raises DataError when a file cannot be read, or holds no plain text.
    """
    lines: list[str] = []
    numbers: list[int] = []
    marks: list[int] = []
    borders: set[int] = set()
    for number, line in enumerate(_lines(document, name)):
        if mark is not None and line.strip(" \t\r") == mark:
            marks.append(len(lines))
        elif not line.strip(" \t\r"):
            borders.add(len(lines))
        else:
            lines.append(line)
            numbers.append(number)
    costs = np.zeros(len(lines) + 1)
    costs[[k for k in borders if 0 < k < len(lines)]] = BORDER
    return SentenceDocument(name_of(document, name), lines, numbers, costs, marks)


def _lines(document: str | Path | Iterable[str], name: str) -> Iterator[str]:
    if isinstance(document, str | os.PathLike):
        if files.is_regular(document):
            refuse_file(str(document))
        yield from files.text_lines(document)
        return
    for line in TextLines(document, name):
        yield line.decode("utf-8", "surrogateescape").removesuffix("\n")


def common_places(source: SentenceDocument, target: SentenceDocument, mark: str) -> np.ndarray:
    """Return where the marks of both documents stand (int64 [places, 2]), each place once.

    Raises DataError when one of them has more marks than the other.
    """
    if len(source.marks) != len(target.marks):
        first, second = (f"{len(one.marks)} lines '{mark}'" for one in (source, target))
        problem = f"{first}, but {target.name} has {second}; both need the same marks"
        raise DataError(source.name, None, problem)
    found = sorted(set(zip(source.marks, target.marks, strict=True)))
    return np.array(found, np.int64).reshape(-1, 2)
