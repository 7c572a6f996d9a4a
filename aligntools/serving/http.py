"""The server of HTTP, uvicorn: it is imported here alone."""

import asyncio
import json
import logging
import re
import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, ip_address
from typing import Any

from aligntools.ground import system
from aligntools.ground.errors import UsageProblem
from aligntools.serving.answers import ServiceLimits

_log = logging.getLogger("aligntools")
#: Connections that wait to be taken.
WAITING = 2048
#: Connections at most, as far as the system allows, and open files that are for other things.
_MOST, _OTHERS = 1 << 14, 96
#: Connections that are taken at a time: so one that is in the way has ended before too many files are open.
_AT_A_TIME = 8
#: Seconds in which a client that was answered before it had sent everything may read the answer.
_LINGER = 2.0


def installed() -> None:
    """Refuse to serve without the extra."""
    try:
        import uvicorn  # noqa: F401
    except ImportError:
        raise UsageProblem("serving needs Starlette and uvicorn: pip install 'aligntools[serve]'") from None


class _Lingering:
    """A transport that, when it is closed early, discards what still comes: a reset would take the answer away."""

    def __init__(self, transport: Any, connection: Any, seconds: float) -> None:
        self._transport, self._connection, self._seconds = transport, connection, seconds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def close(self) -> None:
        later, transport = self._connection.loop.call_later, self._transport
        if transport.is_closing() or self._connection.discarding:
            return
        if self._connection.has_more():
            self._connection.discarding = True
            transport.write_eof()
            transport.resume_reading()
            later(_LINGER, transport.close)
        else:
            transport.close()
        later(_LINGER + self._seconds, transport.abort)  # does nothing where it has ended


def _connections(seconds: float, most: int) -> Any:
    """Return uvicorn's protocol, whose clients have some seconds to send a head, or to read an answer; errors are JSON.

    Of too many connections, the one that has sent no request for longest ends.
    """
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    there: dict[Any, None] = {}  # connections by when their clients began to send, or came

    class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        discarding = False
        _begun = _broken = False
        _timer: Any = None
        _reading: Any = None
        _after: Any = None  # the request before the one that is waited for

        def has_more(self) -> bool:
            return self._broken or (self.cycle is not None and self.cycle.more_body)

        def connection_made(self, transport: Any) -> None:
            super().connection_made(_Lingering(transport, self, seconds))
            self._wait()
            if len(there) > most:
                longest = next((one for one in there if one.idle()), self)
                del there[longest]
                longest.transport.abort()

        def idle(self) -> bool:
            return self.cycle is self._after or self.cycle.response_complete

        def _wait(self) -> None:
            there.pop(self, None)
            there[self] = None
            self._timer = self.loop.call_later(seconds, self._late)

        def data_received(self, data: bytes) -> None:
            if self.discarding:
                return
            self._begun = True
            if self.cycle is not self._after and self.cycle.response_complete:
                self._after = self.cycle
                self._timer.cancel()
                self._wait()
            super().data_received(data)

        def connection_lost(self, exc: Exception | None) -> None:
            there.pop(self, None)
            for timer in (self._timer, self._reading):
                if timer is not None:
                    timer.cancel()
            super().connection_lost(exc)

        def shutdown(self) -> None:
            if self.discarding:
                self.transport.abort()
            else:
                super().shutdown()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._reading = self.loop.call_later(seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._reading is not None:
                self._reading.cancel()

        def send_400_response(self, msg: str) -> None:
            self._end("400 Bad Request", "this is no request of HTTP/1.1")

        def _late(self) -> None:
            if self.cycle is self._after and not self.discarding and not self.transport.is_closing():
                if self._begun:
                    self._end("408 Request Timeout", f"the head of the request was not there within {seconds:g} s")
                else:
                    self.transport.close()

        def _end(self, status: str, why: str) -> None:
            if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
                body = json.dumps({"error": why})
                head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                self.transport.write(f"{head}Connection: close\r\n\r\n{body}".encode())
            if self.cycle is not None:
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            self._broken = True
            self.transport.close()

    return Connection


def answer_until_told(app: Any, listening: socket.socket, limits: ServiceLimits, ready: Callable[[], None]) -> None:
    """Answer until SIGTERM or SIGINT, raised again; ``ready`` is called once requests are taken."""
    import uvicorn

    def in_one_line(_: Any, about: dict[str, Any]) -> None:
        # what asyncio would show with a traceback; that too many files are open is over in a moment
        if not isinstance(error := about.get("exception"), OSError):
            _log.error("%s: %s", about["message"], error)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            asyncio.get_running_loop().set_exception_handler(in_one_line)
            await super().startup(sockets)
            listening.listen(WAITING)  # the other number that `backlog` stands for
            ready()

    config = uvicorn.Config(
        app,
        http=_connections(limits.max_seconds, max(system.open_files(_MOST) - _OTHERS, 8)),
        ws="none",
        log_level="error",  # what clients do wrong is answered; it is no line here
        access_log=False,
        backlog=_AT_A_TIME,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=int(limits.max_seconds) + 1,
    )
    Server(config).run(sockets=[listening])


#: Names of this machine alone.
_OWN = ("localhost", "127.0.0.1", "::1")
_HOST = re.compile(r"(\[[0-9a-fA-F:.]+(?:%[\w.-]+)?\]|[^\[\]:@/\s]*)(?::\d*)?")
_NAME = re.compile(r"(?:\*\.)?(?!-)[\w-]+(?:\.[\w-]+)*")


def _plain(name: str) -> str:
    """Return a name as it is compared: addresses in one form, no dot at the end."""
    name = name.strip("[]").partition("%")[0].lower().removesuffix(".")
    try:
        address = ip_address(name)
    except ValueError:
        return name
    return str((isinstance(address, IPv6Address) and address.ipv4_mapped) or address)


class AllowedHosts:
    """The names in the Host header that a service answers to: this machine's, the address listened at, more.

    Of these `example.org` is one name, `*.example.org` are those below it and `*` is all; others are a `UsageProblem`.
    """

    def __init__(self, host: str, more: Sequence[str] = ()) -> None:
        for name in more:
            if name != "*" and not _NAME.fullmatch(name):
                try:
                    ip_address(name.strip("[]"))
                except ValueError:
                    wanted = "a name without scheme and port, such as example.org"
                    raise UsageProblem(f"`allow_host` takes {wanted}, not '{name}'") from None
        self._all = "*" in more
        self._names = {_plain(name) for name in (*_OWN, host, *more)} - {""}
        self._endings = tuple(name[1:] for name in self._names if name.startswith("*."))

    def refused(self, names: Sequence[str], server: Sequence[object] | None) -> str | None:
        """Return which name of a request's head is not allowed, or None; HTTP/1.0, of no browser, may have none."""
        here = _plain(str(server[0])) if server else ""
        return None if self._all else next((name for name in names if not self._allowed(name, here)), None)

    def _allowed(self, name: str, here: str) -> bool:
        found = _HOST.fullmatch(name.strip(" \t"))
        plain = _plain(found[1]) if found else ""
        return plain != "" and (plain == here or plain in self._names or plain.endswith(self._endings))
