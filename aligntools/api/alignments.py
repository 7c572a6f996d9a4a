"""What alignment gives: the links, posteriors and scores of one sentence pair, or of many in a few arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from aligntools.formats.corpus import Skipped
    from aligntools.formats.pharaoh import Links


class PairScores(NamedTuple):
    """How well a sentence pair fits a model: natural logarithms, what ``align --scores`` writes.

    NaN for a direction that was not trained.
    """

    #: ``ln p(target | source)``
    forward: float
    #: ``ln p(source | target)``
    reverse: float
    #: ``forward`` divided by the number of target words
    forward_per_word: float
    #: ``reverse`` divided by the number of source words
    reverse_per_word: float


@dataclass(frozen=True, eq=False)
class Alignment:
    """The word alignment of one sentence pair.

    Attributes
    ----------
    pairs : int32 [links, 2]
        Source and target positions of the links, from 0, sorted.
    probabilities : float32 [links]
        Posterior of each link: the mean of both directions.
    forward_pairs, reverse_pairs : int32 [n, 2] or None
        The links of the single directions: target words choose source words, and the other way round. None where
        they were not asked for, or that direction was not trained.
    scores : PairScores
    """

    pairs: npt.NDArray[np.int32]
    probabilities: npt.NDArray[np.float32]
    forward_pairs: npt.NDArray[np.int32] | None
    reverse_pairs: npt.NDArray[np.int32] | None
    scores: PairScores

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links as ``(source position, target position)``, from 0, sorted."""
        return _as_tuples(self.pairs)

    @property
    def forward(self) -> list[tuple[int, int]] | None:
        """The forward direction's links (target words choose)."""
        return None if self.forward_pairs is None else _as_tuples(self.forward_pairs)

    @property
    def reverse(self) -> list[tuple[int, int]] | None:
        """The reverse direction's links (source words choose)."""
        return None if self.reverse_pairs is None else _as_tuples(self.reverse_pairs)

    def __str__(self) -> str:
        return " ".join(f"{i}-{j}" for i, j in self.pairs.tolist())

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.links)


def _as_tuples(pairs: npt.NDArray[np.int32]) -> list[tuple[int, int]]:
    return [(i, j) for i, j in pairs.tolist()]


@dataclass(frozen=True, eq=False)
class Alignments(Sequence[Alignment]):
    """The alignments of consecutive sentence pairs, in a few arrays; an item is an `Alignment`.

    Attributes
    ----------
    table : Links
        All links: ``table.pairs`` int32 [links, 2] and ``table.offsets`` int64 [pairs + 1], which cut them by pair.
    probabilities : float32 [links]
    forward_table, reverse_table : Links or None
        The single directions' links.
    log_likelihood : float64 [2, pairs]
        ``ln p(target | source)`` and ``ln p(source | target)``.
    lengths : int64 [2, pairs]
        Words of the source and target sentences; 0 for pairs that were left out.
    skipped : Skipped
        How many pairs were left out, and why.
    """

    table: "Links"
    probabilities: npt.NDArray[np.float32]
    forward_table: "Links | None"
    reverse_table: "Links | None"
    log_likelihood: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int64]
    skipped: "Skipped"

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> Alignment: ...
    @overload
    def __getitem__(self, index: slice) -> list[Alignment]: ...
    def __getitem__(self, index: int | slice) -> Alignment | list[Alignment]:
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        n = range(len(self))[index]
        own = slice(int(self.table.offsets[n]), int(self.table.offsets[n + 1]))
        return Alignment(
            self.table.pairs[own], self.probabilities[own], _of(self.forward_table, n), _of(self.reverse_table, n),
            PairScores(*self.scores[n].tolist()),
        )  # fmt: skip

    @cached_property
    def scores(self) -> npt.NDArray[np.float64]:
        """The columns of `PairScores` for each pair: float64 [pairs, 4]."""
        words = np.maximum(self.lengths, 1)
        forward, reverse = self.log_likelihood
        return np.stack([forward, reverse, forward / words[1], reverse / words[0]], axis=1)


def _of(links: "Links | None", n: int) -> npt.NDArray[np.int32] | None:
    return None if links is None else links.pairs[int(links.offsets[n]) : int(links.offsets[n + 1])]
