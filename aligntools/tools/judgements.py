"""Findings in a sentence pair: words without a link, and how improbable it is that they have none.

What is usual for a word is the mean of what its other places in the text show and of how much of it a model ascribes to
NULL. How surprising a place is are log-odds of two distributions of the probability of no link, in nine classes: that
of words whose counterpart was taken out of a translation, and that of other words as seldom linked as this one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aligntools.aligning.model import AlignmentModel
from aligntools.words.placeholders import Placeholders, placeholders, visible

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

#: Bounds of the classes of the probability that a word has no link: 1 less that of its best link.
UNLINKED = (0.02, 0.1, 0.25, 0.45, 0.65, 0.8, 0.92, 0.98)
#: Bounds of the classes of how often a word usually has none.
RATES = (0.05, 0.1, 0.2, 0.35, 0.55, 0.75)
#: Bounds of the classes of how much of a word a model ascribes to NULL; class 0 is of words that it does not know.
NULLS = (0.01, 0.03, 0.1, 0.3)

# The three tables were counted in 4,000 pairs of en-de and en-cs text, with models of 100,000 others.
#: How words are linked whose counterpart is not there: next to the same for all of them.
OMITTED = np.array([0.001, 0.003, 0.01, 0.022, 0.08, 0.16, 0.34, 0.2, 0.184])
#: The same of words in translations as they are, a row for each class of `RATES`.
USUAL = np.array(
    [
        [0.859, 0.066, 0.027, 0.015, 0.011, 0.009, 0.008, 0.003, 0.002],
        [0.720, 0.138, 0.062, 0.026, 0.020, 0.013, 0.011, 0.005, 0.005],
        [0.647, 0.129, 0.078, 0.045, 0.036, 0.021, 0.021, 0.012, 0.011],
        [0.483, 0.122, 0.093, 0.083, 0.071, 0.044, 0.050, 0.029, 0.025],
        [0.278, 0.110, 0.094, 0.109, 0.105, 0.085, 0.102, 0.065, 0.052],
        [0.127, 0.067, 0.076, 0.084, 0.141, 0.149, 0.163, 0.117, 0.076],
        [0.010, 0.029, 0.030, 0.054, 0.132, 0.165, 0.184, 0.207, 0.189],
    ]
)
#: How often words have no link, by shape (letters, digits, neither) and class of `NULLS`.
RATE_OF_CLASS = np.array(
    [
        [0.136, 0.03, 0.03, 0.105, 0.33, 0.762],
        [0.027, 0.02, 0.02, 0.03, 0.188, 0.5],
        [0.113, 0.03, 0.03, 0.059, 0.374, 0.788],
    ]
)
#: Places of a class that its row above counts as, and places that its rate counts as for a word.
CLASS_WEIGHT, WORD_WEIGHT = 50.0, 2.0
#: Log-odds of one word are held between plus and minus this.
MOST = 4.0
#: Part of the places of a text's words that NULL accounts for, in how `null_shares` weighs it.
_NULL_PLACES = 0.1


def shape_of(word: str) -> int:
    """Return the shape of a word: 0 with letters alone, 1 with a digit, 2 with neither."""
    if any(c.isdigit() for c in word):
        return 1
    return 0 if any(c.isalpha() for c in word) else 2


def null_shares(model: AlignmentModel) -> tuple[Floats, Floats] | None:
    """Return the shares of both vocabularies' words that are NULL's, float64 [words + 1]; None without whole words."""
    view = model.views[0]
    if view.letters:
        return None
    values = view.counts[0].astype(np.float64)
    rows = np.repeat(np.arange(len(view.table.ptr) - 1), np.diff(view.table.ptr))
    sizes = len(view.words.s_words), len(view.words.t_words)
    both = (np.bincount(rows, values, sizes[0]), np.bincount(view.table.ids, values, sizes[1]))
    found = []
    for linked, null, size in zip(both, (view.s_null, view.t_null), sizes, strict=True):
        alone = _NULL_PLACES * linked.sum() * null[:size]
        found.append(alone / (alone + linked[:size] + 0.5))
    return found[0], found[1]


class WordTypes:
    """The words of one side of a text: a number for each, and its class; ``shares``: see `null_shares`."""

    def __init__(self, model: AlignmentModel, side: int, shares: tuple[Floats, Floats] | None) -> None:
        self._shares = None if shares is None else shares[side]
        self._vocabulary = (model.source_vocabulary, model.target_vocabulary)[side]
        self._lowercase = model.lowercase
        self._ids: dict[str, int] = {}
        self._classes: list[int] = []

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the numbers of words; new words get the next ones."""
        words = [word.lower() for word in words] if self._lowercase else words
        new = list(dict.fromkeys(word for word in words if word not in self._ids))
        if new:
            known = self._vocabulary.ids([word.encode("utf-8", "replace") for word in new]).tolist()
            for word, id in zip(new, known, strict=True):
                self._ids[word] = len(self._ids)
                null = 0
                if id > 0 and self._shares is not None:
                    null = 1 + int(np.digitize(self._shares[id], NULLS))
                self._classes.append(shape_of(word) * (len(NULLS) + 2) + null)
        return [self._ids[word] for word in words]

    @property
    def classes(self) -> Ids:
        """The class of each word, a row and column of `RATE_OF_CLASS` as one number: int64 [numbers]."""
        return np.array(self._classes, np.int64)


