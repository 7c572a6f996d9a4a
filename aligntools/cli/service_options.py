"""Answering line by line: SIGTERM ends it when what was read is answered."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

import click

from aligntools.cli import declarations
from aligntools.cli.reporter import ProgressLines, shown
from aligntools.ground.errors import DataError

K = TypeVar("K")
TERMINATED = 143

#: ``--unbuffered``, passed as ``unbuffered`` (bool).
unbuffered = click.option(
    "--unbuffered",
    is_flag=True,
    help="Write each result before the next line is read (for services).",
)


def answered(function: Callable[..., K], o: Mapping[str, Any], first: str = "", **more: Any) -> tuple[K, ProgressLines]:
    """Call what answers texts line by line, with a command's options; return its result and what speaks of it."""
    lines = ProgressLines(not o["quiet"], first)
    with shown(o["quiet"]):
        return declarations.call(function, o, watch=lines, ending=ending(o["unbuffered"]), **more), lines


def ending(unbuffered: bool) -> Callable[[], AbstractContextManager[None]]:
    """Return what makes the context in which a command reads and answers; see `until_terminated`."""
    return partial(until_terminated, unbuffered)


@contextlib.contextmanager
def until_terminated(on: bool = True) -> Iterator[None]:
    """Let a first SIGTERM end the reading of input, and then the program with status 143; a second at once."""
    if not on:
        yield
        return
    from aligntools.formats.opening.files import ended_by

    read, write = os.pipe()
    asked: list[bool] = []

    def end(*_: object) -> None:
        if asked:
            sys.exit(TERMINATED)
        asked.append(True)
        os.write(write, b"\0")

    # A signal that comes just before a call waits for input would be seen too late by what Python runs for it; the
    # byte that the interpreter writes at once is there before.
    os.set_blocking(write, False)
    before, wakeup = signal.signal(signal.SIGTERM, end), signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    try:
        with ended_by(read):
            try:
                yield
            except DataError:
                if not asked:  # else one file ended before the other
                    raise
        if asked:
            sys.exit(TERMINATED)
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGTERM, before)
        os.close(read)
        os.close(write)
