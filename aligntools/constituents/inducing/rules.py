"""Rules between all symbols of a grammar, and what a text is expected to have of each."""

from dataclasses import dataclass

import numpy as np

from aligntools.constituents.inducing import kernels_dense
from aligntools.ground.parallel import Pool, balanced_blocks, over

#: Blocks of a text, and numbers that their counts may have together; fixed, so that threads never show.
BLOCKS, ROOM = 16, 1 << 25


@dataclass(frozen=True)
class DenseRules:
    """Numbers of all rules: probabilities, weights or counts. Symbols stand before tags.

    roots (float64 [symbols]): Of the symbol above a sentence.
    rules (float64 [symbols, symbols + tags, symbols + tags]): Of a symbol's left and right child.
    """

    roots: np.ndarray
    rules: np.ndarray

    @property
    def n_tags(self) -> int:
        """Number of tags."""
        return int(self.rules.shape[1]) - len(self.roots)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distributions, one a row."""
        return self.roots[None], self.rules.reshape(len(self.roots), -1)

    @classmethod
    def of_rows(cls, roots: np.ndarray, rules: np.ndarray) -> "DenseRules":
        """Put together what `rows` returned."""
        size = round(rules.shape[1] ** 0.5)
        return cls(roots[0], rules.reshape(len(rules), size, size))

    def tables(self) -> kernels_dense.TensorRules:
        """Return copies as kernels read them."""
        k = len(self.roots)
        parts = (
            self.rules[:, :k, :k],
            self.rules[:, k:, :k].transpose(1, 0, 2),
            self.rules[:, :k, k:].transpose(2, 0, 1),
            self.rules[:, k:, k:].transpose(1, 2, 0),
        )
        return kernels_dense.TensorRules(self.roots.copy(), *map(np.ascontiguousarray, parts))

    @classmethod
    def of_tables(cls, tables: kernels_dense.TensorRules) -> "DenseRules":
        """Put together what `tables` returned."""
        k, size = len(tables.roots), len(tables.roots) + len(tables.tags)
        rules = np.empty((k, size, size))
        rules[:, :k, :k] = tables.symbols
        rules[:, k:, :k] = tables.left_tag.transpose(1, 0, 2)
        rules[:, :k, k:] = tables.right_tag.transpose(1, 2, 0)
        rules[:, k:, k:] = tables.tags.transpose(2, 0, 1)
        return cls(tables.roots.copy(), rules)


def chart(longest: int, size: int) -> kernels_dense.TensorChart:
    """Return memory for sentences of up to ``longest`` words and a grammar of ``size`` symbols."""
    spans = longest, longest + 1
    square = size, size
    return kernels_dense.TensorChart(
        np.zeros((*spans, size)), np.zeros((*spans, size)), np.zeros(spans), np.zeros(square), np.zeros(square)
    )


def zeros(symbols: int, tags: int) -> kernels_dense.TensorRules:
    """Return tables of rules that are all 0."""
    return DenseRules(np.zeros(symbols), np.zeros((symbols, symbols + tags, symbols + tags))).tables()


def _blocks(lengths: np.ndarray, most: int) -> list[tuple[int, int]]:
    return balanced_blocks((lengths + 4.0) ** 2, max(1, min(BLOCKS, most)))


def expected_counts(
    weights: DenseRules, tags: np.ndarray, offsets: np.ndarray, pool: Pool | None = None
) -> tuple[DenseRules, float, int]:
    """Return expected counts, the log-likelihood of the text, and the number of sentences that have no tree.

    weights: Of at most 1; they need not be normalized.
    tags (int32 [words]): From 0.
    offsets (int64 [sentences + 1]): From 0.
    pool: The results do not depend on it.
    """
    lengths, size, n_tags, tables = np.diff(offsets), len(weights.roots), weights.n_tags, weights.tables()

    def work(block: tuple[int, int]) -> tuple[kernels_dense.TensorRules, float, int]:
        counts = zeros(size, n_tags)
        memory = chart(int(lengths[block[0] : block[1]].max()), size)
        return counts, *kernels_dense.expect(tags, offsets, *block, tables, memory, counts)

    total, log_likelihood, without = zeros(size, n_tags), 0.0, 0
    for counts, value, bad in over(pool, work, _blocks(lengths, ROOM // weights.rules.size)):
        for own, more in zip(total, counts, strict=True):
            own += more
        log_likelihood, without = log_likelihood + value, without + bad
    sums = DenseRules.of_tables(total)
    return DenseRules(sums.roots, sums.rules * weights.rules), log_likelihood, without


def best_spans(
    model: DenseRules, tags: np.ndarray, offsets: np.ndarray, pool: Pool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the trees with the largest expected number of right spans (Goodman 1996).

    Returns nodes (int32 [2 * words - sentences, 3]): A sentence of n words has 2 n - 1 nodes, parents before children:
        begin, end and symbol; -1 for a word, -2 where the grammar has no tree, and every node branches to the right.
        Sentences are not empty.
    Returns scores (float64 [sentences]): Log-probabilities of the tags; -inf where there is no tree, 0 of a word alone.
    """
    lengths, size, tables = np.diff(offsets), len(model.roots), model.tables()
    nodes = np.zeros((2 * len(tags) - len(lengths), 3), np.int32)
    scores = np.zeros(len(lengths))

    def work(block: tuple[int, int]) -> None:
        longest = int(lengths[block[0] : block[1]].max())
        memory = np.zeros((longest + 1, longest + 1)), np.zeros((longest + 1, longest + 1), np.int64)
        counts = zeros(size, model.n_tags)
        kernels_dense.decode(tags, offsets, *block, tables, chart(longest, size), counts, *memory, nodes, scores)

    if len(lengths):
        over(pool, work, _blocks(lengths, BLOCKS))
    return nodes, scores
