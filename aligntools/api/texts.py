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


def paths_of(sources: Sentences, targets: Sentences | None) -> dict[str, Any]:
    """Return a text's sides as the readers of files take them."""
    if targets is None:
        return {"joint": _file_or_lines(sources, "<text>")}
    return {"source": _file_or_lines(sources, "<source>"), "target": _file_or_lines(targets, "<target>")}


def _file_or_lines(text: Sentences, name: str) -> Any:
    from aligntools.formats.memory_text import TextLines

    if isinstance(text, io.RawIOBase):  # open already
        return text
    return os.fspath(text) if isinstance(text, str | os.PathLike) else TextLines(text, name)
