"""The routes of a service over HTTP, for an ASGI server. Starlette is imported here alone."""

import asyncio
import functools
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args

from aligntools import __version__
from aligntools.aligning.aligner import Aligner
from aligntools.formats.opening.json_text import parse_json
from aligntools.formats.text.text_settings import Tokenizer
from aligntools.ground.errors import AligntoolsError, UsageProblem
from aligntools.serving.answers import Answers, Refused, ServiceLimits
from aligntools.serving.http import AllowedHosts
from aligntools.viewing.page import page

_log = logging.getLogger("aligntools")
#: Threads that read requests, wait, and write answers.
_MOST_THREADS = 64


class _Working:
    """Threads that answer, and how many requests are at work or wait."""

    def __init__(self, limits: ServiceLimits) -> None:
        # most threads wait for a turn; while they do, requests can be worked at together
        self._pool = ThreadPoolExecutor(min(limits.max_waiting, _MOST_THREADS))
        self._limits, self._count = limits, 0

    async def answer(self, work: Callable[[], Any]) -> Any:
        """Return what a function returns, in a thread of its own, or refuse."""
        if self._count >= self._limits.max_waiting:
            raise Refused(429, f"{self._count} requests wait; try again in a second")
        self._count += 1
        try:
            future = self._pool.submit(work)
        except RuntimeError:
            self._count -= 1
            raise Refused(503, "the service is ending") from None
        loop = asyncio.get_running_loop()

        # also long after the time is over: until then a thread is taken
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._finished))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.max_seconds)
        except TimeoutError:
            raise Refused(503, f"no answer within {self._limits.max_seconds:g} s; send less at a time") from None

    def _finished(self) -> None:
        self._count -= 1


