"""What a process of a service does: it answers, by models in memory that others share, until it is told to end."""

import os
import signal
import socket
import threading
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from aligntools.api.serving.app import application
from aligntools.api.serving.http import answer_until_told
from aligntools.store.objects import read_object

if TYPE_CHECKING:
    from aligntools.api.serving.supervising import Task


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
