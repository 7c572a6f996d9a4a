"""What speaks for a span of the target as the counterpart of a span of the source.

A span has a linear score: of its first word and of what stands before it, of its last word and what stands behind,
summed over the words in it, and of the whole (its length, brackets that it cuts, whether it is a copy). So all spans of
a sentence are scored at once, as sums of vectors and of a few planes; those of a long one within windows of its words.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
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
_OPENERS = frozenset("([{（「『【〈《［〔“„«‘‹¿¡")
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
    "longer",
    "shorter",
    "longer squared",
    "shorter squared",
    "unbalanced",
    "quotes",
    "copy",
    "one word",
    "copy and more",
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
    """A sentence as spans are chosen in it.

    spans: Where its words begin and end.
    """

    def __init__(self, text: str, spans: Spans) -> None:
        self.text, self.spans = text, spans
        self.begins = np.array([a for a, _ in spans], np.int64)
        self.ends = np.array([b for _, b in spans], np.int64)
        first = [character_class(text[a]) for a, _ in spans]
        last = [character_class(text[b - 1]) for _, b in spans]
        self.first, self.last = np.array(first, np.int64), np.array(last, np.int64)
        self.before = np.array([self._beside(k, k - 1, last, first) for k in range(len(spans))], np.int64)
        self.after = np.array([self._beside(k, k + 1, first, last) for k in range(len(spans))], np.int64)

    def _beside(self, k: int, other: int, theirs: Sequence[int], own: Sequence[int]) -> int:
        """Return the number in `OUTSIDE` of what stands beside a word."""
        if not 0 <= other < len(self.spans):
            return 0
        if theirs[other] <= 3:
            glued = self.spans[max(k, other)][0] == self.spans[min(k, other)][1]
            return 1 if glued and theirs[other] != 2 and own[k] <= 3 and own[k] != 2 else 2
        return theirs[other] - 1

    @cached_property
    def marks(self) -> npt.NDArray[np.bool_]:
        """Which words are punctuation."""
        found: npt.NDArray[np.bool_] = self.first > 3
        return found

    @cached_property
    def short(self) -> npt.NDArray[np.bool_]:
        """Which words have at most three letters, none of them upper case."""
        found: npt.NDArray[np.bool_] = (self.first == 1) & (self.ends - self.begins <= 3)
        return found

    @cached_property
    def gap_before(self) -> npt.NDArray[np.bool_]:
        """Whether white space stands before a word."""
        found = np.zeros(len(self.spans), bool)
        found[1:] = self.begins[1:] > self.ends[:-1]
        return found

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


@dataclass(frozen=True, eq=False)
class SpanFeatures:
    """The features of spans of a target of ``m`` words for one span of the source.

    begins, ends: First and last words of the spans, ``b`` and ``e`` of them.
    first, last (float64 [b or e, len(EDGE)]): Of spans that begin, or end, with a word.
    within (float64 [m, len(WITHIN)]).
    whole (float64 [len(WHOLE), b, e]): By first and last word.
    """

    begins: range
    ends: range
    first: Floats
    last: Floats
    within: Floats
    whole: Floats

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each span, by first and last word; -inf where it would end before it begins.

        weights (float64): Of `EDGE` for first words, of `EDGE` for last ones, of `WITHIN`, of `WHOLE`.
        """
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
    """Links between the words of two sentences, those of a source word side by side.

    rows, columns (int64 [links]): Source and target words; ``rows`` do not fall.
    values (float64 [links]): Probabilities.
    shape: How many words there are.
    """

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
        """Return the features of spans of the target, for words ``begin`` to ``end`` of the source.

        begins, ends: First and last words of the spans; None for all.
        """
        m = len(self.target.spans)
        begins, ends = begins or range(m), ends or range(m)
        inside, outside = self.mass(begin, end)
        unlinked = np.maximum(1.0 - inside - outside, 0.0)
        marks = self.target.marks
        best_inside = self._summed(begin, end, self._best)
        odds = np.log((inside + 0.05) / (outside + 0.05))
        within = np.stack(
            [
                inside,
                outside,
                np.where(marks, 0.3 * odds, odds),
                unlinked * ~marks,
                unlinked * marks,
                (inside > 0.5) & (inside > outside),
                (outside > 0.5) & (outside > inside),
                best_inside,
                self._totals[1] - best_inside,
            ],
            1,
        ).astype(np.float64)
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
    out = np.zeros(len(these))
    values = these.astype(np.float64)
    alive = np.ones(len(these), bool)
    for shift in range(_RUN):
        moved = np.zeros(len(these))
        if way > 0:
            moved[: len(these) - shift] = values[shift:]
        else:
            moved[shift:] = values[: len(these) - shift]
        alive &= moved > 0
        out += alive
    return out


def feature_names() -> list[str]:
    """Return what each weight is of, in order."""
    edges = [f"{edge} {name}" for edge in ("first", "last") for name in EDGE]
    return [*edges, *(f"within {name}" for name in WITHIN), *(f"whole {name}" for name in WHOLE)]
