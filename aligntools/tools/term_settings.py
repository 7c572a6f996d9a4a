"""What can be chosen about term pairs."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, counts

# Patterns of tags that terms have: which stretches of a tagged text match one.
#
# A pattern is a regular expression over tags: names of tags with spaces between them, ``( )``, ``|``, ``*``, ``+``,
# ``?``, and ``.`` for any tag. Stretches of one length are looked at together; each sequence of tags is matched once.

_TOKEN = re.compile(r"\s+|([()|*+?.])|([^\s()|*+?.]+)")
#: Characters that stand for tags; those below them stand for tags that no pattern names.
_FIRST, _OTHER = 0xE000, "\ud7ff"


class TagPattern:
    """A pattern of tags; UsageProblem when it is none."""

    def __init__(self, text: str) -> None:
        self.text, self._characters = text, dict[str, str]()
        parts = []
        for found in _TOKEN.finditer(text):
            sign, tag = found.groups()
            if tag:
                parts.append(f"(?:{self._characters.setdefault(tag, chr(_FIRST + len(self._characters)))})")
            elif sign:
                parts.append("(?:" if sign == "(" else sign)
        try:
            self._compiled = re.compile("".join(parts), re.S)
        except (re.error, OverflowError, RecursionError) as error:
            problem = str(error).partition(" at position")[0]
            raise UsageProblem(
                f"`patterns`: '{text}' is no pattern of tags such as '(ADJ|NOUN)* NOUN' ({problem})"
            ) from None
        if not self._characters and "." not in text:
            raise UsageProblem("`patterns` names no tag; give a pattern such as '(ADJ|NOUN)* NOUN'")

    @property
    def tags(self) -> frozenset[str]:
        """The tags that it names."""
        return frozenset(self._characters)

    def matches(self, tags: list[str]) -> bool:
        """Return whether a sequence of tags matches, all of it."""
        return self._compiled.fullmatch("".join(self._characters.get(tag, _OTHER) for tag in tags)) is not None

    def stretches(self, tags: list[str], longest: int) -> np.ndarray:
        """Return which stretches of a text's tags match, by first word: bool [longest, words], row k of k + 1 words."""
        names = list(dict.fromkeys(tags))
        numbers = {name: number for number, name in enumerate(names)}
        ids = np.fromiter((numbers[tag] for tag in tags), np.int64, len(tags))
        found = np.zeros((longest, len(tags)), bool)
        codes = ids
        for length in range(1, min(longest, len(tags)) + 1):
            count = len(tags) - length + 1
            if length > 1:  # numbered anew for each length, so that codes stay small
                codes = codes[:count] * len(names) + ids[length - 1 :]
            _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
            good = np.array([self.matches(tags[at : at + length]) for at in first.tolist()], bool)
            codes = codes.reshape(-1)
            found[length - 1, :count] = good[codes]
        return found


#: How a list of terms is written; ``auto`` goes by the file's name.
TermFormat: TypeAlias = Literal["auto", "tsv", "csv", "tbx"]
_TERMS = "Terms"


@documented
@dataclass(frozen=True)
class TermSettings(Settings):
    """Which pairs of words and phrases are taken for terms.

    ``min_probability`` was chosen on en-it, by a dictionary.
    """

    min_count: int = option(3, "Least number of times that a term pair comes.", allowed=counts(1), group=_TERMS)
    max_words: int = option(4, "Most words of a term, on either side.", allowed=counts(1, 8), group=_TERMS)
    min_probability: float = option(
        0.25,
        "Least probability of each side given the other: how often, where the one comes, it is linked to the other.",
        allowed=PROBABILITY,
        group=_TERMS,
        metavar="P",
    )
    stop_words: bool = option(
        True,
        "No term begins or ends with a stop word; these are learned from the text: frequent words that are evenly"
        " spread, short, and have many translations.",
        group=_TERMS,
    )
    patterns: str | None = option(
        None,
        "Terms have tags like this, on the sides that have tags: a regular expression over tags, such as"
        " '(ADJ|NOUN)* NOUN'; . is any tag. Needs `source_tags` or `target_tags`.",
        group=_TERMS,
        metavar="PATTERN",
    )
    top: int | None = option(
        None, "Keep this many terms, those with the highest scores.", allowed=counts(1), group=_TERMS, otherwise="all"
    )

    def rules(self) -> None:
        """Refuse a pattern that is none."""
        if self.patterns is not None:
            TagPattern(self.patterns)


@documented
@dataclass(frozen=True)
class TermWriting(Settings):
    """How a list of terms is written."""

    output_format: TermFormat = option(
        "auto",
        "A table with tabs (tsv) or commas (csv), or TBX-Basic (tbx), which needs `languages`; auto goes by the"
        " output's name.",
        group="Common options",
    )
