"""Features of grammar rules: probabilities and counts, and bigrams of target sides over words' dominant tags."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Side
from aligntools.formats.translation.grammar import STANDARD, GrammarRules
from aligntools.translating.grammar import kernels_grammar

_CHUNK = 1 << 22  # links counted at a time


#: ``p(target word | source word)`` and ``p(source word | target word)``, NULL (0) being a word on both sides: uint64 [a
#: power of two], source << 32 | target, where kernels_grammar looks for it; 0 is free. And float64 [a power of two, 2].
LexicalTable: TypeAlias = tuple[np.ndarray, np.ndarray]


def count_words(source: Side, target: Side, links: Links) -> tuple[np.ndarray, np.ndarray]:
    """Count linked words (Koehn, Och & Marcu 2003, 4.4); a word without links counts as linked to NULL.

    Returns pairs (uint64 [pairs]): ``source << 32 | target``, ascending.
    Returns counts (int64 [pairs]).
    """
    source_linked, target_linked = np.zeros(len(source.tokens), bool), np.zeros(len(target.tokens), bool)
    sentence = links.sentences()
    parts = []
    for begin in range(0, len(links.pairs), _CHUNK):
        rows, of = links.pairs[begin : begin + _CHUNK], sentence[begin : begin + _CHUNK]
        i, j = source.offsets[of] + rows[:, 0], target.offsets[of] + rows[:, 1]
        source_linked[i] = target_linked[j] = True
        joined = source.tokens[i].astype(np.uint64) << np.uint64(32) | target.tokens[j].astype(np.uint64)
        parts.append(np.unique(joined, return_counts=True))
    alone = np.unique(source.tokens[~source_linked], return_counts=True)
    parts.append((alone[0].astype(np.uint64) << np.uint64(32), alone[1]))
    alone = np.unique(target.tokens[~target_linked], return_counts=True)
    parts.append((alone[0].astype(np.uint64), alone[1]))
    pairs, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    counts = np.zeros(len(pairs), np.int64)
    np.add.at(counts, place.ravel(), np.concatenate([part[1] for part in parts]))
    return pairs, counts


def word_table(source: Side, target: Side, links: Links) -> LexicalTable:
    """Estimate word translation probabilities from links, all of which lie within their sentences."""
    pairs, counts = count_words(source, target, links)
    first, second = (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    given_source = counts / np.bincount(first, counts)[first] if len(pairs) else counts
    given_target = counts / np.bincount(second, counts)[second] if len(pairs) else counts
    size = 1 << max(4, (2 * len(pairs)).bit_length())
    table = np.zeros(size, np.uint64), np.zeros((size, 2))
    kernels_grammar.enter_rows(pairs, np.stack([given_source, given_target], axis=1).astype(np.float64), *table)
    return table


#: Sets of features by name. ``standard``: the four of Chiang 2007, natural logs; ``full``: with the log of the rule's
#: count, and whether rule and source side were seen once; ``cdec``: the names and values of cdec's extractor.
SETS = {
    "standard": STANDARD,
    "full": (*STANDARD, "LogCount", "SingletonRule", "SingletonSource"),
    "cdec": (
        "EgivenFCoherent",
        "SampleCountF",
        "CountEF",
        "MaxLexFgivenE",
        "MaxLexEgivenF",
        "IsSingletonF",
        "IsSingletonFE",
    ),
}


def rounded(values: np.ndarray) -> np.ndarray:
    """Return numbers with five decimals, as they are written."""
    return np.floor(np.asarray(values, np.float64) * 1e5 + 0.5) / 1e5


def score(
    name: str,
    counts: np.ndarray,
    occurrences: np.ndarray,
    source_occurrences: np.ndarray,
    lexical: np.ndarray,
    sides: tuple[np.ndarray, ...],
    words: LexicalTable,
) -> tuple[list[str], np.ndarray]:
    """Return a set of features' names and values.

    name: One of `SETS`.
    counts [rules, 3]: Fractional counts of target side, source side and rule. Target sides that differ in the order of
        their nonterminals alone are counted as one, so that both probabilities are defined alike.
    occurrences, source_occurrences (int64 [rules]): How often rule and source side were seen.
    lexical [rules, 2]: Lexical weights; see `kernels_grammar.weigh_links`.
    sides: Source offsets and symbols, target offsets and symbols; see `GrammarRules`.
    Returns values (float32 [rules, features]): With five decimals.
    """
    target, source, joint = counts.T
    if name == "cdec":
        best = np.empty((len(joint), 2))
        kernels_grammar.best_words(*sides, *words, best)
        columns = [
            -np.log10(occurrences / source_occurrences),
            np.log10(1 + source_occurrences),
            np.log10(1 + occurrences),
            -best[:, 1] / np.log(10),
            -best[:, 0] / np.log(10),
            source_occurrences == 1,
            occurrences == 1,
        ]
    else:
        columns = [np.log(joint / source), np.log(joint / target), lexical[:, 0], lexical[:, 1]]
        if name == "full":
            columns += [np.log(occurrences), occurrences == 1, source_occurrences == 1]
    values = rounded(np.stack(columns, axis=1) if len(joint) else np.empty((0, len(columns))))
    return list(SETS[name]), (values + 0.0).astype(np.float32)


def dominant_tags(words: Sequence[bytes], tags: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return the most frequent tag of each word; of equally frequent ones, the first in order of bytes."""
    counts = defaultdict[bytes, Counter[bytes]](Counter)
    for word, tag in zip(words, tags, strict=True):
        counts[word][tag] += 1
    return {word: min(found, key=lambda tag: (-found[tag], tag)) for word, found in counts.items()}


