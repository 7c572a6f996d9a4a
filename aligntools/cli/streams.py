"""Standard streams as a command may rely on them: open and written whole; a run goes on where messages are not read."""

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from aligntools.ground.errors import readable


class _Unfailing:
    """Standard error; a run goes on where it is closed or not read."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            return self._file.write(readable(text))
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._file.flush()


@contextlib.contextmanager
def _written_whole() -> Iterator[None]:
    """Put a buffer before a standard output that has none (PYTHONUNBUFFERED): Python writes what there is room for."""
    out = sys.stdout
    if not isinstance(getattr(out, "buffer", None), io.RawIOBase):
        yield
        return
    raw = io.FileIO(out.fileno(), "wb", closefd=False)
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), out.encoding, out.errors, write_through=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):  # what could not be written was said when it was flushed first
            sys.stdout.flush()
        raw.close()
        sys.stdout = out


@contextlib.contextmanager
def safe() -> Iterator[None]:
    """Make the standard streams safe while the block runs."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # it is closed, and the next file that is opened would take its number
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name == "ascii":
            stream.reconfigure(encoding="utf-8")  # a system of ASCII shows bytes as they are
    stderr = sys.stderr
    sys.stderr = _Unfailing(stderr if stderr is not None else open(2, "w", closefd=False))  # noqa: SIM115
    try:
        with _written_whole():
            yield
    finally:
        sys.stderr = stderr
        for number, stream in ((1, sys.stdout), (2, stderr)):
            try:
                if stream is not None:
                    stream.flush()
            except (OSError, ValueError):  # or the interpreter tries at its end, and changes the exit status
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
