"""Minimizing a smooth function by limited-memory BFGS (Nocedal 1980).

scipy's does the same, but through a linear algebra library whose sums depend on the number of its threads; this one
gives the same bytes on any number of cores.
"""

import numpy as np

#: A step must bring this share of what the slope promises (Armijo).
DESCENT = 1e-4


def _dot(a, b):
    return float((a * b).sum())


def minimize(function, start, iterations=100, memory=6, tolerance=1e-7):
    """Minimize a function.

    Parameters
    ----------
    function : callable
        Takes float64 [n], returns its value and its gradient [n].
    start : float64 [n]
    iterations : int
        At most.
    memory : int
        Steps that the curvature is taken from.
    tolerance : float
        Stop when a step gains less than this, relative to the value.

    Returns
    -------
    float64 [n]
    """
    x = np.array(start, np.float64)
    value, gradient = function(x)
    steps = []
    for _ in range(iterations):
        way = -_inverse_times(steps, gradient)
        slope = _dot(way, gradient)
        if not slope < 0:  # the curvature misleads: forget it
            steps, way = [], -gradient
            slope = _dot(way, gradient)
            if slope == 0:
                break
        size = 1.0 if steps else min(1.0, 1.0 / np.sqrt(-slope))
        for _ in range(30):
            moved = x + size * way
            reached, new = function(moved)
            if reached <= value + DESCENT * size * slope:
                break
            size /= 2
        else:
            break
        step, change = moved - x, new - gradient
        curvature = _dot(step, change)
        if curvature > 1e-12 * _dot(change, change):
            steps = [*steps[-memory + 1 :], (step, change, curvature)]
        gain = value - reached
        x, value, gradient = moved, reached, new
        if gain <= tolerance * max(abs(value), 1.0):
            break
    return x


def _inverse_times(steps, gradient):
    """Return the inverse curvature times the gradient (the two-loop recursion)."""
    q, shares = gradient.copy(), []
    for step, change, curvature in reversed(steps):
        shares.append(_dot(step, q) / curvature)
        q -= shares[-1] * change
    if steps:
        _, change, curvature = steps[-1]
        q *= curvature / _dot(change, change)
    for (step, change, curvature), share in zip(steps, reversed(shares), strict=True):
        q += (share - _dot(change, q) / curvature) * step
    return q
