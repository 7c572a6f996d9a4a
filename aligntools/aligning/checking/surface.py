"""What can be compared without links: repetitions, numbers and placeholders of the two sides."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

from aligntools.aligning.checking.segments import Span

#: Words that occur again count as a repetition from this many on, where they do not follow each other at once.
AGAIN = 3
#: The longest part that is looked for right behind itself: a loop of a translation system is found by its beginning.
LONGEST_PERIOD = 50

_NUMBER = re.compile(r"\d+(?:[.,'’·\u00a0\u2009\u202f٫٬]\d+)*")
_GROUPED = re.compile(r"\d{1,3}(?:(?P<mark>[^\d])\d{3})(?:(?P=mark)\d{3})*(?:[^\d](?P<rest>\d+))?")
_PLACEHOLDER = re.compile(
    r"\{\{[^{}]{1,80}\}\}|\$?\{\s*[\w.:,# -]{0,80}\}"  # {0}, {name}, ${x}, {{x}}
    r"|%(?:\d+\$)?[-+#0]*\d*(?:\.\d+)?(?:l{1,2}|h{1,2}|z)?[sdifuxXcgeEG@](?![^\W\d_])"  # %s, %1$d
    r"|%\(\w+\)[sdifr]"  # %(name)s
    r"|</?[A-Za-z][\w:.-]{0,40}(?:\s[^<>]{0,200})?/?>"  # tags
)


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
    if grouped := _GROUPED.fullmatch(number):
        whole = number if grouped["rest"] is None else number[: -len(grouped["rest"]) - 1]
        whole = "".join(c for c in whole if c.isdigit())
        return whole if grouped["rest"] is None else f"{whole}.{grouped['rest']}"
    return re.sub(r"\D", ".", number)


def numbers(text: str) -> list[str]:
    """Return the numbers of a text: ``1,000``, ``1.000`` and ``1 000`` (with a no-break space) are all 1000."""
    return [_value(found) for found in _NUMBER.findall(_digits(text))]


def placeholders(text: str) -> list[str]:
    """Return the placeholders and tags of a text: ``{0}``, ``%s``, ``%1$d``, ``${name}``, ``<b>``."""
    return ["".join(found.split()) for found in _PLACEHOLDER.findall(text)]


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
    if first == second:
        return [], []
    one = Counter(_with_spaces(first, Counter(second)))
    two = Counter(_with_spaces(second, Counter(first)))
    return list((one - two).elements()), list((two - one).elements())


def different_placeholders(source: str, target: str) -> tuple[list[str], list[str]]:
    """Return the placeholders of the source that the target does not have, and those that only the target has."""
    one, two = Counter(placeholders(source)), Counter(placeholders(target))
    return list((one - two).elements()), list((two - one).elements())
