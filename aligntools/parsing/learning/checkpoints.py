"""Continuing an interrupted training: the minimizer's state in a file, with a fingerprint of what it belongs to."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.formats.models.modelfile import read_model, write_model
from aligntools.ground import lbfgs
from aligntools.ground.errors import DataError, ModelError
from aligntools.parsing.learning import training
from aligntools.parsing.learning.parts import KeptArray

KIND = "parser checkpoint"


def fingerprint(settings: dict[str, Any], *arrays: np.ndarray | KeptArray) -> str:
    """Return what tells two trainings apart: their settings (JSON) and their data, in memory or in files."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for array in arrays:
        digest.update(repr((array.dtype.str, array.shape)).encode())
        for piece in array.pieces() if isinstance(array, KeptArray) else [array]:
            digest.update(np.ascontiguousarray(piece).tobytes())
    return digest.hexdigest()


@dataclass
class TrainingState:
    """The state of one training: where it continues, and where its next states are kept."""

    path: str
    fingerprint: str
    state: lbfgs.LbfgsState | None = None
    done: bool = False

    def minimize(
        self,
        objective: training.ParserObjective,
        start: lbfgs.LbfgsState | np.ndarray | None,
        iterations: int,
        tolerance: float,
        *,
        progress: Callable[..., Any] | None = None,
    ) -> training.Fit:
        """Do what `training.minimize` does, beginning with the kept state; a finished training stays finished."""
        if self.state is not None:
            start = self.state
            iterations = self.state.steps if self.done else iterations
        fit = training.minimize(objective, start, iterations, tolerance, progress=progress, checkpoint=self._keep)
        if not self.done and self.state is not None:
            self._write(True)
        return fit

    def _keep(self, state: lbfgs.LbfgsState) -> None:
        self.state = state
        self._write(False)

    def _write(self, done: bool) -> None:
        assert self.state is not None
        header = {"fingerprint": self.fingerprint, "done": done}
        write_model(self.path, KIND, header, self.state.arrays())


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

    def open(self, name: str, own: str) -> "TrainingState":
        """Find what is kept of a training by its name, if anything.

        own: The training's `fingerprint`.
        Raises ModelError when the file is damaged, or belongs to other settings or other data.
        """
        path, kept = self.kept(name, own)
        if kept is None:
            return TrainingState(path, own)
        header, arrays = kept
        try:
            state = lbfgs.LbfgsState.from_arrays(arrays)
        except (KeyError, ValueError, IndexError) as error:
            raise damaged(path, error) from None
        return TrainingState(path, own, state, bool(header.get("done")))

    def kept(self, name: str, own: str) -> tuple[str, tuple[dict[str, Any], dict[str, np.ndarray]] | None]:
        """Return the path of a training's state, and its header and arrays if it is there; see `open`."""
        path = os.path.join(self.folder, f"{name}.state")
        if not os.path.exists(path):
            return path, None
        header, arrays = read_model(path, KIND)
        if header.get("fingerprint") != own:
            raise ModelError(path, None, "was made with other text or options; remove it, or give another folder")
        return path, (header, arrays)


def damaged(path: str, error: Exception) -> ModelError:
    """Return the error of a state whose parts do not fit together."""
    return ModelError(path, None, f"is damaged ({error}); remove it")
