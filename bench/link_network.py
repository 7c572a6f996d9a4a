"""Learning the network that judges links (`aligntools.aligning.contrastive.linknetwork`): stochastic gradient descent.

`bench.network_gradients` has the gradients.
"""

import contextlib
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from aligntools.aligning.contrastive import kernels_linknetwork as kn
from bench.kernels_link_network import AROUND
from bench.network_gradients import LAYERS, Asked, Lesson, Propagation, shapes, views

RATE, DECAY, DROPPED = 3e-3, 1e-3, 0.15
#: How far a lesson's inputs are moved and stretched (standard deviations), in deviations and in natural logarithms.
MOVED, STRETCHED = 0.2, 0.2
#: Of the running means of gradients and of their squares, how much is kept at each step; and what keeps from dividing
#: by zero (Kingma & Ba 2015).
KEPT, KEPT_SQUARES, LEAST = 0.9, 0.999, 1e-8
#: What a candidate counts for whose link is possible, but not sure.
POSSIBLE = 0.5
#: Candidates of a step, and of each of its lessons: what these need fits a core's cache.
STEP, LESSON = 6000, 1000
#: Where numpy's library for products of matrices looks up how many threads it may have.
_THREADS = "OPENBLAS_NUM_THREADS"
_KINDS = (np.float32, np.int32, np.int32, np.int32, np.float32, np.float32)


@dataclass(frozen=True, eq=False)
class Part(Lesson):
    """A set's candidates: sentence ``k`` has those from ``starts[k]`` on, int64 [sentences + 1]."""

    starts: np.ndarray

    def turned(self, order):
        """Return the same with source and target changed; ``order`` is what becomes of the inputs."""
        return Part(
            self.inputs[:, order], self.columns, self.rows, self.neighbours[:, kn.TURNED], self.links, self.shares,
            self.starts,
        )  # fmt: skip


def names():
    """Return the features that the network asks about."""
    from aligntools.aligning.contrastive.boosting import INPUTS

    return INPUTS


def part_of(candidates, links, shares):
    """Return the `Part` of candidates whose links are known."""
    from aligntools.aligning.contrastive.features import NAMES

    e = candidates
    sentence = np.repeat(np.arange(len(e)), np.diff(e.starts))
    rows, columns = e.rows + e.s_offsets[sentence], e.columns + e.t_offsets[sentence]
    words = [side[at] for side, at in ((e.s_words, rows), (e.t_words, columns))]
    asked = [NAMES.index(name) for name in names()]
    inputs = np.concatenate([e.local[:, asked], np.clip(np.concatenate(words, 1), kn.LEAST, kn.MOST)], 1)
    neighbours = np.where(e.neighbours < 0, -1, e.neighbours + e.starts[sentence][:, None])
    return Part(inputs, rows, columns, neighbours, links, shares, e.starts)


def fit(lists, networks, passes, threads=1, seed=1):
    """Learn a `LinkNetwork` from each list of `Part` s, whose sentences are seen from both sides.

    So many networks are averaged in each, from other random values; each passes over the sentences so often. The loss
    is cross-entropy, weighted by shares; inputs are `varied`, and values of channels dropped at random.
    ``threads`` networks at a time are learned, each in a process and on one thread; they do not depend on it.
    """
    jobs = [(parts, passes, seed + n) for parts in lists for n in range(networks)]
    context, several = multiprocessing.get_context("spawn"), min(threads, len(jobs))
    with _one_thread_each(), ProcessPoolExecutor(several, context) as pool:
        return averaged(list(pool.map(learn, *zip(*jobs, strict=True))), networks)


@contextlib.contextmanager
def _one_thread_each():
    """Have processes that are started within multiply matrices on one thread."""
    before = os.environ.get(_THREADS)
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[_THREADS]
        if before is not None:
            os.environ[_THREADS] = before


def averaged(learned, networks):
    """Return a `LinkNetwork` of each so many networks."""
    from aligntools.aligning.contrastive.linknetwork import LinkNetwork

    found = []
    for k in range(0, len(learned), networks):
        own = learned[k : k + networks]
        arrays = {name: np.ascontiguousarray(np.stack([p[name] for p in own]), np.float32) for name in own[0]}
        arrays["layers"] = arrays["layers"].reshape(networks, LAYERS, kn.PLACES, kn.CHANNELS, kn.CHANNELS)
        found.append(LinkNetwork(tuple(names()), **arrays))
    return found


