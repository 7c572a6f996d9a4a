"""Engines: what runs the jobs of a stage, here, in other processes or on a cluster; results do not depend on which.

A job reads and writes files that all workers see and returns nothing, so that it can be run again, anywhere.
"""

import heapq
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from aligntools.ground.errors import ResourceError
from aligntools.ground.parallel import Pool

#: How many workers a job may end before it is given up.
TRIES = 3

#: Called with a job and a pool of threads; can be pickled.
JobFunction: TypeAlias = Callable[[Any, Pool], None]


@dataclass(frozen=True)
class Advice:
    """What a user can do, as messages put it: less memory here, more on a cluster, the folder, a lost scheduler."""

    smaller: str = "fewer `workers`"
    more: str = "give workers more"
    folder: str = "`tmpdir`"
    lost: str = "give the same command again once there is one"


class Engine(Protocol):
    """Runs jobs, ``workers`` at a time."""

    workers: int

    def run(self, stage: str, function: JobFunction, jobs: Sequence[Any], done: Callable[[], None]) -> None:
        """Call ``function(job, pool)`` for every job, which can be pickled, and ``done`` after each.

        Raises AligntoolsError: What the first job that failed raised; or when workers die again and again.
        """

    def close(self) -> None:
        """End the workers."""


class Serial:
    """Runs jobs one after the other, in this process, with its threads."""

    workers = 1

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def run(self, stage: str, function: JobFunction, jobs: Sequence[Any], done: Callable[[], None]) -> None:
        """Call the function for every job."""
        for job in jobs:
            function(job, self._pool)
            done()

    def close(self) -> None:
        """Do nothing: the pool is its owner's."""


class Work:
    """The jobs of one run of an engine with workers: what is to do, how often workers ended, and what failed."""

    def __init__(self, stage: str, jobs: Sequence[Any]) -> None:
        self._stage, self._total = stage, len(jobs)
        self._waiting = list(range(len(jobs)))  # a heap: what is lost comes before what was not begun
        self._lost = dict.fromkeys(self._waiting, 0)
        self.failed: dict[int, BaseException] = {}

    def wanted(self, number: int) -> bool:
        """Return whether a job is to be done: all are that come before the first that failed."""
        return not self.failed or number < min(self.failed)

    @property
    def left(self) -> bool:
        """Whether there are jobs that are to be done and are not given out."""
        return bool(self._waiting) and self.wanted(self._waiting[0])

    def next(self) -> int | None:
        """Return the number of the next job; None where none is left."""
        return heapq.heappop(self._waiting) if self.left else None

    def again(self, number: int) -> None:
        """Put a job back that was not begun."""
        heapq.heappush(self._waiting, number)

    def lost(self, number: int, how: str, advice: str) -> None:
        """Put a job back whose worker has ended (``how``), or give it up with advice on memory."""
        self._lost[number] += 1
        if self._lost[number] < TRIES:
            self.again(number)
        else:
            self.failed[number] = ResourceError(
                f"{self.name(number)}: {TRIES} workers ended one after the other (the last {how}); probably there was "
                f"too little memory: {advice}"
            )

    def name(self, number: int) -> str:
        """Return what a job is called in messages."""
        return f"{self._stage}, job {number + 1} of {self._total}"

    def check(self) -> None:
        """Raise what the first job that failed raised."""
        if self.failed:
            raise self.failed[min(self.failed)]


_Thing = TypeVar("_Thing")

#: Things that a process keeps; the one that was not asked for longest gives way.
MOST = 16
_things: "OrderedDict[Hashable, tuple[Hashable, Any]]" = OrderedDict()
_turn = threading.Lock()


def kept(key: Hashable, make: Callable[[], _Thing], version: Hashable = None) -> _Thing:
    """Return what ``make()`` first returned in this process under a key; of another ``version`` it is made anew."""
    with _turn:
        if key in _things and _things[key][0] != version:
            del _things[key]
        if key not in _things:
            while len(_things) >= MOST:
                _things.popitem(last=False)
            _things[key] = version, make()
        _things.move_to_end(key)
        found: _Thing = _things[key][1]
        return found


def forget() -> None:
    """Let go of all of them: jobs that still want one make it again."""
    with _turn:
        _things.clear()
