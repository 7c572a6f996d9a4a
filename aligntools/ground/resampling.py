"""How sure a corpus figure is, of sums over sentences: bootstrap intervals, and paired tests of two systems."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

#: From sums of counts [shape=(..., n)] to a figure [shape=(...)].
Figure: TypeAlias = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Difference:
    """One system's figure minus another's.

    interval: Paired bootstrap: both systems are scored on the same drawn sentences.
    p_value: Approximate randomization, two-sided: how often exchanging the systems' outputs, sentence by sentence with
        probability 1/2, makes at least this difference (Riezler & Maxwell 2005).
    """

    value: float
    interval: tuple[float, float]
    p_value: float


def _drawn(counts: np.ndarray, samples: int, seed: int) -> np.ndarray:
    """Return sums of counts over as many sentences drawn with replacement, ``samples`` times."""
    rng = np.random.default_rng(seed)
    n = counts.shape[-2]
    values = counts.astype(np.float64)  # exact, and multiplied far faster than integers
    weights = (np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64) for _ in range(samples))
    return np.array([w @ values for w in weights])


def _interval(values: np.ndarray, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def bootstrap(
    counts: np.ndarray, figure: Figure, samples: int = 1000, seed: int = 1, level: float = 0.95
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a figure of counts [sentences, n]; (0, 0) of none."""
    if not len(counts) or not samples:
        return 0.0, 0.0
    return _interval(figure(_drawn(counts, samples, seed)), level)


def compare(
    counts: np.ndarray,
    baseline: np.ndarray,
    figure: Figure,
    samples: int = 1000,
    seed: int = 1,
    level: float = 0.95,
) -> Difference:
    """Compare a system's counts [sentences, n] with a baseline's; ``samples`` is also the number of randomizations."""
    if not len(counts):
        return Difference(0.0, (0.0, 0.0), 1.0)
    both = np.stack([counts, baseline])

    def difference(totals: np.ndarray) -> np.ndarray:
        values = figure(totals)
        return values[..., 0] - values[..., 1]

    observed = float(difference(both.sum(axis=1)))
    drawn = difference(_drawn(both, samples, seed))
    rng = np.random.default_rng(seed)
    total, change = both.sum(axis=1), (counts - baseline).astype(np.float64)
    extreme = 0
    for _ in range(samples):
        moved = (rng.random(len(change)) < 0.5).astype(np.float64) @ change
        # A hair of tolerance: a difference that equals the observed one counts, whatever the rounding.
        extreme += int(abs(difference(total + np.stack([-moved, moved]))) >= abs(observed) - 1e-12)
    return Difference(observed, _interval(drawn, level), (extreme + 1) / (samples + 1))
