"""What speaks for a span of the target as the counterpart of a span of the source.

A span has a linear score: of its first word and of what stands before it, of its last word and what stands behind,
summed over the words in it, and of the whole (its length, brackets that it cuts, whether it is a copy). So all spans of
a sentence are scored at once, as sums of vectors and of a few planes.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

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


class Side:
    """A sentence as spans are chosen in it.

    Parameters
    ----------
    text : str
    spans : sequence of (int, int)
        Where its words begin and end.
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
    """The features of all spans of a target for one span of the source, of ``m`` words.

    Attributes
    ----------
    first, last : float64 [m, len(EDGE)]
        Of spans that begin, or end, with a word.
    within : float64 [m, len(WITHIN)]
    whole : float64 [len(WHOLE), m, m]
        By first and last word.
    """

    first: Floats
    last: Floats
    within: Floats
    whole: Floats

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each span, by first and last word; -inf where it would end before it begins.

        Parameters
        ----------
        weights : float64
            Of `EDGE` for first words, of `EDGE` for last ones, of `WITHIN`, of `WHOLE`.
        """
        n = len(EDGE)
        sums = np.concatenate([[0.0], np.cumsum(self.within @ weights[2 * n : 2 * n + len(WITHIN)])])
        first = self.first @ weights[:n] - sums[:-1]
        last = self.last @ weights[n : 2 * n] + sums[1:]
        found: Floats = first[:, None] + last[None, :]
        found += np.tensordot(weights[2 * n + len(WITHIN) :], self.whole, 1)
        found[np.tril_indices(len(first), -1)] = -np.inf
        return found


#: How many weights there are.
SIZE = 2 * len(EDGE) + len(WITHIN) + len(WHOLE)


class Evidence:
    """Links of a sentence pair, as spans are judged by them.

    Parameters
    ----------
    source, target : Side
    links : float64 [source words, target words]
        Probabilities.
    """

    def __init__(self, source: Side, target: Side, links: Floats) -> None:
        self.source, self.target, self.links = source, target, links
        self.sums = np.vstack([np.zeros(links.shape[1]), np.cumsum(links, 0)])
        best = (links == links.max(1, initial=0, keepdims=True)) & (links > _BEST)
        self.best = np.vstack([np.zeros(links.shape[1]), np.cumsum(best, 0)])
        self.ratio = (len(target.text) + 1) / (len(source.text) + 1)

    def mass(self, begin: int, end: int) -> tuple[Floats, Floats]:
        """Return how far each target word is linked within a span of the source, and outside."""
        inside = self.sums[end] - self.sums[begin]
        return np.minimum(inside, 1.0), np.minimum(self.sums[-1] - inside, 1.0)

    def features(self, begin: int, end: int) -> SpanFeatures:
        """Return the features of all spans of the target, for words ``begin`` to ``end`` of the source."""
        inside, outside = self.mass(begin, end)
        unlinked = np.maximum(1.0 - inside - outside, 0.0)
        marks = self.target.marks
        best_inside = self.best[end] - self.best[begin]
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
                self.best[-1] - best_inside,
            ],
            1,
        ).astype(np.float64)
        masses = inside, outside, unlinked
        first, last = self._edge(masses, begin, -1, 1), self._edge(masses, end - 1, 1, -1)
        return SpanFeatures(first, last, within, self._whole(begin, end))

    def _edge(self, masses: tuple[Floats, ...], own: int, outward: int, inward: int) -> Floats:
        """Return the features of spans that begin or end at each word; ``outward`` is the way out of the span."""
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

        found = np.zeros((m, len(EDGE)))
        found[:, 0], found[:, 1], found[:, 2] = inside, outside, unlinked
        found[:, 3], found[:, 4], found[:, 5] = beside(inside), beside(outside), beside(unlinked)
        found[:, 6] = self.links[own]
        if 0 <= own + outward < len(source.spans):
            found[:, 7] = beside(self.links[own + outward])
        empty = (unlinked > 0.5) & ~target.marks
        found[:, 8] = _runs(empty, inward)
        found[:, 9] = beside(_runs(empty, outward))
        found[:, 10] = unlinked * target.short
        found[:, 11] = beside(unlinked * target.short)
        found[:, 12] = target.gap_before if at_first else np.append(target.gap_before[1:], False)
        theirs = (target.first, target.before) if at_first else (target.last, target.after)
        ours = (source.first[own], source.before[own]) if at_first else (source.last[own], source.after[own])
        found[:, 13], found[:, 14] = theirs[0] == ours[0], theirs[1] == ours[1]
        found[:, 15] = (theirs[0] > 3) & (ours[0] <= 3)
        found[:, 16] = (theirs[0] <= 3) & (ours[0] > 3)
        rows, n = np.arange(m), len(DENSE)
        found[rows, n + ours[0] * len(INSIDE) + theirs[0]] = 1
        found[rows, n + _NUMBER_INSIDE + ours[1] * len(OUTSIDE) + theirs[1]] = 1
        return found

    def _whole(self, begin: int, end: int) -> Floats:
        source, target = self.source, self.target
        text = source.text[source.begins[begin] : source.ends[end - 1]]
        lengths = target.ends[None, :] - target.begins[:, None]
        far = np.log((np.maximum(lengths, 0) + 2.0) / (len(text) * self.ratio + 2.0))
        found = np.zeros((len(WHOLE), *lengths.shape))
        found[0], found[1] = np.maximum(far, 0), np.maximum(-far, 0)
        found[2], found[3] = found[0] ** 2, found[1] ** 2
        depth = target.depth[None, 1:] - target.depth[:-1, None]
        found[4] = depth != source.depth[end] - source.depth[begin]
        quotes = target.quotes[None, 1:] - target.quotes[:-1, None]
        found[5] = quotes % 2 != (source.quotes[end] - source.quotes[begin]) % 2
        if text in target.text:
            at = -1
            while (at := target.text.find(text, at + 1)) >= 0:
                first = np.searchsorted(target.begins, at)
                last = np.searchsorted(target.ends, at + len(text))
                if first < len(lengths) and target.begins[first] == at:
                    found[8, first] = lengths[first] > len(text)
                if first < len(lengths) and last < len(lengths):
                    found[6, first, last] = target.begins[first] == at and target.ends[last] == at + len(text)
        if end - begin == 1:
            np.fill_diagonal(found[7], 1)
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
