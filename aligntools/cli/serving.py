"""Answering line by line: every request has an answer, and SIGTERM ends it when what was read is answered."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from aligntools.cli.flags import said
from aligntools.ground.errors import AligntoolsError, DataError, UsageProblem, harmless

if TYPE_CHECKING:
    from aligntools.api.given.streams import Request
    from aligntools.formats.opening.files import Output

TERMINATED = 143

#: ``--unbuffered``, passed as ``unbuffered`` (bool).
unbuffered = click.option(
    "--unbuffered",
    is_flag=True,
    help="Answer each sentence as soon as it is read; see the page on services.",
)


@contextlib.contextmanager
def until_terminated(on: bool = True) -> Iterator[None]:
    """Let SIGTERM end the reading of input, and the program with status 143 once the block is done.

    A second one ends it at once. Without ``on``, nothing is changed.
    """
    if not on:
        yield
        return
    from aligntools.formats.opening.metering import ended_by

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


class Unanswered:
    """Requests that got a blank answer: how many for each reason, and the first of them."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: str | None = None
        self.why = ""

    def add(self, reason: str, place: str, why: str = "") -> None:
        """Count one."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first = self.first or place
        self.why = self.why or why

    def tell(self) -> None:
        """Say on standard error how many there were."""
        if self.counts:
            found = ", ".join(f"{count} {reason.replace('_', '-')}" for reason, count in self.counts.items())
            why = f": {self.why}" if self.why else ""
            sys.stderr.write(harmless(f"blank answers for: {found}; first at {self.first}{why}\n"))


def answer(
    requests: "Iterable[Request]", path: str, work: Callable[[Any], bytes], out: "Output", unanswered: Unanswered
) -> None:
    """Write the answer to each request before the next is read.

    Parameters
    ----------
    requests : iterable of Request
    path : str
        For messages.
    work : callable
        Returns the answer (bytes) to a sentence; an error makes the answer a blank one.
    out : binary file
    unanswered : Unanswered
    """
    for request in requests:
        place = f"{'<stdin>' if path == '-' else path}:{request.line}"
        if request.problem:
            unanswered.add(request.problem, place)
        try:
            found = work(request.text)
        except UsageProblem:
            raise
        except (AligntoolsError, MemoryError, ValueError) as error:
            unanswered.add("failed", place, said(error) or "out of memory")
            found = work(request.blank)
        out.write(found)
        out.flush()
