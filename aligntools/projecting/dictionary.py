"""Type dictionaries from projected labels: which tags a word can have (Das & Petrov 2011; Täckström et al. 2013)."""

from collections.abc import Sequence

import numpy as np

from aligntools.formats.annotation.tag_sets import likely
from aligntools.projecting.columns import NONE


def type_dictionary(
    words: Sequence[bytes], labels: Sequence[bytes], weights: np.ndarray, least: float = 0.0
) -> dict[bytes, dict[bytes, float]]:
    """Count the labels of each word.

    words, labels: Of a text; ``_`` is no label.
    weights [words]: What each word counts.
    least: Labels with a smaller share of their word's weight are left out.
    Returns for each word with a label its labels' weights, heaviest first.
    """
    counts: dict[bytes, dict[bytes, float]] = {}
    for word, label, weight in zip(words, labels, weights.tolist(), strict=True):
        if label != NONE:
            found = counts.setdefault(word, {})
            found[label] = found.get(label, 0.0) + weight
    return {word: likely(found, least) for word, found in counts.items()}
