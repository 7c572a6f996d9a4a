"""Where each mark of a segment comes to stand in its translation, so that all of them nest.

The surest mark is placed first, and bounds the others: a mark lies within what it lay in, encloses what it enclosed,
and overlaps nothing else. Tags that enclose no text go where what stands on both sides of them is best kept apart.
Scores of a mark whose span is taken are found anew. In a long translation spans begin and end near their links.
"""

import heapq
import unicodedata
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from aligntools.formats.markup.segments import Mark
from aligntools.formats.markup.webpages import BLOCKS

# What speaks for a span of the target as the counterpart of a span of the source.
#
# A span has a linear score: of its first word and of what stands before it, of its last word and what stands behind,
# summed over the words in it, and of the whole (its length, brackets that it cuts, whether it is a copy). So all
# spans of a sentence are scored at once, as sums of vectors and of a few planes; those of a long one within windows
# of its words.

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Spans = Sequence[tuple[int, int]]

#: Classes of characters, and of what stands beside a span: ``E`` is the edge of the text, ``G`` a letter that is
#: directly beside a letter, ``W`` any other.
INSIDE = "ULCDBKQPHO"
OUTSIDE = "EGWBKQPHO"
_BRACKETS, _WIDE = frozenset("(){}<>（）"), frozenset("[]「」『』【】〈〉《》［］〔〕")
_QUOTES = frozenset("\"'“”„‟‘’‚«»‹›`＂")
_STOPS = frozenset(".,:;!?…。、，：；！？．¿¡،؛؟।")
_HYPHENS = frozenset("-–—‐‑−/\\|~・_")
_DEPTH = {c: 1 for c in "([{（「『【〈《［〔“„«"} | {c: -1 for c in ")]}）」』】〉》］〕”»"}
#: A link less probable than this is no word's best one.
_BEST = 0.3
#: Unlinked words in a row that are told apart.
_RUN = 3
DENSE = (
    *("in", "out", "unlinked", "in beside", "out beside", "unlinked beside", "own edge", "own neighbour"),
    *("run", "run beside", "short unlinked", "short unlinked beside", "gap"),
    *("same inside", "same outside", "new mark", "lost mark"),
)
#: Features of either edge, of a word inside, and of the whole.
EDGE = DENSE + tuple(f"{a}{b}" for a in INSIDE for b in INSIDE) + tuple(f"{a}|{b}" for a in OUTSIDE for b in OUTSIDE)
WITHIN = ("in", "out", "odds", "unlinked word", "unlinked mark", "in strong", "out strong", "best of in", "best of out")
WHOLE = (
    *("longer", "shorter", "longer squared", "shorter squared"),
    *("unbalanced", "quotes", "copy", "one word", "copy and more"),
)
_NUMBER_INSIDE, _NUMBER_OUTSIDE = len(INSIDE) ** 2, len(OUTSIDE) ** 2


@lru_cache(4096)
def character_class(character: str) -> int:
    """Return the number in `INSIDE` of a character's class."""
    for number, known in ((4, _BRACKETS), (5, _WIDE), (6, _QUOTES), (7, _STOPS), (8, _HYPHENS)):
        if character in known:
            return number
    if character.isdecimal():
        return 3
    if character.isalpha() or unicodedata.category(character)[0] == "M":
        return 1 if character.islower() else 0 if character.isupper() else 2
    return 9


