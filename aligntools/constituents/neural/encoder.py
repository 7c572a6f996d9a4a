"""The inference network of a compound PCFG: how a sentence's latent vector is distributed, q(z | x).

An LSTM goes over the sentence in both directions; the largest value of each of its states gives, by a layer, mean and
logarithm of the variance of a normal distribution (appendix A.2 of Kim, Dyer & Rush 2019).
"""

from typing import Any, NamedTuple

import numpy as np

from aligntools.constituents.neural.layers import Arrays, affine, affine_back, lstm, lstm_back


class Encoded(NamedTuple):
    """Distributions of latent vectors, and what `encode_back` needs."""

    mean: np.ndarray  # float [sentences, latent]
    log_variance: np.ndarray  # float [sentences, latent]
    kept: tuple[Any, ...]

    def divergence(self) -> float:
        """Return the sum of KL(q(z | x) || N(0, 1)) over the sentences."""
        variance = np.exp(self.log_variance)
        return float(-0.5 * (self.log_variance - self.mean**2 - variance + 1).sum())


def encode(arrays: Arrays, sentences: np.ndarray) -> Encoded:
    """Return the distributions of the latent vectors of sentences that have the same length.

    sentences (int32 [sentences, words]).
    """
    x = arrays["encoder.words"][sentences.T]
    forward, there = lstm(arrays, "encoder.forward", x)
    backward, back = lstm(arrays, "encoder.backward", x[::-1])
    states = np.concatenate([forward, backward[::-1]], 2)
    places = states.argmax(0)
    pooled = np.take_along_axis(states, places[None], 0)[0]
    out = affine(arrays, "encoder.out", pooled)
    mean, log_variance = np.split(out, 2, 1)
    return Encoded(mean, log_variance, (sentences, states.shape, there, back, places, pooled))


def encode_back(arrays: Arrays, found: Encoded, by_mean: np.ndarray, by_log_variance: np.ndarray, sums: Arrays) -> None:
    """Add the derivatives of the encoder's weights to ``sums``."""
    sentences, shape, there, back, places, pooled = found.kept
    by_pooled = affine_back(arrays, "encoder.out", pooled, np.concatenate([by_mean, by_log_variance], 1), sums)
    by = np.zeros(shape, by_pooled.dtype)
    np.put_along_axis(by, places[None], by_pooled[None], 0)
    half = shape[2] // 2
    by_x = lstm_back(arrays, "encoder.forward", there, by[:, :, :half], sums)
    by_x += lstm_back(arrays, "encoder.backward", back, by[::-1, :, half:], sums)[::-1]
    np.add.at(sums["encoder.words"], sentences.T, by_x)
