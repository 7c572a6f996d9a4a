"""Words of raw text in any language, by Unicode alone: quick, and with their places.

For use where no tokenizer is named. Letters and digits are apart, punctuation is one by one, words are cut where lower
case turns to upper case (``newText``, ``ManagerNew``). Of scripts that are written without spaces, a run of katakana is
a word, and each other character.
"""

import re
from functools import cache

from aligntools.words import clusters

_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
#: Han, hiragana, and scripts of South-East Asia, of which a word is a letter with its marks.
_SINGLE = "\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u309f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CLUSTERS = "\u0e01-\u0e4f\u0e81-\u0edf\u1000-\u109f\u1780-\u17d3"


@cache
def _pattern() -> "re.Pattern[str]":
    marks = clusters.marks()
    joined = f"\u200c\u200d{marks}"  # joiners stand within words of Persian and of Indian languages
    apart = f"{_KATAKANA}{_SINGLE}{_CLUSTERS}"
    return re.compile(
        rf"[{_KATAKANA}]+|[{_SINGLE}][{marks}]*|[{_CLUSTERS}][{marks}]*"
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
            for cut in _case_changes(word):
                spans.append((begin, found.start() + cut))
                begin = found.start() + cut
        spans.append((begin, end))
    return clusters.whole(text, spans)


def _case_changes(word: str) -> list[int]:
    """Return where a word is cut: before an upper-case letter with a lower-case one before it, or only behind it."""
    last = len(word) - 1
    return [
        k
        for k in range(1, len(word))
        if word[k].isupper() and (word[k - 1].islower() or (k < last - 1 and word[k + 1 : k + 3].islower()))
    ]
