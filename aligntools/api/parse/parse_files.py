"""Texts with tags in files parsed: read in parts or line by line, and written with their trees."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from aligntools.api.given.annotated import Parsed
from aligntools.api.parse.parsed_files import SHOWN, ParsedFiles
from aligntools.api.parse.parsing import PART, Parser, Parses
from aligntools.api.running.annotating_blocks import Annotate, turned_note
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.annotation.tagged import stream_tags
from aligntools.formats.text.requests import Request, stream_requests
from aligntools.ground.running import Run
from aligntools.parsing.settings import ParserDecisions, ParserReading

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool


@dataclass(frozen=True)
class Note:
    """What is noted of a part: sentences that were not parsed and words with unknown tags, the first of each by number.

    Attributes
    ----------
    flat, unknown, turned : int
    first_flat, first_unknown : int or None
        Sentences, from 0.
    tags : dict of bytes to None
        The unknown ones, in order.
    """

    flat: int
    first_flat: int | None
    unknown: int
    first_unknown: int | None
    tags: dict[bytes, None]
    turned: int

    @classmethod
    def of(cls, found: Parses) -> "Note":
        """Note a part."""
        flat, unknown = np.flatnonzero(found.flat), np.flatnonzero(found.unknown_tags)
        sentences = np.searchsorted(found.source.offsets, unknown[:1], side="right").tolist()
        return cls(
            len(flat),
            int(flat[0]) if len(flat) else None,
            len(unknown),
            sentences[0] - 1 if sentences else None,
            dict.fromkeys(found.mapped_tags[k] for k in unknown.tolist()),
            found.turned,
        )


class Notes:
    """Sentences that were not parsed, and words with unknown tags: their number, and the first sentence of them."""

    def __init__(self) -> None:
        self.flat = self.unknown = self.turned = 0
        self.first_flat: str | None = None
        self.first_unknown: str | None = None
        self.tags: dict[bytes, None] = {}  # the first few tags: there may be ever more

    def take(self, path: str, before: int, note: Note) -> None:
        """Add what is noted of a part of a text that has ``before`` sentences before it."""
        self.turned += note.turned
        if note.first_flat is not None:
            self.flat += note.flat
            self.first_flat = self.first_flat or f"{path}, sentence {before + note.first_flat + 1}"
        if note.first_unknown is not None:
            self.unknown += note.unknown
            if len(self.tags) < SHOWN:
                self.tags |= note.tags
            self.first_unknown = self.first_unknown or f"{path}, sentence {before + note.first_unknown + 1}"

    def lines(self) -> list[str]:
        """Return what was noted, in lines."""
        found = [note] if (note := turned_note(self.turned, "parser")) else []
        if self.flat:
            found.append(f"warning: {self.flat} sentences over `max_length` have flat trees ({self.first_flat})")
        if self.unknown:
            shown = " ".join(tag.decode("utf-8", "replace") for tag in list(self.tags)[:SHOWN])
            found.append(
                f"warning: {self.unknown} words have tags that the parser has never seen ({shown}; first in"
                f" {self.first_unknown}); see `column` and `map`"
            )
        return found


@dataclass(frozen=True)
class Found:
    """A part of a text with its trees, as CoNLL; how many words it has, and what is noted of it."""

    written: bytes
    words: int
    note: Note


def _parse(decisions: ParserDecisions, reading: ParserReading, parser: Parser, text: Parsed, pool: "Pool") -> Found:
    """Parse a part of a text."""
    found = parser.parse_text(text, decisions, reading=reading, run=Run(threads=pool))
    return Found(found.format(), len(found.heads), Note.of(found))


@dataclass
class Parsing(ParsedFiles[Parser, Found]):
    """Texts in files, and what is to be done with them."""

    decisions: ParserDecisions
    reading: ParserReading

    def __post_init__(self) -> None:
        super().__post_init__()
        self._notes = Notes()

    def _load(self) -> Parser:
        """Load the parser; warn of trees that it finds badly."""
        parser = Parser.load(self.files.model, verify=self.verify)
        column_place(parser.column if self.reading.column is None else self.reading.column)
        if self.decisions.projective is False and parser.projective and not parser.unsupervised:
            self.watch.say(
                "warning: the parser was trained on projective trees; among all trees it finds worse ones (train it"
                " with `projective=False` for them)"
            )
        return parser

    def _work(self) -> Annotate:
        return partial(_parse, self.decisions, self.reading)

    def _requests(self, path: str, parser: Parser) -> Iterator[Request]:
        return stream_requests(path, self.reading.format, self.reading.mark, tags=True)

    def _parts(self, path: str, parser: Parser) -> Iterable[Parsed]:
        return stream_tags(path, self.reading.format, self.reading.mark, PART, column=self.reading.column)

    def _note(self, path: str, before: int, found: Found) -> None:
        self._notes.take(path, before, found.note)

    def _lines(self) -> list[str]:
        return self._notes.lines()
