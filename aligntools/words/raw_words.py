"""Words and grapheme clusters of raw text in any language, by Unicode alone, where no tokenizer is named.

Letters and digits are apart, punctuation is one by one, words are cut where lower case turns to upper case. Of scripts
without spaces, a run of katakana is a word, and each other character.
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


_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
#: Han, hiragana, and scripts of South-East Asia, of which a word is a letter with its marks.
_SINGLE = "\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u309f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CLUSTERS = "\u0e01-\u0e4f\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3"


@cache
def _pattern() -> "re.Pattern[str]":
    joiners = marks()
    joined = f"\u200c\u200d{joiners}"  # joiners stand within words of Persian and of Indian languages
    apart = f"{_KATAKANA}{_SINGLE}{_CLUSTERS}"
    return re.compile(
        rf"[{_KATAKANA}]+|[{_SINGLE}][{joiners}]*|[{_CLUSTERS}][{joiners}]*"
        rf"|[^\W\d_{apart}](?:[^\W\d_{apart}]|[{joined}])*|\d+|\S"
    )


def raw_words(text: str) -> list[tuple[int, int]]:
    """Return where each word of a text begins and ends; none has a space in it, or a part of a grapheme cluster.

    Examples
    --------
    >>> [text[a:b] for text in ["Save-all v2.0"] for a, b in raw_words(text)]
    ['Save', '-', 'all', 'v', '2', '.', '0']
    """
    spans = []
    for found in _pattern().finditer(text):
        begin, end = found.span()
        word = found.group()
        if end - begin > 1 and not (word.islower() or word[1:].islower() or word.isupper()):
            # before a capital with a small letter before it, or only behind it
            last, start = len(word) - 1, begin
            for k in range(1, len(word)):
                if word[k].isupper() and (word[k - 1].islower() or (k < last - 1 and word[k + 1 : k + 3].islower())):
                    spans.append((begin, start + k))
                    begin = start + k
        spans.append((begin, end))
    return whole(text, spans)
