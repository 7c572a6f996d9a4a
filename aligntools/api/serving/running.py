"""Runs a service: models are loaded, a port is taken, requests are answered until the process is told to end."""

import os
import socket
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from aligntools.api.align.aligner import Aligner
from aligntools.api.serving.answers import ServiceLimits
from aligntools.api.serving.app import application
from aligntools.ground.errors import DataError, UsageProblem


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


def serve(
    models: Sequence[str],
    host: str,
    port: int,
    limits: ServiceLimits,
    threads: int | None,
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
    threads : int or None
        How many requests are worked at together.
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
    """
    try:
        import uvicorn
    except ImportError:
        raise UsageProblem("serving needs Starlette and uvicorn: pip install 'aligntools[serve]'") from None
    paths = named(models)
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise DataError(f"{host}:{port}", None, f"{os.strerror(error.errno or 0)}; choose another port") from None
    with closing(listening):
        loaded = {name: Aligner.load(path, verify=verify) for name, path in paths.items()}
        app = application(loaded, limits, threads)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=int(limits.max_seconds) + 1,
        )
        shown = f"[{host}]" if ":" in host else host
        said = f"serving {', '.join(paths)} on http://{shown}:{listening.getsockname()[1]}/"

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets)
                say(said)  # from here on a signal ends it in order

        Server(config).run(sockets=[listening])
