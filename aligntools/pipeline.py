"""Texts in files through a model: their parts go in, and what is made of each is written and counted, in order."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np

from aligntools.formats.annotation.conll import Conll, parse_conll
from aligntools.formats.annotation.tagged_text import Tokens, parse_tagged, parse_text
from aligntools.formats.annotation.text_kinds import SEPARATORS, looks_like_conll, refuse_first_line, sniff
from aligntools.formats.opening import files
from aligntools.formats.opening.files import MOST_BYTES, Output, bounded_lines, writing
from aligntools.ground.errors import AligntoolsError, DataError, UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.progress import LineWatch
from aligntools.ground.run import Run
from aligntools.store.job_engines import mapping_if_asked
from aligntools.store.stores import Kept
from aligntools.words.white_space import WhiteSpace, is_blank

T = TypeVar("T")
#: Names that a message shows; there may be ever more of them.
SHOWN = 5


class Part(NamedTuple):
    """Sentences that are worked on together, also in another process.

    request: Where one is answered at once: it has the number of its ``line``, a ``problem`` and a ``blank`` text.
    first, number: Of the first sentence, in its text and in all texts; what is drawn depends on the latter.
    """

    path: str
    first: int
    number: int
    text: Any
    request: Any = None

    def place(self, sentence: int) -> str:
        """Return where a sentence of the part is, for messages."""
        return f"{_shown(self.path)}, sentence {self.first + sentence + 1}"


def _shown(path: str) -> str:
    return "<stdin>" if path == "-" else path


@dataclass(frozen=True)
class Worked:
    """What is made of a part, ``written`` for each output by name.

    counts, kinds: What is summed over the parts; places, names: where it occurs first, and the first few names.
    """

    written: Mapping[str, bytes]
    counts: Mapping[str, float]
    places: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Iterable[bytes]] = field(default_factory=dict)
    kinds: Mapping[Any, int] = field(default_factory=dict)


class Tally:
    """Counts over parts: sums, the first place of each, the first few names, and blank answers."""

    def __init__(self) -> None:
        self.counts, self.kinds = Counter[str](), Counter[Any]()
        self.places: dict[str, str] = {}
        self._names: dict[str, dict[bytes, None]] = {}
        self._blank, self._first, self._why = Counter[str](), "", ""

    def add(self, found: Worked) -> None:
        """Add the counts of a part."""
        self.counts.update(found.counts)
        self.kinds.update(found.kinds)
        for name, place in found.places.items():
            self.places.setdefault(name, place)
        for name, own in found.names.items():
            known = self._names.setdefault(name, {})
            if len(known) < SHOWN:
                known |= dict.fromkeys(own)

    def blank(self, reason: str, place: str, why: str = "") -> None:
        """Count a blank answer."""
        self._blank[reason] += 1
        self._first, self._why = self._first or place, self._why or why

    def names(self, name: str) -> str:
        """Return the first few names of what is counted, in words."""
        return " ".join(one.decode("utf-8", "replace") for one in list(self._names[name])[:SHOWN])

    def lines(self, model: str = "model") -> Iterator[str]:
        """Yield how many blank answers there were, and how many words in another normal form than the model's."""
        if self._blank:
            found = ", ".join(f"{count} {reason.replace('_', '-')}" for reason, count in self._blank.items())
            yield f"blank answers for: {found}; first at {self._first}{': ' * bool(self._why)}{self._why}"
        if turned := self.counts["turned"]:
            yield (
                f"note: {turned} words have their accents in another form than the {model}'s words (NFC and NFD); they"
                " were turned for it, and are written as they were"
            )


class Sinks:
    """Outputs by name (None: not wanted), opened, written and closed together: files that appear whole or not at all.

    exact: Which are copies, written without a byte order mark of our own.
    """

    def __init__(self, exact: Collection[str] = (), **paths: str | None) -> None:
        self.paths = {name: path for name, path in paths.items() if path is not None}
        self._exact, self._outputs = exact, dict[str, Output]()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for name, path in self.paths.items():
                self._outputs[name] = stack.enter_context(writing(path, exact=name in self._exact))
            self._opened = stack.pop_all()
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._opened.__exit__(*error)

    def write(self, written: Mapping[str, bytes], flush: bool = True) -> None:
        """Write to each output what there is for it; ``flush``: and hand it on."""
        for name, output in self._outputs.items():
            output.write(written.get(name, b""))
            if flush:
                output.flush()


def parts_of(texts: Iterable[str], read: Callable[[str], Iterable[Any]]) -> Iterator[Part]:
    """Yield the parts, or the requests, that several texts are read in."""
    number = 0
    for path in texts:
        first = 0
        for one in read(path):
            text, request = (one.text, one) if isinstance(one, Request) else (one, None)
            yield Part(path, first, number, text, request)
            first, number = first + len(text), number + len(text)


def map_parts(
    work: Callable[[Any, Part, Pool], T], model: Any, parts: Iterable[Part], run: Run, pool: Pool, tally: Tally
) -> Generator[T, None, None]:
    """Yield what is made of each part, in order; a request has its answer before the next is read.

    work: A function of a module, or a partial of one; of what it yields, workers and answers have a list. The caller
        keeps no other reference to a large model: workers have it then.
    """
    with mapping_if_asked(run, pool) as blocks:
        if blocks is None:
            for part in parts:
                yield work(model, part, pool) if part.request is None else _answer(work, model, part, pool, tally)
            return
        kept = blocks.keep(model)
        del model
        yield from blocks.run("working", partial(_by_worker, work, kept), parts)


