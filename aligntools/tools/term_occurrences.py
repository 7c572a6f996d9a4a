"""Phrase pairs of aligned text: stretches of words on both sides whose links do not leave them.

A pair is tight: its first and last words have links, on both sides (Koehn, Och & Marcu 2003, section 3, without the
unlinked words around). Sentences are worked in blocks of arrays, all stretches of one length at a time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.words.vocabulary import split_words

_NONE = np.int64(1) << 40
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT = np.uint64(29)
#: Sentences worked at a time.
BLOCK = 20_000
#: Where a word may stand in a stretch.
ANYWHERE, WITHIN, NOWHERE = 0, 1, 2


def mixed(codes: np.ndarray, more: np.ndarray) -> np.ndarray:
    """Return the codes of stretches with something more at their ends [dtype=uint64]; equal ones alone are equal.

    Of a hundred million different stretches two have one code with a probability below 1 in 3,000.
    """
    found: np.ndarray = (codes ^ (more.astype(np.uint64) + _SECOND)) * _MIX
    found ^= found >> _SHIFT
    found *= _SECOND
    found ^= found >> _SHIFT
    return found


def codes_of(tokens: np.ndarray, longest: int) -> Iterator[np.ndarray]:
    """Yield the codes of all stretches of 1, 2, ... words [shape=(words - length + 1,), dtype=uint64]."""
    found = mixed(np.zeros(len(tokens), np.uint64), tokens)
    yield found
    for length in range(2, longest + 1):
        count = max(len(tokens) - length + 1, 0)
        found = mixed(found[:count], tokens[length - 1 :][:count])
        yield found


@dataclass(frozen=True, eq=False)
class PhrasePairs:
    """Places of phrase pairs: first words (int64), lengths (int8) and codes (uint64; see `mixed`) of sides [pairs]."""

    source: np.ndarray
    target: np.ndarray
    source_length: np.ndarray
    target_length: np.ndarray
    source_code: np.ndarray
    target_code: np.ndarray

    @property
    def code(self) -> np.ndarray:
        """What pairs they are [dtype=uint64]."""
        return mixed(self.source_code, self.target_code)

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, which: np.ndarray) -> "PhrasePairs":
        return PhrasePairs(*(column[which] for column in vars(self).values()))


def joined(parts: list[PhrasePairs]) -> PhrasePairs:
    """Return the pairs of several parts, in order."""
    return PhrasePairs(*(np.concatenate(columns) for columns in zip(*(vars(p).values() for p in parts), strict=True)))


def phrase_pairs(
    source: Side,
    target: Side,
    links: Links,
    longest: int,
    source_kinds: np.ndarray,
    target_kinds: np.ndarray,
    matching: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
) -> Iterator[PhrasePairs]:
    """Yield the tight phrase pairs of a text, block by block, of ``longest`` words a side at most.

    source_kinds, target_kinds (int8 [vocabulary]): Where words may stand: `ANYWHERE`, `WITHIN` (no end), `NOWHERE`.
    matching (bool [longest, words] or None): Stretches of a side that may be taken, by length less 1 and first word.
    """
    kinds = source_kinds, target_kinds
    for begin in range(0, len(source), BLOCK):
        part = _block(source, target, links, longest, *kinds, begin, min(begin + BLOCK, len(source)))
        good = np.ones(len(part), bool)
        sides = (part.source, part.source_length), (part.target, part.target_length)
        for taken, (first, length) in zip(matching, sides, strict=True):
            if taken is not None:
                good &= taken[length.astype(np.int64) - 1, first]
        yield part if good.all() else part[good]


def _ranges(words: np.ndarray, mates: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last mate of each word; none: `_NONE` and -1."""
    order = np.lexsort((mates, words))
    words, mates = words[order], mates[order]
    low, high = np.full(count, _NONE), np.full(count, -1, np.int64)
    low[words[::-1]], high[words] = mates[::-1], mates
    return low, high


