"""What alignment gives: the links, posteriors and scores of one sentence pair, or of many in a few arrays."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from aligntools.formats.inputs.sentences import Sentence, words_of
from aligntools.formats.links.pharaoh import Links, concatenate, format_pharaoh
from aligntools.formats.text.corpus import Skipped
from aligntools.formats.text.text_settings import Split
from aligntools.ground.errors import visible

#: What stands between words; Unicode's other spaces do not.
_SPACES = re.compile(r"[ \t\n]+")


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
    words : (list of str, list of str) or None
        The words of both sides, where the pair was aligned alone. Notebooks draw the links between them.
    """

    pairs: npt.NDArray[np.int32]
    probabilities: npt.NDArray[np.float32]
    forward_pairs: npt.NDArray[np.int32] | None
    reverse_pairs: npt.NDArray[np.int32] | None
    scores: PairScores
    words: tuple[list[str], list[str]] | None = None

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

    def _repr_svg_(self) -> str:
        """Return a picture for notebooks: the links between the words, or their numbers where words are not known."""
        from aligntools.viewing.pictures import ShownPair, picture

        if self.words is not None:
            source, target = ([visible(word) for word in side] for side in self.words)
        else:
            ends = self.pairs.max(axis=0, initial=-1).tolist()
            source, target = ([str(k) for k in range(end + 1)] for end in ends)
        links = dict(zip(self.links, self.probabilities.tolist(), strict=True))
        return picture(ShownPair(1, source, target, (links,)), [""])


def with_words(alignment: Alignment, source: Sentence, target: Sentence) -> Alignment:
    """Return the alignment of a sentence pair together with its words."""
    sides = [_SPACES.sub(" ", one).split(" ") if isinstance(one, str) else one for one in (source, target)]
    words = [[word for word in side if word] for side in sides]
    return replace(alignment, words=(words[0], words[1]))


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
        Mean posterior of the link in both directions, or that of the only direction that was trained.
    forward_table, reverse_table : Links or None
        Each direction's own links, where they were asked for and trained.
    log_likelihood : float64 [2, pairs]
        ``ln p(target | source)`` and ``ln p(source | target)``; NaN for a direction that was not trained.
    lengths : int64 [2, pairs]
        Words of the source and target sentences; 0 for pairs that were left out.
    skipped : Skipped
        How many pairs were left out, and why.
    """

    table: Links
    probabilities: npt.NDArray[np.float32]
    forward_table: Links | None
    reverse_table: Links | None
    log_likelihood: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int64]
    skipped: Skipped = field(default_factory=Skipped)

    def format(self, *, probabilities: bool = False, compiled: bool | None = None) -> bytes:
        """Return the links as Pharaoh text, a line for each pair; with their posteriors where these are asked for."""
        return format_pharaoh(self.table, "source", self.probabilities if probabilities else None, compiled)

    def word_pairs(
        self, sources: Iterable[Sentence], targets: Iterable[Sentence], *, split: "Split | None" = None
    ) -> Iterator[list[tuple[str, str, float]]]:
        """Yield the words of each link with its posterior, pair by pair; ``align --word-pairs`` writes the same.

        Parameters
        ----------
        sources, targets : iterable of str or of sequences of str
            The sentences that were aligned, in their order.
        split : {'spaces', 'unicode'} or None
            What separates the words of a sentence that is a string.

        Raises
        ------
        ValueError
            When there are more sentences than pairs, or fewer.

        Examples
        --------
        >>> import aligntools as at
        >>> sources, targets = ["ein Haus", "ein Buch"], ["a house", "a book"]
        >>> found = at.align(sources, targets)
        >>> [[word for word, _, _ in pair] for pair in found.word_pairs(sources, targets)]
        [['ein', 'Haus'], ['ein', 'Buch']]
        """
        probabilities = iter(self.probabilities.tolist())
        for links, *pair in zip(self.table.tolists(), sources, targets, strict=True):
            s, t = ([word.decode("utf-8", "surrogateescape") for word in words_of(side, split)] for side in pair)
            yield [(s[i], t[j], next(probabilities)) for i, j in links]

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
            self.table.pairs[own],
            self.probabilities[own],
            _of(self.forward_table, n),
            _of(self.reverse_table, n),
            PairScores(*self.scores[n].tolist()),
        )

    def _repr_html_(self) -> str:
        """Return the first alignments for notebooks; `aligntools.view` shows them with their text."""
        shown = "\n".join(str(self[n]) for n in range(min(len(self), 10)))
        more = "\n…" if len(self) > 10 else ""
        return f"<p>{len(self)} alignments, {len(self.table.pairs)} links</p><pre>{shown}{more}</pre>"

    @cached_property
    def scores(self) -> npt.NDArray[np.float64]:
        """The columns of `PairScores` for each pair: float64 [pairs, 4]."""
        words = np.maximum(self.lengths, 1)
        forward, reverse = self.log_likelihood
        return np.stack([forward, reverse, forward / words[1], reverse / words[0]], axis=1)


def _of(links: Links | None, n: int) -> npt.NDArray[np.int32] | None:
    return None if links is None else links.pairs[int(links.offsets[n]) : int(links.offsets[n + 1])]


def joined(runs: Sequence[Alignments], skipped: Skipped) -> Alignments:
    """Join the alignments of consecutive runs of sentence pairs of a text of which some pairs were left out."""
    if not runs:
        none = Links(np.empty((0, 2), np.int32), np.zeros(1, np.int64))
        return Alignments(
            none, np.empty(0, np.float32), none, none, np.empty((2, 0)), np.empty((2, 0), np.int64), skipped
        )

    def direction(tables: list[Links | None]) -> Links | None:
        known = [table for table in tables if table is not None]
        return concatenate(known) if len(known) == len(tables) else None

    return Alignments(
        concatenate([run.table for run in runs]),
        np.concatenate([run.probabilities for run in runs]),
        direction([run.forward_table for run in runs]),
        direction([run.reverse_table for run in runs]),
        np.concatenate([run.log_likelihood for run in runs], axis=1),
        np.concatenate([run.lengths for run in runs], axis=1),
        skipped,
    )


class AlignmentTally:
    """Counts of aligned pairs and links, and of what was left out."""

    def __init__(self) -> None:
        self.pairs, self.links, self.skipped = 0, 0, Skipped()

    def add(self, block: Alignments) -> None:
        """Count a block."""
        self.pairs += len(block)
        self.links += len(block.table.pairs)
        self.skipped.add(block.skipped)
