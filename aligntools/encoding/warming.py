"""Runs once, on made-up weights, what the layers of an encoder compile."""

import numpy as np

from aligntools.encoding import kernels_layers
from aligntools.encoding.layers import Layers
from aligntools.encoding.weights import Dense, Layer, Normalization, Weights
from aligntools.ground.parallel import Pool

_WIDTH, _PIECES, _HEADS = 32, 8, 2


def warm(pool: Pool) -> None:
    """Compile what states of words need; no encoder has to be installed."""
    rng = np.random.default_rng(1)

    def numbers(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32)

    def dense(inputs: int, outputs: int) -> Dense:
        return Dense(numbers(inputs, outputs), numbers(outputs))

    def normalization() -> Normalization:
        return Normalization(numbers(_WIDTH), numbers(_WIDTH))

    layer = Layer(
        dense(_WIDTH, 3 * _WIDTH),
        dense(_WIDTH, _WIDTH),
        normalization(),
        dense(_WIDTH, 2 * _WIDTH),
        dense(2 * _WIDTH, _WIDTH),
        normalization(),
    )
    embeddings = numbers(_PIECES, _WIDTH)
    weights = Weights(
        _HEADS, 1e-5, lambda pieces: embeddings[pieces], numbers(_PIECES, _WIDTH), normalization(), [layer]
    )
    pieces = np.arange(_PIECES, dtype=np.int32)
    (states,) = Layers(weights).run([pieces], (1,), pool)
    kernels_layers.means(states[0], pieces, pieces, np.zeros((_PIECES, _WIDTH), np.float32))