def usual_rates(types: Ids, apart: Floats, classes: Ids) -> Floats:
    """Return how often the word of each place has no link elsewhere, smoothed by the rate of its class.

    types (int64 [places]): The word; apart (float64 [places]): its probability of no link; classes (int64 [words]).
    """
    count, total = np.bincount(types, minlength=len(classes)), np.bincount(types, apart, len(classes))
    fixed = RATE_OF_CLASS.ravel()
    of_class = CLASS_WEIGHT * fixed + np.bincount(classes, total, len(fixed))
    of_class /= CLASS_WEIGHT + np.bincount(classes, count, len(fixed))
    rate: Floats = total[types] - apart + WORD_WEIGHT * of_class[classes[types]]
    return rate / (count[types] - 1 + WORD_WEIGHT)


def log_odds(apart: Floats, rates: Floats) -> Floats:
    """Return log-odds of each place's word having no counterpart, by its ``apart`` and its rate; see `usual_rates`."""
    link, rate = np.digitize(apart, UNLINKED), np.digitize(rates, RATES)
    return np.asarray(np.clip(np.log(OMITTED[link] / USUAL[rate, link]), -MOST, MOST))


#: Words that occur again count as a repetition from this many on, where they do not follow each other at once.
AGAIN = 3
#: The longest part that is looked for right behind itself: a loop of a translation system is found by its beginning.
LONGEST_PERIOD = 50

_NUMBER = re.compile(r"\d+(?:[.,'’·\u00a0\u2009\u202f٫٬]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:(?P<mark>[^\d])\d{3})(?:(?P=mark)\d{3})*(?:[^\d](?P<rest>\d+))?")
#: TextNumbers of India: 12,34,567.
_INDIAN = re.compile(r"\d{1,2}(?:,\d\d)+,\d{3}")
_DATE = re.compile(
    r"(?<![\d.,:/-])(?:(\d{4}) ?([./-]) ?(\d{1,2}) ?\2 ?(\d{1,2})|(\d{1,2}) ?([./-]) ?(\d{1,2}) ?\6 ?(\d{4}|\d\d))"
    r"(?!\d|[.,/:-]\d)"
)
_TIME = re.compile(r"(?<![\d.,:])(\d{1,2}) ?: ?(\d\d)(?: ?: ?(\d\d))?(?!\d|[.,:]\d)")
_CONVERSION = re.compile(r"%(?!\d+\$)[^(%{<A-Z\d]*[\d.*lhqjztL]*[a-zA-Z@]")
_POSITION = re.compile(r"%\d+\$.+")


class Span(NamedTuple):
    """Words of one side of a pair, one after the other, and how much speaks for them having no counterpart."""

    #: first word, from 0
    start: int
    #: the word after the last
    end: int
    #: sum of the words' log-odds, natural logarithms
    score: float


def maximal_spans(scores: Sequence[float]) -> list[Span]:
    """Return the maximal scoring spans of a sequence (Ruzzo and Tompa 1999), in order; the best has the highest sum.

    None can be made longer or shorter without its sum falling, and none overlaps another. Linear time in practice.
    """
    # a candidate: start, end, sum of all that is before it, sum up to its end
    found: list[tuple[int, int, float, float]] = []
    total = 0.0
    for k, score in enumerate(scores):
        before, total = total, total + score
        if score <= 0:
            continue
        start, left, right = k, before, total
        while found:
            at = next((n for n in range(len(found) - 1, -1, -1) if found[n][2] < left), None)
            if at is None or found[at][3] >= right:
                break
            start, left = found[at][0], found[at][2]
            del found[at:]
        found.append((start, k + 1, left, right))
    return [Span(s, e, right - left) for s, e, left, right in found]


