"""Translation tables by relative frequency of links (Koehn, Och & Marcu 2003, 4.4), and shortlists."""

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.formats.inputs.sentences import Sentences, Split
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.declarations import Keywords, taking
from aligntools.links.alignments import ManyAlignments, as_written, links_of_text
from aligntools.links.settings import ShortlistSettings, TableWriting
from aligntools.words.vocabulary import AnyVocabulary
from aligntools.words.white_space import tell_unwritten, whole_words

NULL = "NULL"
_CHUNK = 1 << 22  # links counted at a time
_LINES = 1 << 16  # lines written at a time


@dataclass(frozen=True, eq=False)
class Shortlist:
    """The most probable target words of each source word, without NULL.

    Sorted by source word, then probability, highest first, then target word; words by their UTF-8 bytes.

    sources, targets (int64 [entries]): Word ids.
    probabilities (float64 [entries]): ``p(target | source)``; what a word lends to NULL stays in the denominator.
    source_words, target_words: By id.
    """

    sources: np.ndarray
    targets: np.ndarray
    probabilities: np.ndarray
    source_words: list[str]
    target_words: list[str]

    def __len__(self) -> int:
        return len(self.sources)

    def __iter__(self) -> Iterator[tuple[str, str, float]]:
        """Yield source word, target word and probability."""
        rows = zip(self.sources.tolist(), self.targets.tolist(), self.probabilities.tolist(), strict=True)
        return ((self.source_words[i], self.target_words[j], p) for i, j, p in rows)

    def lines(self) -> Iterator[bytes]:
        """Yield pieces of whole lines ``target source p(target | source)``, as Marian and Bergamot read them."""
        return _lines(
            self.target_words, self.targets, self.source_words, self.sources, self.probabilities, "%s %s %.8f\n"
        )

    def save(self, path: str) -> None:
        """Write the lines to a file, of any compression (``-``: standard output)."""
        _write(path, self.lines())


@dataclass(frozen=True, eq=False)
class TranslationTables:
    """How often which words are linked, and the translation probabilities that follow from it.

    Word 0 is NULL, the partner of a word without links.

    source, target (int64 [entries]): Word ids, in the order of ``(source, target)``.
    counts (int64 [entries]): Links between the two words.
    source_words, target_words: By id.
    """

    source: np.ndarray
    target: np.ndarray
    counts: np.ndarray
    source_words: list[str]
    target_words: list[str]

    def given_source(self, single: bool = False) -> np.ndarray:
        """Return ``p(target | source)`` of each entry, NULL included [shape=(entries,), dtype=float64].

        ``single`` divides in single precision, as extract_lex does, where counts end at 2 ** 24.
        """
        return _shares(self.counts, self.source, len(self.source_words), single)

    def given_target(self, single: bool = False) -> np.ndarray:
        """Return ``p(source | target)`` of each entry; see `given_source`."""
        return _shares(self.counts, self.target, len(self.target_words), single)

    @property
    def links(self) -> int:
        """Links between two words, none of them NULL."""
        return int(self.counts[(self.source > 0) & (self.target > 0)].sum())

    def lines(self, given: str, single: bool = False, how: TableWriting | None = None) -> Iterator[bytes]:
        """Yield a Moses table, sorted by the first and then the second word's bytes, in pieces of whole lines.

        ``given="source"`` gives ``lex.f2e``, lines ``target source p(target | source)``; ``given="target"`` gives
        ``lex.e2f``, lines ``source target p(source | target)``.

        ``how`` says which entries are left out; the others' probabilities stay as they are.
        """
        how = how or TableWriting()
        sides = [(self.target_words, self.target), (self.source_words, self.source)]
        probability = self.given_target(single) if given == "target" else self.given_source(single)
        if given == "target":
            sides.reverse()
        (first_words, first), (second_words, second) = sides
        kept = np.full(len(first), True) if how.null else (first > 0) & (second > 0)
        if how.min_share:
            best = np.zeros(len(second_words))
            np.maximum.at(best, second[kept], probability[kept])
            kept &= probability >= how.min_share * best[second]
        first, second, probability = first[kept], second[kept], probability[kept]
        order = np.lexsort((_ranks(second_words)[second], _ranks(first_words)[first]))
        return _lines(first_words, first[order], second_words, second[order], probability[order], "%s %s %.7f\n")

    @taking(TableWriting)
    def save(self, prefix: str, how: TableWriting | None = None, **options: Any) -> None:
        """Write ``prefix.f2e`` and ``prefix.e2f``, as Moses has them; f is the source, e the target; see `lines`.

        Parameters
        ----------
        prefix : str
        how : TableWriting or None
            The options below, whole.
        **options
        """
        given = Keywords("save", options)
        how = given.take(TableWriting, how)
        given.end()
        self.write(f"{prefix}.f2e", "source", how=how)
        self.write(f"{prefix}.e2f", "target", how=how)

    def write(self, path: str, given: str, single: bool = False, how: TableWriting | None = None) -> None:
        """Write one of the tables; see `lines`."""
        _write(path, self.lines(given, single, how))

    def shortlist(self, top: int = ShortlistSettings.top) -> Shortlist:
        """Return the ``top`` most probable target words of each source word."""
        ShortlistSettings(top).checked()
        keep = (self.source > 0) & (self.target > 0)
        source, target = self.source[keep], self.target[keep]
        counts, probability = self.counts[keep], self.given_source()[keep]
        order = np.lexsort((_ranks(self.target_words)[target], -counts, _ranks(self.source_words)[source]))
        source = source[order]
        new = np.flatnonzero(np.diff(source, prepend=-1))
        place = np.arange(len(source)) - np.repeat(new, np.diff(np.append(new, len(source))))
        order, source = order[place < top], source[place < top]
        return Shortlist(source, target[order], probability[order], self.source_words, self.target_words)

    def __len__(self) -> int:
        return len(self.counts)

    def __str__(self) -> str:
        n_source, n_target = len(self.source_words) - 1, len(self.target_words) - 1
        return f"{len(self)} pairs of words, {n_source} source and {n_target} target words"


