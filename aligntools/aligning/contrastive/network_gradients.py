"""The loss of the network that judges links, and its gradient by back-propagation.

The network is that of `kernels_linknetwork`: a single one, and without exchanging source and target. The values of each
layer are kept, and values are dropped at random (Srivastava et al. 2014).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from aligntools.aligning.contrastive import kernels_linknetwork as kn
from aligntools.aligning.contrastive import kernels_network_gradients as kl

#: Layers after the first.
LAYERS = 3
_WIDE = kl.AROUND * kn.CHANNELS


@dataclass(frozen=True, eq=False)
class Lesson:
    """Candidates of whole sentence pairs, and the answers: how probably each is a link.

    inputs (float32 [candidates, inputs]).
    rows, columns (int32 [candidates]): Numbered through the sentences from 0 on.
    neighbours (int32 [candidates, 8]): Candidates of the lesson; -1: none.
    links, shares (float32 [candidates]): The probability of a link, and the weight of the candidate.
    """

    inputs: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    neighbours: np.ndarray
    links: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True, eq=False)
class InputStatistics:
    """Statistics of the inputs.

    mean, deviation (float32 [inputs]): Of each, over all lessons.
    posterior: Which one is the base model's log-odds.
    """

    mean: np.ndarray
    deviation: np.ndarray
    posterior: int


def shapes(inputs: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a network's arrays, by the names that `LinkNetwork` has for them."""
    channels = kn.CHANNELS
    return {
        "first": (inputs, channels),
        "first_bias": (channels,),
        "layers": (LAYERS, kn.PLACES, channels, channels),
        "biases": (LAYERS, channels),
        "last": (channels,),
        "last_bias": (),
        "trust": (),
    }


def by_name(flat: np.ndarray, inputs: int) -> dict[str, np.ndarray]:
    """Return the arrays that a flat vector of all parameters holds, by name."""
    found, at = {}, 0
    for name, shape in shapes(inputs).items():
        size = int(np.prod(shape))
        found[name] = flat[at : at + size].reshape(shape)
        at += size
    return found


class Propagation:
    """Runs a network forward and backward; the arrays for its layers are allocated once.

    parameters, gradient: See `by_name`; of one kind of floats, float32 where time counts.
    statistics: Networks see inputs less their means, in deviations.
    longest: Candidates of the largest lesson.
    """

    def __init__(
        self,
        parameters: dict[str, np.ndarray],
        gradient: dict[str, np.ndarray],
        statistics: InputStatistics,
        longest: int,
    ) -> None:
        self.statistics = statistics
        self.parameters, self.gradient = parameters, gradient
        own = (x[name] for x in (parameters, gradient) for name in ("layers", "biases"))
        self.layers = [_Layer(w, b, dw, db, longest) for w, b, dw, db in zip(*own, strict=True)]
        self.around = np.empty_like(self.layers[0].around)

    def odds(self, lesson: Lesson, dropped: float = 0.0, rng: np.random.Generator | None = None) -> np.ndarray:
        """Return the natural log-odds that candidates are links, float32 [candidates]; see `loss`."""
        p = self.parameters
        if len(lesson.inputs) > len(self.around):
            raise ValueError(f"a lesson of {len(lesson.inputs)} candidates, where the largest has {len(self.around)}")
        self.x = (lesson.inputs - self.statistics.mean) / self.statistics.deviation
        self.first = self.last = np.maximum(self.x @ p["first"] + p["first_bias"], 0)
        for layer in self.layers:
            self.last = layer.forward(lesson, self.last, self.last.dtype.type(dropped), rng)
        found: np.ndarray = (
            p["trust"] * lesson.inputs[:, self.statistics.posterior] + self.last @ p["last"] + p["last_bias"]
        )
        return found

    def loss(self, lesson: Lesson, dropped: float = 0.0, rng: np.random.Generator | None = None) -> float:
        """Return the cross-entropy of a lesson, weighted by shares; add its gradient to what is there.

        dropped: Share of the values of each layer after the first that are dropped.
        rng: Draws them; needed if some are dropped.
        """
        odds, gradient = self.odds(lesson, dropped, rng), self.gradient
        change = lesson.shares * (1 / (1 + np.exp(-odds)) - lesson.links)
        gradient["trust"] += change @ lesson.inputs[:, self.statistics.posterior]
        gradient["last_bias"] += change.sum()
        gradient["last"] += change @ self.last
        change = change[:, None] * self.parameters["last"]
        for layer in reversed(self.layers):
            layer.back(lesson, change, self.around)
        change *= self.first > 0
        gradient["first"] += self.x.T @ change
        gradient["first_bias"] += change.sum(0)
        return float((lesson.shares * (np.logaddexp(0, odds) - lesson.links * odds)).sum())


class _Layer:
    """A layer, with the values of its forward pass."""

    def __init__(
        self, weights: np.ndarray, bias: np.ndarray, gradient: np.ndarray, bias_gradient: np.ndarray, longest: int
    ) -> None:
        self.weights, self.bias, self.gradient, self.bias_gradient = weights, bias, gradient, bias_gradient
        self.matrix = weights[: kl.AROUND].reshape(_WIDE, kn.CHANNELS)
        self.around = np.empty((longest, _WIDE), weights.dtype)
        self.z, self.drawn, self.gate, self.out = np.ones((4, longest, kn.CHANNELS), weights.dtype)
        self.most = np.empty((2, longest, kn.CHANNELS), weights.dtype)
        self.where = np.empty((2, longest, kn.CHANNELS), np.int32)

    def forward(self, lesson: Lesson, h: np.ndarray, dropped: float, rng: np.random.Generator | None) -> np.ndarray:
        """Return the output for the input ``h``, [candidates, CHANNELS]."""
        n = len(h)
        around, z, drawn, gate, out = (x[:n] for x in (self.around, self.z, self.drawn, self.gate, self.out))
        kl.look_around(h, lesson.neighbours, around)
        np.matmul(around, self.matrix, out=z)
        z += self.bias
        for place, lines, most, where in self._lines(lesson):
            kl.find_highest(h, lines, most, where)
            kl.add_lines(most @ self.weights[place], lines, z)
        if dropped:
            assert rng is not None, "something draws what is dropped"
            rng.random(out=drawn, dtype=drawn.dtype)
        kl.pass_on(z, drawn, dropped, h, gate, out)
        return out

    def back(self, lesson: Lesson, change: np.ndarray, around: np.ndarray) -> None:
        """Turn the gradient of the output into that of the input; add the gradients of the layer's parameters."""
        n = len(change)
        own, around = change * self.gate[:n], around[:n]
        self.bias_gradient += own.sum(0)
        self.gradient[: kl.AROUND] += (self.around[:n].T @ own).reshape(kl.AROUND, kn.CHANNELS, kn.CHANNELS)
        np.matmul(own, self.matrix.T, out=around)
        kl.give_around(around, lesson.neighbours, change)
        for place, lines, most, where in self._lines(lesson):
            summed = np.empty_like(most)
            kl.sum_lines(own, lines, summed)
            self.gradient[place] += most.T @ summed
            kl.give_highest(summed @ self.weights[place].T, where, change)

    def _lines(self, lesson: Lesson) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        for n, (place, lines) in enumerate(((kn.OF_ROW, lesson.rows), (kn.OF_COLUMN, lesson.columns))):
            size = int(lines.max()) + 1
            yield place, lines, self.most[n, :size], self.where[n, :size]