def _block(
    source: Side,
    target: Side,
    links: Links,
    longest: int,
    source_kinds: np.ndarray,
    target_kinds: np.ndarray,
    begin: int,
    end: int,
) -> PhrasePairs:
    s0, s1, t0, t1 = (int(side.offsets[n]) for side in (source, target) for n in (begin, end))
    lengths = np.diff(source.offsets[begin : end + 1])
    sentence = np.repeat(np.arange(end - begin), lengths)
    some = links.pairs[links.offsets[begin] : links.offsets[end]].astype(np.int64)
    of = np.repeat(np.arange(begin, end), np.diff(links.offsets[begin : end + 1]))
    i, j = some[:, 0] + source.offsets[of] - s0, some[:, 1] + target.offsets[of] - t0
    low, high = _ranges(i, j, s1 - s0)
    back_low, back_high = _ranges(j, i, t1 - t0)
    tokens, others = source.tokens[s0:s1], target.tokens[t0:t1]
    may, may_other = (source_kinds[tokens] == ANYWHERE) & (high >= 0), target_kinds[others] == ANYWHERE
    barred, barred_other = (
        np.concatenate([[0], np.cumsum(kinds == NOWHERE)]) for kinds in (source_kinds[tokens], target_kinds[others])
    )
    first = np.full((longest, t1 - t0), _NONE)
    last = np.full((longest, t1 - t0), -1, np.int64)
    target_codes = np.zeros((longest, t1 - t0), np.uint64)
    for length, codes in enumerate(codes_of(others, longest), 1):
        n = len(codes)
        before = length - 2 if length > 1 else 0
        first[length - 1, :n] = np.minimum(first[before, :n], back_low[length - 1 :][:n])
        last[length - 1, :n] = np.maximum(last[before, :n], back_high[length - 1 :][:n])
        target_codes[length - 1, :n] = codes
    top, bottom, parts = low, high, []
    for length, codes in enumerate(codes_of(tokens, longest), 1):
        n = len(codes)
        if length > 1:
            top, bottom = np.minimum(top[:n], low[length - 1 :]), np.maximum(bottom[:n], high[length - 1 :])
        at = np.flatnonzero(may[:n] & may[length - 1 :] & (sentence[:n] == sentence[length - 1 :]))
        width = bottom[at] - top[at]
        at = at[width < longest]
        a, w = top[at], (bottom[at] - top[at]).astype(np.int8)
        sound = (first[w, a] >= at) & (last[w, a] < at + length) & may_other[a] & may_other[a + w]
        sound &= (barred[at + length] == barred[at]) & (barred_other[a + w + 1] == barred_other[a])
        at, a, w = at[sound], a[sound], w[sound]
        lengths_ = np.full(len(at), length, np.int8), w + np.int8(1)
        parts.append(PhrasePairs(at + s0, a + t0, *lengths_, codes[at], target_codes[w, a]))
    return joined(parts)


_SMALLEST, _LARGEST = 16, 27  # bits of the table's size


# How often phrase pairs and their sides come in a text, in memory that the frequent ones alone take.
#
# Pairs are counted twice: first into a table of counts that unlike pairs may share, then those exactly whose shared
# count reaches the least one.


def frequent(parts: Callable[[], Iterator[PhrasePairs]], words: int, least: int) -> PhrasePairs:
    """Return the occurrences of pairs that come so often, by pair, then place; ``words``: about how long it is."""
    bits = int(np.clip(np.ceil(np.log2(max(words, 1))) + 1, _SMALLEST, _LARGEST))
    shift, table = np.uint64(64 - bits), np.zeros(1 << bits, np.int32)
    for part in parts():
        places, counts = np.unique(part.code >> shift, return_counts=True)
        table[places.astype(np.int64)] += counts.astype(np.int32)
    kept = [part[table[(part.code >> shift).astype(np.int64)] >= least] for part in parts()]
    found = joined(kept)
    code = found.code
    order = np.lexsort((found.source, code))
    code = code[order]
    first = np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1]])) if len(code) else np.zeros(0, np.int64)
    counts = np.diff(np.append(first, len(code)))
    return found[order[np.repeat(counts >= least, counts)]]


def occurrences(side: Side, codes: np.ndarray, longest: int) -> np.ndarray:
    """Return how often stretches come in a text, int64 [stretches]; sorted codes of ``longest`` words at most."""
    found = np.zeros(len(codes), np.int64)
    if not len(codes):
        return found
    for begin in range(0, len(side), BLOCK):
        a, b = side.offsets[begin], side.offsets[min(begin + BLOCK, len(side))]
        tokens = side.tokens[a:b]
        lengths = np.diff(side.offsets[begin : begin + BLOCK + 1])
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        for length, here in enumerate(codes_of(tokens, longest), 1):
            within = here[sentence[: len(here)] == sentence[length - 1 :]]
            places = np.minimum(np.searchsorted(codes, within), len(codes) - 1)
            found += np.bincount(places[codes[places] == within], minlength=len(codes))
    return found


def log_likelihood(both: np.ndarray, source: np.ndarray, target: np.ndarray, total: int) -> np.ndarray:
    """Return the log-likelihood ratio of pairs (Dunning 1993), 0 below chance, by counts of pairs, sides, places."""
    k11 = both.astype(np.float64)
    k12, k21 = source - k11, target - k11
    k22 = np.maximum(total - source - target + k11, 0)

    def entropy(*counts: np.ndarray) -> np.ndarray:
        table = np.stack(counts)
        shares = np.maximum(table, 1e-300) / np.maximum(table.sum(0), 1e-300)
        return np.asarray((table * np.log(shares)).sum(0))

    ratio = 2 * (entropy(k11, k12, k21, k22) - entropy(k11 + k12, k21 + k22) - entropy(k11 + k21, k12 + k22))
    return np.where(k11 * total > source.astype(np.float64) * target, np.maximum(ratio, 0), 0.0)


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
    codes = np.zeros(len(terms), np.uint64)
    for n, ids in enumerate(terms):
        for id in ids:
            codes[n : n + 1] = mixed(codes[n : n + 1], np.array([id]))
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
