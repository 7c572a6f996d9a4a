"""Running kernels over a fixed partition on a pool of threads, and products of matrices on one thread.

The partition never depends on the number of threads, every block owns what it writes, and what has to be
summed is summed in block order: so the number of threads never shows in the results.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, TypeVar

from aligntools.ground.ranges import THREADS

if TYPE_CHECKING:
    import numpy as np


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Pool:
    """A pool of ``threads`` workers; with one thread everything runs in the caller."""

    def __init__(self, threads: int) -> None:
        self.threads = max(1, int(threads))
        self._executor = ThreadPoolExecutor(self.threads) if self.threads > 1 else None

    def map(self, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Return ``[function(x) for x in items]``; the first exception raised is raised here."""
        items = list(items)
        if self._executor is None or len(items) < 2:
            return [function(x) for x in items]
        return list(self._executor.map(function, items))

    def close(self) -> None:
        """End the workers."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def over(pool: Pool | None, function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """Return ``[function(x) for x in items]``, by the pool where there is one."""
    return [function(x) for x in items] if pool is None else pool.map(function, items)


def balanced_blocks(costs: "np.ndarray", blocks: int) -> list[tuple[int, int]]:
    """Cut ``0..len(costs)`` into at most ``blocks`` runs of about equal total cost.

    costs [n].
    Returns half-open runs that cover ``0..n`` in order; none is empty.
    """
    import numpy as np  # here, since commands load this module before they show their help

    n = len(costs)
    if n < 2:
        return [(0, n)] * n
    total = np.cumsum(np.asarray(costs, np.float64) + 1e-9)
    cuts = np.searchsorted(total, np.linspace(0, total[-1], blocks + 1)[1:-1], side="left") + 1
    edges = np.unique(np.concatenate([[0], np.minimum(cuts, n), [n]]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Keep products of matrices to one thread each in the body of the ``with`` statement."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


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
    """Yield a pool of threads (None: all cores); a pool that is given is used and stays open."""
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
