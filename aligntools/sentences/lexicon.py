"""Lexicons that grow from the groups found so far: IBM 1 in both directions (Moore 2002), and what is known beforehand.

Each of l words of a group chooses one of the other side's with the probability (1 - e) p(t|s) / l, or comes from the
whole text with e p(t). Counts are discounted, since any wrong group would confirm itself by words that occur nowhere
else; a word whose count is discounted away says nothing (`Direction.unknown`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from aligntools.aligning.text.look_alikes import romanized
from aligntools.formats.links.priors import Priors
from aligntools.sentences import kernels_lexicon as kernels
from aligntools.sentences.text import LETTERS, Text, cut, words_of

#: e; what is taken off each count, and added to each word's; iterations. Chosen for Text+Berg's
#: development document alone.
NULL, DISCOUNT, MORE, ITERATIONS = 0.1, 0.8, 1.0, 5
#: Pseudo-counts of words that look alike, of short words and marks that are the same, and of words of a dictionary.
ALIKE, SAME_MARK, LISTED = 1.0, 0.3, 1.0
#: Most pseudo-counts of a source word by counts in other text.
COUNTED = 5.0
#: Words by words of a group beyond which it teaches nothing, and of all groups together at a time.
_LARGEST, _AT_ONCE = 1 << 15, 1 << 26


#: Pairs of words with pseudo-counts: source, target (int64 [pairs]), counts (float64 [pairs]).
WordEntries: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Direction:
    """p(t|s) / p(t) by source word, and what is known of target words.

    ptr (int64 [source words + 1]), ids (int32 [entries]), ratios (float32 [entries]).
    unknown (float32 [target words]): The share of a word's count that no entry explains, and NULL.
    """

    ptr: np.ndarray
    ids: np.ndarray
    ratios: np.ndarray
    unknown: np.ndarray


#: Both directions: target words given source words, and source words given target words.
GroupLexicon: TypeAlias = tuple[Direction, Direction]


def look_alikes(source: Text, target: Text) -> WordEntries:
    """Return the words that look alike when they are written in Latin letters, and marks that are the same."""
    spelled: dict[str, list[int]] = {}
    for n, word in enumerate(target.words):
        spelled.setdefault(romanized(word)[:LETTERS] or word, []).append(n)
    rows = []
    for n, word in enumerate(source.words):
        letters = romanized(word)[:LETTERS]
        count = ALIKE if len(letters) > 2 or word.isdigit() else SAME_MARK
        rows += [(n, other, count) for other in spelled.get(letters or word, ())]
    return entries(rows)


def entries(rows: Iterable[tuple[int, int, float]]) -> WordEntries:
    """Return entries of triples: source word, target word, count."""
    table = np.array(list(rows), np.float64).reshape(-1, 3)
    return table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]


def of_dictionary(source: Text, target: Text, pairs: Iterable[tuple[str, str]]) -> WordEntries:
    """Return the entries of a dictionary that are of single words, both in the text."""
    known = [{word: n for n, word in enumerate(text.words)} for text in (source, target)]
    rows = set[tuple[int, int, float]]()
    for pair in pairs:
        words = [words_of(side) for side in pair]
        if [len(one) for one in words] == [1, 1]:
            places = [there.get(cut(one[0]), -1) for there, one in zip(known, words, strict=True)]
            if min(places) >= 0:
                rows.add((places[0], places[1], LISTED))
    return entries(sorted(rows))


def of_priors(source: Text, target: Text, priors: Priors) -> WordEntries:
    """Return the counts of links in other text whose words are both in this one, scaled down where they are large."""
    sides = []
    for text, vocabulary in ((source, priors.source_vocabulary), (target, priors.target_vocabulary)):
        there = {word: n for n, word in enumerate(text.words)}
        known = map(words_of, vocabulary.words())
        sides.append(np.array([there.get(cut(one[0]), -1) if len(one) == 1 else -1 for one in known], np.int64))
    keys, counts = priors.lexical.keys, priors.lexical.alphas
    own, others = (side[column] for side, column in zip(sides, keys.T, strict=True))
    kept = (own >= 0) & (others >= 0) & (counts > 0)
    own, others, counts = own[kept], others[kept], counts[kept]
    sums = np.bincount(own, counts, len(source.words))[own]
    return own, others, counts * np.minimum(1.0, COUNTED / np.maximum(sums, 1e-300))


def joined(kinds: Iterable[WordEntries], n_target: int) -> WordEntries:
    """Return several kinds of entries as one; counts of the same words are added up."""
    source, target, counts = map(np.concatenate, zip(*kinds, strict=True))
    unique, where = np.unique(source * n_target + target, return_inverse=True)
    return unique // max(1, n_target), unique % max(1, n_target), np.bincount(where, counts, len(unique))


def learn(source: Text, target: Text, groups: np.ndarray, belief: np.ndarray, known: WordEntries) -> GroupLexicon:
    """Return the lexicon of groups (EM), with what is known beforehand as pseudo-counts.

    groups (int64 [groups, 4]): First and last + 1 source sentence, first and last + 1 target sentence.
    belief (float64 [groups]): How far each is believed.
    """
    s, t = source.side, target.side
    cells = (s.offsets[groups[:, 1]] - s.offsets[groups[:, 0]]) * (t.offsets[groups[:, 3]] - t.offsets[groups[:, 2]])
    chosen = (cells > 0) & (cells <= _LARGEST) & (belief > 0.01)
    chosen &= np.cumsum(np.where(chosen, cells, 0)) <= _AT_ONCE
    groups, belief, size = np.ascontiguousarray(groups[chosen]), belief[chosen], int(cells[chosen].sum())
    keys, slots = np.empty(size, np.int64), np.empty(size, np.int32)
    table = np.full(1 << max(4, (2 * size).bit_length()), -1, np.int32)
    found = kernels.word_pairs(s.tokens, s.offsets, t.tokens, t.offsets, groups, len(target.words), keys, table, slots)
    keys = keys[:found]
    own, others = keys // max(1, len(target.words)), keys % max(1, len(target.words))
    given = joined([known, (own, others, np.zeros(found))], len(target.words))
    own, others, prior = given
    places, counts = np.searchsorted(own * len(target.words) + others, keys), prior
    ratios = [np.ones(found, np.float32)] * 2
    for _ in range(ITERATIONS if found else 0):
        expected = np.zeros(found)
        kernels.expected_links(s.tokens, s.offsets, t.tokens, t.offsets, groups, belief, slots, *ratios, NULL, expected)
        counts = prior + np.bincount(places, expected, len(prior))
        ratios = [r[places] for r, _ in _ratios(source, target, given, counts, counts)]
    kept = prior + np.maximum(counts - prior - DISCOUNT, 0.0)
    (forward, s_known), (reverse, t_known) = _ratios(source, target, given, counts, kept)
    there = kept > 0
    return (
        _direction(own[there], others[there], forward[there], len(source.words), t_known),
        _direction(others[there], own[there], reverse[there], len(target.words), s_known),
    )


def _ratios(
    source: Text, target: Text, given: WordEntries, counts: np.ndarray, kept: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for each direction p(t|s) / p(t), and the share of each conditioning word's count that is kept."""
    found = []
    for own, others, a, b in ((*given[:2], source, target), (*given[1::-1], target, source)):
        sums = np.bincount(own, counts, len(a.words)) + MORE
        ratios = kept / (sums[own] * np.maximum(b.shares[others], 1e-12))
        found.append((ratios.astype(np.float32), np.bincount(own, kept, len(a.words)) / sums))
    return found


def _direction(own: np.ndarray, others: np.ndarray, ratios: np.ndarray, words: int, known: np.ndarray) -> Direction:
    order = np.lexsort((others, own))
    ptr = np.zeros(words + 1, np.int64)
    np.cumsum(np.bincount(own, minlength=words), out=ptr[1:])
    unknown = (1.0 - known * (1.0 - NULL)).astype(np.float32)
    return Direction(ptr, others[order].astype(np.int32), ratios[order], unknown)