def application(
    models: Mapping[str, Aligner],
    limits: ServiceLimits | None = None,
    threads: int | None = None,
    hosts: AllowedHosts | None = None,
) -> Any:
    """Return an ASGI application that answers by models (by name), to hosts (None: any), with so many threads."""
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.requests import ClientDisconnect, Request
        from starlette.responses import HTMLResponse, JSONResponse, Response
        from starlette.routing import Route
    except ImportError:
        raise UsageProblem("serving needs Starlette and uvicorn: pip install 'aligntools[serve]'") from None
    if not models:
        raise UsageProblem("serving needs a model")
    bounds = (limits or ServiceLimits()).checked()
    answers = Answers(models, bounds, threads or os.cpu_count() or 1)
    working = _Working(bounds)
    names = list(answers.models)
    description = openapi(names)
    shown = page("Links between two sentences", "serve", {"models": names}, connected=True, models=names)
    examples = [(route, why, json.dumps(sent, ensure_ascii=False, indent=2)) for route, (why, sent) in ROUTES.items()]
    about = page("aligntools over HTTP", "serve_docs", {}, routes=examples, models=names)
    too_long = Refused(413, f"over {bounds.max_body} bytes; send less at a time")

    def refused(error: Refused) -> Response:
        headers = {"Retry-After": "1"} if error.status in (429, 503) else {}
        return JSONResponse({"error": error.why}, error.status, headers)

    async def unknown(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        path, method, headers = request.url.path[:80], request.method[:20], dict(error.headers or {})
        if error.status_code == 405:
            allowed = ", ".join(sorted(headers["Allow"].split(", ")))
            return JSONResponse({"error": f"{path} does not take {method}, but {allowed}"}, 405, headers)
        return JSONResponse({"error": f"there is no {path}; there are {', '.join(known)}"}, 404)

    async def read(request: Request) -> Any:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "send JSON, with Content-Type: application/json")
        parts, size, length = [], 0, request.headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > bounds.max_body:
            raise too_long
        async for part in request.stream():
            size += len(part)
            if size > bounds.max_body:
                raise too_long
            parts.append(part)
        try:
            return parse_json(b"".join(parts))
        except ValueError:
            raise Refused(422, "the body is not JSON") from None

    def posted(answer: Callable[[Any], dict[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            try:
                body = await asyncio.wait_for(read(request), bounds.max_seconds)
                return JSONResponse(await working.answer(functools.partial(answer, body)))
            except Refused as error:
                return refused(error)
            except TimeoutError:
                return refused(Refused(408, f"the body of the request was not there within {bounds.max_seconds:g} s"))
            except ClientDisconnect:
                return Response(status_code=408)  # no one is there to read it
            except (AligntoolsError, MemoryError) as error:
                return refused(Refused(503, getattr(error, "message", "out of memory")))

        return endpoint

    async def home(_: Request) -> Response:
        return HTMLResponse(shown)

    async def docs(_: Request) -> Response:
        return HTMLResponse(about)

    async def described(_: Request) -> Response:
        return JSONResponse(description)

    work = {"/align": answers.align, "/check": answers.check, "/transfer-markup": answers.transfer_markup}
    routes = [Route(path, posted(answer), methods=["POST"]) for path, answer in work.items()]
    routes += [Route("/", home), Route("/docs", docs), Route("/openapi.json", described)]
    known = [route.path for route in routes]
    answers.warm()
    app = Starlette(routes=routes, exception_handlers={404: unknown, 405: unknown})
    app.router.redirect_slashes = False
    return _guarded(app, hosts, refused)


def _guarded(app: Any, hosts: AllowedHosts | None, refused: Callable[[Refused], Any]) -> Any:
    """Return an application that answers to allowed names alone, and in JSON whatever happens.

    A connection whose client was answered before it had sent everything ends with the answer.
    """

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        headers, begun = scope["headers"], False
        unread = any(n == b"transfer-encoding" or (n == b"content-length" and v != b"0") for n, v in headers)

        async def received() -> Any:
            nonlocal unread
            message = await receive()
            unread = unread and message.get("more_body", False)
            return message

        async def sent(message: Any) -> None:
            nonlocal begun
            begun = True
            if unread and message["type"] == "http.response.start":
                message = message | {"headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        async def refuse(status: int, why: str) -> None:
            if not begun:
                await refused(Refused(status, why))(scope, received, sent)

        names = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if hosts is not None and (wrong := hosts.refused(names, scope.get("server"))) is not None:
            why = f"this service does not go by the name '{wrong[:80]}'; who runs it can allow the name (allow-host)"
            await refuse(421, why)
            return
        try:
            await app(scope, received, sent)
        except asyncio.CancelledError:
            await refuse(503, "the service is ending")
        except Exception as error:
            _log.error("%s: %s: %s", scope["path"], type(error).__name__, error)
            _log.debug("%s", scope["path"], exc_info=error)
            await refuse(500, "something is wrong with the service; it says more where it runs")

    return guarded


_SIDE = {
    "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    "description": "A sentence as people write it, or its words.",
}
_PAIR = {"type": "object", "required": ["source", "target"], "properties": {"source": _SIDE, "target": _SIDE}}
_ERRORS = {
    "400": "This is no request of HTTP/1.1.",
    "408": "The request was not there in time.",
    "413": "Too many bytes or pairs.",
    "415": "The body is not application/json.",
    "421": "The Host header has a name that the service does not go by.",
    "422": "The request is not as it should be, or its one pair has too many words; 'error' says which.",
    "429": "Too many requests wait; try again after the seconds of Retry-After.",
    "503": "There was no time for an answer.",
}
_WRONG: dict[str, Any] = {
    "application/json": {
        "schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
    }
}
#: What each route does, and an example of what it is sent.
ROUTES: dict[str, tuple[str, dict[str, Any]]] = {
    "/align": (
        "Links between the words of a pair, or of many, with probabilities and places in characters.",
        {"source": "Der Zug fährt um acht Uhr ab.", "target": "The train leaves at eight o'clock."},
    ),
    "/check": (
        "What a translation leaves out, adds or repeats.",
        {"pairs": [{"source": "Der Zug fährt ab.", "target": "The train the train leaves."}]},
    ),
    "/transfer-markup": (
        "The translation with the tags of its source.",
        {"source": "Der <b>Zug</b> fährt um acht Uhr ab.", "target": "The train leaves at eight o'clock."},
    ),
}


def openapi(models: list[str]) -> dict[str, Any]:
    """Return the OpenAPI description, version 3.1."""
    request = {
        "type": "object",
        "description": "One pair, as 'source' and 'target', or many, as 'pairs'.",
        "properties": {
            "model": {"type": "string", "enum": models, "default": models[0]},
            "tokenized": {"type": "boolean", "default": False, "description": "Words stand between spaces."},
            "tokenize": {"type": "string", "description": "Languages of raw text, such as de-en, or icu."},
            "tokenizer": {"type": "string", "enum": list(get_args(Tokenizer)), "default": "moses"},
            **_PAIR["properties"],  # type: ignore[dict-item]
            "pairs": {"type": "array", "items": _PAIR},
        },
    }
    paths: dict[str, Any] = {}
    for route, (about, example) in ROUTES.items():
        own: dict[str, Any] = request
        if route == "/align":
            threshold = {"type": "number", "minimum": 0, "maximum": 1}
            own = request | {"properties": {**request["properties"], "threshold": threshold}}  # type: ignore[dict-item]
        said = {"description": "A pair, or 'pairs' in their order; one that cannot be done has an 'error' alone."}
        answers: dict[str, Any] = {"200": said | {"content": {"application/json": {"schema": {"type": "object"}}}}}
        answers |= {status: {"description": why, "content": _WRONG} for status, why in _ERRORS.items()}
        content = {"application/json": {"schema": own, "example": example}}
        body = {"required": True, "content": content}
        paths[route] = {"post": {"summary": about, "requestBody": body, "responses": answers}}
    own_name = {"title": "aligntools", "version": __version__}
    return {"openapi": "3.1.0", "info": own_name, "paths": paths}
