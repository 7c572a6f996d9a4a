"""What long work reports while it goes on: one `Step` for each thing done, passed to a callback."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


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
    """Return what steps are to be passed to.

    progress: As the public functions take it.
    """
    if callable(progress):
        return progress
    if not progress:
        return _silent
    from tqdm.auto import tqdm

    bar: Any = tqdm(leave=False)

    def show(step: Step) -> None:
        if step.total is not None and bar.total != step.total:
            bar.reset(total=step.total)
        bar.set_description(step.stage, refresh=False)
        if step.done is None:
            bar.update(1)
        else:
            bar.update(step.done - bar.n)
        if step.done is not None and step.done == step.total:
            bar.close()

    return show


def _silent(step: Step) -> None:
    """Pass over a step."""
