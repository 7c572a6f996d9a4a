"""Jobs on blocks that worker processes can import."""

import os
import signal
from pathlib import Path

import numpy as np

from aligntools.ground.errors import DataError


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


def dies_once(begun, block, pool):
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
