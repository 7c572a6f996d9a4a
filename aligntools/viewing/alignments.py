"""Alignments to look at: sentence pairs, the links of one or several systems, gold links."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from aligntools.formats.goldlinks import Gold
from aligntools.formats.pharaoh import Links
from aligntools.viewing.base import View
from aligntools.viewing.page import page


@dataclass(frozen=True, eq=False)
class System:
    """The links of one system for every pair.

    Attributes
    ----------
    name : str
    links : Links
    probabilities : np.ndarray or None [shape=(links,)]
        NaN for links without one.
    """

    name: str
    links: Links
    probabilities: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class AlignmentsView(View):
    """Sentence pairs and how their words are aligned.

    Attributes
    ----------
    source, target : sequence of list of str
        Words, as they can be shown.
    systems : sequence of System
    gold : Gold or None
        Of the first pairs.
    """

    source: Sequence[list[str]]
    target: Sequence[list[str]]
    systems: Sequence[System] = ()
    gold: Gold | None = None
    title: str = field(default="Alignments")

    def __len__(self) -> int:
        return len(self.source)

    def html(self) -> str:
        """Return the page."""
        return page(self.title, "alignments", self.data())

    def data(self) -> dict[str, object]:
        """Return what the page's script draws: words as one string a sentence, links as flat lists of numbers."""
        return {
            "source": [" ".join(words) for words in self.source],
            "target": [" ".join(words) for words in self.target],
            "systems": [{"name": s.name, "links": _flat(s.links)} for s in self.systems],
        }

    def text(self, *, width: int = 80, color: bool = False, number: int | None = None) -> str:
        """Return all pairs as text."""
        rows = []
        tables = [system.links.tolists() for system in self.systems]
        for n, (source, target) in enumerate(zip(self.source, self.target, strict=True)):
            rows += [f"{n + 1}", " ".join(source), " ".join(target)]
            for system, table in zip(self.systems, tables, strict=True):
                rows.append(f"{system.name}: " + " ".join(f"{i}-{j}" for i, j in table[n]))
        return "\n".join(rows) + "\n"


def _flat(links: Links) -> list[list[int]]:
    flat, ends = links.pairs.ravel().tolist(), (2 * links.offsets).tolist()
    return [flat[a:b] for a, b in pairwise(ends)]
