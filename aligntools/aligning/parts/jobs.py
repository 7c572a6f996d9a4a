"""The jobs of work in parts: run on an engine, reported, and those of one view under its names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aligntools.aligning.parts.work import ViewWork
from aligntools.ground.engines import Engine, JobFunction
from aligntools.ground.run import Report


@dataclass
class JobRunner:
    """Runs the jobs of a training in parts on an engine, those of one kind at a time.

    report: Called with a dict after the jobs of a kind: their name (``stage``) and what they found.
    advance: Called after each job with its name, how many of the kind are done, and how many there are.
    """

    engine: Engine
    report: Report = lambda _: None
    advance: Callable[[str, int, int], None] = field(default=lambda _name, _done, _of: None)

    def run(self, name: str, function: JobFunction, jobs: Sequence[Any], **figures: Any) -> None:
        """Run a function for each job, and report it."""
        done = 0

        def one() -> None:
            nonlocal done
            done += 1
            self.advance(name, done, len(jobs))

        self.engine.run(name, function, jobs, one)
        self.report({"stage": name, "jobs": len(jobs), **figures})


class ViewRunner:
    """Runs the jobs of one view.

    parts: The text's parts.
    generation: Of the table.
    """

    def __init__(self, view_work: ViewWork, runner: JobRunner) -> None:
        self.view_work, self.runner, self.parts = view_work, runner, range(view_work.parts)
        self.store, self.name = view_work.store, view_work.name
        self.generation = 0

    @property
    def shards(self) -> range:
        """The table's shards."""
        return range(self.view_work.shards())

    def run(self, name: str, function: Callable[..., None], jobs: Sequence[int], *arguments: Any) -> None:
        """Run jobs: ``function(view_work, *arguments, job, pool)``."""
        self.runner.run(name, partial(function, self.view_work, *arguments), jobs, view=self.view_work.letters)

    def tell(self, name: str, **figures: Any) -> None:
        """Report what this process did between the jobs."""
        self.runner.report({"stage": name, "view": self.view_work.letters, **figures})