def _shares(counts: np.ndarray, words: np.ndarray, size: int, single: bool) -> np.ndarray:
    totals = np.bincount(words, counts, size)[words]
    if single:
        most = 2.0**24  # to which one more is no more, in single precision
        counts, totals = (np.minimum(n, most).astype(np.float32) for n in (counts, totals))
    shares: np.ndarray = counts / totals
    return shares.astype(float)


def out_of_range(bitext: Bitext, links: Links) -> np.ndarray:
    """Return which links point past their sentences [shape=(links,), dtype=bool]."""
    sentence = links.sentences()
    limits = np.stack([bitext.source.lengths()[sentence], bitext.target.lengths()[sentence]], axis=1)
    beyond: np.ndarray = np.any(links.pairs >= limits, axis=1)
    return beyond


def count_links(bitext: Bitext, links: Links) -> TranslationTables:
    """Count linked words; a word without links counts as linked to NULL.

    What a text itself calls ``NULL`` is counted with NULL, as Moses does.
    ``links`` are of as many sentences, all within them (see `out_of_range`).
    """
    if len(links) != len(bitext):
        raise ValueError(f"links of {len(links)} sentences for {len(bitext)} sentence pairs")
    source_words, source = _words(bitext.source_vocabulary, bitext.source)
    target_words, target = _words(bitext.target_vocabulary, bitext.target)
    size = len(target_words)
    source_linked, target_linked = np.zeros(len(source), bool), np.zeros(len(target), bool)
    sentence = links.sentences()
    parts = []
    for begin in range(0, len(links.pairs), _CHUNK):
        rows, of = links.pairs[begin : begin + _CHUNK], sentence[begin : begin + _CHUNK]
        i, j = bitext.source.offsets[of] + rows[:, 0], bitext.target.offsets[of] + rows[:, 1]
        source_linked[i] = target_linked[j] = True
        parts.append(np.unique(source[i].astype(np.int64) * size + target[j], return_counts=True))
    alone = np.bincount(source[~source_linked], minlength=len(source_words))
    parts.append((np.flatnonzero(alone) * size, alone[alone > 0]))
    alone = np.bincount(target[~target_linked], minlength=size)
    parts.append((np.flatnonzero(alone), alone[alone > 0]))
    keys, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    counts = np.zeros(len(keys), np.int64)
    np.add.at(counts, place.ravel(), np.concatenate([part[1] for part in parts]))
    return TranslationTables(keys // size, keys % size, counts, source_words, target_words)


def _words(vocabulary: AnyVocabulary, side: Side) -> tuple[list[str], np.ndarray]:
    """Return the words by id, and the tokens with a word that is spelled NULL taken as NULL."""
    words = vocabulary.words()
    tokens = side.tokens
    if NULL in words[1:]:
        tokens = np.where(tokens == words.index(NULL, 1), 0, tokens)
    return [NULL, *words[1:]], tokens


def _ranks(words: list[str]) -> np.ndarray:
    """Return each word's place in the order of their UTF-8 bytes."""
    ranks = np.empty(len(words), np.int64)
    ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return ranks


def _lines(
    first_words: list[str],
    first: np.ndarray,
    second_words: list[str],
    second: np.ndarray,
    probability: np.ndarray,
    form: str,
) -> Iterator[bytes]:
    whole = whole_words(first_words)[first] & whole_words(second_words)[second]
    if not whole.all():
        tell_unwritten(int(np.count_nonzero(~whole)))
        first, second, probability = first[whole], second[whole], probability[whole]
    for begin in range(0, len(first), _LINES):
        part = slice(begin, begin + _LINES)
        rows = zip(first[part].tolist(), second[part].tolist(), probability[part].tolist(), strict=True)
        yield "".join([form % (first_words[a], second_words[b], p) for a, b, p in rows]).encode()


def _write(path: str, pieces: Iterable[bytes]) -> None:
    with files.writing(path) as out:
        out.writelines(pieces)


_log = logging.getLogger("aligntools")


def extract_lexicon(
    sources: "Sentences | Bitext",
    targets: Sentences | None,
    alignments: "ManyAlignments | str | os.PathLike[str]",
    *,
    index_base: int = 0,
    skip_bad_links: bool = False,
    split: Split = "spaces",
) -> "TranslationTables":
    """Estimate word translation probabilities by relative frequency of links, as Moses does.

    With c(e,f) the links between two words, NULL standing in for the partner of a word without links:
    ``p(e | f) = c(e,f) / c(f)`` and ``p(f | e) = c(e,f) / c(e)``. Words are taken as they stand, upper and lower case;
    pairs with a blank side do not count.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        Sentences as lines or lists of words. ``sources`` alone, with ``targets`` None: a `Bitext` (`read_bitext`), or a
        file with ``' ||| '`` between the sides.
    alignments : iterable of alignments, or a Pharaoh file (str or path)
        One for each sentence pair; see `symmetrize`.
    index_base : int
        Number of the first word in Pharaoh text, 0 or 1.
    skip_bad_links : bool
        Leave out links past a sentence's end instead of raising an error; how many is logged.
    split : str
        What separates words in lines, as for `read_bitext`.

    Returns
    -------
    TranslationTables
        ``given_source()`` and ``given_target()`` are the probabilities, ``shortlist(top)`` the best translations of
        each word, ``save(prefix)`` writes Moses' tables.

    Raises
    ------
    DataError
        When there is not one alignment for each pair, or a link points past its sentence.

    Notes
    -----
    Koehn, Och & Marcu (2003), "Statistical phrase-based translation", section 4.4.

    Examples
    --------
    >>> import aligntools as at
    >>> tables = at.extract_lexicon(["das Haus", "das Buch"], ["the house", "a book"], ["0-0 1-1", "0-0 1-1"])
    >>> list(tables.shortlist(top=1))
    [('Buch', 'book', 1.0), ('Haus', 'house', 1.0), ('das', 'a', 0.5)]
    >>> print(tables)
    4 pairs of words, 3 source and 4 target words
    """
    bitext = sources if isinstance(sources, Bitext) else as_written(sources, targets, split)
    links, name = links_of_text(alignments, bitext, "alignments", index_base, not skip_bad_links)
    if skip_bad_links:
        good = np.flatnonzero(~out_of_range(bitext, links))
        dropped = len(links.pairs) - len(good)
        links = Links(links.pairs[good], np.searchsorted(good, links.offsets))
        if dropped:
            _log.warning("%s: %d links past the end of a sentence left out", name, dropped)
    if bitext.skipped.total:
        _log.info("pairs without words: %s", bitext.skipped.summary())
    return count_links(bitext, links)
