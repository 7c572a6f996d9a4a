"""CoNLL where plain text is read: its words, one sentence a line."""

import logging
import os
from collections.abc import Iterable, Iterator
from itertools import chain

from aligntools.formats.annotation.conll import parse_parts
from aligntools.formats.annotation.sniffing import beginning, conll_line, refuse_conll
from aligntools.formats.annotation.tagged import format_words
from aligntools.formats.opening import files
from aligntools.words.untokenized import hint
from aligntools.words.white_space import WhiteSpace

_PART = 4_000  # sentences in a block
_log = logging.getLogger("aligntools")


def plain_blocks(path: object, blocks: Iterable[bytes], white: WhiteSpace, convert: bool = True) -> Iterator[bytes]:
    """Yield blocks of whole lines, or of CoNLL, told by the first of them, the words, which its lines part.

    Words are the syntactic ones. A space within one is a no-break space, so that positions count words; a sentence
    without words is a blank line.

    Parameters
    ----------
    path : str, path or object
        For messages. What is no file's name is text that something else reads, too.
    white : WhiteSpace
        Says what separates words in lines.
    convert : bool
        Otherwise CoNLL is refused.

    Raises
    ------
    DataError
        When CoNLL is refused or damaged.
    """
    rest = iter(blocks)
    first = next(rest, b"")
    if conll_line(first) is None:
        hint(path, first)
        yield white(first)
        yield from white.through(rest)
        return
    if not convert or not isinstance(path, (str, os.PathLike)):
        refuse_conll(path, first)
    tell_conll(path)
    lines = (line for block in chain([first], rest) for line in _lines(block))
    for part in parse_parts(path, lines, _PART):
        yield white.of_words(format_words(part.words, part.offsets))


def tell_conll(path: object) -> None:
    """Say that a file of text is read as CoNLL."""
    shown = "<stdin>" if str(path) == "-" else path
    _log.info("%s: read as CoNLL; its sentences are the lines, its words those of syntax, one for each id", shown)


def is_conll(path: object) -> bool:
    """Tell whether a file, which must not be a pipe, begins as CoNLL does."""
    return conll_line(_beginning(path)) is not None


def refuse_file(path: object) -> None:
    """Refuse a file, which must not be a pipe, if it is CoNLL. Raises DataError."""
    refuse_conll(path, _beginning(path))


def _beginning(path: object) -> bytes:
    with files.reading(path) as file:
        return b"".join(beginning(file)[0])


def _lines(block: bytes) -> Iterator[bytes]:
    *whole, last = block.split(b"\n")
    for line in whole:
        yield line + b"\n"
    if last:
        yield last