def both_sides(parts):
    """Return parts, and the same with source and target changed."""
    from aligntools.aligning.contrastive.linknetwork import turned

    asked = names()
    words = np.arange(kn.WORD_INPUTS).reshape(2, -1)[::-1].ravel()
    order = [asked.index(turned(name)) for name in asked] + (len(asked) + words).tolist()
    return [side for part in parts for side in (part, part.turned(order))]


def steps(parts, rng):
    """Yield the sentences of parts in random order, in lists of `Lesson` s of about STEP candidates together."""
    sentences = [(part, k) for part in parts for k in range(len(part.starts) - 1)]
    lessons, chosen, size, whole = [], [], 0, 0
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


def lesson(chosen):
    """Return sentences of parts as one `Lesson`."""
    columns = [[] for _ in _KINDS]
    at = row = column = 0
    for part, k in chosen:
        a, b = part.starts[k], part.starts[k + 1]
        rows, lines = (x[a:b] - x[a:b].min() for x in (part.rows, part.columns))
        around = np.where(part.neighbours[a:b] < 0, -1, part.neighbours[a:b] - a + at)
        own = part.inputs[a:b], rows + row, lines + column, around, part.links[a:b], part.shares[a:b]
        for values, more in zip(columns, own, strict=True):
            values.append(more)
        row, column, at = row + rows.max() + 1, column + lines.max() + 1, at + b - a
    return Lesson(*(np.concatenate(x).astype(kind, copy=False) for x, kind in zip(columns, _KINDS, strict=True)))


def varied(lesson, asked, rng):
    """Return a lesson as a base model of another language might have it: domain randomization (Tobin et al. 2017).

    What differs between languages is how high an input is as a whole and how far it goes, so each is moved and
    stretched at random, the same for all candidates. The base model's log-odds stay as they are.
    """
    n = len(asked.mean)
    stretched, moved = np.exp(rng.normal(0, STRETCHED, n)), rng.normal(0, MOVED, n)
    stretched[asked.posterior], moved[asked.posterior] = 1.0, 0.0
    inputs = (lesson.inputs - asked.mean) * stretched.astype(np.float32)
    inputs += asked.mean + (moved * asked.deviation).astype(np.float32)
    return replace(lesson, inputs=inputs)


def begin(inputs, rng):
    """Return random parameters of a network, flat; biases are 0, and the base model's log-odds count for 1."""
    flat = np.zeros(sum(int(np.prod(shape)) for shape in shapes(inputs).values()), np.float32)
    found = views(flat, inputs)
    fans = {"first": inputs, "layers": AROUND * kn.CHANNELS, "last": 100 * kn.CHANNELS}
    for name, fan in fans.items():
        found[name][:] = rng.normal(0, fan**-0.5, found[name].shape)
    found["trust"][...] = 1.0
    return flat


def learn(parts, passes, seed):
    """Learn one network: name -> array, as `LinkNetwork` has them of each."""
    parts = both_sides(parts)
    every = np.concatenate([part.inputs for part in parts])
    mean, deviation = every.mean(0), every.std(0) + np.float32(1e-3)
    count = max(int(passes * sum(len(part.links) for part in parts) / STEP), 1)
    done, rng = 0, np.random.default_rng(seed)

    flat = begin(len(mean), rng)
    gradient, means, squares = np.zeros((3, len(flat)), np.float32)
    p, asked = views(flat, len(mean)), Asked(mean, deviation, names().index("posterior"))
    propagation = Propagation(p, views(gradient, len(mean)), asked, STEP)
    for _ in range(passes):
        for some in steps(parts, rng):
            gradient[:] = 0
            for own in some:
                propagation.loss(varied(own, asked, rng), DROPPED, rng)
            rate = RATE * 0.5 * (1 + np.cos(np.pi * min(done / count, 1)))
            done += 1
            descend(flat, gradient / STEP, means, squares, done, rate)
    found = {name: x.copy() for name, x in p.items()}
    found["first"] /= deviation[:, None]
    found["first_bias"] -= mean @ found["first"]
    return found


def descend(flat, gradient, means, squares, n, rate):
    """Change parameters by step ``n`` of AdamW (Loshchilov & Hutter 2019), from 1 on; all are float32 [parameters]."""
    means += (1 - KEPT) * (gradient - means)
    squares += (1 - KEPT_SQUARES) * (gradient * gradient - squares)
    change = means / (1 - KEPT**n) / (np.sqrt(squares / (1 - KEPT_SQUARES**n)) + LEAST)
    flat -= rate * (change + DECAY * flat)
