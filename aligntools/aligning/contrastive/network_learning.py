"""Learning the network that judges links (`linknetwork`) by stochastic gradient descent, with back-propagation."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from aligntools.aligning.contrastive import kernels_linknetwork as kn
from aligntools.aligning.contrastive.candidate_links import CandidateLinks
from aligntools.aligning.contrastive.features import NAMES
from aligntools.aligning.contrastive.linknetwork import LinkNetwork, shapes, turned
from aligntools.ground.parallel import Pool, one_thread
from aligntools.ground.run import Report

# The loss of the network that judges links, and its gradient by back-propagation.
#
# The network is that of `kernels_linknetwork`: a single one, and without exchanging source and target. The values of
# each layer are kept, and values are dropped at random (Srivastava et al. 2014).

#: Layers after the first.
LAYERS = 3
_WIDE = kn.AROUND * kn.CHANNELS


@dataclass(frozen=True, eq=False)
class Lesson:
    """Training examples: the candidates of whole sentence pairs, and which of them are gold links.

    inputs (float32 [candidates, inputs]); rows, columns (int32 [candidates]), numbered through the sentences.
    neighbours (int32 [candidates, 8]), -1: none; starts (int64 [sentences + 1]): Where sentences' candidates begin.
    links, shares (float32 [candidates]): The probability of a link, and the weight of the candidate.
    """

    inputs: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    neighbours: np.ndarray
    links: np.ndarray
    shares: np.ndarray
    starts: np.ndarray

    def turned(self, order: list[int]) -> "Lesson":
        """Return the same with source and target exchanged; ``order`` has the new order of the inputs."""
        neighbours = np.ascontiguousarray(self.neighbours[:, kn.TURNED])
        return replace(self, inputs=self.inputs[:, order], rows=self.columns, columns=self.rows, neighbours=neighbours)


#: Mean and deviation of the inputs over all lessons, float32 [inputs].
Statistics: TypeAlias = tuple[np.ndarray, np.ndarray]


def by_name(flat: np.ndarray, inputs: int) -> dict[str, np.ndarray]:
    """Return the arrays that a flat vector of all parameters holds, by name."""
    found, at = {}, 0
    for name, shape in shapes(inputs, LAYERS).items():
        size = int(np.prod(shape))
        found[name] = flat[at : at + size].reshape(shape)
        at += size
    return found


class Propagation:
    """Runs a network forward and backward; the arrays for its layers are allocated once, for ``longest`` candidates.

    parameters, gradient: See `by_name`; of one kind of floats, float32 where time counts.
    statistics: Networks see inputs less their means, in deviations.
    """

    def __init__(
        self,
        parameters: dict[str, np.ndarray],
        gradient: dict[str, np.ndarray],
        statistics: Statistics,
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
        self.x = (lesson.inputs - self.statistics[0]) / self.statistics[1]
        self.first = self.last = np.maximum(self.x @ p["first"] + p["first_bias"], 0)
        for layer in self.layers:
            self.last = layer.forward(lesson, self.last, self.last.dtype.type(dropped), rng)
        found: np.ndarray = p["trust"] * lesson.inputs[:, POSTERIOR] + self.last @ p["last"] + p["last_bias"]
        return found

    def loss(self, lesson: Lesson, dropped: float = 0.0, rng: np.random.Generator | None = None) -> float:
        """Return the cross-entropy of a lesson, weighted by shares, and add its gradient to the network's.

        dropped: Share of the values of each layer after the first that are dropped, as ``rng`` draws them.
        """
        odds, gradient = self.odds(lesson, dropped, rng), self.gradient
        change = lesson.shares * (1 / (1 + np.exp(-odds)) - lesson.links)
        gradient["trust"] += change @ lesson.inputs[:, POSTERIOR]
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
        self.matrix = weights[: kn.AROUND].reshape(_WIDE, kn.CHANNELS)
        self.around = np.empty((longest, _WIDE), weights.dtype)
        self.z, self.drawn, self.gate, self.out = np.ones((4, longest, kn.CHANNELS), weights.dtype)
        self.most = np.empty((2, longest, kn.CHANNELS), weights.dtype)
        self.where = np.empty((2, longest, kn.CHANNELS), np.int32)

    def forward(self, lesson: Lesson, h: np.ndarray, dropped: float, rng: np.random.Generator | None) -> np.ndarray:
        """Return the output for the input ``h``, [candidates, CHANNELS]."""
        n = len(h)
        around, z, drawn, gate, out = (x[:n] for x in (self.around, self.z, self.drawn, self.gate, self.out))
        padded = np.concatenate([h, np.zeros_like(h[:1])])  # the last one is the neighbour that there is not
        around[:, : kn.CHANNELS], around[:, kn.CHANNELS :] = h, padded[lesson.neighbours].reshape(n, -1)
        np.matmul(around, self.matrix, out=z)
        z += self.bias
        for place, lines, most, where in self._lines(lesson):
            kn.find_highest(h, lines, most, where)
            z += (most @ self.weights[place])[lines]
        if dropped:
            assert rng is not None, "something draws what is dropped"
            rng.random(out=drawn, dtype=drawn.dtype)
        kn.pass_on(z, drawn, dropped, h, gate, out)
        return out

    def back(self, lesson: Lesson, change: np.ndarray, around: np.ndarray) -> None:
        """Turn the gradient of the output into that of the input; add the gradients of the layer's parameters."""
        n = len(change)
        own, around = change * self.gate[:n], around[:n]
        self.bias_gradient += own.sum(0)
        self.gradient[: kn.AROUND] += (self.around[:n].T @ own).reshape(kn.AROUND, kn.CHANNELS, kn.CHANNELS)
        np.matmul(own, self.matrix.T, out=around)
        kn.give_around(around, lesson.neighbours, change)
        for place, lines, most, where in self._lines(lesson):
            summed = np.empty_like(most)
            kn.sum_lines(own, lines, summed)
            self.gradient[place] += most.T @ summed
            kn.give_highest(summed @ self.weights[place].T, where, change)

    def _lines(self, lesson: Lesson) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
        for n, (place, lines) in enumerate(((kn.OF_ROW, lesson.rows), (kn.OF_COLUMN, lesson.columns))):
            size = int(lines.max()) + 1
            yield place, lines, self.most[n, :size], self.where[n, :size]


