"""Options of scores."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from aligntools.formats.text.text_settings import Splitting, check_predicted, check_separator
from aligntools.ground.declarations import Settings, common_option, decision_option, documented, file_option, option
from aligntools.ground.ranges import amounts, counts

GoldFormat: TypeAlias = Literal["auto", "pharaoh", "naacl"]
Smoothing: TypeAlias = Literal["exp", "floor", "add-k", "none"]
TagFormat: TypeAlias = Literal["auto", "conll", "tagged", "columns"]
Punctuation: TypeAlias = Literal["all", "conll", "ud"]
PUNCTUATION: tuple[Punctuation, ...] = get_args(Punctuation)
#: Tags of words that EVALB leaves out (COLLINS.prm).
NOT_COUNTED = (",", ":", "``", "''", ".")
_COLUMNS = "upos|xpos|N"
_FORMS = "Do not compare the words, only how many there are."
_PREDICTED = "In CoNLL-2009, score the columns PPOS, PFEAT, PHEAD and PDEPREL against the gold file's gold columns."


@documented
@dataclass(frozen=True)
class GoldReading(Splitting):
    """How alignments and gold links are read."""

    gold_format: GoldFormat = file_option(
        "auto",
        "pharaoh: i-j sure, i?j or ipj possible, alone or after an id and a tab; ids #2, #17 are the lines to"
        " score. naacl: 'sentence i j [S|P]', counted from 1.",
    )
    index_base: int = file_option(
        0, "Number of the first word in the alignments and in Pharaoh gold.", allowed=counts(0, 1), metavar="0|1"
    )
    gold_base: int | None = file_option(
        None, "Number of the first word in the gold, where it differs.", allowed=counts(0, 1), metavar="0|1"
    )
    first_sentence: int | None = file_option(None, "naacl: number of the first line's sentence.", allowed=counts())

    def of_gold(self, sentences: int | None) -> dict[str, Any]:
        """Return what `aligntools.formats.links.goldlinks.read_gold` takes, for gold of this many sentences."""
        base = self.gold_base if self.gold_base is not None or not self.index_base else self.index_base
        return {
            "format": self.gold_format,
            "index_base": base,
            "first_sentence": self.first_sentence,
            "sentences": sentences,
        }


@documented
@dataclass(frozen=True)
class AlignmentScoring(GoldReading):
    """How alignments are scored against gold links."""

    head: bool = common_option(False, "Score the first lines of an alignment longer than the gold.")
    reverse: bool = file_option(False, "The alignments are target-source.")
    all_sure: bool = decision_option(False, "Take possible links as sure.", excludes=("ignore_possible",))
    ignore_possible: bool = decision_option(False, "Leave possible links out.")


@documented
@dataclass(frozen=True)
class TagScoring(Settings):
    """How tags are scored."""

    column: str | int = common_option(
        "upos", "Column of the tags in CoNLL, by name or by number from 1.", metavar=_COLUMNS
    )
    format: TagFormat = file_option(
        "auto",
        "tagged: word_TAG or word/TAG, one sentence per line. columns: one word and its tag per line. auto looks at the"
        " first lines.",
    )
    separator: str | bytes | None = file_option(
        None, "Between word and tag in tagged text.", otherwise="_ or /, whichever the text has", metavar="TEXT"
    )
    hyp_column: str | int | None = file_option(
        None,
        "Column of the tags in the scored files, if it differs from the gold's.",
        otherwise="as `column`",
        metavar=_COLUMNS,
    )
    hyp_format: TagFormat | None = file_option(
        None, "Format of the scored files, if it differs from the gold's.", otherwise="as `format`"
    )
    predicted_columns: bool = file_option(False, _PREDICTED)
    head: bool = file_option(False, "If the gold has fewer sentences than the scored files, score the first ones.")
    ignore_forms: bool = file_option(False, _FORMS)

    def rules(self) -> None:
        """Refuse a separator that cannot stand within a word, and predicted columns of what has no columns."""
        check_separator(self.separator)
        check_predicted(self.predicted_columns, self.hyp_format or self.format)


@documented
@dataclass(frozen=True)
class TreeScoring(Settings):
    """How dependency trees are scored."""

    punct: Punctuation = common_option(
        "all",
        "Words that count: all; conll: not those of punctuation characters alone (CoNLL 2006/2007); ud: not those with"
        " the gold tag PUNCT (or '.').",
    )
    conll18: bool = common_option(
        False,
        "Add the measures of the CoNLL 2018 shared task: LAS without subtypes, CLAS, MLAS, BLEX. Words and"
        " sentences may differ from the gold's; they are aligned by their characters. The other figures are of"
        " the gold's words.",
    )
    column: str | int = file_option("upos", "Column with the gold tags, by name or by number from 1.", metavar=_COLUMNS)
    predicted_columns: bool = file_option(False, _PREDICTED)
    ignore_forms: bool = file_option(False, _FORMS)
    max_length: int | None = decision_option(
        None, "Only sentences of at most N words that count.", allowed=counts(1), otherwise="all"
    )
    subtypes: bool = decision_option(True, "Whether labels must agree behind a colon too (nsubj:pass).")


@documented
@dataclass(frozen=True)
class BracketScoring(Settings):
    """How trees of constituents are scored."""

    leave_out: str = common_option(
        "evalb",
        "Words that do not count, by their gold tags: evalb: those of punctuation that EVALB leaves out (, : `` '' .);"
        " none; or tags, with spaces between.",
        metavar="TAGS",
    )
    unlabelled: bool = common_option(False, "Leave labels out.")
    whole: bool = decision_option(True, "Whether brackets around whole sentences and single words count.")
    functions: bool = decision_option(
        False,
        "Labels must agree in their functions, too (NP-SBJ).",
        excludes=("unlabelled",),
        said="`functions` are of labels, which `unlabelled` leaves out",
    )
    max_length: int | None = decision_option(
        None, "Only sentences of at most N words, punctuation counted.", allowed=counts(1), otherwise="all"
    )
    ignore_forms: bool = file_option(False, _FORMS)


@documented
@dataclass(frozen=True)
class TranslationScoring(Settings):
    """How translations are scored against references."""

    tokenize: Literal["none"] = option("none", "none: the text is scored as it is, words between spaces.")
    lowercase: bool = common_option(False, "Put everything in lower case.")
    smooth: Smoothing = decision_option("exp", "Smoothing of n-gram precisions of 0.")
    smooth_value: float | None = decision_option(
        None,
        "Value of floor and of add-k.",
        excludes=("smooth=exp", "smooth=none"),
        said="`smooth_value` does not go with `smooth={smooth}`",
        allowed=amounts(above=True),
        otherwise="0.1; 1",
    )
