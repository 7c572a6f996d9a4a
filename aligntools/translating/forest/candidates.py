"""Lists of derivations: the k best of each sentence, samples, or those of several rounds merged.

A list of candidates is a hypergraph too, of one node a sentence.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from aligntools.translating.forest import kernels_hypergraph as kernels
from aligntools.translating.forest.hypergraph import Hypergraph


@dataclass(eq=False)
class CandidateLists:
    """Some derivations of each sentence: words, features and scores.

    offsets (int64 [sentences + 1]), word_offsets (int64 [candidates + 1], words : int32).
    feature_offsets (int64 [candidates + 1], feature_ids : int32, feature_values : float32): Summed over the derivation;
        ids ascending.
    """

    offsets: np.ndarray
    word_offsets: np.ndarray
    words: np.ndarray
    feature_offsets: np.ndarray
    feature_ids: np.ndarray
    feature_values: np.ndarray
    scores: np.ndarray  # float64 [candidates]: Under the weights that they were found with

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def count(self) -> int:
        """Candidates of all sentences."""
        return len(self.scores)

    @property
    def features(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The features of candidates, as kernels read them; see `Hypergraph.features`."""
        return self.feature_offsets, self.feature_ids, self.feature_values

    def take(self, rows: npt.ArrayLike, offsets: npt.ArrayLike) -> "CandidateLists":
        """Return these candidates in this order, sentences beginning at ``offsets``."""
        rows = np.asarray(rows, np.int64)
        word_offsets, words = rows_of(self.word_offsets, rows, self.words)
        feature_offsets, ids, values = rows_of(self.feature_offsets, rows, self.feature_ids, self.feature_values)
        offsets = np.asarray(offsets, np.int64)
        return CandidateLists(offsets, word_offsets, words, feature_offsets, ids, values, self.scores[rows])

    def sentences(self, which: npt.ArrayLike) -> "CandidateLists":
        """Return the candidates of these sentences, in this order."""
        offsets, rows = rows_of(self.offsets, np.asarray(which, np.int64), np.arange(self.count))
        return self.take(rows, offsets)

    def keys(self) -> np.ndarray:
        """Return hashes [candidates, uint64] of words and features, the latter rounded to multiples of 1e-4."""
        keys = np.zeros(self.count, np.uint64)
        kernels.string_keys(self.word_offsets, self.words, self.features, keys)
        return keys

    def merged(self, *others: "CandidateLists") -> "CandidateLists":
        """Return the candidates of several lists, those with the same words and features once, the first of them."""
        lists = [self, *others]
        joined = self.followed(*others)
        sentence = np.concatenate([np.repeat(np.arange(len(c)), np.diff(c.offsets)) for c in lists])
        keys = joined.keys() ^ (sentence.astype(np.uint64) * np.uint64(kernels.MIX1))
        _, first = np.unique(keys, return_index=True)
        first = np.sort(first)
        rows = first[np.argsort(sentence[first], kind="stable")]
        return joined.take(rows, offsets_of(np.bincount(sentence[rows], minlength=len(self))))

    def followed(self, *others: "CandidateLists") -> "CandidateLists":
        """Return the sentences of several lists, one list after another."""
        lists = [self, *others]
        columns = {}
        for f in fields(self):
            arrays = [getattr(c, f.name) for c in lists]
            columns[f.name] = join_offsets(arrays) if f.name.endswith("offsets") else np.concatenate(arrays)
        return CandidateLists(**columns)

    def hypergraph(self) -> Hypergraph:
        """Return the candidates as a hypergraph, of one node a sentence and one edge a candidate."""
        sizes = np.diff(self.offsets)
        full = sizes > 0
        node_offsets, none = offsets_of(full), np.zeros((int(full.sum()), 4), np.int32)  # nothing is above
        nodes = node_offsets, np.where(full, node_offsets[:-1], -1), offsets_of(sizes[full])
        edges = np.full((self.count, 2), -1, np.int32), np.zeros(self.count, np.int32)
        columns = *self.features, self.word_offsets, self.words
        return Hypergraph(*nodes, *edges, *columns, none, none, np.zeros(len(none), np.int32))


def offsets_of(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return where each of several runs of these lengths begins, and where the last ends [lengths + 1, int64]."""
    out = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=out[1:])
    return out


def join_offsets(parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return the offsets of arrays that are joined."""
    return offsets_of(np.concatenate([np.diff(p) for p in parts]))


def rows_of(offsets: np.ndarray, rows: npt.ArrayLike, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return new offsets and, of each array, the entries of the rows."""
    rows = np.asarray(rows, np.int64)
    sizes = np.diff(offsets)[rows]
    new = offsets_of(sizes)
    places = np.arange(new[-1]) + np.repeat(offsets[:-1][rows] - new[:-1], sizes)
    return new, *(a[places] for a in arrays)
