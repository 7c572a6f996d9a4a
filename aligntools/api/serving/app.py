"""The routes of a service over HTTP, for an ASGI server. Starlette is imported here alone."""

import asyncio
import functools
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from aligntools.api.align.aligner import Aligner
from aligntools.api.serving.answers import Answers, Refused, ServiceLimits
from aligntools.api.serving.described import ROUTES, openapi
from aligntools.formats.opening.json_text import parse_json
from aligntools.ground.errors import AligntoolsError, UsageProblem
from aligntools.viewing.page import page

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

        def done(_: "Future[Any]") -> None:  # also long after the time is over: until then a thread is taken
            loop.call_soon_threadsafe(self._finished)

        future.add_done_callback(done)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.max_seconds)
        except TimeoutError:
            raise Refused(503, f"no answer within {self._limits.max_seconds:g} s; send less at a time") from None

    def _finished(self) -> None:
        self._count -= 1


def application(models: Mapping[str, Aligner], limits: ServiceLimits | None = None, threads: int | None = None) -> Any:
    """Return an ASGI application that answers by models.

    Parameters
    ----------
    models : dict of str to Aligner
        By the names that requests use; the first is used where they name none.
    limits : ServiceLimits or None
    threads : int or None
        How many requests are worked at together; None for as many as there are cores.

    Raises
    ------
    UsageProblem
        When Starlette is not installed, or there is no model.
    """
    try:
        from starlette.applications import Starlette
        from starlette.requests import Request
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
    examples = [
        (route, about, json.dumps(sent, ensure_ascii=False, indent=2)) for route, (about, sent) in ROUTES.items()
    ]
    about = page("aligntools over HTTP", "serve_docs", {}, routes=examples, models=names)

    def refused(error: Refused) -> Response:
        headers = {"Retry-After": "1"} if error.status in (429, 503) else {}
        return JSONResponse({"error": error.why}, error.status, headers)

    async def read(request: Request) -> Any:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "send JSON, with Content-Type: application/json")
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > bounds.max_body:
                raise Refused(413, f"over {bounds.max_body} bytes; send less at a time")
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
                return refused(Refused(503, "the request came too slowly"))
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
    answers.warm()
    return Starlette(routes=routes)
