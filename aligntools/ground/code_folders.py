"""Which folders compiled code is read from and written to: only folders that no other user can write to."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from aligntools.ground import system

#: Read where it is there: for the code that an image's or a cluster's ``warmup`` compiled for every user.
SYSTEM = Path("/var/cache/aligntools")
#: Of all folders that are made. The umask may take from it and cannot add to it.
MODE = 0o755
#: Seconds that a file may lie unused: 90 days.
UNUSED = 90 * 86_400
#: Of code, of code that is being written, and of locks.
SUFFIXES = (".nbc", ".part", ".lock")
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def objection(status: os.stat_result, *, parent: bool = False) -> str | None:
    """Return why code there is not to be run, or None; others may write to a sticky ``parent``, as ``/tmp`` is."""
    if system.user() is not None and status.st_uid not in (0, system.user()):
        return "it belongs to another user"
    if status.st_mode & OTHERS_WRITE and not (parent and status.st_mode & stat.S_ISVTX):
        return "others may write to it (chmod go-w)"
    return None


def bases() -> Iterator[tuple[Path, bool]]:
    """Yield the user's folders for compiled code, the first choice first, and whether the user named it."""
    if os.environ.get("ALIGNTOOLS_CACHE_DIR"):
        yield Path(os.environ["ALIGNTOOLS_CACHE_DIR"]).absolute(), True
    elif os.environ.get("XDG_CACHE_HOME"):
        yield Path(os.environ["XDG_CACHE_HOME"]).absolute() / "aligntools", False
    home = os.path.expanduser("~")  # from the user database where HOME is not set; as it is where that is silent
    if os.path.isabs(home):
        yield Path(home) / ".cache" / "aligntools", False


class CodeFolders:
    """The folders of one kind of compiled code, called ``name``; ``warn`` is told in a line of what is wrong."""

    def __init__(self, name: str, warn: Callable[[str], None]) -> None:
        self._name, self._warn = name, warn
        self._refused: set[Path] = set()
        self._written: Path | None = None
        self._asked = self._warned = self._wrote_one = False
        places = [*bases(), (SYSTEM, True)]
        self.readable = [base / name for base, named in places if self._usable(base, named)]

    def _usable(self, base: Path, named: bool) -> bool:
        """Return whether the folder is there and no other user can write to it; warn where one can."""
        for path in (base, base / self._name):
            try:
                status = path.stat()
                if not named and status.st_uid == system.user() and status.st_mode & OTHERS_WRITE:
                    path.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS_WRITE)  # made under a generous umask
                    status = path.stat()
            except OSError:
                return False
            if problem := objection(status, parent=path is base):
                if path not in self._refused:
                    self._warn(f"{path} is not used for compiled code: {problem}")
                self._refused.add(path)
                return False
        return True

    @property
    def is_named(self) -> bool:
        """Whether the user named the folder that is written to, and it can be: then it gets all that is used."""
        first, named = next(bases(), (None, False))
        return named and first is not None and self.written == first / self._name

    def writable(self) -> Path | None:
        """Return the folder that is written to, made where need be; None, with a warning, where there is none."""
        if self.written is None and not self._warned:
            self._warned = True
            self._warn(
                "no folder for compiled code can be written; compiling again in this run"
                " (set ALIGNTOOLS_CACHE_DIR to a writable folder)"
            )
        return self._written

    @property
    def written(self) -> Path | None:
        """The folder that is written to, made where need be; None, and nothing said, where there is none."""
        if not self._asked:
            self._asked = True
            self._written = next((f for f in map(self._made, bases()) if f), None)
        return self._written

    def _made(self, place: tuple[Path, bool]) -> Path | None:
        base, named = place
        folder = base / self._name
        try:
            for path in (*reversed(base.parents), base, folder):
                if not path.is_dir():
                    with contextlib.suppress(FileExistsError):  # another process was quicker
                        path.mkdir(MODE)
        except OSError:
            return None
        if not (self._usable(base, named) and os.access(folder, os.W_OK | os.X_OK)):
            return None
        if folder not in self.readable:
            self.readable.insert(0, folder)
        return folder

    def wrote(self, path: Path) -> None:
        """Take note of a file that was written; the first time, remove files of any version that nobody uses."""
        if self._wrote_one:
            return
        self._wrote_one = True
        now = path.stat().st_mtime  # by the file system's own clock
        for file in path.parent.parent.glob(f"{self._name.split('-')[0]}*/*.*"):
            with contextlib.suppress(OSError):
                status = file.stat()
                if file.suffix in SUFFIXES and now - max(status.st_atime, status.st_mtime) > UNUSED:
                    file.unlink()
                    file.parent.rmdir()  # where it was the last

    def stop_writing(self) -> None:
        """Write nothing from now on."""
        self._asked, self._warned, self._written = True, True, None
