"""Where a text translates the terms of a glossary otherwise than the glossary says."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from aligntools.aligning.terms.occurrences import BLOCK, codes_of, mixed
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext, Side, in_lower_case
from aligntools.words.vocabulary import split_words

#: Letters that the endings of two forms of a word may have, and letters that they share at least.
_ENDING, _SHARED = 3, 4
#: Words of a term of a glossary, at most.
_LONGEST = 10


class Inconsistency(NamedTuple):
    """A place where a known term is translated otherwise."""

    #: the sentence pair, from 0
    pair: int
    #: the term, in lower case
    source: str
    #: its translations in the glossary
    expected: tuple[str, ...]
    #: the words that it is linked to; empty if it is linked to none
    found: str


def forms_of_one(word: str, other: str) -> bool:
    """Tell whether two words may be forms of one: they differ in endings of up to three letters."""
    shared = next((k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return shared >= _SHARED and max(len(word), len(other)) - shared <= _ENDING


def inconsistencies(cased: Bitext, links: Links, known: Iterable[tuple[str, str]]) -> Iterator[Inconsistency]:
    """Yield the places, in order, where a source term stands and none of its translations does, in any form.

    A term within a longer one that is known, too, is not looked at. Upper and lower case are the same.

    Parameters
    ----------
    cased : Bitext
    links : Links
    known : iterable of (str, str)
        Terms with their words between spaces.
    """
    text = in_lower_case(cased)
    entries: dict[tuple[str, ...], list[str]] = {}
    for source, target in known:
        entries.setdefault(tuple(split_words(source.lower())), []).append(target)
    terms = [term for term in entries if 0 < len(term) <= _LONGEST]
    ids = dict(zip(terms, _ids(terms, text.source_vocabulary), strict=True))
    there = [term for term in terms if min(ids[term]) >= 0]
    codes = np.array([_code(ids[term]) for term in there], np.uint64)
    order = np.argsort(codes)
    longest = max(map(len, there), default=0)
    for place, pair, which in _met(text.source, codes[order], longest):
        term = there[order[which]]
        expected = entries[term]
        begin, end = text.target.offsets[pair], text.target.offsets[pair + 1]
        words = [text.target_vocabulary.word(int(k)) for k in text.target.tokens[begin:end]]
        if any(_stands(split_words(target.lower()), words) for target in expected):
            continue
        first = place - int(text.source.offsets[pair])
        some = links.pairs[links.offsets[pair] : links.offsets[pair + 1]]
        mates = some[(some[:, 0] >= first) & (some[:, 0] < first + len(term)), 1]
        linked = sorted(set(mates.tolist()))
        shown = " ".join(cased.target_vocabulary.word(int(cased.target.tokens[begin + j])) for j in linked)
        yield Inconsistency(pair, " ".join(term), tuple(dict.fromkeys(expected)), shown)


def _ids(terms: Sequence[Sequence[str]], vocabulary: Any) -> list[list[int]]:
    flat = [word.encode("utf-8", "surrogateescape") for term in terms for word in term]
    found = iter(vocabulary.ids(flat).tolist() if flat else [])
    return [[next(found) for _ in term] for term in terms]


def _code(ids: Sequence[int]) -> int:
    code = np.zeros(1, np.uint64)
    for id in ids:
        code = mixed(code, np.array([id]))
    return int(code[0])


def _met(side: Side, codes: np.ndarray, longest: int) -> Iterator[tuple[int, int, int]]:
    """Yield where stretches stand that are within no longer one: first word, sentence, and which it is."""
    if not len(codes):
        return
    for begin in range(0, len(side), BLOCK):
        offsets = side.offsets[begin : begin + BLOCK + 1]
        sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        tokens = side.tokens[offsets[0] : offsets[-1]]
        covered = np.zeros(len(tokens) + 1, np.int64)  # the furthest end of a longer term that begins here or before
        found: list[tuple[int, int, int]] = []
        for length, here in reversed(list(enumerate(codes_of(tokens, longest), 1))):
            places = np.minimum(np.searchsorted(codes, here), len(codes) - 1)
            at = np.flatnonzero((codes[places] == here) & (sentence[: len(here)] == sentence[length - 1 :]))
            inside = np.maximum.accumulate(covered)[at] >= at + length
            at = at[~inside]
            found += [(int(a + offsets[0]), int(sentence[a] + begin), int(places[a])) for a in at]
            np.maximum.at(covered, at, at + length)
        yield from sorted(found)


def _stands(term: Sequence[str], words: Sequence[str]) -> bool:
    """Tell whether a term stands among words, in any form of its words."""
    size = len(term)
    return any(
        all(a == b or forms_of_one(a, b) for a, b in zip(term, words[k : k + size], strict=True))
        for k in range(len(words) - size + 1)
    )
