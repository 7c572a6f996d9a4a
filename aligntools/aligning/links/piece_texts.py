"""Texts in pieces, read along with links: which words the pieces are of."""

from collections.abc import Sequence

from aligntools.aligning.links.units import remapped
from aligntools.aligning.settings import SCHEMES
from aligntools.formats.pharaoh import Links, check_range
from aligntools.formats.pieces import Cut, Units, cut_by_marks, cut_by_words, recognized
from aligntools.formats.raw_pairs import RawPairs
from aligntools.ground.errors import DataError, UsageProblem


def scheme_of(lines: Sequence[bytes], scheme: str, name: object) -> str:
    """Return the scheme of some text in pieces; one that exists and is not ``auto`` is returned as it is."""
    if scheme not in SCHEMES:
        raise UsageProblem(f"no scheme '{scheme}' of pieces; there are {', '.join(SCHEMES)}")
    if scheme != "auto":
        return scheme
    found = recognized(lines)
    if found is None:
        raise DataError(name, None, "no marks of pieces (neither ▁ nor @@ nor ##); say how they are marked: --scheme")
    return found


def cut_of(pieces: list[bytes], words: list[bytes] | None, scheme: str, name: object, line: int) -> Cut:
    """Return the words of pieces, by the letters of the words where they are given.

    Raises
    ------
    DataError
        For the first line whose pieces do not spell its words.
    """
    if words is None:
        return cut_by_marks(pieces, scheme)
    if len(words) != len(pieces):
        raise DataError(name, None, f"{len(pieces)} lines, but the words have {len(words)}")
    cut = cut_by_words(words, pieces, scheme)
    if len(cut.wrong):
        problem = "these pieces do not spell the words (the same sentences in the same order are wanted)"
        raise DataError(name, line + int(cut.wrong[0]), problem)
    return cut


def mapped(links: Links, source: Units, target: Units, line: int = 1) -> Links:
    """Return links between other units; one past its sentence is an error."""
    check_range(links, source.lengths(), target.lengths(), path="alignments", line=line)
    return remapped(links, source, target)[0]


class PieceTexts:
    """Texts in pieces, read along with a file of links.

    Parameters
    ----------
    source, target : str
        In pieces.
    words : (str, str) or None
        The same in words.
    scheme : str
    """

    def __init__(self, source: str, target: str, *, words: tuple[str, str] | None = None, scheme: str = "auto"):
        self._pieces, self._words = RawPairs(source, target), RawPairs(*words) if words else None
        self._scheme: str = scheme

    def _cuts(self, links: Links, line: int) -> list[Cut]:
        pieces, names = self._pieces.read(len(links)), self._pieces.paths
        words = self._words.read(len(links)) if self._words else (None, None)
        self._scheme = scheme_of([line for side in pieces for line in side], self._scheme, names[0])
        sides = zip(pieces, words, names, strict=True)
        return [cut_of(own, whole, self._scheme, name, line) for own, whole, name in sides]

    def to_words(self, links: Links, line: int) -> Links:
        """Return links between words for the next lines of links between pieces."""
        source, target = self._cuts(links, line)
        return mapped(links, source.words_of, target.words_of, line)

    def to_pieces(self, links: Links, line: int) -> Links:
        """Return links between pieces for the next lines of links between words."""
        source, target = self._cuts(links, line)
        return mapped(links, source.pieces_of, target.pieces_of, line)

    def check_end(self) -> None:
        """Raise an error if lines are left."""
        self._pieces.check_end()
        if self._words:
            self._words.check_end()

    def close(self) -> None:
        """Close the files."""
        self._pieces.close()
        if self._words:
            self._words.close()
