"""How similar the words of two sentences are, by an encoder's states: cosines without hubs, and probabilities of links.

Some words, called hubs, are similar to all others. Half the mean of its row and half that of its column is subtracted
from each cosine, so that hubs have no advantage (cf. the scaling by neighbourhoods of Lample et al. 2018).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.ground.parallel import one_thread

#: What cosines are multiplied by before each row and each column is made to sum to 1.
SHARPNESS = 25.0
#: What part of a row's and of a column's mean is taken off.
HUB = np.float32(0.5)
#: Links of less probability are not written.
LEAST = 0.1
_SMALL = np.float32(1e-9)


@dataclass(frozen=True, eq=False)
class Similarities:
    """How like the words of a sentence pair are.

    cosines (float32 [source words, target words]): Without hubs; the mean over layers.
    forward, reverse (float32 [source words, target words]): Of each source word the share of each target word, and of
        each target word that of each source word. Words without a piece have zeros.
    """

    cosines: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray

    @classmethod
    def of(cls, source: np.ndarray, target: np.ndarray, sharpness: float = SHARPNESS) -> "Similarities":
        """Compare the states of two sentences, float32 [layers, words, width]."""
        known = np.any(source, (0, 2))[:, None] & np.any(target, (0, 2))[None, :]
        cosines = np.zeros(known.shape, np.float32)
        if not known.any():
            return cls(cosines, cosines, cosines)
        for one, other in zip(source, target, strict=True):
            cosines += unhubbed(unit(one) @ unit(other).T)
        cosines /= np.float32(len(source))
        scores = np.where(known, cosines * np.float32(sharpness), np.float32(-1e4))
        return cls(cosines, _shares(scores, 1) * known, _shares(scores, 0) * known)

    @property
    def probabilities(self) -> np.ndarray:
        """The mean of both directions' shares, float32 [source words, target words]."""
        found: np.ndarray = (self.forward + self.reverse) * np.float32(0.5)
        return found


def compare(
    source: Sequence[np.ndarray], target: Sequence[np.ndarray], sharpness: float = SHARPNESS
) -> list[Similarities]:
    """Compare the states of pairs of sentences."""
    with one_thread():
        return [Similarities.of(a, b, sharpness) for a, b in zip(source, target, strict=True)]


def unit(states: np.ndarray) -> np.ndarray:
    """Return states of length 1, or zeros where they are zeros; the last axis is a state."""
    lengths = np.sqrt(np.einsum("...k,...k->...", states, states))[..., None]
    found: np.ndarray = states / np.maximum(lengths, _SMALL)
    return found


def unhubbed(cosines: np.ndarray) -> np.ndarray:
    """Take half the mean of its row and half that of its column off each cosine."""
    found: np.ndarray = cosines - HUB * (cosines.mean(1, keepdims=True) + cosines.mean(0, keepdims=True))
    return found


def _shares(scores: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    found: np.ndarray = powers / powers.sum(axis, keepdims=True)
    return found
