"""Text of other kinds where plain text is read: its words, one sentence a line."""

import io
import os
from collections.abc import Iterable, Iterator
from itertools import chain

from aligntools.formats.annotation.conll_tokens import NO_BREAK, lines_of
from aligntools.formats.annotation.tagged_text import parts_of_kind, tell_kind
from aligntools.formats.annotation.text_kinds import SAMPLE, first_lines, refuse_conll, refuse_others, sniff
from aligntools.formats.opening import files
from aligntools.words.white_space import WhiteSpace, hint

_PART = 4_000  # sentences in a block


def plain_blocks(path: object, blocks: Iterable[bytes], white: WhiteSpace, convert: bool = True) -> Iterator[bytes]:
    """Yield blocks of whole lines, or of text of another kind, told by the first of them, the words.

    Words of CoNLL are the syntactic ones, with no-break spaces, so that positions count words; a sentence without words
    is a blank line. Unless it is to ``convert`` them, other kinds are refused.
    """
    rest, memory = iter(blocks), is_memory(path)
    first = next(rest, b"")
    while files.is_regular(path) and first.count(b"\n") < SAMPLE and (more := next(rest, b"")):
        first += more
    if memory:  # sentences, whatever they look like; but CoNLL would be lines of columns
        refuse_conll(path, first)
    seen = first_lines(io.BytesIO(first))[0]
    kind, separator = ("text", None) if memory else sniff(seen, path=path)
    if kind == "text":
        hint(path, first)
        yield white(first)
        yield from white.through(rest)
        return
    if not convert or not isinstance(path, (str, os.PathLike)):
        refuse_others(path, seen)
    tell_kind(path, kind)
    lines = (line for block in chain([first], rest) for line in io.BytesIO(block))
    for part in parts_of_kind(path, lines, kind, separator, _PART):
        yield white.of_words(lines_of(part.words, part.offsets, NO_BREAK))


def is_memory(path: object) -> bool:
    """Return whether a text is neither a file nor what something else reads of one, but sentences."""
    return not isinstance(path, (str, os.PathLike)) and not hasattr(path, "splitting")


def is_plain_text(path: object) -> bool:
    """Return whether a file, which must not be a pipe, begins as plain text does."""
    with files.reading(path) as file:
        return sniff(first_lines(file)[0], path=path)[0] == "text"


def refuse_file(path: object) -> None:
    """Refuse a file, which must not be a pipe, if it is no plain text."""
    with files.reading(path) as file:
        refuse_others(path, first_lines(file)[0])
