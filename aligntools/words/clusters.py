"""Grapheme clusters: characters that are seen as one: an emoji with its skin tone, a letter with its accents.

No word ends within one. Characters that are not seen (marks of direction, soft hyphens, joiners) belong to the word
that they stand in. These are Unicode's rules (UAX 29) as far as its categories say them; `regex` and ICU, which know
all of them, are extras. A pictograph is any symbol here, and Hangul's letters are left to what finds words.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache

#: Not seen, and nothing ends there: soft hyphen, marks of direction, word joiner, Arabic signs above numbers, the BOM.
_UNSEEN = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_JOINERS, _FLAGS = "\u200c\u200d", "\U0001f1e6-\U0001f1ff"
#: What is part of the character before it, besides marks: vowels of Thai and Lao, sound marks of half width, skin
#: tones, tags, selectors of variants.
_MODIFIERS = "\u0e33\u0eb3\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"


@cache
def marks() -> str:
    """Return the class of combining marks, which belong to the character before."""
    ranges: list[list[int]] = []
    for number in range(0x300, min(sys.maxunicode, 0x1FFFF)):
        if unicodedata.category(chr(number))[0] == "M":
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


@cache
def _patterns() -> tuple["re.Pattern[str]", "re.Pattern[str]"]:
    """Return what finds characters that may be part of a cluster, and what finds clusters of several characters."""
    extending = f"{marks()}{_MODIFIERS}"
    never = f"{extending}{_JOINERS}{_UNSEEN}"
    letter = rf"(?:(?![_{never}])\w)"
    flag = rf"[{_FLAGS}]{{2}}[{never}]*"
    word = rf"{letter}(?:[{never}]|(?<=[{_JOINERS}{_UNSEEN}]){letter})*"
    joined = rf"(?<=\u200d)[^\w\s{never}{_FLAGS}]"
    symbol = rf"[^\s{never}](?:[{extending}{_JOINERS}]|{joined}|[{_UNSEEN}](?![{_UNSEEN}]*{letter}))*"
    whole = rf"[{_UNSEEN}]*(?:{flag}|(?P<word>{word})|{symbol})|[{never}]+"
    return re.compile(f"[{never}{_FLAGS}]"), re.compile(whole)


def whole(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places of words, those joined that a cluster stands across."""
    spans = list(spans)
    some, clusters = _patterns()
    if not some.search(text):
        return spans
    within = {at: found.start() for found in clusters.finditer(text) for at in range(found.start() + 1, found.end())}
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        if not joined or joined[-1][1] != begin or begin not in within:
            joined.append((begin, end))
            continue
        first, start = joined[-1][0], within[begin]
        if first < start and some.match(text, start):  # what is not seen belongs to the word behind it
            joined[-1:] = (first, start), (start, end)
        else:
            joined[-1] = first, end
    return joined


def in_letters(text: str) -> str:
    """Return a text as long, in which letters stand for what is in words besides: for what knows letters alone."""
    some, clusters = _patterns()
    if not some.search(text):
        return text

    def spelled(found: "re.Match[str]") -> str:
        if found["word"] is None:
            return found.group()
        base = found["word"][0]
        return "".join(c if c.isalnum() else base for c in found.group())

    return clusters.sub(spelled, text)
