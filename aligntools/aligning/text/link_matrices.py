"""Link matrices: the table's values for every pair of words of a sentence pair, for one chunk of the corpus at a time.

A chunk is a run of sentence pairs whose link matrices have a bounded number of cells, so that memory does not grow with
the corpus. Within a chunk, sentences and words are cut into blocks that do not depend on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from aligntools.aligning.text.cooccurrence import Table
from aligntools.aligning.text.kernels_pairs import Directed, Pairs
from aligntools.aligning.text.views import ParallelText
from aligntools.formats.text.corpus import Side
from aligntools.ground.parallel import Pool, balanced_blocks

#: Sentence blocks a chunk is cut into.
SENTENCE_BLOCKS = 32
#: The cells of a chunk's link matrices, of the forward and of the reverse direction, float32 [cells] each.
Both: TypeAlias = tuple[np.ndarray, np.ndarray]


@dataclass
class Chunk:
    """The sentences ``k0..k1``, and where their link matrices are among the cells."""

    k0: int
    k1: int
    cell_offsets: np.ndarray
    sentence_blocks: list[tuple[int, int]]

    @property
    def n_cells(self) -> int:
        """Cells of all its link matrices."""
        return int(self.cell_offsets[-1])


def plan_chunks(
    source_lengths: np.ndarray, target_lengths: np.ndarray, max_cells: int, max_tokens: int = 1 << 62
) -> list[Chunk]:
    """Cut the corpus into chunks of at most so many link-matrix cells and tokens of both sides (or one sentence)."""
    cells = source_lengths.astype(np.int64) * target_lengths
    work = cells * (source_lengths + target_lengths + 64) + 64
    ends = np.cumsum(cells)
    tokens = np.cumsum(source_lengths + target_lengths)
    chunks = []
    k0 = 0
    while k0 < len(cells):
        limit = (ends[k0 - 1] if k0 else 0) + max_cells
        k1 = int(np.searchsorted(ends, limit, side="right"))
        k1 = min(k1, int(np.searchsorted(tokens, (tokens[k0 - 1] if k0 else 0) + max_tokens, side="right")))
        k1 = max(k0 + 1, k1)
        offsets = np.zeros(k1 - k0 + 1, np.int64)
        np.cumsum(cells[k0:k1], out=offsets[1:])
        blocks = [(a + k0, b + k0) for a, b in balanced_blocks(work[k0:k1], SENTENCE_BLOCKS)]
        chunks.append(Chunk(k0, k1, offsets, blocks))
        k0 = k1
    return chunks


def pairs_of(text: ParallelText, chunk: Chunk) -> Pairs:
    """Return a chunk of a text as kernels take it."""
    return Pairs(
        chunk.k0, text.source.tokens, text.source.offsets, text.target.tokens, text.target.offsets, chunk.cell_offsets
    )


def directed_of(text: ParallelText, chunk: Chunk, d: int) -> Directed:
    """Return one direction of a chunk of a text as kernels take it; ``d`` is 0 forward, 1 reverse."""
    given, observed = (text.target, text.source) if d else (text.source, text.target)
    return Directed(chunk.k0, given.tokens, given.offsets, observed.tokens, observed.offsets, chunk.cell_offsets)


class LinkMatrices:
    """Link matrices of one corpus, filled from one table and collected into counts, chunk by chunk.

    cells (float32 [cells of the largest chunk]): Link matrices of a chunk, one sentence pair after another, source
        words as rows.
    """

    def __init__(
        self,
        source: Side,
        target: Side,
        table: Table,
        pool: Pool,
        max_cells: int = 24_000_000,
        max_tokens: int = 1 << 62,
        chunks: list[Chunk] | None = None,
    ) -> None:
        self.source, self.target, self.table, self.pool = source, target, table, pool
        self.max_cells = max_cells
        self.chunks = chunks or plan_chunks(source.lengths(), target.lengths(), max_cells, max_tokens)
        cells = max((c.n_cells for c in self.chunks), default=0)
        tokens = max((int(source.offsets[c.k1] - source.offsets[c.k0]) for c in self.chunks), default=0)
        #: Cells for the largest chunk, and as many more, which are allocated when they are first used.
        self._memory = [np.zeros(cells, np.float32)]
        #: Where each source word's occurrences begin, their sentences, and their positions.
        self._indexed = np.zeros(table.n_source + 2, np.int64), np.empty(tokens, np.int32), np.empty(tokens, np.int32)
        self._dense = [np.zeros(table.n_target, np.float32) for _ in range(pool.threads)]
        self._longest = int(target.lengths().max(initial=0))
        self._word_blocks: list[tuple[int, int]] = []

    def free(self) -> None:
        """Give the cells' memory back."""
        self._memory = [np.zeros(0, np.float32)]

    def share(self, other: "LinkMatrices") -> None:
        """Use the cells of other matrices of the same sentences from now on."""
        self._memory = other._memory

    @property
    def cells(self) -> np.ndarray:
        """The cells."""
        return self._memory[0]

    @property
    def second(self) -> np.ndarray:
        """A second array of cells, for what is not shared by the two directions."""
        if len(self._memory) < 2:
            self._memory.append(np.zeros_like(self._memory[0]))
        return self._memory[1]

    def index(self, chunk: Chunk) -> None:
        """Index the chunk's source words; to be called before `fill` and `collect`."""
        from aligntools.aligning.text import kernels_cooccurrence as kt

        kt.index_words(self.source.tokens, self.source.offsets, chunk.k0, chunk.k1, *self._indexed)
        occurrences = np.diff(self._indexed[0][:-1])
        mean = max(1.0, chunk.n_cells / max(1, int(occurrences.sum())))
        rows = np.diff(self.table.ptr)
        cost = np.where(occurrences > 0, occurrences * mean + rows, 0)
        self._word_blocks = balanced_blocks(cost, SENTENCE_BLOCKS)

    def fill(self, chunk: Chunk, values: np.ndarray, default: float, cells: np.ndarray) -> None:
        """Set ``cells`` to the table's values."""
        from aligntools.aligning.text import kernels_cooccurrence as kt

        self._over_words(kt.fill_cells, default, chunk, (values, np.float32(default)), cells)

    def collect(self, chunk: Chunk, counts: np.ndarray, cells: np.ndarray) -> None:
        """Add ``cells`` to the table's ``counts``."""
        from aligntools.aligning.text import kernels_cooccurrence as kt

        self._over_words(kt.collect_counts, 0.0, chunk, (counts,), cells)

    def _over_words(
        self, kernel: Callable[..., None], begins: float, chunk: Chunk, values: tuple[Any, ...], cells: np.ndarray
    ) -> None:
        """Run a kernel on all blocks of source words; its row of all target words ``begins`` with one number."""
        table, target = self.table, (self.target.tokens, self.target.offsets, chunk.cell_offsets, chunk.k0)

        def task(block: tuple[int, int]) -> None:
            dense = self._dense.pop()
            dense[:] = begins
            kernel(*block, *self._indexed, table.ptr, table.ids, *values, *target, cells, dense)
            self._dense.append(dense)

        self.pool.map(task, self._word_blocks)
