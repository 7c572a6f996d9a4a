"""Text that is in memory already, read as if it were a file: lines as strings, or sentences as lists of words."""

import io
import re
from collections.abc import Iterable, Sequence

from aligntools.formats.white_space import SPLITS, WhiteSpace, as_spaces, has_others
from aligntools.ground.errors import DataError

_MARK = b"\xef\xbb\xbf"  # of a file that was read as UTF-8 and began with a byte order mark
_SPACE = re.compile(r"[ \t\n]")


class TextLines(io.RawIOBase):
    """Sentences as the lines of a file; the readers of this package take it in place of a path.

    Parameters
    ----------
    sentences : iterable of str or of sequences of str
        A line each, with or without its newline; or a sentence's words, which hold no space, tab or newline.
        Read once, as far as lines are asked for.
    name : str
        What messages call it.
    split : str
        How lines are split; see `white_space.split_as`. A sentence's words stay as they are.

    Raises
    ------
    DataError
        While reading: when a sentence is neither, or a word holds a space.
    """

    def __init__(self, sentences: Iterable[str | Sequence[str]], name: str = "<text>", split: str | None = None):
        super().__init__()
        self._unicode, self._white = split == SPLITS[1], WhiteSpace(name)
        self._sentences, self._name, self._count, self._rest = iter(sentences), name, 0, b""

    def __str__(self):
        return self._name

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def _line(self, sentence) -> bytes:
        if isinstance(sentence, str):
            line = sentence.removesuffix("\n")
            if "\n" in line:
                raise DataError(self._name, self._count, "a newline within a line; give one sentence a string")
        elif isinstance(sentence, Sequence) and all(isinstance(word, str) for word in sentence):
            bad = next((word for word in sentence if not word or _SPACE.search(word)), None)
            if bad is not None:
                raise DataError(self._name, self._count, f"the word {bad!r} is empty or holds a space")
            return " ".join(sentence).encode("utf-8", "surrogatepass") + b"\n"
        else:
            found = type(sentence).__name__
            raise DataError(self._name, self._count, f"a sentence is a string or a list of strings, not {found}")
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
