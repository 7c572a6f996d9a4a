"""A file that counts what is read from it, refuses what would not fit in memory, and ends early on request."""

import contextlib
import io
from collections.abc import Iterator
from typing import Any, TypeAlias

from aligntools.formats.opening.recognition import RETURNS, Recognized
from aligntools.ground import memory
from aligntools.ground.errors import DataError

#: Longest line that is read, in bytes.
LONGEST_LINE = 1 << 26
#: Longest line, and longest sentence of CoNLL, that is answered where sentences come one by one.
MOST_BYTES = 1 << 22
#: Of the bound on memory, what readers that keep each line or word as an object may take while they read.
FOR_OBJECTS = 0.3
#: Bytes read between two looks at the memory in use, and bytes read from the file at a time.
_EVERY, _BUFFER = 1 << 20, 1 << 17
_NEWLINE = 10


class _Ending:
    """What is readable as soon as all reading shall end."""

    signal: int | None = None


@contextlib.contextmanager
def ended_by(descriptor: int) -> Iterator[None]:
    """While the block runs: files end where they have been read to once this file descriptor is readable."""
    before, _Ending.signal = _Ending.signal, descriptor
    try:
        yield
    finally:
        _Ending.signal = before


#: What is read here: files that are counted, and text in memory.
Readable: TypeAlias = io.BufferedReader | io.RawIOBase


class Metered(io.RawIOBase):
    """The bytes of an open file, counted.

    file: Read in its place and closed with it.
    path: For messages.
    share: Part of the bound on memory that the process may have while it reads.
    live: It is a pipe, a terminal or the like, where waiting for more may be waiting for ever.
    """

    def __init__(self, file: Recognized, path: object, share: float = 1.0) -> None:
        super().__init__()
        self._file, self._path, self._share = file, path, share
        self.live = file.live
        self._lines = self._since = self._unseen = 0  # lines ended, bytes since the last, bytes since the last look

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes and count them."""
        end = _Ending.signal  # waited for with the file: what is read is never lost to a signal that comes meanwhile
        if end is not None and not self._file.wait(end):
            return 0
        count = self._file.readinto(buffer)
        if count:
            self._take(memoryview(buffer)[:count])
        return count

    def _take(self, data: memoryview) -> None:
        import numpy as np  # here, since commands load this module before they show their help

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

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()


def metered(file: io.RawIOBase, path: object, share: float = 1.0) -> Readable:
    """Return an open file that reads as this one does and is counted; text in memory is returned as it is."""
    if isinstance(file, Recognized):
        return io.BufferedReader(Metered(file, path, share), _BUFFER)
    return file


def bounded_lines(file: Readable, most: int = MOST_BYTES) -> Iterator[bytes | None]:
    """Yield the lines of an open file, each before the next is read; None for one of more bytes, which is not held."""
    while line := file.readline(most + 1):
        if len(line) > most and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(most)
            yield None
        else:
            yield line
