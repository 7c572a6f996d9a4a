"""Runs a service: models are loaded, a port is taken, requests are answered until the process is told to end."""

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from aligntools.api.align.aligner import Aligner
from aligntools.api.running.engines import temporary_folder
from aligntools.api.serving.answers import Answers, ServiceLimits
from aligntools.api.serving.app import application
from aligntools.api.serving.http import answer_until_told, installed
from aligntools.api.serving.supervising import Supervisor, Task
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.running import Run
from aligntools.store.objects import write_object
from aligntools.store.stores import Store

#: Connections that wait to be taken.
WAITING = 2048


def named(paths: Sequence[str]) -> dict[str, str]:
    """Return model files by the names that requests use: those of the files, without what follows a dot.

    Raises
    ------
    UsageProblem
        When two have the same name.
    """
    found: dict[str, str] = {}
    for path in paths:
        name = Path(path).name.split(".")[0] or Path(path).name
        if name in found:
            raise UsageProblem(f"two models are called '{name}': {found[name]} and {path}; rename one of the files")
        found[name] = path
    return found


def listening_at(host: str, port: int) -> socket.socket:
    """Return a socket that listens; its connections send what they have at once.

    Otherwise the body of an answer waits for the client's word that it has the head: 40 ms.

    Raises
    ------
    DataError
        When the port cannot be taken.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=WAITING)
    except OSError as error:
        raise DataError(f"{host}:{port}", None, f"{os.strerror(error.errno or 0)}; choose another port") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def serve(
    models: Sequence[str],
    host: str,
    port: int,
    limits: ServiceLimits,
    run: Run,
    say: Callable[[str], None],
    verify: bool = True,
) -> None:
    """Answer over HTTP until SIGTERM or SIGINT; requests that are worked at are answered first.

    Parameters
    ----------
    models : sequence of str
        Files.
    host : str
    port : int
        0: a free one.
    limits : ServiceLimits
    run : Run
        Threads that look for links at a time, and processes; these read the models from a temporary folder, into
        memory that they share.
    say : callable
        Is told the address, once requests are taken.
    verify : bool
        Check the models' checksums.

    Raises
    ------
    UsageProblem
        When uvicorn or Starlette is not installed.
    DataError
        When a model cannot be read, or the port cannot be taken.
    ResourceError
        When worker processes cannot be started, or end again and again.
    """
    installed()
    paths = named(models)
    with closing(listening_at(host, port)) as listening:
        shown = f"[{host}]" if ":" in host else host
        said = f"serving {', '.join(paths)} on http://{shown}:{listening.getsockname()[1]}/"
        loaded = {name: Aligner.load(path, verify=verify) for name, path in paths.items()}
        threads: Any = run.threads  # a number or None
        if run.workers is None:
            answer_until_told(application(loaded, limits, threads), listening, limits, lambda: say(said))
            return
        Answers(loaded, limits).warm()  # what has to be compiled is compiled once
        with temporary_folder(run.tmpdir) as folder:
            store, kept = Store(folder), {}
            for number, name in enumerate(paths):
                kept[name] = f"model.{number}"
                write_object(store, kept[name], loaded.pop(name))
            Supervisor(Task(store, kept, limits, threads), listening, run.workers).run(lambda: say(said))
