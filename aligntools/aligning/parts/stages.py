"""The stages of work in parts: run on an engine, reported, and those of one view under its names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aligntools.aligning.parts.work import ViewWork
from aligntools.ground.engines import Engine, JobFunction
from aligntools.ground.running import Report


@dataclass
class Stages:
    """Runs the stages of a training in parts on an engine.

    Attributes
    ----------
    engine : Engine
    report : callable
        Called with a dict after each stage: its name and what it found.
    advance : callable
        Called after each job with the stage's name, the jobs done and all its jobs.
    """

    engine: Engine
    report: Report = lambda _: None
    advance: Callable[[str, int, int], None] = field(default=lambda _stage, _done, _of: None)

    def run(self, stage: str, function: JobFunction, jobs: Sequence[Any], **figures: Any) -> None:
        """Run a stage's jobs and report it."""
        done = 0

        def one() -> None:
            nonlocal done
            done += 1
            self.advance(stage, done, len(jobs))

        self.engine.run(stage, function, jobs, one)
        self.report({"stage": stage, "jobs": len(jobs), **figures})


class ViewStages:
    """Runs the stages of one view.

    Attributes
    ----------
    view_work : ViewWork
    store : Store
    parts : range
        The text's parts.
    generation : int
        Of the table.
    """

    def __init__(self, view_work: ViewWork, stages: Stages) -> None:
        self.view_work, self.stages, self.parts = view_work, stages, range(view_work.parts)
        self.store, self.name = view_work.store, view_work.name
        self.generation = 0

    @property
    def shards(self) -> range:
        """The table's shards."""
        return range(self.view_work.shards())

    def run(self, stage: str, function: Callable[..., None], jobs: Sequence[int], *arguments: Any) -> None:
        """Run a stage's jobs: ``function(view_work, *arguments, job, pool)``."""
        self.stages.run(stage, partial(function, self.view_work, *arguments), jobs, view=self.view_work.letters)

    def tell(self, stage: str, **figures: Any) -> None:
        """Report what this process did between the jobs."""
        self.stages.report({"stage": stage, "view": self.view_work.letters, **figures})
