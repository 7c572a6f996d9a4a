"""Opening files of any compression, and output that appears whole or not at all."""

import bz2
import codecs
import contextlib
import glob
import gzip
import io
import itertools
import lzma
import os
import stat
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

from aligntools.formats.opening import live_inputs
from aligntools.formats.opening.recognition import (
    MARK,
    RETURNS,
    Raw,
    Recognized,
    compression_of,
    needs_mark,
    suffix_of,
    zstandard_of,
)
from aligntools.ground import memory
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.store import atomic_write

#: Longest line that is read, in bytes.
LONGEST_LINE = 1 << 26
#: Longest line, and longest sentence of CoNLL, that is answered where sentences come one by one.
MOST_BYTES = 1 << 22
#: Of the bound on memory, what readers that keep each line or word as an object may take while they read.
FOR_OBJECTS = 0.3
#: Bytes read between two looks at the memory in use, and bytes read from the file at a time.
_EVERY, _BUFFER = 1 << 20, 1 << 17
_NEWLINE = 10


#: The last of them is readable as soon as all reading shall end.
_ends: list[int] = []


@contextlib.contextmanager
def ended_by(descriptor: int) -> Iterator[None]:
    """While the block runs: files end where they have been read to once this file descriptor is readable."""
    _ends.append(descriptor)
    try:
        yield
    finally:
        _ends.pop()


#: What is read here: files that are counted, and text in memory.
Readable: TypeAlias = io.BufferedReader | io.RawIOBase


class Metered(live_inputs.ReadOnly):
    """The bytes of an open file, counted. While they are read the process may use a ``share`` of its memory bound."""

    def __init__(self, file: Recognized, path: object, share: float = 1.0) -> None:
        super().__init__()
        self._file, self._path, self._share = file, path, share
        self.live = file.live
        self._lines = self._since = self._unseen = 0  # lines ended, bytes since the last, bytes since the last look

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes and count them."""
        # waited for with the file: what is read is never lost to a signal that comes meanwhile
        if _ends and not self._file.wait(_ends[-1]):
            return 0
        count = self._file.readinto(buffer)
        if not count:
            return count
        import numpy as np  # here, since commands load this module before they show their help

        data = memoryview(buffer)[:count]
        ended = int(np.count_nonzero(np.frombuffer(data, np.uint8) == _NEWLINE))
        if ended:
            tail = bytes(data[-4096:])
            tail = tail if b"\n" in tail else bytes(data)
            self._since = len(tail) - 1 - tail.rfind(b"\n")
        else:
            self._since += len(data)
        self._lines += ended
        if self._since > LONGEST_LINE:
            if self._file.returns:
                raise DataError(self._path, None, RETURNS)
            problem = f"a line of more than {LONGEST_LINE >> 20} MiB; text has one sentence a line (split it)"
            raise DataError(self._path, self._lines + 1, problem)
        self._unseen += len(data)
        if self._unseen >= _EVERY:
            self._unseen = 0
            if excess := memory.excess(share=self._share):
                raise DataError(self._path, self._lines + 1, f"does not fit in memory: {excess}")
        return count

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()


def metered(file: io.RawIOBase, path: object, share: float = 1.0) -> Readable:
    """Return an open file that reads as this one does and is counted; text in memory is returned as it is."""
    if isinstance(file, Recognized):
        return io.BufferedReader(Metered(file, path, share), _BUFFER)
    return file


def bounded_lines(file: Readable) -> Iterator[bytes | None]:
    """Yield an open file's lines, each before the next is read; None for one over `MOST_BYTES`, which is not held."""
    while line := file.readline(MOST_BYTES + 1):
        if len(line) > MOST_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(MOST_BYTES)
            yield None
        else:
            yield line


_LOOK = 1 << 16  # bytes read at a time to find the ends of lines


