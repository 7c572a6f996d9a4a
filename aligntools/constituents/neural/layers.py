"""Layers of small networks and their derivatives, in NumPy.

Arrays of weights are in a dict, by names such as ``roots.in.weights``; derivatives are added to a dict with the same
names. What a layer needs to go back is returned by its forward function.
"""

import itertools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

Arrays: TypeAlias = dict[str, np.ndarray]
#: Of Adam (Kingma & Ba 2015), as in the paper: steps, what is kept of the running means, what keeps from dividing by 0.
RATE, KEPT, KEPT_SQUARES, LEAST = 1e-3, 0.75, 0.999, 1e-8
#: The longest that the derivative of a step may be.
LONGEST = 3.0
#: Residual layers of a network.
DEPTH = 2


def affine(arrays: Arrays, name: str, x: np.ndarray) -> np.ndarray:
    """Return ``x W + b`` of rows."""
    return np.asarray(x @ arrays[f"{name}.weights"] + arrays[f"{name}.bias"])


def affine_back(arrays: Arrays, name: str, x: np.ndarray, by: np.ndarray, sums: Arrays) -> np.ndarray:
    """Add the derivatives of `affine`'s weights to ``sums``; return that by ``x``."""
    sums[f"{name}.weights"] += x.T @ by
    sums[f"{name}.bias"] += by.sum(0)
    return np.asarray(by @ arrays[f"{name}.weights"].T)


def residual_shapes(name: str, first: int, width: int, last: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the arrays of `residual`."""
    layers = {"in": (first, width), "out": (width, last)}
    layers |= {f"{k}{part}": (width, width) for k in range(DEPTH) for part in "ab"}
    shapes: dict[str, tuple[int, ...]] = {f"{name}.{layer}.weights": shape for layer, shape in layers.items()}
    return shapes | {f"{name}.{layer}.bias": shape[1:] for layer, shape in layers.items()}


def residual(arrays: Arrays, name: str, x: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return scores of rows, and what `residual_back` needs.

    A layer, residual layers ``g(y) = y + ReLU(V ReLU(U y + p) + q)`` and a layer: f of the paper's appendix A.1, with
    the last product.
    """
    kept, y = [x], affine(arrays, f"{name}.in", x)
    for k in range(DEPTH):
        inner = np.maximum(affine(arrays, f"{name}.{k}a", y), 0)
        outer = np.maximum(affine(arrays, f"{name}.{k}b", inner), 0)
        kept += [y, inner, outer]
        y = y + outer
    return affine(arrays, f"{name}.out", y), [*kept, y]


def residual_back(arrays: Arrays, name: str, kept: list[np.ndarray], by: np.ndarray, sums: Arrays) -> np.ndarray:
    """Add the derivatives of `residual`'s weights to ``sums``; return that by ``x``."""
    by = affine_back(arrays, f"{name}.out", kept[-1], by, sums)
    for k in reversed(range(DEPTH)):
        y, inner, outer = kept[1 + 3 * k : 4 + 3 * k]
        by_inner = affine_back(arrays, f"{name}.{k}b", inner, by * (outer > 0), sums)
        by = by + affine_back(arrays, f"{name}.{k}a", y, by_inner * (inner > 0), sums)
    return affine_back(arrays, f"{name}.in", kept[0], by, sums)


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Return the logarithms of the probabilities that rows of scores stand for."""
    shifted = scores - scores.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def log_softmax_back(logs: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return the derivative by scores, given that by logarithms of probabilities."""
    return np.asarray(by - np.exp(logs) * by.sum(-1, keepdims=True))


def lstm(arrays: Arrays, name: str, x: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return the states of an LSTM (Hochreiter & Schmidhuber 1997) over sequences, and what `lstm_back` needs.

    x (float [places, sequences, inputs]).
    Returns states (float [places, sequences, width]).
    """
    weights, memory, bias = (arrays[f"{name}.{part}"] for part in ("weights", "memory", "bias"))
    width = len(memory)
    gates = (x.reshape(-1, x.shape[-1]) @ weights + bias).reshape(*x.shape[:2], 4 * width)
    states, cells = (np.zeros((len(x) + 1, x.shape[1], width), x.dtype) for _ in range(2))
    for n in range(len(x)):
        own = gates[n]
        own += states[n] @ memory
        own[:, : 3 * width] = 0.5 * np.tanh(0.5 * own[:, : 3 * width]) + 0.5  # sigmoids: input, forget, output
        own[:, 3 * width :] = np.tanh(own[:, 3 * width :])
        enter, keep, leave, new = np.split(own, 4, 1)
        cells[n + 1] = keep * cells[n] + enter * new
        states[n + 1] = leave * np.tanh(cells[n + 1])
    return states[1:], (x, gates, states, cells)


def lstm_back(arrays: Arrays, name: str, kept: tuple[np.ndarray, ...], by: np.ndarray, sums: Arrays) -> np.ndarray:
    """Add the derivatives of `lstm`'s weights to ``sums``; return that by ``x``."""
    x, gates, states, cells = kept
    memory = arrays[f"{name}.memory"]
    by_gates, by_cell, by_state = np.empty_like(gates), np.zeros_like(cells[0]), np.zeros_like(cells[0])
    for n in reversed(range(len(x))):
        enter, keep, leave, new = np.split(gates[n], 4, 1)
        bent, by_state = np.tanh(cells[n + 1]), by_state + by[n]
        by_cell = by_cell + by_state * leave * (1 - bent * bent)
        own = np.split(by_gates[n], 4, 1)
        own[0][:] = by_cell * new * enter * (1 - enter)
        own[1][:] = by_cell * cells[n] * keep * (1 - keep)
        own[2][:] = by_state * bent * leave * (1 - leave)
        own[3][:] = by_cell * enter * (1 - new * new)
        by_cell, by_state = by_cell * keep, by_gates[n] @ memory.T
    flat = by_gates.reshape(-1, by_gates.shape[-1])
    sums[f"{name}.weights"] += x.reshape(len(flat), -1).T @ flat
    sums[f"{name}.memory"] += states[:-1].reshape(len(flat), -1).T @ flat
    sums[f"{name}.bias"] += flat.sum(0)
    return np.asarray((flat @ arrays[f"{name}.weights"].T).reshape(x.shape))


def adam(arrays: Arrays) -> Callable[[Arrays], None]:
    """Return what makes steps down a derivative whose length has a limit (Kingma & Ba 2015).

    arrays: Weights, which steps change; the derivative that a step is given is used up.
    """
    means, squares = ({n: np.zeros_like(a) for n, a in arrays.items()} for _ in range(2))
    steps = itertools.count(1)

    def step(by: Arrays) -> None:
        number = next(steps)
        length = sum(float(np.vdot(one, one)) for one in by.values()) ** 0.5
        share = min(1.0, LONGEST / length) if length > 0 else 1.0
        size = RATE / (1 - KEPT**number)
        scale = (1 - KEPT_SQUARES**number) ** -0.5
        for name, own in by.items():
            mean, square = means[name], squares[name]
            mean *= KEPT
            mean += ((1 - KEPT) * share) * own
            own *= own
            own *= (1 - KEPT_SQUARES) * share * share
            square *= KEPT_SQUARES
            square += own
            np.sqrt(square, out=own)
            own *= scale
            own += LEAST
            np.divide(mean, own, out=own)
            own *= size
            arrays[name] -= own

    return step
