"""Pipes and the like: what arrives at one is read into memory while the program waits for another.

One program may feed several pipes: while it waits until one of them is read, nothing comes through the others. So
a thread that waits for one input takes in what arrives at the others: at those of the same command, opened yet or not
(`of_command`), or where there is none, at those that the same thread has opened.
"""

import contextlib
import io
import os
import select
import stat
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from aligntools.ground import system
from aligntools.ground.errors import ResourceError

#: Bytes of an input that are kept in memory before they are asked for; more go to a temporary file.
HELD = 1 << 26
_SIZE = 1 << 16  # bytes read at a time
_open: "weakref.WeakSet[LiveInput]" = weakref.WeakSet()
_opening = threading.Lock()  # of the set, and of what a command reads


#: The pipes that the running command, the last one, reads: by name, and as soon as they are open; and a folder for what
#: memory does not keep.
_commands: list[tuple[dict[str, "LiveInput | None"], str | None]] = [({}, None)]


@contextlib.contextmanager
def of_command(paths: Iterable[str], folder: str | None = None) -> Iterator[None]:
    """While the block runs, these files belong together, and all that is open: one command reads them."""
    pipes: dict[str, LiveInput | None] = {path: None for path in paths if _is_pipe(path)}
    _commands.append((pipes, folder))
    try:
        yield
    finally:
        for held in pipes.values():
            if held is not None:
                held.close()
        _commands.pop()


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO((os.fstat(0) if path == "-" else os.stat(path)).st_mode)
    except OSError:
        return False


def held(path: str) -> "LiveInput | None":
    """Return a pipe of the command, once; all are opened with the first, since who feeds them may wait for any."""
    if not _is_read(path):
        return None
    with _opening:
        return _commands[-1][0].pop(path)


def ahead(path: str, size: int) -> bytes:
    """Return so many bytes or more that a pipe of the command begins with, or all that it has; they stay in it."""
    if not _is_read(path):
        return b""
    with _opening:
        found = _commands[-1][0][path]
    return b"" if found is None else found.ahead(size)


def _is_read(path: str) -> bool:
    """Return whether the command reads a pipe that nothing has taken, and open all of them if so."""
    with _opening:
        if path not in _commands[-1][0]:
            return False
    _open_all()
    return True


def _open_all() -> None:
    """Open what the command reads and has not opened yet: nothing waits for that, and what arrives is read."""
    with _opening:
        waiting = [path for path, found in _commands[-1][0].items() if found is None]
    for path in waiting:
        flags = os.O_RDONLY | system.BINARY | system.NO_WAITING
        with contextlib.suppress(OSError):
            found = LiveInput(io.FileIO(os.dup(0) if path == "-" else os.open(path, flags)))
            with _opening:
                _commands[-1][0][path] = found


class ReadOnly(io.RawIOBase):
    """What can be read."""

    def readable(self) -> bool:
        """Return True."""
        return True


def lines_of_size(readline: Callable[[], bytes], size: int | None) -> bytes:
    """Return whole lines of about ``size`` bytes (all of them for -1 or None); empty at the end."""
    parts, length = [], 0
    while (size is None or size < 0 or length < size) and (line := readline()):
        parts.append(line)
        length += len(line)
    return b"".join(parts)


class Made(ReadOnly):
    """Bytes that are made, or unpacked, as they are read."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        super().__init__()
        self._parts, self._rest = parts, memoryview(b"")

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes."""
        while not self._rest and (part := next(self._parts, None)) is not None:
            self._rest = memoryview(part)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


