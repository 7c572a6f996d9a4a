"""Processes that answer side by side: they share a port and the models' memory, and are replaced when they die."""

import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from types import FrameType

from aligntools.ground import system
from aligntools.ground.errors import ResourceError
from aligntools.serving.answers import ServiceLimits
from aligntools.serving.app import application
from aligntools.serving.http import AllowedHosts, answer_until_told
from aligntools.store.stores import Store, read_object

_log = logging.getLogger("aligntools")
#: Processes that may end before they are ready, one after the other.
TRIES = 3
#: Seconds beyond the limit of an answer that processes are given to end.
GRACE = 5.0
#: What the interpreter of a process begins with: nothing of the program that starts it.
_BEGIN = """
import sys
from multiprocessing.connection import Connection
pipe = Connection(int(sys.argv[1]))
sys.path[:] = pipe.recv()
from aligntools.serving.supervisor import main
main(pipe, int(sys.argv[2]))
"""


@dataclass(frozen=True)
class Task:
    """What each process answers by: it can be sent to one.

    models: The names of the models in the store, by those that requests use.
    """

    store: Store
    models: Mapping[str, str]
    limits: ServiceLimits
    threads: int | None
    hosts: AllowedHosts


class _Process:
    """A process, and the pipe to it: it says that it is ready, and the pipe's end ends it, or tells of its end."""

    def __init__(self, task: Task, listening: socket.socket) -> None:
        self.ready = False
        self.pipe, theirs = Pipe()
        with theirs:
            fds = [theirs.fileno(), listening.fileno()]
            command = [sys.executable, "-P", "-c", _BEGIN, *map(str, fds)]
            self.running = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=fds)
        with contextlib.suppress(OSError):  # it has ended: seen where its pipe is read
            self.pipe.send(sys.path)
            self.pipe.send(task)

    def says_ready(self) -> bool:
        """Read the pipe; return whether the process is there."""
        try:
            self.pipe.recv()
        except (EOFError, OSError):
            return False
        self.ready = True
        return True

    def how_it_ended(self) -> str:
        """Return in words what became of it."""
        self.pipe.close()
        status = self.running.wait()
        if status >= 0:
            return f"ended with status {status}"
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-status).name}"
        return f"was killed by signal {-status}"


class Supervisor:
    """Starts processes and replaces those that end, until it is told to end itself."""

    def __init__(self, task: Task, listening: socket.socket, workers: int) -> None:
        self._task, self._listening, self._workers = task, listening, workers
        self._processes: list[_Process] = []
        self._failed = 0
        self._told: list[int] = []

    def run(self, ready: Callable[[], None]) -> None:
        """Work until SIGTERM or SIGINT: processes answer what they work at, and the signal is raised again.

        ready: Is called once all processes take requests.
        Raises ResourceError when processes cannot be started, or end before they are ready.
        """
        if not system.HANDS_OVER:
            raise ResourceError("worker processes cannot be given a port on this system; leave out `workers`")
        with self._signals() as told:
            try:
                self._fill()
                said = False
                while not self._told:
                    pipes = {process.pipe: process for process in self._processes}
                    for one in wait([told, *pipes]):
                        if isinstance(one, Connection) and one in pipes and not self._told:
                            self._read(pipes[one])
                    if not said and all(process.ready for process in self._processes):
                        said = True
                        ready()
            finally:
                self._end()
        if self._told:
            signal.raise_signal(self._told[0])

    def _fill(self) -> None:
        while len(self._processes) < self._workers:
            try:
                self._processes.append(_Process(self._task, self._listening))
            except OSError as error:
                found = f"process {len(self._processes) + 1} of {self._workers} cannot be started: {error.strerror}"
                raise ResourceError(f"{found} (give fewer `workers`)") from error

    def _read(self, process: _Process) -> None:
        """Take what a process says; replace it where it has ended."""
        if process.says_ready():
            self._failed = 0
            return
        self._processes.remove(process)
        how = process.how_it_ended()
        if self._told:
            return
        if not process.ready:
            self._failed += 1
            if self._failed == TRIES:
                raise ResourceError(f"worker processes do not start (the last {how})")
        _log.warning("worker %d %s; another takes its place", process.running.pid, how)
        self._fill()

    def _end(self) -> None:
        """Have all processes end in order; kill those that take too long."""

        def kill() -> None:
            for process in self._processes:
                process.running.kill()  # does nothing where it has ended

        for process in self._processes:
            process.running.terminate()
        late = threading.Timer(self._task.limits.max_seconds + GRACE, kill)
        late.daemon = True
        late.start()
        try:
            for process in self._processes:
                process.how_it_ended()
        finally:
            late.cancel()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[int]:
        """Note signals that tell to end; yield what can be read once one has come."""
        read, write = os.pipe()
        os.set_blocking(write, False)

        def note(number: int, _: FrameType | None) -> None:
            self._told.append(number)

        before = {number: signal.signal(number, note) for number in (signal.SIGTERM, signal.SIGINT)}
        wakeup = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        try:
            yield read
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(read)
            os.close(write)


def _end_with(pipe: Connection) -> None:
    """End this process in order once the one that started it is gone."""
    try:
        pipe.recv()
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)


def main(pipe: Connection, descriptor: int) -> None:
    """Answer requests.

    pipe: Gives a `Task`, and takes that requests are answered.
    descriptor: Of the port.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # comes to all processes of a terminal; the first one ends the others
    for handle in (pipe.fileno(), descriptor):
        os.set_inheritable(handle, False)
    listening = socket.socket(fileno=descriptor)
    task: Task = pipe.recv()
    models = {name: read_object(task.store, kept, shared=True) for name, kept in task.models.items()}
    app = application(models, task.limits, task.threads, task.hosts)

    def ready() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pipe.send("ready")
        threading.Thread(target=_end_with, args=[pipe], daemon=True).start()

    answer_until_told(app, listening, task.limits, ready)
