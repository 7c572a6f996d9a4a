"""Weights on disk: JSON, with the names of the features, so that what does not fit is noticed."""

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from aligntools.aligning.contrastive import evidence, second_look
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.features import ALL, NAMES
from aligntools.aligning.contrastive.linknetwork import LinkNetwork
from aligntools.aligning.contrastive.search import CONSTRAINTS, GREEDY, SearchSettings
from aligntools.aligning.contrastive.settings import MOST_FILES, Candidates
from aligntools.aligning.evidence import LOOK, OF_WEIGHTS, About, is_kind
from aligntools.formats.models.modelfile import fitting, hold_number, read_model, write_model
from aligntools.formats.opening import files
from aligntools.formats.opening.json_text import NUMBER, check_version, in_words, is_number, read_described
from aligntools.ground.errors import DataError, ModelError
from aligntools.ground.ranges import shown
from aligntools.viewing.models import ShownAsModel, weight_view

if TYPE_CHECKING:
    from aligntools.viewing.models import ModelView


FORMAT = "aligntools contrastive weights"
VERSION = 1
_TREES = NAMES.index("trees")


@dataclass(frozen=True, eq=False)
class Weights(ShownAsModel):
    """Weights and what belongs to them; arrays are copied and cannot be written to.

    values (float64 [FEATURES + tables]): 0 for what is not active; network: What the feature ``trees`` asks.
    tables (tuple of float64 [evidence.READINGS]): What readings are worth, of files and then of ``knowers``.
    knowers: By kinds of evidence (`aligning.evidence`) the name and the checksum of what has readings of any text.
    """

    values: np.ndarray
    active: np.ndarray
    search: SearchSettings = field(default_factory=SearchSettings)
    about: dict[str, Any] = field(default_factory=dict)
    tables: tuple[np.ndarray, ...] = ()
    network: LinkNetwork | None = None
    knowers: Mapping[str, About] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("values", "active"):
            own = np.array(getattr(self, name))
            own.setflags(write=False)
            object.__setattr__(self, name, own)

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return the weights by their size."""
        return weight_view(title, self.by_name, self.about)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all features, and of the files of evidence."""
        return *NAMES, *evidence.names(len(self.tables))

    @property
    def files(self) -> int:
        """How many files of evidence go with them."""
        return len(self.tables) - len(self.knowers)

    @property
    def looks(self) -> "tuple[Sequence[float] | None, ...]":
        """Of each table, the weights of a second look at what it is of; None where there is none."""
        return *(None for _ in range(self.files)), *(about.get(LOOK) for about in self.knowers.values())

    def without(self, names: Iterable[str]) -> "Weights":
        """Return the same for text of which some kinds of evidence are not asked."""
        names = set(names) & self.knowers.keys()
        if not names:
            return self
        left = [k for k, name in enumerate(self.knowers) if name not in names]
        kept = [*range(self.files), *(self.files + k for k in left)]
        columns = [*range(len(NAMES)), *(len(NAMES) + k for k in kept)]
        return replace(
            self,
            values=self.values[columns],
            active=self.active[columns],
            tables=tuple(self.tables[k] for k in kept),
            knowers={name: about for name, about in self.knowers.items() if name not in names},
        )

    @property
    def by_name(self) -> dict[str, float]:
        """The weights of the active features."""
        return {n: float(v) for n, v, a in zip(self.names, self.values, self.active, strict=True) if a}

    def text(self) -> dict[str, Any]:
        """Return what a file has, for JSON."""
        left_out = ("slack", math.inf), ("candidates", GREEDY.candidates)  # older files have no candidates
        search = {k: v for k, v in asdict(self.search).items() if (k, v) not in left_out}
        text = {"format": FORMAT, "version": VERSION, "features": list(self.by_name), "weights": self.by_name}
        text |= {"search": search, "learned": self.about}
        if self.tables:
            text["evidence"] = [np.asarray(table).tolist() for table in self.tables]
        if self.network is not None and self.active[_TREES]:
            text["trees"] = self.network.fingerprint
        return {**text, **self.knowers}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; it appears whole or not at all."""
        with files.writing(path) as out:
            out.write((json.dumps(self.text(), indent=1, ensure_ascii=False) + "\n").encode())


def scale(weights: np.ndarray, active: np.ndarray) -> float:
    """Return the weight that log-odds have among these weights: ``trees`` and the posterior together; 1 for neither."""
    found = sum(float(weights[column]) for column in (kf.TREES, kf.POSTERIOR) if active[column] and weights[column] > 0)
    return found or 1.0


def load_weights(path: str, network: LinkNetwork | None = None, network_of: str = "the start") -> Weights:
    """Read a weights file.

    network: What judged the links that they were learned over, from the file ``network_of``, where it is not shipped.
    """
    text = read_described(path, {"format": FORMAT}, "a weights file; `ContrastiveAligner.save_weights()` writes one")
    return weights_of(path, text, network, network_of)


def weights_of(
    path: str, text: dict[str, Any], network: LinkNetwork | None = None, network_of: str = "the start"
) -> Weights:
    """Return the weights that the text of a file has; see `load_weights`."""
    check_version(path, text, VERSION)
    listed, given = text.get("features"), text.get("weights")
    if not isinstance(listed, list) or not isinstance(given, dict) or not listed:
        raise DataError(path, None, "has no 'features' and 'weights'")
    n, lists = evidence.READINGS, text.get("evidence", [])
    if not isinstance(lists, list) or len(lists) > MOST_FILES + 1:
        raise DataError(path, None, f"'evidence' must be a list of at most {MOST_FILES} files; learn it again")
    for table in lists:
        if not isinstance(table, list) or len(table) != n or not all(map(is_number, table)):
            raise DataError(path, None, f"each file's list in 'evidence' must have {n} numbers; learn it again")
    names = *NAMES, *evidence.names(len(lists))
    for name in [*listed, *given]:
        if name not in names:
            raise DataError(path, None, f"unknown feature '{shown(name)}'; learn the weights again, with this version")
    values, active = np.zeros(len(names)), np.zeros(len(names), bool)
    for name in listed:
        value = given.get(name)
        if value is None:
            raise DataError(path, None, f"no weight for the feature '{name}', which it lists; learn it again")
        if not is_number(value):
            raise DataError(path, None, f"the weight of '{name}' is {in_words(value)}; a number was expected")
        values[names.index(name)] = value
        active[names.index(name)] = True
    for name in given:
        if name not in listed:
            raise DataError(path, None, f"a weight for '{name}', which is not among its features; remove it or list it")
    search, about = _search_settings(path, text.get("search", {})), text.get("learned", {})
    asked = _network(path, text, network, network_of) if active[_TREES] else None
    found: dict[str, About] = {}  # of what the last tables are, where no file has their readings
    for name in sorted(set(text) - OF_WEIGHTS):
        one = text[name]
        right = isinstance(one, dict) and all(isinstance(one.get(key), str) for key in ("name", "checksum"))
        if is_kind(name) and (not right or len(found) == len(lists)):
            wrong = f"'{name}' must have a name, a checksum, and a list of its own in 'evidence'"
            raise DataError(path, None, f"{wrong}; learn it again")
        look, many = one.get(LOOK) if right else None, len(second_look.INPUTS) + 1
        if look is not None and not (isinstance(look, list) and len(look) == many and all(map(is_number, look))):
            raise DataError(path, None, f"'{LOOK}' of '{name}' must have {many} numbers; learn it again")
        if right:
            found[name] = one
    tables = tuple(np.array(table, np.float64) for table in lists)
    return Weights(values, active, search, about, tables, asked, found)


def _network(path: str, text: dict[str, Any], given: LinkNetwork | None, network_of: str) -> LinkNetwork:
    """Return the network that a file's weights were learned over.

    Files of versions up to 0.3 name none: theirs were learned over the link trees that came with them.
    """
    wanted = text.get("trees", FORMER)
    if not isinstance(wanted, str):
        raise DataError(path, None, f"'trees' is {in_words(wanted)}; a fingerprint was expected")
    if wanted == FORMER:
        raise DataError(path, None, f"its weights were learned over {LINK_TREES}; learn them again, with this version")
    for network in (given, *(shipped(name).network for name in SHIPPED)):
        if network is not None and network.fingerprint == wanted:
            return network
    wrong = f"that of {network_of}" if given else "the one that comes with the program"
    advice = "give the file that they started from as `start`, or learn them again if an older version wrote them"
    raise DataError(path, None, f"its weights were learned from another start than {wrong}; {advice}")


def _search_settings(path: str, given: object) -> SearchSettings:
    known = {f.name: f.type for f in fields(SearchSettings)}
    if not isinstance(given, dict) or set(given) - set(known):
        raise DataError(path, None, f"'search' can have only {', '.join(known)}")
    for name, value in given.items():
        choices = {"constraint": tuple(CONSTRAINTS), "candidates": get_args(Candidates)}.get(name)
        if not (value in choices if choices else value in SearchSettings.RANGES[name]):
            due = f"one of {', '.join(choices)}" if choices else SearchSettings.RANGES[name]
            raise DataError(path, None, f"'{name}' is {in_words(value)} in 'search'; {due} was expected")
    return SearchSettings(**given)


# Starts of the contrastive model: a network that judges links, and weights of the features, learned beforehand.
#
# ``languages`` comes with the program; it was learned from gold links of six languages with English, whose licences
# allow every use, and its file names them. Other starts are in files, which `teaching` makes from large text.
# ``paper`` has no network but the weights of the authors' program.

KIND = "contrastive-start"
_HERE = Path(__file__).parent
#: The starts that come with the program, and the file of their network.
SHIPPED = ("languages",)
LANGUAGES = _HERE / "linknetwork.safetensors"
#: Why files of older versions are refused, and the fingerprint of the link trees of versions up to 0.3.
LINK_TREES = "link trees, which a network has taken the place of since version 0.3"
FORMER = "0df23f6215bacc81"


@dataclass(frozen=True, eq=False)
class ContrastiveStart:
    """A network that judges links, and weights to start from, float64 [FEATURES]; ``about`` says what taught it."""

    network: LinkNetwork
    weights: np.ndarray
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def by_name(self) -> dict[str, float]:
        """The weights that are not 0."""
        return {n: float(v) for n, v in zip(NAMES, self.weights, strict=True) if v}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; it appears whole or not at all."""
        header, arrays = self.network.parts()
        write_model(str(path), KIND, header | {"weights": self.by_name, "taught": self.about}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ContrastiveStart":
        """Read a file; ModelError where it is damaged, or no start of features that exist."""
        header, arrays = read_model(str(path), KIND)
        if "roots" in arrays:
            raise ModelError(path, None, f"is a start of {LINK_TREES}; make it again with `teach()`")
        with fitting(path):
            network, given, values = LinkNetwork.from_parts(header, arrays), header["weights"], np.zeros(len(NAMES))
            if not isinstance(given, dict) or not isinstance(header["taught"], dict):
                raise ValueError("weights")
            for name in given:
                values[NAMES.index(name)] = hold_number(given, name, NUMBER)
            return cls(network, values, header["taught"])


@cache
def shipped(name: str = "languages") -> ContrastiveStart:
    """Return a start that comes with the program: ``languages``."""
    weights = np.array([f.start for f in ALL], np.float64)
    header, arrays = read_model(str(LANGUAGES), LinkNetwork.KIND)
    return ContrastiveStart(LinkNetwork.from_parts(header, arrays), weights, header["taught"])
