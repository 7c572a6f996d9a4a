"""Texts in files parsed with a grammar of constituents: read in parts or line by line, a tree written for each."""

import contextlib
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from aligntools.api.given.annotated import Parsed, predicted_of
from aligntools.api.parse.constituents import PART, ConstituentParser
from aligntools.api.parse.parse_files import SHOWN, ParseFiles
from aligntools.api.running.annotating_blocks import annotated, parts_of
from aligntools.api.running.answering import Unanswered, answer, check_unbuffered
from aligntools.api.running.engines import mapping_if_asked
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import LineWatch
from aligntools.constituents.settings import GrammarDecisions
from aligntools.formats.annotation.brackets import format_trees
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.annotation.tagged import stream_tags
from aligntools.formats.opening.files import Output, writing
from aligntools.formats.text.reading import TagReading
from aligntools.formats.text.requests import stream_requests
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool

#: Why sentences have flat trees, and what to do about it.
_FLAT = {
    "flat": "sentences over `max_length` have flat trees",
    "uncovered": "sentences have flat trees, because no tree of the grammar covers them",
}


def writes_trees(model: str) -> bool:
    """Tell whether a model file has a grammar of constituents, whose trees are written in brackets.

    Raises
    ------
    ModelError
        When it is not a model file.
    """
    from aligntools.formats.models.modelfile import model_kind

    return model_kind(model) in ("pcfg", "induced-pcfg", "neural-pcfg")


def constituent_parser(path: str, verify: bool = True) -> ConstituentParser:
    """Load a grammar of constituents, of whichever kind it is."""
    from aligntools.api.parse.grammar_induction import InducedConstituentParser
    from aligntools.formats.models.modelfile import model_kind

    kind = ConstituentParser if model_kind(path) == "pcfg" else InducedConstituentParser
    return kind.load(path, verify=verify)


@dataclass(frozen=True)
class Found:
    """The trees of a part of a text, as written.

    Attributes
    ----------
    written : bytes
    words : int
    counts : dict of str to (int, int)
        For each reason of flat trees how many there are, and the first sentence of the part that has one, from 0.
    unknown : dict of bytes to int
        How many words have each tag that the grammar does not know.
    """

    written: bytes
    words: int
    counts: dict[str, tuple[int, int]]
    unknown: dict[bytes, int]


def _parse(
    decisions: GrammarDecisions, reading: TagReading, parser: ConstituentParser, text: Parsed, pool: "Pool"
) -> Found:
    """Parse a part of a text."""
    if reading.predicted_columns:
        text = predicted_of(text)
    found = parser.parse_read(text, decisions, reading.column, pool)
    counts = {name: np.flatnonzero(getattr(found, name)) for name in _FLAT}
    written = format_trees(found.trees).encode("utf-8", "surrogateescape")
    tags = (parser.tags_of(text, reading.column) if decisions.given_tags else None) or []
    strange = parser.unknown_tags(tags)
    unknown = Counter(tag for tag in tags if tag in strange) if strange else {}
    return Found(written, len(text.words), {name: (len(n), int(n[0])) for name, n in counts.items() if len(n)}, unknown)


@dataclass
class TreeParsing:
    """Texts in files, and what is to be done with them.

    Attributes
    ----------
    files : ParseFiles
    decisions : GrammarDecisions
    reading : TagReading
    run : Run
    watch : LineWatch
    verify : bool
        Check the grammar's checksum.
    unbuffered : bool
        Answer each line before the next is read.
    ending : callable
        Returns a context in which lines are answered, and that may end the reading.
    """

    files: ParseFiles
    decisions: GrammarDecisions
    reading: TagReading
    run: Run
    watch: LineWatch
    verify: bool = True
    unbuffered: bool = False
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    def __post_init__(self) -> None:
        self._words = 0
        self._counts: dict[str, int] = {}
        self._first: dict[str, str] = {}
        self._unknown, self._tags = 0, dict[bytes, None]()

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
        parser, unanswered = constituent_parser(self.files.model, self.verify), Unanswered()
        column_place(parser.column if self.reading.column is None else self.reading.column)
        self.watch.begin("parsing", unit="word")
        with pool_of(self.run.threads) as pool, writing(self.files.output) as out, self.ending():
            if self.unbuffered:
                self._answer(parser, pool, out, unanswered)
            else:
                self._parse(parser, pool, out)
            if line := unanswered.summary():
                self.watch.say(line)
            for name, n in self._counts.items():
                self.watch.say(f"warning: {n} {_FLAT[name]} (the first: {self._first[name]})")
            if self._unknown:
                shown = " ".join(tag.decode("utf-8", "replace") for tag in list(self._tags)[:SHOWN])
                self.watch.say(
                    f"warning: {self._unknown} words have tags that the grammar has never seen ({shown}); see `column`"
                    " and `given_tags`"
                )
        return self._words

    def _take(self, path: str, before: int, found: Found) -> bytes:
        """Take note of a part of a text that has ``before`` sentences before it; return what is written of it."""
        self._words += found.words
        for name, (n, first) in found.counts.items():
            self._counts[name] = self._counts.get(name, 0) + n
            self._first.setdefault(name, f"{'<stdin>' if path == '-' else path}, sentence {before + first + 1}")
        self._unknown += sum(found.unknown.values())
        if len(self._tags) < SHOWN:
            self._tags |= dict.fromkeys(found.unknown)
        return found.written

    def _answer(self, parser: ConstituentParser, pool: "Pool", out: Output, unanswered: Unanswered) -> None:
        """Parse each line before the next is read."""
        done = 0

        def answered(path: str, text: Parsed) -> bytes:
            nonlocal done
            done += len(text)
            return self._take(path, done - len(text), _parse(self.decisions, self.reading, parser, text, pool))

        for path in self.files.texts or ("-",):
            done = 0
            how = self.reading
            requests = stream_requests(path, how.format, how.mark, tags=how.format == "tagged" or parser.needs_tags)
            answer(requests, path, partial(answered, path), out, unanswered)

    def _parse(self, parser: ConstituentParser, pool: "Pool", out: Output) -> None:
        """Parse the texts in parts, here or by workers."""
        how, parse = self.reading, partial(_parse, self.decisions, self.reading)
        with mapping_if_asked(self.run, pool) as blocks:
            texts = self.files.texts or ("-",)
            parts = parts_of(
                texts, lambda path: stream_tags(path, how.format, how.mark, PART, plain=not parser.needs_tags)
            )
            for path, before, found in annotated(parts, parser, parse, pool, blocks):
                out.write(self._take(path, before, found))
                out.flush()
                self.watch.tell(f"{self._words} words parsed")
