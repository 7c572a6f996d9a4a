"""IBM 4 (Brown et al. 1993): fertilities, and distances from the centre of the cept before, by classes of words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.models import kernels_cepts as kc
from aligntools.aligning.models.base import classes_of
from aligntools.aligning.models.cepts import CeptModel, CeptStage, CeptTotals, Distances, distributions
from aligntools.aligning.models.lexical import LexicalFields
from aligntools.aligning.settings import ResolvedSettings
from aligntools.aligning.training.expectation import Expectations
from aligntools.formats.models.modelfile import hold

#: Pseudo-count of the distances of a class, and of two, spread as those without them are.
SMOOTHING = 10.0
_DISTANCES = np.arange(-kc.FARTHEST, kc.FARTHEST + 1.0)


class Ibm4Stage(CeptStage):
    """IBM 4 in training."""

    def first(self) -> dict[str, Any]:
        """Return parameters for the first iteration, with classes of the text's words."""
        classes = self.classes()
        n = [int(c.max()) + 1 for c in classes]
        heads = tuple(np.full((n[d], n[1 - d], kc.DISTANCES), 1 / kc.DISTANCES, np.float32) for d in (0, 1))
        others = tuple(np.full((n[1 - d], kc.DISTANCES), 1 / kc.DISTANCES, np.float32) for d in (0, 1))
        return super().first() | {"word_classes": classes, "heads": heads, "others": others}

    def classes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes of both sides' words, int32 [n_words + 1]; words that are not known have that of NULL."""
        source, target = (classes_of(self.task, size, d) for d, size in enumerate(self.sizes()))
        return source, target

    def begin_counts(self) -> CeptTotals:
        """Return what counts begin as."""
        counted = super().begin_counts()
        shapes = zip(self.own["heads"], self.own["others"], strict=True)
        counted.distances = [(np.zeros(h.shape), np.zeros(o.shape)) for h, o in shapes]
        return counted

    def maximize(self, counted: CeptTotals, steps: Expectations | None = None) -> None:
        """Estimate distances too."""
        super().maximize(counted, steps)
        self.own["heads"] = tuple(head_distances(np.maximum(heads, 0)) for heads, _ in counted.distances)
        self.own["others"] = tuple(other_distances(np.maximum(others, 0)) for _, others in counted.distances)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ibm4(CeptModel):
    """IBM 4.

    word_classes (tuple of int32 [n_words + 1]): Source and target, from 1 on; 0 is NULL's, and of words without one.
    heads (tuple of float32 [n_given_classes, n_observed_classes, DISTANCES]): ``d1``: forward, then reverse.
    others (tuple of float32 [n_observed_classes, DISTANCES]): ``d>1``.
    """

    RELATIVE = True
    STAGE = Ibm4Stage

    word_classes: tuple[np.ndarray, np.ndarray]
    heads: tuple[np.ndarray, np.ndarray]
    others: tuple[np.ndarray, np.ndarray]

    def distances(self, d: int) -> Distances:
        """Return one direction's distances."""
        return self.heads[d], self.others[d]

    def classes(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes of one direction's given words, and of the observed ones."""
        return self.word_classes[d], self.word_classes[1 - d]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its own arrays, as a file names them."""
        out = super().arrays()
        for name in ("word_classes", "heads", "others"):
            out.update({f"{name}.{d}": one for d, one in enumerate(getattr(self, name))})
        return out

    @classmethod
    def from_arrays(
        cls, fields: LexicalFields, arrays: dict[str, np.ndarray], about: dict[str, Any], settings: ResolvedSettings
    ) -> "Ibm4":
        """Rebuild the model from saved arrays."""
        sizes = [arrays[f"others.{1 - d}"].shape[0] for d in (0, 1)]
        words = len(fields["words"].s_words), len(fields["words"].t_words)
        own: dict[str, Any] = {"word_classes": [], "heads": [], "others": []}
        for d in (0, 1):
            shape = sizes[d], sizes[1 - d], kc.DISTANCES
            own["word_classes"].append(hold(arrays, f"word_classes.{d}", (words[d] + 1,), np.int32, 0, sizes[d] - 1))
            own["heads"].append(hold(arrays, f"heads.{d}", shape, np.float32, 0))
            own["others"].append(hold(arrays, f"others.{d}", shape[1:], np.float32, 0))
        own = {name: tuple(found) for name, found in own.items()}
        return cls(**fields, **cls.own_fields(fields, arrays), **own, pegs=settings.pegging)


def head_distances(counts: np.ndarray) -> np.ndarray:
    """Estimate ``d1`` from expected counts: pairs of classes are smoothed by the observed class, and this by all."""
    common = counts.sum((0, 1)) + 1.0 / (1.0 + np.abs(_DISTANCES - 1.0))
    of_observed = counts.sum(0) + SMOOTHING * common / common.sum()
    of_observed /= of_observed.sum(-1, keepdims=True)
    return _spread(distributions(counts + SMOOTHING * of_observed))


def other_distances(counts: np.ndarray) -> np.ndarray:
    """Estimate ``d>1`` from expected counts: classes are smoothed by all. Words of a cept follow each other."""
    common = counts.sum(0) + np.where(_DISTANCES > 0, 1.0 / np.maximum(_DISTANCES, 1.0), 0.0)
    return _spread(distributions(counts + SMOOTHING * common / common.sum()))


def _spread(table: np.ndarray) -> np.ndarray:
    """Share the probability of the first and of the last distance among those that they stand for."""
    table[..., 0] /= kc.FARTHEST
    table[..., -1] /= kc.FARTHEST
    return table
