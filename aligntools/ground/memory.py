"""How much memory there is, how much of it this process has, and the bound that it keeps.

Commands set the bound, of the process; what reads or allocates by the size of its input asks whether it is kept.
"""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from aligntools.ground import system
from aligntools.ground.errors import ResourceError

#: What a command uses of the machine's or the container's memory, at most, where it is not told.
SHARE = 0.75
#: Bytes that do not grow with the text: interpreter, libraries, compiled code.
FIXED = 220 << 20
#: Bytes besides tables: what the first run compiles, and what the allocator keeps of what was freed, as measured.
SPARE = 160 << 20
#: Fewest bytes that are worth being free for tables, and what part of those tables take: the rest is for copies while
#: they are sorted and merged.
LEAST, PART = 64 << 20, 0.5
_WAY_OUT = "give a part of the text, a machine with more, or a higher `max_memory`"


#: The bound in force, in bytes, and whether it was asked for.
_bound: tuple[int | None, bool] = None, False


def available(root: str = "/") -> int:
    """Return the bytes that this process may use: the least of all limits; ``root``: where ``proc`` and ``sys`` are."""
    return min([*system.memory_limits(), *_cgroup_limits(Path(root))], default=sys.maxsize)


def _cgroup_limits(root: Path) -> Iterator[int]:
    """Yield the limits of the control groups that this process is in, version 1 and 2, up to their roots."""
    mounted = root / "sys/fs/cgroup"
    for line in system.text_of(root / "proc/self/cgroup").splitlines():
        _, controllers, path = (*line.split(":", 2), "", "")[:3]
        if controllers and "memory" not in controllers.split(","):
            continue
        top, name = (mounted / "memory", "memory.limit_in_bytes") if controllers else (mounted, "memory.max")
        own = top / path.strip("/")
        for folder in (own, *own.parents):  # in a container the path may be one of the host; its root is there
            limit = system.text_of(folder / name).strip()
            if limit.isdigit():
                yield int(limit)
            if folder == top:
                break


def used() -> int:
    """Return the bytes of memory that this process has now; where that is not known, the most it has had."""
    pages = system.text_of("/proc/self/statm").split()
    return int(pages[1]) * system.page_size() if len(pages) > 1 else system.peak_memory()


def limit() -> int | None:
    """Return the bound in force, in bytes."""
    return _bound[0]


def set_limit(size: int | None, *, asked: bool = True) -> None:
    """Bound this process's memory (None: not); ``asked``: with ``--max-memory``. `bounded` puts the old bound back."""
    global _bound
    _bound = size, asked


@contextlib.contextmanager
def bounded(size: int | None, *, asked: bool = True) -> Iterator[None]:
    """Bound this process's memory as long as the block runs."""
    before = _bound
    set_limit(size, asked=asked)
    try:
        yield
    finally:
        set_limit(before[0], asked=before[1])


def excess(more: int = 0, share: float = 1.0) -> str | None:
    """Return a message if ``more`` bytes exceed a share of the bound, else None."""
    bound, asked = _bound
    if bound is None:
        return None
    needed = used() + more
    if needed <= bound * share:
        return None
    whose = "`max_memory` is" if asked else f"{SHARE:.0%} of this machine's or container's memory is"
    part = "" if share == 1 else f", of which reading may take {share:.0%}"
    return f"{shown(needed)} of memory needed, and {whose} {shown(bound)}{part} ({_WAY_OUT})"


def ask(more: int, what: str) -> None:
    """Raise an error if ``more`` bytes would pass the bound."""
    if problem := excess(more):
        raise ResourceError(f"{what}: {problem}")


def for_tables(max_memory: int | None, most: int) -> int:
    """Return the bytes of tables beyond which they go to files, so that the process keeps to its bound.

    max_memory: Of the process; None: the bound in force, and no more tables than ``most``.
    """
    bound = limit() if max_memory is None else max_memory
    if bound is None:
        return most
    taken = max(used(), FIXED) + SPARE
    if bound - taken < LEAST:
        raise too_little(bound, taken + LEAST, asked=max_memory is not None)
    free = int((bound - taken) * PART)
    return free if max_memory is not None else min(most, free)


def check_workers(max_memory: int | None, workers: int, each: int, advice: str) -> None:
    """Refuse a bound that this process and its workers cannot keep, each with ``each`` bytes besides its own."""
    bound = limit() if max_memory is None else max_memory
    if bound is None:
        return
    needed = (workers + 1) * (FIXED + each)
    if bound < needed:
        raise too_little(bound, needed, asked=max_memory is not None, advice=advice)


def too_little(bound: int, needed: int, *, asked: bool, advice: str = "or a part of the text") -> ResourceError:
    """Return the error for work that is known to need more than the bound."""
    if asked:
        return ResourceError(f"`max_memory={shown(bound)}` is too little: about {shown(needed)} are needed ({advice})")
    whose = f"{SHARE:.0%} of this machine's or container's memory, {shown(bound)}, is too little"
    return ResourceError(f"{whose}: about {shown(needed)} are needed (`max_memory` sets another bound; {advice})")


def shown(size: float) -> str:
    """Return a number of bytes in words that ``--max-memory`` takes."""
    if size >= 10 << 30:
        return f"{size / 2**30:.1f}G"
    return f"{-(-int(size) >> 20)}M" if size >= 1 << 20 else f"{-(-int(size) >> 10)}K"
