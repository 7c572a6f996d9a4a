"""Tagging with chains: candidates of each word, posteriors of several models together, best tags."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from aligntools.ground import memory
from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.tagging.kernels_decoding import (
    best_cells_block,
    best_chain_block,
    best_states_block,
    count_likely_block,
    keep_likely_block,
    posteriors_block,
)

#: Blocks that a chunk is cut into, and tokens of a chunk, whatever the number of threads.
BLOCKS, CHUNK = 16, 100_000
#: Smaller posteriors count as this much in a product of models.
FLOOR = 1e-12
#: Candidates whose posterior in the first, coarse model is below this share of the best one's are dropped.
PRUNE = 3e-3

#: Bytes of a token's candidate while posteriors are found, about, and candidates from which the bound on memory is
#: looked at: chunks of the usual length are far below, and a longer sentence is not cut.
_EACH, _MUCH = 100, 4_000_000


@dataclass(frozen=True)
class TagCandidates:
    """Which groups of states (tags) each row (word) can be in: ``groups[ptr[row]:ptr[row + 1]]``.

    ptr (int64 [rows + 1]), groups (int32 [candidates]).
    """

    ptr: np.ndarray
    groups: np.ndarray

    @classmethod
    def above(cls, shares: np.ndarray, threshold: float) -> "TagCandidates":
        """Take of each row of ``shares`` [rows, groups] what is at least ``threshold`` of its largest."""
        chosen = shares >= threshold * shares.max(1, keepdims=True, initial=0)
        ptr = np.concatenate([[0], np.cumsum(chosen.sum(1))]).astype(np.int64)
        return cls(ptr, np.nonzero(chosen)[1].astype(np.int32))

    def rows(self) -> np.ndarray:
        """Return the row of each candidate."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))

    def joined(self, other: "TagCandidates") -> "TagCandidates":
        """Return these rows and, behind them, another's."""
        return TagCandidates(
            np.concatenate([self.ptr, self.ptr[-1] + other.ptr[1:]]), np.concatenate([self.groups, other.groups])
        )

    def states(self, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lay out the states of all candidates, one after the other.

        Returns places (int64 [candidates + 1]): Where a candidate's states begin.
        Returns candidate, state (int64): Of each place.
        """
        widths = np.diff(first)[self.groups]
        places = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        candidate = np.repeat(np.arange(len(widths)), widths)
        return places, candidate, np.arange(places[-1]) - places[candidate] + first[self.groups[candidate]]

    def of_tokens(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ``cells`` int64 [tokens + 1] and ``kept`` int32: the candidates of each token."""
        widths = np.diff(self.ptr)[rows]
        cells = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        kept = np.repeat(self.ptr[rows] - cells[:-1], widths) + np.arange(cells[-1])
        return cells, kept.astype(np.int32)


@dataclass(frozen=True)
class CandidateChain:
    """A chain and its emissions.

    first (int64 [groups + 1]): Group ``g`` has the states ``first[g]`` to ``first[g + 1] - 1``.
    start, stop (float64 [states]), transitions (float64 [states, states]).
    values (float64): Emissions of each candidate in order, one for each state of its group: ``p(word | state)`` times a
        factor of the word's own.
    """

    first: np.ndarray
    start: np.ndarray
    transitions: np.ndarray
    stop: np.ndarray
    values: np.ndarray

    def places(self, candidates: TagCandidates) -> np.ndarray:
        """Return where each candidate's emissions begin, int64 [candidates]."""
        widths = np.diff(self.first)[candidates.groups]
        return np.asarray(np.cumsum(widths) - widths, np.int64)


def decode(
    rows: np.ndarray,
    offsets: np.ndarray,
    candidates: TagCandidates,
    models: list[CandidateChain],
    pool: Pool,
    coarse: CandidateChain | None = None,
    by_state: bool = False,
    path: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Choose a tag for every token.

    rows (int32 [tokens]), offsets (int64 [sentences + 1]).
    models, coarse: The geometric mean of posteriors decides, among what the small model does not find impossible.
    by_state: Choose states, not groups: for one model with all its states in one group.
    path: Choose the best path as a whole: with one state a group, or ``by_state``, Viterbi; otherwise the max-rule
        product of posteriors of neighbours (Petrov & Klein 2007).
    Returns the group, or state, of each token (int32 [tokens]), and its posterior (float64 [tokens]).
    """
    best, confidence = np.zeros(len(rows), np.int32), np.zeros(len(rows))
    for begin, end, chunk in _chunks(rows, offsets, candidates, pool, coarse):
        found = chunk.states(models[0], path) if by_state else chunk.groups(models, path)
        best[begin:end], confidence[begin:end] = found
    return best, confidence


def tag_posteriors(
    rows: np.ndarray,
    offsets: np.ndarray,
    candidates: TagCandidates,
    models: list[CandidateChain],
    pool: Pool,
    coarse: CandidateChain | None = None,
    by_state: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the posterior of every group, or state, of every token, as `decode` decides by them.

    Returns cells (int64 [tokens + 1]), groups (int32 [cells]) and posteriors (float64 [cells]): token ``t`` has those
    from ``cells[t]`` to ``cells[t + 1]``, which sum to 1; what the coarse model drops is left out.
    """
    parts = [(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))]
    parts += [chunk.distribution(models, by_state) for *_, chunk in _chunks(rows, offsets, candidates, pool, coarse)]
    widths, groups, found = map(np.concatenate, zip(*parts, strict=True))
    return np.cumsum(widths), groups, found


def _chunks(
    rows: np.ndarray,
    offsets: np.ndarray,
    candidates: TagCandidates,
    pool: Pool,
    coarse: CandidateChain | None,
) -> "Iterator[tuple[int, int, _Chunk]]":
    """Yield where each chunk's tokens begin and end, and the chunk, without what the coarse model drops."""
    starts = np.searchsorted(offsets, np.arange(0, len(rows), CHUNK), side="left").tolist()
    for a, b in pairwise(sorted({*starts, 0, len(offsets) - 1})):
        begin, end = int(offsets[a]), int(offsets[b])
        if begin < end:
            chunk = _Chunk(rows[begin:end], offsets[a : b + 1] - begin, candidates, pool)
            if coarse is not None:
                chunk.prune(coarse)
            yield begin, end, chunk


class _Chunk:
    """Some sentences, and what is still possible for their tokens."""

    def __init__(self, rows: np.ndarray, offsets: np.ndarray, candidates: TagCandidates, pool: Pool) -> None:
        self.n, self.offsets, self.table, self.pool = len(rows), np.ascontiguousarray(offsets), candidates, pool
        self.cells, self.kept = candidates.of_tokens(rows)
        if len(self.kept) > _MUCH:
            memory.ask(len(self.kept) * _EACH, "a long sentence")
        self.blocks = balanced_blocks(np.diff(offsets) + 1, BLOCKS)

    def posteriors(
        self, model: CandidateChain, by_state: bool = False, edges_at: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the posteriors of cells (or states) and of pairs of neighbouring cells."""
        sure = np.zeros(self.n * len(model.start) if by_state else int(self.cells[-1]))
        edges = np.zeros(0 if edges_at is None else int(edges_at[-1]))
        at = np.zeros(0, np.int64) if edges_at is None else edges_at
        own = self.arrays(model)
        self.pool.map(lambda block: posteriors_block(*block, *own, by_state, sure, at, edges), self.blocks)
        return sure, edges

    def arrays(self, model: CandidateChain) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Return the arrays of the text and of a model as kernels take them."""
        text = self.offsets, self.cells, self.kept, self.table.groups, model.places(self.table)
        return text, (model.values, model.first, model.start, model.transitions, model.stop)

    def prune(self, model: CandidateChain) -> None:
        """Drop candidates that a model finds next to impossible."""
        sure, _ = self.posteriors(model)
        counts = np.zeros(self.n, np.int64)
        blocks = [(int(self.offsets[a]), int(self.offsets[b])) for a, b in self.blocks]
        self.pool.map(lambda block: count_likely_block(*block, self.cells, sure, PRUNE, counts), blocks)
        cells = np.concatenate([[0], np.cumsum(counts)])
        kept = np.zeros(int(cells[-1]), np.int32)
        self.pool.map(lambda block: keep_likely_block(*block, self.cells, self.kept, sure, PRUNE, cells, kept), blocks)
        self.cells, self.kept = cells, kept

    def groups(self, models: list[CandidateChain], path: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return each token's best group and its posterior."""
        edges_at, total, pairs = None, np.zeros(0), np.zeros(0)
        if path:
            widths = np.diff(self.cells)
            sizes = np.zeros(self.n, np.int64)
            sizes[1:] = widths[1:] * widths[:-1]
            sizes[self.offsets[:-1][np.diff(self.offsets) > 0]] = 0
            edges_at = np.concatenate([[0], np.cumsum(sizes)])
        for n, model in enumerate(models):
            sure, edges = self.posteriors(model, edges_at=edges_at)
            if path or len(models) > 1:
                sure, edges = np.log(np.maximum(sure, FLOOR)), np.log(np.maximum(edges, FLOOR))
            total, pairs = (total + sure, pairs + edges) if n else (sure, edges)
        place, confidence = np.zeros(self.n, np.int32), np.zeros(self.n)
        if path or len(models) > 1:
            total /= len(models)
            pairs /= len(models)
            sure = np.exp(total)
        if path:
            own = self.offsets, self.cells, total, edges_at, pairs, place
            self.pool.map(lambda block: best_chain_block(*block, *own), self.blocks)
            confidence = sure[self.cells[:-1] + place] / np.add.reduceat(sure, self.cells[:-1])
        else:
            self._choose(self.cells, sure, place, confidence)
        return self.table.groups[self.kept[self.cells[:-1] + place]], confidence

    def distribution(self, models: list[CandidateChain], by_state: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how many groups, or states, each token may have, which, and their posteriors."""
        if by_state:
            sure, _ = self.posteriors(models[0], by_state=True)
            n_states = len(models[0].start)
            return np.full(self.n, n_states), np.tile(np.arange(n_states, dtype=np.int32), self.n), sure
        found = [self.posteriors(model)[0] for model in models]
        sure = found[0]
        if len(models) > 1:
            sure = np.exp(sum(np.log(np.maximum(one, FLOOR)) for one in found) / len(models))
        widths = np.diff(self.cells)
        return widths, self.table.groups[self.kept], sure / np.repeat(np.add.reduceat(sure, self.cells[:-1]), widths)

    def states(self, model: CandidateChain, path: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return each token's best state and its posterior."""
        sure, _ = self.posteriors(model, by_state=True)
        n_states = len(model.start)
        best, confidence = np.zeros(self.n, np.int32), np.zeros(self.n)
        if not path:
            self._choose(np.arange(self.n + 1, dtype=np.int64) * n_states, sure, best, confidence)
            return best, confidence
        own = self.arrays(model)
        self.pool.map(lambda block: best_states_block(*block, *own, best), self.blocks)
        return best, sure.reshape(self.n, n_states)[np.arange(self.n), best]

    def _choose(self, cells: np.ndarray, sure: np.ndarray, place: np.ndarray, confidence: np.ndarray) -> None:
        self.pool.map(lambda block: best_cells_block(*block, self.offsets, cells, sure, place, confidence), self.blocks)
