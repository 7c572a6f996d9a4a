"""Scores of sentence pairs: how much speaks for a translation leaving something out, adding or repeating something."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aligntools.tools.checks.null_rates import MOST, Floats
from aligntools.tools.checks.segments import Span, maximal_spans
from aligntools.tools.checks.surface import compared, different_numbers, repetitions
from aligntools.words.placeholders import placeholders, visible

#: Words that languages write otherwise, and where they like.
_QUOTES = re.compile(r"[\"'`´«»‹›‘’‚‛“”„‟「」『』〝〞〟＂]+|&quot;|&apos;")

# The weights of a score were chosen on en-de and en-cs text.
#: What a span of the other side without a counterpart takes off, for each unit: spans on both sides are a free
#: translation more often than an omission and an addition.
FACING = 0.5
#: What each unit of the logarithm of a sentence's length takes off: a longer one has better spans by chance.
LENGTH = 0.5
#: What each standard deviation beyond the first adds by which a side is longer than usual.
LONGER = 0.5
#: What words add that are repeated at once, what each repeated word adds, and up to how many.
REPETITION, REPEATED_WORD, MOST_REPEATED = 8.0, 0.5, 16
#: What each number and each placeholder adds that one side alone has, up to `MOST_DIFFERENT` of each.
NUMBER, PLACEHOLDER, MOST_DIFFERENT = 2.0, 4.0, 4
#: What a blank side adds.
BLANK = 16.0
#: Spans with a lower sum of log-odds are not told.
LEAST_SPAN = 6.0
#: Pairs of a text from which on it tells itself how long translations are; the standard deviation of fewer.
ENOUGH, DEVIATION = 50, 0.3


class Differences(NamedTuple):
    """What one side of a pair has and the other has not."""

    #: of the source alone
    missing: list[str]
    #: of the target alone
    added: list[str]


@dataclass(frozen=True)
class Lengths:
    """How long translations are: the median and the standard deviation of ``ln(target words / source words)``."""

    middle: float
    deviation: float

    @classmethod
    def of(cls, lengths: npt.NDArray[np.int64], ratio: float) -> "Lengths":
        """Return those of a text, int64 [2, pairs]; of few pairs what the model's ratio says."""
        source, target = lengths[:, (lengths > 0).all(axis=0)].astype(np.float64)
        if len(source) < ENOUGH:
            return cls(float(np.log(ratio)) if ratio > 0 else 0.0, DEVIATION)  # 0: a model of no target words
        logs = np.log(target / source)
        middle = float(np.median(logs))
        return cls(middle, max(1.4826 * float(np.median(np.abs(logs - middle))), 0.05))

    def longer(self, source: int, target: int) -> tuple[float, float]:
        """Return by how many standard deviations each side is longer than usual; 0 for the other."""
        far = (float(np.log(target / source)) - self.middle) / self.deviation
        return max(0.0, -far), max(0.0, far)


@dataclass(frozen=True)
class Judged:
    """What was found in one pair."""

    score: float
    spans: tuple[list[Span], list[Span]]
    repeated: list[Span]
    numbers: Differences
    placeholders: Differences


def judge(
    sides: Sequence[Sequence[str]], odds: Sequence[Floats], lengths: Lengths, raw: Sequence[str] | None = None
) -> Judged:
    """Return what is found in a pair.

    sides: The words of both sides; at least one of each.
    odds ((float64 [source words], float64 [target words])): See `usual.log_odds`.
    raw: The sides as they stand, for placeholders and numbers; else the words with spaces between.
    """
    texts = raw if raw is not None else [" ".join(side) for side in sides]
    other = [placeholders(text) for text in texts]
    kept = [_words_of_text(side, text, own.hidden) for side, text, own in zip(sides, texts, other, strict=True)]
    found = [
        maximal_spans(np.where(words, side, np.minimum(side, 0)).tolist())
        for words, side in zip(kept, odds, strict=True)
    ]
    best = [max((span.score for span in spans), default=0.0) for spans in found]
    longer = lengths.longer(*(max(int(words.sum()), 1) for words in kept))
    by_side = []
    for k in (0, 1):
        of_length = LONGER * max(0.0, longer[k] - 1) - LENGTH * float(np.log(len(sides[k])))
        by_side.append(best[k] - FACING * best[1 - k] + of_length)
    score = max(by_side)
    score = float(np.logaddexp(score, 0.0))  # above 0, in the same order
    places = [np.flatnonzero(words).tolist() for words in kept]
    lower = [[side[k].lower() for k in at] for side, at in zip(sides, places, strict=True)]
    at_once, repeated_words = (_more(lower, only) for only in (True, False))
    again = repetitions(lower[1]) if repeated_words > 0 else []
    repeated = [Span(places[1][span.start], places[1][span.end - 1] + 1, span.score) for span in again]
    score += REPETITION * (at_once > 0) + REPEATED_WORD * min(repeated_words, MOST_REPEATED)
    shown = [visible(text, own.hidden) for text, own in zip(texts, other, strict=True)]
    numbers, lacking = Differences(*different_numbers(*shown)), Differences(*compared(*other))
    for weight, differences in ((NUMBER, numbers), (PLACEHOLDER, lacking)):
        score += weight * min(sum(map(len, differences)), MOST_DIFFERENT)
    told = [[span for span in spans if span.score >= LEAST_SPAN] for spans in found]
    return Judged(score, (told[0], told[1]), repeated, numbers, lacking)


def _words_of_text(words: Sequence[str], text: str, hidden: Sequence[tuple[int, int]]) -> npt.NDArray[np.bool_]:
    """Return which words are text [shape=(words,)]: neither placeholders nor tags, nor quotation marks."""
    kept = np.array([not _QUOTES.fullmatch(word) for word in words], bool)
    at, n = 0, 0
    for k, word in enumerate(words if hidden else ()):
        found = text.find(word, at)
        begin, at = (at, at) if found < 0 else (found, found + len(word))
        while n < len(hidden) and hidden[n][1] <= begin:
            n += 1
        if n < len(hidden) and hidden[n][0] < max(at, begin + 1):
            kept[k] = False
    return kept


def _more(sides: Sequence[Sequence[str]], at_once: bool) -> int:
    """Return how many more words are repeated in the target than in the source; 0 where there are fewer."""
    counts = [sum(span.end - span.start for span in repetitions(side, at_once)) for side in sides]
    return max(0, counts[1] - counts[0])


def judge_alone(sides: Sequence[Sequence[str]]) -> Judged:
    """Return what is found in a pair of which one side is blank: all words of the other have no counterpart."""
    spans = [[Span(0, len(side), MOST * len(side))] if side else [] for side in sides]
    score = max(span.score for own in spans for span in own)
    return Judged(BLANK + score, (spans[0], spans[1]), [], Differences([], []), Differences([], []))
