"""What can be compared without links: repetitions, numbers and placeholders of the two sides."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from aligntools.tools.checks.segments import Span
from aligntools.words.placeholders import Placeholders

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


def _is_word(word: str) -> bool:
    return any(c.isalnum() for c in word)


def repetitions(words: Sequence[str], at_once: bool = False) -> list[Span]:
    """Return the words that repeat what is before them: right behind it, or three and more of them anywhere.

    ``a b a b`` repeats two words, and so does ``a a a``. Punctuation alone is none. A span's score is its
    number of words. With ``at_once`` only what is repeated right behind itself is found.
    """
    n = len(words)
    marked = [False] * n
    for period in range(1, min(n // 2, LONGEST_PERIOD) + 1):
        run = 0
        for k in range(period, n + 1):
            if k < n and words[k] == words[k - period]:
                run += 1
                continue
            if run >= period and any(map(_is_word, words[k - run : k])):
                marked[k - run : k] = [True] * run
            run = 0
    seen: dict[tuple[str, ...], int] = {}
    for k in range(0 if not at_once else n, n - AGAIN + 1):
        part = tuple(words[k : k + AGAIN])
        if seen.setdefault(part, k) + AGAIN <= k and all(map(_is_word, part)):
            marked[k : k + AGAIN] = [True] * AGAIN
    spans, k = [], 0
    while k < n:
        end = k
        while end < n and marked[end]:
            end += 1
        if end > k:
            spans.append(Span(k, end, float(end - k)))
        k = end + 1
    return spans


def _digits(text: str) -> str:
    return "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in text)


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
    text, found, at = _digits(text), TextNumbers([], [], []), 0

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
    one, two = sides
    return _without(one.needed, two.there), _without(two.needed, one.there)


def _without(needed: Sequence[str], there: Counter[str]) -> list[str]:
    return list((Counter(needed) - there).elements())


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
