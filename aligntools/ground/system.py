"""What some operating systems lack, and what is done instead: locks, owners, limits, reading at a place, signals."""

import contextlib
import errno
import os
import platform
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # no locks: nobody waits, and what killed runs have left is not found
    fcntl = None  # type: ignore[assignment]
try:
    import resource
except ImportError:  # no limits of a process's own, and no peak of its memory
    resource = None  # type: ignore[assignment]

#: Flags of `os.open` that are added where there are such: no translation of line ends; no waiting for a pipe; no links.
BINARY, NO_WAITING, NO_LINKS = (getattr(os, f"O_{name}", 0) for name in ("BINARY", "NONBLOCK", "NOFOLLOW"))
#: Where Linux keeps who else may do what with a file.
_ACCESS_LIST = "system.posix_acl_access"
_turn = threading.Lock()


def lock(handle: int, *, shared: bool = False, wait: bool = False) -> None:
    """Lock an open file until it is closed; OSError: EWOULDBLOCK where another holds it, ENOSYS without locks."""
    if fcntl is None:
        raise OSError(errno.ENOSYS, "no locks on this system")
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(handle, kind if wait else kind | fcntl.LOCK_NB)


def host() -> str:
    """Return what this machine is called."""
    return platform.node()


def user() -> int | None:
    """Return the number of the user that this process acts for; None where users have none."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def keep_owner(handle: int, status: os.stat_result, path: str) -> int:
    """Give an open file the owner, the group and the access list of another where that is allowed.

    Returns the mode that it may have. Where group or list stay others, the group may do no more than everybody.
    """
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if not hasattr(os, "fchown"):
        return mode
    kept, mine = True, os.fstat(handle)
    if mine.st_uid != status.st_uid:
        with contextlib.suppress(OSError):
            os.fchown(handle, status.st_uid, -1)
    if mine.st_gid != status.st_gid:
        try:
            os.fchown(handle, -1, status.st_gid)
        except OSError:
            kept = False
    if not (kept and _keep_list(handle, path)):
        mode &= ~0o070 | (mode & 0o007) << 3
    return mode


def _keep_list(handle: int, path: str) -> bool:
    """Give an open file the access list (ACL) of another, or none; return whether it has the same now."""
    if not (hasattr(os, "getxattr") and hasattr(os, "setxattr") and hasattr(os, "removexattr")):
        return True
    found = []
    for file in (path, handle):
        try:
            found.append(os.getxattr(file, _ACCESS_LIST))
        except OSError:  # it has none, or the file system knows none
            found.append(b"")
    theirs, own = found
    try:
        if theirs != own:
            os.setxattr(handle, _ACCESS_LIST, theirs) if theirs else os.removexattr(handle, _ACCESS_LIST)
    except OSError:
        return False
    return True


def set_mode(handle: int, path: str, mode: int) -> None:
    """Set who may do what with an open file, which is found at ``path``."""
    if hasattr(os, "fchmod"):
        os.fchmod(handle, mode)
    else:
        os.chmod(path, mode)


def read_at(handle: int, size: int, place: int) -> bytes:
    """Return up to ``size`` bytes of an open file from a place on; several threads may read at once."""
    if hasattr(os, "pread"):
        return os.pread(handle, size, place)
    with _turn:
        os.lseek(handle, place, os.SEEK_SET)
        return os.read(handle, size)


def fill_at(handle: int, view: memoryview, place: int) -> int:
    """Read from a place on into memory; return how many bytes."""
    if hasattr(os, "preadv"):
        return os.preadv(handle, [view], place)
    data = read_at(handle, len(view), place)
    view[: len(data)] = data
    return len(data)


def write_at(handle: int, view: memoryview, place: int) -> int:
    """Write to a place of an open file; return how many bytes."""
    if hasattr(os, "pwrite"):
        return os.pwrite(handle, view, place)
    with _turn:
        os.lseek(handle, place, os.SEEK_SET)
        return os.write(handle, view)


def page_size() -> int:
    """Return the bytes of a page of memory."""
    return os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def memory_limits() -> list[int]:
    """Return the bytes of the machine's memory and of the process's own limits, as far as the system tells."""
    found = []
    if hasattr(os, "sysconf"):
        with contextlib.suppress(ValueError, OSError):
            found.append(os.sysconf("SC_PHYS_PAGES") * page_size())
    if resource is not None:
        names = [name for name in ("RLIMIT_AS", "RLIMIT_DATA") if hasattr(resource, name)]
        found += [soft for soft, _ in (resource.getrlimit(getattr(resource, name)) for name in names) if soft > 0]
    return found


def open_files(most: int) -> int:
    """Raise the number of files and sockets that this process may open to ``most``; return the number that it may."""
    if resource is None:
        return most
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return wanted
    return most if soft == resource.RLIM_INFINITY else min(most, soft)


def peak_memory() -> int:
    """Return the most bytes of memory that this process has had; 0 where that is not known."""
    if resource is None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def text_of(path: str | os.PathLike[str]) -> str:
    """Return the text of a small file that the system makes up (``/proc``, ``/sys``); nothing where it is missing."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


#: Whether a program that is started can take over an open file, as workers take their pipe.
HANDS_OVER = os.name == "posix"
#: The signal of a terminal that is closed, and that of a timer, where there are such.
HANGUP: "signal.Signals | None" = getattr(signal, "SIGHUP", None)
ALARM: "signal.Signals | None" = getattr(signal, "SIGALRM", None) if hasattr(signal, "setitimer") else None


def alarm_in(seconds: float) -> None:
    """Have `ALARM` come after ``seconds``; does nothing where there are no timers."""
    if ALARM is not None:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def how_it_ended(status: int) -> str:
    """Return in words what became of a process, by its status."""
    if status >= 0:
        return f"ended with status {status}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-status).name}"
    return f"was killed by signal {-status}"


_held = 0
_waiting: list[int] = []


def hold_signals() -> None:
    """Let signals wait from now on, where this thread is the one that they come to; `release_signals` ends it."""
    global _held
    if threading.current_thread() is threading.main_thread():
        _held += 1


def release_signals() -> None:
    """End what the last `hold_signals` began; what has waited for it comes now."""
    global _held
    if threading.current_thread() is threading.main_thread():
        _held -= 1
        while not _held and _waiting:
            os.kill(os.getpid(), _waiting.pop())


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Let signals wait while the block runs."""
    hold_signals()
    try:
        yield
    finally:
        release_signals()


def signal_waits(number: int) -> bool:
    """Return whether a signal's handler has to return and wait; a second signal of the same number does not."""
    if not _held or number in _waiting:
        return False
    _waiting.append(number)
    return True
