"""Weights of a translation system from Python: what users give, files, and the features that they are of."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from aligntools.formats.inputs.sentences import PathLike
from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import check_version, in_words, is_number, read_described
from aligntools.ground.errors import DataError
from aligntools.viewing.models import ModelView, ShownAsModel, weight_view

if TYPE_CHECKING:
    from aligntools.formats.translation.grammar import GrammarRules


@dataclass(frozen=True)
class TranslationWeights(ShownAsModel):
    """Weights of a translation system, by the names of its features.

    Attributes
    ----------
    features : dict of str to float
    about : dict
        How they were learned.

    Examples
    --------
    >>> import aligntools as at
    >>> at.TranslationWeights({"lm": 1.0, "word-penalty": 0.5}).features["lm"]
    1.0
    """

    features: Mapping[str, float]
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: PathLike) -> "TranslationWeights":
        """Read weights from a file.

        Raises
        ------
        DataError
            When it is not a file of translation weights.
        """
        return cls(*read_weights(os.fspath(path)))

    def save(self, path: PathLike) -> None:
        """Write the weights as JSON; the file appears whole or not at all."""
        features = {name: float(value) for name, value in self.features.items()}
        text = {"format": FORMAT, "kind": KIND, "version": VERSION, "features": features, "about": dict(self.about)}
        with files.writing(os.fspath(path)) as out:
            out.write((json.dumps(text, indent=1, ensure_ascii=False) + "\n").encode())

    def model_view(self, title: str, words: int, best: int) -> ModelView:
        """Return the weights by their size."""
        return weight_view(title, self.features, self.about)


#: Weights: learned ones, their file, numbers by name, or None for untuned ones.
WeightsInput = TranslationWeights | Mapping[str, float] | PathLike | None


def weights_of(weights: WeightsInput) -> TranslationWeights | None:
    """Return weights, read from their file if they are given by its name."""
    if weights is None or isinstance(weights, TranslationWeights):
        return weights
    if isinstance(weights, str | os.PathLike):
        return TranslationWeights.load(weights)
    return TranslationWeights(dict(weights))


def with_bigrams(
    rules: "GrammarRules",
    tags: PathLike | Mapping[str, str],
    known: Mapping[str, float] | None = None,
    most: int | None = None,
) -> "GrammarRules":
    """Return a grammar with bigrams of target sides as features: those that weights know, or the most frequent."""
    from aligntools.formats.annotation.tagged_text import check_tags, read_tags
    from aligntools.translating.decoding.system_tables import feature_names
    from aligntools.translating.grammar.features import add_bigrams, dominant_tags

    if isinstance(tags, str | os.PathLike):
        tagged = read_tags(os.fspath(tags))
        if tagged.tags is None:
            raise DataError(os.fspath(tags), None, "has no tags")
        check_tags(tagged, os.fspath(tags))
        by_word = dominant_tags(tagged.words, tagged.tags)
    else:
        by_word = {word.encode(): tag.encode() for word, tag in tags.items()}
    names = None
    if known is not None:
        dense = set(feature_names(rules))
        names = [name for name in known if name not in dense]
        if most is not None:
            names = names or None  # weights learned without bigrams to begin with
    return add_bigrams(rules, by_word, most=most, names=names)


FORMAT = "aligntools weights"
KIND = "translation"
VERSION = 1
#: Weights before any tuning; they were tried on German-English captions.
_DEFAULTS = {
    "lm": 1.0,
    "PhraseEgivenF": 0.9,
    "PhraseFgivenE": 0.5,
    "LexEgivenF": 0.2,
    "LexFgivenE": 0.3,
    "EgivenFCoherent": -1.5,
    "MaxLexFgivenE": -0.3,
    "MaxLexEgivenF": -0.3,
    "word-penalty": 1.0,
    "arity-0": -0.5,
    "glue-binary": -1.0,
    "unknown": -10.0,
}


def read_weights(path: str) -> tuple[dict[str, float], dict[str, Any]]:
    """Read a weights file, whatever its features are."""
    described = {"format": FORMAT, "kind": KIND}
    text = read_described(path, described, "a file of translation weights; `TranslationWeights.save()` writes one")
    check_version(path, text, VERSION)
    features, about = text.get("features"), text.get("about", {})
    if not isinstance(features, dict):
        raise DataError(path, None, "has no 'features': a weight for each feature's name")
    for name, value in features.items():
        if not is_number(value):
            raise DataError(path, None, f"the weight of '{name}' is {in_words(value)}; a number was expected")
    return {name: float(value) for name, value in features.items()}, about if isinstance(about, dict) else {}


def in_order(path: str, features: Mapping[str, float], names: Sequence[str]) -> np.ndarray:
    """Return weights in the order of a system's features.

    Returns float64 [features]. Raises DataError when a feature has no weight or a weight has no feature.
    """
    missing = [name for name in names if name not in features]
    over = sorted(set(features) - set(names))
    advice = "use the grammar that they were learned with"
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DataError(path, None, f"no weight for the feature '{missing[0]}'{more}; {advice}")
    if over:
        more = f" and {len(over) - 1} more" if len(over) > 1 else ""
        raise DataError(path, None, f"a weight for '{over[0]}'{more}, which the system does not have; {advice}")
    return np.array([features[name] for name in names], np.float64)


def default_weights(names: Sequence[str]) -> np.ndarray:
    """Return weights to begin with, for a system that was not tuned.

    Returns float64 [features]: features that are not known by name have 0.
    """
    return np.array([_DEFAULTS.get(name, 0.0) for name in names], np.float64)
