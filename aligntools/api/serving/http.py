"""The server of HTTP, uvicorn: it is imported here alone."""

import socket
from collections.abc import Callable
from typing import Any

from aligntools.api.serving.answers import ServiceLimits
from aligntools.ground.errors import UsageProblem


def installed() -> None:
    """Refuse to serve without the extra.

    Raises
    ------
    UsageProblem
        When uvicorn is not installed.
    """
    try:
        import uvicorn  # noqa: F401
    except ImportError:
        raise UsageProblem("serving needs Starlette and uvicorn: pip install 'aligntools[serve]'") from None


def answer_until_told(app: Any, listening: socket.socket, limits: ServiceLimits, ready: Callable[[], None]) -> None:
    """Answer by an ASGI application until SIGTERM or SIGINT; then the signal is raised again.

    Parameters
    ----------
    app : application
    listening : socket
    limits : ServiceLimits
    ready : callable
        Is called once requests are taken: from here on a signal ends the service in order.
    """
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=int(limits.max_seconds) + 1,
    )
    Server(config).run(sockets=[listening])
