"""A program and the processes that it starts: memory of all together, and what is done to them."""

import contextlib
import os
import resource
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bench.report import ROOT

#: Seconds between two looks.
PAUSE = 0.1
#: What a worker process's command line has in it.
WORKER = b"aligntools.ground.worker"


@dataclass
class Watched:
    """What a program and its processes took.

    Attributes
    ----------
    status : int
        Of the program; minus a signal's number.
    seconds, cpu : float
    peak : int
        Bytes, resident, of the largest process.
    whole, private : int
        Most bytes at a time of all processes together; without what is in files and can be read from them again.
    messages : str
    """

    status: int
    seconds: float
    cpu: float
    peak: int
    whole: int
    private: int
    messages: str


def descendants(pid):
    """Return a process and all that it started, directly or not."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{parent}/task"):
                text = Path(f"/proc/{parent}/task/{task}/children").read_text()
                found += [int(child) for child in text.split()]
    return found


def workers(pid):
    """Return the worker processes of a program."""
    found = []
    for child in descendants(pid)[1:]:
        with contextlib.suppress(OSError):
            if WORKER in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def _memory(pid):
    """Return a process's bytes: resident, those of them that no file has, and the most resident so far."""
    with contextlib.suppress(OSError, KeyError, ValueError):  # it has ended
        lines = dict(line.split(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "kB" in line)
        return tuple(int(lines[name].split()[0]) << 10 for name in ("VmRSS", "RssAnon", "VmHWM"))
    return 0, 0, 0


class Watch:
    """A running program, looked at until it ends."""

    def __init__(self, command, folder=None, **environment):
        variables = os.environ | {"PYTHONPATH": str(ROOT)} | {k: str(v) for k, v in environment.items()}
        self._errors, write = os.pipe()
        self._began = time.perf_counter()
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write, env=variables,
            cwd=folder,
        )  # fmt: skip
        os.close(write)
        self._said, self._whole, self._private, self._peak = [], 0, 0, 0
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._listen, self._look)]
        for thread in self._threads:
            thread.start()

    def _listen(self):
        with open(self._errors, "rb") as file:
            self._said.extend(file)

    def _look(self):
        while not self._ended.wait(PAUSE):
            resident, private, most = zip(*map(_memory, descendants(self.process.pid)), strict=True)
            self._whole, self._private = max(self._whole, sum(resident)), max(self._private, sum(private))
            self._peak = max(self._peak, *most)

    @property
    def running(self):
        """Whether it has not ended."""
        return not self._ended.is_set()

    def workers(self):
        """Return its worker processes."""
        return workers(self.process.pid)

    def tease(self, function):
        """Call a function with this as its argument, in a thread, until it returns."""
        threading.Thread(target=function, args=(self,), daemon=True).start()

    def wait(self, seconds):
        """Wait, at most until it ends; return whether it runs."""
        return not self._ended.wait(seconds)

    def end(self) -> Watched:
        """Wait until it has ended."""
        _, status, usage = os.wait4(self.process.pid, 0)
        seconds = time.perf_counter() - self._began
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self._ended.set()
        for thread in self._threads:
            thread.join(10)
        said = b"".join(self._said).decode("utf-8", "replace")
        peak = self._peak
        if usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:  # until it was loaded, it was this one
            peak = max(peak, usage.ru_maxrss << 10)
        whole, cpu = max(self._whole, peak), usage.ru_utime + usage.ru_stime
        return Watched(self.process.returncode, seconds, cpu, peak, whole, self._private, said)


def watched(command, folder=None, **environment) -> Watched:
    """Run a program to its end.

    Raises
    ------
    SystemExit
        When it fails, with what it said.
    """
    done = Watch(command, folder, **environment).end()
    if done.status:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {done.status}\n{done.messages[-2000:]}")
    return done


def kill(pid, number=signal.SIGKILL):
    """Send a process a signal; return whether it was there."""
    with contextlib.suppress(OSError):
        os.kill(pid, number)
        return True
    return False
