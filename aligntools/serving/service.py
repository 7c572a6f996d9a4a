"""Runs a service: models are loaded, a port is taken, requests are answered until the process is told to end."""

import errno
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from aligntools.aligning.aligner import Aligner
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.run import Run
from aligntools.serving.answers import Answers, ServiceLimits
from aligntools.serving.app import application
from aligntools.serving.http import WAITING, AllowedHosts, answer_until_told, installed
from aligntools.serving.supervisor import Supervisor, Task
from aligntools.store.job_engines import temporary_folder
from aligntools.store.stores import Store, write_object


def named(paths: Sequence[str]) -> dict[str, str]:
    """Return model files by the names that requests use: those of the files, without what follows a dot.

    Raises UsageProblem when two have the same name.
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
    """
    shown, plain = f"{host}:{port}", host.removeprefix("[").removesuffix("]")
    try:
        if not plain:
            raise UsageProblem("`host` is empty; give an address of this machine, such as 127.0.0.1")
        family, *_, address = socket.getaddrinfo(plain, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.create_server(address[:2], family=family, backlog=WAITING)
    except (socket.gaierror, UnicodeError):
        raise DataError(shown, None, f"no machine is called '{host}'; give `host` an address of this one") from None
    except OSError as error:
        raise DataError(shown, None, _why_not(error)) from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _why_not(error: OSError) -> str:
    """Return in words why an address cannot be listened at, and what to do."""
    match error.errno:
        case errno.EADDRINUSE:
            return "the port is in use; choose another `port`, or 0 for a free one"
        case errno.EACCES | errno.EPERM:
            return "ports below 1024 are for the system's services; choose another `port`"
        case errno.EADDRNOTAVAIL:
            return "this machine does not have the address; give `host` one that it has"
    return f"{os.strerror(error.errno or 0)}; choose another `host` or `port`"


def serve(
    models: Sequence[str],
    host: str,
    port: int,
    limits: ServiceLimits,
    run: Run,
    say: Callable[[str], None],
    verify: bool = True,
    allow_hosts: Sequence[str] = (),
) -> None:
    """Answer over HTTP until SIGTERM or SIGINT, by model files; requests that are worked at are answered first.

    Port 0 is a free one; `say` gets the address, once requests are taken. Processes read the models from a temporary
    folder, into memory that they share. For `allow_hosts` see `AllowedHosts`.
    """
    installed()
    paths, hosts = named(models), AllowedHosts(host, allow_hosts)
    with closing(listening_at(host, port)) as listening:
        plain = host.strip("[]")
        shown = f"[{plain}]" if ":" in plain else plain
        said = f"serving {', '.join(paths)} on http://{shown}:{listening.getsockname()[1]}/"
        loaded = {name: Aligner.load(path, verify=verify) for name, path in paths.items()}
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