def open_input(path: object, mark: bool = False, wide: bool = False, archive: bool = False) -> io.RawIOBase:
    """Open a text for reading bytes: a file, or ``-`` for standard input; see `recognition.Recognized`.

    What is open (`io.RawIOBase`, such as `bitext.TextLines`) is returned as it is. The name may say what puts lines in
    the place of what the file has (`translated`, such as of `formats.text.exchange.PairsFile`).
    """
    if isinstance(path, io.RawIOBase):
        return path
    translate = getattr(path, "translated", None)
    path = str(path)
    try:
        if os.path.isdir(path):
            raise DataError(path, None, "is a directory; a text file was expected")
        raw: Raw | None = live_inputs.held(path)
        if raw is None and path == "-":
            if sys.stdin is None:
                raise DataError("-", None, "is closed")
            try:
                raw = io.FileIO(os.dup(sys.stdin.fileno()))
            except io.UnsupportedOperation:  # replaced from within Python by something that is not a file
                raw = io.BytesIO(sys.stdin.buffer.read())
        elif raw is None:
            raw = io.FileIO(path)
        return Recognized(raw, path, mark, wide, None if wide else translate, archive)
    except OSError as error:
        raise DataError(path, None, f"cannot be opened: {error.strerror or error}") from None


@contextlib.contextmanager
def reading(path: object, share: float = 1.0, begin: int = 0, mark: bool = False) -> Iterator[Readable]:
    """Open ``path`` with `open_input`. Errors of reading, and text that does not fit in memory, become a `DataError`.

    That is a line over `LONGEST_LINE`, and text with which the process would have more than this ``share`` of the
    memory that it may use. A plain file can be read from the byte ``begin`` on.
    """
    opened = open_input(path, mark)
    if begin and isinstance(opened, Recognized):
        opened.begin_at(begin)
    with metered(opened, path, share) as file, _explained(path):
        yield file


@contextlib.contextmanager
def reading_bytes(path: object, archive: bool = False) -> Iterator[io.RawIOBase]:
    """Open a file that need not have lines, such as XML, with `open_input`: unpacked, in the encoding that it has."""
    with open_input(path, mark=True, wide=True, archive=archive) as file, _explained(path):
        yield file


@contextlib.contextmanager
def _explained(path: object) -> Iterator[None]:
    """Turn what goes wrong while a file is read into a `DataError`."""
    try:
        yield
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, OSError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise DataError(path, None, f"cannot be read to its end: {error}") from None
    except Exception as error:
        if type(error).__name__ == "ZstdError" or type(error).__module__ == "zlib":
            raise DataError(path, None, f"cannot be read to its end: {error}") from None
        raise


def is_regular(path: object) -> bool:
    """Return whether a text is a file that can be opened again, from any process: no pipe, no standard input."""
    return isinstance(path, (str, os.PathLike)) and os.path.isfile(path)


def is_plain(path: object) -> bool:
    """Return whether a text is such a file and not compressed, so that it can be read from any byte on."""
    return is_regular(path) and not compression_of(str(path))


def blocks_of_lines(
    path: object, size: int = 1 << 24, begin: int = 0, end: int | None = None
) -> Generator[bytes, None, None]:
    """Yield blocks of about ``size`` bytes of whole lines; of a plain file ``begin:end`` alone, see `line_ranges`."""
    with reading(path, begin=begin) as file:
        yield from line_blocks(file, size, None if end is None else end - max(begin, _mark(path)))


def _mark(path: object) -> int:
    """Return how many bytes the mark at a plain file's beginning has, which is not read as text."""
    with open(str(path), "rb") as file:
        return len(codecs.BOM_UTF8) if file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0


def line_ranges(path: str, size: int) -> list[tuple[int, int]]:
    """Cut a plain file into ranges of about so many bytes, which are whole lines; the first begins at 0."""
    cuts = [0]
    with open(path, "rb") as file:
        at, total = size, os.path.getsize(path)
        while at < total:
            file.seek(at)
            while (data := file.read(_LOOK)) and b"\n" not in data:
                at += len(data)
            at += data.find(b"\n") + 1
            if not data or at >= total:
                break
            cuts.append(at)
            at += size
    return list(itertools.pairwise([*cuts, total]))


def lines_before(path: str, begin: int) -> int:
    """Count the lines of a plain file that end before a byte."""
    with reading(path) as file:
        left, count = max(begin - _mark(path), 0), 0
        while left and (data := file.read(min(left, _LOOK))):
            left, count = left - len(data), count + data.count(b"\n")
    return count


def line_blocks(file: Readable, size: int, left: int | None = None) -> Generator[bytes, None, None]:
    """Yield blocks as `blocks_of_lines` does, from an open file, or from the bytes that are ``left`` of it.

    From a pipe a block is what is there: a program may feed two pipes, and be held up by the other.
    """
    live = getattr(getattr(file, "raw", None), "live", False)
    read: Callable[[int], bytes] = getattr(file, "read1" if live else "read")
    rest: list[bytes] = []
    while block := read(size if left is None else min(size, left)):
        left = None if left is None else left - len(block)
        cut = block.rfind(b"\n") + 1
        if cut == 0:
            rest.append(block)
            continue
        yield b"".join([*rest, block[:cut]])
        rest = [block[cut:]] if cut < len(block) else []
    if rest:
        yield b"".join(rest)