class MarkupSide:
    """A sentence as spans are chosen in it; ``spans``: where its words begin and end."""

    def __init__(self, text: str, spans: Spans) -> None:
        self.text, self.spans = text, spans
        self.begins = np.array([a for a, _ in spans], np.int64)
        self.ends = np.array([b for _, b in spans], np.int64)
        self.first = np.array([character_class(text[a]) for a, _ in spans], np.int64)
        self.last = np.array([character_class(text[b - 1]) for _, b in spans], np.int64)
        left, right, glued = self.last[:-1], self.first[1:], self.begins[1:] == self.ends[:-1]
        self.before = np.append(0, _beside(left, right, glued))[: len(spans)]
        self.after = np.append(_beside(right, left, glued), 0)[: len(spans)]
        #: Which words are punctuation; which have at most three letters, none of them upper case; and before which
        #: white space stands.
        self.marks, self.short = self.first > 3, (self.first == 1) & (self.ends - self.begins <= 3)
        self.gap_before = np.append(False, self.begins[1:] > self.ends[:-1])[: len(spans)]

    @cached_property
    def depth(self) -> npt.NDArray[np.int64]:
        """How many brackets are open before each word, and at the end."""
        if _DEPTH.keys().isdisjoint(self.text):
            return np.zeros(len(self.spans) + 1, np.int64)
        own = [sum(_DEPTH.get(c, 0) for c in self.text[a:b]) for a, b in self.spans]
        return np.cumsum([0, *own])

    @cached_property
    def quotes(self) -> npt.NDArray[np.int64]:
        """How many straight quotation marks stand before each word, and before the end."""
        if '"' not in self.text:
            return np.zeros(len(self.spans) + 1, np.int64)
        return np.cumsum([0, *(self.text[a:b].count('"') for a, b in self.spans)])


def _beside(theirs: Integers, own: Integers, glued: Bools) -> Integers:
    """Return the class of each word's neighbour, as numbered in `OUTSIDE`.

    theirs, own: Classes of the neighbour's character beside the word, and of the word's own, as numbered in `INSIDE`.
    glued: Whether no space stands between them.
    """
    letters = glued & (theirs != 2) & (own <= 3) & (own != 2)
    return np.where(theirs > 3, theirs - 1, np.where(letters, 1, 2))


