"""Runs a service: models are loaded, a port is taken, requests are answered until the process is told to end."""

import contextlib
import errno
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import Any

from aligntools.aligning.aligner import Aligner, check_applied
from aligntools.aligning.evidence import EvidenceOptions
from aligntools.ground import system
from aligntools.ground.errors import DataError, ResourceError, UsageProblem
from aligntools.ground.processes import started, wait_for
from aligntools.ground.run import Run
from aligntools.serving.answers import Answers, ServiceLimits
from aligntools.serving.app import application
from aligntools.serving.http import WAITING, AllowedHosts, answer_until_told, installed
from aligntools.store.job_engines import temporary_folder
from aligntools.store.stores import Store, read_object, write_object


def named(paths: Sequence[str]) -> dict[str, str]:
    """Return model files by the names that requests use: those of the files, without what follows a dot."""
    found: dict[str, str] = {}
    for path in paths:
        name = Path(path).name.split(".")[0] or Path(path).name
        if name in found:
            raise UsageProblem(f"two models are called '{name}': {found[name]} and {path}; rename one of the files")
        found[name] = path
    return found


def listening_at(host: str, port: int) -> socket.socket:
    """Return a socket that listens; its connections send at once, or bodies wait 40 ms for the client."""
    shown, plain = f"{host}:{port}", host.removeprefix("[").removesuffix("]")
    try:
        if not plain:
            raise UsageProblem("`host` is empty; give an address of this machine, such as 127.0.0.1")
        family, *_, address = socket.getaddrinfo(plain, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family, backlog=WAITING)
    except (socket.gaierror, UnicodeError):
        raise DataError(shown, None, f"no machine is called '{host}'; give `host` an address of this one") from None
    except OSError as error:
        other = f"{os.strerror(error.errno or 0)}; choose another `host` or `port`"
        raise DataError(shown, None, _WHY_NOT.get(error.errno or 0, other)) from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


#: Why an address cannot be listened at, and what to do.
_WHY_NOT = {
    errno.EADDRINUSE: "the port is in use; choose another `port`, or 0 for a free one",
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM), "ports below 1024 are for the system's services; choose another `port`"
    ),
    errno.EADDRNOTAVAIL: "this machine does not have the address; give `host` one that it has",
}


def serve(
    models: Sequence[str],
    host: str,
    port: int,
    limits: ServiceLimits,
    run: Run,
    say: Callable[[str], None],
    verify: bool = True,
    allow_hosts: Sequence[str] = (),
    asked: EvidenceOptions = EvidenceOptions(),  # noqa: B008
) -> None:
    """Answer over HTTP until SIGTERM or SIGINT, by model files; requests that are worked at are answered first.

    Port 0 is a free one; ``say`` gets the address. Processes read the models of a temporary folder, into shared memory.
    """
    installed()
    paths, hosts = named(models), AllowedHosts(host, allow_hosts)
    with closing(listening_at(host, port)) as listening:
        plain = host.strip("[]")
        shown = f"[{plain}]" if ":" in plain else plain
        said = f"serving {', '.join(paths)} on http://{shown}:{listening.getsockname()[1]}/"
        loaded = {name: Aligner.load(path, verify=verify).asking(asked) for name, path in paths.items()}
        for name, aligner in loaded.items():
            check_applied(asked, aligner.weights, paths[name])
        threads: Any = run.threads  # a number or None
        if run.workers is None:
            app = application(loaded, limits, threads, hosts)
            answer_until_told(app, listening, limits, lambda: say(said))
            return
        Answers(loaded, limits).warm()  # what has to be compiled is compiled once
        with temporary_folder(run.tmpdir) as folder:
            store, kept = Store(folder), {}
            for number, name in enumerate(paths):
                kept[name] = f"model.{number}"
                write_object(store, kept[name], loaded.pop(name))
            Supervisor(Task(store, kept, limits, threads, hosts), listening, run.workers).run(lambda: say(said))


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
from aligntools.serving.service import main
main(pipe, int(sys.argv[2]))
"""


@dataclass(frozen=True)
class Task:
    """What each process answers by, with the names of the models in the store; it can be sent to one."""

    store: Store
    models: Mapping[str, str]
    limits: ServiceLimits
    threads: int | None
    hosts: AllowedHosts


class _Process:
    """A process, and the pipe to it: it says that it is ready, and the pipe's end ends it, or tells of its end."""

    def __init__(self, task: Task, listening: socket.socket) -> None:
        self.ready = False
        self.pipe, self.running = started(_BEGIN, listening.fileno())
        with contextlib.suppress(OSError):  # it has ended: seen where its pipe is read
            self.pipe.send(sys.path)
            self.pipe.send(task)

    def how_it_ended(self) -> str:
        self.pipe.close()
        return system.how_it_ended(self.running.wait())


class Supervisor:
    """Starts processes and replaces those that end, until it is told to end itself."""

    def __init__(self, task: Task, listening: socket.socket, workers: int) -> None:
        self._task, self._listening, self._workers = task, listening, workers
        self._processes: list[_Process] = []
        self._failed = 0
        self._told: list[int] = []

    def run(self, ready: Callable[[], None]) -> None:
        """Work until SIGTERM or SIGINT, raised again; ``ready`` is called once all processes take requests."""
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
        with contextlib.suppress(EOFError, OSError):
            process.pipe.recv()
            process.ready, self._failed = True, 0
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
        for process in self._processes:
            process.running.terminate()
        wait_for([process.running for process in self._processes], self._task.limits.max_seconds + GRACE)
        for process in self._processes:
            process.pipe.close()

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


def main(pipe: Connection, descriptor: int) -> None:
    """Answer requests at a port; the pipe gives a `Task`, and takes that requests are answered."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # comes to all processes of a terminal; the first one ends the others
    for handle in (pipe.fileno(), descriptor):
        os.set_inheritable(handle, False)
    listening = socket.socket(fileno=descriptor)
    task: Task = pipe.recv()
    models = {name: read_object(task.store, kept, shared=True) for name, kept in task.models.items()}
    app = application(models, task.limits, task.threads, task.hosts)

    def end_with_starter() -> None:
        try:
            pipe.recv()
        except (EOFError, OSError):
            os.kill(os.getpid(), signal.SIGTERM)

    def ready() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        pipe.send("ready")
        threading.Thread(target=end_with_starter, daemon=True).start()

    answer_until_told(app, listening, task.limits, ready)