class _Kept:
    """Bytes that wait to be read, in their order: in memory, beyond `HELD` in a file without a name."""

    def __init__(self) -> None:
        self._file: tempfile.SpooledTemporaryFile[bytes] | None = None
        self._read = self._written = 0

    def __bool__(self) -> bool:
        return self._read < self._written

    def add(self, data: bytes) -> None:
        folder = _commands[-1][1]
        try:
            if self._file is None:
                self._file = tempfile.SpooledTemporaryFile(HELD, prefix="aligntools.", dir=folder)  # noqa: SIM115
            self._file.seek(self._written)
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            self.close()
            problem = f"input that is waiting cannot be kept in {folder or tempfile.gettempdir()}: {error.strerror}"
            raise ResourceError(f"{problem} ({'`tmpdir`' if folder else 'TMPDIR'} names another folder)") from None
        self._written += len(data)

    def first(self, size: int) -> bytes | None:
        """Return the waiting bytes, which stay; None if there are fewer than ``size``."""
        if self._written - self._read < size:
            return None
        if self._file is None:
            return b""
        self._file.seek(self._read)
        return self._file.read()

    def into(self, buffer: bytearray | memoryview) -> int:
        """Move bytes into a buffer; return how many."""
        if self._file is None:
            return 0
        self._file.seek(self._read)
        count = self._file.readinto(memoryview(buffer)[: self._written - self._read])
        self._read += count
        if self._read == self._written:
            self.close()
        return count

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._read, self._written = None, 0, 0


class LiveInput(ReadOnly):
    """An open pipe, socket or terminal."""

    def __init__(self, raw: io.FileIO) -> None:
        super().__init__()
        self._raw, self._kept, self._ended, self._lock = raw, _Kept(), False, threading.Lock()
        mode = os.fstat(raw.fileno()).st_mode
        self._fed = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)  # a device may never end
        self._thread = threading.get_ident()
        with _opening:
            _open.add(self)

    def readinto(self, buffer: Any, /) -> int:
        """Read what is there; wait until something is."""
        while True:
            with self._lock:
                if self._kept:
                    return self._kept.into(buffer)
                if self._ended:
                    return 0
            self.wait()
            self._take()

    def ahead(self, size: int) -> bytes:
        """Return so many bytes or more that come next, or all that there are; they stay. See `wait`."""
        while True:
            with self._lock:
                found = self._kept.first(0 if self._ended else size)
            if found is not None:
                return found
            inputs = self._others() | {self._raw.fileno(): self}
            for descriptor in _ready(list(inputs), None):
                inputs[descriptor]._take()

    def wait(self, end: int | None = None) -> bool:
        """Wait until there is something to read, or the end; meanwhile take in what comes to the others.

        end: A file descriptor; as soon as that is readable there is nothing more to wait for, and False is returned.
        """
        while True:
            with self._lock:
                here = bool(self._kept) or self._ended
            others: dict[int, LiveInput] = {} if here or _ready([self._raw.fileno()], 0) else self._others()
            ends = [] if end is None else [end]
            ready = _ready([self._raw.fileno(), *ends, *others], 0 if here else None)
            if end in ready and end is not None:
                return False
            if here or self._raw.fileno() in ready:
                return True
            for descriptor in ready:
                others[descriptor]._take()

    def _others(self) -> "dict[int, LiveInput]":
        """Return the other inputs that are fed, by their descriptors: those of the command, or of the same thread."""
        _open_all()
        with _opening:
            found = list(_open)
        return {
            other._raw.fileno(): other
            for other in found
            if other is not self and other._fed and not other._ended
            if len(_commands) > 1 or other._thread == self._thread
            if not other._raw.closed
        }

    def _take(self) -> None:
        """Take in what is there without waiting for it."""
        with self._lock, contextlib.suppress(ValueError):  # closed meanwhile
            if not self._ended and _ready([self._raw.fileno()], 0):
                data = self._raw.read(_SIZE)
                if data:
                    self._kept.add(data)
                elif data is not None:
                    self._ended = True

    def close(self) -> None:
        """Close the file."""
        with _opening:
            _open.discard(self)
        with self._lock:
            self._kept.close()
            self._raw.close()
        super().close()


def _ready(descriptors: list[int], milliseconds: int | None) -> list[int]:
    """Return those file descriptors that can be read from, or have ended; wait so long for the first of them."""
    if not hasattr(select, "poll"):  # no pipes are waited for there but by this
        return select.select(descriptors, [], [], None if milliseconds is None else milliseconds / 1000)[0]
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll(milliseconds)]
