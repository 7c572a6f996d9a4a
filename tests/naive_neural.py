"""Neural and compound PCFGs word by word: rules from embeddings, an LSTM, and trees over hidden preterminals."""

import itertools
import math
from collections import Counter

from tests.naive_constituents_dense import expectations


def times(x, weights, bias):
    """Return x W + b."""
    return [sum(v * row[k] for v, row in zip(x, weights, strict=True)) + bias[k] for k in range(len(bias))]


def softmax(scores):
    """Return the probabilities of scores."""
    most = max(scores)
    found = [math.exp(s - most) for s in scores]
    return [f / sum(found) for f in found]


def network(arrays, name, x):
    """Return scores by f of a vector: a layer, two residual layers, a layer."""

    def layer(part, v):
        return times(v, arrays[f"{name}.{part}.weights"], arrays[f"{name}.{part}.bias"])

    y = layer("in", x)
    for k in (0, 1):
        inner = [max(v, 0) for v in layer(f"{k}a", y)]
        y = [a + max(b, 0) for a, b in zip(y, layer(f"{k}b", inner), strict=True)]
    return layer("out", y)


def rules(arrays, z):
    """Return the probabilities of roots, of pairs below each symbol, and of terminals below each preterminal."""
    z = list(z)
    roots = softmax(network(arrays, "roots", [*arrays["root"][0], *z]))
    pairs = [softmax(times([*own, *z], arrays["rules.weights"], arrays["rules.bias"])) for own in arrays["symbols"]]
    words = [softmax(network(arrays, "words", [*own, *z])) for own in arrays["preterminals"]]
    return roots, pairs, words


def lstm(arrays, name, rows):
    """Return the states of an LSTM over rows."""
    weights, memory, bias = (arrays[f"{name}.{part}"] for part in ("weights", "memory", "bias"))
    n = len(memory)
    state, cell, found = [0.0] * n, [0.0] * n, []
    for x in rows:
        gates = [a + b for a, b in zip(times(x, weights, bias), times(state, memory, [0] * 4 * n), strict=True)]
        enter, keep, leave = ([1 / (1 + math.exp(-g)) for g in gates[k * n : (k + 1) * n]] for k in range(3))
        new = [math.tanh(g) for g in gates[3 * n :]]
        cell = [k * c + e * v for k, c, e, v in zip(keep, cell, enter, new, strict=True)]
        state = [o * math.tanh(c) for o, c in zip(leave, cell, strict=True)]
        found.append(state)
    return found


def encode(arrays, words):
    """Return the mean and the logarithm of the variance of a sentence's latent vector."""
    rows = [arrays["encoder.words"][w] for w in words]
    there, back = lstm(arrays, "encoder.forward", rows), lstm(arrays, "encoder.backward", rows[::-1])[::-1]
    pooled = [max(column) for column in zip(*(a + b for a, b in zip(there, back, strict=True)), strict=True)]
    out = times(pooled, arrays["encoder.out.weights"], arrays["encoder.out.bias"])
    return out[: len(out) // 2], out[len(out) // 2 :]


def hidden(roots, pairs, emissions):
    """Return a sentence's probability, expected roots, rules and tags of places, and probabilities of spans.

    ``pairs`` is [symbols][symbols + preterminals][symbols + preterminals], ``emissions`` [words][preterminals].
    """
    total, sums = 0.0, [Counter() for _ in range(4)]
    for tags in itertools.product(range(len(emissions[0])), repeat=len(emissions)):
        weight = math.prod(own[tag] for own, tag in zip(emissions, tags, strict=True))
        value, by_root, uses, spans = expectations(roots, pairs, list(tags))
        total += weight * value
        for to, found in zip(sums, (by_root, uses, {(n, t): 1 for n, t in enumerate(tags)}, spans), strict=True):
            for key, one in found.items():
                to[key] += weight * value * one
    return total, *({key: one / total for key, one in found.items()} for found in sums)
