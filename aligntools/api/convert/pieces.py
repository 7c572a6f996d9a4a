"""Links between words from links between pieces of words, and the other way round."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aligntools.api.convert.links import links_of
from aligntools.api.given.texts import Sentence, Split
from aligntools.formats.text.memory_text import sentences_given, words_given
from aligntools.formats.text.reading import Scheme
from aligntools.ground.errors import DataError
from aligntools.words.white_space import as_spaces

if TYPE_CHECKING:
    from aligntools.api.convert.links import ManyAlignments
    from aligntools.formats.links.pharaoh import Links
    from aligntools.words.pieces import Cut


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
    from aligntools.aligning.links.piece_texts import mapped

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
    from aligntools.aligning.links.piece_texts import mapped

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
) -> "tuple[Links, list[Cut]]":
    from aligntools.aligning.links.mismatches import Mismatched
    from aligntools.aligning.links.piece_texts import cut_of, scheme_of, spelled, tell

    links = links_of(alignments)
    pieces = [_lines(source_pieces, split), _lines(target_pieces, split)]
    words = [None if side is None else _lines(side, split) for side in (source_words, target_words)]
    for name, lines in zip(("source", "target"), pieces, strict=True):
        if len(lines) != len(links):
            raise DataError(f"{name} pieces", None, f"{len(lines)} sentences, but there are {len(links)} alignments")
    letters = None not in words
    known = scheme_of([*pieces[0], *pieces[1]], scheme, "pieces", letters=letters) if pieces[0] else "bpe"
    names = ("source pieces", "target pieces")
    cuts = [cut_of(own, whole, known, name) for own, whole, name in zip(pieces, words, names, strict=True)]
    mismatched = Mismatched(False, False)
    links = spelled(links, cuts, names, mismatched)
    tell(mismatched)
    return links, cuts
