"""Text that is in memory already, read as if it were a file: lines as strings, or sentences as lists of words."""

import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from aligntools.ground.errors import DataError
from aligntools.words.white_space import SPLITS, WhiteSpace, as_spaces, has_others

_MARK = b"\xef\xbb\xbf"  # of a file that was read as UTF-8 and began with a byte order mark
_SPACE = re.compile(r"[ \t\n]")
_ADVICE = "a sentence is a string, or a list of its words; a text is a list of sentences, or a file's name"


def words_given(sentence: object, name: str, number: int | None) -> list[str]:
    """Return the words of a sentence that was given as a sequence of them.

    Raises DataError when it is something else, or a word is empty or holds a space, as a sentence among words does.
    """
    if not isinstance(sentence, Sequence) or isinstance(sentence, str | bytes | bytearray):
        found = type(sentence).__name__
        raise DataError(name, number, f"a sentence is a string or a list of strings, not {found}")
    for word in sentence:
        if not isinstance(word, str):
            found = type(word).__name__
            raise DataError(name, number, f"a word is a string, not {found} ({_ADVICE})")
        if not word or _SPACE.search(word):
            raise DataError(name, number, f"the word {word!r} is empty or holds a space ({_ADVICE})")
    return list(sentence)


def sentences_given(text: object, name: str) -> Iterator[Any]:
    """Return the sentences of a text that is in memory.

    Raises DataError when it is nothing that has sentences.
    """
    if isinstance(text, str | bytes | bytearray | Mapping) or not isinstance(text, Iterable):
        raise DataError(name, None, f"{type(text).__name__} is not text ({_ADVICE})")
    return iter(text)


class TextLines(io.RawIOBase):
    """Sentences as the lines of a file; the readers of this package take it in place of a path.

    sentences: A line each, with or without its newline; or a sentence's words, which hold no space, tab or newline.
        Read once, as far as lines are asked for.
    name: What messages call it.
    split: How lines are split; see `white_space.split_as`. A sentence's words stay as they are.
    Raises DataError: While reading: when a sentence is neither, or a word holds a space.
    """

    def __init__(
        self, sentences: Iterable[str | Sequence[str]], name: str = "<text>", split: str | None = None
    ) -> None:
        super().__init__()
        self._unicode, self._white = split == SPLITS[1], WhiteSpace(name)
        self._sentences, self._name = sentences_given(sentences, name), name
        self._count, self._rest = 0, b""

    def __str__(self) -> str:
        return self._name

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def _line(self, sentence: list[str] | str) -> bytes:
        if isinstance(sentence, str):
            line = sentence.removesuffix("\n")
            if "\n" in line:
                raise DataError(self._name, self._count, "a newline within a line; give one sentence a string")
        else:
            words = words_given(sentence, self._name, self._count)
            return " ".join(words).encode("utf-8", "surrogatepass") + b"\n"
        encoded = line.encode("utf-8", "surrogatepass") + b"\n"  # surrogates are no text: such a pair is left blank
        if not self._unicode and has_others(encoded):
            self._white.count(encoded)
        return as_spaces(encoded) if self._unicode else encoded

    def _next(self) -> bytes:
        for sentence in self._sentences:
            self._count += 1
            line = self._line(sentence)
            return line.removeprefix(_MARK) if self._count == 1 else line
        self._white.tell()
        return b""

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line; empty at the end."""
        line, self._rest = self._rest or self._next(), b""
        if size is not None and 0 <= size < len(line):
            line, self._rest = line[:size], line[size:]
        return line

    def read(self, size: int = -1, /) -> bytes:
        """Return whole lines of about ``size`` bytes (all of them for -1); empty at the end."""
        parts, length = [], 0
        while size < 0 or length < size:
            line = self.readline()
            if not line:
                break
            parts.append(line)
            length += len(line)
        return b"".join(parts)


#: Text that is not from a file.
IN_MEMORY = "<sentences>"


def name_of(given: object, otherwise: str = IN_MEMORY) -> str:
    """Return the name of a file that was given, or what else was is called."""
    return os.fspath(given) if isinstance(given, str | os.PathLike) else otherwise
