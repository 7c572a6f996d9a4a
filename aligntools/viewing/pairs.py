"""Sentence pairs with their links, as they are drawn: what is right, false and missed."""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.links.pharaoh import Links


@dataclass(frozen=True, eq=False)
class ShownSystem:
    """The links of one system for every pair.

    probabilities [links] or None: NaN for links without one.
    """

    name: str
    links: Links
    probabilities: np.ndarray | None = None


@dataclass(frozen=True)
class ShownPair:
    """One sentence pair, as it is drawn.

    number: From 1 on.
    source, target: Words.
    links: The links of each system with their probabilities, NaN where there is none.
    sure, possible: Gold links, the sure among the possible; None where the pair has none.
    """

    number: int
    source: list[str]
    target: list[str]
    links: tuple[dict[tuple[int, int], float], ...]
    sure: frozenset[tuple[int, int]] | None = None
    possible: frozenset[tuple[int, int]] | None = None

    def verdict(self, system: int, link: tuple[int, int]) -> str:
        """Return ``right``, ``wrong``, ``missed``, ``plain`` where there is no gold, or "" where nothing is said."""
        linked = link in self.links[system] if self.links else False
        if self.sure is None or self.possible is None:
            return "plain" if linked else ""
        if linked:
            return "right" if link in self.possible else "wrong"
        return "missed" if link in self.sure else ""

    def aer(self, system: int) -> float | None:
        """Return the error rate of one system; None where there is no gold."""
        if self.sure is None or self.possible is None:
            return None
        own = self.links[system].keys()
        size = len(own) + len(self.sure)
        return 1 - (len(own & self.sure) + len(own & self.possible)) / size if size else 0.0
