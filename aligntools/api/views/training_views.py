"""Training runs to look at, from Python."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from aligntools.api.running.progress import Step
from aligntools.formats.models.training_log import read_training_log
from aligntools.ground.errors import visible
from aligntools.viewing.training import LoggedTraining, TrainingView, names_of

#: A training: the file that ``--log-json`` wrote, or steps, as ``progress=`` gets them.
Training: TypeAlias = str | os.PathLike[str] | Iterable[Step | Mapping[str, Any]]


def view_training(*runs: Training, names: Sequence[str] | None = None, title: str = "Training") -> TrainingView:
    """Look at training: curves of one run or several, time and memory by stage.

    Parameters
    ----------
    *runs : path, or iterable of `Step`
        What ``--log-json`` wrote, or the steps that a callback of ``progress=`` was given.
    names : sequence of str, optional
        What the runs are called; by default files' names.
    title : str
        Of the page.

    Returns
    -------
    View
        ``html()`` and ``svg(number)`` need Matplotlib (the extra ``plots``), ``text()`` does not.

    Raises
    ------
    DataError
        When a file cannot be read, or is no log of training.

    Examples
    --------
    >>> import aligntools as at
    >>> steps = []
    >>> model = at.train_aligner(at.read_bitext("data/samples/de-en.txt"), fast=True, progress=steps.append)
    >>> [title for title, _ in at.view_training(steps).charts]
    ['Log-likelihood', 'Time by stage']
    """
    labels = [str(name) for name in names] if names is not None else [_name(run, k) for k, run in enumerate(runs, 1)]
    found = [LoggedTraining(visible(name), _steps(run)) for name, run in zip(names_of(labels), runs, strict=True)]
    return TrainingView(found, visible(title))


def _name(run: Any, number: int) -> str:
    return Path(run).stem if isinstance(run, str | os.PathLike) else f"run {number}"


def _steps(run: Any) -> list[dict[str, Any]]:
    if isinstance(run, str | os.PathLike):
        return read_training_log(run)
    return [{"stage": step.stage} | dict(step.figures) if isinstance(step, Step) else dict(step) for step in run]
