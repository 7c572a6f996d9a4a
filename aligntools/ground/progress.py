"""What long work reports while it goes on: one `Step` for each thing done, passed to a callback."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias


@dataclass(frozen=True)
class Step:
    """One step of long work.

    Attributes
    ----------
    stage : str
        What was done: ``reading``, ``ibm1``, ``hmm``, ``sampler``, ``aligning`` and the like.
    done, total : int or None
        Steps done so far and steps in all, where they are known.
    figures : mapping of str to number, string or list
        What the step found out, as ``--log-json`` writes it; seconds under ``seconds``, natural logarithms under
        ``log_likelihood``.
    """

    stage: str
    done: int | None = None
    total: int | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)


#: Called with each step; True asks for a tqdm bar (a notebook's own in a notebook), None for silence.
Progress: TypeAlias = Callable[[Step], None] | bool | None


def reporter(progress: Progress) -> Callable[[Step], None]:
    """Return what steps are to be passed to."""
    if callable(progress):
        return progress
    if not progress:
        return lambda _: None
    from tqdm.auto import tqdm

    bar: Any = tqdm(leave=False)

    def show(step: Step) -> None:
        if step.total is not None and bar.total != step.total:
            bar.reset(total=step.total)
        bar.set_description(step.stage, refresh=False)
        bar.update(1 if step.done is None else step.done - bar.n)
        if step.done is not None and step.done == step.total:
            bar.close()

    return show


class LineWatch(Protocol):
    """Takes lines on what was found, and lines of progress."""

    def say(self, text: str) -> None:
        """Print a line."""

    def tell(self, text: str) -> None:
        """Print a line of progress, if it is time for one."""

    def begin(self, what: str, total: int | None = None, unit: str = "step") -> None:
        """Begin a new piece of work."""


class Watch(LineWatch, Protocol):
    """Takes steps, stages and lines."""

    def __call__(self, step: Step) -> None:
        """Take a step of training."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Time a stage."""

    def advance(self, what: str, steps: int = 1) -> None:
        """Count finished steps."""

    def close(self) -> None:
        """End the piece of work."""

    def go_over(self, pairs: int, part: int) -> None:
        """Count pairs that are aligned after training, ``part`` at a time."""

    def passed(self, what: str, pairs: int) -> None:
        """Count ``pairs`` more of them as done."""

    def summary(self, n_pairs: int, n_links: int | None, skipped: str) -> None:
        """Print what was done, and what was left blank."""


#: What shows bars of jobs: called with a stage, how many of its jobs are done and how many there are.
Bars = Callable[[str, int, int], None]
