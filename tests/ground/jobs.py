"""Jobs that worker processes can import: each writes files of a folder, or goes wrong."""

import functools
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

from aligntools.ground import memory
from aligntools.ground.errors import DataError
from aligntools.ground.processes import Processes


def write_whole(path, text):
    """Write a file under another name first: a worker may be ended between opening and writing."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(text)
    part.replace(path)


def square(job, pool):
    """Write a number's square, by the pool's threads, and who did it."""
    folder, number = job
    (parts,) = pool.map(lambda x: x * x, [number])
    write_whole(Path(folder, str(number)), str(parts))
    write_whole(Path(folder, f"{number}.by"), str(os.getpid()))


def surroundings(job, pool):
    """Write what a worker has of the process that started it."""
    from aligntools.ground import kernels_vectors

    kept = kernels_vectors.combine._cache.cache_path
    Path(job).write_text(f"{pool.threads}\n{memory.limit()}\n{kept}\n{os.environ.get('ALIGNTOOLS_TEST')}")
    print("not to be seen")
    os.write(2, b"not to be seen")


def dies(job, pool):
    """End the process the first time that the job is begun, or each time."""
    folder, number, always = job
    begun = Path(folder, f"{number}.begun")
    if number == 2 and (always or not begun.exists()):
        begun.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    square((folder, number), pool)


def fails(job, pool):
    """Fail where a number is odd; the later, the sooner."""
    folder, number, kind = job
    time.sleep(max(0, 0.2 - number / 25))
    if number % 2:
        if kind == "data":
            raise DataError(f"{folder}/text", number, "found x; expected y")
        if kind == "disk":
            raise OSError(28, "No space left on device", f"part-{number}")
        raise ValueError(number, threading.Lock())
    square((folder, number), pool)


def warns(job, pool):
    """Log what every worker logs."""
    logging.getLogger("aligntools.test").warning("the same for all")
    logging.getLogger("aligntools.test").info("a note")


def waits(job, pool):
    """Say where it runs, and never end."""
    folder, number = job
    write_whole(Path(folder, str(number)), str(os.getpid()))
    try:
        time.sleep(600)
    finally:
        Path(folder, f"{number}.ended").touch()


def sleeps(job, pool):
    time.sleep(job)


def alone(job, pool):
    """Fail where another job is done by the same worker."""
    from distributed import get_worker

    own = Path(job, get_worker().name if isinstance(get_worker().name, str) else f"worker-{get_worker().name}")
    own.touch(exist_ok=False)
    time.sleep(0.05)
    own.unlink()


def sees_nothing(folder, token, named, dask_worker):
    """Be a worker without a folder."""
    raise DataError(folder, None, f"is not there for the worker {dask_worker.address} (give {named} another)")


def lacks(folder, token, named):
    """Be a worker without the package."""
    raise ImportError("none here")


def fails_at_once(folder, token, named):
    """Be a worker on which anything is wrong."""
    raise ValueError("so it is\nand more")


def run_waiting(folder):
    """Be a program whose workers wait: with the folder as its argument."""
    from aligntools.ground.processes import Processes
    from tests.ground import jobs  # where this module is the program, its functions are nowhere that workers look

    engine = Processes(2)
    engine.run("waiting", jobs.waits, [(folder, k) for k in range(2)], lambda: None)


if __name__ == "__main__":
    run_waiting(sys.argv[1])


def dies_once(marker, function, job, pool):
    """Do a job and, the first time, end the process before that is told."""
    function(job, pool)
    if not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)


class Dying(Processes):
    """Processes of which one ends the first time that each of some stages runs, its job done but not told.

    Marks of what ended are in a folder.
    """

    def __init__(self, folder, stages):
        super().__init__(2)
        self._folder, self._stages = folder, stages

    def run(self, stage, function, jobs, done):
        if stage in self._stages:
            function = functools.partial(dies_once, str(self._folder / f"ended in {stage}"), function)
        super().run(stage, function, jobs, done)


# Jobs on blocks


def doubled(block, pool):
    return 2 * block


def wary(block, pool):
    """Return twice a block; 13 is wrong."""
    if 13 in block:
        raise DataError("text", 13, "found 13; expected another number")
    return 2 * block


def scaled(factor, block, pool):
    """Return a block times what a run keeps, with the process that did it."""
    return factor.get()["by"] * block, os.getpid()


def ends_once(begun, block, pool):
    """End the worker the first time that block 3 is begun."""
    if 3 in block and not os.path.exists(begun):
        Path(begun).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * block


def blocks(count, taken=None, size=1):
    """Yield arrays of numbers, and note how many were asked for."""
    for k in range(count):
        if taken is not None:
            taken.append(k)
        yield np.arange(k, k + size)


def wrong_after(count):
    """Yield blocks, then be wrong."""
    yield from blocks(count)
    raise DataError("text", count + 1, "found x; expected y")
