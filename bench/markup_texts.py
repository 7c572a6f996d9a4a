"""Help texts with tags in English and other languages, and what a model learns from them and from more text."""

import random
import re
from collections import Counter

from aligntools.formats.markup.segments import decoded, parse_segment
from bench.transfer_texts import lines_of

#: More parallel text, by language.
MORE = {"de": "en-de/train", "fr": "en-fr/general", "ja": "en-ja/train"}
#: Spaces beside a letter that is not ASCII: there are none in Japanese.
_SPACE = re.compile(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])")


def elements(segment):
    """Return the name and the text of each element."""
    return [(m.name, decoded(segment.text[m.begin : m.end])[0]) for m in segment.marks if m.closing]


def strip(line):
    """Return a line's text, its entities as they are written."""
    return parse_segment(line).text


def segments(markup, language):
    """Return all segments of a language, as they are written: English and its translation."""
    sides = [(markup / f"en-{language}.{side}").read_text("utf-8").split("\n")[:-1] for side in ("en", language)]
    return list(zip(*sides, strict=True))


def with_tags(pairs):
    """Return the numbers of the segments that have the same tags on both sides, and some."""
    found = []
    for k, pair in enumerate(pairs):
        ours, theirs = (Counter(name for name, _ in elements(parse_segment(line))) for line in pair)
        if ours and ours == theirs:
            found.append(k)
    return found


def more(alignment, language, count):
    """Return pairs of more text, as raw as words that are apart can be."""
    sides = [lines_of(alignment / f"{MORE[language]}.{side}") for side in ("en", language)]
    pairs = list(zip(*sides, strict=True))
    random.Random(1).shuffle(pairs)
    return [(a, _SPACE.sub("", b) if language == "ja" else b) for a, b in pairs[:count]]


def common(gold, found):
    """Return how many elements of an original, a line, are among these, and how many it has."""
    ours = Counter(elements(parse_segment(gold)))
    return (ours & Counter(found)).total(), ours.total()


def right(gold, found):
    """Return how many elements of a translation have the name and the text that they have in the original."""
    return common(gold, elements(parse_segment(found)))
