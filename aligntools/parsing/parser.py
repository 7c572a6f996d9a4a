"""A parser as a whole: vocabularies, feature space, weights and labels, on disk and at work."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from aligntools.formats.annotation.class_lists import WordLookup
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.models.modelfile import Array, SavedModel, checked, hold_vocabulary
from aligntools.ground.declarations import modern, range_of
from aligntools.ground.parallel import Pool
from aligntools.parsing.feature_space import FIRST_LAYERS, EncodedSentences, FeatureSpace, Vocabularies, layers_of
from aligntools.parsing.labels import TEMPLATES, Labeler
from aligntools.parsing.settings import LONGEST, MAPS, LearningSettings, TransferSettings, TreeConstraints
from aligntools.parsing.trees import inference
from aligntools.words.white_space import NormalForm, form_of

#: Edges that are scored at a time.
CHUNK = 1_000_000
_VOCABULARIES = "words", "tags", "prefixes"
_ARRAYS = Array("places", ("weights",), np.int32, 0, "features"), Array("weights", ("weights",), np.float32)


@dataclass(frozen=True)
class ParserModel(SavedModel):
    """An edge-factored log-linear model over trees; nothing in it changes.

    weights (float64 [space.size]): With no more digits than a float32 has, so that a saved model is the same model.
    settings: What it was trained with, for information; JSON.
    """

    KIND = "parser"
    vocabularies: Vocabularies
    space: FeatureSpace
    weights: np.ndarray
    constraints: TreeConstraints
    settings: dict[str, Any] = field(default_factory=dict)
    labeler: Labeler | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", np.asarray(self.weights, np.float32).astype(np.float64))
        if self.weights.shape != (self.space.size,):
            raise ValueError(f"{self.weights.shape} weights for {self.space.size} features")

    @cached_property
    def normal_form(self) -> NormalForm | None:
        """Unicode's normal form of the words."""
        return form_of(list(self.vocabularies.words.encoded()))

    def unknown_tags(self, tags: Sequence[bytes]) -> np.ndarray:
        """Return for each tag whether training never saw it, bool [tags]."""
        kinds = list(dict.fromkeys(tags))
        strange = {tag for tag, n in zip(kinds, self.vocabularies.tags.ids(kinds).tolist(), strict=True) if n < 0}
        if not strange:
            return np.zeros(len(tags), bool)
        return np.fromiter((tag in strange for tag in tags), bool, len(tags))

    def sentences(self, words: Sequence[bytes], tags: Sequence[bytes], offsets: np.ndarray) -> EncodedSentences:
        """Return text as this parser sees it."""
        return self.vocabularies.sentences(words, tags, offsets)

    def scores(
        self, sentences: EncodedSentences, pool: Pool | None = None, only: tuple[str, ...] | None = None
    ) -> np.ndarray:
        """Score every edge [shape=(edges,)]; ``only`` as in `FeatureSpace.scores`."""
        return self.space.scores(self.weights, sentences, pool, only)

    def parse(
        self,
        sentences: EncodedSentences,
        pool: Pool | None = None,
        constraints: TreeConstraints | None = None,
        longest: int = LONGEST,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return heads (int32 [words]; 0 for the root), scores (float64 [sentences]) and flat (bool [sentences]).

        constraints: Which trees to choose from, instead of those of the model.
        longest: Sentences with more words are flat: the first word under the root, the others under it; score -inf.
        """
        offsets = sentences.offsets - sentences.offsets[0]
        flat, allowed = sentences.lengths > longest, constraints or self.constraints
        heads, best = np.ones(int(offsets[-1]), np.int32), np.full(len(sentences), -np.inf)
        heads[offsets[:-1][sentences.lengths > 0]] = 0
        for begin, end in _runs(sentences, flat):
            part = sentences if end - begin == len(sentences) else sentences.part(begin, end)
            found, scores = inference.best_trees(self.scores(part, pool), part.offsets, allowed, pool)
            heads[offsets[begin] : offsets[end]], best[begin:end] = found, scores
        return heads, best, flat

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of the model's file: the weights that are not 0, as float32."""
        header = {
            "trees": asdict(self.constraints),
            "settings": self.settings,
            "templates": list(self.space.templates),
            "bits": list(self.space.bits),
            "bins": list(self.space.bins),
            "labels": self.labeler is not None,
        }
        places = np.flatnonzero(self.weights).astype(np.int32)
        arrays = {"places": places, "weights": self.weights[places].astype(np.float32)}
        for name in _VOCABULARIES:
            arrays |= getattr(self.vocabularies, name).arrays(name)
        if self.vocabularies.classes is not None:
            header["classes"] = True
            arrays |= self.vocabularies.classes.arrays("classes")
        if self.labeler is not None:
            if self.labeler.templates != TEMPLATES:
                header["label_templates"] = list(self.labeler.templates)
            arrays |= self.labeler.arrays("labeler")
        return header, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Self:
        """Rebuild the model: templates and bins read as such, each weight has a place of its own, all are finite."""
        if any(bits not in range_of(LearningSettings, "bits") for bits in header["bits"]):
            raise ValueError("bits")
        space = FeatureSpace(header["templates"], header["bits"], header["bins"])
        classes = WordLookup.from_arrays(arrays, "classes") if header.get("classes") else None
        templates = tuple(header.get("label_templates", TEMPLATES))
        if classes is None and layers_of((*space.templates, *templates)) > FIRST_LAYERS:
            raise ValueError("templates of classes, and no classes")
        words, tags, prefixes = (hold_vocabulary(arrays, name, text=False) for name in _VOCABULARIES)
        places, values = checked(arrays, _ARRAYS, {"features": space.size})
        if np.any(places[1:] <= places[:-1]):
            raise ValueError("two weights for one place")
        weights = np.zeros(space.size)
        weights[places] = values
        if header["labels"] and not templates:
            raise ValueError("label_templates")
        labeler = Labeler.from_arrays(arrays, "labeler", templates) if header["labels"] else None
        constraints, settings = TreeConstraints(**header["trees"]), modern(TransferSettings, dict(header["settings"]))
        if not isinstance(settings, dict) or not all(isinstance(given, bool) for given in asdict(constraints).values()):
            raise ValueError("settings")
        column_place(settings.get("column", "upos"))
        if settings.get("map", "none") not in MAPS:
            raise ValueError("map")
        return cls(Vocabularies(words, tags, prefixes, classes), space, weights, constraints, settings, labeler)


def _runs(sentences: EncodedSentences, skip: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield runs of sentences that are not to be skipped, of at most CHUNK edges or one sentence."""
    begin = 0
    while begin < len(sentences):
        if skip[begin]:
            begin += 1
            continue
        end = begin + 1
        while end < len(sentences) and not skip[end] and sentences.edges[end + 1] - sentences.edges[begin] <= CHUNK:
            end += 1
        yield begin, end
        begin = end
