"""Compiled: inner products and combinations of long vectors, a block at a time.

The library that SciPy does these with adds up in an order that depends on the number of cores.
"""

from aligntools.ground.compiler import kernel


@kernel
def inner_products(rows, use, vector, begin, end, out):
    """Compute rows' inner products with a vector over the entries ``begin:end``.

    rows (float64 [rows, n]).
    use (int64 [used]): The rows to take.
    vector (float64 [n]).
    out (float64 [used]): Written.
    """
    v = vector[begin:end]
    for i in range(len(use)):
        row = rows[use[i], begin:end]
        total = 0.0
        for k in range(len(v)):
            total += row[k] * v[k]
        out[i] = total


@kernel
def combine(rows, use, factors, vector, begin, end):
    """Add rows times factors to the entries ``begin:end`` of a vector."""
    v = vector[begin:end]
    for i in range(len(use)):
        row, factor = rows[use[i], begin:end], factors[i]
        for k in range(len(v)):
            v[k] += factor * row[k]


@kernel
def add_scaled(weights, factor, gradient):
    """Add ``factor * weights`` to the gradient and return the squared length of the weights."""
    total = 0.0
    for i in range(len(weights)):
        gradient[i] += factor * weights[i]
        total += weights[i] * weights[i]
    return total
