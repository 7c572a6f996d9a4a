"""Starts of the contrastive model: a network that judges links, and weights of the features, learned beforehand.

``languages`` comes with the program; it was learned from gold links of six languages with English, whose licences allow
every use, and its file names them. Other starts are in files, which `teaching` makes from large text. ``paper`` has no
network but the weights of the authors' program.
"""

import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from aligntools.aligning.contrastive.features import ALL, NAMES
from aligntools.aligning.contrastive.linknetwork import LinkNetwork
from aligntools.formats.models.modelfile import fitting, hold_number, read_model, write_model
from aligntools.formats.opening.json_text import NUMBER
from aligntools.ground.errors import ModelError

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
    """A network that judges links, and weights to start from.

    weights (float64 [FEATURES]).
    about: What taught it; for readers.
    """

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
        """Read a file.

        Raises ModelError when it is not a start, is damaged, or is of features that do not exist or of link trees.
        """
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
