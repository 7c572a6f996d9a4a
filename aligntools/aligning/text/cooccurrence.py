"""The sparse table of words that occur together: structure, first counts, estimation."""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.text.corpus import Side
from aligntools.ground.parallel import Pool, balanced_blocks

#: Word blocks that rows are cut into; fixed, so that the number of threads never matters.
BLOCKS = 48


@dataclass
class Table:
    """Pairs of words that occur together, by source word.

    ptr, ids (int64 [n_source_words + 1], int32 [n_pairs]): Target words, ascending within a row.
    types, target_types (int32 by word): How many words of the other side occur with it, pruned ones too.
    """

    ptr: np.ndarray
    ids: np.ndarray
    types: np.ndarray
    target_types: np.ndarray

    @property
    def n_source(self) -> int:
        """Source words, with NULL."""
        return len(self.ptr) - 1

    @property
    def n_target(self) -> int:
        """Target words, with NULL."""
        return len(self.target_types)

    def with_unknown(self) -> "Table":
        """Return the table with one more word on each side, which occurs with none: it stands for unknown words."""
        more = [np.append(a, a.dtype.type(0)) for a in (self.types, self.target_types)]
        return Table(np.append(self.ptr, self.ptr[-1]), self.ids, *more)

    def blocks(self) -> list[tuple[int, int]]:
        """Runs of words whose rows have about equal sizes."""
        return balanced_blocks(np.diff(self.ptr), BLOCKS)

    def row_sums(self, values: np.ndarray) -> np.ndarray:
        """Sum ``values`` [n_pairs] by source word, in float64."""
        return segment_sums(values, self.ptr)

    def column_sums(self, values: np.ndarray) -> np.ndarray:
        """Sum ``values`` [n_pairs] by target word, in float64, in slices that bound the temporaries."""
        total = np.zeros(self.n_target)
        for a in range(0, len(self.ids), 1 << 20):
            total += np.bincount(self.ids[a : a + (1 << 20)], values[a : a + (1 << 20)], self.n_target)
        return total


def segment_sums(values: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Sum runs ``values[ptr[v]:ptr[v + 1]]`` in float64; empty runs give 0."""
    out = np.zeros(len(ptr) - 1)
    if len(values):
        full = np.flatnonzero(ptr[1:] > ptr[:-1])
        out[full] = np.add.reduceat(values, ptr[full], dtype=np.float64)
    return out


def pair_weights(source_lengths: np.ndarray, target_lengths: np.ndarray, p_null: float) -> np.ndarray:
    """Weight of each pair of words in IBM 1's first, uniform iteration with agreement.

    The product of the two directions' uniform posteriors, float32 [n_sentences].
    """
    i = np.maximum(source_lengths, 1).astype(np.float32)
    j = np.maximum(target_lengths, 1).astype(np.float32)
    weights: np.ndarray = (1 - p_null) * 0.5 * (1 / i + 1 / j)
    return weights.astype(np.float32)


def build_table(
    source: Side, target: Side, n_source: int, n_target: int, pool: Pool, keep: float = 0.0, p_null: float = 0.08
) -> tuple[Table, np.ndarray]:
    """Find which words occur together, with the counts of a first, uniform iteration, float32 [n_pairs].

    Pairs that occur together less than ``keep`` times as often as independent words would are left out.
    """
    from aligntools.aligning.text import kernels_cooccurrence as kt

    n = len(source)
    weights = pair_weights(source.lengths(), target.lengths(), p_null)
    start = np.zeros(n_source + 2, np.int64)
    sentence = np.empty(len(source.tokens), np.int32)
    kt.index_words(source.tokens, source.offsets, 0, n, start, sentence, np.empty(0, np.int32))
    per_source = (weights * target.lengths()).astype(np.float32)
    source_mass = word_masses(source, per_source, n_source)
    target_mass = word_masses(target, (weights * source.lengths()).astype(np.float32), n_target)
    total = float(source_mass.sum())
    cost = word_masses(source, target.lengths(), n_source)
    blocks = balanced_blocks(cost, BLOCKS)
    types = np.zeros(n_source, np.int32)
    sizes = np.zeros(n_source, np.int32)
    scratch = [(np.zeros(n_target, np.float32), np.empty(n_target, np.int32)) for _ in range(max(1, pool.threads))]

    place = start, sentence, target.tokens, target.offsets

    def rows(block: tuple[int, int]) -> list[tuple[np.ndarray, np.ndarray]]:
        v, v1 = block
        dense, touched = scratch.pop()
        parts = []
        capacity = 1 << 16
        while v < v1:
            ids, counts = np.empty(capacity, np.int32), np.empty(capacity, np.float32)
            out = dense, touched, types[v:v1], sizes[v:v1], ids, counts
            v_next, used = kt.cooccurrence_rows(v, v1, *place, weights, source_mass, target_mass, total, keep, *out)
            if used:
                parts.append((ids[:used].copy(), counts[:used].copy()))
            if v_next == v:
                capacity *= 4
            v = v_next
        scratch.append((dense, touched))
        return parts

    found = [part for parts in pool.map(rows, blocks) for part in parts]
    ptr = np.zeros(n_source + 1, np.int64)
    np.cumsum(sizes, out=ptr[1:])
    ids, counts = np.empty(ptr[-1], np.int32), np.empty(ptr[-1], np.float32)
    at = 0
    found.reverse()
    while found:  # freed as it is copied
        a, b = found.pop()
        ids[at : at + len(a)] = a
        counts[at : at + len(a)] = b
        at += len(a)
    target_types = count_words(ids, n_target).astype(np.int32)
    return Table(ptr, ids, types, target_types), counts


def count_words(tokens: np.ndarray, n_words: int) -> np.ndarray:
    """Count each word, in slices that bound the temporaries; float64 [n_words]."""
    total = np.zeros(n_words)
    for a in range(0, len(tokens), 1 << 20):
        total += np.bincount(tokens[a : a + (1 << 20)], minlength=n_words)
    return total


def word_masses(side: Side, per_sentence: np.ndarray, n_words: int) -> np.ndarray:
    """Sum a number for each sentence over the occurrences of each word, in slices that bound the temporaries."""
    out = np.zeros(n_words)
    step = 50_000
    for a in range(0, len(side), step):
        b = min(a + step, len(side))
        tokens = side.tokens[side.offsets[a] : side.offsets[b]]
        out += np.bincount(tokens, np.repeat(per_sentence[a:b], np.diff(side.offsets[a : b + 1])), n_words)
    return out


def unigrams(side: Side, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each word's smoothed share of the text, float32 [n_words + 1], and how often it occurs."""
    counts = count_words(side.tokens, n_words + 1)
    return smoothed_shares(counts), counts


def smoothed_shares(counts: np.ndarray) -> np.ndarray:
    """Return each word's share of the text from how often it occurs, float32."""
    smoothed: np.ndarray = counts + 0.5
    shares: np.ndarray = smoothed / smoothed.sum()
    return shares.astype(np.float32)
