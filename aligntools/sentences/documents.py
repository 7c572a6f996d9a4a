"""Documents: their sentences, with borders of paragraphs and marks of the same places in both."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from aligntools.formats.annotation.raw_text import decoded_lines
from aligntools.formats.annotation.tagged_text import refuse_file
from aligntools.formats.markup import documents as markup
from aligntools.formats.markup.docx import Docx
from aligntools.formats.markup.segments import BrokenSegment, one_spaced
from aligntools.formats.markup.usfm import parse_usfm
from aligntools.formats.markup.webpages import Page
from aligntools.formats.opening import files
from aligntools.formats.opening.recognition import ARCHIVE
from aligntools.formats.text.bitext import TextLines, name_of
from aligntools.ground.errors import DataError
from aligntools.sentences.band import chain
from aligntools.words.vocabulary import split_words

_log = logging.getLogger("aligntools")
#: What it costs to have the sentences around a blank line, or a place that is the same, in one group (logarithms).
BORDER, NEVER = 3.0, 1000.0
_SPACES = " \t\r"
_COLUMN = re.compile(r"[1-9]")
_PAGE = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)[\s>]", re.I | re.S)
_USFM = re.compile(rb"\s*\\id\s")
#: USFM's markers whose lines are about the file, not text; those that are no verse's, of chapters and headings.
_ABOUT = re.compile(r"\\(?:id|ide|usfm|sts|rem|h\d?|toca?\d|ts)\b")
_PARAGRAPH = re.compile(r"\\(?!v\b)")
_HEADING = re.compile(r"\\(?:c|m?s\d?|mt\d?|mte\d?|imt\d?|r|mr|d|sp|qa|cl|cd)\b")


@dataclass(eq=False)
class SentenceDocument:
    """The sentences of a document, as they are in the text; ``name`` is what messages call it.

    numbers: The line of each, from 0; of text that was split, web pages, DOCX and USFM the number of the sentence.
    marks: What is marked, and how many sentences are before it; borders: How many are before each border of paragraphs.
    """

    name: str
    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    marks: list[tuple[str, int]] = field(default_factory=list)
    borders: set[int] = field(default_factory=set)

    @property
    def costs(self) -> np.ndarray:
        """What it costs to have the sentences on both sides of a place in one group, float64 [sentences + 1]."""
        costs = np.zeros(len(self.lines) + 1)
        costs[[k for k in self.borders if 0 < k < len(self.lines)]] = BORDER
        return costs

    def text(self, sentences: Iterable[int]) -> str:
        """Return sentences, with spaces between."""
        return " ".join(self.lines[k].strip(_SPACES) for k in sentences)

    def sentences(self, numbers: Iterable[int]) -> str:
        """Return sentences, a line each."""
        return "".join(self.text([k]) + "\n" for k in numbers)

    def mark(self, name: str) -> None:
        """Mark what comes next."""
        self.marks.append((name, len(self.lines)))

    def border(self) -> None:
        """Set a border before what comes next."""
        self.borders.add(len(self.lines))

    def add(self, sentences: Iterable[str], number: int | None = None) -> None:
        """Add sentences of a line, but blank ones; they are numbered by themselves where no number is given."""
        for sentence in sentences:
            if sentence.strip(_SPACES):
                self.numbers.append(len(self.lines) if number is None else number)
                self.lines.append(sentence)


def read_document(
    document: str | Path | Iterable[str],
    name: str,
    mark: str | None = None,
    split: Callable[[str], list[str]] | None = None,
) -> SentenceDocument:
    """Read a document's file or lines: HTML and DOCX by blocks, USFM by verses, which are marks too.

    mark: A line that is this alone is no sentence but a place of both documents; a number is the column that has an id.
    split: Cuts paragraphs into sentences. Lines without a blank line between are one paragraph where a text has blank
        lines; in others each line is one.
    """
    read = SentenceDocument(name_of(document, name))
    cut = split or (lambda text: [text])
    kind = _kind(document)
    if kind == "plain" and column_of(mark):
        _read_columns(read, _lines(document, name, table=True), name_of(document, name), column_of(mark), split)
    elif kind == "plain":
        _read_lines(read, _lines(document, name), mark, split)
    elif kind == "usfm":
        _read_usfm(read, document, cut)
    else:
        found = markup.read_document(document)
        if not isinstance(found, Docx | Page):
            raise DataError(document, None, "is no document of HTML or DOCX; `align -i` reads TMX and XLIFF")
        for paragraph in found.plain():
            read.add(cut(paragraph))
            read.border()
    return read


def _kind(document: object) -> str:
    if not isinstance(document, str | os.PathLike) or not files.is_regular(document):
        return "plain"
    with files.reading_bytes(document, archive=True) as file:
        first = file.read(1 << 12)
    if first.startswith(ARCHIVE):
        return "docx"
    if _PAGE.match(first.removeprefix(b"\xef\xbb\xbf")):
        return "html"
    return "usfm" if _USFM.match(first.removeprefix(b"\xef\xbb\xbf")) else "plain"


def _lines(document: str | Path | Iterable[str], name: str, table: bool = False) -> Iterator[str]:
    if isinstance(document, str | os.PathLike):
        if files.is_regular(document) and not table:
            refuse_file(str(document))
        yield from decoded_lines(document, files.lines(document))
        return
    for line in decoded_lines(name, TextLines(document, name)):
        yield line.removesuffix("\n")


def _read_lines(
    read: SentenceDocument, lines: Iterator[str], mark: str | None, split: Callable[[str], list[str]] | None
) -> None:
    """Read plain text: a sentence a line, or paragraphs that are split."""
    whole = list(lines) if split else []
    blank = any(not line.strip(_SPACES) for line in islice(whole, max(0, len(whole) - 1)))
    paragraph: list[str] = []

    def end() -> None:
        if split and paragraph:
            read.add(split(one_spaced(" ".join(paragraph))))
            paragraph.clear()

    for number, line in enumerate(whole if split else lines):
        if mark is not None and line.strip(_SPACES) == mark:
            end()
            read.mark(str(len(read.marks)))
        elif not line.strip(_SPACES):
            end()
            read.border()
        elif split:
            paragraph.append(line)
            if not blank:
                end()
                read.border()
        else:
            read.add([line], number)
    end()


def column_of(mark: str | None) -> int:
    """Return the number of the column with ids that is asked for; 0 where none is."""
    return int(mark) if mark is not None and _COLUMN.fullmatch(mark) else 0


def _read_columns(
    read: SentenceDocument, lines: Iterator[str], name: str, column: int, split: Callable[[str], list[str]] | None
) -> None:
    """Read lines of an id and a sentence, or a paragraph that is split: where ids begin, they are marks."""
    before = None
    for number, line in enumerate(lines):
        fields = line.removesuffix("\r").split("\t")
        if not line.strip(_SPACES):
            read.border()
            continue
        if len(fields) != 2 or column > 2:
            problem = f"{len(fields)} columns; `anchors={column}` reads an id and a sentence with a tab between"
            raise DataError(name, number + 1, problem)
        own = fields.pop(column - 1).strip(_SPACES)
        if own and own != before:
            read.mark(own)
        before = own
        read.add(split(one_spaced(fields[0])) if split else fields, None if split else number)


def _read_usfm(read: SentenceDocument, path: str | Path | Iterable[str], cut: Callable[[str], list[str]]) -> None:
    """Read USFM: verses, and headings; chapters and verses are marks, paragraphs between verses borders."""
    chapter, text, fresh = "", list[str](), False

    def end() -> None:
        read.add(cut(one_spaced(" ".join(text))))
        text.clear()

    for number, line in enumerate(_lines(path, ""), 1):
        line = line.strip(_SPACES)
        if _ABOUT.match(line):
            continue
        try:
            segment = parse_usfm(line)
        except BrokenSegment as error:
            raise DataError(path, number, str(error)) from None
        heading, at = bool(_HEADING.match(line)), 0
        fresh = fresh or bool(_PARAGRAPH.match(line))
        if heading:
            end()
            read.border()
        for one in sorted((one for one in segment.marks if one.name in ("c", "v")), key=lambda one: one.begin):
            text.append(segment.text[at : one.begin].strip(_SPACES))
            at = one.begin
            fresh = fresh and not text[-1]
            end()
            if fresh:
                read.border()
            fresh = False
            _, said, *_ = [*split_words(one.opening), "", ""]
            chapter = said if one.name == "c" else chapter
            read.mark(chapter if one.name == "c" else f"{chapter}:{said}")
        text.append(segment.text[at:].strip(_SPACES))
        if heading:
            end()
            read.border()
    end()


def common_places(source: SentenceDocument, target: SentenceDocument, mark: str | None) -> np.ndarray | None:
    """Return the places that both documents mark, int64 [places, 2], the most that are in one order; or None.

    mark: Marks that count by their number, of which both documents need as many; others are known by their names.
    """
    if mark is not None and not column_of(mark) and len(source.marks) != len(target.marks):
        first, second = (f"{len(one.marks)} lines '{mark}'" for one in (source, target))
        problem = f"{first}, but {target.name} has {second}; both need the same marks"
        raise DataError(source.name, None, problem)
    there, own = dict(reversed(target.marks)), dict(reversed(source.marks))
    found = {(place, there[name]) for name, place in own.items() if name in there}
    if not found and mark is not None:
        what = "id in common" if column_of(mark) else f"line '{mark}'"
        _log.warning("%s and %s have no %s", source.name, target.name, what)
    if not found and (mark is None or column_of(mark)):
        return None
    return chain(np.array(sorted(found), np.int64).reshape(-1, 2), ties=True)


def with_places(document: SentenceDocument, places: Sequence[int]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return a document's sentences with an empty one at each place, which groups can hardly have with others.

    Also which sentence each line is, -1 at places (int64 [lines]), and costs (float64 [lines + 1]).
    """
    numbers = np.insert(np.arange(len(document.lines)), places, -1)
    costs = np.append(document.costs[numbers], 0.0)
    at = np.flatnonzero(numbers < 0)
    costs[at] = costs[at + 1] = NEVER
    return [document.lines[k] if k >= 0 else "" for k in numbers.tolist()], numbers, costs
