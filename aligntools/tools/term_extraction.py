"""Term pairs of an aligned text: phrase pairs that are translated as units, scored and told apart.

A pair's score is the log-likelihood ratio of its sides (Dunning 1993), times the share of its occurrences that do not
lie within longer pairs, times ``log2(1 + words)`` (C-value: Frantzi, Ananiadou & Mima 2000). A source term has one row,
with the best of its translations; others are its variants.
"""

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Bitext, Side, in_lower_case
from aligntools.tools import term_occurrences as counting
from aligntools.tools.term_occurrences import ANYWHERE, NOWHERE, WITHIN, PhrasePairs, mixed, phrase_pairs
from aligntools.tools.term_settings import TagPattern, TermSettings

#: Of occurrences of a source term that a variant has at least.
_VARIANT = 0.05
#: Occurrences that are looked at for how a term is written, and for a short example.
_LOOKED_AT = 50


@dataclass(frozen=True)
class Term:
    """A term and its translation, as `terms` finds them.

    Attributes
    ----------
    source, target : str
        As they are written most often.
    count : int
        How often the one is linked to the other.
    source_count, target_count : int
        How often each comes.
    score : float
        What the list is ordered by: the log-likelihood ratio, less for what comes within longer terms, more for several
        words.
    variants : tuple of (str, int)
        Other translations of the source term, and how often they come.
    pair : int
        The sentence pair, from 0, that is an example: the shortest that was seen.
    """

    source: str
    target: str
    count: int
    source_count: int
    target_count: int
    score: float
    variants: tuple[tuple[str, int], ...]
    pair: int

    @property
    def target_given_source(self) -> float:
        """``p(target | source)``: of the source term's occurrences, those that are linked to the target term."""
        return self.count / self.source_count

    @property
    def source_given_target(self) -> float:
        """``p(source | target)``."""
        return self.count / self.target_count


@dataclass(frozen=True, eq=False)
class _Scored:
    """Pairs with what is known of them: one occurrence of each, ordered by code, and figures."""

    pairs: PhrasePairs
    first: np.ndarray
    counts: np.ndarray
    source_counts: np.ndarray
    target_counts: np.ndarray
    scores: np.ndarray


