"""Text as the public functions take it: sentences in memory, or a file."""

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, tee
from pathlib import Path
from typing import Any, TypeAlias

from aligntools.formats.text.memory_text import TextLines, sentences_given
from aligntools.formats.text.text_settings import InputFormat as InputFormat
from aligntools.formats.text.text_settings import RawReading as RawReading
from aligntools.formats.text.text_settings import Split as Split
from aligntools.ground.errors import DataError

#: A sentence: a line of words between spaces, or the list of its words.
Sentence: TypeAlias = str | Sequence[str]
#: A sentence with tags or without: a line, words, or pairs of word and tag.
SomeSentence: TypeAlias = Sentence | Sequence[tuple[str, str]]
#: One side of a text: sentences, or a file of lines; where both sides are expected, tuples of two sentences, too. Where
#: a whole text is expected, a str names a file.
Sentences: TypeAlias = Iterable[Sentence] | str | os.PathLike[str]


def paths_of(sources: Sentences, targets: Sentences | None, split: str | None = None) -> dict[str, Any]:
    """Return a text's sides as the readers of files take them; ``split`` says what separates their words."""
    if targets is None:
        text, in_pairs = _pairs_or_lines(sources)
        if in_pairs:
            source, target = tee(text)
            sides = (_side(source, 0), "<source>"), (_side(target, 1), "<target>")
            return {name[1:-1]: file_or_lines(side, name, split) for side, name in sides}
        return {"joint": file_or_lines(text, "<text>", split)}
    return {"source": file_or_lines(sources, "<source>", split), "target": file_or_lines(targets, "<target>", split)}


def text_path(path: str, split: str | None) -> str | os.PathLike[str]:
    """Return the file of a text as functions take it, with how it is split."""
    from aligntools.words.white_space import UnicodeSplit, split_as

    found = split_as(path, split)
    return found if isinstance(found, UnicodeSplit) else Path(path)


def _pairs_or_lines(text: Any) -> tuple[Any, bool]:
    """Return a text of both sides, and whether it has tuples of two sentences in place of lines."""
    if isinstance(text, str | os.PathLike | io.RawIOBase):
        return text, False
    rows = sentences_given(text, "<text>")
    first = list(islice(rows, 1))
    return chain(first, rows), bool(first) and isinstance(first[0], tuple) and "|||" not in first[0]


def _side(pairs: Iterable[Any], side: int) -> Iterator[Sentence]:
    """Yield one side of pairs of sentences."""
    for number, pair in enumerate(pairs, 1):
        if not isinstance(pair, tuple) or len(pair) != 2:
            shown = f"a tuple of {len(pair)}" if isinstance(pair, tuple) else type(pair).__name__
            raise DataError("<text>", number, f"{shown}; a pair is a tuple of two sentences, as the first one is")
        yield pair[side]


def file_or_lines(text: Sentences, name: str, split: str | None) -> Any:
    """Return a text, or one side of it, as the readers of files take it."""
    from aligntools.words.white_space import split_as

    if isinstance(text, io.RawIOBase):  # open already
        return text
    named = split_as(text, split)
    return TextLines(text, name, split) if not isinstance(text, str | os.PathLike) else os.fspath(named)
