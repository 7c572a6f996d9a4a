"""Learning the network that judges links (`aligntools.aligning.contrastive.linknetwork`), with JAX and Optax.

The network is written twice: here, so that it can be differentiated, and compiled in the package;
``tests/naive_contrastive.py`` holds the compiled one against a third. ``python -m pip install jax optax``.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

#: Layers after the first.
LAYERS = 3
RATE, DECAY, DROPPED = 3e-3, 1e-3, 0.15
#: What a candidate counts for whose link is possible, but not sure.
POSSIBLE = 0.5
#: Candidates of a step.
STEP = 6000


@dataclass(frozen=True, eq=False)
class Part:
    """A set's candidates as the network sees them: words numbered through, neighbours too (-1: none)."""

    inputs: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    neighbours: np.ndarray
    links: np.ndarray
    shares: np.ndarray
    starts: np.ndarray

    def turned(self, order):
        """Return the same with source and target changed; ``order`` is what becomes of the inputs."""
        from aligntools.aligning.contrastive.kernels_linknetwork import TURNED

        return Part(
            self.inputs[:, order], self.columns, self.rows, self.neighbours[:, TURNED], self.links, self.shares,
            self.starts,
        )  # fmt: skip


def names():
    """Return the features that the network asks about."""
    from aligntools.aligning.contrastive.boosting import INPUTS

    return INPUTS


def part_of(candidates, links, shares):
    """Return the `Part` of candidates whose links are known."""
    from aligntools.aligning.contrastive import kernels_linknetwork as kn
    from aligntools.aligning.contrastive.features import NAMES

    e = candidates
    sentence = np.repeat(np.arange(len(e)), np.diff(e.starts))
    rows, columns = e.rows + e.s_offsets[sentence], e.columns + e.t_offsets[sentence]
    words = [side[at] for side, at in ((e.s_words, rows), (e.t_words, columns))]
    asked = [NAMES.index(name) for name in names()]
    inputs = np.concatenate([e.local[:, asked], np.clip(np.concatenate(words, 1), kn.LEAST, kn.MOST)], 1)
    neighbours = np.where(e.neighbours < 0, -1, e.neighbours + e.starts[sentence][:, None])
    return Part(inputs, rows, columns, neighbours, links, shares, e.starts)


def fit(lists, networks, passes, most=None, threads=1, seed=1):
    """Learn a `LinkNetwork` from each list of `Part` s, whose sentences are seen from both sides.

    So many networks are averaged in each, from other random values; each passes over the sentences so often, each time
    over at most so many of a part, which are drawn anew.
    The loss is cross-entropy, weighted by shares; values are dropped at random, all of a channel's of a candidate.
    ``threads`` networks at a time are learned, each in a process and on one thread; they do not depend on it.
    """
    from aligntools.aligning.contrastive import kernels_linknetwork as kn
    from aligntools.aligning.contrastive.linknetwork import LinkNetwork

    jobs = [(parts, passes, most, seed + n) for parts in lists for n in range(networks)]
    context, several = multiprocessing.get_context("spawn"), min(threads, len(jobs))
    cores = context.SimpleQueue()
    for n in range(several):
        cores.put(sorted(os.sched_getaffinity(0))[n % len(os.sched_getaffinity(0))])
    with ProcessPoolExecutor(several, context, _stay, (cores,)) as pool:
        learned = list(pool.map(_fit, *zip(*jobs, strict=True)))
    found = []
    for k in range(0, len(learned), networks):
        own = learned[k : k + networks]
        arrays = {name: np.ascontiguousarray(np.stack([p[name] for p in own]), np.float32) for name in own[0]}
        arrays["layers"] = arrays["layers"].reshape(networks, LAYERS, kn.PLACES, kn.CHANNELS, kn.CHANNELS)
        found.append(LinkNetwork(tuple(names()), **arrays))
    return found


def _stay(cores):
    """Keep a process on one core: the library starts threads for all that it sees."""
    os.sched_setaffinity(0, {cores.get()})


def _both_sides(parts):
    """Return parts, and the same with source and target changed."""
    from aligntools.aligning.contrastive import kernels_linknetwork as kn
    from aligntools.aligning.contrastive.linknetwork import turned

    asked = names()
    words = np.arange(kn.WORD_INPUTS).reshape(2, -1)[::-1].ravel()
    order = [asked.index(turned(name)) for name in asked] + (len(asked) + words).tolist()
    return [side for part in parts for side in (part, part.turned(order))]


def drawn(parts, most, rng):
    """Return parts and the numbers of at most so many of their sentences, which count for as much as all of theirs."""
    out = []
    for part in parts:
        n = len(part.starts) - 1
        if most is None or n <= most:
            out += [(part, k) for k in range(n)]
        else:
            scaled = replace(part, shares=part.shares * np.float32(n / most))
            out += [(scaled, k) for k in rng.permutation(n)[:most].tolist()]
    return out