def kinds_of(text: Bitext, links: Links, learned: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return where words of both vocabularies may stand in a term, int8 [words]; ``learned``: with stop words."""
    of = np.repeat(np.arange(len(text)), np.diff(links.offsets))
    ends = [side.tokens[links.pairs[:, k] + side.offsets[of]] for k, side in enumerate((text.source, text.target))]
    found, both = [], ((text.source, text.source_vocabulary), (text.target, text.target_vocabulary))
    for k, (side, vocabulary) in enumerate(both):
        words = vocabulary.words()
        kinds = np.array([kind_of(word) for word in words], np.int8)
        if learned:
            pairs, times = np.unique(ends[k].astype(np.int64) << 32 | ends[1 - k].astype(np.int64), return_counts=True)
            best = np.zeros(len(words))  # which share of a word's occurrences is linked to its most frequent partner
            np.maximum.at(best, pairs >> 32, times)
            best = np.minimum(best / np.maximum(np.bincount(side.tokens, minlength=len(words)), 1), 1.0)
            kinds[stop_words(words, side.tokens, best) & (kinds == ANYWHERE)] = WITHIN
        found.append(kinds)
    return found[0], found[1]


def find_terms(
    cased: Bitext, links: Links, settings: TermSettings, tags: Sequence[list[str] | None] = (None, None)
) -> list[Term]:
    """Return the term pairs of an aligned text, the best first, as it writes them; tags where there is a pattern."""
    text = in_lower_case(cased)
    kinds = kinds_of(text, links, settings.stop_words)
    longest = settings.max_words
    pattern = None if settings.patterns is None else TagPattern(settings.patterns)
    source, target = (None if own is None or pattern is None else pattern.stretches(own, longest) for own in tags)

    def parts() -> Iterator[PhrasePairs]:
        return phrase_pairs(text.source, text.target, links, longest, *kinds, (source, target))

    words = len(text.source.tokens) + len(text.target.tokens)
    every = counting.frequent(parts, words, settings.min_count)
    if not len(every):
        return []
    scored = _scored(text, every, longest)
    order = _best(scored, settings)
    shown = [_shown(cased, every, scored, k) for k in order.tolist()]
    others = _variants(cased, every, scored, order)
    figures = (x[order].tolist() for x in (scored.counts, scored.source_counts, scored.target_counts, scored.scores))
    return [
        Term(source, target, n, n_source, n_target, score, variants, pair)
        for (source, target, pair), n, n_source, n_target, score, variants in zip(shown, *figures, others, strict=True)
    ]


def _scored(text: Bitext, every: PhrasePairs, longest: int) -> _Scored:
    code = every.code
    first = np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1]]))
    counts = np.diff(np.append(first, len(code)))
    pairs = every[first]
    totals = []
    for side, codes in ((text.source, pairs.source_code), (text.target, pairs.target_code)):
        distinct, which = np.unique(codes, return_inverse=True)
        totals.append(counting.occurrences(side, distinct, longest)[which])
    places = max(len(text.source.tokens), len(text.target.tokens))
    ratio = counting.log_likelihood(counts, totals[0], totals[1], places)
    free = np.maximum(alone(text.source, text.target, pairs, counts, longest), 0) / counts
    length = (pairs.source_length + pairs.target_length) / 2
    return _Scored(pairs, first, counts, totals[0], totals[1], ratio * free * np.log2(1 + length))


def _best(scored: _Scored, settings: TermSettings) -> np.ndarray:
    """Return the pairs that are kept, one of each source term, the best first."""
    shares = scored.counts / np.maximum(scored.source_counts, 1), scored.counts / np.maximum(scored.target_counts, 1)
    good = (np.minimum(*shares) >= settings.min_probability) & (scored.scores > 0)
    some = np.flatnonzero(good)
    code = scored.pairs.source_code[some]
    order = np.lexsort((some, -scored.scores[some], code))
    some, code = some[order], code[order]
    some = some[np.concatenate([[True], code[1:] != code[:-1]])] if len(some) else some
    ranked = some[np.lexsort((some, scored.pairs.source[some], -scored.scores[some]))]
    return ranked[: settings.top]


def _shown(cased: Bitext, every: PhrasePairs, scored: _Scored, k: int) -> tuple[str, str, int]:
    """Return how the sides of a pair are written most often, and the shortest sentence pair that has it."""
    begin = int(scored.first[k])
    here = slice(begin, begin + min(int(scored.counts[k]), _LOOKED_AT))
    written = []
    for side, vocabulary, places, length in (
        (cased.source, cased.source_vocabulary, every.source[here], int(scored.pairs.source_length[k])),
        (cased.target, cased.target_vocabulary, every.target[here], int(scored.pairs.target_length[k])),
    ):
        forms = Counter(tuple(side.tokens[a : a + length].tolist()) for a in places.tolist())
        written.append(" ".join(vocabulary.word(id) for id in forms.most_common(1)[0][0]))
    sentences = np.searchsorted(cased.source.offsets, every.source[here], side="right") - 1
    sizes = cased.source.offsets[sentences + 1] - cased.source.offsets[sentences]
    return written[0], written[1], int(sentences[np.argmin(sizes)])


def _variants(
    cased: Bitext, every: PhrasePairs, scored: _Scored, order: np.ndarray
) -> list[tuple[tuple[str, int], ...]]:
    """Return the other translations of each source term, with how often they come, the most frequent first."""
    codes = scored.pairs.source_code
    wanted = np.sort(codes[order])
    met = np.flatnonzero(np.isin(codes, wanted) & (scored.counts >= _VARIANT * scored.source_counts))
    by_source: dict[int, list[int]] = {}
    for k in met.tolist():
        by_source.setdefault(int(codes[k]), []).append(k)
    found = []
    for chosen in order.tolist():
        others = [k for k in by_source.get(int(codes[chosen]), ()) if k != chosen]
        others.sort(key=lambda k: (-int(scored.counts[k]), int(scored.pairs.target[k])))
        found.append(tuple((_shown(cased, every, scored, k)[1], int(scored.counts[k])) for k in others))
    return found


# Pairs that stand within longer ones: how often they come by themselves (C-value; Frantzi, Ananiadou & Mima 2000).

_BLOCK = 1 << 16


def _stretches(side: Side, begin: np.ndarray, lengths: np.ndarray, longest: int) -> np.ndarray:
    """Return the codes of what stands within stretches: by where it begins and its length; 0 is past the end."""
    places = begin[:, None] + np.arange(longest)
    tokens = side.tokens[np.minimum(places, len(side.tokens) - 1)]
    found = np.zeros((longest, longest, len(begin)), np.uint64)
    for first in range(longest):
        flat = tokens[:, first:]
        code = np.zeros(len(begin), np.uint64)
        for length in range(1, longest - first + 1):
            code = mixed(code, flat[:, length - 1])
            found[first, length - 1] = np.where(first + length <= lengths, code, 0)
    return found


def alone(source: Side, target: Side, pairs: PhrasePairs, counts: np.ndarray, longest: int) -> np.ndarray:
    """Return how often pairs, ordered by code, come alone: less the mean count of the longer pairs around them."""
    code = pairs.code
    sums, within = np.zeros(len(code)), np.zeros(len(code))
    outer = np.flatnonzero((pairs.source_length > 1) | (pairs.target_length > 1))
    for begin in range(0, len(outer), _BLOCK):
        some = outer[begin : begin + _BLOCK]
        own = code[some]
        left = _stretches(source, pairs.source[some], pairs.source_length[some], longest)
        right = _stretches(target, pairs.target[some], pairs.target_length[some], longest)
        left, right = left.reshape(-1, len(some)), right.reshape(-1, len(some))
        for one in left[left.any(1)]:
            for other in right[right.any(1)]:
                here = np.flatnonzero((one > 0) & (other > 0))
                inner = mixed(one[here], other[here])
                places = np.minimum(np.searchsorted(code, inner), len(code) - 1)
                met = (code[places] == inner) & (inner != own[here])
                sums += np.bincount(places[met], counts[some[here[met]]], len(code))
                within += np.bincount(places[met], minlength=len(code))
    return counts - sums / np.maximum(within, 1)


#: A text is cut into so many parts, or fewer of at least so many words; into some in any case.
_PARTS, _PART_WORDS, _FEWEST_PARTS = 200, 2000, 8
#: Words below this share of the text, or with fewer occurrences, are no stop words.
_RARE, _FEW = 2e-4, 8
#: The usual frequency, unevenness, share of the best partner, and letters; what each weighs; and how much is needed.
_FREQUENT, _UNEVEN, _BEST, _LETTERS = 5e-4, 0.6, 0.5, 4
# Words that no term begins or ends with, learned from the text itself: frequent, evenly spread, short, diffuse.
#
# Function words are frequent, come evenly in all parts of a text, have many translations or none, and are short
# (Zipf); words of a text's subject are frequent in some parts. What has no letter is never the end of a term. No list
# of any language is used.

_WEIGHTS = 1.0, 1.5, 3.0, 0.4
_NEEDED = 1.0
_LEAST_UNEVEN = 0.15


def kind_of(word: str) -> int:
    """Return where a word may stand in a term by its characters: without letters within, without digits too nowhere."""
    kinds = {unicodedata.category(c)[0] for c in word}
    return ANYWHERE if "L" in kinds else WITHIN if "N" in kinds else NOWHERE


def unevenness(tokens: np.ndarray, words: int) -> np.ndarray:
    """Return how unevenly words come in the parts of a text: the variation of their counts beyond Poisson's [words]."""
    parts = int(np.clip(len(tokens) // _PART_WORDS, _FEWEST_PARTS, _PARTS))
    edges = np.linspace(0, len(tokens), parts + 1).astype(np.int64)
    squares = np.zeros(words)
    for begin, end in itertools.pairwise(edges.tolist()):
        squares += np.bincount(tokens[begin:end], minlength=words).astype(np.float64) ** 2
    mean = np.bincount(tokens, minlength=words) / parts
    excess = squares / parts - mean**2 - mean
    return np.sqrt(np.maximum(excess, 0)) / np.maximum(mean, 1e-12)


def stop_words(words: Sequence[str], tokens: np.ndarray, best: np.ndarray) -> np.ndarray:
    """Return which words are stop words, bool [words]; ``best`` [words]: shares of the most frequent partners."""
    counts = np.bincount(tokens, minlength=len(words))
    share = counts / max(len(tokens), 1)
    frequent = (share >= _RARE) & (counts >= _FEW)
    uneven = np.maximum(unevenness(tokens, len(words)), _LEAST_UNEVEN)
    lengths = np.array([len(word) for word in words])
    parts = np.log(np.maximum(share, 1e-12) / _FREQUENT), -np.log(uneven / _UNEVEN), _BEST - best, _LETTERS - lengths
    score = np.sum([weight * part for weight, part in zip(_WEIGHTS, parts, strict=True)], axis=0)
    return np.asarray(frequent & (score > _NEEDED))
