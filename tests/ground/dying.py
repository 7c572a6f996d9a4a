"""Engines for tests whose workers end in the middle, and jobs that they can import."""

import functools
import os
import signal
from pathlib import Path

from aligntools.ground.processes import Processes


def dies_once(marker, function, job, pool):
    """Do a job and, the first time, end the process before that is told."""
    function(job, pool)
    if not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)


class Dying(Processes):
    """Processes of which one ends the first time that each of some stages runs, its job done but not told.

    Parameters
    ----------
    folder : Path
        For marks of what ended.
    stages : set of str
    """

    def __init__(self, folder, stages):
        super().__init__(2)
        self._folder, self._stages = folder, stages

    def run(self, stage, function, jobs, done):
        if stage in self._stages:
            function = functools.partial(dies_once, str(self._folder / f"ended in {stage}"), function)
        super().run(stage, function, jobs, done)
