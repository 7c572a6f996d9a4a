"""Candidate links of sentence pairs: the cells of their link matrices that may be linked, and what is known of each."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive import kernels_local_features as kl
from aligntools.formats.links.pharaoh import Links
from aligntools.ground.parallel import balanced_blocks

#: Blocks that sentences are cut into, whatever the number of threads.
BLOCKS = 32


@dataclass
class CandidateLinks:
    """The candidates of consecutive sentence pairs, and their local features.

    s_offsets, t_offsets, starts (int64 [sentences + 1]): Where the words, and the candidates, of each pair begin.
    rows, columns (int32 [candidates]), by row and column; neighbours (int32 [candidates, 8]), numbered within the pair.
    local (float32 [candidates, FEATURES]): What a candidate adds to each feature by itself.
    s_words, t_words (float32 [words, WORD_COLUMNS]): What is known of words, in natural logarithms.
    expected (float64 [sentences]): The sum of the base model's mean posteriors.
    readings (uint8 [candidates, files]), likeness (float32 [candidates, files, 2]), or None: See `evidence.readings`.
    """

    s_offsets: np.ndarray
    t_offsets: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    neighbours: np.ndarray
    local: np.ndarray
    s_words: np.ndarray
    t_words: np.ndarray
    expected: np.ndarray
    readings: np.ndarray | None = None
    likeness: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def sentences(self) -> np.ndarray:
        """Return the sentence pair of each candidate, int64 [candidates]."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def keys(self) -> np.ndarray:
        """Return numbers that name the cells of candidates, ascending, int64 [candidates]."""
        return cell_keys(self.sentences(), self.rows, self.columns)

    def links(self, chosen: np.ndarray) -> Links:
        """Return the candidates that are chosen (bool [candidates]) as links."""
        upto = np.concatenate([[0], np.cumsum(chosen)])
        return Links(np.stack([self.rows[chosen], self.columns[chosen]], 1), upto[self.starts])

    def read(self) -> np.ndarray:
        """Return the readings of files of evidence; for candidates that have some."""
        assert self.readings is not None, "found without evidence"
        return self.readings

    def arrays(self) -> kf.Candidates:
        """Return what kernels take."""
        own: list[Any] = [self.s_offsets, self.t_offsets, self.starts, self.rows, self.columns]
        own += [self.neighbours, self.local, self.s_words, self.t_words]
        return kf.Candidates(*own)

    def blocks(self, count: int = BLOCKS) -> list[tuple[int, int]]:
        """Cut the sentences into runs of about equal work, whatever the number of threads."""
        work = np.diff(self.starts).astype(np.float64)
        lengths = np.diff(self.s_offsets) + np.diff(self.t_offsets)
        return balanced_blocks(work * (lengths + 8.0) + 16.0, count)

    def part(self, a: int, b: int) -> "CandidateLinks":
        """Return the sentences ``a..b`` alone."""
        c0, c1 = self.starts[a], self.starts[b]
        s0, s1, t0, t1 = self.s_offsets[a], self.s_offsets[b], self.t_offsets[a], self.t_offsets[b]
        offsets = (self.s_offsets, s0), (self.t_offsets, t0), (self.starts, c0)
        found: list[Any] = [places[a : b + 1] - first for places, first in offsets]
        found += [own[c0:c1] for own in (self.rows, self.columns, self.neighbours, self.local)]
        found += [self.s_words[s0:s1], self.t_words[t0:t1], self.expected[a:b]]
        found += [None if own is None else own[c0:c1] for own in (self.readings, self.likeness)]
        return CandidateLinks(*found)


def bare_candidates(
    s_offsets: np.ndarray, t_offsets: np.ndarray, starts: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> CandidateLinks:
    """Return candidates of which only the positions are known, sorted by row, then column."""
    n, k = len(rows), len(starts) - 1
    neighbours = np.empty((n, 8), np.int32)
    kf.find_neighbours(starts, rows, columns, neighbours)
    local = np.zeros((n, kf.FEATURES), np.float32)
    s_words, t_words = (np.zeros((int(o[-1]), kf.WORD_COLUMNS), np.float32) for o in (s_offsets, t_offsets))
    found = CandidateLinks(
        s_offsets, t_offsets, starts, rows, columns, neighbours, local, s_words, t_words, np.zeros(k)
    )
    kl.position_features(found.arrays())
    return found


def concatenate(parts: Iterable[CandidateLinks]) -> CandidateLinks:
    """Join the candidates of consecutive runs of sentences, of which there may be none."""
    zero = np.zeros(1, np.int64)
    parts = list(parts) or [bare_candidates(zero, zero, zero, np.empty(0, np.int32), np.empty(0, np.int32))]
    if len(parts) == 1:
        return parts[0]

    def joined(name: str) -> np.ndarray:
        last = np.cumsum([0] + [int(getattr(p, name)[-1]) for p in parts])
        pieces = [getattr(p, name)[:-1] + at for p, at in zip(parts, last[:-1], strict=True)]
        return np.concatenate([*pieces, last[-1:]])

    offsets = [joined(name) for name in ("s_offsets", "t_offsets", "starts")]
    names = ["rows", "columns", "neighbours", "local", "s_words", "t_words", "expected"]
    names += [name for name in ("readings", "likeness") if getattr(parts[0], name) is not None]
    return CandidateLinks(*offsets, *(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def cell_keys(sentences: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return numbers that name cells of sentence pairs (int64), and sort as these do."""
    return np.asarray((sentences << 32) | (rows.astype(np.int64) << 16) | columns)


def link_keys(links: Links) -> np.ndarray:
    """Return the numbers of the cells that are linked, int64 [links]; see `CandidateLinks.keys`."""
    return cell_keys(links.sentences(), links.pairs[:, 0], links.pairs[:, 1])
