"""Spans of a sentence that stand out: maximal scoring subsequences (Ruzzo and Tompa 1999)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.ranges import amounts


class Span(NamedTuple):
    """Words of one side of a pair, one after the other, and how much speaks for them having no counterpart."""

    #: first word, from 0
    start: int
    #: the word after the last
    end: int
    #: sum of the words' log-odds, natural logarithms
    score: float


def maximal_spans(scores: Sequence[float]) -> list[Span]:
    """Return the maximal scoring spans of a sequence, in order; the best is the span with the highest sum.

    None can be made longer or shorter without its sum falling, and none overlaps another. Linear time in practice.
    """
    # a candidate: start, end, sum of all that is before it, sum up to its end
    found: list[tuple[int, int, float, float]] = []
    total = 0.0
    for k, score in enumerate(scores):
        before, total = total, total + score
        if score <= 0:
            continue
        start, left, right = k, before, total
        while found:
            at = next((n for n in range(len(found) - 1, -1, -1) if found[n][2] < left), None)
            if at is None or found[at][3] >= right:
                break
            start, left = found[at][0], found[at][2]
            del found[at:]
        found.append((start, k + 1, left, right))
    return [Span(s, e, right - left) for s, e, left, right in found]


@documented
@dataclass(frozen=True)
class CheckSettings(Settings):
    """When a sentence pair is flagged.

    The default of ``flag_above`` was chosen on en-de and en-cs text, so that 5 % of its pairs are flagged.
    """

    flag_above: float = option(
        8.0, "Flag pairs whose score is above this.", allowed=amounts(), group="Limits", metavar="X"
    )
