"""Weights of a translation system on disk: JSON, by the names of the features, so that what does not fit is noticed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import check_version, in_words, is_number, read_described
from aligntools.ground.errors import DataError

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


def save_weights(path: str, names: Sequence[str], values: Any, about: dict[str, Any] | None = None) -> None:
    """Write weights; the file appears whole or not at all.

    about: How they were learned; for readers.
    """
    text = {
        "format": FORMAT,
        "kind": KIND,
        "version": VERSION,
        "features": {name: float(value) for name, value in zip(names, values, strict=True)},
        "about": about or {},
    }
    with files.writing(path) as out:
        out.write((json.dumps(text, indent=1, ensure_ascii=False) + "\n").encode())


def read_weights(path: str) -> tuple[dict[str, float], dict[str, Any]]:
    """Read a weights file, whatever its features are.

    Raises DataError when it is not such a file, or of another version, or a weight is not a finite number.
    """
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

    path: What messages call the weights.
    names: The system's features.
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

    names: A system's features; see `decoder.feature_names`.
    Returns float64 [features]: features that are not known by name have 0.
    """
    return np.array([_DEFAULTS.get(name, 0.0) for name in names], np.float64)