#: Features that a network asks about: those that a link has by itself.
INPUTS = (
    *("translation", "relative-position", "posterior", "agreement", "rivals", "hardest-rival", "others", "best"),
    *("diagonal-support", "side-support", "wide-support", "forward-use", "reverse-use"),
    *("similarity", "same-word", "symbols", "mismatch", "frequency-gap", "rarity"),
)
#: The one that is the base model's log-odds.
POSTERIOR = INPUTS.index("posterior")
RATE, DECAY, DROPPED = 3e-3, 1e-3, 0.15
#: Standard deviations of how a lesson's inputs are shifted (in their deviations) and scaled (in natural logarithms).
MOVED, STRETCHED = 0.2, 0.2
#: Share of the running means of gradients, and of their squares, that is kept at each step; and what is added to avoid
#: division by zero (Kingma & Ba 2015).
KEPT, KEPT_SQUARES, LEAST = 0.9, 0.999, 1e-8
#: Candidates of a step, and of each of its lessons, whose arrays fit into the cache of a core.
STEP, LESSON = 6000, 1000
_KINDS = (np.float32, np.int32, np.int32, np.int32, np.float32, np.float32)


def part_of(candidates: CandidateLinks, links: np.ndarray, shares: np.ndarray) -> Lesson:
    """Return the candidates of a text, whose links are known, as one `Lesson`."""
    e = candidates
    sentence = e.sentences()
    rows, columns = e.rows + e.s_offsets[sentence], e.columns + e.t_offsets[sentence]
    words = [side[at] for side, at in ((e.s_words, rows), (e.t_words, columns))]
    asked = [NAMES.index(name) for name in INPUTS]
    inputs = np.concatenate([e.local[:, asked], np.clip(np.concatenate(words, 1), kn.LEAST, kn.MOST)], 1)
    neighbours = np.where(e.neighbours < 0, -1, e.neighbours + e.starts[sentence][:, None])
    return Lesson(inputs, rows, columns, neighbours, links, shares, e.starts)


