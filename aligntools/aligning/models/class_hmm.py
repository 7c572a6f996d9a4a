"""The alignment HMM whose jumps depend on the class of the word that they leave (Och & Ney 2003, section 3.2)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from aligntools.aligning.models import kernels_class_hmm as kc
from aligntools.aligning.models import kernels_hmm as kh
from aligntools.aligning.models.base import LexicalModel, Shares, Stage, Task
from aligntools.aligning.models.given_classes import classes_of
from aligntools.aligning.models.hmm import JUMP_SAMPLE, Hmm, shares
from aligntools.aligning.models.jumps import initial_jumps, jumps_from_counts
from aligntools.aligning.models.lexical import LexicalFields, Lexicon
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.text.link_matrices import Chunk, pairs_of
from aligntools.aligning.text.views import ParallelText, TextView
from aligntools.aligning.training.expectation import BlockStep, Expectations
from aligntools.aligning.training.view_priors import add_jumps
from aligntools.formats.models.modelfile import hold
from aligntools.ground.parallel import Pool

#: How many jumps of all words the jumps from a class are smoothed with.
SMOOTHING = 20.0


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassHmm(LexicalModel):
    """The HMM with jumps by class.

    Attributes
    ----------
    jumps : float32 [2, classes + 1, JUMP_SIZE]
        Forward, then reverse; row 0 is of all words, unknown ones too, and has the first positions.
    s_classes, t_classes : int16 [n_words + 1]
        Class of each word, the last of unknown words: 0.
    """

    jumps: np.ndarray
    s_classes: np.ndarray
    t_classes: np.ndarray

    def posteriors(
        self,
        text: ParallelText,
        chunk: Chunk,
        cells: np.ndarray,
        other: np.ndarray,
        directions: int,
        pool: Pool,
        logs: np.ndarray,
    ) -> None:
        """Turn link matrices into posteriors by forward-backward; see `LexicalModel.posteriors`."""
        unused = np.zeros((*self.jumps.shape[:2], 2, kh.JUMP_SIZE))
        lexicon, pairs = self.lexicon, pairs_of(text, chunk)
        jumps = kc.ClassJumps(self.jumps, self.s_classes, self.t_classes)

        def task(b: tuple[int, int]) -> None:
            kc.class_hmm_block(
                *b,
                pairs,
                cells,
                other,
                lexicon.s_inverse,
                lexicon.t_inverse,
                self.s_null,
                self.t_null,
                jumps,
                self.p_null,
                directions,
                False,
                0,
                unused,
                logs,
            )

        pool.map(task, chunk.sentence_blocks)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        return {"class_jumps": self.jumps, "s_classes": self.s_classes, "t_classes": self.t_classes}

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> "ClassHmm":
        """Make a model of what was in a file."""
        rows = arrays["class_jumps"].shape[1]
        jumps = hold(arrays, "class_jumps", (2, rows, kh.JUMP_SIZE), np.float32, 0)
        sizes = fields["table"].n_source, fields["table"].n_target
        classes = [
            hold(arrays, f"{side}_classes", (size + 1,), np.int16, 0, rows - 1)
            for side, size in zip("st", sizes, strict=True)
        ]
        return cls(**fields, jumps=jumps, s_classes=classes[0], t_classes=classes[1])

    @classmethod
    def stage(cls, task: Task, before: Stage | None) -> Stage:
        """Begin to train it."""
        return ClassHmmStage(cls, task, before)

    @classmethod
    def on_text(
        cls, fields: LexicalFields, old: LexicalModel, text: TextView, settings: ResolvedSettings
    ) -> "ClassHmm":
        """Return a model of a new text: its words have new classes, and all begin with an older model's jumps."""
        first = old.jumps[:, 0] if isinstance(old, ClassHmm) else old.jumps if isinstance(old, Hmm) else initial_jumps()
        jumps = np.repeat(first[:, None], settings.word_classes + 1, 1)
        sizes = fields["table"].n_source, fields["table"].n_target
        classes = _classes(text, sizes, settings)
        return cls(**fields, jumps=jumps, s_classes=classes[0], t_classes=classes[1])

    def facts(self) -> list[list[str]]:
        """Return the number of classes."""
        return [["classes of words with jumps of their own", str(self.jumps.shape[1] - 1)]]

    def charts(self) -> list[Shares]:
        """Return the jumps from all words."""
        every = self.jumps[:, 0, : 2 * kh.WINDOW + 1].astype(np.float64)
        series = [(name, shares(every[d])) for d, name in enumerate(("forward", "reverse"))]
        names = [f"{k:+d}" if k else "0" for k in range(-kh.WINDOW, kh.WINDOW + 1)]
        names[0], names[-1] = f"≤{names[0]}", f"≥{names[-1]}"
        return [Shares("Jumps", "words from the position of the word before", names, series)]


