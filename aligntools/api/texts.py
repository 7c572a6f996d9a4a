"""Text as the public functions take it: sentences in memory, or a file."""

import io
import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

#: A sentence: a line of words between spaces, or the list of its words.
Sentence: TypeAlias = str | Sequence[str]
#: One side of a text: sentences, or a file of lines. Where a whole text is expected, a str names a file.
Sentences: TypeAlias = Iterable[Sentence] | str | os.PathLike[str]
#: What is between the sides of a text that is one file: ``' ||| '``, a tab, or what its first line says.
InputFormat: TypeAlias = Literal["auto", "joint", "tsv"]
#: What separates words: spaces and tabs, or all white space at which Python's `str.split` splits.
Split: TypeAlias = Literal["spaces", "unicode"]


def paths_of(sources: Sentences, targets: Sentences | None, split: str | None = None) -> dict[str, Any]:
    """Return a text's sides as the readers of files take them; ``split`` says what separates their words."""
    if targets is None:
        return {"joint": file_or_lines(sources, "<text>", split)}
    return {"source": file_or_lines(sources, "<source>", split), "target": file_or_lines(targets, "<target>", split)}


def file_or_lines(text: Sentences, name: str, split: str | None) -> Any:
    """Return a text, or one side of it, as the readers of files take it."""
    from aligntools.formats.memory_text import TextLines
    from aligntools.formats.white_space import split_as

    if isinstance(text, io.RawIOBase):  # open already
        return text
    named = split_as(text, split)
    return TextLines(text, name, split) if not isinstance(text, str | os.PathLike) else os.fspath(named)
