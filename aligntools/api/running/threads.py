"""How many threads the public functions use, and the pool that they work with."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from aligntools.ground.parallel import Pool
from aligntools.ground.ranges import THREADS


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def threads_of(environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the threads that OMP_NUM_THREADS asks for, as other aligners take it; None for all cores."""
    found = re.match(r"\s*(\d+)", environment.get("OMP_NUM_THREADS", ""))
    return (int(found[1]) or None) if found else None


@contextmanager
def pool_of(threads: int | Pool | None) -> Iterator[Pool]:
    """Yield a pool of so many threads (None: all cores); a pool that is given is used and stays open."""
    if isinstance(threads, Pool):
        yield threads
        return
    if threads is not None:
        THREADS.check("threads", threads)
    with Pool(available_cores() if threads is None else threads) as pool:
        yield pool


def threads_in(threads: int | Pool | None) -> int:
    """Return how many threads those are; see `pool_of`."""
    if threads is None:
        return available_cores()
    return threads.threads if isinstance(threads, Pool) else threads
