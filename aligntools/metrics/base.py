"""What every metric has in common: counts of each sentence, figures of their sums, scores with their settings.

A `Metric` turns gold and hypothesis into counts that add up, a row for each sentence, and sums of counts into figures.
Everything else follows from these in one place: a `Score` with its `Signature`, intervals and paired tests
(`ground.resampling`), tables and JSON (`metrics.report`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from aligntools import __version__
from aligntools.ground import resampling
from aligntools.ground.portable import portable
from aligntools.ground.resampling import Difference

Gold = TypeVar("Gold")
Hypothesis = TypeVar("Hypothesis")


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


class Metric(ABC, Generic[Gold, Hypothesis]):
    """How something is scored; its fields are the settings that change the numbers.

    name: In signatures.
    labels: What the columns of the counts are.
    headline: The figure that intervals and tests are about: the field of the score that holds it.
    title: What the headline is called in text.
    system: What the thing that is scored is called in tables and JSON.
    legend: Explains abbreviations of the table; may be empty.
    """

    name: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]
    headline: ClassVar[str]
    title: ClassVar[str]
    system: ClassVar[str]
    legend: ClassVar[str] = ""

    @abstractmethod
    def count(self, gold: Gold, hypothesis: Hypothesis) -> np.ndarray:
        """Return what the figures are made from [shape=(sentences, labels), dtype=int64]."""

    @abstractmethod
    def figures(self, totals: np.ndarray) -> np.ndarray:
        """Return the figures [shape=(..., figures)] of sums of counts [shape=(..., labels)], the headline first."""

    @abstractmethod
    def settings(self, gold: Gold, hypothesis: Hypothesis, counts: np.ndarray) -> dict[str, Any]:
        """Return what the signature says, but for the metric's name and the version."""

    @abstractmethod
    def score(self, gold: Gold, hypothesis: Hypothesis) -> "Score":
        """Count and score.

        Raises ValueError when gold and hypothesis do not have the same sentences.
        """

    def made(self, gold: Gold, hypothesis: Hypothesis, counts: np.ndarray) -> dict[str, Any]:
        """Return what scores of all metrics have."""
        settings = {"metric": self.name, **self.settings(gold, hypothesis, counts), **_version()}
        return {"metric": self, "counts": counts, "signature": Signature(settings)}

    def headline_of(self, totals: np.ndarray) -> np.ndarray:
        """Return the headline figure [shape=(...)] of sums of counts [shape=(..., labels)]."""
        return self.figures(totals)[..., 0]


@dataclass(frozen=True, eq=False, kw_only=True)
class Score(ABC):
    """The figures of one system as fractions of 1, the counts that they come from, and how they were made.

    What a metric adds are its own figures. ``str()`` gives them in a line, in percent.

    counts (int64 [sentences, labels]): See the metric's ``labels``.
    """

    metric: Metric[Any, Any] = field(repr=False)
    counts: np.ndarray = field(repr=False)
    signature: Signature

    @property
    def value(self) -> float | None:
        """The figure that the metric is known for; None where it does not apply."""
        value: float | None = getattr(self, self.metric.headline)
        return value

    @property
    def totals(self) -> dict[str, int]:
        """Sums of the counts by label."""
        return dict(zip(self.metric.labels, self.counts.sum(axis=0).tolist(), strict=True))

    def interval(self, bootstrap: int = 1000, seed: int = 1, level: float = 0.95) -> tuple[float, float] | None:
        """Return the percentile bootstrap interval of `value` over sentences; None where there is no value."""
        if self.value is None:
            return None
        return resampling.bootstrap(self.counts, self.metric.headline_of, bootstrap, seed, level)

    def minus(self, baseline: "Score", bootstrap: int = 1000, seed: int = 1, level: float = 0.95) -> Difference | None:
        """Return how much `value` differs from a baseline's on the same sentences; None where one has no value."""
        if type(self) is not type(baseline) or self.counts.shape != baseline.counts.shape:
            shapes = " and ".join(f"{len(s.counts)} sentences by {s.metric.name}" for s in (self, baseline))
            raise ValueError(f"scores of the same metric and the same sentences are compared, not of {shapes}")
        if self.value is None or baseline.value is None:
            return None
        return resampling.compare(self.counts, baseline.counts, self.metric.headline_of, bootstrap, seed, level)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures by name, for JSON."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.repr and one.name != "signature"}

    @abstractmethod
    def cells(self, verbose: bool = False) -> dict[str, str]:
        """Return the figures as a table shows them, the headline first, by the columns' heads."""

    def gold_line(self, by: tuple[str, ...] = ()) -> str:
        """Return a line on what the gold has, for below the table; may be empty."""
        return ""

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
