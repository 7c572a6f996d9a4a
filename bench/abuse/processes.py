"""Lines run as processes of their own, as a user runs them, with something wrong around them."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.abuse import driving, forking, lines
from bench.abuse.forking import Ending


@dataclass
class Setting:
    """What surrounds a process.

    Attributes
    ----------
    environment : dict of str to str or None
        Set, or taken away.
    limits : dict of int to int
        `resource` limits.
    closed : tuple of int
        Standard streams that are closed.
    out, err : str
        Where standard output and standard error go instead of to files.
    powerless : bool
        It runs without what root alone may do.
    signal, after : int, float
        Sent after so many seconds.
    """

    environment: dict[str, str | None] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=dict)
    closed: tuple[int, ...] = ()
    out: str = ""
    err: str = ""
    powerless: bool = False
    signal: int = 0
    after: float = 0.0


def command(line: lines.Line, arguments: list[str]) -> list[str]:
    """Return a process's command line."""
    if line.command in forking.SCRIPTS:
        return [sys.executable, "-m", "aligntools.cli.standins", line.command, *arguments]
    return [sys.executable, "-m", "aligntools", line.command, *arguments]


def _before(setting: Setting) -> Callable[[], None]:
    def prepare():
        for kind, value in setting.limits.items():
            resource.setrlimit(kind, (value, value))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGINT, signal.SIGHUP):  # ignored where the harness itself runs in the background
            signal.signal(number, signal.SIG_DFL)
        for k in setting.closed:
            os.close(k)

    return prepare


def surroundings(setting: Setting) -> dict[str, str]:
    """Return the environment of a process."""
    given = driving.environment(PYTHONDONTWRITEBYTECODE="1") | setting.environment
    return {name: value for name, value in given.items() if value is not None}


def start(words: list[str], folder: Path, setting: Setting, source: str = os.devnull) -> subprocess.Popen:
    """Start a process in a folder; ``folder.out`` and ``folder.err`` get what it writes."""
    if setting.powerless and not os.geteuid():
        words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", *words]
    out, err = setting.out or f"{folder}.out", setting.err or f"{folder}.err"
    with open(source, "rb") as stdin, open(out, "wb") as stdout, open(err, "wb") as stderr:
        return subprocess.Popen(
            words, stdin=stdin, stdout=stdout, stderr=stderr, cwd=folder, env=surroundings(setting),
            preexec_fn=_before(setting), start_new_session=True,
        )  # fmt: skip


def finish(process: subprocess.Popen, folder: Path, setting: Setting, timeout: float, began: float) -> Ending:
    """Wait for a process, signalled or not."""
    if setting.signal:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, setting.after - (time.perf_counter() - began)))
        if process.poll() is None:
            process.send_signal(setting.signal)
    try:
        status = process.wait(timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        status = None
    held = [p.read_bytes() if p.is_file() else b"" for p in (Path(f"{folder}.out"), Path(f"{folder}.err"))]
    return Ending(status, time.perf_counter() - began, 0, *held)


def run(words: list[str], folder: Path, setting: Setting, source: str = os.devnull, timeout: float = 120) -> Ending:
    """Run a process to its end."""
    began = time.perf_counter()
    return finish(start(words, folder, setting, source), folder, setting, timeout, began)


@contextlib.contextmanager
def small_disk(folder: Path, size: int, mode: str = "1777") -> Iterator[bool]:
    """Mount a disk of so many bytes on a folder; tell whether that could be done."""
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={size},mode={mode}"
    words = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(words, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)