def fit(
    lists: Sequence[Sequence[Lesson]],
    networks: int,
    passes: int,
    pool: Pool,
    seed: int = 1,
    report: Report | None = None,
) -> list[LinkNetwork]:
    """Learn a `LinkNetwork` from each list of parts: the average of networks from different random values.

    report: Called after each pass of each network with a dict: network, pass (from 1 on), loss (cross-entropy of a
        candidate, natural logarithm).
    """
    jobs = [(parts, seed + n, k * networks + n + 1) for k, parts in enumerate(lists) for n in range(networks)]
    one_at_a_time = threading.Lock()

    def one(job: tuple[Sequence[Lesson], int, int]) -> dict[str, np.ndarray]:
        parts, own, number = job

        def told(figures: dict[str, Any]) -> None:
            if report:
                with one_at_a_time:
                    report({"network": number} | figures)

        return learn(parts, passes, own, told)

    with one_thread():
        learned = pool.map(one, jobs)
    return [averaged(learned[k : k + networks]) for k in range(0, len(learned), networks)]


def averaged(learned: Sequence[dict[str, np.ndarray]]) -> LinkNetwork:
    """Return the `LinkNetwork` whose log-odds are the mean of those of some networks, as `learn` returns them."""
    arrays = {name: np.ascontiguousarray(np.stack([p[name] for p in learned]), np.float32) for name in learned[0]}
    return LinkNetwork(INPUTS, **arrays)


def both_sides(parts: Sequence[Lesson]) -> list[Lesson]:
    """Return parts, and the same with source and target exchanged."""
    words = np.arange(kn.WORD_INPUTS).reshape(2, -1)[::-1].ravel()
    order = [INPUTS.index(turned(name)) for name in INPUTS] + (len(INPUTS) + words).tolist()
    return [side for part in parts for side in (part, part.turned(order))]


def steps(parts: Sequence[Lesson], rng: np.random.Generator) -> Iterator[list[Lesson]]:
    """Yield the sentences of parts in random order, in lists of lessons of about STEP candidates together."""
    sentences = [(part, k) for part in parts for k in range(len(part.starts) - 1)]
    lessons: list[Lesson] = []
    chosen: list[tuple[Lesson, int]] = []
    size = whole = 0
    for n in rng.permutation(len(sentences)):
        part, k = sentences[n]
        length = int(part.starts[k + 1] - part.starts[k])
        if not 0 < length <= STEP:
            continue
        if chosen and size + length > LESSON:
            lessons.append(lesson(chosen))
            chosen, size = [], 0
        chosen.append((part, k))
        size, whole = size + length, whole + length
        if whole >= STEP:
            yield [*lessons, lesson(chosen)]
            lessons, chosen, size, whole = [], [], 0, 0
    if chosen:
        yield [*lessons, lesson(chosen)]


def lesson(chosen: Sequence[tuple[Lesson, int]]) -> Lesson:
    """Return sentences of parts as one."""
    columns: list[list[np.ndarray]] = [[] for _ in _KINDS]
    at = row = column = 0
    for part, k in chosen:
        a, b = part.starts[k], part.starts[k + 1]
        rows, lines = (x[a:b] - x[a:b].min() for x in (part.rows, part.columns))
        around = np.where(part.neighbours[a:b] < 0, -1, part.neighbours[a:b] - a + at)
        own = part.inputs[a:b], rows + row, lines + column, around, part.links[a:b], part.shares[a:b]
        for values, more in zip(columns, own, strict=True):
            values.append(more)
        row, column, at = row + rows.max() + 1, column + lines.max() + 1, at + b - a
    found = [np.concatenate(x).astype(kind, copy=False) for x, kind in zip(columns, _KINDS, strict=True)]
    found.append(np.cumsum([0, *map(len, columns[-1])]))
    return Lesson(*found)