def lines(path: object) -> Iterator[bytes]:
    r"""Yield a text file's lines as bytes, without their ends (``\n`` or ``\r\n``)."""
    with reading(path) as file:
        for line in file:
            yield line.rstrip(b"\n").removesuffix(b"\r")


def text_lines(path: object) -> Generator[str, None, None]:
    """Yield lines as `lines` does, decoded; what is not UTF-8 becomes surrogates."""
    for line in lines(path):
        yield line.decode("utf-8", "surrogateescape")


def start_of(line: bytes, most: int = 40) -> str:
    """Return what a line begins with, for a message."""
    return line[:most].decode("utf-8", "replace")


def format_lists(first: int, lists: Iterable[Iterable[Sequence[str]]]) -> bytes:
    """Format several results of each sentence, one a line: its number and the fields, ' ||| ' between them."""
    lines = [" ||| ".join((str(number), *row)) + "\n" for number, own in enumerate(lists, first) for row in own]
    return "".join(lines).encode("utf-8", "surrogateescape")


NOT_UTF8 = "bytes that are not UTF-8 (convert the file, for instance with iconv)"


def check_utf8(block: bytes, path: object, line: int) -> None:
    """Refuse whole lines, the first of which has this number, that are not UTF-8."""
    try:
        block.decode()
    except UnicodeDecodeError as error:
        raise DataError(path, line + block.count(b"\n", 0, error.start), NOT_UTF8) from None


class Output:
    """A file that is being written; what fails is its own `DataError`, unlike what else fails meanwhile.

    Text of which the first word would be taken for a byte order mark, or the like, has a byte order mark before it.
    """

    def __init__(self, path: object, file: IO[bytes] | io.BufferedIOBase, exact: bool = False) -> None:
        self._path, self._file, self._begins = path, file, not exact

    def write(self, data: bytes) -> int:
        """Write bytes."""
        try:
            if self._begins and data:
                self._begins = False
                if needs_mark(data):
                    self._file.write(MARK)
            return self._file.write(data)
        except OSError as error:
            raise _cannot_write(self._path, error) from None

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Write one after the other."""
        for line in lines:  # which may be read or made only now
            self.write(line)

    def flush(self) -> None:
        """Hand on what was written."""
        try:
            self._file.flush()
        except OSError as error:
            raise _cannot_write(self._path, error) from None


@contextlib.contextmanager
def writing(path: str | os.PathLike[str], exact: bool = False) -> Iterator[Output]:
    """Open ``path`` for writing bytes so that it appears whole or not at all; ``-`` is standard output.

    Compression is by suffix. What is no text, or a copy, is ``exact``: without a byte order mark; see `Output`.
    """
    path = str(path)
    if path in ("-", "/dev/stdout"):  # the latter must not be renamed over where it leads to a file
        if sys.stdout is None:
            raise DataError("<stdout>", None, "is closed")
        out = Output("<stdout>", sys.stdout.buffer, exact)
        yield out
        out.flush()
        return
    # a device or a named pipe has nothing to rename
    appears = not os.path.exists(path) or os.path.isfile(path)
    with _writing(path, appears, exact) as out:
        yield out


@contextlib.contextmanager
def making_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder for files; if the block fails, remove the folders that were made and are empty."""
    folder = Path(path)
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(str(path), None, f"cannot be made: {error.strerror or error}") from None
    try:
        yield folder
    except BaseException:
        with contextlib.suppress(OSError):
            for one in new:
                one.rmdir()
        raise


@contextlib.contextmanager
def writing_for_holders(path: str | os.PathLike[str]) -> Iterator[Output]:
    """Open ``path`` as `writing` does; but a file that is there already is emptied at once and written in place.

    For callers that hold their files open, by name or without one: a renamed file would leave them with the old one.
    """
    held = os.path.isfile(path) and str(path) != "/dev/stdout"
    with _writing(str(path), appears=False) if held else writing(path) as out:
        yield out


