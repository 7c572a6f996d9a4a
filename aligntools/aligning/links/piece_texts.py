"""Texts in pieces, read along with links: which words the pieces are of."""

import logging
from collections.abc import Sequence

import numpy as np

from aligntools.aligning.links.mismatches import Mismatched, without_links
from aligntools.aligning.links.units import remapped
from aligntools.formats.links.pharaoh import Links, check_range
from aligntools.formats.text.raw_pairs import RawPairs
from aligntools.formats.text.reading import PieceReading
from aligntools.ground.errors import DataError
from aligntools.words.pieces import NO_MARKS, Cut, Units, cut_by_marks, cut_by_words, recognized

_log = logging.getLogger("aligntools")


def scheme_of(lines: Sequence[bytes], scheme: str, name: object, *, letters: bool) -> str:
    """Return the scheme of some text in pieces; one that exists and is not ``auto`` is returned as it is.

    With ``letters`` the words are known, and pieces need no marks.
    """
    PieceReading(scheme).checked()  # type: ignore[arg-type]
    if scheme != "auto":
        return scheme
    found = recognized(lines)
    if found is None and letters:
        return "bpe"  # nothing is taken for a mark
    if found is None:
        raise DataError(name, None, f"{NO_MARKS} (say how they are marked: `scheme`)")
    return found


def cut_of(pieces: list[bytes], words: list[bytes] | None, scheme: str, name: object) -> Cut:
    """Return the words of pieces, by the letters of the words where they are given."""
    if words is None:
        return cut_by_marks(pieces, scheme)
    if len(words) != len(pieces):
        raise DataError(name, None, f"{len(pieces)} lines, but the words have {len(words)}")
    return cut_by_words(words, pieces, scheme)


def spelled(links: Links, cuts: Sequence[Cut], names: Sequence[object], mismatched: Mismatched) -> Links:
    """Return the links without those of pairs whose pieces do not spell their words, which ``mismatched`` counts."""
    wrong = np.zeros((2, len(links)), bool)
    for side, (cut, name) in enumerate(zip(cuts, names, strict=True)):
        wrong[side, cut.wrong] = True
        mismatched.add(side, name, wrong[side])
    either = wrong[0] | wrong[1]
    mismatched.end_block(either)
    return without_links(links, either) if either.any() else links


def tell(mismatched: Mismatched) -> None:
    """Refuse a text of too many such pairs, and log how many there are."""
    mismatched.end()
    if mismatched.count:
        _log.warning("pairs left without links: %s", mismatched.summary())


def mapped(links: Links, source: Units, target: Units, line: int = 1) -> Links:
    """Return links between other units; one past its sentence is an error."""
    check_range(links, source.lengths(), target.lengths(), path="alignments", line=line)
    return remapped(links, source, target)[0]


class PieceTexts:
    """Texts in pieces, read along with a file of links.

    source, target: In pieces.
    words: The same in words.
    """

    def __init__(self, source: str, target: str, *, words: tuple[str, str] | None = None, scheme: str = "auto") -> None:
        self._pieces, self._words = RawPairs(source, target), RawPairs(*words) if words else None
        self._scheme: str = scheme
        self._mismatched = Mismatched(False, False)

    def _cuts(self, links: Links) -> tuple[Links, list[Cut]]:
        pieces, names = self._pieces.spaced(self._pieces.read(len(links))), self._pieces.paths
        words = self._words.spaced(self._words.read(len(links))) if self._words else (None, None)
        lines = [line for side in pieces for line in side]
        self._scheme = scheme_of(lines, self._scheme, names[0], letters=self._words is not None)
        sides = zip(pieces, words, names, strict=True)
        cuts = [cut_of(own, whole, self._scheme, name) for own, whole, name in sides]
        return spelled(links, cuts, names, self._mismatched), cuts

    def to_words(self, links: Links, line: int) -> Links:
        """Return links between words for the next lines of links between pieces."""
        links, (source, target) = self._cuts(links)
        return mapped(links, source.words_of, target.words_of, line)

    def to_pieces(self, links: Links, line: int) -> Links:
        """Return links between pieces for the next lines of links between words."""
        links, (source, target) = self._cuts(links)
        return mapped(links, source.pieces_of, target.pieces_of, line)

    def check_end(self) -> None:
        """Raise an error if lines are left, or too many pieces are of other words."""
        tell(self._mismatched)
        self._pieces.check_end()
        if self._words:
            self._words.check_end()

    def close(self) -> None:
        """Close the files."""
        self._pieces.close()
        if self._words:
            self._words.close()
