"""The diagonal prior of IBM 2 (Dyer, Chahuneau & Smith 2013, section 2): its tension, climbed as fast_align does."""

import numpy as np

from aligntools.aligning.models import kernels_ibm as ki
from aligntools.aligning.models.diagonal_series import TENSION_RANGE


def sentence_shapes(lengths: np.ndarray, other_lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of lengths that occur, int64 [n, 2], and how often each does."""
    pairs = np.stack([lengths, other_lengths], 1).astype(np.int64)
    shapes, counts = np.unique(pairs[(lengths > 0) & (other_lengths > 0)], axis=0, return_counts=True)
    return np.ascontiguousarray(shapes), counts


def tension_step(
    tension: float,
    expected: float,
    n_real: float,
    shapes: np.ndarray,
    counts: np.ndarray,
    steps: int = 8,
    rate: float = 20.0,
) -> float:
    """Climb the tension's gradient as fast_align does: ``steps`` steps of ``rate`` times the mean gradient.

    expected: Posterior expectation of ``-|i/I - j/J|`` over real links, summed; ``n_real`` of them.
    """
    if n_real <= 0:
        return tension
    tokens = float((shapes[:, 1] * counts).sum())
    for _ in range(steps):
        prior = ki.diagonal_expectation(shapes, counts, tension) / tokens
        tension = min(max(tension + rate * (expected / n_real - prior), TENSION_RANGE[0]), TENSION_RANGE[1])
    return tension
