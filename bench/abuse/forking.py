"""Running commands many times in a process that has imported and compiled everything: a fork for each run."""

import atexit
import contextlib
import functools
import io
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from aligntools.cli import standins

#: Programs that stand in for others, which are not among the subcommands.
SCRIPTS = tuple(standins.PROGRAMS)


@dataclass
class Ending:
    """How a run ended.

    Attributes
    ----------
    status : int
        Exit status; minus the number of a signal; None when it had to be stopped.
    seconds : float
        By the clock.
    memory : int
        Bytes above those of the process that it was forked from.
    """

    status: int | None
    seconds: float
    memory: int
    out: bytes = b""
    err: bytes = b""


@functools.cache
def program(name: str):
    """Return the click command of a subcommand's program, and its name."""
    if name not in SCRIPTS:
        from aligntools.cli.main import cli

        return cli, "aligntools"
    return standins.command(name), name


def call(name: str, args: list[str]) -> int:
    """Run a command in this process to the exit status that a process of its own would have."""
    from aligntools.cli.main import run

    command, shown = program(name)
    try:
        status = run(command, args if name in SCRIPTS else [name, *args], shown)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return int(status or 0) & 255


def standard_files(source: str, out: str, err: str) -> None:
    """Put files in place of the three standard ones."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for k, fd in enumerate((os.open(source, os.O_RDONLY), os.open(out, flags), os.open(err, flags))):
        os.dup2(fd, k)
        os.close(fd)
    files = [open(k, mode, closefd=False) for k, mode in enumerate(("rb", "wb", "wb"))]  # noqa: SIM115
    sys.stdin = io.TextIOWrapper(files[0], encoding="utf-8", errors="surrogateescape")
    sys.stdout = io.TextIOWrapper(files[1], encoding="utf-8")
    sys.stderr = io.TextIOWrapper(files[2], encoding="utf-8", errors="backslashreplace", line_buffering=True)


def resident() -> int:
    """Return this process's address space in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def forked(name: str, args: list[str], folder: Path, source: str, *, timeout: float, memory: int) -> Ending:
    """Run a command in a fork of this process, which must have one thread.

    Parameters
    ----------
    folder : Path
        Where it runs; ``folder.out`` and ``folder.err`` get what it writes, ``folder.tmp`` its temporary files.
    source : str
        Its standard input.
    timeout : float
        Seconds after which it is stopped.
    memory : int
        Bytes of address space that it may take beyond those of this process.
    """
    out, err = f"{folder}.out", f"{folder}.err"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    process = os.fork()
    if process == 0:
        status = 70
        try:
            standard_files(source, out, err)
            os.chdir(folder)
            os.environ["TMPDIR"] = tempfile.tempdir = f"{folder}.tmp"
            limit = resident() + memory
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            status = call(name, args)
            atexit._run_exitfuncs()  # temporary folders are removed here, as at the end of a process
        finally:
            os._exit(status)
    status, usage = _wait(process, timeout)
    seconds = time.perf_counter() - began
    grown = max(0, usage.ru_maxrss - before) << 10
    return Ending(status, seconds, grown, Path(out).read_bytes(), Path(err).read_bytes())


def _wait(process, timeout):
    """Return the status and what was used, the status None of what had to be stopped."""
    handle = os.pidfd_open(process)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        ended = poll.poll(timeout * 1000)
        if not ended:
            os.kill(process, signal.SIGKILL)
        _, status, usage = os.wait4(process, 0)
    finally:
        os.close(handle)
    return os.waitstatus_to_exitcode(status) if ended else None, usage
