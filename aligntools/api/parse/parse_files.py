"""Texts with tags in files parsed: read in parts or line by line, and written with their trees."""

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from aligntools.api.given.annotated import Parsed
from aligntools.api.parse.parsing import PART, Parser, Parses
from aligntools.api.running.annotating_blocks import annotated, parts_of, turned_note
from aligntools.api.running.answering import Unanswered, answer, check_unbuffered
from aligntools.api.running.engines import mapping_if_asked
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import LineWatch
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.annotation.tagged import stream_tags
from aligntools.formats.opening.files import Output, writing
from aligntools.formats.text.requests import stream_requests
from aligntools.ground.running import Run
from aligntools.parsing.settings import ParserDecisions, ParserReading

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool

#: Unknown tags that the warning names.
SHOWN = 5


@dataclass(frozen=True)
class ParseFiles:
    """Files that are read and written.

    Attributes
    ----------
    model : str
        A parser.
    texts : sequence of str
        None of them is standard input, ``-``.
    output : str
        The texts with their trees, as CoNLL.
    """

    model: str
    texts: Sequence[str] = ()
    output: str = "-"


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
class Parsing:
    """Texts in files, and what is to be done with them.

    Attributes
    ----------
    files : ParseFiles
    decisions : ParserDecisions
    reading : ParserReading
    run : Run
    watch : LineWatch
    verify : bool
        Check the parser's checksum.
    unbuffered : bool
        Answer each line before the next is read.
    ending : callable
        Returns a context in which lines are answered, and that may end the reading.
    """

    files: ParseFiles
    decisions: ParserDecisions
    reading: ParserReading
    run: Run
    watch: LineWatch
    verify: bool = True
    unbuffered: bool = False
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    def __post_init__(self) -> None:
        self._words, self._notes = 0, Notes()

    def parse(self) -> int:
        """Parse the texts; return how many words they have.

        Raises
        ------
        UsageProblem
            When files and options do not go together.
        DataError
            When a file cannot be read or written.
        """
        check_unbuffered(self.unbuffered, self.run)
        parser, unanswered = self._parser(), Unanswered()
        self.watch.begin("parsing", unit="word")
        with pool_of(self.run.threads) as pool, writing(self.files.output) as out, self.ending():
            if self.unbuffered:
                self._answer(parser, pool, out, unanswered)
            else:
                self._parse(parser, pool, out)
            if line := unanswered.summary():
                self.watch.say(line)
            for line in self._notes.lines():
                self.watch.say(line)
        return self._words

    def _parser(self) -> Parser:
        """Load the parser; warn of trees that it finds badly."""
        parser = Parser.load(self.files.model, verify=self.verify)
        column_place(parser.column if self.reading.column is None else self.reading.column)
        if self.decisions.projective is False and parser.projective and not parser.unsupervised:
            self.watch.say(
                "warning: the parser was trained on projective trees; among all trees it finds worse ones (train it"
                " with `projective=False` for them)"
            )
        return parser

    @property
    def _texts(self) -> Sequence[str]:
        return self.files.texts or ("-",)

    def _take(self, path: str, before: int, found: Found) -> bytes:
        """Take note of a part of a text that has ``before`` sentences before it; return what is written of it."""
        self._notes.take(path, before, found.note)
        self._words += found.words
        return found.written

    def _answer(self, parser: Parser, pool: "Pool", out: Output, unanswered: Unanswered) -> None:
        """Parse each line before the next is read."""
        reading, done = self.reading, 0

        def answered(path: str, text: Parsed) -> bytes:
            nonlocal done
            done += len(text)
            return self._take(path, done - len(text), _parse(self.decisions, reading, parser, text, pool))

        for path in self._texts:
            done = 0
            requests = stream_requests(path, reading.format, reading.mark, tags=True)
            answer(requests, path, partial(answered, path), out, unanswered)

    def _parse(self, parser: Parser, pool: "Pool", out: Output) -> None:
        """Parse the texts in parts, here or by workers."""
        reading, parse = self.reading, partial(_parse, self.decisions, self.reading)
        with mapping_if_asked(self.run, pool) as blocks:
            parts = parts_of(self._texts, lambda path: stream_tags(path, reading.format, reading.mark, PART))
            for path, before, found in annotated(parts, parser, parse, pool, blocks):
                out.write(self._take(path, before, found))
                out.flush()
                self.watch.tell(f"{self._words} words parsed")
