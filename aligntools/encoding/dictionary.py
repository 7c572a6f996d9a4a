"""A dictionary as evidence of words: pseudo-counts of its entries, scaled by how well they agree with a text.

Entries of one word on each side count whether the text has these very words or not: training also looks at the words'
beginnings and at pieces of them, where other forms of a word are alike. Entries of several words make links of all
their words where the words stand together in a sentence pair.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeAlias

import numpy as np

from aligntools.encoding.lexicon import belief, compared
from aligntools.formats.links.dictionary import Entry
from aligntools.formats.links.priors import Priors, priors_of
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.words.vocabulary import AnyVocabulary

#: The pseudo-count of an entry with weight 1. Anything from 1 to 6 has about as many errors.
COUNT = 3.0
#: How far beyond chance words with entries have one of them in their own sentence pair, below which no entry is
#: believed, and from which on all are. Dictionaries of a text's own languages have 0.36 and more, those of a related
#: language 0.13 to 0.17, others and exchanged ones at most 0.05.
DOUBTED, BELIEVED = 0.08, 0.2
#: Standard errors that are taken off what few words show.
ERRORS = 1.0
#: Letters by which words may be alike in training; entries with no word of the text so far alike are left out.
LETTERS = 3
#: Two words are forms of one if they begin with the same letters: at least so many, and this share of the longer word,
#: with at most so many letters behind them. What an entry counts for a form of one of its words, as a share.
BEGINNING, SHARED, ENDING, FORM = 4, 0.6, 3, 0.5
#: Words of a side of which forms are looked for: the most frequent ones.
FORMED = 20_000
#: Sentences in which the words of one entry are looked for at most.
LOOKED = 1_000
#: The words of both sides of entries of several words; None where a text was found to have them.
Phrases: TypeAlias = dict[Entry, tuple[list[str], list[str]] | None]


#: Makes of a word what entries are compared with.
fold = str.lower


def met(entries: Sequence[Entry], source: AnyVocabulary, target: AnyVocabulary) -> tuple[list[Entry], int, list[int]]:
    """Return the entries whose words two vocabularies may have, and how many of them match exactly.

    The third is how many different words these have on each side; entries are in one order of their sides.
    """
    known = [{fold(word) for word in v.words()[1:]} for v in (source, target)]
    begun = [{word[:LETTERS] for word in words} for words in known]
    found, count, words = [], 0, (set[str](), set[str]())
    for entry in entries:
        sides = [fold(side).split(" ") for side in entry[:2]]
        one = all(len(side) == 1 for side in sides)
        if one and all(side[0][:LETTERS] in own for side, own in zip(sides, begun, strict=True)):
            found.append(entry)
        if all(own.issuperset(side) for side, own in zip(sides, known, strict=True)):
            found += [] if one else [entry]
            count += 1
            for side, own in zip(sides, words, strict=True):
                own.update(side)
    return found, count, [len(own) for own in words]


def forms(entries: Iterable[Entry], source: AnyVocabulary, target: AnyVocabulary) -> list[Entry]:
    """Return entries of single words for words of a text that are forms of theirs, and for no others.

    A word of the text is a form of those words with entries that share the longest beginning with it. Entries that are
    there already are left out.
    """
    single = [(fold(s), fold(t), weight) for s, t, weight in entries if " " not in s and " " not in t]
    having = {s for s, _, _ in single}, {t for _, t, _ in single}
    sides = [
        _forms(list(dict.fromkeys(map(fold, v.words()[1 : FORMED + 1]))), own)
        for v, own in zip((source, target), having, strict=True)
    ]
    there = {one[:2] for one in single}
    found: dict[tuple[str, str], float] = {}
    for s, t, weight in single:
        for (a, one), (b, other) in product(sides[0].get(s, ()), sides[1].get(t, ())):
            if (a, b) not in there:
                found[a, b] = max(found.get((a, b), 0.0), weight * one * other)
    return [Entry(*pair, weight) for pair, weight in found.items()]


def _forms(words: Sequence[str], having: Collection[str]) -> dict[str, list[tuple[str, float]]]:
    """Return for each word that has entries the words that are forms of it, itself among them, and what these count."""
    begun: dict[str, list[str]] = {}
    for word in sorted(having):
        begun.setdefault(word[:BEGINNING], []).append(word)
    found: dict[str, list[tuple[str, float]]] = {}
    for word in words:
        if word in having:
            found.setdefault(word, []).append((word, 1.0))
        alike = []  # how many letters two words begin with that are forms of one
        for other in begun.get(word[:BEGINNING], ()):
            shorter, longer = sorted((len(word), len(other)))
            shared = next((k for k in range(shorter) if word[k] != other[k]), shorter)
            if other != word and shared >= max(BEGINNING, SHARED * longer, longer - ENDING):
                alike.append((shared, other))
        longest = max(alike, default=(0, ""))[0]
        for length, other in alike:
            if length == longest:
                found.setdefault(other, []).append((word, FORM))
    return found


def merged(files: Iterable[Iterable[Entry]]) -> list[Entry]:
    """Return the entries of several files, each once, with its largest weight."""
    weights: dict[tuple[str, str], float] = {}
    for entries in files:
        for source, target, weight in entries:
            weights[source, target] = max(weight, weights.get((source, target), 0.0))
    return [Entry(*pair, weight) for pair, weight in weights.items()]


def singles(entries: Iterable[Entry]) -> Priors:
    """Return the pseudo-counts of entries with one word on each side."""
    rows = ((s, t, COUNT * weight) for s, t, weight in entries if " " not in s and " " not in t)
    return priors_of(rows)


@dataclass(frozen=True, eq=False)
class Tried:
    """How far a text bears a dictionary out: its agreement and belief (0 to 1), or the doubt why nothing is believed.

    entries: With the sides as the text has them (``exchanged``: not as the file), weighed by belief; none without.
    """

    entries: list[Entry]
    exchanged: bool
    agreement: float
    belief: float
    doubt: str = ""


def tried(entries: Sequence[Entry], source: AnyVocabulary, target: AnyVocabulary, written: Bitext) -> Tried:
    """Return which of a file's entries are believed, with the sides as a text of such words has them.

    written: The text, or a part of it.
    """
    turned = [Entry(one.target, one.source, one.weight) for one in entries]
    ways = [met(one, source, target)[0] for one in (entries, turned)]
    (first, words), (second, others) = (borne_out(one, written) for one in ways)
    if not max(words, others):
        (first, words), (second, others) = (together(one, written) for one in ways)
    exchanged = second > first
    found = max(first, second)
    share = belief(found, DOUBTED, BELIEVED)
    doubt = ""
    if not share:
        doubt = "words with entries have these in their own pair hardly more often than in others"
        if not max(words, others):
            doubt = "no entry is of words of the text"
        doubt += ": other languages, or another tokenization?"
    weighed = [Entry(s, t, weight * share) for s, t, weight in ways[exchanged]] if share else []
    return Tried(weighed, exchanged and share > 0, found, share, doubt)


def borne_out(entries: Iterable[Entry], written: Bitext) -> tuple[float, int]:
    """Return how far words with entries have one of these in their own sentence pair, beyond chance, and how many do.

    A standard error is taken off the first. Words that are the same on both sides show nothing.
    """
    pairs = {(fold(s), fold(t)) for s, t, _ in entries if " " not in s and " " not in t}
    priors = priors_of((s, t, 1.0) for s, t in sorted(pairs) if s != t)
    found, words = compared(priors, written, fold)
    if not words:
        return 0.0, 0
    return max(0.0, found - ERRORS * float(np.sqrt(max(found * (1.0 - found), 0.0) / words))), words


def together(entries: Iterable[Entry], written: Bitext) -> tuple[float, int]:
    """Return how far entries of several words stand together in pairs, and not with the next pair, and how many do."""
    entries = list(entries)
    target, lengths = written.target, np.roll(written.target.lengths(), -1)
    first = int(target.offsets[1]) if len(written) else 0
    moved = Side(np.roll(target.tokens, -first), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
    found, chance = (standing(entries, [one])[1] for one in (written, replace(written, target=moved)))
    return max(0.0, (found - chance) / max(found, 1)), found


def standing(entries: Iterable[Entry], texts: Iterable[Bitext]) -> tuple[Priors, int]:
    """Return links of entries of several words that stand together somewhere in a text, and how many entries do.

    Each word on the longer side has one link in all, as other words have.
    """
    several = (one for one in entries if " " in one.source or " " in one.target)
    wanted: Phrases = {one: (fold(one.source).split(" "), fold(one.target).split(" ")) for one in several}
    looked = dict.fromkeys(wanted, 0)
    for text in texts:
        for side in (0, 1):
            _look(wanted, looked, text, side)
    found = [entry for entry, phrases in wanted.items() if phrases is None]
    rows = []
    for entry in found:
        s, t = entry.source.split(" "), entry.target.split(" ")
        each = COUNT * entry.weight / max(len(s), len(t))
        rows += [(*pair, each) for pair in product(s, t)]
    return priors_of(rows), len(found)


def _look(wanted: Phrases, looked: dict[Entry, int], text: Bitext, side: int) -> None:
    """Look for entries that have several words on a side (0 or 1), of those that have on both by side 0."""
    sides, ids = (text.source, text.target), [_folded(v) for v in (text.source_vocabulary, text.target_vocabulary)]
    own, (tokens, offsets) = ids[side], (ids[side][1][sides[side].tokens], sides[side].offsets)
    by_first: dict[int, list[tuple[Entry, list[int], list[int]]]] = {}
    for entry, phrases in wanted.items():
        if phrases is None or len(phrases[side]) < 2 or (side and len(phrases[0]) > 1):
            continue
        numbers = [[n.get(word, -1) for word in phrase] for (n, _), phrase in zip(ids, phrases, strict=True)]
        if min(map(min, numbers)) >= 0:
            key = numbers[side][0] * len(own[0]) + numbers[side][1]
            by_first.setdefault(key, []).append((entry, numbers[side], numbers[1 - side]))
    keys = tokens[:-1].astype(np.int64) * len(own[0]) + tokens[1:]
    places = np.flatnonzero(np.isin(keys, np.fromiter(by_first, np.int64, len(by_first))))
    rows = np.searchsorted(offsets, places, side="right") - 1
    there, (_, other_ids) = sides[1 - side], ids[1 - side]
    for place, row in zip(places.tolist(), rows.tolist(), strict=True):
        end = int(offsets[row + 1])
        for entry, phrase, other in by_first[int(keys[place])]:
            if wanted[entry] is None or looked[entry] == LOOKED or place + len(phrase) > end:
                continue
            if tokens[place : place + len(phrase)].tolist() == phrase:
                looked[entry] += 1
                words = other_ids[there.tokens[there.offsets[row] : there.offsets[row + 1]]].tolist()
                if any(words[k : k + len(other)] == other for k in range(len(words) - len(other) + 1)):
                    wanted[entry] = None


def _folded(vocabulary: AnyVocabulary) -> tuple[dict[str, int], np.ndarray]:
    """Return a number for each different word, as it is compared, and the number of each word of a vocabulary."""
    numbers: dict[str, int] = {}
    own = [numbers.setdefault(fold(word), len(numbers)) for word in vocabulary.words()]
    return numbers, np.array(own, np.int64)
