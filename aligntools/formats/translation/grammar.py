"""Grammars of synchronous rules in memory, and which of their rules a text can use.

All left sides are X, a rule has at most two nonterminals. In the canonical form, words are numbered in the order of
their bytes, and rules are sorted by source side, then target side. `grammar_text` reads and writes grammars.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from aligntools.formats.text.corpus import Side
from aligntools.words.vocabulary import Vocabulary
from aligntools.words.white_space import whole_words

#: Arrays of a grammar that have as many elements for each rule as offsets say.
_RAGGED = (
    ("source_offsets", "source"),
    ("target_offsets", "target"),
    ("links_offsets", "links"),
    ("sparse_offsets", "sparse_ids", "sparse_values"),
)
#: Names of the features of Chiang 2007, which are natural logs of probabilities; Moses has them in another order.
STANDARD = ("PhraseEgivenF", "PhraseFgivenE", "LexEgivenF", "LexFgivenE")
#: Slots of the set of source sides that match a text, at most.
_MOST_PATTERNS = 1 << 26
#: What cdec, Joshua and Moses take for a nonterminal.
NONTERMINAL = re.compile(rb"\[.*\]", re.DOTALL)
_NO_WORD = "the source side has no word, and this decoder has only its glue rule for that"
_TOUCHING = "nonterminals touch on the source side; this decoder needs a word between them"
_log = logging.getLogger("aligntools")


def unwritable(vocabulary: Vocabulary) -> np.ndarray:
    """Return the ids of words that a grammar's text has another use for, such as ``|||`` and ``[X,1]``, or no form."""
    words = vocabulary.words()
    special = np.array([word == "|||" or bool(NONTERMINAL.fullmatch(word.encode())) for word in words], bool)
    return np.flatnonzero(special | ~whole_words(words)).astype(np.int32)


@dataclass(frozen=True, eq=False)
class GrammarRules:
    """Synchronous rules, sorted by source side.

    source, target (int32): Word ids; -1 and -2 for the first and second nonterminal of the source side.
    features (float32 [rules, features]): Natural logs, or whatever the names say.
    links (uint8 [links, 2]): Linked words of a rule, by their places among the symbols of each side.
    counts (float64 [rules or 0, 3]): How often target side, source side and both were seen; empty where not known.
    sparse_ids, sparse_values (int32): Features that few rules have; see `translating.grammar.features`.
    """

    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary
    source_offsets: np.ndarray
    source: np.ndarray
    target_offsets: np.ndarray
    target: np.ndarray
    features: np.ndarray
    feature_names: list[str]
    links_offsets: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    links: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.uint8))
    counts: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))
    sparse_offsets: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    sparse_ids: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    sparse_values: np.ndarray = field(default_factory=lambda: np.empty(0, np.float32))
    sparse_names: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("links_offsets", "sparse_offsets"):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.zeros(len(self) + 1, np.int64))

    def __len__(self) -> int:
        return len(self.source_offsets) - 1

    def rule(self, number: int) -> tuple[list[str], list[str]]:
        """Return a rule in words: source and target as lists of str, the nonterminals ``[X,1]`` and ``[X,2]``."""
        sides = []
        for vocabulary, offsets, symbols in (
            (self.source_vocabulary, self.source_offsets, self.source),
            (self.target_vocabulary, self.target_offsets, self.target),
        ):
            row = symbols[offsets[number] : offsets[number + 1]].tolist()
            sides.append([vocabulary.word(k) if k > 0 else f"[X,{-k}]" for k in row])
        return sides[0], sides[1]

    def arities(self) -> np.ndarray:
        """Return the number of nonterminals of each rule [shape=(rules,), dtype=int64]."""
        return np.diff(np.concatenate([[0], np.cumsum(self.source < 0)])[self.source_offsets])

    def subset(self, rules: np.ndarray) -> "GrammarRules":
        """Return some rules, by number and in the order given, with the same vocabularies."""
        rules = np.asarray(rules, None if len(rules) else np.int64)
        if rules.dtype == bool:
            rules = np.flatnonzero(rules)
        found: dict[str, Any] = {"features": np.ascontiguousarray(self.features[rules])}
        for offsets, *names in _RAGGED:
            rows = pick(getattr(self, offsets), rules, *(getattr(self, name) for name in names))
            found |= dict(zip((offsets, *names), rows, strict=True))
        return replace(self, counts=self.counts[rules] if len(self.counts) else self.counts, **found)

    def canonical(self) -> "GrammarRules":
        """Return the grammar in its one form: words in use, in the order of bytes; rules sorted."""
        from aligntools.formats.translation import kernels_rules
        from aligntools.store import sorting

        words, source = _compact(self.source_vocabulary, self.source)
        others, target = _compact(self.target_vocabulary, self.target)
        result = replace(self, source_vocabulary=words, target_vocabulary=others, source=source, target=target)
        sides = result.source_offsets, source, result.target_offsets, target
        if kernels_rules.in_order(*sides):
            return result
        pool, starts = np.zeros(len(source) + len(target) + 4 * len(self) + 1, np.int32), np.empty(len(self), np.int64)
        kernels_rules.rule_keys(*sides, pool, starts)
        return result.subset(sorting.sort_order(pool, starts))


