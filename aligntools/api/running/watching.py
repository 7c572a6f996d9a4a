"""What a command that works on files tells whoever watches it, besides the steps of `aligntools.Step`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from aligntools.api.running.progress import Step


class LineWatch(Protocol):
    """Who is told in lines what was found, and what has been reached."""

    def say(self, text: str) -> None:
        """Say a line."""

    def tell(self, text: str) -> None:
        """Say what has been reached, if it is time for a line."""

    def begin(self, what: str, total: int | None = None, unit: str = "step") -> None:
        """Take note of what is done next."""


class Watch(LineWatch, Protocol):
    """Who watches: takes steps and stages, and says lines."""

    def __call__(self, step: Step) -> None:
        """Take a step of training."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Time a stage."""

    def advance(self, what: str, steps: int = 1) -> None:
        """Take note of steps that are done."""

    def close(self) -> None:
        """Take note that what was begun has ended."""

    def go_over(self, pairs: int, part: int) -> None:
        """Take note of pairs that are aligned after training, so many at a time."""

    def passed(self, what: str, pairs: int) -> None:
        """Take note that so many more of these pairs are done."""

    def summary(self, n_pairs: int, n_links: int | None, skipped: str) -> None:
        """Say what was done, and what was left blank."""


#: What shows bars of jobs: called with a stage, how many of its jobs are done and how many there are.
Bars = Callable[[str, int, int], None]