def varied(lesson: Lesson, statistics: Statistics, rng: np.random.Generator) -> Lesson:
    """Return a lesson as a base model of another language might have it: domain randomization (Tobin et al. 2017).

    Languages differ in the mean and the spread of each input. So each input is shifted and scaled at random, for all
    candidates alike. The base model's log-odds stay as they are.
    """
    mean, deviation = statistics
    stretched, moved = np.exp(rng.normal(0, STRETCHED, len(mean))), rng.normal(0, MOVED, len(mean))
    stretched[POSTERIOR], moved[POSTERIOR] = 1.0, 0.0
    inputs = (lesson.inputs - mean) * stretched.astype(np.float32)
    inputs += mean + (moved * deviation).astype(np.float32)
    return replace(lesson, inputs=inputs)


def begin(inputs: int, rng: np.random.Generator) -> np.ndarray:
    """Return random parameters of a network, flat; biases are 0, and the base model's log-odds count for 1."""
    flat = np.zeros(sum(int(np.prod(shape)) for shape in shapes(inputs, LAYERS).values()), np.float32)
    found = by_name(flat, inputs)
    fans = {"first": inputs, "layers": _WIDE, "last": 100 * kn.CHANNELS}
    for name, fan in fans.items():
        found[name][:] = rng.normal(0, fan**-0.5, found[name].shape)
    found["trust"][...] = 1.0
    return flat


def learn(parts: Sequence[Lesson], passes: int, seed: int, report: Report | None = None) -> dict[str, np.ndarray]:
    """Learn one network: name -> array, as `LinkNetwork` has them of each.

    The loss is cross-entropy, weighted by shares; inputs are `varied`, and values of channels dropped at random. The
    rate falls as the cosine does (Loshchilov & Hutter 2017). See `fit`.
    """
    parts = both_sides(parts)
    every = np.concatenate([part.inputs for part in parts])
    mean, deviation = every.mean(0), every.std(0) + np.float32(1e-3)
    shares = sum(float(part.shares.sum(dtype=np.float64)) for part in parts)
    count = max(int(passes * len(every) / STEP), 1)
    del every
    done, rng = 0, np.random.default_rng(seed)

    flat = begin(len(mean), rng)
    gradient, means, squares = np.zeros((3, len(flat)), np.float32)
    p, statistics = by_name(flat, len(mean)), (mean, deviation)
    propagation = Propagation(p, by_name(gradient, len(mean)), statistics, STEP)
    for n in range(passes):
        loss = 0.0
        for some in steps(parts, rng):
            gradient[:] = 0
            for own in some:
                loss += propagation.loss(varied(own, statistics, rng), DROPPED, rng)
            rate = RATE * 0.5 * (1 + np.cos(np.pi * min(done / count, 1)))
            done += 1
            descend(flat, gradient / STEP, means, squares, done, rate)
        if report:
            report({"pass": n + 1, "loss": loss / shares})
    found = {name: x.copy() for name, x in p.items()}
    found["first"] /= deviation[:, None]
    found["first_bias"] -= mean @ found["first"]
    return found


def descend(
    flat: np.ndarray, gradient: np.ndarray, means: np.ndarray, squares: np.ndarray, n: int, rate: float
) -> None:
    """Change parameters by step ``n`` of AdamW (Loshchilov & Hutter 2019), from 1 on; all are float32 [parameters]."""
    means += (1 - KEPT) * (gradient - means)
    squares += (1 - KEPT_SQUARES) * (gradient * gradient - squares)
    change = means / (1 - KEPT**n) / (np.sqrt(squares / (1 - KEPT_SQUARES**n)) + LEAST)
    flat -= rate * (change + DECAY * flat)
