"""Translation units written back as they stand in their file, without those that are left out."""

import tempfile
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from aligntools.formats.opening import files
from aligntools.ground.errors import ResourceError

_SIZE = 1 << 20


class UnitCopy:
    """The bytes of a file, taken by the places of its units while another reader reads it.

    path: A file is opened a second time; of what can be read once, such as a pipe, the bytes are kept in a file without
        a name.
    encoding: Of the bytes, as Python's codecs are called.
    """

    def __init__(self, path: object) -> None:
        self.encoding = "utf-8"
        self._path, self._again = path, files.is_regular(path)
        self._places: deque[tuple[int, int]] = deque()
        self._at = self._kept = 0  # bytes given out, and bytes kept
        self._stack = ExitStack()
        self._file: Any = None
        if not self._again:
            kept = tempfile.TemporaryFile(prefix="aligntools.")  # noqa: SIM115
            self._file = self._stack.enter_context(kept)

    def add(self, data: bytes) -> None:
        """Take the next bytes of the file."""
        if self._again:
            return
        try:
            self._file.seek(self._kept)
            self._file.write(data)
        except OSError as error:
            problem = f"the text cannot be kept for a second reading in {tempfile.gettempdir()}: {error.strerror}"
            raise ResourceError(f"{problem} (TMPDIR names another folder)") from None
        self._kept += len(data)

    def place(self, begin: int, end: int) -> None:
        """Take where the next unit is."""
        self._places.append((begin, end))

    def _bytes(self, end: int | None) -> bytes:
        """Return the bytes from where it is to an end."""
        if self._file is None:
            self._file = self._stack.enter_context(files.reading_bytes(self._path))
        if not self._again:
            self._file.seek(self._at)
        parts = []
        while (end is None or self._at < end) and (
            data := self._file.read(_SIZE if end is None else min(_SIZE, end - self._at))
        ):
            parts.append(data)
            self._at += len(data)
        return b"".join(parts)

    def take(self, kept: Sequence[bool]) -> bytes:
        """Return the next units as the file has them, with what stands before each; of the others what is no space."""
        parts = []
        for keep in kept:
            begin, end = self._places.popleft()
            before, unit = self._bytes(begin), self._bytes(end)
            parts.append(before + unit if keep else self._stripped(before))
        return b"".join(parts)

    def skip(self, units: int) -> None:
        """Go past units that are not written as they stand."""
        for _ in range(units):
            self._places.popleft()

    def _stripped(self, data: bytes) -> bytes:
        """Return bytes without white space at the end."""
        if not data.strip(b" \t\r\n\0"):
            return b""
        text = data.decode(self.encoding, "surrogateescape")
        return text.rstrip(" \t\r\n").encode(self.encoding, "surrogateescape")

    def rest(self) -> bytes:
        """Return what stands after the last unit."""
        return self._bytes(None)

    def close(self) -> None:
        """Close the file."""
        self._stack.close()
        self._file = None
