"""What can be chosen about scoring tags and trees."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from aligntools.formats.text.reading import check_separator
from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.ranges import counts

TagFormat: TypeAlias = Literal["auto", "conll", "tagged", "columns"]
Punctuation: TypeAlias = Literal["all", "conll", "ud"]
PUNCTUATION: tuple[Punctuation, ...] = get_args(Punctuation)
_COMMON, _FILES, _DECISIONS = "Common options", "Input and output", "Decisions"
_COLUMNS = "upos|xpos|N"
_FORMS = "Do not compare the words, only how many there are."


@documented
@dataclass(frozen=True)
class TagScoring(Settings):
    """How tags are scored."""

    CHANGES: ClassVar = "decisions"

    column: str | int = option(
        "upos", "Column of the tags in CoNLL, by name or by number from 1.", group=_COMMON, metavar=_COLUMNS
    )
    format: TagFormat = option(
        "auto",
        "tagged: word_TAG or word/TAG, one sentence per line. columns: one word and its tag per line. auto looks at the"
        " first lines.",
        group=_FILES,
    )
    separator: str | bytes | None = option(
        None,
        "Between word and tag in tagged text.",
        otherwise="_ or /, whichever the text has",
        group=_FILES,
        metavar="TEXT",
    )
    hyp_column: str | int | None = option(
        None, "Column of the tags in what is scored alone.", otherwise="column", group=_FILES, metavar=_COLUMNS
    )
    hyp_format: TagFormat | None = option(None, "Format of what is scored alone.", otherwise="format", group=_FILES)
    head: bool = option(False, "Score the first sentences of what has more of them than the gold.", group=_FILES)
    ignore_forms: bool = option(False, _FORMS, group=_FILES)

    def rules(self) -> None:
        """Refuse a separator that cannot stand within a word."""
        check_separator(self.separator)


@documented
@dataclass(frozen=True)
class TreeScoring(Settings):
    """How dependency trees are scored."""

    CHANGES: ClassVar = "decisions"

    punct: Punctuation = option(
        "all",
        "Words that count: all; conll: not those of punctuation characters alone (CoNLL 2006/2007); ud: not those with"
        " the gold tag PUNCT (or '.').",
        group=_COMMON,
    )
    conll18: bool = option(
        False,
        "Add the measures of the CoNLL 2018 shared task: LAS without subtypes, CLAS, MLAS, BLEX. Words and sentences"
        " may be others than the gold's; they are aligned by their characters. All else is of the gold's words.",
        group=_COMMON,
    )
    column: str | int = option(
        "upos", "Column with the gold tags, by name or by number from 1.", group=_FILES, metavar=_COLUMNS
    )
    ignore_forms: bool = option(False, _FORMS, group=_FILES)
    max_length: int | None = option(
        None,
        "Only sentences of at most N words that count.",
        allowed=counts(1),
        otherwise="all",
        group=_DECISIONS,
    )
    subtypes: bool = option(True, "Whether labels must agree behind a colon too (nsubj:pass).", group=_DECISIONS)
