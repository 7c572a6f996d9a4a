"""Derivations of references, which the likelihood of equation 5 sums over."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from aligntools.ground.parallel import Pool, over
from aligntools.translating.forest import kernels_intersection as kernels
from aligntools.translating.forest.candidates import CandidateLists, offsets_of, rows_of
from aligntools.translating.forest.hypergraph import Hypergraph, blank, join, united

# Derivations of a hypergraph that yield given words, as a hypergraph of their own


def intersection(h: Hypergraph, words: np.ndarray, offsets: np.ndarray, pool: Pool | None = None) -> Hypergraph:
    """Return the derivations of each sentence that yield its words.

    A node is a node of the hypergraph with a stretch of the words, so that every derivation is there once. What its
    nodes begin and end with is not set.

    words (int32 [words], offsets : int64 [sentences + 1]): A sentence without words has no derivation here.
    """
    words = np.ascontiguousarray(words, np.int32)

    def work(block: tuple[int, int]) -> Hypergraph:
        return join(_sentence(h, s, words[offsets[s] : offsets[s + 1]]) for s in range(*block))

    return join(over(pool, work, h.blocks()))


def _sentence(h: Hypergraph, s: int, given: np.ndarray) -> Hypergraph:
    begin, end = map(int, h.node_offsets[[s, s + 1]])
    if h.roots[s] < 0 or not len(given):
        return blank()
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
        return blank()
    count, edges = int(counts[0]), edges[: counts[1]]  # head, edge of h, tails
    edges = edges[np.argsort(edges[:, 0], kind="stable")]
    which = edges[:, 1].astype(np.int64)
    feature_offsets, ids, values = rows_of(h.feature_offsets, which, h.feature_ids, h.feature_values)
    word_offsets, words = rows_of(h.word_offsets, which, h.words)
    none = np.zeros((count, 4), np.int32)
    return Hypergraph(
        np.array([0, count], np.int64),
        np.array([tops[0]], np.int64),
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
        np.zeros(count, np.int32),
    )


Strings = tuple[np.ndarray, np.ndarray]


@dataclass(eq=False)
class Reachable:
    """What a text's sentences are to be translated to.

    force: Takes translations of all sentences, words and offsets, and returns their derivations as a Hypergraph.
    strings (list of (int32 [words], int64 [sentences + 1])): References of each sentence, sets one after another;
        without words where an earlier set has the same.
    """

    force: Callable[[np.ndarray, np.ndarray, Pool | None], Hypergraph]
    strings: list[Strings]
    _found: Hypergraph | None = None

    @classmethod
    def of(
        cls,
        force: Callable[[np.ndarray, np.ndarray, Pool | None], Hypergraph],
        sides: Iterable[Strings],
        groups: npt.ArrayLike,
    ) -> "Reachable":
        """Take sets of references (words, offsets), of which each sentence has those of its group."""
        groups, strings = np.asarray(groups, np.int64), []
        seen: list[set[bytes]] = [set() for _ in range(len(groups))]
        for words, offsets in sides:
            rows: list[np.ndarray] = []
            for k, group in enumerate(groups.tolist()):
                row = np.asarray(words[offsets[group] : offsets[group + 1]], np.int32)
                rows.append(row[:0] if row.tobytes() in seen[k] else row)
                seen[k].add(row.tobytes())
            strings.append((np.concatenate([np.zeros(0, np.int32), *rows]), offsets_of([len(row) for row in rows])))
        return cls(force, strings)

    def references(self, pool: Pool | None = None) -> Hypergraph:
        """Return all derivations of the references; they do not depend on the weights."""
        if self._found is None:
            self._found = reduce(united, (self.force(*strings, pool) for strings in self.strings))
        return self._found

    def targets(self, nearest: CandidateLists | None, pool: Pool | None = None) -> tuple[Hypergraph, list[Strings]]:
        """Return the derivations of what each sentence is to become, and the words.

        nearest: A translation of each sentence, used where no reference can be derived.
        """
        found = self.references(pool)
        if nearest is None:
            return found, self.strings
        missed = (found.roots < 0) & (np.diff(nearest.offsets) > 0)
        sizes = np.zeros(len(found), np.int64)
        rows = nearest.sentences(np.flatnonzero(missed))
        sizes[missed] = np.diff(rows.word_offsets)
        strings = rows.words, offsets_of(sizes)
        return united(found, self.force(*strings, pool)), [*self.strings, strings]


def shared(forest: Hypergraph, strings: list[Strings], pool: Pool | None = None) -> Hypergraph:
    """Return the derivations of a forest that yield one of each sentence's strings."""
    return reduce(united, (intersection(forest, *one, pool) for one in strings))
