"""Single derivations of hypergraphs: the best, the k best, samples."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np

from aligntools.ground.parallel import Pool, over
from aligntools.translating.forest import kernels_hypergraph as kernels
from aligntools.translating.forest import kernels_kbest
from aligntools.translating.forest.candidates import CandidateLists, join_offsets, offsets_of
from aligntools.translating.forest.hypergraph import Hypergraph
from aligntools.translating.forest.kernels_kbest import ScoredForest, SearchTables
from aligntools.translating.forest.semirings import inside

#: Rows at most of a k-best search of one sentence; then the list stays shorter.
MOST_ROWS = 1 << 23
#: Edges of the derivations of a sentence.
_Found: TypeAlias = list[np.ndarray]


def best(h: Hypergraph, scores: np.ndarray, features: int, pool: Pool | None = None) -> CandidateLists:
    """Find the best derivation of each sentence.

    scores (float64 [edges]).
    """
    return _derivations(h, scores, features, lambda work, s: work.best(s), pool)


def k_best(
    h: Hypergraph, scores: np.ndarray, features: int, k: int, distinct: bool = True, pool: Pool | None = None
) -> CandidateLists:
    """Find the k best derivations of each sentence, best first (Huang & Chiang 2005, algorithm 3).

    scores (float64 [edges]).
    distinct: Of derivations with the same words only the best.
    """
    return _derivations(h, scores, features, lambda work, s: work.k_best(s, k, distinct), pool)


def samples(
    h: Hypergraph, scores: np.ndarray, features: int, count: int, seed: int, pool: Pool | None = None
) -> CandidateLists:
    """Draw derivations, each independently in proportion to the exponential of its score.

    scores (float64 [edges]): Log-potentials.
    seed: A sentence's samples depend on it and on the sentence's place alone.
    """
    _, conditional = inside(h, scores, pool)
    return _derivations(h, scores, features, lambda work, s: work.samples(s, conditional, count, seed), pool)


def best_edges(h: Hypergraph, scores: np.ndarray, k: int, pool: Pool | None = None) -> list[list[np.ndarray]]:
    """Return the k best derivations of each sentence that differ in their words, as edges, in pre-order.

    scores (float64 [edges]).
    """
    parts = _searched(h, scores, 0, lambda work, s: work.k_best(s, k, True), pool)
    return [edges for _, found in parts for edges in found]


def _searched(
    h: Hypergraph, scores: np.ndarray, features: int, find: "Callable[[_Search, int], _Found]", pool: Pool | None
) -> "list[tuple[_Search, list[_Found]]]":
    """Return the search of each block and what it finds of each of its sentences."""
    choice, value = np.empty(h.nodes, np.int64), np.empty(h.nodes)

    def work(block: tuple[int, int]) -> "tuple[_Search, list[_Found]]":
        a, b = h.node_offsets[list(block)]
        kernels.viterbi(h.edge_offsets, h.tails, scores, a, b, value, choice)
        search = _Search(h, scores, choice, features)
        return search, [find(search, s) if h.roots[s] >= 0 else [] for s in range(*block)]

    return over(pool, work, h.blocks())


def _derivations(
    h: Hypergraph, scores: np.ndarray, features: int, find: "Callable[[_Search, int], _Found]", pool: Pool | None
) -> CandidateLists:
    searched = _searched(h, scores, features, find, pool)
    offsets = offsets_of([len(edges) for _, found in searched for edges in found])
    parts = over(pool, lambda one: one[0].candidates([edges for of in one[1] for edges in of]), searched)
    if not parts:
        z, o = np.zeros(0, np.int32), np.zeros(1, np.int64)
        return CandidateLists(offsets, o, z, o, z, np.zeros(0, np.float32), np.zeros(0))
    words, ids = (join_offsets([part[k] for part in parts]) for k in (0, 2))
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return CandidateLists(offsets, words, joined[1], ids, *joined[3:])


class _Search:
    """Derivations of the sentences of one block, with the arrays that the work needs."""

    def __init__(self, h: Hypergraph, scores: np.ndarray, choice: np.ndarray, features: int) -> None:
        self.h, self.scores, self.choice, self.features = h, scores, choice, features
        self.room = 0

    def _walk(self, s: int, kernel: Callable[[np.ndarray], int]) -> list[np.ndarray]:
        size = 64
        while True:
            out = np.empty(size, np.int64)
            count = kernel(out)
            if count >= 0:
                return [out[:count].astype(np.int32)] if count else []
            size *= 4

    def best(self, s: int) -> list[np.ndarray]:
        return self._walk(s, lambda out: kernels.chosen(self.h.tails, self.choice, self.h.roots[s], out))

    def samples(self, s: int, conditional: np.ndarray, count: int, seed: int) -> list[np.ndarray]:
        h, found = self.h, []
        for state in np.random.default_rng([seed, s]).integers(0, 2**63, count):
            of = h.edge_offsets, h.tails, conditional, h.roots[s], state
            found += self._walk(s, partial(kernels.sample, *of))
        return found

    def k_best(self, s: int, k: int, distinct: bool) -> list[np.ndarray]:
        h = self.h
        if k == 1:
            return self.best(s)
        begin, end = h.node_offsets[[s, s + 1]]
        size = int(end - begin)
        nodes, stack, rows = np.empty((size, 4), np.int32), np.empty(size + 1, np.int32), np.empty(k, np.int32)
        forest = ScoredForest(h.edge_offsets, h.tails, self.scores, h.word_offsets, h.words, self.choice)
        self._reserve(size + 64 * k)
        while True:
            tables = SearchTables(self.table, self.values, self.hashes, nodes, self.seen, stack)
            count = kernels_kbest.k_best(forest, tables, begin, end, h.roots[s], k, distinct, rows)
            if count < 0 and self.room < MOST_ROWS:
                self._reserve(2 * self.room)
                continue
            rows = rows[: count if count >= 0 else int(nodes[0, 0])]
            sizes = self.table[rows, kernels_kbest.SIZE]
            starts = offsets_of(sizes)
            edges = np.empty(starts[-1], np.int32)
            kernels_kbest.trace(self.table, rows, np.empty(sizes.max(initial=0), np.int32), starts, edges)
            return np.split(edges, starts[1:-1]) if len(rows) else []

    def _reserve(self, rows: int) -> None:
        if rows > self.room:
            self.room = 1 << int(rows - 1).bit_length()
            self.table = np.empty((self.room, 8), np.int32)
            self.values, self.hashes = np.empty(self.room), np.empty((self.room, 2), np.uint64)
            self.seen = np.empty(2 * self.room, np.uint64)

    def candidates(self, derivations: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Return word offsets, words, feature offsets, ids, values and scores of derivations, given by edges."""
        h, count = self.h, len(derivations)
        starts = offsets_of([len(of) for of in derivations])
        edges = np.concatenate([*derivations, np.zeros(0, np.int32)])
        longest = int(np.diff(starts).max(initial=0))
        word_offsets, feature_offsets = np.empty(count + 1, np.int64), np.empty(count + 1, np.int64)
        begins = word_offsets, feature_offsets
        kernels.measure_derivations(h.word_offsets, h.words, h.feature_offsets, starts, edges, *begins)
        words, scores = np.empty(word_offsets[-1], np.int32), np.empty(count)
        ids, values = np.empty(feature_offsets[-1], np.int32), np.empty(feature_offsets[-1], np.float32)
        sums, out = (np.zeros(self.features), np.empty(self.features, np.int32)), (words, ids, values, scores)
        room = np.empty(longest, np.int64), np.empty(2 * longest + 2, np.int64), *sums
        kernels.fill_derivations(h.strings, h.features, self.scores, starts, edges, room, *begins, out)
        used = feature_offsets[-1]
        return word_offsets, words, feature_offsets, ids[:used].copy(), values[:used].copy(), scores
