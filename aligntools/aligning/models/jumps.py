"""Jumps of the alignment HMM (Vogel, Ney & Tillmann 1996): start, M-step, and the form that convolutions take."""

import numpy as np

from aligntools.aligning.models import kernels_jumps as kj


def initial_jumps() -> np.ndarray:
    """Start with jumps near +1 and first positions near the first: float32 [2, JUMP_SIZE]."""
    jumps = np.zeros((2, kj.JUMP_SIZE), np.float32)
    w = kj.WINDOW
    jumps[:, : 2 * w + 1] = 1 / (1.0 + np.abs(np.arange(-w, w + 1) - 1))
    jumps[:, kj.TAIL] = 1 / (w + 3.0)
    jumps[:, kj.FIRST : kj.FIRST_TAIL] = 1 / (1.0 + np.arange(w + 1))
    jumps[:, kj.FIRST_TAIL] = 1 / (w + 3.0)
    return jumps


def jumps_from_counts(counts: np.ndarray, smoothing: float = 0.5) -> np.ndarray:
    """Estimate jump parameters from counts and exposures (float64 [2, 2, JUMP_SIZE]).

    ``smoothing`` is a pseudo-count of jumps, spread as the initial ones; 0 gives maximum likelihood.
    """
    jumps = np.zeros((2, kj.JUMP_SIZE), np.float32)
    start = initial_jumps().astype(np.float64)
    for d in range(2):
        for a, b in ((0, kj.FIRST), (kj.FIRST, kj.JUMP_SIZE)):
            prior = start[d, a:b] / start[d, a:b].sum()
            count = counts[d, 0, a:b] + smoothing * prior
            exposure = counts[d, 1, a:b] + smoothing * max(counts[d, 1, a:b].max(), 1.0) / max(
                counts[d, 0, a:b].sum(), 1.0
            )
            g = np.where(prior > 0, count / np.maximum(exposure, 1e-9), 0.0)
            g = np.where(counts[d, 1, a:b] > 0, g, 0.0) if smoothing == 0 else g
            total = g.sum()
            jumps[d, a:b] = np.maximum(g / total, 1e-9) if total > 0 else start[d, a:b]
        jumps[d, 2 * kj.WINDOW + 1] = 0.0  # the empty tap
    return jumps


def jump_taps(jumps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ``h(d) = g(d) - tail`` and ``h(-d)`` as convolutions take them: [..., TAPS] each, typed as ``jumps``."""
    w = kj.WINDOW
    forward = np.zeros((*jumps.shape[:-1], kj.TAPS), jumps.dtype)
    forward[..., : 2 * w + 1] = jumps[..., : 2 * w + 1] - jumps[..., kj.TAIL : kj.TAIL + 1]
    backward = np.zeros_like(forward)
    backward[..., : 2 * w + 1] = forward[..., 2 * w :: -1]
    return forward, backward