def add_bigrams(
    grammar: GrammarRules, tags: dict[bytes, bytes], *, most: int | None = None, names: Sequence[str] | None = None
) -> GrammarRules:
    """Return the grammar with the bigrams of its target sides as sparse features (Li et al. 2011, 5.2.2).

    A target side is read with each word's dominant tag in its place (the word itself where it has none) and ``X``
    for nonterminals: ``the [X,1] of`` has the bigrams ``DT_X`` and ``X_IN``. A feature's value is how often the
    bigram occurs in the rule.

    most: Keep this many bigrams, those in the most rules (the paper has 541 and 1023).
    names: Instead of choosing, take these, in this order: those of a system whose weights were learned before.
    """
    numbers, of = {"X": 0}, np.zeros(len(grammar.target_vocabulary) + 2, np.int64)  # -1 and -2 are X, too
    for k, word in enumerate(grammar.target_vocabulary.words()[1:], 1):
        tag = tags.get(word.encode())
        of[k] = numbers.setdefault(word if tag is None else tag.decode(), len(numbers))
    labels = list(numbers)
    rule = np.repeat(np.arange(len(grammar)), np.diff(grammar.target_offsets))
    symbols = of[grammar.target]
    inside = np.flatnonzero(rule[1:] == rule[:-1])
    bigrams = symbols[inside].astype(np.int64) * len(labels) + symbols[inside + 1]
    kinds, inverse = np.unique(bigrams, return_inverse=True)
    # one number for each (rule, bigram), with how often
    pairs, times = np.unique(rule[inside] * max(len(kinds), 1) + inverse.ravel(), return_counts=True)
    rules, kind = np.divmod(pairs, max(len(kinds), 1))
    shown = [f"{labels[k // len(labels)]}_{labels[k % len(labels)]}" for k in kinds.tolist()]
    # what reads alike is one feature: a word without a tag may be spelled as a tag is
    if names is None:
        frequency = Counter[str]()
        for name, count in zip(shown, np.bincount(kind, minlength=len(kinds)).tolist(), strict=True):
            frequency[name] += count
        names = sorted(frequency, key=lambda name: (-frequency[name], name))[:most]
    names = list(names)
    number = {name: k for k, name in enumerate(names)}
    feature = np.array([number.get(name, -1) for name in shown] or [-1], np.int64)[kind]
    rules, feature, times = rules[feature >= 0], feature[feature >= 0], times[feature >= 0]
    keys, place = np.unique(rules * max(len(names), 1) + feature, return_inverse=True)
    values = np.bincount(place.ravel(), times, len(keys)) if len(keys) else np.empty(0)
    rules, ids = np.divmod(keys, max(len(names), 1))
    offsets = np.searchsorted(rules, np.arange(len(grammar) + 1)).astype(np.int64)
    return replace(
        grammar,
        sparse_offsets=offsets,
        sparse_ids=ids.astype(np.int32),
        sparse_values=values.astype(np.float32),
        sparse_names=names,
    )
