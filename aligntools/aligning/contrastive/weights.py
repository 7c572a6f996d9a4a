"""Weights on disk: JSON, with the names of the features, so that what does not fit is noticed."""

import json
import math
from dataclasses import asdict, dataclass, field, fields

import numpy as np

from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.search import CONSTRAINTS, GREEDY, SearchSettings
from aligntools.aligning.contrastive.settings import CANDIDATES
from aligntools.formats import files
from aligntools.formats.json_text import in_words, is_number, parse_json
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import shown

FORMAT = "aligntools contrastive weights"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights and what belongs to them; arrays are copied and cannot be written to.

    Attributes
    ----------
    values : float64 [FEATURES]
        0 for features that are not active.
    active : bool [FEATURES]
    search : SearchSettings
        How alignments are searched with them.
    about : dict
        How they were learned; for readers.
    """

    values: np.ndarray
    active: np.ndarray
    search: SearchSettings = field(default_factory=SearchSettings)
    about: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("values", "active"):
            own = np.array(getattr(self, name))
            own.setflags(write=False)
            object.__setattr__(self, name, own)

    @property
    def by_name(self) -> dict[str, float]:
        """The weights of the active features."""
        return {n: float(v) for n, v, a in zip(NAMES, self.values, self.active, strict=True) if a}

    def save(self, path) -> None:
        """Write the file; it appears whole or not at all."""
        left_out = ("slack", math.inf), ("candidates", GREEDY.candidates)  # files of before had no candidates
        search = {k: v for k, v in asdict(self.search).items() if (k, v) not in left_out}
        text = {
            "format": FORMAT,
            "version": VERSION,
            "features": list(self.by_name),
            "weights": self.by_name,
            "search": search,
            "learned": self.about,
        }
        with files.writing(path) as out:
            out.write((json.dumps(text, indent=1, ensure_ascii=False) + "\n").encode())


def load_weights(path) -> Weights:
    """Read a weights file.

    Raises
    ------
    DataError
        When it is none, is of another version, or has an unknown feature or lacks one that it lists.
    """
    with files.reading(path) as file:
        data = file.read()
    try:
        text = parse_json(data)
    except ValueError:
        text = None
    if not isinstance(text, dict) or text.get("format") != FORMAT:
        raise DataError(path, None, "is not a weights file; contrastive-align --save-weights writes one")
    if text.get("version") != VERSION:
        raise DataError(
            path, None, f"has version {in_words(text.get('version'))}, this program reads {VERSION}; learn it again"
        )
    listed, given = text.get("features"), text.get("weights")
    if not isinstance(listed, list) or not isinstance(given, dict) or not listed:
        raise DataError(path, None, "has no 'features' and 'weights'")
    for name in [*listed, *given]:
        if name not in NAMES:
            raise DataError(path, None, f"unknown feature '{shown(name)}'; learn the weights again, with this version")
    values, active = np.zeros(len(NAMES)), np.zeros(len(NAMES), bool)
    for name in listed:
        value = given.get(name)
        if value is None:
            raise DataError(path, None, f"no weight for the feature '{name}', which it lists; learn it again")
        if not is_number(value):
            raise DataError(path, None, f"the weight of '{name}' is {in_words(value)}; a number was expected")
        values[NAMES.index(name)] = value
        active[NAMES.index(name)] = True
    for name in given:
        if name not in listed:
            raise DataError(path, None, f"a weight for '{name}', which is not among its features; remove it or list it")
    return Weights(values, active, _search_settings(path, text.get("search", {})), text.get("learned", {}))


def _search_settings(path, given):
    known = {f.name: f.type for f in fields(SearchSettings)}
    if not isinstance(given, dict) or set(given) - set(known):
        raise DataError(path, None, f"'search' has {', '.join(known)}, and nothing else")
    for name, value in given.items():
        choices = {"constraint": tuple(CONSTRAINTS), "candidates": CANDIDATES}.get(name)
        if not (value in choices if choices else value in SearchSettings.RANGES[name]):
            due = f"one of {', '.join(choices)}" if choices else SearchSettings.RANGES[name]
            raise DataError(path, None, f"'{name}' is {in_words(value)} in 'search'; {due} was expected")
    return SearchSettings(**given)
