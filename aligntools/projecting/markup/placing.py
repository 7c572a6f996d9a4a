"""Where each mark of a segment comes to stand in its translation, so that all of them nest.

Each mark prefers spans by `features`; the surest is placed first, and what is placed bounds the others: a mark lies
within what it lay in, encloses what it enclosed, and overlaps nothing else. Tags that enclose no text go where what
stands on both sides of them is best kept apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligntools.formats.markup.segments import Mark
from aligntools.formats.markup.webpages import BLOCKS
from aligntools.projecting.markup.features import INSIDE, Evidence, Floats, Side

#: How a mark was placed: by links; by what stands beside it; around all or at an end, as in the source; without text,
#: since others have it.
BY_LINKS, BY_NEIGHBOURS, BY_EDGE, SQUEEZED = "links", "neighbours", "edge", "squeezed"
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


@dataclass(frozen=True)
class _Span:
    """The words of the source that a mark is around; none where ``begin == end``."""

    begin: int
    end: int


def word_span(begins: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], mark: Mark) -> tuple[int, int]:
    """Return the words that a mark is around: those more than half of which lie in it; else before which one it is."""
    middles = (begins + ends) / 2
    first, last = np.searchsorted(middles, [mark.begin, mark.end])
    return int(first), max(int(first), int(last))


def _is_joint(side: Side, word: int) -> bool:
    """Whether a sentence ends and another begins before a word, without a space between them."""
    if not 0 < word < len(side.spans) or side.gap_before[word] or side.first[word] > _LETTER:
        return False
    return bool(side.last[word - 1] == _STOP or (side.last[word - 1] == 1 and side.first[word] == 0))


class Placement:
    """The marks of one segment while they are placed.

    Parameters
    ----------
    marks : sequence of Mark
        Their places count the characters that ``evidence`` counts.
    evidence : Evidence
    weights : float64 [features.SIZE]
    """

    def __init__(self, marks: Sequence[Mark], evidence: Evidence, weights: Floats) -> None:
        self.marks, self.evidence, self.weights = marks, evidence, weights
        self.words = len(evidence.target.spans)
        source = evidence.source
        self.source = [_Span(*word_span(source.begins, source.ends, mark)) for mark in marks]
        self.found: list[Placed | None] = [None] * len(marks)
        self.hulls: list[tuple[int, int] | None] = [None] * len(marks)
        self._above = [self._ancestors(k) for k in range(len(marks))]

    def _ancestors(self, k: int) -> list[int]:
        out = []
        while (k := self.marks[k].parent) >= 0:
            out.append(k)
        return out

    def place(self) -> list[Placed]:
        """Place all marks."""
        around = [k for k in range(len(self.marks)) if self.source[k].end > self.source[k].begin]
        self._place_spans(around)
        for k in range(len(self.marks)):
            if self.found[k] is None:
                self._place_point(k)
        return [one for one in self.found if one is not None]

    def _place_spans(self, around: list[int]) -> None:
        waiting: dict[int, tuple[Floats, float]] = {}
        total = len(self.evidence.source.spans)
        for k in around:
            span = self.source[k]
            if not self.words:
                continue
            if (span.begin, span.end) == (0, total):
                self._fix(k, Placed(0, self.words, 1.0, BY_EDGE))
                continue
            scores = self.evidence.features(span.begin, span.end).scores(self.weights)
            top = scores.max()
            waiting[k] = scores, float(top + np.log(np.exp(scores - top).sum()))
        best = {k: self._best(k, scores) for k, (scores, _) in waiting.items()}
        while best:
            chosen = max(best, key=lambda k: (best[k][0] - waiting[k][1], -k))
            score, begin, end = best.pop(chosen)
            scores, norm = waiting.pop(chosen)
            if end > begin:
                begin, end = self._adjusted(chosen, begin, end)
                linked = self.evidence.mass(self.source[chosen].begin, self.source[chosen].end)[0].sum()
                how = BY_LINKS if linked > _UNLINKED else BY_NEIGHBOURS
                self._fix(chosen, Placed(begin, end, float(np.exp(score - norm)), how))
            for k in best:
                if end > begin and not self._allowed(k, best[k][1], best[k][2]):
                    best[k] = self._best(k, waiting[k][0])

    def _adjusted(self, k: int, begin: int, end: int) -> tuple[int, int]:
        """Return a span as what stands at its ends wants it."""
        for rule in (self._at_joints, self._with_stops):
            found = rule(k, begin, end)
            if found[0] < found[1] and self._allowed(k, *found):
                begin, end = found
        return self._with_brackets(k, begin, end)

    def _at_joints(self, k: int, begin: int, end: int) -> tuple[int, int]:
        """Return a span that begins and ends where sentences touch without a space, if it does so in the source."""
        source, target, own = self.evidence.source, self.evidence.target, self.source[k]
        places = []
        for theirs, ours in ((begin, own.begin), (end, own.end)):
            near = range(theirs - _NEAR, theirs + _NEAR + 1) if _is_joint(source, ours) else ()
            joints = [j for j in near if _is_joint(target, j)]
            places.append(joints[0] if len(joints) == 1 else theirs)
        return places[0], places[1]

    def _with_stops(self, k: int, begin: int, end: int) -> tuple[int, int]:
        """Return the span of a block with the stop behind it, which is no other block's, where the source has none."""
        source, target, own = self.evidence.source, self.evidence.target, self.source[k]
        if self.marks[k].name.lower() not in BLOCKS or (own.end < len(source.spans) and source.first[own.end] == _STOP):
            return begin, end
        while end < self.words and target.first[end] == _STOP and not target.gap_before[end]:
            end += 1
        return begin, end

    def _with_brackets(self, k: int, begin: int, end: int) -> tuple[int, int]:
        """Return a span with the brackets that the translation puts around it, where the source has none there."""
        source, target = self.evidence.source, self.evidence.target
        own = self.source[k]
        before = source.text[max(source.spans[own.begin][0] - 1, 0)]
        if before in _ADDED or source.text[source.spans[own.begin][0]] in _ADDED:
            return begin, end
        edges = [
            target.text[target.spans[j][0]] if 0 <= j < self.words else "" for j in (begin - 1, begin, end - 1, end)
        ]
        for opening, closing, span in (
            (edges[0], edges[3], (begin - 1, end + 1)),
            (edges[1], edges[3], (begin, end + 1)),
            (edges[0], edges[2], (begin - 1, end)),
        ):
            if opening in _ADDED and _ADDED[opening] == closing and self._allowed(k, *span):
                return span
        return begin, end

    def _related(self, k: int, other: int) -> bool:
        return k == other or other in self._above[k] or k in self._above[other]

    def _bounds(self, k: int) -> tuple[int, int, int, int, list[tuple[int, int]]]:
        """Return where a mark may begin and end at the outmost, what it has to enclose, and what it may not overlap."""
        low, high, inner_low, inner_high = 0, self.words, self.words, 0
        blocked: list[tuple[int, int]] = []
        for other, hull in enumerate(self.hulls):
            if hull is None or other == k:
                continue
            if other in self._above[k]:
                if self.found[other] is not None:
                    low, high = max(low, hull[0]), min(high, hull[1])
            elif k in self._above[other]:
                inner_low, inner_high = min(inner_low, hull[0]), max(inner_high, hull[1])
            else:
                blocked.append(hull)
                for above in self._above[k]:  # what encloses both this and others must not enclose that
                    own = self.hulls[above]
                    if own is None or self.found[above] is not None or self._related(above, other):
                        continue
                    if own[1] <= hull[0]:
                        high = min(high, hull[0])
                    else:
                        low = max(low, hull[1])
        return low, high, inner_low, inner_high, blocked

    def _best(self, k: int, scores: Floats) -> tuple[float, int, int]:
        """Return the best span that a mark may have, and its score; one without words where there is none."""
        low, high, inner_low, inner_high, blocked = self._bounds(k)
        mask = np.zeros(scores.shape, bool)
        mask[low : min(inner_low, high - 1) + 1, max(inner_high - 1, low) : high] = True
        for begin, end in blocked:
            if begin < end:
                mask[:end, begin:] = False
        masked = np.where(mask, scores, -np.inf)
        place = int(np.argmax(masked))
        first, last = divmod(place, self.words)
        if masked[first, last] == -np.inf:
            return -np.inf, 0, 0
        return float(masked[first, last]), first, last + 1

    def _allowed(self, k: int, begin: int, end: int) -> bool:
        low, high, inner_low, inner_high, blocked = self._bounds(k)
        within = low <= begin <= inner_low and inner_high <= end <= high
        return within and all(end <= a or b <= begin for a, b in blocked)

    def _fix(self, k: int, placed: Placed) -> None:
        self.found[k] = placed
        self.hulls[k] = placed.begin, placed.end
        for above in self._above[k]:
            hull = self.hulls[above]
            if self.found[above] is None:
                at = placed.begin, placed.end
                self.hulls[above] = at if hull is None else (min(hull[0], at[0]), max(hull[1], at[1]))

    def _place_point(self, k: int) -> None:
        """Place a mark without text in the source, or one for which no text is left."""
        span, total = self.source[k], len(self.evidence.source.spans)
        low, high, inner_low, inner_high, blocked = self._bounds(k)
        squeezed = span.end > span.begin
        if inner_low < inner_high or (inner_low == inner_high and self.hulls[k] is not None):
            begin, end = inner_low, inner_high  # only marks without text lie in it
            self._fix(k, Placed(begin, end, 0.0, SQUEEZED if squeezed else BY_NEIGHBOURS))
            return
        scores = self._point_scores(span.begin)
        free = np.zeros(self.words + 1, bool)
        free[low : high + 1] = True
        for begin, end in blocked:
            free[begin + 1 : end] = False
        if not free.any():
            free[low] = True
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
        links, total = self.evidence.links, len(self.evidence.source.spans)
        before, after = self.evidence.mass(0, word)[0], self.evidence.mass(word, total)[0]
        scores = np.concatenate([[0.0], np.cumsum(before - after)])
        glued = 0 < word < total and self.evidence.source.spans[word][0] == self.evidence.source.spans[word - 1][1]
        if word > 0:
            scores[1:] += _BESIDE * links[word - 1] * (2 if not glued else 1)
        if word < total:
            scores[:-1] += _BESIDE * links[word]
        return scores
