"""Files that appear whole or not at all, one by one or several together, and what killed runs have left of them."""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from aligntools.ground import system
from aligntools.ground.errors import DataError

#: Whether a file is put on the disk before it takes its name. Without, a power cut may leave an empty one.
SYNC = True
#: What file systems without such calls say.
_UNKNOWN = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.ENOLCK)
#: Files that wait for each other, by their places, in the order in which they get their names; None: not finished yet.
_together: ContextVar["dict[str, _Part | None] | None"] = ContextVar("_together", default=None)


def _stem(name: str) -> str:
    """Return the beginning of the names that a file has until it is whole: at most 100 bytes of its own."""
    return "." + os.fsdecode(os.fsencode(name)[:100])


def _status(place: str) -> os.stat_result | None:
    """Return the status of the regular file that is to be replaced; None where there is none."""
    try:
        status = os.stat(place)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _about_folder(error: OSError, folder: str) -> OSError:
    """Return the error that a file could not be made, with what is the matter with its folder."""
    shown = folder or "."
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        is_there = os.path.lexists(shown)
        what = f"{shown} is not a folder" if is_there else f"there is no folder {shown}"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what = f"nothing can be written in the folder {shown} ({error.strerror})"
    else:
        return error
    return OSError(error.errno, what)


def _lock(handle: int, shared: bool = False, wait: bool = True) -> bool:
    """Lock a file; return whether that worked. The lock ends with the process, however that ends."""
    try:
        system.lock(handle, shared=shared, wait=wait)
    except OSError as error:
        if error.errno not in (*_UNKNOWN, errno.EWOULDBLOCK):
            raise
        return False
    return True


class _Part:
    """An unfinished file: locked, beside the place where it will appear, readable by its owner alone.

    It gets the mode of the file that it replaces, and its owner, group and access list where that is allowed.
    """

    def __init__(self, place: str, executable: bool = False) -> None:
        self.place, self._executable = place, executable
        folder, name = os.path.split(place)
        replaced = _status(place)
        mode = 0o666 if replaced is None else 0o600
        host = re.sub(r"[^\w.-]", "", system.host())[:64]
        while True:
            token = f"{os.getpid()}@{host}.{os.urandom(4).hex()}"
            self.name = os.path.join(folder, f"{_stem(name)}.{token}.part")
            try:
                self._handle = os.open(self.name, os.O_RDWR | os.O_CREAT | os.O_EXCL | system.BINARY, mode)
                break
            except FileExistsError:
                continue
            except OSError as error:
                raise _about_folder(error, folder) from None
        _lock(self._handle)

    def finish(self, sync: bool) -> None:
        """Close what was written; with ``sync`` put it on the disk."""
        if os.stat(self.name).st_ino != os.fstat(self._handle).st_ino:  # a library wrote it, in a way of its own
            mode = stat.S_IMODE(os.fstat(self._handle).st_mode)
            self._close()
            self._handle = os.open(self.name, os.O_RDWR | system.BINARY)
            system.set_mode(self._handle, self.name, mode)
            _lock(self._handle)
        mode = before = stat.S_IMODE(os.fstat(self._handle).st_mode)
        replaced = _status(self.place)
        if replaced is not None:  # who may do what with it is taken over
            mode = system.keep_owner(self._handle, replaced, self.place)
        if self._executable:
            mode |= (mode & 0o444) >> 2
        if replaced is not None or mode != before:
            system.set_mode(self._handle, self.name, mode)
        if sync:
            _sync(self._handle)

    def appear(self) -> None:
        """Give the file its name."""
        os.replace(self.name, self.place)
        self._close()

    def remove(self) -> None:
        """Take the file away."""
        with contextlib.suppress(OSError):
            os.unlink(self.name)
        self._close()

    def _close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise


def _appear(parts: list[_Part], sync: bool) -> None:
    """Give files their names, one right after the other, and with ``sync`` put the names on the disk."""
    waiting = list(parts)
    try:
        while waiting:
            waiting[0].appear()
            waiting.pop(0)
    except OSError as error:
        raise DataError(waiting[0].place, None, f"cannot be written: {error.strerror or error}") from None
    except (KeyboardInterrupt, SystemExit):  # all or none: the others take but a moment
        for part in waiting:
            with contextlib.suppress(OSError):
                part.appear()
        raise
    if not sync:
        return
    for folder in dict.fromkeys(os.path.dirname(part.place) for part in parts):
        with contextlib.suppress(PermissionError):  # of a folder that may be written but not read
            handle = os.open(folder, os.O_RDONLY)
            try:
                _sync(handle)
            finally:
                os.close(handle)


@contextlib.contextmanager
def appearing(path: str | os.PathLike[str], lasting: bool = True, executable: bool = False) -> Iterator[str]:
    """Yield the name of an empty file beside ``path``; it takes the place of ``path`` when the block ends well.

    Otherwise it is removed. Of a link the file that it leads to is replaced. With ``executable``, who may read may
    execute too. Unless it is not ``lasting``, for one run, its contents are put on the disk before (`SYNC`).
    """
    part = _Part(os.path.realpath(path), executable)
    try:
        yield part.name
        part.finish(lasting and SYNC)
        waiting = _together.get() or {}
        if part.place not in waiting:
            _appear([part], lasting and SYNC)
            return
        if (before := waiting[part.place]) is not None:  # written twice: the later one counts
            before.remove()
        waiting[part.place] = part
    except BaseException:
        part.remove()
        raise


@contextlib.contextmanager
def together(paths: Iterable[str]) -> Iterator[None]:
    """Hold back those of these files that are written in the block until it ends well, then name them in this order.

    When the block does not end well, none appears. What is written in other threads does not wait.
    """
    waiting: dict[str, _Part | None] = {os.path.realpath(path): None for path in paths}
    token = _together.set(waiting)
    try:
        yield
        _appear([part for part in waiting.values() if part is not None], SYNC)
    except BaseException:
        for part in waiting.values():
            if part is not None:
                part.remove()
        raise
    finally:
        _together.reset(token)


@dataclass(frozen=True)
class Leftover:
    """What a killed run has left of a file."""

    name: str
    process: int
    host: str
    size: int
    changed: float


def leftovers(path: str) -> list[Leftover]:
    """Return what runs that have ended, and so hold no lock, left next to the place of a file."""
    folder, name = os.path.split(os.path.realpath(path))
    pattern = re.compile(re.escape(_stem(name)) + r"\.(\d+)@([\w.-]*)\.[0-9a-f]{8}\.part", re.DOTALL)
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if match := pattern.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    handle = os.open(entry.path, os.O_RDONLY | system.BINARY | system.NO_WAITING | system.NO_LINKS)
                    try:
                        if _lock(handle, shared=True, wait=False):
                            info = os.fstat(handle)
                            found.append(Leftover(entry.path, int(match[1]), match[2], info.st_size, info.st_mtime))
                    finally:
                        os.close(handle)
    return sorted(found, key=lambda leftover: leftover.changed)
