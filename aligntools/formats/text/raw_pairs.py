"""The original lines of parallel text, read a second time, or tokenized while they are read."""

import io
import os
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aligntools.formats.annotation.tagged_text import is_memory, refuse_file
from aligntools.formats.annotation.text_kinds import refuse_for_pairs
from aligntools.formats.links.pharaoh import LineReader
from aligntools.formats.opening import files
from aligntools.formats.opening.files import MOST_BYTES, metered, open_input
from aligntools.formats.opening.live_inputs import ReadOnly, lines_of_size
from aligntools.formats.text.exchange import UnitCopy, format_of, keeping, paired
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.words import line_scan
from aligntools.words.line_scan import Scanner
from aligntools.words.tokenizers import tokenizers
from aligntools.words.white_space import as_spaces, split_of

_ROWS = 1 << 15


class KeptInput(ReadOnly):
    """An input on its way to the readers of this package, which take it in place of a path.

    What is read is kept for a second reading. With tokenizers, one or one for each side, its lines are tokenized.
    """

    def __init__(
        self,
        text: object,
        path: object,
        keep: Callable[[bytes], object],
        tokenizers: Sequence[Callable[[bytes], bytes]] = (),
        format: str | None = None,
    ) -> None:
        super().__init__()
        self._text, self._path, self._file, self._keep = text, path, metered(open_input(text), path), keep
        self.raw = getattr(self._file, "raw", None)  # which says whether it is live
        self.splitting, self._tokenizers, self._format = split_of(text), tokenizers, format

    def __str__(self) -> str:
        return str(self._path)

    @property
    def kind(self) -> str:
        """What the file is, where it is one of `exchange`."""
        return str(getattr(self._text, "kind", ""))

    def read(self, size: int | None = -1, /) -> bytes:
        """Return bytes as the file does; of tokenized text, lines of about ``size`` bytes."""
        if self._tokenizers:
            return lines_of_size(self.readline, size)
        return self._kept(self._file.read(-1 if size is None else size))

    def read1(self, size: int = -1, /) -> bytes:
        """Return what is there; of tokenized text a line."""
        if self._tokenizers:
            return self.readline()
        assert isinstance(self._file, io.BufferedReader)
        return self._kept(self._file.read1(size))

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line; one that is longer than ``size`` comes in parts, which are not tokenized."""
        line: bytes = self._file.readline(size)
        if self._tokenizers and (line.endswith(b"\n") or size is None or size < 0 or len(line) < size):
            end = b"\n" if line.endswith(b"\n") else b""
            line = self._tokenized(line.removesuffix(b"\n").removesuffix(b"\r")) + end
        return self._kept(line)

    def _kept(self, data: bytes) -> bytes:
        self._keep(data)
        return data

    def _tokenized(self, line: bytes) -> bytes:
        if self.splitting == "unicode":
            line = as_spaces(line)
        if self._format is None:
            return self._tokenizers[0](line)
        self._format = format_of(self, self._format)
        if self._format == "auto":
            self._format = line_scan.format_of(line) or "auto"
        sides = line.split(b"\t") if self._format == "tsv" else line_scan.SEPARATOR.split(line)
        if len(sides) != 2:
            return line
        tokens = [tokenize(side) for tokenize, side in zip(self._tokenizers, sides, strict=True)]
        if self._format == "tsv":
            return b"\t".join(tokens)
        return line if any(line_scan.SEPARATOR.search(side) for side in tokens) else b" ||| ".join(tokens)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


class Queue:
    """Lines kept in memory until they are asked for; what is over the longest line that is answered is not."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._part = b""

    def write(self, data: bytes) -> None:
        """Keep bytes."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._lines.append((self._part + line)[:MOST_BYTES] + b"\n")
            self._part = b""
        self._part = (self._part + rest)[:MOST_BYTES]

    def read(self, most: int) -> bytes:
        """Return up to ``most`` lines."""
        if len(self._lines) < most and self._part:
            self._lines.append(self._part + b"\n")
            self._part = b""
        return b"".join(self._lines.popleft() for _ in range(min(most, len(self._lines))))

    def close(self) -> None:
        """Keep no more."""
        self._lines.clear()


class LineSpool:
    """Bytes kept in a file without a name, and given out as lines once all are there."""

    _file: io.FileIO | None = None
    _lines: LineReader | None = None

    def write(self, data: bytes) -> None:
        """Keep bytes."""
        with keeping():
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="aligntools.", buffering=0)  # noqa: SIM115
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]

    def read(self, most: int) -> bytes:
        """Return up to ``most`` lines."""
        if self._file is None:
            return b""
        if self._lines is None:
            self._file.seek(0)
            self._lines = LineReader(self._file)
        return self._lines.read(most)

    def close(self) -> None:
        """Keep no more."""
        if self._lines is not None:
            self._lines.close()
        elif self._file is not None:
            self._file.close()


class Sides:
    """The sides of one text, one or both, block by block."""

    def __init__(
        self,
        path: object,
        store: type[Queue] | type[LineSpool] | None,
        format: str | None,
        lines: Queue | LineSpool | None = None,
        told: object = None,
    ) -> None:
        self.path, self.format, self._engine = path, format, Scanner()
        self.told = path if told is None else told
        self._lines: Queue | LineSpool | LineReader | None = lines
        self.input = path
        if format is None and files.is_regular(path):
            refuse_file(path)  # whose words stand on lines of their own
        if store is not None and not (isinstance(path, str | os.PathLike) and os.path.isfile(path)):
            kept = store()
            self._lines, self.input = kept, KeptInput(path, path, kept.write)
            self.told = self.input

    def spaced(self, lines: list[bytes]) -> list[bytes]:
        """Return lines in which spaces and tabs alone separate words."""
        return list(map(as_spaces, lines)) if split_of(self.path) == "unicode" else lines

    def read(self, most: int) -> list[list[bytes]]:
        """Return the next lines of each side."""
        if self._lines is None:
            self._lines = LineReader(self.path)
        data = self._lines.read(most)
        self.format = format_of(self.told, self.format)
        if self.format is None:
            lines = data.split(b"\n")
            return [[_bare(line.removesuffix(b"\r")) for line in lines[: len(lines) - (lines[-1] == b"")]]]
        if self.format == "auto":
            if not is_memory(self.path):
                refuse_for_pairs(self.path, data)
            self.format = line_scan.format_of(data) or "auto"
        self._engine.has_read(len(data))
        table, at = np.empty((_ROWS, 8), np.int64), 0
        sides: list[list[bytes]] = [[], []]
        while at < len(data):
            rows, at = self._engine.scan(data, at, self.format, table)
            for begin, cut, resume, end in table[:rows, :4].tolist():
                sides[0].append(_bare(data[begin:cut]))
                sides[1].append(_bare(data[resume:end]))
        return sides

    def close(self) -> None:
        """Close the file."""
        if self._lines is not None:
            self._lines.close()


#: Where text that can be read once is kept: until its end is reached, or as far as it is read ahead.
KEEPING = {"disk": LineSpool, "memory": Queue, None: None}


class RawPairs:
    """Both sides of parallel text, or one of them, as they stand.

    keep: Where what is no file is kept while others read it: on ``disk`` to its end, in ``memory`` as it is read.
    copies: Units of a file of `exchange` are to be written as they stand: ``copy`` has as many as lines were given out.
    inputs: What other readers take in place of the paths: of the one with both sides and None, or of both sides.
    """

    def __init__(
        self,
        source: object = None,
        target: object = None,
        *,
        joint: object = None,
        keep: str | None = None,
        input_format: str = "auto",
        languages: str | None = None,
        copies: bool = False,
    ) -> None:
        store = KEEPING[keep]
        self.joint, self.line = joint is not None, 0
        if languages is not None and not self.joint:
            raise UsageProblem("`languages` is about one file with both sides")
        self.copy: UnitCopy | None = UnitCopy(joint) if copies and self.joint else None
        given = [paired(joint, languages, input_format, self.copy)] if self.joint else [source, target]
        format = input_format if self.joint else None
        self._texts = [None if path is None else Sides(path, store, format) for path in given]
        self.inputs = tuple(text and text.input for text in (*self._texts, None)[:2])
        if self.joint and files.is_regular(joint):  # read a second time here, which is when it is copied
            self.inputs = paired(joint, languages, input_format), None
        self.paths = (joint, joint) if self.joint else (source, target)

    @property
    def format(self) -> str | None:
        """The separator of the sides of one file, if it is known; None for two files."""
        return self._texts[0].format if self.joint and self._texts[0] is not None else None

    @property
    def kind(self) -> str:
        """What the file is, where it is one of `exchange` and has been read."""
        return str(getattr(self._texts[0] and self._texts[0].told, "kind", ""))

    def read(self, most: int) -> list[Any]:
        """Return so many more lines of both sides, without spaces around them; None for a side that is not read.

        A line without a separator is all source side, and of one with several the first counts.
        """
        sides: list[Any] = []
        for text in self._texts:
            if text is None:
                sides.append(None)
                continue
            found = text.read(most)
            if len(found[0]) < most:
                total = self.line + len(found[0])
                problem = f"there is no line {total + 1}, but the text that goes with it has one"
                raise DataError(text.path, total, problem)
            sides += found
        self.line += most
        return sides

    def spaced(self, sides: list[Any]) -> list[Any]:
        """Return both sides of lines that were read with spaces and tabs alone between words."""
        texts = self._texts * 2 if self.joint else self._texts
        return [
            lines if text is None or lines is None else text.spaced(lines)
            for text, lines in zip(texts, sides, strict=True)
        ]

    def check_end(self) -> None:
        """Raise an error if lines are left."""
        for text in self._texts:
            if text is not None and text.read(1)[0]:
                problem = "this line has no counterpart: the text that goes with it ends after"
                raise DataError(text.path, self.line + 1, f"{problem} {self.line} lines")

    def close(self) -> None:
        """Close the files."""
        for text in self._texts:
            if text is not None:
                text.close()
        if self.copy is not None:
            self.copy.close()


def undecodable_replaced(lines: Sequence[bytes]) -> list[bytes]:
    """Return lines with U+FFFD in the place of bytes that are not UTF-8."""
    joined = b"\n".join(lines)
    try:
        joined.decode()
    except UnicodeDecodeError:
        return joined.decode("utf-8", "replace").encode().split(b"\n") if lines else []
    return list(lines)


def _bare(text: bytes) -> bytes:
    """Return a sentence without the spaces around it, but for one behind a word's carriage return."""
    text = text.strip(b" \t")
    return text + b" " if text.endswith(b"\r") else text


class TokenizedPairs(RawPairs):
    """Parallel text tokenized as other readers read it, and its tokens line by line for a second reading."""

    def __init__(self, raw: RawPairs, languages: str, keep: str, name: str = "moses") -> None:
        self.joint, self.line, self.paths, self.copy = raw.joint, 0, raw.paths, None
        finders = tokenizers(languages, name)
        format = raw.format
        self._texts, inputs = [], []
        for number, text in enumerate(raw.inputs[: 1 if raw.joint else 2]):
            store = Queue() if keep == "memory" else LineSpool()
            own = finders if raw.joint else finders[number : number + 1]
            inputs.append(KeptInput(text, raw.paths[number], store.write, own, format))
            self._texts.append(Sides(raw.paths[number], None, format, store, inputs[-1]))
        self.inputs = (*inputs, None)[:2]
