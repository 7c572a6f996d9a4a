"""What every metric has in common: counts of each sentence, figures of their sums, scores with their settings.

A metric turns gold and hypothesis into counts that add up, a row for each sentence, and sums of counts into figures: a
`Score` with its `Signature`. Everything else follows from these in one place: intervals and paired tests
(`ground.resampling`), tables and JSON (`metrics.report`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from aligntools import __version__
from aligntools.ground import resampling
from aligntools.ground.numba_settings import portable
from aligntools.ground.resampling import Difference


@dataclass(frozen=True)
class Signature:
    """The settings that made a score, in the order in which they are shown: to be cited with the number.

    Scores can be compared where their signatures are equal. ``version`` is the program's, which changes whenever what
    a metric counts changes.

    >>> print(Signature({"metric": "aer", "nsent": 40, "version": "0.2.0"}))
    metric:aer|nsent:40|version:0.2.0
    """

    settings: Mapping[str, Any]

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self.settings.items())

    def extended(self, **settings: Any) -> "Signature":
        """Return the signature with more settings in front of the version, which stays last."""
        own = _version()
        return Signature({k: v for k, v in self.settings.items() if k not in own} | settings | own)


def _version() -> dict[str, str]:
    return ({"compiled": "portable"} if portable() else {}) | {"version": __version__}


@dataclass(frozen=True, eq=False, kw_only=True)
class Score(ABC):
    """The figures of one system by a metric as fractions of 1, the counts that they come from, and how they were made.

    A metric is a subclass: what it adds are its own figures. ``str()`` gives them in a line, in percent.

    NAME: In signatures.
    LABELS: What the columns of the counts are.
    HEADLINE: The figure that intervals and tests are about: the field that holds it.
    TITLE: What the headline is called in text.
    SYSTEM: What the thing that is scored is called in tables and JSON.
    LEGEND: Explains abbreviations of the table; may be empty.
    CELLS: The columns of the table and the fields that they show, the headline first.
    GOLD_LINE: What the gold has, for below the table; may be empty.
    """

    NAME: ClassVar[str]
    LABELS: ClassVar[tuple[str, ...]]
    HEADLINE: ClassVar[str]
    TITLE: ClassVar[str]
    SYSTEM: ClassVar[str]
    LEGEND: ClassVar[str] = ""
    CELLS: ClassVar[dict[str, str]]
    GOLD_LINE: ClassVar[str] = ""
    counts: np.ndarray = field(repr=False)  # int64 [sentences, labels]: What the figures are made from
    how: Any = field(default=None, repr=False)  # The settings that change the numbers
    signature: Signature

    @classmethod
    def signed(cls, settings: Mapping[str, Any], **made: Any) -> Self:
        """Return the score with these fields; its signature has the metric's name, these settings and the version."""
        return cls(signature=Signature({"metric": cls.NAME, **settings, **_version()}), **made)

    @abstractmethod
    def figures(self, totals: np.ndarray) -> np.ndarray:
        """Return the figures [shape=(..., figures)] of sums of counts [shape=(..., labels)], the headline first."""

    def _headline(self, totals: np.ndarray) -> np.ndarray:
        return self.figures(totals)[..., 0]

    @property
    def value(self) -> float | None:
        """The figure that the metric is known for; None where it does not apply."""
        value: float | None = getattr(self, self.HEADLINE)
        return value

    @property
    def totals(self) -> dict[str, int]:
        """Sums of the counts by label."""
        return dict(zip(self.LABELS, self.counts.sum(axis=0).tolist(), strict=True))

    def interval(self, bootstrap: int = 1000, seed: int = 1, level: float = 0.95) -> tuple[float, float] | None:
        """Return the percentile bootstrap interval of `value` over sentences; None where there is no value."""
        if self.value is None:
            return None
        return resampling.bootstrap(self.counts, self._headline, bootstrap, seed, level)

    def minus(self, baseline: "Score", bootstrap: int = 1000, seed: int = 1, level: float = 0.95) -> Difference | None:
        """Return how much `value` differs from a baseline's on the same sentences; None where one has no value."""
        if type(self) is not type(baseline) or self.counts.shape != baseline.counts.shape:
            shapes = " and ".join(f"{len(s.counts)} sentences by {s.NAME}" for s in (self, baseline))
            raise ValueError(f"scores of the same metric and the same sentences are compared, not of {shapes}")
        if self.value is None or baseline.value is None:
            return None
        return resampling.compare(self.counts, baseline.counts, self._headline, bootstrap, seed, level)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures by name, for JSON."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.repr and one.name != "signature"}

    def cells(self, verbose: bool = False) -> dict[str, str]:
        """Return the figures as a table shows them, by the columns' heads: shares in percent, and numbers."""
        values = {head: getattr(self, name) for head, name in self.CELLS.items()}
        return {head: str(value) if isinstance(value, int) else percent(value) for head, value in values.items()}

    def gold_line(self, by: tuple[str, ...] = ()) -> str:
        """Return a line on what the gold has, for below the table; may be empty."""
        return self.GOLD_LINE.format(self)

    def gold_as_dict(self) -> dict[str, Any]:
        """Return what is to be known of the gold, for JSON."""
        return {}

    def details(self) -> str:
        """Return the counts in a line."""
        return ", ".join(f"{label.replace('_', ' ')} {count}" for label, count in self.totals.items())

    def breakdown(self, by: tuple[str, ...]) -> dict[str, Any]:
        """Return figures of parts for JSON: of each tag, for instance."""
        return {}

    def breakdown_lines(self, name: str, by: tuple[str, ...]) -> Iterator[str]:
        """Yield lines with the figures of parts; ``name`` is what the system is called."""
        yield from ()

    def __str__(self) -> str:
        return ", ".join(f"{head} {cell}" for head, cell in self.cells().items())


def divide(above: npt.ArrayLike, below: npt.ArrayLike) -> np.ndarray:
    """Return quotients, 0 where the denominator is 0."""
    above, below = np.asarray(above), np.asarray(below)
    return np.asarray(np.divide(above, below, out=np.zeros(np.shape(above)), where=below > 0))


def percent(value: float | None) -> str:
    """Return a fraction in percent; ``-`` for None."""
    return "-" if value is None else f"{100 * value:.2f}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows]