def repetitions(words: Sequence[str], at_once: bool = False) -> list[Span]:
    """Return the words that repeat what is before them: right behind it, or (not ``at_once``) three and more anywhere.

    ``a b a b`` repeats two words, and so does ``a a a``. Punctuation alone is none. Scores are numbers of words.
    """
    n = len(words)
    marked, lettered = [False] * n, [any(c.isalnum() for c in word) for word in words]
    for period in range(1, min(n // 2, LONGEST_PERIOD) + 1):
        run = 0
        for k in range(period, n + 1):
            if k < n and words[k] == words[k - period]:
                run += 1
                continue
            if run >= period and any(lettered[k - run : k]):
                marked[k - run : k] = [True] * run
            run = 0
    seen: dict[tuple[str, ...], int] = {}
    for k in range(0 if not at_once else n, n - AGAIN + 1):
        part = tuple(words[k : k + AGAIN])
        if seen.setdefault(part, k) + AGAIN <= k and all(lettered[k : k + AGAIN]):
            marked[k : k + AGAIN] = [True] * AGAIN
    edges = np.flatnonzero(np.diff([0, *marked, 0])).tolist()
    return [Span(a, b, float(b - a)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _value(number: str) -> str:
    """Return a number without the marks between thousands, and with a point before decimals."""
    if _INDIAN.fullmatch(number):
        return number.replace(",", "")
    if grouped := _GROUPED.fullmatch(number):
        whole = number if grouped["rest"] is None else number[: -len(grouped["rest"]) - 1]
        whole = "".join(c for c in whole if c.isdigit())
        return whole if grouped["rest"] is None else f"{whole}.{grouped['rest']}"
    return re.sub(r"\D", ".", number)


class TextNumbers(NamedTuple):
    """The numbers of a text, as they are compared: those of dates and times by themselves."""

    found: list[str]
    #: day and month in either order, and year
    dates: list[tuple[str, str, str]]
    #: hours, minutes and seconds
    times: list[tuple[str, ...]]


def _short(number: str) -> str:
    """Return a number of a date or a time, or another of up to two digits, without a zero before it."""
    return str(int(number)) if len(number) <= 2 else number


def numbers(text: str) -> TextNumbers:
    """Return the numbers of a text: ``1,000``, ``1.000`` and ``1 000`` (with a no-break space) are all 1000."""
    text = "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in text)
    found, at = TextNumbers([], [], []), 0

    def plain(end: int) -> None:
        found.found.extend(_short(_value(number)) for number in _NUMBER.findall(text[at:end]))

    for one in sorted([*_DATE.finditer(text), *_TIME.finditer(text)], key=lambda one: one.start()):
        if one.start() < at:
            continue
        if one.re is _TIME:
            parts = tuple(map(_short, filter(None, one.groups())))
            if int(parts[0]) > 24 or any(int(part) > 59 for part in parts[1:]):
                continue
            plain(one.start())
            found.times.append(parts)
        else:
            year, *others = map(_short, (one[1] or one[8], one[3] or one[5], one[4] or one[7]))
            low, high = sorted(map(int, others))
            if not 1 <= low <= 12 or high > 31:
                continue
            plain(one.start())
            found.dates.append((others[0], others[1], year))
            parts = tuple(map(_short, filter(str.isdigit, filter(None, one.groups()))))
        found.found.extend(parts)
        at = one.end()
    plain(len(text))
    return found


def _with_spaces(found: Sequence[str], wanted: Counter[str]) -> Iterator[str]:
    """Yield numbers, with groups of thousands behind each other as one where the other side has that."""
    k = 0
    while k < len(found):
        end = k + 1
        while end < len(found) and len(found[k]) <= 3 and re.fullmatch(r"\d{3}(\.\d+)?", found[end]):
            end += 1
            if wanted["".join(found[k:end])]:
                break
        whole = "".join(found[k:end])
        if end > k + 1 and wanted[whole]:
            yield whole
            k = end
        else:
            yield found[k]
            k += 1


def different_numbers(source: str, target: str) -> tuple[list[str], list[str]]:
    """Return the numbers of the source that the target does not have, and those that only the target has."""
    first, second = numbers(source), numbers(target)
    if first.found == second.found:
        return [], []
    one = Counter(_with_spaces(first.found, Counter(second.found)))
    two = Counter(_with_spaces(second.found, Counter(first.found)))
    left = one - two, two - one
    for side, (own, other) in enumerate(((first, second), (second, first))):
        _explain(own, left[side], left[1 - side], len(own.dates) > len(other.dates))
    return list((+left[0]).elements()), list((+left[1]).elements())


def _explain(own: TextNumbers, left: Counter[str], others: Counter[str], named: bool) -> None:
    """Take out of what one side alone has what dates and times may have otherwise: the other side may have names.

    A month may be a word where the other side has fewer dates of digits, a year may have two digits; an hour may be
    counted to 12, and minutes of a whole hour left out.
    """
    for date in own.dates:
        year = date[2]
        if left[year] > 0:
            for other in [other for other, count in others.items() if count > 0]:
                if {len(year), len(other.zfill(2))} == {2, 4} and int(other) % 100 == int(year) % 100:
                    left[year] -= 1
                    others[other] -= 1
                    break
        months = [part for part in date[:2] if int(part) <= 12 and left[part] > 0]
        if named and len(months) == 1 and left[year] <= 0:
            left[months[0]] -= 1
    for hour, *parts in own.times:
        if left[hour] > 0:
            for other in (str(int(hour) % 12), str(int(hour) % 12 + 12), str(int(hour) % 24)):
                if others[other] > 0:
                    left[hour] -= 1
                    others[other] -= 1
                    break
        if left[hour] <= 0:
            for part in parts:
                if part == "0" and left[part] > 0:
                    left[part] -= 1


def compared(source: Placeholders, target: Placeholders) -> tuple[list[str], list[str]]:
    """Return what is missing and what is added: branches of plurals count as far as all other cases need them."""
    if source.needed == target.needed:
        return [], []
    sides = [source, target]
    for side in (0, 1):
        if any(map(_POSITION.fullmatch, sides[side].needed)) or "{0}" in sides[side].needed:
            sides[1 - side] = _in_order(sides[1 - side], sides[side].needed)
    missing, added = (Counter(own.needed) - other.there for own, other in (sides, sides[::-1]))
    return list(missing.elements()), list(added.elements())


def _in_order(found: Placeholders, others: Sequence[str]) -> Placeholders:
    """Return placeholders of which those without a number have theirs, as the other side has numbers."""
    conversions, braces, numbered = count(1), count(), any(map(_POSITION.fullmatch, others))
    if any(map(_POSITION.fullmatch, found.needed)):
        return found
    needed = []
    for one in found.needed:
        if numbered and _CONVERSION.fullmatch(one):
            one = f"%{next(conversions)}${one[1:]}"
        elif one == "{}" and "{}" not in others:
            one = f"{{{next(braces)}}}"
        needed.append(one)
    changed = Counter(needed) - Counter(found.needed)
    return Placeholders(needed, found.there - (Counter(found.needed) - Counter(needed)) + changed, found.hidden)


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


class Judged(NamedTuple):
    """What was found in a pair: spans of each side; numbers and placeholders of the source and of the target alone."""

    score: float = 0.0
    spans: Sequence[Sequence[Span]] = ((), ())
    repeated: Sequence[Span] = ()
    numbers: Sequence[Sequence[str]] = ((), ())
    placeholders: Sequence[Sequence[str]] = ((), ())


def judge(
    sides: Sequence[Sequence[str]], odds: Sequence[Floats], lengths: Lengths, raw: Sequence[str] | None = None
) -> Judged:
    """Return what is found in a pair, by its words, their odds (float64 [words]), and the sides as they stand."""
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
    numbers, lacking = different_numbers(*shown), compared(*other)
    for weight, differences in ((NUMBER, numbers), (PLACEHOLDER, lacking)):
        score += weight * min(sum(map(len, differences)), MOST_DIFFERENT)
    told = [[span for span in spans if span.score >= LEAST_SPAN] for spans in found]
    return Judged(score, told, repeated, numbers, lacking)


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
    return Judged(BLANK + score, spans)
