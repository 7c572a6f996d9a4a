"""Engines: what runs the jobs of a stage, here, in other processes or on a cluster.

A job reads and writes files of a folder that all workers see and returns nothing, so it can be run again, anywhere,
where a worker has died. What comes of all jobs is the same whatever runs them, in whatever order.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from aligntools.ground.parallel import Pool

#: Called with a job and a pool of threads; can be pickled.
JobFunction: TypeAlias = Callable[[Any, Pool], None]


class Engine(Protocol):
    """Runs jobs.

    Attributes
    ----------
    workers : int
        How many jobs run at a time.
    """

    workers: int

    def run(self, stage: str, function: JobFunction, jobs: Sequence[Any], done: Callable[[], None]) -> None:
        """Call ``function(job, pool)`` for every job; return when all are done.

        Parameters
        ----------
        stage : str
            What the jobs are, for a person.
        function : callable
        jobs : sequence
            Numbers or tuples, which can be pickled.
        done : callable
            Called after each job, here.

        Raises
        ------
        AligntoolsError
            What the first job that failed raised; or when workers die again and again.
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
