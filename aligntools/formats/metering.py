"""A file that counts what is read from it, and refuses what would not fit in memory."""

import io
import os
import stat

import numpy as np

from aligntools.ground import memory
from aligntools.ground.errors import DataError

#: Longest line that is read, in bytes.
LONGEST_LINE = 1 << 26
#: Of the bound on memory, what readers that keep each line or word as an object may take while they read.
FOR_OBJECTS = 0.3
#: Bytes read between two looks at the memory in use, and bytes read from the file at a time.
_EVERY, _BUFFER = 1 << 20, 1 << 17
_NEWLINE = 10


class Metered(io.RawIOBase):
    """The bytes of an open file, counted.

    Parameters
    ----------
    file : binary file
        Read in its place and closed with it.
    path : object
        For messages.
    share : float
        Part of the bound on memory that the process may have while it reads.

    Attributes
    ----------
    live : bool
        It is a pipe, a terminal or the like, where waiting for more may be waiting for ever.
    """

    def __init__(self, file, path, share=1.0):
        super().__init__()
        raw = getattr(file, "raw", None)
        plain = isinstance(raw, io.FileIO)
        self._file, self._path, self._share = file, path, share
        self._fill = raw.readinto if plain else getattr(file, "readinto1", file.readinto)
        self.live = plain and not stat.S_ISREG(os.fstat(raw.fileno()).st_mode)
        self._lines = self._since = self._unseen = 0  # lines ended, bytes since the last, bytes since the last look

    def readable(self):
        """Tell that it can be read."""
        return True

    def readinto(self, buffer):
        """Read some bytes and count them."""
        count = self._fill(buffer)
        if count:
            self._take(memoryview(buffer)[:count])
        return count

    def _take(self, data):
        ended = int(np.count_nonzero(np.frombuffer(data, np.uint8) == _NEWLINE))
        if ended:
            tail = bytes(data[-4096:])
            tail = tail if b"\n" in tail else bytes(data)
            self._since = len(tail) - 1 - tail.rfind(b"\n")
        else:
            self._since += len(data)
        self._lines += ended
        if self._since > LONGEST_LINE:
            problem = f"a line of more than {LONGEST_LINE >> 20} MiB; text has one sentence a line (split it)"
            raise DataError(self._path, self._lines + 1, problem)
        self._unseen += len(data)
        if self._unseen >= _EVERY:
            self._unseen = 0
            if problem := memory.excess(share=self._share):
                raise DataError(self._path, self._lines + 1, f"does not fit in memory: {problem}")

    def close(self):
        """Close the file too."""
        self._file.close()
        super().close()


def metered(file, path, share=1.0):
    """Return an open file that reads as this one does and is counted; text in memory is returned as it is."""
    if isinstance(file, io.BufferedIOBase):
        return io.BufferedReader(Metered(file, path, share), _BUFFER)
    return file
