"""The diagonal prior of IBM 2 as fast_align's own code computes it, to the last digits: sums as series in closed form.

`diagonal` has what the prior and its gradient are by the paper (Dyer, Chahuneau & Smith 2013, section 2).
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Side

Numbers: TypeAlias = np.ndarray | float

#: Least and greatest tension.
TENSION_RANGE = (0.1, 14.0)


def climb_as_fast_align(
    tension: float, expected: float, shapes: np.ndarray, counts: np.ndarray, steps: int = 8, rate: float = 20.0
) -> tuple[float, list[tuple[float, float]]]:
    """Climb the gradient as fast_align's code does: all observed words divide the expectation, lengths are exchanged.

    Returns the new tension; for each step the prior's expectation of ``-|i/I - j/J|`` and the tension that it is of.
    """
    given, observed = (np.repeat(side, shapes[:, 1]).astype(float) for side in shapes.T)
    times = np.repeat(counts, shapes[:, 1]).astype(float)
    ends = np.cumsum(shapes[:, 1])
    word = np.arange(1, len(times) + 1) - np.repeat(ends - shapes[:, 1], shapes[:, 1]).astype(float)
    taken = []
    for _ in range(steps):
        found = _series(word, observed, given, tension) / _normalizer(word, given, observed, tension, np.exp)
        prior = float((times * found).sum() / times.sum())
        taken.append((prior, tension))
        tension = min(max(tension + (expected / times.sum() - prior) * rate, TENSION_RANGE[0]), TENSION_RANGE[1])
    return tension, taken


def prior_as_fast_align(
    i: np.ndarray, j: np.ndarray, m: Numbers, n: Numbers, tension: float, p_null: float
) -> np.ndarray:
    """Return the prior probability of links between observed words i of m and given words j of n, all from 1 on."""
    return _exp(_feature(i, j, m, n) * tension) / (_normalizer(i, m, n, tension, _exp) / (1.0 - p_null))


def settle_ties(links: Links, given: Side, observed: Side, tension: float, p_null: float) -> np.ndarray:
    """Choose among two like words that are as far from the diagonal as fast_align does, by the last bit of the prior.

    Each observed word has one link at most. Returns int32 [links, 2], the given word's position first.
    """
    sentences, pairs = links.sentences(), links.pairs.copy()
    n, m = given.lengths()[sentences], observed.lengths()[sentences]
    j, i = (pairs.astype(np.int64) + 1).T
    other = 2 * i * n // m - j
    first = given.offsets[sentences] - 1
    found = np.flatnonzero((2 * i * n % m == 0) & (other > 0) & (other <= n) & (other != j))
    found = found[given.tokens[(first + other)[found]] == given.tokens[(first + j)[found]]]
    both = np.sort(np.stack([j, other])[:, found], axis=0)
    place = i[found].astype(float), both.astype(float), m[found].astype(float), n[found].astype(float)
    left, right = prior_as_fast_align(*place, tension, p_null)
    pairs[found, 0] = np.where(right > left, both[1], both[0]) - 1
    return pairs


def _exp(x: np.ndarray) -> np.ndarray:
    """Return the exponential as C computes it: a tie is settled by its last bit."""
    return np.array([math.exp(v) for v in x.ravel().tolist()]).reshape(x.shape)


def _parts(i: np.ndarray, m: Numbers, n: Numbers, tension: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the position before the diagonal, how many are after it (unsigned, 32 bits), and the series' ratio."""
    below = np.floor(i * n / m)
    return below, np.where(n >= below, n - below, n - below + 2.0**32), np.exp(-tension / n)


def _feature(i: np.ndarray, j: np.ndarray, m: Numbers, n: Numbers) -> np.ndarray:
    return -np.abs(j / n - i / m)


def _normalizer(
    i: np.ndarray, m: Numbers, n: Numbers, tension: float, exp: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the sum of ``exp(tension * feature)`` over n positions, as two geometric series."""
    below, above, ratio = _parts(i, m, n, tension)
    top, bottom = (exp(_feature(i, j, m, n) * tension) for j in (below + 1, below))
    total = np.where(below > 0, bottom * (1 - ratio**below) / (1 - ratio), 0.0)
    return total + np.where(above > 0, top * (1 - ratio**above) / (1 - ratio), 0.0)


def _series(i: np.ndarray, m: Numbers, n: Numbers, tension: float) -> np.ndarray:
    """Return the sum of ``feature * exp(tension * feature)`` over n positions, as two arithmetico-geometric series."""
    below, above, ratio = _parts(i, m, n, tension)
    total, step = np.zeros(len(i)), -1.0 / n
    for j, length in ((below + 1, above), (below, below)):
        first = _feature(i, j, m, n)
        weight = np.exp(first * tension)
        last = weight * ratio**length
        less = ratio - 1
        found = ((step * (length - 1) + first) * last - first * weight) / less
        found -= step * (last - weight * ratio) / (less * less)
        total += np.where(length > 0, found, 0.0)
    return total
