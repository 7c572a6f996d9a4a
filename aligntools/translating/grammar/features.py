"""Features of grammar rules: probabilities and counts, and bigrams of target sides over words' dominant tags."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from aligntools.formats.translation.grammar import STANDARD, GrammarRules
from aligntools.translating.grammar import kernels_grammar
from aligntools.translating.grammar.lexical import LexicalTable
from aligntools.words.vocabulary import Vocabulary

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
        kernels_grammar.best_words(*sides, words.keys, words.values, best)
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
    counts: dict[bytes, dict[bytes, int]] = {}
    for word, tag in zip(words, tags, strict=True):
        found = counts.setdefault(word, {})
        found[tag] = found.get(tag, 0) + 1
    return {word: min(found, key=lambda tag: (-found[tag], tag)) for word, found in counts.items()}


def add_bigrams(
    grammar: GrammarRules,
    tags: dict[bytes, bytes],
    *,
    most: int | None = None,
    least: int = 1,
    names: Sequence[str] | None = None,
) -> GrammarRules:
    """Return the grammar with the bigrams of its target sides as sparse features (Li et al. 2011, 5.2.2).

    A target side is read with each word's dominant tag in its place (the word itself where it has none) and ``X``
    for nonterminals: ``the [X,1] of`` has the bigrams ``DT_X`` and ``X_IN``. A feature's value is how often the
    bigram occurs in the rule.

    tags: By word; see `dominant_tags`.
    most: Keep this many bigrams, those in the most rules (the paper has 541 and 1023).
    least: Keep only bigrams in at least this many rules.
    names: Instead of choosing, take these, in this order: those of a system whose weights were learned before.
    """
    labels, of = _labels(grammar.target_vocabulary, tags)
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
        frequency: dict[str, int] = {}
        for name, count in zip(shown, np.bincount(kind, minlength=len(kinds)).tolist(), strict=True):
            frequency[name] = frequency.get(name, 0) + count
        chosen = sorted(frequency, key=lambda name: (-frequency[name], name))
        names = [name for name in chosen[:most] if frequency[name] >= least]
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


def _labels(vocabulary: Vocabulary, tags: Mapping[bytes, bytes]) -> tuple[list[str], np.ndarray]:
    """Return the labels that words have, ``X`` first, and each word's number [indexed by id, -1 and -2 too]."""
    numbers = {"X": 0}
    of = np.zeros(len(vocabulary) + 2, np.int64)
    for k, word in enumerate(vocabulary.words()[1:], 1):
        tag = tags.get(word.encode())
        label = word if tag is None else tag.decode()
        of[k] = numbers.setdefault(label, len(numbers))
    return list(numbers), of
