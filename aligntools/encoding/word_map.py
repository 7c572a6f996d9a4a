"""A linear map of an encoder's states, learned from gold links, which makes words that are translations more similar.

The loss is the cross entropy of each word's shares (`similarities`) with the words that gold links it to, over rows and
columns, for words with a link (cf. Dou & Neubig 2021, who move all weights of an encoder). The map begins as the
identity, is the same for both sides, and also serves languages of which there were no links.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.encoding.similarities import HUB, unhubbed, unit
from aligntools.ground.parallel import one_thread

#: Of Adam (Kingma & Ba 2015): the first step's size, what is kept of the running means, what keeps from dividing by 0.
RATE, KEPT, KEPT_SQUARES, LEAST = 1e-3, 0.9, 0.999, 1e-8
#: Sentence pairs of a step, passes over all.
STEP, PASSES = 16, 3
#: What cosines are multiplied by.
SHARPNESS = 15.0
#: What a possible link counts for, compared with a sure one.
POSSIBLE = 0.5


@dataclass(frozen=True, eq=False)
class Linked:
    """The states of a sentence pair's words in one layer, and what links each pair of words has in gold.

    source, target (float32 [words, width]).
    links (float32 [source words, target words]): 1 for sure links, POSSIBLE for possible ones.
    """

    source: np.ndarray
    target: np.ndarray
    links: np.ndarray


@dataclass(frozen=True, eq=False)
class WordMap:
    """Maps of the states of some layers, which as rows are multiplied by them; float32 [layers, width, width]."""

    layers: tuple[int, ...]
    matrices: np.ndarray

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """Map the states of these layers, float32 [layers, words, width]."""
        return np.asarray(np.matmul(states, self.matrices))

    def parts(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the header and the arrays of a file; 16 bits hold all that tells states apart."""
        return {"layers": list(self.layers)}, {"matrices": self.matrices.astype(np.float16)}

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> "WordMap":
        """Return the map of a file's parts; ValueError, KeyError or TypeError where they do not fit together."""
        layers, matrices = tuple(int(n) for n in header["layers"]), arrays["matrices"]
        if matrices.ndim != 3 or len(matrices) != len(layers) or matrices.shape[1] != matrices.shape[2]:
            raise ValueError("matrices")
        return cls(layers, np.ascontiguousarray(matrices, np.float32))


def loss(matrix: np.ndarray, pairs: Iterable[Linked], sharpness: float = SHARPNESS) -> tuple[float, np.ndarray, int]:
    """Return the summed cross entropy of pairs, its derivative by the map, and how many words it is of."""
    total, derivative, words = 0.0, np.zeros_like(matrix), 0
    for pair in pairs:
        if not pair.links.any():
            continue
        a, b = pair.source @ matrix, pair.target @ matrix
        u, v = unit(a), unit(b)
        scores = sharpness * unhubbed(u @ v.T)
        by_score = np.zeros_like(scores)
        for axis in (0, 1):
            weights = pair.links.sum(axis, keepdims=True)
            has = weights > 0
            wanted = pair.links / np.where(has, weights, 1)
            logs = scores - scores.max(axis, keepdims=True)
            logs = logs - np.log(np.exp(logs).sum(axis, keepdims=True))
            total -= float((wanted * logs).sum())
            by_score += has * (np.exp(logs) - wanted)
            words += int(has.sum())
        by_cosine = sharpness * by_score
        by_cosine = by_cosine - HUB * (by_cosine.mean(1, keepdims=True) + by_cosine.mean(0, keepdims=True))
        derivative += pair.source.T @ _before_unit(a, u, by_cosine @ v)
        derivative += pair.target.T @ _before_unit(b, v, by_cosine.T @ u)
    return total, derivative, words


def _before_unit(a: np.ndarray, u: np.ndarray, by_unit: np.ndarray) -> np.ndarray:
    """Return the derivative by vectors, given that by the same made of length 1."""
    along = np.einsum("ij,ij->i", u, by_unit)[:, None]
    lengths = np.sqrt(np.einsum("ij,ij->i", a, a))[:, None]
    return np.asarray((by_unit - u * along) / np.maximum(lengths, 1e-9))


def learn(pairs: Sequence[Linked], seed: int = 1, passes: int = PASSES, rate: float = RATE) -> np.ndarray:
    """Learn the map of one layer, float32 [width, width], by Adam, with steps that get smaller evenly."""
    if not pairs:
        raise ValueError("no sentence pairs")
    matrix: np.ndarray = np.eye(pairs[0].source.shape[1], dtype=np.float32)
    mean, squares = np.zeros_like(matrix), np.zeros_like(matrix)
    rng, step = np.random.default_rng(seed), 0
    steps = passes * -(-len(pairs) // STEP)
    with one_thread():
        for _ in range(passes):
            order = rng.permutation(len(pairs))
            for begin in range(0, len(order), STEP):
                _, derivative, words = loss(matrix, [pairs[k] for k in order[begin : begin + STEP]])
                derivative = derivative / np.float32(max(words, 1))
                size, step = np.float32(rate * (1 - step / steps)), step + 1
                mean = KEPT * mean + (1 - KEPT) * derivative
                squares = KEPT_SQUARES * squares + (1 - KEPT_SQUARES) * derivative**2
                corrected = mean / (1 - KEPT**step), np.sqrt(squares / (1 - KEPT_SQUARES**step))
                matrix = (matrix - size * corrected[0] / (corrected[1] + LEAST)).astype(np.float32)
    return matrix
