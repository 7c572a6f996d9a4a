"""Alignment as fast_align has it, where ``align`` differs: the order of its links, its scores, alignment by tables."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from aligntools.aligning.alignments import Alignments
from aligntools.ground.errors import DataError
from aligntools.words.vocabulary import split_words

if TYPE_CHECKING:
    from aligntools.formats.links.pharaoh import Links
    from aligntools.formats.text.corpus import Bitext as Bitext

#: Returns the links of a sentence pair at a line of a file, and the logarithm of the observed side's probability.
LinksOf: TypeAlias = Callable[[list[bytes], list[bytes], str, int], tuple[list[tuple[int, int]], float]]
_SEPARATOR = re.compile(rb"\t|(?<![^ \t])\|\|\|(?![^ \t])")


@dataclass(frozen=True)
class FastAlignForm:
    """How fast_align aligns; ``tension`` is None where the diagonal is not favored."""

    reverse: bool = False
    tension: float | None = None
    p_null: float = 0.08
    use_null: bool = True

    @property
    def way(self) -> int:
        """The direction's place where both are given."""
        return int(self.reverse)

    @property
    def log_not_null(self) -> float:
        """What fast_align counts for each word where there is no NULL: it leaves its share of the prior unused."""
        return 0.0 if self.use_null or self.tension is None else math.log(1 - self.p_null)

    def format(self, links: "Links") -> bytes:
        """Return lines of links, sorted as fast_align writes them."""
        from aligntools.formats.links.pharaoh import format_pharaoh

        return format_pharaoh(links, "source" if self.reverse else "target")

    def settled(self, block: Alignments, bitext: "Bitext", begin: int, view: Any) -> "Links":
        """Return the links of a block of pairs from ``begin`` on; of ties those that fast_align takes."""
        from aligntools.aligning.models.diagonal_series import TENSION_RANGE, settle_ties
        from aligntools.formats.links.pharaoh import Links
        from aligntools.formats.text.corpus import part_of

        links = block.table
        if self.tension is None or view.tension[self.way] < TENSION_RANGE[0]:
            return links
        sides = [part_of(side, begin, begin + len(block)) for side in (bitext.source, bitext.target)]
        if self.reverse:
            sides.reverse()
            links = Links(links.pairs[:, ::-1], links.offsets)
        settle: Any = settle_ties
        pairs = settle(links, *sides, view.tension[self.way], view.p_null[self.way])
        return Links(pairs[:, ::-1] if self.reverse else pairs, links.offsets).sorted()

    def unlearned(self, bitext: "Bitext", part_size: int) -> Iterator[Alignments]:
        """Yield what fast_align's first iteration finds, which aligns where it is the last: all words are alike."""
        from aligntools.aligning.applying.table_aligner import TableAligner, link_by_position
        from aligntools.formats.links.pharaoh import Links
        from aligntools.formats.text.corpus import parts_of

        table: Any = None
        aligner, link = TableAligner(table, self.tension, self.p_null, self.use_null), link_by_position
        for part in parts_of(bitext, part_size):
            lengths = np.array([part.source.lengths(), part.target.lengths()])
            lengths[:, lengths.min(axis=0) == 0] = 0
            given, observed = lengths[:: -1 if self.reverse else 1]
            links, nats = link(aligner, given, observed)
            nats -= observed * self.log_not_null  # which `scores` adds to the figures of a model
            if self.reverse:
                links = Links(links.pairs[:, ::-1], links.offsets).sorted()
            probabilities = np.ones(len(links.pairs), np.float32)
            yield Alignments(links, probabilities, None, None, np.array([nats, nats]), lengths, part.skipped)

    def scores(self, block: Alignments, ratio: float) -> list[float]:
        """Return ln p of the observed side of each pair and of its length; ``ratio``: observed words per given one."""
        from aligntools.aligning.applying.table_aligner import log_length

        length: Any = log_length
        given, observed = block.lengths[:: -1 if self.reverse else 1].tolist()
        lengths = [length(o, c, ratio) + o * self.log_not_null for c, o in zip(given, observed, strict=True)]
        return [float(a + b) for a, b in zip(lengths, block.log_likelihood[self.way], strict=True)]

    def by_table(self, path: str, ratio: float) -> tuple[int, LinksOf]:
        """Return how many probabilities a table in a file has, and what aligns pairs by it."""
        from aligntools.aligning.applying.table_aligner import TableAligner
        from aligntools.formats.links.ttable import read_ttable

        table = read_ttable(path)
        align: Any = TableAligner(table, self.tension, self.p_null, self.use_null, ratio).align

        def links(
            source: list[bytes], target: list[bytes], path: str, number: int
        ) -> tuple[list[tuple[int, int]], float]:
            try:
                positions, score = align(*((target, source) if self.reverse else (source, target)))
            except MemoryError:
                problem = f"{len(source)} by {len(target)} words take more memory than there is (remove the pair)"
                raise DataError(path, number, problem) from None
            found = enumerate(positions.tolist())
            return [(n, k) if self.reverse else (k, n) for n, k in found if k >= 0], score

        return len(table), links


def sides_of(line: bytes, path: str, number: int) -> tuple[list[bytes], list[bytes]]:
    """Return the words of both sides of a line, parted by the first ``|||`` or tab."""
    source, *rest = _SEPARATOR.split(line, maxsplit=1)
    words, others = split_words(source), split_words(b"".join(rest))
    if not words or not others:
        side = "source" if not words else "target"
        raise DataError(path, number, f"the {side} side is blank (remove the pair)")
    return words, others
