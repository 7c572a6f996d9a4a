"""Derivations of a hypergraph that yield given words, as a hypergraph of their own."""

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.translating.forest import kernels_intersection as kernels
from aligntools.translating.forest.candidates import offsets_of, rows_of
from aligntools.translating.forest.hypergraph import Hypergraph, join, run_blocks


def intersection(
    hypergraph: Hypergraph, words: np.ndarray, offsets: np.ndarray, pool: Pool | None = None
) -> Hypergraph:
    """Return the derivations of each sentence that yield its words.

    A node is a node of the hypergraph with a stretch of the words, so that every derivation is there once. What its
    nodes begin and end with is not set.

    words (int32 [words], offsets : int64 [sentences + 1]): A sentence without words has no derivation here.
    """
    words = np.ascontiguousarray(words, np.int32)

    def work(block: tuple[int, int]) -> Hypergraph:
        return join(_sentence(hypergraph, s, words[offsets[s] : offsets[s + 1]]) for s in range(*block))

    return join(run_blocks(pool, work, hypergraph.blocks()))


def _sentence(h: Hypergraph, s: int, given: np.ndarray) -> Hypergraph:
    begin, end = map(int, h.node_offsets[[s, s + 1]])
    if h.roots[s] < 0 or not len(given):
        return _part(h, np.zeros(0, np.int32), np.zeros((0, 4), np.int32), 0, -1)
    size, counts = 256, np.zeros(2, np.int64)
    while True:
        items, edges = np.empty((size, 3), np.int32), np.empty((2 * size, 4), np.int32)
        at, place = np.empty(end - begin + 1, np.int64), np.full((len(given) + 1,) * 2, -1, np.int64)
        status = kernels.intersect(
            begin, end, h.edge_offsets, h.tails, h.word_offsets, h.words, given, place, at, items, edges, counts
        )
        if status == 0:
            break
        size *= 4
    top = h.roots[s] - begin
    tops = [k for k in range(at[top], at[top + 1]) if items[k, 1] == 0 and items[k, 2] == len(given)]
    if not tops:
        return _part(h, np.zeros(0, np.int32), edges[:0], 0, -1)
    return _part(h, items[: counts[0], 0], edges[: counts[1]], int(counts[0]), tops[0])


def _part(h: Hypergraph, nodes: np.ndarray, edges: np.ndarray, count: int, root: int) -> Hypergraph:
    """Return one sentence's hypergraph, from nodes of another and edges (head, edge of the other, tails)."""
    edges = edges[np.argsort(edges[:, 0], kind="stable")]
    which = edges[:, 1].astype(np.int64)
    feature_offsets, ids, values = rows_of(h.feature_offsets, which, h.feature_ids, h.feature_values)
    word_offsets, words = rows_of(h.word_offsets, which, h.words)
    none = np.zeros((len(nodes), 4), np.int32)
    return Hypergraph(
        np.array([0, count], np.int64),
        np.array([root], np.int64),
        offsets_of(np.bincount(edges[:, 0], minlength=count)),
        np.ascontiguousarray(edges[:, 2:]),
        h.rules[which],
        feature_offsets,
        ids,
        values,
        word_offsets,
        words,
        none,
        none,
        np.zeros(len(nodes), np.int32),
    )
