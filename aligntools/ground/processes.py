"""Worker processes on this machine, one job at a time in each."""

import contextlib
import logging
import multiprocessing.connection
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from aligntools.ground import system
from aligntools.ground.engines import TRIES, JobFunction, Work
from aligntools.ground.errors import ResourceError

#: Seconds that workers are given to end in order, removing unfinished files.
GRACE = 2.0
_ADVICE = "give fewer `workers`, or a lower `max_memory` to keep to"
#: What the interpreter of a worker begins with: nothing of the program that starts it, so that this needs no guard.
_BEGIN = """
import sys
from multiprocessing.connection import Connection
jobs = Connection(int(sys.argv[1]))
try:
    sys.path[:], *rest = jobs.recv()
except EOFError:
    sys.exit()
from aligntools.ground.worker import main
main(jobs, *rest)
"""


def started(code: str, *handles: int, output: int | None = None) -> "tuple[Connection, subprocess.Popen[bytes]]":
    """Start an interpreter that runs code, with the numbers of a pipe's end and of open files; return the other end."""
    pipe, theirs = multiprocessing.connection.Pipe()
    with theirs:
        fds = [theirs.fileno(), *handles]
        command = [sys.executable, "-P", "-c", code, *map(str, fds)]
        quiet: Any = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        return pipe, subprocess.Popen(command, **quiet, pass_fds=fds)


class _Worker:
    """A process, the pipe to it, and the number of the job that it does."""

    def __init__(self, threads: int, limit: int | None) -> None:
        self.job: int | None = None
        self.ready = False
        self.pipe, self.process = started(_BEGIN, output=subprocess.DEVNULL)
        with contextlib.suppress(OSError):  # seen where its answer is read
            self.pipe.send((sys.path, threads, limit))

    def begin(self, number: int, data: bytes) -> None:
        self.job = number
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(data)

    def answer(self) -> tuple[Any, ...] | None:
        """Return what it sent; None where it has ended."""
        try:
            found: tuple[Any, ...] | None = pickle.loads(self.pipe.recv_bytes())
            return found
        except (EOFError, OSError):
            return None

    def how_it_ended(self) -> str:
        """Return in words what became of it, once it has closed the pipe."""
        _end([self])
        return system.how_it_ended(self.process.returncode)


def _end(workers: Sequence[_Worker]) -> None:
    """Close the pipes, which ends workers, and wait."""
    for worker in workers:
        worker.pipe.close()
    wait_for([worker.process for worker in workers], GRACE)


def wait_for(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> None:
    """Wait until processes have ended; kill those that take longer."""

    def kill() -> None:
        for process in processes:
            process.kill()  # does nothing where it has ended

    late = threading.Timer(seconds, kill)
    late.daemon = True
    late.start()
    try:
        for process in processes:
            process.wait()
    except BaseException:
        kill()
        raise
    finally:
        late.cancel()
        late.join()  # a thread that is left could hold a lock when the caller forks


class Processes:
    """Runs jobs in processes on this machine, each with at most ``limit`` bytes, started with the first job.

    They are interpreters of their own, which need no ``if __name__ == "__main__"``, with this one's environment, module
    path and compiled code; they log through its loggers and end with it. One that ends is replaced, its job done again.
    """

    def __init__(self, workers: int, threads_each: int = 1, limit: int | None = None) -> None:
        self.workers = max(1, int(workers))
        self._threads, self._limit = threads_each, limit
        self._running: list[_Worker] = []
        self._said: set[tuple[str, str]] = set()
        self._failed_starts = 0

    def run(self, stage: str, function: JobFunction, jobs: Sequence[Any], done: Callable[[], None]) -> None:
        """Call the function for every job, in any worker; raise what the first job that failed raised."""
        work = Work(stage, jobs)
        try:
            while True:
                self._give_out(work, function, jobs)
                busy = {worker.pipe: worker for worker in self._running if worker.job is not None}
                if not busy:
                    break
                for pipe in multiprocessing.connection.wait(list(busy)):
                    self._take(work, busy[pipe], done)  # type: ignore[index]
        except BaseException:
            self.close()
            raise
        work.check()

    def _give_out(self, work: Work, function: JobFunction, jobs: Sequence[Any]) -> None:
        """Give every worker that has none a job; end those whose jobs come after one that failed."""
        if work.failed:
            self._end([w for w in self._running if w.job is not None and not work.wanted(w.job)])
        while True:
            idle = next((worker for worker in self._running if worker.job is None), None)
            if idle is None and len(self._running) == self.workers:
                return
            number = work.next()
            if number is None:
                return
            if not system.HANDS_OVER:
                raise ResourceError("worker processes cannot be given their work on this system; leave out `workers`")
            try:
                if idle is None:
                    idle = _Worker(self._threads, self._limit)
                    self._running.append(idle)
            except OSError as error:
                raise ResourceError(
                    f"worker {len(self._running) + 1} of {self.workers} cannot be started: {error.strerror} "
                    "(give fewer `workers`)"
                ) from error
            idle.begin(number, pickle.dumps((function, jobs[number])))

    def _take(self, work: Work, worker: _Worker, done: Callable[[], None]) -> None:
        number, answer = worker.job, worker.answer()
        assert number is not None
        if answer is None:
            self._running.remove(worker)
            how = worker.how_it_ended()
            if not worker.ready:
                self._failed_starts += 1
                if self._failed_starts == TRIES:
                    raise ResourceError(
                        f"worker processes do not start (the last {how}): probably there is too little memory"
                    )
                work.again(number)
            else:
                work.lost(number, how, _ADVICE)
            return
        kind, *rest = answer
        if kind == "log":
            self._log(*rest)
        elif kind == "ready":
            worker.ready, self._failed_starts = True, 0
        else:
            worker.job = None
            if kind == "failed":
                work.failed[number] = rest[0]
            else:
                done()

    def _log(self, name: str, level: int, message: str) -> None:
        """Log here what workers log: a warning once, and of notes the first of a logger; all have the same."""
        said = (name, message if level >= logging.WARNING else "")
        if said not in self._said:
            self._said.add(said)
            logging.getLogger(name).log(level, "%s", message)

    def _end(self, workers: list[_Worker]) -> None:
        self._running = [worker for worker in self._running if worker not in workers]
        if workers:
            _end(workers)

    def close(self) -> None:
        """End the workers, also those that do something, which they have seconds to end in order."""
        self._end(self._running)
