"""Answering line by line: every request has an answer before the next is read, a blank one where it cannot be done."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from aligntools.ground.errors import AligntoolsError, UsageProblem
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.formats.opening.files import Output
    from aligntools.formats.text.requests import Request


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

    def summary(self) -> str:
        """Return how many there were, in words; empty where there were none."""
        if not self.counts:
            return ""
        found = ", ".join(f"{count} {reason.replace('_', '-')}" for reason, count in self.counts.items())
        why = f": {self.why}" if self.why else ""
        return f"blank answers for: {found}; first at {self.first}{why}"


def answer(
    requests: "Iterable[Request]", path: str, work: Callable[[Any], bytes], out: "Output", unanswered: Unanswered
) -> None:
    """Write the answer to each request before the next is read.

    path: For messages.
    work: Returns the answer (bytes) to a sentence; an error makes the answer a blank one.
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
            why = error.message if isinstance(error, AligntoolsError) else str(error)
            unanswered.add("failed", place, why or "out of memory")
            found = work(request.blank)
        out.write(found)
        out.flush()


def check_unbuffered(unbuffered: bool, run: Run) -> None:
    """Refuse to answer line by line in other processes."""
    if unbuffered and run.asked:
        raise UsageProblem("`unbuffered` answers each line in this process; leave out `workers` and `cluster`")
