"""What aligning gives, as it is written: links between pieces or the other way round, with the text or without."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aligntools.aligning.alignments import Alignments
from aligntools.formats.links.pharaoh import Links, check_range
from aligntools.formats.text.raw_pairs import RawPairs, undecodable_replaced
from aligntools.formats.text.text_settings import Scheme
from aligntools.ground.errors import UsageProblem
from aligntools.links.pieces import Mismatched, remapped, scheme_of, without_links
from aligntools.words import pieces
from aligntools.words.pieces import Cut, Units

#: What is a space to most readers and cannot stand in a field, or would end the line.
_SPACED = bytes.maketrans(b"\t\r", b"  ")


class Reshaping:
    """Converts alignments of words to the units that are written, block by block.

    raw, pieces, tokens: The text, the same in pieces that links are written between, and in tokens that are aligned.
    to_words: The text is in pieces, and links become links between words.
    with_text, with_words: Sides, or linked words, are written too; with sides words are those of `str.split`.
    """

    def __init__(
        self,
        raw: RawPairs,
        pieces: RawPairs | None = None,
        *,
        tokens: RawPairs | None = None,
        to_words: bool = False,
        scheme: Scheme = "auto",
        with_text: bool = False,
        with_words: bool = False,
        strict: bool = False,
        service: bool = False,
    ):
        self.raw, self.pieces, self.tokens = raw, pieces, tokens
        self._to_words, self._with_text = to_words, with_text
        self._with_words = with_words
        if service and scheme == "auto" and (pieces is not None or to_words):
            raise UsageProblem("`unbuffered` needs to know how pieces are marked before it has seen many: say `scheme`")
        self._scheme: str = scheme  # of ``auto``, what the first lines are marked by
        self.mismatched = Mismatched(strict, service)
        #: Tabs of the text that had to become spaces.
        self.tabs = 0

    def next(self, block: Alignments) -> tuple[Alignments, list[list[bytes]] | None]:
        """Return the alignments of the next pairs as they are written, and both sides where they are wanted."""
        n, line = len(block), self.raw.line + 1
        raw: list[Any] = self.raw.read(n)
        spaced = self.raw.spaced(raw)
        tokens = self.tokens.read(n) if self.tokens is not None else spaced
        if self.pieces is not None:
            block = self._in_pieces(block, tokens, line)
        elif self.tokens is not None:
            units = [pieces.cut_by_words(*sides, None).words_of for sides in zip(spaced, tokens, strict=True)]
            block = self._mapped(block, units, line)
        elif self._to_words:
            advice = "links between words need no `to_words`; or say `scheme`"
            lines, name = [*spaced[0], *spaced[1]], self.raw.paths[0]
            scheme = self._scheme = scheme_of(lines, self._scheme, name, letters=False, advice=advice)
            units = [pieces.cut_by_marks(side, scheme).words_of for side in spaced]
            block = self._mapped(block, units, line)
            if self._with_text or self._with_words:
                raw = spaced = [[pieces.words_of_line(text, scheme) for text in side] for side in spaced]
        if not self._with_text:
            return block, [undecodable_replaced(side) for side in spaced] if self._with_words else None
        if self.pieces is None:
            found = [pieces.cut_as_python(side) for side in spaced]
            block = self._mapped(block, found, line)
        texts = [undecodable_replaced(side) for side in raw]
        self.tabs += sum(text.count(b"\t") for side in texts for text in side)
        return block, [[text.translate(_SPACED) for text in side] for side in texts]

    def _in_pieces(self, block: Alignments, raw: list[list[bytes]], line: int) -> Alignments:
        assert self.pieces is not None
        found = self.pieces.spaced(self.pieces.read(len(block)))
        lines = [text for side in found if side is not None for text in side]
        scheme = self._scheme = scheme_of(lines, self._scheme, None, letters=True)
        cuts: list[Cut | None] = [
            None if own is None else pieces.cut_by_words(words, own, scheme)
            for words, own in zip(raw, found, strict=True)
        ]
        wrong = np.zeros((2, len(block)), bool)
        for side, cut in enumerate(cuts):
            if cut is not None:
                wrong[side, cut.wrong] = True
        out = self.mismatched.add(wrong & (block.lengths[0] > 0), self.pieces.paths)
        if out.any():
            kept = block.probabilities[~out[block.table.sentences()]]
            both = block.forward_table, block.reverse_table
            forward, reverse = (one and without_links(one, out) for one in both)
            table = without_links(block.table, out)
            block = replace(block, table=table, probabilities=kept, forward_table=forward, reverse_table=reverse)
        return self._mapped(block, [None if cut is None else cut.pieces_of for cut in cuts], line)

    def _mapped(self, block: Alignments, units: Sequence[Units | None], line: int) -> Alignments:
        source, target = units
        if source is None and target is None:
            return block
        lengths = [None if side is None else side.lengths() for side in units]

        def through(links: Links, probabilities: Any = None) -> tuple[Links, Any]:
            # or the file has changed meanwhile
            check_range(links, lengths[0], lengths[1], path=self.raw.paths[0], line=line)
            return remapped(links, source, target, probabilities)

        table, probabilities = through(block.table, block.probabilities)
        forward, reverse = (links and through(links)[0] for links in (block.forward_table, block.reverse_table))
        return replace(block, table=table, probabilities=probabilities, forward_table=forward, reverse_table=reverse)

    def end(self) -> None:
        """Raise an error if the pieces have more lines than the text, or too many of them are of other words."""
        self.mismatched.end()
        if self.pieces is not None:
            self.pieces.check_end()

    def close(self) -> None:
        """Close the files."""
        for text in (self.raw, self.tokens, self.pieces):
            if text is not None:
                text.close()
