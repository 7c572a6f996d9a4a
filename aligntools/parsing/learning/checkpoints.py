"""Continuing an interrupted training: the minimizer's state in a file, with a fingerprint of what it belongs to."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground import lbfgs
from aligntools.ground.errors import DataError, ModelError
from aligntools.parsing.learning import training
from aligntools.parsing.learning.training import KeptLoss
from aligntools.parsing.settings import LearningSettings

KIND = "parser checkpoint"


def fingerprint(settings: dict[str, Any], *arrays: np.ndarray | KeptLoss) -> str:
    """Return what tells two trainings apart: their settings (JSON) and their data, of a loss its expected edges."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for array in arrays:
        pieces: Iterable[np.ndarray] = array.expected() if isinstance(array, KeptLoss) else [array]
        shape = (int(array.edges[-1]),) if isinstance(array, KeptLoss) else array.shape
        kind = np.dtype(np.float64) if isinstance(array, KeptLoss) else array.dtype
        digest.update(repr((kind.str, shape)).encode())
        for piece in pieces:
            digest.update(np.ascontiguousarray(piece).tobytes())
    return digest.hexdigest()


class Checkpoint:
    """A folder that keeps the state of a training.

    folder: Made if it does not exist; only ``NAME.state`` is written there.
    Raises DataError when the folder cannot be made.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise DataError(self.folder, None, f"cannot be made: {error.strerror or error}") from None

    def kept(self, name: str, own: str) -> tuple[str, tuple[dict[str, Any], dict[str, np.ndarray]] | None]:
        """Return the path of a training's state, and its header and arrays if it is there; see `open`."""
        path = os.path.join(self.folder, f"{name}.state")
        if not os.path.exists(path):
            return path, None
        header, arrays = read_model(path, KIND)
        if header.get("fingerprint") != own:
            raise ModelError(path, None, "was made with other text or options; remove it, or give another folder")
        return path, (header, arrays)


def fit(
    objective: training.ParserObjective,
    start: np.ndarray | None,
    settings: LearningSettings,
    progress: Callable[[int, float, np.ndarray], None] | None,
    checkpoint: Checkpoint | None,
    name: str,
    *data: np.ndarray | KeptLoss,
) -> training.Fit:
    """Minimize an objective. A training of this name that was kept goes on; one that had finished stays as it is.

    data: With the settings, what tells this training from others; see `fingerprint`.
    """
    if checkpoint is None:
        return training.minimize(objective, start, settings.iterations, settings.tolerance, progress)
    own = fingerprint(settings.header(), *data)
    path, kept = checkpoint.kept(name, own)
    header, arrays = kept or ({}, {})
    try:
        last = None if kept is None else lbfgs.LbfgsState.from_arrays(arrays)
    except (KeyError, ValueError, IndexError) as error:
        raise damaged(path, error) from None
    done = bool(header.get("done"))

    def keep(state: lbfgs.LbfgsState, done: bool = False) -> None:
        nonlocal last
        last = state
        write_model(path, KIND, {"fingerprint": own, "done": done}, state.arrays())

    steps = last.steps if done and last is not None else settings.iterations
    found = training.minimize(objective, start if last is None else last, steps, settings.tolerance, progress, keep)
    if not done and last is not None:
        keep(last, True)
    return found


def damaged(path: str, error: Exception) -> ModelError:
    """Return the error of a state whose parts do not fit together."""
    return ModelError(path, None, f"is damaged ({error}); remove it")
