"""Small random hypergraphs, as lists for the naive code and as arrays."""

import numpy as np

from aligntools.translating.forest.hypergraph import Hypergraph
from tests.naive_hypergraph import Edge

FEATURES = 4
WORDS = 5


def state(words):
    """What a node knows of its words: the first four, the last four, how many up to four."""
    return tuple(words[:4]), tuple(words[-4:]), min(len(words), 4)


def forest(rng, levels=3, width=4, words=WORDS):
    """Make a sentence's nodes; the words of a node's derivations begin and end alike, but for the last node's."""
    nodes, yields = [], []
    for level in range(levels):
        groups = {}
        for _ in range(rng.integers(2, width + 1)):
            arity = int(rng.integers(0, 3)) if level else 0
            tails = [int(rng.integers(len(nodes))) for _ in range(min(arity, len(nodes)))]
            target = [-1 - k for k in range(len(tails))]
            target += [int(w) for w in rng.integers(1, words + 1, rng.integers(0 if tails else 1, 4))]
            rng.shuffle(target)
            example = []
            for word in target:
                example += [word] if word > 0 else yields[tails[-1 - word]]
            groups.setdefault(state(example), []).append((tails, target, example))
        for edges in groups.values():
            nodes.append([edge[:2] for edge in edges])
            yields.append(edges[0][2])
    goal = [([t], [-1]) for t in range(len(nodes)) if rng.random() < 0.7 or t == len(nodes) - 1]
    nodes.append(goal)
    yields.append([])
    number, out = 0, []
    for edges in nodes:
        out.append([])
        for tails, target in edges:
            chosen = rng.choice(FEATURES, rng.integers(0, FEATURES + 1), replace=False)
            values = {int(f): float(np.float32(rng.normal())) for f in np.sort(chosen)}
            out[-1].append(Edge(tuple(tails), tuple(target), values, 0.0, number))
            number += 1
    return out, yields


def scored(nodes, weights, gamma=1.0):
    """Return the nodes with their edges' scores under weights."""
    return [
        [e._replace(score=gamma * sum(weights[f] * v for f, v in e.features.items())) for e in edges] for edges in nodes
    ]


def arrays(forests):
    """Turn forests, or None for blank lines, into a hypergraph; edges are numbered from one sentence to the next."""
    nodes, yields, counts, roots = [], [], [], []
    for made in forests:
        begin = len(nodes)
        if made is not None:
            nodes += [[(begin, e) for e in edges] for edges in made[0]]
            yields += made[1]
        counts.append(len(nodes) - begin)
        roots.append(len(nodes) - 1 if made is not None else -1)
    edges = [e for of in nodes for e in of]

    def offsets(sizes):
        return np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))]).astype(np.int64)

    tails = np.full((len(edges), 2), -1, np.int32)
    for k, (begin, e) in enumerate(edges):
        tails[k, : len(e.tails)] = [begin + t for t in e.tails]
    left, right = np.zeros((len(nodes), 4), np.int32), np.zeros((len(nodes), 4), np.int32)
    for v, words in enumerate(yields):
        n = min(len(words), 4)
        left[v, :n] = words[:4]
        right[v, 4 - n :] = words[len(words) - n :]
    return Hypergraph(
        offsets(counts),
        np.array(roots, np.int64),
        offsets([len(of) for of in nodes]),
        tails,
        np.arange(len(edges), dtype=np.int32),
        offsets([len(e.features) for _, e in edges]),
        np.array([f for _, e in edges for f in e.features], np.int32),
        np.array([v for _, e in edges for v in e.features.values()], np.float32),
        offsets([len(e.target) for _, e in edges]),
        np.array([w for _, e in edges for w in e.target], np.int32),
        left,
        right,
        np.array([min(len(words), 4) for words in yields], np.int32),
    )


def dense(candidates, features):
    """Return the feature vectors of candidates [candidates, features]."""
    out = np.zeros((candidates.count, features))
    rows = np.repeat(np.arange(candidates.count), np.diff(candidates.feature_offsets))
    out[rows, candidates.feature_ids] = candidates.feature_values
    return out