def steps(sentences, rng):
    """Yield sentences in random order, in steps of arrays of one size; the last place stands for none."""
    chosen, size = [], 0
    for n in rng.permutation(len(sentences)):
        part, k = sentences[n]
        length = int(part.starts[k + 1] - part.starts[k])
        if size + length > STEP:
            yield _step(chosen)
            chosen, size = [], 0
        if 0 < length <= STEP:
            chosen.append((part, k))
            size += length
    if chosen:
        yield _step(chosen)


def _step(chosen):
    n = STEP + 1
    out = {
        "inputs": np.zeros((n, chosen[0][0].inputs.shape[1]), np.float32), "rows": np.full(n, STEP, np.int32),
        "columns": np.full(n, STEP, np.int32), "neighbours": np.full((n, 8), STEP, np.int32),
        "links": np.zeros(n, np.float32), "shares": np.zeros(n, np.float32), "there": np.zeros((n, 1), np.float32),
    }  # fmt: skip
    at = row = column = 0
    for part, k in chosen:
        a, b = part.starts[k], part.starts[k + 1]
        here = slice(at, at + b - a)
        for name in ("inputs", "links", "shares"):
            out[name][here] = getattr(part, name)[a:b]
        out["rows"][here] = part.rows[a:b] - part.rows[a:b].min() + row
        out["columns"][here] = part.columns[a:b] - part.columns[a:b].min() + column
        out["neighbours"][here] = np.where(part.neighbours[a:b] < 0, STEP, part.neighbours[a:b] - a + at)
        out["there"][here] = 1.0
        row, column, at = out["rows"][here].max() + 1, out["columns"][here].max() + 1, at + b - a
    return out


def _fit(parts, passes, most, seed):
    """Learn one network: name -> array, as `LinkNetwork` has them of each."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    import jax
    import jax.numpy as jnp
    import optax

    from aligntools.aligning.contrastive import kernels_linknetwork as kn

    posterior, channels = names().index("posterior"), kn.CHANNELS
    parts = _both_sides(parts)
    every = np.concatenate([part.inputs for part in parts])
    mean, deviation = every.mean(0), every.std(0) + np.float32(1e-3)

    def begin():
        rng = np.random.default_rng(seed)
        normal = {
            "first": ((len(mean), channels), len(mean)), "last": ((channels,), 100 * channels),
            "layers": ((LAYERS, kn.PLACES, channels, channels), 9 * channels),
        }  # fmt: skip
        zero = {"first_bias": (channels,), "biases": (LAYERS, channels), "last_bias": ()}
        found = {name: rng.normal(0, fan**-0.5, shape) for name, (shape, fan) in normal.items()}
        found |= {name: np.zeros(shape) for name, shape in zero.items()} | {"trust": np.ones(())}
        return {name: jnp.asarray(x, jnp.float32) for name, x in found.items()}

    def odds(p, e, key):
        h = jax.nn.relu((e["inputs"] - mean) / deviation @ p["first"] + p["first_bias"]) * e["there"]
        for layer in range(LAYERS):
            w = p["layers"][layer]
            around = jnp.concatenate([h[:, None], h[e["neighbours"]]], 1).reshape(STEP + 1, 9 * channels)
            z = around @ w[:9].reshape(9 * channels, channels) + p["biases"][layer]
            for place, lines in ((kn.OF_ROW, e["rows"]), (kn.OF_COLUMN, e["columns"])):
                most = jnp.maximum(jax.ops.segment_max(h, lines, STEP + 1), 0.0)
                z = z + (most @ w[place])[lines]
            key, own = jax.random.split(key)
            z = jax.nn.relu(z) * jax.random.bernoulli(own, 1 - DROPPED, z.shape) / (1 - DROPPED)
            h = (h + z) * e["there"]
        return p["trust"] * e["inputs"][:, posterior] + h @ p["last"] + p["last_bias"]

    def loss(p, e, key):
        found = odds(p, e, key)
        return jnp.sum(e["shares"] * (jax.nn.softplus(found) - e["links"] * found)) / STEP

    size = sum(len(p.links) * (1 if most is None else min(1, most / (len(p.starts) - 1))) for p in parts)
    count = int(passes * size / STEP * 1.05)
    optimizer = optax.adamw(optax.cosine_decay_schedule(RATE, count), weight_decay=DECAY)

    @jax.jit
    def step(p, state, e, key):
        change, state = optimizer.update(jax.grad(loss)(p, e, key), state, p)
        return optax.apply_updates(p, change), state

    p, rng, key = begin(), np.random.default_rng(seed), jax.random.PRNGKey(seed)
    state = optimizer.init(p)
    for _ in range(passes):
        for e in steps(drawn(parts, most, rng), rng):
            key, own = jax.random.split(key)
            p, state = step(p, state, e, own)
    found = {name: np.asarray(x) for name, x in p.items()}
    found["first"] = found["first"] / deviation[:, None]
    found["first_bias"] = found["first_bias"] - mean @ found["first"]
    return found
