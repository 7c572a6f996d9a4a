"""Where a text translates the terms of a glossary otherwise than the glossary says."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.tools.terms.occurrences import BLOCK, codes_of, mixed
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
    """Return whether two words may be forms of one: they differ in endings of up to three letters, and in case."""
    shared, _, longest = _endings(word, other)
    return shared >= _SHARED and longest <= _ENDING


def is_form(word: str, other: str) -> bool:
    """Return whether two words are likely forms of one: the less they share, the shorter their endings must be."""
    shared, shortest, longest = _endings(word, other)
    return shared >= _SHARED and longest <= min(_ENDING, (shared - 2) // 3 + 1 + (shortest == 0))


def _endings(word: str, other: str) -> tuple[int, int, int]:
    """Return how many letters two words share, and how many more the shorter and the longer one has."""
    one, two = (word.upper(), other.upper()) if word.isupper() or other.isupper() else (word.lower(), other.lower())
    shared = next((k for k, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return shared, min(len(one), len(two)) - shared, max(len(one), len(two)) - shared


class InAnyCase(dict[tuple[str, str], int]):
    """Numbers of words, one for lower cases that are the same, or upper ones if one is so: STRASSE is Straße."""

    def add(self, word: str) -> int:
        """Return the number of a word, a new one where there is none."""
        number = self.number(word)
        if number is None:
            number = len(self)
            for kind in ("lower", "any", *(["upper"] if word.isupper() else [])):
                self.setdefault((kind, word.lower() if kind == "lower" else word.upper()), number)
        return number

    def number(self, word: str) -> int | None:
        """Return the number of a word; None where it has none."""
        asked = [("lower", word.lower()), ("upper", word.upper()), *([("any", word)] if word.isupper() else [])]
        return next((self[key] for key in asked if key in self), None)


def inconsistencies(text: Bitext, links: Links, known: Iterable[tuple[str, str]]) -> Iterator[Inconsistency]:
    """Yield where a source term, in no longer one, stands in any form and case, and none of its translations does."""
    numbers = InAnyCase()
    words: dict[int, str] = {}
    entries: dict[tuple[int, ...], tuple[str, list[str]]] = {}
    for source, target in known:
        parts = split_words(source)
        if 0 < len(parts) <= _LONGEST:
            ids = tuple(map(numbers.add, parts))
            words |= dict(zip(ids, parts, strict=True))
            entries.setdefault(ids, (" ".join(parts).lower(), []))[1].append(target)
    vocabulary = text.source_vocabulary.words()
    mapping = np.array([-1, *_found(vocabulary[1:], numbers, words)], np.int64)
    terms = list(entries)
    codes = np.array([_code(term) for term in terms], np.uint64)
    order = np.argsort(codes)
    longest = max(map(len, terms), default=0)
    for place, pair, which in _met(replace(text.source, tokens=mapping[text.source.tokens]), codes[order], longest):
        term, expected = entries[terms[order[which]]]
        begin, end = text.target.offsets[pair], text.target.offsets[pair + 1]
        translation = [text.target_vocabulary.word(int(k)) for k in text.target.tokens[begin:end]]
        if any(_stands(split_words(target), translation) for target in expected):
            continue
        first = place - int(text.source.offsets[pair])
        some = links.pairs[links.offsets[pair] : links.offsets[pair + 1]]
        mates = some[(some[:, 0] >= first) & (some[:, 0] < first + len(terms[order[which]])), 1]
        shown = " ".join(translation[j] for j in sorted(set(mates.tolist())))
        yield Inconsistency(pair, term, tuple(dict.fromkeys(expected)), shown)


def _found(vocabulary: Sequence[str], numbers: InAnyCase, words: dict[int, str]) -> Iterator[int]:
    """Yield the number of the word of a term that each word of a text is, or a form of; -1 where it is none."""
    alike: dict[str, list[int]] = {}
    for number, word in words.items():
        alike.setdefault(word.upper()[:_SHARED], []).append(number)
    for word in vocabulary:
        known = numbers.number(word)
        likely = [] if known is not None else alike.get(word.upper()[:_SHARED], [])
        forms = [(_endings(word, words[k])[0], -len(words[k]), k) for k in likely if is_form(word, words[k])]
        yield max(forms, default=(0, 0, -1))[2] if known is None else known


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
    """Return whether a term stands among words, in any form of its words."""
    size, numbers = len(term), InAnyCase()
    ids = [numbers.add(word) for word in term]
    return any(
        all(numbers.number(b) == k or forms_of_one(a, b) for k, a, b in zip(ids, term, part, strict=True))
        for part in (words[k : k + size] for k in range(len(words) - size + 1))
    )