def _classes(text: TextView, sizes: tuple[int, int], settings: ResolvedSettings) -> list[np.ndarray]:
    """Return a class for each word of both sides, and 0 for unknown ones, int16 [n_words + 1]."""
    from aligntools.clustering import word_classes

    found = []
    for side, size in zip((text.source, text.target), sizes, strict=True):
        classes = word_classes(side.tokens, side.offsets, size, settings.word_classes, seed=settings.seed)
        found.append(np.append(classes, 0).astype(np.int16))
    return found


class ClassHmmStage(Stage):
    """The HMM with jumps by class in training."""

    def __init__(self, model: type[LexicalModel], task: Task, before: Stage | None = None) -> None:
        super().__init__(model, task, before)
        old = task.old if isinstance(task.old, ClassHmm) else None
        rows = task.settings.word_classes + 1
        self._jumps = old.jumps if old else np.repeat(initial_jumps()[:, None], rows, 1)
        self._classes = [old.s_classes, old.t_classes] if old else None
        self._stride = 1

    def parameters(self) -> dict[str, np.ndarray]:
        """Return the jumps and the classes."""
        classes = self._classes or [np.zeros(1, np.int16)] * 2
        return {"jumps": self._jumps, "s_classes": classes[0], "t_classes": classes[1]}

    def restore(self, parameters: dict[str, np.ndarray]) -> Self:
        """Take what was kept."""
        self._jumps = parameters.get("jumps", self._jumps)
        if "s_classes" in parameters:
            self._classes = [parameters["s_classes"], parameters["t_classes"]]
        return self

    def expect(self, steps: Expectations, lexicon: Lexicon, counts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return log-likelihoods and jump counts."""
        parts: dict[tuple[int, int], np.ndarray] = {}
        loglik = steps.over(lexicon, counts, steps.by_blocks(self.block(steps, lexicon, parts)))
        return loglik, sum((parts[b] for b in sorted(parts)), self._no_counts())

    def _no_counts(self) -> np.ndarray:
        return np.zeros((*self._jumps.shape[:2], 2, kh.JUMP_SIZE))

    def block(self, steps: Expectations, lexicon: Lexicon, parts: dict[tuple[int, int], np.ndarray]) -> BlockStep:
        """Return what an E-step does with a block of sentences; it writes jump counts into ``parts``, by block."""
        self._stride = max(1, steps.n_tokens // JUMP_SAMPLE)
        table = steps.matrices.table
        if self._classes is None:
            sizes = table.n_source, table.n_target
            self._classes = [classes_of(self.task, size, d).astype(np.int16) for d, size in enumerate(sizes)]
            rows = 1 + max(int(one.max()) for one in self._classes)
            if rows > self._jumps.shape[1]:  # classes that came with the text
                self._jumps = np.repeat(self._jumps[:, :1], rows, 1)
        jumps = kc.ClassJumps(self._jumps, self._classes[0], self._classes[1])

        def block(b: tuple[int, int], chunk: Chunk, cells: np.ndarray, other: np.ndarray, logs: np.ndarray) -> None:
            counted = self._no_counts()
            kc.class_hmm_block(
                *b,
                pairs_of(steps.matrices, chunk),
                cells,
                other,
                lexicon.s_inverse,
                lexicon.t_inverse,
                steps.s_null,
                steps.t_null,
                jumps,
                steps.p_null,
                steps.directions,
                steps.joint,
                self._stride,
                counted,
                logs,
            )
            parts[b] = counted

        return block

    def maximize(self, counted: np.ndarray, steps: Expectations | None = None) -> None:
        """Estimate the jumps: those of all words, and those of each class smoothed with them."""
        smoothing = 0.5 if self.task.settings.estimator == "vb" else 0.0
        total = counted.sum(1)
        if self.task.priors:
            add_jumps(total, self.task.priors.window() / self._stride)
        every = jumps_from_counts(total, smoothing)
        jumps = np.repeat(every[:, None], counted.shape[1], 1)
        share = SMOOTHING / np.maximum(total[:, 0, : kh.FIRST].sum(-1), 1.0)
        for c in range(1, counted.shape[1]):
            jumps[:, c] = jumps_from_counts(counted[:, c] + share[:, None, None] * total, smoothing)
        jumps[:, :, kh.FIRST :] = every[:, None, kh.FIRST :]
        self._jumps = jumps
