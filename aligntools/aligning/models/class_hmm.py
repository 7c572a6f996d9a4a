"""The alignment HMM whose jumps depend on the class of the word that they leave (Och & Ney 2003, section 3.2)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from aligntools.aligning.models import kernels_jumps as kj
from aligntools.aligning.models.base import LexicalModel, Stage, ViewTask, classes_of, learned_classes
from aligntools.aligning.models.hmm import Classes, Hmm, HmmStage, start_of
from aligntools.aligning.models.jumps import jumps_from_counts
from aligntools.aligning.models.lexical import LexicalFields
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.views import TextView
from aligntools.aligning.training.expectation import Expectations
from aligntools.aligning.training.view_priors import add_jumps
from aligntools.formats.models.modelfile import hold

#: How many jumps of all words the jumps from a class are smoothed with.
SMOOTHING = 20.0


class ClassHmmStage(HmmStage):
    """The HMM with jumps by class in training."""

    def __init__(self, model: type[LexicalModel], task: ViewTask, before: Stage | None = None) -> None:
        super().__init__(model, task, before)
        old = task.old if isinstance(task.old, ClassHmm) else None
        rows = task.settings.word_classes + 1
        self._jumps = old.jumps if old else np.repeat(self._jumps[:, None], rows, 1)
        self._classes: tuple[np.ndarray, np.ndarray] | None = None
        if old and task.words:  # those that the older model has, of new words 0
            new, known = task.words, old.words
            sides = (new.s_words, known.s_ids, old.s_classes), (new.t_words, known.t_ids, old.t_classes)
            s_classes, t_classes = (np.append(of[[ids.get(w, -1) for w in own]], of[-1]) for own, ids, of in sides)
            self._classes = s_classes, t_classes

    def parameters(self) -> dict[str, np.ndarray]:
        """Return the jumps and the classes."""
        s_classes, t_classes = self._classes or (np.zeros(1, np.int16), np.zeros(1, np.int16))
        return {"jumps": self._jumps, "s_classes": s_classes, "t_classes": t_classes}

    def restore(self, parameters: dict[str, np.ndarray]) -> Self:
        """Take what was kept."""
        if "s_classes" in parameters:
            self._classes = parameters["s_classes"], parameters["t_classes"]
        return super().restore(parameters)

    def jump_classes(self, steps: Expectations) -> Classes:
        """Return the classes of the text's words, which are learned or read when they are first asked for."""
        if self._classes is None:
            table = steps.matrices.table
            s_classes, t_classes = classes_of(self.task, table.n_source, 0), classes_of(self.task, table.n_target, 1)
            self._classes = s_classes.astype(np.int16), t_classes.astype(np.int16)
            rows = 1 + max(int(one.max()) for one in self._classes)
            if rows > self._jumps.shape[1]:  # classes that came with the text
                self._jumps = np.repeat(self._jumps[:, :1], rows, 1)
        return self._classes

    def maximize(self, counted: np.ndarray, steps: Expectations | None = None) -> None:
        """Estimate the jumps: those of all words, and those of each class smoothed with them."""
        if steps is not None:
            self._null.estimate(steps)
        smoothing = 0.5 if self.task.settings.estimator == "vb" else 0.0
        total = counted.sum(1)
        if self.task.priors:
            add_jumps(total, self.task.priors.window() / self._stride)
        every = jumps_from_counts(total, smoothing)
        jumps = np.repeat(every[:, None], counted.shape[1], 1)
        share = SMOOTHING / np.maximum(total[:, 0, : kj.FIRST].sum(-1), 1.0)
        for c in range(1, counted.shape[1]):
            jumps[:, c] = jumps_from_counts(counted[:, c] + share[:, None, None] * total, smoothing)
        jumps[:, :, kj.FIRST :] = every[:, None, kj.FIRST :]
        self._jumps = jumps


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassHmm(Hmm):
    """The HMM with jumps by class.

    jumps (float32 [2, classes + 1, JUMP_SIZE]): Row 0 is of all words, unknown ones too, and has the first positions.
    s_classes, t_classes (int16 [n_words + 1]): Class of each word, the last of unknown words: 0.
    """

    STAGE = ClassHmmStage
    climbing = compiled_ahead = None

    s_classes: np.ndarray
    t_classes: np.ndarray

    @property
    def all_jumps(self) -> np.ndarray:
        """Jumps of all words, float32 [2, JUMP_SIZE]."""
        return self.jumps[:, 0]

    @property
    def jump_classes(self) -> Classes:
        """Classes that jumps depend on."""
        return self.s_classes, self.t_classes

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return {"class_jumps": self.jumps, "s_classes": self.s_classes, "t_classes": self.t_classes}

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> "ClassHmm":
        """Rebuild the model from saved arrays."""
        rows = arrays["class_jumps"].shape[1]
        jumps = hold(arrays, "class_jumps", (2, rows, kj.JUMP_SIZE), np.float32, 0)
        sizes = fields["table"].n_source, fields["table"].n_target
        classes = [
            hold(arrays, f"{side}_classes", (size + 1,), np.int16, 0, rows - 1)
            for side, size in zip("st", sizes, strict=True)
        ]
        return cls(**fields, jumps=jumps, s_classes=classes[0], t_classes=classes[1])

    @classmethod
    def on_text(
        cls, fields: LexicalFields, old: LexicalModel, text: TextView, settings: ResolvedSettings
    ) -> "ClassHmm":
        """Return a model of a new text: its words have new classes, and all begin with an older model's jumps."""
        jumps = np.repeat(start_of(old)[:, None], settings.word_classes + 1, 1)
        sizes = fields["table"].n_source, fields["table"].n_target
        s_classes, t_classes = (
            learned_classes(side, size, settings).astype(np.int16)
            for side, size in zip((text.source, text.target), sizes, strict=True)
        )
        return cls(**fields, jumps=jumps, s_classes=s_classes, t_classes=t_classes)

    def facts(self) -> list[list[str]]:
        """Return the number of classes."""
        return [["classes of words with jumps of their own", str(self.jumps.shape[1] - 1)]]