def pick(offsets: np.ndarray, rows: np.ndarray, *data: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return some rows of ragged data: the new offsets, and each array's rows joined."""
    begins, sizes = offsets[rows], offsets[rows + 1] - offsets[rows]
    new = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(begins - new[:-1], sizes) + np.arange(new[-1])
    return new, *(column[places] for column in data)


def _compact(vocabulary: Vocabulary, symbols: np.ndarray) -> tuple[Vocabulary, np.ndarray]:
    """Return the words in use, in the order of bytes, and the symbols with their numbers."""
    used = np.zeros(len(vocabulary), bool)
    used[symbols[symbols > 0]] = True
    data, starts = vocabulary.blob.tobytes(), vocabulary.starts.tolist()
    words = [(data[starts[k] : starts[k + 1]], k) for k in np.flatnonzero(used).tolist()]
    words.sort()
    mapping = np.zeros(len(vocabulary) + 2, np.int32)
    mapping[[k for _, k in words]] = np.arange(1, len(words) + 1)
    mapping[-2:] = -2, -1
    return Vocabulary.from_bytes([word for word, _ in words]), mapping[symbols]


def concatenate(parts: Sequence[GrammarRules]) -> GrammarRules:
    """Join grammars with the same vocabularies and features, none of them with sparse ones."""

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    found: dict[str, Any] = {name: joined(name) for name in ("source", "target", "features", "links", "counts")}
    for name in ("source_offsets", "target_offsets", "links_offsets"):
        sizes = np.concatenate([np.diff(getattr(part, name)) for part in parts])
        found[name] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if len(found["counts"]) < len(found["features"]):
        found["counts"] = np.empty((0, 3))
    words = parts[0].source_vocabulary, parts[0].target_vocabulary
    return GrammarRules(*words, feature_names=parts[0].feature_names, **found)


class TextFilter:
    """The n-grams of a text, to tell which source sides could be used on it.

    longest: Longest n-gram that is looked at, and most symbols of source sides that are matched whole.
    span: Let only source sides pass that match within so many words of a sentence, nonterminals standing for at least
        one; None, and in a text of over some hundred thousand words: those whose every piece the text has.
    """

    def __init__(self, text: Side, vocabulary: Vocabulary, longest: int = 5, span: int | None = None) -> None:
        from aligntools.formats.translation import kernels_rules

        self.vocabulary, self._longest = vocabulary, longest
        words = np.ascontiguousarray(text.tokens, np.int32)
        size = 1 << max(10, (2 * longest * len(words)).bit_length())
        self._keys, used = np.zeros(size, np.uint64), np.zeros(1, np.int64)
        kernels_rules.count_ngrams(words, text.offsets, longest, 0, self._keys, used)
        self._patterns = self._match(words, text.offsets, span) if span else None

    def _match(self, words: np.ndarray, offsets: np.ndarray, span: int) -> np.ndarray | None:
        """Return the set of source sides that match, or None where it is too large."""
        from aligntools.formats.translation import kernels_rules

        room = self._longest * (span + 2) + 1
        stack, codes = np.empty((room, 4), np.int64), np.empty(room, np.uint64)
        keys, used, sentence = np.zeros(1 << 14, np.uint64), np.zeros(1, np.int64), 0
        while True:
            sentence = kernels_rules.count_patterns(
                words, offsets, self._longest, span, sentence, keys, used, stack, codes
            )
            if sentence == len(offsets) - 1:
                return keys
            if len(keys) >= _MOST_PATTERNS:
                return None
            new = np.zeros(4 * len(keys), np.uint64)
            kernels_rules.move_keys(keys, new)
            keys = new

    def mapping(self, vocabulary: Vocabulary) -> np.ndarray:
        """Return the text's ids of the words of another vocabulary [dtype=int32], 0 for words that it does not have."""
        data, starts = vocabulary.blob.tobytes(), vocabulary.starts.tolist()
        words = [data[a:b] for a, b in pairwise(starts[1:])]
        return np.concatenate([[0], np.maximum(self.vocabulary.ids(words), 0), [-2, -1]]).astype(np.int32)

    def matches(self, offsets: np.ndarray, symbols: np.ndarray) -> np.ndarray:
        """Return for source sides, in the text's ids, whether the text has all of their pieces between nonterminals."""
        from aligntools.formats.translation import kernels_rules

        usable = np.empty(len(offsets) - 1, np.uint8)
        kernels_rules.match_sources(offsets, symbols, self._longest, self._keys, usable)
        if self._patterns is not None:
            kernels_rules.match_patterns(offsets, symbols, self._longest, self._patterns, usable)
        return usable.astype(bool)


def in_rules(marked: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return which rules have a symbol that is marked."""
    return np.asarray(np.diff(np.concatenate([[0], np.cumsum(marked)])[offsets]) > 0)


def unused(offsets: np.ndarray, source: np.ndarray) -> dict[str, np.ndarray]:
    """Return the reasons why this decoder never uses rules, and for each reason which rules, by their source sides."""
    touch = np.zeros(len(source), bool)  # nonterminals behind nonterminals of the same rule
    touch[1:] = (source[1:] < 0) & (source[:-1] < 0)
    touch[offsets[:-1]] = False
    wordless = ~in_rules(source > 0, offsets)
    return {_NO_WORD: wordless, _TOUCHING: in_rules(touch, offsets) & ~wordless}


def tell_left_out(where: object, count: int, why: str) -> None:
    """Return how many rules of a file were left out, and why."""
    _log.warning("%s: %s left out: %s", where, "a rule is" if count == 1 else f"{count} rules are", why)


def filtered(grammar: GrammarRules, text_filter: TextFilter) -> GrammarRules:
    """Return the rules that may be used on a text, in canonical form."""
    symbols = text_filter.mapping(grammar.source_vocabulary)[grammar.source]
    return grammar.subset(text_filter.matches(grammar.source_offsets, symbols)).canonical()
