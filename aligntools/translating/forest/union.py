"""Hypergraphs of the same sentences, put together sentence by sentence."""

from dataclasses import replace

import numpy as np

from aligntools.translating.forest.hypergraph import Hypergraph, join


def united(first: Hypergraph, second: Hypergraph) -> Hypergraph:
    """Put two hypergraphs of the same sentences together: each sentence has the derivations of both.

    A derivation that both have comes twice. Above the two roots there is a new one, by edges without features.
    """
    roots = np.stack([first.roots, second.roots], axis=1)
    pieces = []
    for s in range(len(first)):
        edges = int((roots[s] >= 0).sum())
        pieces += [first.part(s, s + 1), second.part(s, s + 1), _tops(edges)]
    out = join(pieces)
    of = out.node_offsets
    tops = np.flatnonzero(np.diff(of)[2::3]) if len(first) else np.zeros(0, np.int64)  # sentences that have a new root
    heads = of[3 * tops + 2]
    below = out.roots.reshape(-1, 3)[:, :2] if len(first) else roots
    rows = out.edge_offsets[heads]
    for k in range(2):
        some = below[tops, k] >= 0
        out.tails[rows[some], 0] = below[tops[some], k]
        rows = rows + some
    united_roots = np.full(len(first), -1, np.int64)
    united_roots[tops] = heads
    return replace(out, node_offsets=of[::3].copy(), roots=united_roots)


def _tops(edges: int) -> Hypergraph:
    """Return the node over the roots of a sentence, if there are any; its tails are yet to be set."""
    nodes, none = int(edges > 0), np.zeros(0, np.int32)
    return Hypergraph(
        np.array([0, nodes]),
        np.array([0 if nodes else -1]),
        np.array([0, edges][: nodes + 1], np.int64),
        np.full((edges, 2), -1, np.int32),
        np.full(edges, -1, np.int32),
        np.zeros(edges + 1, np.int64),
        none,
        np.zeros(0, np.float32),
        np.arange(edges + 1),
        np.full(edges, -1, np.int32),
        np.zeros((nodes, 4), np.int32),
        np.zeros((nodes, 4), np.int32),
        np.zeros(nodes, np.int32),
    )
