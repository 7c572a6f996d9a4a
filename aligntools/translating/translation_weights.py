"""Weights of a translation system from Python: what users give, files, and the features that they are of."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aligntools.formats.inputs.sentences import PathLike
from aligntools.formats.text.memory_text import name_of
from aligntools.ground.errors import DataError
from aligntools.viewing.notebooks import ShownAsWeights

if TYPE_CHECKING:
    from aligntools.formats.translation.grammar import GrammarRules


@dataclass(frozen=True)
class TranslationWeights(ShownAsWeights):
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
        from aligntools.translating.tuning.weights import read_weights

        return cls(*read_weights(os.fspath(path)))

    def save(self, path: PathLike) -> None:
        """Write the weights as JSON; the file appears whole or not at all."""
        from aligntools.translating.tuning.weights import save_weights

        save_weights(os.fspath(path), list(self.features), list(self.features.values()), dict(self.about))


#: Weights: learned ones, their file, numbers by name, or None for untuned ones.
WeightsInput = TranslationWeights | Mapping[str, float] | PathLike | None


def weights_of(weights: WeightsInput) -> TranslationWeights | None:
    """Return weights, read from their file if they are given by its name."""
    if weights is None or isinstance(weights, TranslationWeights):
        return weights
    if isinstance(weights, str | os.PathLike):
        return TranslationWeights.load(weights)
    return TranslationWeights(dict(weights))


def ordered_weights(given: WeightsInput, weights: TranslationWeights | None, names: list[str]) -> Any:
    """Return a weight for each feature [float64], untuned ones if there are none."""
    from aligntools.translating.tuning.weights import default_weights, in_order

    if weights is None:
        return default_weights(names)
    return in_order(name_of(given, "<weights>"), weights.features, names)


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
