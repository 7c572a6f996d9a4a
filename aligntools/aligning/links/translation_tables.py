"""Translation tables by relative frequency of links (Koehn, Och & Marcu 2003, 4.4), and shortlists."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from aligntools.formats.bitext import Bitext
from aligntools.formats.pharaoh import Links

NULL = "NULL"
_CHUNK = 1 << 22  # links counted at a time
_LINES = 1 << 16  # lines written at a time


@dataclass(eq=False)
class Lexicon:
    """How often which words are linked. Word 0 is NULL, the partner of a word without links.

    Attributes
    ----------
    source, target : np.ndarray [shape=(entries,), dtype=int64]
        Word ids, in the order of ``(source, target)``.
    counts : np.ndarray [shape=(entries,), dtype=int64]
        Links between the two words.
    source_words, target_words : list of str
        By id.
    """

    source: np.ndarray
    target: np.ndarray
    counts: np.ndarray
    source_words: list[str]
    target_words: list[str]

    def given_source(self) -> np.ndarray:
        """Return ``p(target | source)`` of each entry, NULL included."""
        totals = np.bincount(self.source, self.counts, len(self.source_words))
        return self.counts / totals[self.source]

    def given_target(self) -> np.ndarray:
        """Return ``p(source | target)`` of each entry, NULL included."""
        totals = np.bincount(self.target, self.counts, len(self.target_words))
        return self.counts / totals[self.target]


def out_of_range(bitext: Bitext, links: Links) -> np.ndarray:
    """Return which links point past their sentences [shape=(links,), dtype=bool]."""
    sentence = links.sentences()
    limits = np.stack([bitext.source.lengths()[sentence], bitext.target.lengths()[sentence]], axis=1)
    return (links.pairs >= limits).any(axis=1)


def count_links(bitext: Bitext, links: Links) -> Lexicon:
    """Count linked words; a word without links counts as linked to NULL.

    What a text itself calls ``NULL`` is counted with NULL, as Moses does.

    Parameters
    ----------
    bitext : Bitext
    links : Links
        Of as many sentences, all within them (see `out_of_range`).

    Raises
    ------
    ValueError
        When there are not equally many sentences.
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
    return Lexicon(keys // size, keys % size, counts, source_words, target_words)


def _words(vocabulary, side):
    """Return the words by id, and the tokens with a word that is spelled NULL taken as NULL."""
    words = vocabulary.words()
    tokens = side.tokens
    if NULL in words[1:]:
        tokens = np.where(tokens == words.index(NULL, 1), 0, tokens)
    return [NULL, *words[1:]], tokens


def _ranks(words):
    """Return each word's place in the order of their UTF-8 bytes."""
    ranks = np.empty(len(words), np.int64)
    ranks[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return ranks


def table(lexicon: Lexicon, given: str) -> Iterator[bytes]:
    """Yield a Moses table, sorted by the first and then the second word's bytes, in pieces of whole lines.

    ``given="source"`` gives ``lex.f2e``, lines ``target source p(target | source)``; ``given="target"`` gives
    ``lex.e2f``, lines ``source target p(source | target)``.
    """
    sides = [(lexicon.target_words, lexicon.target), (lexicon.source_words, lexicon.source)]
    probability = lexicon.given_source()
    if given == "target":
        sides.reverse()
        probability = lexicon.given_target()
    (first_words, first), (second_words, second) = sides
    order = np.lexsort((_ranks(second_words)[second], _ranks(first_words)[first]))
    return _lines(first_words, first[order], second_words, second[order], probability[order], "%s %s %.7f\n")


def shortlist(lexicon: Lexicon, top: int) -> Iterator[bytes]:
    """Yield the ``top`` most probable target words of each source word, without NULL.

    Pieces of whole lines ``target source p(target | source)``, sorted by source word, then probability,
    highest first, then target word. What a word lends to NULL stays in the denominator, as in ``lex.s2t``.
    """
    keep = (lexicon.source > 0) & (lexicon.target > 0)
    source, target = lexicon.source[keep], lexicon.target[keep]
    counts, probability = lexicon.counts[keep], lexicon.given_source()[keep]
    order = np.lexsort((_ranks(lexicon.target_words)[target], -counts, _ranks(lexicon.source_words)[source]))
    source = source[order]
    new = np.flatnonzero(np.diff(source, prepend=-1))
    place = np.arange(len(source)) - np.repeat(new, np.diff(np.append(new, len(source))))
    order, source = order[place < top], source[place < top]
    return _lines(
        lexicon.target_words,
        target[order],
        lexicon.source_words,
        source,
        probability[order],
        "%s %s %.8f\n",
    )


def _lines(first_words, first, second_words, second, probability, form):
    for begin in range(0, len(first), _LINES):
        part = slice(begin, begin + _LINES)
        rows = zip(first[part].tolist(), second[part].tolist(), probability[part].tolist(), strict=True)
        yield "".join([form % (first_words[a], second_words[b], p) for a, b, p in rows]).encode()
