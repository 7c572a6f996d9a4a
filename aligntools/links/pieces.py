"""Links between words from links between pieces of words, and the other way round."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from aligntools.formats.inputs.sentences import Sentence, Split
from aligntools.formats.links.pharaoh import Links, check_range
from aligntools.formats.text.bitext import sentences_given, words_given
from aligntools.formats.text.raw_pairs import RawPairs
from aligntools.formats.text.text_settings import PieceReading, Scheme
from aligntools.ground.errors import DataError
from aligntools.links.alignments import ManyAlignments, links_of
from aligntools.words import line_scan
from aligntools.words.pieces import NO_MARKS, Cut, Units, cut_by_marks, cut_by_words, recognized
from aligntools.words.white_space import as_spaces

_NAMES = ("source", "target")


class Mismatched:
    """Collects pairs whose pieces do not spell their words; too many are an error, as with malformed lines."""

    def __init__(self, strict: bool, service: bool) -> None:
        self._strict, self._service = strict, service
        self.count, self._lines = 0, 0
        self._first: tuple[object, int, str] | None = None

    def add(self, wrong: np.ndarray, names: Sequence[object]) -> np.ndarray:
        """Count the next pairs; ``wrong`` (bool [2, pairs]) marks the sides that do not spell their words. Return it by
        pair.
        """
        for side, name, own in zip(_NAMES, names, wrong, strict=True):
            if own.any() and (self._first is None or self._strict):
                self._first = name, self._lines + 1 + int(np.argmax(own)), side
                if self._strict:
                    raise self.error()
        either: np.ndarray = wrong[0] | wrong[1]
        self._lines += len(either)
        self.count += int(either.sum())
        if self.count == self._lines >= line_scan.HEAD and not self._service:
            raise self.error()
        return either

    def end(self) -> None:
        """Raise the error of a text that has too many."""
        many = self.count >= line_scan.FEW and self.count * line_scan.SHARE > self._lines
        if (many or self.count == self._lines > 0) and not self._service:
            raise self.error()

    def error(self) -> DataError:
        """Return the problem of the first of them."""
        assert self._first is not None
        path, line, side = self._first
        others = f"; so in {self.count} of {self._lines} lines" if self.count > 1 else ""
        advice = "the same sentences in the same order are needed; `scheme` says how pieces are marked"
        return DataError(path, line, f"the {side} pieces do not spell the words of the text{others} ({advice})")

    def summary(self) -> str:
        """Return a line on those that were left blank, or an empty one."""
        if not self.count or self._first is None:
            return ""
        return f"{self.count} with pieces that do not spell the words; first at line {self._first[1]}"


def without_links(links: Links, wrong: np.ndarray) -> Links:
    """Leave the links of some pairs out; ``wrong`` says of each pair whether it is one of them."""
    counts = np.where(wrong, 0, links.counts())
    return Links(links.pairs[~wrong[links.sentences()]], np.concatenate([[0], np.cumsum(counts)]))


_log = logging.getLogger("aligntools")


def scheme_of(
    lines: Sequence[bytes],
    scheme: str,
    name: object,
    *,
    letters: bool,
    advice: str = "say how they are marked: `scheme`",
) -> str:
    """Return the scheme of some text in pieces; one that exists and is not ``auto`` is returned as it is.

    With ``letters`` the words are known, and pieces need no marks. Otherwise a message ends with ``advice``.
    """
    PieceReading(scheme).checked()  # type: ignore[arg-type]
    found = recognized(lines) if scheme == "auto" else scheme
    if found is None and not letters:
        raise DataError(name, None, f"{NO_MARKS} ({advice})")
    return found or "bpe"  # nothing is taken for a mark


def _cut(
    links: Links,
    pieces: Sequence[list[bytes]],
    words: Sequence[list[bytes] | None],
    scheme: str,
    names: Sequence[object],
    mismatched: Mismatched,
) -> tuple[Links, list[Cut]]:
    """Return the words of both sides' pieces, by the letters of the words where they are given.

    Pairs whose pieces do not spell their words are counted, and their links left out.
    """
    cuts, wrong = [], np.zeros((2, len(links)), bool)
    for side, (own, whole, name) in enumerate(zip(pieces, words, names, strict=True)):
        if whole is not None and len(whole) != len(own):
            raise DataError(name, None, f"{len(own)} lines, but the words have {len(whole)}")
        cuts.append(cut_by_marks(own, scheme) if whole is None else cut_by_words(whole, own, scheme))
        wrong[side, cuts[-1].wrong] = True
    either = mismatched.add(wrong, names)
    return without_links(links, either) if either.any() else links, cuts


def _tell(mismatched: Mismatched) -> None:
    """Refuse a text of too many such pairs, and log how many there are."""
    mismatched.end()
    if mismatched.count:
        _log.warning("pairs left without links: %s", mismatched.summary())


def mapped(links: Links, source: Units, target: Units, line: int = 1) -> Links:
    """Return links between other units; one past its sentence is an error."""
    check_range(links, source.lengths(), target.lengths(), path="alignments", line=line)
    return remapped(links, source, target)[0]


class PieceTexts:
    """Texts in pieces, read along with a file of links."""

    def __init__(self, source: str, target: str, *, words: tuple[str, str] | None = None, scheme: str = "auto") -> None:
        self._pieces, self._words = RawPairs(source, target), RawPairs(*words) if words else None
        self._scheme: str = scheme
        self._mismatched = Mismatched(False, False)

    def _cuts(self, links: Links) -> tuple[Links, list[Cut]]:
        pieces, names = self._pieces.spaced(self._pieces.read(len(links))), self._pieces.paths
        words = self._words.spaced(self._words.read(len(links))) if self._words else (None, None)
        lines = [line for side in pieces for line in side]
        self._scheme = scheme_of(lines, self._scheme, names[0], letters=self._words is not None)
        return _cut(links, pieces, words, self._scheme, names, self._mismatched)

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
        _tell(self._mismatched)
        self._pieces.check_end()
        if self._words:
            self._words.check_end()

    def close(self) -> None:
        """Close the files."""
        self._pieces.close()
        if self._words:
            self._words.close()


def remapped(
    links: Links, source: Units | None, target: Units | None, probabilities: np.ndarray | None = None
) -> tuple[Links, np.ndarray | None]:
    """Link two units where a link joins units that they are made of, or are part of.

    source, target: What each unit of a side becomes; None leaves the side as it is.
    Returns links sorted, none twice; of several ``probabilities`` [links] of a link the highest.
    """
    sentence = links.sentences()
    begins, counts = [], []
    for side, units in enumerate((source, target)):
        index = links.pairs[:, side].astype(np.int64)
        if units is None:
            begins.append(index)
            counts.append(np.ones(len(index), np.int64))
        else:
            row = index + units.offsets[sentence]
            begins.append(units.begins[row])
            counts.append(units.ends[row] - units.begins[row])
    size = counts[0] * counts[1]
    link = np.repeat(np.arange(len(size)), size)
    place = np.arange(len(link)) - np.repeat(np.cumsum(size) - size, size)
    pairs = np.empty((len(link), 2), np.int32)
    pairs[:, 0] = begins[0][link] + place // counts[1][link]
    pairs[:, 1] = begins[1][link] + place % counts[1][link]
    sentence = sentence[link]
    keys = (pairs[:, 1], pairs[:, 0], sentence)
    order = np.lexsort(keys if probabilities is None else (-probabilities[link], *keys))
    pairs, sentence = pairs[order], sentence[order]
    new = np.ones(len(pairs), bool)
    new[1:] = (pairs[1:] != pairs[:-1]).any(axis=1) | (sentence[1:] != sentence[:-1])
    offsets = np.searchsorted(sentence[new], np.arange(len(links) + 1))
    kept = None if probabilities is None else probabilities[link][order][new]
    return Links(np.ascontiguousarray(pairs[new]), offsets), kept


def links_to_words(
    alignments: "ManyAlignments",
    source_pieces: Iterable[Sentence],
    target_pieces: Iterable[Sentence],
    *,
    scheme: Scheme = "auto",
    split: Split | None = None,
) -> list[list[tuple[int, int]]]:
    """Turn links between pieces into links between words: two words are linked if any of their pieces are.

    Parameters
    ----------
    alignments : iterable of alignments
        One for each sentence pair, of links between pieces; see `symmetrize`.
    source_pieces, target_pieces : iterables of str or of lists of str
        The same sentences in pieces.
    scheme : str
        How pieces are marked: ``sentencepiece`` (``▁`` begins a word), ``bpe`` (``@@`` ends what goes on),
        ``wordpiece`` (``##`` begins what goes on), ``icu`` (a ``▁`` by itself is the space), ``opennmt`` (``￭`` joins),
        ``byte-level`` (``Ġ`` begins a word, GPT-2's bytes), ``end-of-word`` (``</w>`` ends a word) or ``underscore``
        (``_`` within a piece joins words). ``auto`` takes what most marks are of, but never ``underscore``.
    split : str
        What separates words and pieces in a str, as for `read_bitext`.

    Returns
    -------
    list of lists of (int, int)

    Raises
    ------
    DataError
        When there is not one alignment for each pair, a link points past its sentence, or nothing is marked.

    Examples
    --------
    >>> import aligntools as at
    >>> at.links_to_words(["0-0 1-1 2-2"], ["▁Fahr rad ▁neu"], ["▁bi cycle ▁new"])
    [[(0, 0), (1, 1)]]
    """
    found, cuts = _given(alignments, source_pieces, target_pieces, None, None, scheme, split)
    return mapped(found, cuts[0].words_of, cuts[1].words_of).tolists()


def links_to_pieces(
    alignments: "ManyAlignments",
    source_pieces: Iterable[Sentence],
    target_pieces: Iterable[Sentence],
    *,
    source_words: Iterable[Sentence] | None = None,
    target_words: Iterable[Sentence] | None = None,
    scheme: Scheme = "auto",
    split: Split | None = None,
) -> list[list[tuple[int, int]]]:
    """Turn links between words into links between pieces: all pieces of two linked words are linked.

    Parameters
    ----------
    alignments : iterable of alignments
        One for each sentence pair, of links between words; see `symmetrize`.
    source_pieces, target_pieces : iterables of str or of lists of str
        The same sentences in pieces.
    source_words, target_words : iterables of str or of lists of str, or None
        The same sentences in words. Then letters say which pieces a word has, else the pieces' marks.
    scheme, split : str
        As for `links_to_words`.

    Returns
    -------
    list of lists of (int, int)

    Raises
    ------
    DataError
        When there is not one alignment for each pair, a link points past its sentence, or the pieces of more than
        one pair in 100 (at least 5, or all) do not spell the words. Fewer have no links, and are logged.

    Examples
    --------
    >>> import aligntools as at
    >>> at.links_to_pieces(["0-0 1-1"], ["Fahr@@ rad neu"], ["bi@@ cycle new"])
    [[(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)]]
    """
    found, cuts = _given(alignments, source_pieces, target_pieces, source_words, target_words, scheme, split)
    return mapped(found, cuts[0].pieces_of, cuts[1].pieces_of).tolists()


def _lines(sentences: Iterable[Sentence], split: Split | None) -> list[bytes]:
    plain = as_spaces if split == "unicode" else bytes
    return [
        plain(s.removesuffix("\n").encode("utf-8", "surrogateescape"))
        if isinstance(s, str)
        else " ".join(words_given(s, "<pieces>", n)).encode("utf-8", "surrogateescape")
        for n, s in enumerate(sentences_given(sentences, "<pieces>"), 1)
    ]


def _given(
    alignments: Any,
    source_pieces: Any,
    target_pieces: Any,
    source_words: Any,
    target_words: Any,
    scheme: Scheme,
    split: Split | None,
) -> tuple[Links, list[Cut]]:
    links = links_of(alignments)
    pieces = [_lines(source_pieces, split), _lines(target_pieces, split)]
    words = [None if side is None else _lines(side, split) for side in (source_words, target_words)]
    for name, lines in zip(("source", "target"), pieces, strict=True):
        if len(lines) != len(links):
            raise DataError(f"{name} pieces", None, f"{len(lines)} sentences, but there are {len(links)} alignments")
    letters = None not in words
    known = scheme_of([*pieces[0], *pieces[1]], scheme, "pieces", letters=letters) if pieces[0] else "bpe"
    mismatched = Mismatched(False, False)
    found = _cut(links, pieces, words, known, ("source pieces", "target pieces"), mismatched)
    _tell(mismatched)
    return found
