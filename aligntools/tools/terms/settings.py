"""What can be chosen about term pairs."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.ranges import PROBABILITY, counts

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
        None, "Keep so many terms, those of the highest scores.", allowed=counts(1), group=_TERMS, otherwise="all"
    )

    def rules(self) -> None:
        """Refuse a pattern that is none."""
        if self.patterns is not None:
            from aligntools.tools.terms.patterns import TagPattern

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
