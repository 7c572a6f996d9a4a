"""Starts of the contrastive model: what judges links and the weights of the features, learned beforehand.

``languages`` comes with the program, learned from the gold links of eighteen languages with English; files hold others,
which `teaching` makes of large text. ``paper`` is none of them: the weights of the authors' program.
"""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from aligntools.aligning.contrastive.features import ALL, NAMES
from aligntools.aligning.contrastive.judge import Judge
from aligntools.aligning.contrastive.linknetwork import LinkNetwork
from aligntools.aligning.contrastive.linktrees import LinkTrees
from aligntools.formats.json_text import NUMBER
from aligntools.formats.modelfile import fitting, hold_number, read_model, write_model

KIND = "contrastive-start"
_HERE = Path(__file__).parent
#: The starts that come with the program, and where the network of the one is kept.
SHIPPED = ("languages",)
LANGUAGES = _HERE / "linknetwork.safetensors"
#: The trees of versions up to 0.3, which their files of weights rest on.
FORMER = _HERE / "linktrees.safetensors"


@dataclass(frozen=True, eq=False)
class ContrastiveStart:
    """Link trees, or a network in their place, and weights to start from.

    Attributes
    ----------
    trees : LinkTrees or LinkNetwork
    weights : float64 [FEATURES]
    about : dict
        What taught it; for readers.
    """

    trees: Judge
    weights: np.ndarray
    about: dict = field(default_factory=dict)

    @property
    def by_name(self) -> dict[str, float]:
        """The weights that are not 0."""
        return {n: float(v) for n, v in zip(NAMES, self.weights, strict=True) if v}

    def save(self, path) -> None:
        """Write the file; it appears whole or not at all."""
        header, arrays = self.trees.parts()
        write_model(str(path), KIND, header | {"weights": self.by_name, "taught": self.about}, arrays)

    @classmethod
    def load(cls, path) -> "ContrastiveStart":
        """Read a file.

        Raises
        ------
        ModelError
            When it is none, is damaged, or is of features that there are not.
        """
        header, arrays = read_model(str(path), KIND)
        with fitting(path):
            kind: type[Judge] = LinkNetwork if "network" in header else LinkTrees
            trees, given, values = kind.from_parts(header, arrays), header["weights"], np.zeros(len(NAMES))
            if not isinstance(given, dict) or not isinstance(header["taught"], dict):
                raise ValueError("weights")
            for name in given:
                values[NAMES.index(name)] = hold_number(given, name, NUMBER)
            return cls(trees, values, header["taught"])


@cache
def shipped(name: str = "languages") -> ContrastiveStart:
    """Return a start that comes with the program: ``languages``."""
    weights = np.array([f.start for f in ALL], np.float64)
    about = {"by": "gold links of eighteen languages with English"}
    return ContrastiveStart(LinkNetwork.load(LANGUAGES), weights, about)


@cache
def former_trees() -> LinkTrees:
    """Return the link trees that versions up to 0.3 came with."""
    return LinkTrees.load(FORMER)
