"""Where and how work is done: threads, memory, processes, a cluster. What comes out does not depend on it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.ranges import MEMORY, SEED, THREADS, WORKERS, size_of

#: Called after a step of long work with what it was and what it found.
Report: TypeAlias = Callable[[dict[str, Any]], None]

_RESOURCES, _WORKERS = "Text and resources", "Work in several processes or on a cluster"


@documented
@dataclass(frozen=True)
class Run(Settings):
    """Where and how work is done."""

    threads: int | Pool | None = option(
        None,
        "Threads to use. The result does not depend on it.",
        allowed=THREADS,
        otherwise="all cores",
        group=_RESOURCES,
    )
    max_memory: int | str | None = option(
        None,
        "Use at most this much memory: bytes, or for instance 800M or 4G.",
        allowed=MEMORY,
        metavar="SIZE",
        group=_RESOURCES,
    )
    workers: int | None = option(None, "Work in N processes on this machine.", allowed=WORKERS, group=_WORKERS)
    cluster: str | os.PathLike[str] | None = option(
        None,
        "Work on the Dask cluster whose scheduler has this address, or wrote this file.",
        metavar="ADDRESS|FILE",
        group=_WORKERS,
    )
    tmpdir: str | os.PathLike[str] | None = option(
        None,
        "Folder for temporary files; a cluster's workers must be able to use it.",
        metavar="DIR",
        otherwise="the system's",
        group=_WORKERS,
    )

    @property
    def memory(self) -> int | None:
        """``max_memory`` in bytes."""
        return size_of(self.max_memory) if isinstance(self.max_memory, str) else self.max_memory

    @property
    def remote(self) -> bool:
        """Whether a cluster does the work."""
        return self.cluster is not None

    @property
    def asked(self) -> bool:
        """Whether other processes do it."""
        return self.workers is not None or self.remote

    def here(self) -> Self:
        """Return it, for work that one process does.

        Raises
        ------
        UsageProblem
            When others are asked for.
        """
        if self.asked or self.tmpdir is not None:
            raise UsageProblem("this is done in one process; leave out `workers`, `cluster` and `tmpdir`")
        return self

    def rules(self) -> None:
        """Refuse options that exclude each other, and a size that cannot be read."""
        if isinstance(self.max_memory, str):
            size_of(self.max_memory)
        if self.workers is not None and self.remote:
            raise UsageProblem("`workers` are processes on this machine; a cluster has its own")
        if self.tmpdir is not None and not os.path.isdir(self.tmpdir):
            raise UsageProblem(f"`tmpdir`: {os.fspath(self.tmpdir)} is not a directory")


#: The option of a seed.
SEED_OPTION: dict[str, Any] = {
    "default": 1,
    "help": "Seed of everything random; the same seed gives the same bytes.",
    "allowed": SEED,
    "group": "Resources and messages",
}


class Lists:
    """Settings about which results of each sentence are listed: the best ones, or drawn ones; else there is one."""

    n_best: int | None
    samples: int | None

    @property
    def kind(self) -> str | None:
        """``n_best`` or ``samples``, or None for one result."""
        return "n_best" if self.n_best is not None else "samples" if self.samples is not None else None

    def rules(self) -> None:
        """Refuse what is about samples where there are none."""
        for name, value in vars(self).items() if self.kind != "samples" else ():
            if name not in ("n_best", "samples") and value != getattr(type(self), name):
                raise UsageProblem(f"`{name}` goes with `samples`")