@contextlib.contextmanager
def _writing(path: str | os.PathLike[str], appears: bool, exact: bool = False) -> Iterator[Output]:
    """Write a file that appears whole, or in its place."""
    foreign: OSError | None = None  # what else fails meanwhile is not this file's
    try:
        with (
            atomic_write.appearing(path) if appears else contextlib.nullcontext(path) as name,
            open(name, "r+b" if appears else "wb") as raw,
            _compressor(path, raw) as out,
        ):
            try:
                yield Output(path, out, exact)
            except OSError as error:
                foreign = error
                raise
            out.flush()
    except OSError as error:
        if error is foreign:
            raise
        raise _cannot_write(path, error) from None


def _cannot_write(path: object, error: OSError) -> BrokenPipeError | DataError:
    if isinstance(error, BrokenPipeError):
        return error
    return DataError(path, None, f"cannot be written: {error.strerror or error}")


def _compressor(path: object, raw: IO[bytes]) -> contextlib.AbstractContextManager[IO[bytes] | io.BufferedIOBase]:
    suffix = suffix_of(path)
    if suffix == ".gz":
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
    if suffix == ".bz2":
        return bz2.BZ2File(raw, "wb")
    if suffix == ".xz":
        return lzma.LZMAFile(raw, "wb")
    if suffix == ".zst":
        writer: contextlib.AbstractContextManager[io.BufferedIOBase]
        writer = zstandard_of(path).ZstdCompressor(write_checksum=True).stream_writer(raw, closefd=False)
        return writer
    return contextlib.nullcontext(raw)


def make_folder(path: str) -> None:
    """Make a folder, unless it is there. Raises DataError when it cannot be made."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise DataError(path, None, f"the folder cannot be made: {error.strerror or error}") from None


def are_newer(written: Iterable[str], read: Iterable[str]) -> bool:
    """Return whether files are there, and were written after others."""
    try:
        newest = max(os.stat(one).st_mtime_ns for one in read)
        return all(os.stat(one).st_mtime_ns >= newest for one in written)
    except OSError:
        return False


@dataclass(frozen=True)
class Named:
    """A file that a caller names, and how: the option, or the argument's name."""

    flag: str
    path: str

    @property
    def standard(self) -> bool:
        """Whether it is standard input or output."""
        return self.path == "-"


def _identity(named: Named, descriptor: int) -> tuple[int, int] | None:
    """Return what tells a regular file from all others; None for a device, a pipe, or what is not there."""
    try:
        info = os.fstat(descriptor) if named.standard else os.stat(named.path)
    except (OSError, ValueError):
        return None
    return (info.st_dev, info.st_ino) if stat.S_ISREG(info.st_mode) else None


def check(inputs: Iterable[Named], outputs: Iterable[Named]) -> None:
    """Refuse an output that is also an input, or two outputs that are one file, by whatever names or links."""
    identities: dict[tuple[int, int], Named] = {}
    for named in inputs:
        if (identity := _identity(named, 0)) is not None:
            identities.setdefault(identity, named)
    places: dict[object, Named] = {}
    for named in outputs:
        identity = _identity(named, 1)
        other = identities.get(identity) if identity else None
        if other:
            shown = "standard output" if named.standard else f"{named.flag} {named.path}"
            read = "standard input" if other.standard else f"{other.flag} {other.path}"
            raise UsageProblem(f"{shown} is the file that is read as {read}; write to another one")
        if named.standard or (identity is None and os.path.exists(named.path)):
            continue  # a device or a pipe may be written more than once
        place = identity or os.path.realpath(named.path)
        if place in places:
            raise UsageProblem(f"two outputs have the same name: {places[place].flag} and {named.flag} {named.path}")
        places[place] = named


def is_pattern(name: object) -> bool:
    """Return whether a name stands for several files: it has a star, and no file has that name."""
    return isinstance(name, str) and "*" in name and not os.path.exists(name)


def matching(pattern: str) -> list[tuple[str, str]]:
    """Return the files that a pattern with one star matches, sorted by name, and what the star stands for in each."""
    if pattern.count("*") > 1:
        raise UsageProblem(f"{pattern}: give one star; it stands for what tells the files apart")
    before, after = pattern.split("*")
    found = []
    for path in glob.glob(glob.escape(before) + "*" + glob.escape(after)):
        star = path[len(before) : len(path) - len(after)]
        if os.path.isfile(path) and len(path) >= len(before) + len(after):
            found.append((path, star))
    if not found:
        raise DataError(pattern, None, "matches no file")
    return sorted(found)