@dataclass(frozen=True, eq=False)
class SpanFeatures:
    """The features of a target's spans, by first words (begins) and last words (ends), for a span of the source.

    first, last (float64 [b or e, len(EDGE)]), within (float64 [m, len(WITHIN)]), whole (float64 [len(WHOLE), b, e]).
    """

    begins: range
    ends: range
    first: Floats
    last: Floats
    within: Floats
    whole: Floats

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each span by first and last word, -inf where it ends before it begins, by all weights."""
        n = len(EDGE)
        sums = np.concatenate([[0.0], np.cumsum(self.within @ weights[2 * n : 2 * n + len(WITHIN)])])
        first = self.first @ weights[:n] - sums[:-1][_slice(self.begins)]
        last = self.last @ weights[n : 2 * n] + sums[1:][_slice(self.ends)]
        found: Floats = first[:, None] + last[None, :]
        found += np.tensordot(weights[2 * n + len(WITHIN) :], self.whole, 1)
        found[np.array(self.ends)[None, :] < np.array(self.begins)[:, None]] = -np.inf
        return found


def _slice(words: range) -> slice:
    return slice(words.start, words.stop)


#: How many weights there are.
SIZE = 2 * len(EDGE) + len(WITHIN) + len(WHOLE)


class SparseLinks(NamedTuple):
    """Links between words: int64 rows that do not fall, and columns; float64 values; how many words there are."""

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    values: Floats
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: Floats) -> "SparseLinks":
        """Return the links of a matrix [source words, target words]: its cells that are not 0."""
        rows, columns = np.nonzero(matrix)
        return cls(rows, columns, matrix[rows, columns], (matrix.shape[0], matrix.shape[1]))


class Evidence:
    """Links of a sentence pair, as spans are judged by them."""

    def __init__(self, source: MarkupSide, target: MarkupSide, links: SparseLinks) -> None:
        self.source, self.target, self.links = source, target, links
        self.starts = np.searchsorted(links.rows, np.arange(links.shape[0] + 1))
        most = np.zeros(links.shape[0])
        np.maximum.at(most, links.rows, links.values)
        self._best = ((links.values == most[links.rows]) & (links.values > _BEST)).astype(np.float64)
        self._totals = tuple(self._summed(0, links.shape[0], values) for values in (links.values, self._best))
        self.ratio = (len(target.text) + 1) / (len(source.text) + 1)

    def _summed(self, begin: int, end: int, values: Floats) -> Floats:
        """Return the sum for each target word of values of the links of words ``begin`` to ``end`` of the source."""
        these = slice(self.starts[begin], self.starts[end])
        return np.bincount(self.links.columns[these], values[these], self.links.shape[1]).astype(np.float64)

    def row(self, word: int) -> Floats:
        """Return how far each target word is linked to a source word."""
        return self._summed(word, word + 1, self.links.values)

    def mass(self, begin: int, end: int) -> tuple[Floats, Floats]:
        """Return how far each target word is linked within a span of the source, and outside."""
        inside = self._summed(begin, end, self.links.values)
        return np.minimum(inside, 1.0), np.minimum(self._totals[0] - inside, 1.0)

    def linked(self, begin: int, end: int, first: int, last: int) -> float:
        """Return the share of words ``begin`` to ``end`` of the source that is linked to ``first`` to ``last``."""
        if begin == end:
            return 0.0
        these = slice(self.starts[begin], self.starts[end])
        rows, columns, values = (side[these] for side in self.links[:3])
        here = (columns >= first) & (columns < last)
        sums = np.bincount(rows[here] - begin, values[here], end - begin)
        return float(np.minimum(sums, 1).mean())

    def features(self, begin: int, end: int, begins: range | None = None, ends: range | None = None) -> SpanFeatures:
        """Return the features of spans of the target by first and last words, for a span of words of the source."""
        m = len(self.target.spans)
        begins, ends = begins or range(m), ends or range(m)
        inside, outside = self.mass(begin, end)
        unlinked = np.maximum(1.0 - inside - outside, 0.0)
        marks = self.target.marks
        best_inside = self._summed(begin, end, self._best)
        odds = np.log((inside + 0.05) / (outside + 0.05))
        found = [inside, outside, np.where(marks, 0.3 * odds, odds), unlinked * ~marks, unlinked * marks]
        found += [(inside > 0.5) & (inside > outside), (outside > 0.5) & (outside > inside)]
        within = np.stack([*found, best_inside, self._totals[1] - best_inside], 1).astype(np.float64)
        masses = inside, outside, unlinked
        first = self._edge(masses, begin, -1, 1, begins)
        last = self._edge(masses, end - 1, 1, -1, ends)
        return SpanFeatures(begins, ends, first, last, within, self._whole(begin, end, begins, ends))

    def _edge(self, masses: tuple[Floats, ...], own: int, outward: int, inward: int, words: range) -> Floats:
        """Return the features of spans that begin or end at words; ``outward`` is the way out of the span."""
        source, target, m = self.source, self.target, len(self.target.spans)
        inside, outside, unlinked = masses
        at_first = outward < 0

        def beside(values: Floats) -> Floats:
            out = np.zeros(m)
            if at_first:
                out[1:] = values[:-1]
            else:
                out[:-1] = values[1:]
            return out

        these = _slice(words)
        found = np.zeros((len(words), len(EDGE)))
        empty = (unlinked > 0.5) & ~target.marks
        lone = unlinked * target.short
        theirs = (target.first, target.before) if at_first else (target.last, target.after)
        ours = (source.first[own], source.before[own]) if at_first else (source.last[own], source.after[own])
        beyond = self.row(own + outward) if 0 <= own + outward < len(source.spans) else np.zeros(m)
        for k, values in enumerate(
            (
                *(inside, outside, unlinked, beside(inside), beside(outside), beside(unlinked)),
                *(self.row(own), beside(beyond), _runs(empty, inward), beside(_runs(empty, outward))),
                *(lone, beside(lone), target.gap_before if at_first else np.append(target.gap_before[1:], False)),
                *(theirs[0] == ours[0], theirs[1] == ours[1]),
                *((theirs[0] > 3) & (ours[0] <= 3), (theirs[0] <= 3) & (ours[0] > 3)),
            )
        ):
            found[:, k] = values[these]
        rows, n = np.arange(len(words)), len(DENSE)
        found[rows, n + ours[0] * len(INSIDE) + theirs[0][these]] = 1
        found[rows, n + _NUMBER_INSIDE + ours[1] * len(OUTSIDE) + theirs[1][these]] = 1
        return found

    def _whole(self, begin: int, end: int, begins: range, ends: range) -> Floats:
        source, target = self.source, self.target
        text = source.text[source.begins[begin] : source.ends[end - 1]]
        firsts, lasts = np.array(begins), np.array(ends)
        lengths = target.ends[None, lasts] - target.begins[firsts, None]
        far = np.log((np.maximum(lengths, 0) + 2.0) / (len(text) * self.ratio + 2.0))
        found = np.zeros((len(WHOLE), *lengths.shape))
        found[0], found[1] = np.maximum(far, 0), np.maximum(-far, 0)
        found[2], found[3] = found[0] ** 2, found[1] ** 2
        depth = target.depth[None, lasts + 1] - target.depth[firsts, None]
        found[4] = depth != source.depth[end] - source.depth[begin]
        quotes = target.quotes[None, lasts + 1] - target.quotes[firsts, None]
        found[5] = quotes % 2 != (source.quotes[end] - source.quotes[begin]) % 2
        if text in target.text:
            for k, place in enumerate(target.begins[firsts].tolist()):
                if target.text.startswith(text, place):
                    found[6, k] = target.ends[lasts] == place + len(text)
                    found[8, k] = lengths[k] > len(text)
        if end - begin == 1:
            found[7] = firsts[:, None] == lasts[None, :]
        return found


def _runs(these: npt.NDArray[np.bool_], way: int) -> Floats:
    """Return for each place how many in a row there are from it on, at most a few."""
    out, alive = np.zeros(len(these)), these[::way]
    for _ in range(_RUN):
        out += alive
        alive = alive & np.append(alive[1:], False)
    return out[::way]


#: How a mark was placed: by links; by what stands beside it; around all or at an end, as in the source; without text,
#: since others have it; as far along as in the source.
BY_LINKS, BY_NEIGHBOURS, BY_EDGE, SQUEEZED, BY_POSITION = "links", "neighbours", "edge", "squeezed", "position"
#: Words of a target of which all are looked at as begins and ends of a mark; in a longer one so many around a place.
_SHORT, _WINDOW = 256, 96
#: The best spans that are kept of a mark, and how often its scores are found anew where all of these are taken.
_SPANS, _TRIES = 64, 30
#: Marks for whose content it is kept where room is.
_KEPT = 16
#: Signs of notes besides numbers, and words that the number of a note has, brackets and all, at most.
_SIGNS, _NOTE = frozenset("*†‡§¶"), 8
#: From this on a number or sign is linked to what stands for it.
_SURE = 0.5
#: Less of the source's words linked than this: nothing is known of a span.
_UNLINKED = 0.05
#: Brackets that Japanese and others put around names of buttons and titles, which the source marks by the tag alone.
_ADDED = {"[": "]", "「": "」", "『": "』", "【": "】", "［": "］", "《": "》", "〈": "〉", "〔": "〕"}
#: The class of stops, the last one of letters, and how many words away a place is looked for where sentences touch.
_STOP, _LETTER, _NEAR = INSIDE.index("P"), INSIDE.index("C"), 4
#: How much a link of the word right beside a tag counts, against one of any other word on that side.
_BESIDE = 3.0


@dataclass
class Placed:
    """Where a mark stands: before word ``begin`` of the target, up to before word ``end``."""

    begin: int
    end: int
    confidence: float
    how: str


#: Scores and where spans begin and end, the best last.
_Ranked: TypeAlias = list[tuple[float, int, int]]


class WordSpan(NamedTuple):
    """The words of the source that a mark is around; none where ``begin == end``."""

    begin: int
    end: int


def word_span(begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], mark: Mark) -> WordSpan:
    """Return the words that a mark is around: those more than half of which lie in it; else before which one it is."""
    first, last = np.searchsorted((begins + ends) / 2, [mark.begin, mark.end])
    return WordSpan(int(first), max(int(first), int(last)))


def _best(scores: Floats, begins: range, ends: range) -> "_Ranked":
    """Return the best of scores by first and last word, from the worst of them to the best, and their spans."""
    flat = scores.ravel()
    found = np.argpartition(flat, -_SPANS)[-_SPANS:] if len(flat) > _SPANS else np.arange(len(flat))
    if len(flat) > _SPANS:  # of those that are as good as the last of them, the first ones
        least = flat[found[0]]
        better = np.flatnonzero(flat > least)
        found = np.append(better, np.flatnonzero(flat == least)[: _SPANS - len(better)])
    found = found[np.lexsort((-found, flat[found]))]
    firsts, lasts = np.divmod(found, scores.shape[1])
    spans = zip(flat[found].tolist(), (firsts + begins.start).tolist(), (lasts + ends.start + 1).tolist(), strict=True)
    return [span for span in spans if span[0] > -np.inf]


def _sign(word: str) -> str:
    """Return the number that a word is, in common digits, or the sign of a note; else nothing."""
    if word.isdigit():
        return "".join(str(unicodedata.digit(c)) for c in word)
    return word if word in _SIGNS else ""


def _is_joint(side: MarkupSide, word: int) -> bool:
    """Whether a sentence ends and another begins before a word, without a space between them."""
    if not 0 < word < len(side.spans) or side.gap_before[word] or side.first[word] > _LETTER:
        return False
    return bool(side.last[word - 1] == _STOP or (side.last[word - 1] == 1 and side.first[word] == 0))


class Placement:
    """The marks of one segment while they are placed; their places count the characters that ``evidence`` counts."""

    def __init__(self, marks: Sequence[Mark], evidence: Evidence, weights: Floats) -> None:
        self.marks, self.evidence, self.weights = marks, evidence, weights
        self.words = len(evidence.target.spans)
        source = evidence.source
        spans = [word_span(source.begins, source.ends, mark) for mark in marks]
        signs = ([_sign(side.text[a:b]) for a, b in side.spans] for side in (source, evidence.target))
        ours, theirs = (Counter(filter(None, own)) for own in signs)
        self._lacking = set(ours - theirs)
        self.source = [WordSpan(span.begin, span.begin) if self._is_left_out(span) else span for span in spans]
        self.parents = {mark.parent for mark in marks}
        self.found: list[Placed | None] = [None] * len(marks)
        #: Of those that are placed, their words; of others, from the first to the last word of what is placed in them.
        self.hulls: list[tuple[int, int] | None] = [None] * len(marks)
        #: By what they lie in, in order.
        self._taken: dict[int, list[tuple[int, int]]] = {parent: [] for parent in self.parents}

    def place(self) -> list[Placed]:
        """Place all marks."""
        if self.words:
            self._place_spans([k for k, span in enumerate(self.source) if span.end > span.begin])
        free = lru_cache(_KEPT)(self._free)
        for k, mark in enumerate(self.marks):
            if self.found[k] is None:
                self._place_point(k, free(mark.parent))
        return [one for one in self.found if one is not None]

    def _is_left_out(self, span: WordSpan) -> bool:
        """Whether a span is a note's number or sign, which the translation neither has nor links to anything."""
        source = self.evidence.source
        if not 0 < span.end - span.begin <= min(_NOTE, len(source.spans) - 1):
            return False
        words = [source.text[a:b] for a, b in source.spans[span.begin : span.end]]
        if self._lacking.isdisjoint(map(_sign, words)) or any(word[0].isalpha() for word in words):
            return False
        free = span.begin == 0 or source.gap_before[span.begin]
        return not free or bool(self.evidence.mass(span.begin, span.end)[0].sum() < _SURE)

    def _place_spans(self, around: list[int]) -> None:
        total = len(self.evidence.source.spans)
        known: dict[WordSpan, tuple[_Ranked, float]] = {}
        ranked: dict[int, _Ranked] = {}
        for k in around:
            span = self.source[k]
            if span == (0, total):
                self._fix(k, Placed(0, self.words, 1.0, BY_EDGE))
                continue
            if span not in known:
                scores, begins, ends = self._scores(span, 0, self.words)
                top = scores.max()
                known[span] = _best(scores, begins, ends), float(top + np.log(np.exp(scores - top).sum()))
            ranked[k] = list(known[span][0])
        norms = {k: known[self.source[k]][1] for k in ranked}
        tries = dict.fromkeys(ranked, _TRIES)
        # what a mark may have only gets less, so that its last score is the most that it can have
        surest = [(norms[k] - ranked[k][-1][0], k) for k in ranked]
        heapq.heapify(surest)
        while surest:
            _, k = heapq.heappop(surest)
            score, begin, end = ranked[k][-1]
            if not self._allowed(k, begin, end):
                while ranked[k] and not self._allowed(k, *ranked[k][-1][1:]):
                    ranked[k].pop()
                if not ranked[k] and tries[k]:
                    tries[k] -= 1
                    ranked[k] = self._best(k)
                if ranked[k]:
                    heapq.heappush(surest, (norms[k] - ranked[k][-1][0], k))
                continue
            begin, end = self._adjusted(k, begin, end)
            linked = self.evidence.mass(self.source[k].begin, self.source[k].end)[0].sum()
            how = BY_LINKS if linked > _UNLINKED else BY_NEIGHBOURS
            self._fix(k, Placed(begin, end, float(np.exp(score - norms[k])), how))

    def _scores(self, span: WordSpan, low: int, high: int) -> tuple[Floats, range, range]:
        """Return scores of spans by first and last word, and these words: of a long target those near the links."""
        begins = ends = range(self.words)
        if self.words > _SHORT:
            first, last = (int(np.argmax(self._point_scores(place))) for place in (span.begin, span.end))
            near = [min(max(word, low), high) - _WINDOW // 2 for word in (first, max(first, last))]
            begins, ends = (range(a, a + _WINDOW) for a in (min(max(a, 0), self.words - _WINDOW) for a in near))
        return self.evidence.features(span.begin, span.end, begins, ends).scores(self.weights), begins, ends

    def _adjusted(self, k: int, begin: int, end: int) -> tuple[int, int]:
        """Return a span as what stands at its ends wants it."""
        source, target, own = self.evidence.source, self.evidence.target, self.source[k]

        # where sentences touch without a space, it begins and ends between them if it does so in the source
        places = []
        for theirs, ours in ((begin, own.begin), (end, own.end)):
            near = range(theirs - _NEAR, theirs + _NEAR + 1) if _is_joint(source, ours) else ()
            joints = [j for j in near if _is_joint(target, j)]
            places.append(joints[0] if len(joints) == 1 else theirs)
        if places[0] < places[1] and self._allowed(k, *places):
            begin, end = places

        # a block has the stop behind it, which is no other block's, where the source has none
        if self.marks[k].name.lower() in BLOCKS and (own.end == len(source.spans) or source.first[own.end] != _STOP):
            stop = end
            while stop < self.words and target.first[stop] == _STOP and not target.gap_before[stop]:
                stop += 1
            if self._allowed(k, begin, stop):
                end = stop

        # it has the brackets that the translation puts around it, where the source has none there
        first = source.spans[own.begin][0]
        if source.text[max(first - 1, 0)] in _ADDED or source.text[first] in _ADDED:
            return begin, end
        for span in ((begin - 1, end + 1), (begin, end + 1), (begin - 1, end)):
            edges = [target.text[target.spans[j][0]] for j in (span[0], span[1] - 1) if 0 <= j < self.words]
            if len(edges) == 2 and _ADDED.get(edges[0]) == edges[1] and self._allowed(k, *span):
                return span
        return begin, end

    def _bounds(self, k: int) -> tuple[int, int, list[list[tuple[int, int]]]]:
        """Return where a mark may begin and end at the outmost, and what it may not overlap there."""
        low, high = 0, self.words
        blocked: list[list[tuple[int, int]]] = []
        while k >= 0:
            hull, parent = self.hulls[k], self.marks[k].parent
            if hull is not None and self.found[k] is not None:
                return max(low, hull[0]), min(high, hull[1]), blocked
            taken = self._taken[parent]
            if hull is None:
                if taken:
                    blocked.append(taken)
            else:  # what encloses both this and others must not enclose what it does not enclose in the source
                at = bisect_left(taken, hull)
                low = max(low, taken[at - 1][1] if at else 0)
                high = min(high, taken[at + 1][0] if at + 1 < len(taken) else self.words)
            k = parent
        return low, high, blocked

    def _best(self, k: int) -> _Ranked:
        """Return the best spans that a mark may have."""
        low, high, blocked = self._bounds(k)
        if low >= high:
            return []
        inner_low, inner_high = self.hulls[k] or (high, low)
        scores, begins, ends = self._scores(self.source[k], low, high)
        firsts, lasts = np.array(begins), np.array(ends)
        most = np.full(len(firsts), high)  # how far a span goes that begins with each word
        for taken in blocked:
            at = bisect_left(taken, begins.start, key=itemgetter(1))
            near = np.array([*taken[at : bisect_right(taken, (ends.stop, 0))], (high, self.words + 1)])
            most = np.minimum(most, near[np.searchsorted(near[:, 1], firsts, "right"), 0])
        right = lasts[None, :] < most[:, None]
        right &= ((firsts >= low) & (firsts <= inner_low))[:, None] & (lasts + 1 >= inner_high)[None, :]
        return _best(np.where(right, scores, -np.inf), begins, ends)

    def _allowed(self, k: int, begin: int, end: int) -> bool:
        low, high, blocked = self._bounds(k)
        inner_low, inner_high = self.hulls[k] or (high, low)
        if not low <= begin <= inner_low or not inner_high <= end <= high:
            return False
        for taken in blocked:
            at = bisect_right(taken, begin, key=itemgetter(1))
            if at < len(taken) and taken[at][0] < end:
                return False
        return True

    def _fix(self, k: int, placed: Placed) -> None:
        self.found[k] = placed
        begin, end = placed.begin, placed.end
        while k >= 0:
            old = self.hulls[k]
            hull = (begin, end) if old is None or self.found[k] is placed else (min(begin, old[0]), max(end, old[1]))
            if hull == old:
                return
            taken = self._taken[self.marks[k].parent]
            if old is not None:
                del taken[bisect_left(taken, old)]
            insort(taken, hull)
            self.hulls[k] = hull
            k = self.marks[k].parent
            if k >= 0 and self.found[k] is not None:
                return

    def _free(self, parent: int) -> Bools:
        """Return before which words marks without text may stand that lie in another: none within those beside them."""
        low, high = (self.hulls[parent] if parent >= 0 else None) or (0, self.words)
        steps = np.zeros(self.words + 2, np.int64)
        for begin, end in self._taken[parent]:
            if begin < end:
                steps[begin + 1] += 1
                steps[end] -= 1
        free: Bools = np.cumsum(steps)[:-1] <= 0
        free[:low], free[high + 1 :] = False, False
        if not free.any():
            free[low] = True
        return free

    def _place_point(self, k: int, free: Bools) -> None:
        """Place a mark without text in the source, or one for which no text is left, where others leave room."""
        span, total = self.source[k], len(self.evidence.source.spans)
        squeezed = span.end > span.begin
        hull = self.hulls[k]
        if hull is not None:  # only marks without text lie in it
            self._fix(k, Placed(*hull, 0.0, SQUEEZED if squeezed else BY_NEIGHBOURS))
            return
        scores = self._point_scores(span.begin)
        if span.begin == 0 and not squeezed:
            at, how, sure = int(np.argmax(free)), BY_EDGE, 1.0
        elif span.begin >= total and not squeezed:
            at, how, sure = int(self.words - np.argmax(free[::-1])), BY_EDGE, 1.0
        else:
            masked = np.where(free, scores, -np.inf)
            at, how = int(np.argmax(masked)), SQUEEZED if squeezed else BY_NEIGHBOURS
            weights = np.exp(masked - masked.max())
            sure = 0.0 if squeezed else float(1 / weights.sum())
        self._fix(k, Placed(at, at, sure, how))

    def _point_scores(self, word: int) -> Floats:
        """Return how well each place of the target fits a tag that stands before a word of the source."""
        total = len(self.evidence.source.spans)
        before, after = self.evidence.mass(0, word)
        scores = np.concatenate([[0.0], np.cumsum(before - after)])
        glued = 0 < word < total and self.evidence.source.spans[word][0] == self.evidence.source.spans[word - 1][1]
        if word > 0:
            scores[1:] += _BESIDE * self.evidence.row(word - 1) * (2 if not glued else 1)
        if word < total:
            scores[:-1] += _BESIDE * self.evidence.row(word)
        return scores
