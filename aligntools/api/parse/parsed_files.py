"""Texts in files parsed, whatever their trees are: read in parts or line by line, and written one after the other."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from aligntools.api.given.annotated import Parsed
from aligntools.api.running.annotating_blocks import Annotate, annotated, parts_of
from aligntools.api.running.answering import Unanswered, answer, check_unbuffered
from aligntools.api.running.engines import mapping_if_asked
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import LineWatch
from aligntools.formats.opening.files import Output, writing
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool

#: Unknown tags that a warning names.
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
        The texts with their trees.
    """

    model: str
    texts: Sequence[str] = ()
    output: str = "-"


class Found(Protocol):
    """A part of a text with its trees, as written, and how many words it has."""

    @property
    def written(self) -> bytes:
        """The trees."""

    @property
    def words(self) -> int:
        """The number of words."""


ParserT = TypeVar("ParserT")
FoundT = TypeVar("FoundT", bound=Found)


@dataclass
class ParsedFiles(ABC, Generic[ParserT, FoundT]):
    """Texts in files, and what is to be done with them.

    Attributes
    ----------
    files : ParseFiles
    decisions, reading : Settings
        Of the kind of parser.
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
    decisions: Any
    reading: Any
    run: Run
    watch: LineWatch
    verify: bool = True
    unbuffered: bool = False
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    def __post_init__(self) -> None:
        self._words = 0

    @abstractmethod
    def _load(self) -> ParserT:
        """Load the parser; refuse what it has nothing for."""

    @abstractmethod
    def _work(self) -> Annotate:
        """Return what makes trees of a part; it can be sent to another process."""

    @abstractmethod
    def _requests(self, path: str, parser: ParserT) -> Iterator[Any]:
        """Yield the lines of a text as they come."""

    @abstractmethod
    def _parts(self, path: str, parser: ParserT) -> Iterable[Parsed]:
        """Yield a text in parts."""

    @abstractmethod
    def _note(self, path: str, before: int, found: FoundT) -> None:
        """Take note of a part of a text that has ``before`` sentences before it."""

    @abstractmethod
    def _lines(self) -> list[str]:
        """Return what was noted, in lines."""

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
        parser, unanswered = self._load(), Unanswered()
        self.watch.begin("parsing", unit="word")
        with pool_of(self.run.threads) as pool, writing(self.files.output) as out, self.ending():
            if self.unbuffered:
                self._answer(parser, pool, out, unanswered)
            else:
                self._parse(parser, pool, out)
            if line := unanswered.summary():
                self.watch.say(line)
            for line in self._lines():
                self.watch.say(line)
        return self._words

    @property
    def _texts(self) -> Sequence[str]:
        return self.files.texts or ("-",)

    def _take(self, path: str, before: int, found: FoundT) -> bytes:
        """Take note of a part of a text; return what is written of it."""
        self._note("<stdin>" if path == "-" else path, before, found)
        self._words += found.words
        return found.written

    def _answer(self, parser: ParserT, pool: "Pool", out: Output, unanswered: Unanswered) -> None:
        """Parse each line before the next is read."""
        work, done = self._work(), 0

        def answered(path: str, text: Parsed) -> bytes:
            nonlocal done
            done += len(text)
            return self._take(path, done - len(text), work(parser, text, pool))

        for path in self._texts:
            done = 0
            answer(self._requests(path, parser), path, partial(answered, path), out, unanswered)

    def _parse(self, parser: ParserT, pool: "Pool", out: Output) -> None:
        """Parse the texts in parts, here or by workers."""
        with mapping_if_asked(self.run, pool) as blocks:
            parts = parts_of(self._texts, lambda path: self._parts(path, parser))
            for path, before, found in annotated(parts, parser, self._work(), pool, blocks):
                out.write(self._take(path, before, found))
                out.flush()
                self.watch.tell(f"{self._words} words parsed")
