"""The slow, obvious version of an encoder: a text at a time, in Python's floats, as Devlin et al. (2019) have it.

What goes into a product is rounded to bytes by row, and weights by column, where `bytes_product` is the product.
"""

import math

import numpy as np


def matrix_product(rows, matrix):
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*matrix, strict=True)] for row in rows
    ]


def as_bytes(row):
    """Return a row's values as the nearest of 256 steps from the least of them and 0 to the largest."""
    low, high = min(0.0, *row), max(0.0, *row)
    scale = (high - low) / 255
    zero = math.floor(-low / scale + 0.5)
    return [scale * (min(255, max(0, math.floor(value / scale + zero + 0.5))) - zero) for value in row]


def bytes_product(rows, matrix):
    columns = []
    for column in zip(*matrix, strict=True):
        step = np.float32(max(abs(value) for value in column)) / np.float32(127)  # ties are common: 4 bits, 8 bits
        columns.append([float(step) * float(np.rint(np.float32(value) / step)) for value in column])
    return matrix_product([as_bytes(row) for row in rows], list(zip(*columns, strict=True)))


def add(rows, vector):
    return [[a + b for a, b in zip(row, vector, strict=True)] for row in rows]


def normalize(row, gain, shift, epsilon):
    mean = sum(row) / len(row)
    variance = sum((a - mean) ** 2 for a in row) / len(row)
    return [(a - mean) / math.sqrt(variance + epsilon) * g + s for a, g, s in zip(row, gain, shift, strict=True)]


def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def softmax(values):
    most = max(values)
    powers = [math.exp(v - most) for v in values]
    return [p / sum(powers) for p in powers]


def dense(rows, layer, product):
    return add(product(rows, layer["matrix"]), layer["bias"])


def attention(x, layer, heads, product):
    asked, keys, values = (dense(x, layer[part], product) for part in ("query", "key", "value"))
    size = len(x[0]) // heads
    out = [[0.0] * len(x[0]) for _ in x]
    for head in range(heads):
        at = range(head * size, (head + 1) * size)
        for i, q in enumerate(asked):
            shares = softmax([sum(q[e] * k[e] for e in at) / math.sqrt(size) for k in keys])
            for e in at:
                out[i][e] = sum(p * v[e] for p, v in zip(shares, values, strict=True))
    return out


def states(x, layers, heads, epsilon, product=bytes_product):
    """Return the states after each layer; ``x`` has the normalized embeddings."""
    found = [x]
    for layer in layers:
        answer = dense(attention(x, layer, heads, product), layer["answer"], product)
        x = [
            normalize([a + b for a, b in zip(r, s, strict=True)], *layer["attended"], epsilon)
            for r, s in zip(x, answer, strict=True)
        ]
        inner = [[gelu(a) for a in row] for row in dense(x, layer["inner"], product)]
        outer = dense(inner, layer["outer"], product)
        x = [
            normalize([a + b for a, b in zip(r, s, strict=True)], *layer["out"], epsilon)
            for r, s in zip(x, outer, strict=True)
        ]
        found.append(x)
    return found


def segmentations(text, scores, unknown):
    """Yield (score, pieces) of every way to cut a text; a character that is no piece costs ``unknown``."""
    if not text:
        yield 0.0, []
        return
    for end in range(1, len(text) + 1):
        piece = text[:end]
        options = [scores[piece]] if piece in scores else []
        options += [unknown] if end == 1 else []
        for score in options:
            for rest, pieces in segmentations(text[end:], scores, unknown):
                yield score + rest, [piece if score != unknown or piece in scores else None, *pieces]


def cross_entropy(source, target, links, matrix, sharpness, hub):
    """Return the cross entropy of a linear map on one sentence pair, over rows and columns with a link."""
    a, b = matrix_product(source, matrix), matrix_product(target, matrix)

    def cosine(u, v):
        return sum(x * y for x, y in zip(u, v, strict=True)) / math.hypot(*u) / math.hypot(*v)

    c = [[cosine(u, v) for v in b] for u in a]
    rows = [sum(row) / len(row) for row in c]
    columns = [sum(column) / len(column) for column in zip(*c, strict=True)]
    z = [[sharpness * (x - hub * (rows[i] + columns[j])) for j, x in enumerate(row)] for i, row in enumerate(c)]
    total = 0.0
    for scores, wanted in [
        *zip(z, links, strict=True),
        *zip(zip(*z, strict=True), zip(*links, strict=True), strict=True),
    ]:
        if sum(wanted):
            shares = softmax(scores)
            total -= sum(w / sum(wanted) * math.log(p) for w, p in zip(wanted, shares, strict=True))
    return total


def near_pairs(source, target, nearest):
    """Return how far the cosine of two words is above what is usual around them, where it is, by the pair.

    Cosines are of directions from the mean direction of their side's words; words without a vector have zeros.
    """

    def centered(words):
        known = [word for word in words if any(word)]
        directions = [[a / math.hypot(*word) for a in word] for word in known]
        mean = [sum(column) / len(known) for column in zip(*directions, strict=True)]
        moved = iter([[a - m for a, m in zip(word, mean, strict=True)] for word in directions])
        return [next(moved) if any(word) else word for word in words]

    source, target = centered(source), centered(target)

    def cosine(x, y):
        return sum(a * b for a, b in zip(x, y, strict=True)) / math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))

    def usual(word, others):
        best = sorted((cosine(word, other) for other in others if any(other)), reverse=True)[:nearest]
        return sum(best) / len(best)

    found = {}
    for i, x in enumerate(source):
        for j, y in enumerate(target):
            if any(x) and any(y):
                margin = cosine(x, y) - (usual(x, target) + usual(y, source)) / 2
                if margin > 0:
                    found[i, j] = margin
    return found
