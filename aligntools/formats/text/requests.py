"""Text that is answered while it is read: a line, or a sentence of CoNLL, at a time, whatever it is.

What cannot be worked on becomes a sentence without words, with the reason; it gets a blank answer.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from aligntools.formats.annotation.conll import Conll, parse_conll
from aligntools.formats.annotation.conll_layouts import Layout
from aligntools.formats.annotation.tagged_text import Tokens, parse_tagged, parse_text
from aligntools.formats.annotation.text_kinds import SEPARATORS, looks_like_conll, refuse_first_line, sniff
from aligntools.formats.opening import files
from aligntools.formats.opening.meter import MOST_BYTES, bounded_lines
from aligntools.ground.errors import DataError
from aligntools.words.white_space import WhiteSpace, is_blank

#: Words of a sentence up to which there is an answer.
MOST_WORDS = 30_000
_COMMENT = re.compile(rb"#\s*(sent_id|text|newdoc|newpar|global\.columns)\b")


@dataclass(frozen=True, eq=False)
class Request:
    """A sentence to be answered.

    text: One sentence; of CoNLL the lines that go with it too. Without words where there is a problem.
    line: 1-based number of its first line.
    problem: ``over_long`` or ``malformed``; empty if there is none.
    """

    text: Tokens | Conll
    line: int
    problem: str = ""

    @property
    def blank(self) -> Tokens | Conll:
        """A sentence without words, of the same format."""
        found: Tokens | Conll = _blank(isinstance(self.text, Conll), self.line)
        return found


def stream_requests(
    path: object, format: str = "auto", separator: bytes | None = b"_", tags: bool = False
) -> Iterator[Request]:
    """Read text to be tagged or translated, or with ``tags`` text to be parsed, each sentence before the next.

    format: ``conll``, ``text`` (``tagged`` with ``tags``), or ``auto``: CoNLL if the first line is of CoNLL.
    separator: Between word and tag; None: the one that the first line with words has.
    tags: Lines are ``word_TAG word_TAG``.
    Raises DataError when the file cannot be read.
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
            yield from _lines(lines, _reader(path, separator) if tags else lambda line, n: parse_text([white(line)], n))
            white.tell()


def _reader(path: object, separator: bytes | None) -> Callable[[bytes, int], Tokens]:
    """Return what reads a line of ``word_TAG``, and keeps to the separator that the first one has."""

    def read(line: bytes, number: int) -> Tokens:
        nonlocal separator
        if separator is None and not is_blank(line):
            separator = sniff([line], ("tagged",))[1]
        return parse_tagged(path, [line], number, separator or SEPARATORS[0])

    return read


def _lines(lines: Iterable[bytes | None], read: Callable[[bytes, int], Tokens]) -> Iterator[Request]:
    for number, line in enumerate(lines, 1):
        yield _request(functools.partial(read, line or b"", number), line is None, False, number)


def _sentences(path: object, lines: Iterable[bytes | None]) -> Iterator[Request]:
    first, block, size, inside, layout = 1, [], 0, False, None
    for number, line in enumerate(lines, 1):
        size += len(line) if line is not None else MOST_BYTES + 1
        if size <= MOST_BYTES:
            block.append(line or b"")
        if line is None or not is_blank(line):
            inside = True
        elif inside:
            found = _block(path, block, first, size, layout)
            yield found
            layout = layout or (found.text.layout if isinstance(found.text, Conll) and not found.problem else None)
            first, block, size, inside = number + 1, [], 0, False
    if block or inside:
        yield _block(path, block, first, size, layout)


def _block(path: object, block: list[bytes], first: int, size: int, layout: Layout | None) -> Request:
    return _request(lambda: parse_conll(path, block, first, layout), size > MOST_BYTES, True, first)


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