def _by_worker(work: Callable[[Any, Part, Pool], T], model: Kept, part: Part, pool: Pool) -> T:
    return _whole(work(model.get(), part, pool))


def _whole(found: T) -> T:
    return cast(T, list(found)) if isinstance(found, Iterator) else found


def _answer(work: Callable[[Any, Part, Pool], T], model: Any, part: Part, pool: Pool, tally: Tally) -> T:
    """Return the answer to a request, a blank one where it cannot be done."""
    request = part.request
    place = f"{_shown(part.path)}:{request.line}"
    if request.problem:
        tally.blank(request.problem, place)
    try:
        return _whole(work(model, part, pool))
    except UsageProblem:
        raise
    except (AligntoolsError, MemoryError, ValueError) as error:
        why = error.message if isinstance(error, AligntoolsError) else str(error)
        tally.blank("failed", place, why or "out of memory")
        return _whole(work(model, part._replace(text=request.blank), pool))


def write_parts(
    done: Generator[Worked, None, None], sinks: Sinks, tally: Tally, watch: LineWatch, reached: str = ""
) -> None:
    """Write and count what is made of each part; ``reached`` is told meanwhile, with a count's name in braces."""
    with closing(done):
        for found in done:
            sinks.write(found.written)
            tally.add(found)
            if reached:
                watch.tell(reached.format_map(tally.counts))


def check_unbuffered(unbuffered: bool, run: Run) -> None:
    """Refuse to answer line by line in other processes."""
    if unbuffered and run.asked:
        raise UsageProblem("`unbuffered` answers each line in this process; leave out `workers` and `cluster`")


# Text that is answered while it is read: a line, or a sentence of CoNLL, at a time, whatever it is.
#
# What cannot be worked on becomes a sentence without words, with the reason; it gets a blank answer.

#: Words of a sentence up to which there is an answer.
MOST_WORDS = 30_000
_COMMENT = re.compile(rb"#\s*(sent_id|text|newdoc|newpar|global\.columns)\b")


@dataclass(frozen=True, eq=False)
class Request:
    """A sentence to be answered, its first line's number and its ``problem``: ``over_long``, ``malformed`` or none."""

    text: Tokens | Conll
    line: int
    problem: str = ""

    @property
    def blank(self) -> Tokens | Conll:
        """A sentence without words, of the same format."""
        return _blank(isinstance(self.text, Conll), self.line)


def stream_requests(
    path: object, format: str = "auto", separator: bytes | None = b"_", tags: bool = False
) -> Iterator[Request]:
    """Read text to be tagged or translated, or with ``tags`` ``word_TAG`` to be parsed, each sentence before the next.

    separator: Between word and tag; None: the one that the first line with words has.
    """
    with files.reading(path) as file:
        lines = bounded_lines(file)
        if format == "auto":
            first = next(lines, b"")
            seen = first or b""
            refuse_first_line(path, seen)
            conll = bool(_COMMENT.match(seen)) or looks_like_conll([seen])
            format, lines = "conll" if conll else "text", chain([first] if first != b"" else [], lines)
        if format == "conll":
            yield from _sentences(path, lines)
        else:
            white = WhiteSpace(path)
            read = _reader(path, separator) if tags else lambda line, n: parse_text([white(line)], n)
            for number, line in enumerate(lines, 1):
                yield _request(partial(read, line or b"", number), line is None, False, number)
            white.tell()


def _reader(path: object, separator: bytes | None) -> Callable[[bytes, int], Tokens]:
    """Return what reads a line of ``word_TAG``, and keeps to the separator that the first one has."""

    def read(line: bytes, number: int) -> Tokens:
        nonlocal separator
        if separator is None and not is_blank(line):
            separator = sniff([line], ("tagged",))[1]
        return parse_tagged(path, [line], number, separator or SEPARATORS[0])

    return read


def _sentences(path: object, lines: Iterable[bytes | None]) -> Iterator[Request]:
    first, block, size, inside, layout = 1, [], 0, False, None
    for number, line in enumerate(lines, 1):
        size += len(line) if line is not None else MOST_BYTES + 1
        if size <= MOST_BYTES:
            block.append(line or b"")
        if line is None or not is_blank(line):
            inside = True
        elif inside:
            found = _request(partial(parse_conll, path, block, first, layout), size > MOST_BYTES, True, first)
            yield found
            layout = layout or (found.text.layout if isinstance(found.text, Conll) and not found.problem else None)
            first, block, size, inside = number + 1, [], 0, False
    if block or inside:
        yield _request(partial(parse_conll, path, block, first, layout), size > MOST_BYTES, True, first)


def _request(read: Callable[[], Tokens | Conll], over_long: bool, conll: bool, number: int) -> Request:
    problem = "over_long"
    if not over_long:
        try:
            text = read()
            if len(text.words) <= MOST_WORDS:
                return Request(text, number)
        except DataError:
            problem = "malformed"
    return Request(_blank(conll, number), number, problem)


def _blank(conll: bool, number: int) -> Tokens | Conll:
    if conll:
        return parse_conll("", [b"# text =\n", b"\n"], number)
    return Tokens([], np.zeros(2, np.int64), [], np.array([number]))
