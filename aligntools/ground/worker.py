"""What a worker process does: the jobs that `processes.Processes` sends it, until that ends or closes the pipe."""

import contextlib
import functools
import logging
import os
import pickle
import queue
import signal
import threading
import traceback
from multiprocessing.connection import Connection
from typing import Any

from aligntools.ground import memory, system
from aligntools.ground.parallel import Pool

#: Seconds that a job is given to end in order where the process that it works for is gone.
GRACE = 5.0


class _Told(logging.Handler):
    """Sends what the library logs to the process that started this one."""

    def __init__(self, answers: Connection) -> None:
        super().__init__()
        self._answers, self._turn = answers, threading.Lock()

    def emit(self, record: logging.LogRecord) -> None:
        self.send("log", record.name, record.levelno, record.getMessage())

    def send(self, *message: Any) -> None:
        """Send a message whole: a job's threads may log at the same time."""
        data = pickle.dumps(message)
        with self._turn, contextlib.suppress(OSError):  # nobody listens: the reader of jobs sees it, too
            self._answers.send_bytes(data)


def _end(number: int, _frame: object) -> None:
    if not system.signal_waits(number):
        signal.signal(number, signal.SIG_IGN)
        raise SystemExit(128 + number)


def _read_jobs(jobs: Connection, read: "queue.SimpleQueue[bytes | None]") -> None:
    """Read jobs ahead, to see at once, also while one is done, that the other process has ended."""
    with contextlib.suppress(EOFError, OSError):
        while True:
            read.put(jobs.recv_bytes())
    read.put(None)
    os.kill(os.getpid(), signal.SIGTERM)  # ends the job in order, once it is out of compiled code
    threading.Event().wait(GRACE)
    os._exit(1)


def portable_error(error: BaseException) -> BaseException:
    """Return an exception that can be sent, with the way to it as a note."""
    error.add_note("In a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # an exception can hold anything
        told = RuntimeError(f"{type(error).__name__}: {error}")
        told.__notes__ = getattr(error, "__notes__", [])
        return told
    return error


def main(jobs: Connection, threads: int, limit: int | None) -> None:
    """Do jobs until the pipe is closed.

    jobs: Gives pickled ``(function, job)``; takes ``("ready",)``, ``("done",)``, ``("failed", error)``, ``("log", *)``.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # comes to all processes of a terminal; the first one ends the others
    signal.signal(signal.SIGTERM, _end)
    os.set_inheritable(jobs.fileno(), False)
    told = _Told(jobs)
    library = logging.getLogger("aligntools")
    library.addHandler(told)
    library.propagate = False
    library.setLevel(logging.INFO)
    memory.set_limit(limit)
    read: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    threading.Thread(target=functools.partial(_read_jobs, jobs, read), daemon=True).start()
    with Pool(threads) as pool:
        told.send("ready")
        while (data := read.get()) is not None:
            try:
                function, job = pickle.loads(data)
                function(job, pool)
            except Exception as error:
                told.send("failed", portable_error(error))
            else:
                told.send("done")
