"""Lists of candidate translations as text: ``sentence ||| words ||| name=value ... ||| score``, as Moses has them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

#: The word |||, as Moses escapes it: it would end the field.
_ESCAPED = "&#124;&#124;&#124;"


class Candidate(Protocol):
    """A translation with its features, in order, and its score."""

    @property
    def words(self) -> Sequence[str]:
        """Words of the translation."""

    @property
    def features(self) -> Mapping[str, float]:
        """Features that are not 0."""

    @property
    def score(self) -> float:
        """Score of the derivation."""


def format_nbest(first: int, lists: Iterable[Sequence[Candidate]]) -> bytes:
    """Format candidates, one a line.

    first: Number of the first sentence; they count from 0.
    lists: Those of each sentence; a sentence without candidates has no line.
    """
    lines = []
    for number, candidates in enumerate(lists, first):
        for one in candidates:
            features = " ".join([f"{name}={value:.6g}" for name, value in one.features.items()])
            words = " ".join([_ESCAPED if word == "|||" else word for word in one.words])
            lines.append(f"{number} ||| {words} ||| {features} ||| {one.score:.6f}\n")
    return "".join(lines).encode("utf-8", "surrogateescape")
