"""How text and models are read."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import counts
from aligntools.words.vocabulary import split_words

#: What is between the sides of a text that is one file: ``' ||| '``, a tab, or what its first line says.
InputFormat: TypeAlias = Literal["auto", "joint", "tsv"]
#: What separates words: spaces and tabs, or all white space at which Python's `str.split` splits.
Split: TypeAlias = Literal["spaces", "unicode"]
#: What text with tags is: CoNLL, word_TAG lines, one word and its tag a line, or plain text.
TextFormat: TypeAlias = Literal["auto", "conll", "tagged", "columns", "text"]
#: What finds words of raw text.
Tokenizer: TypeAlias = Literal["moses", "icu"]
#: Where sentences of raw text end: where the language's rules say so, or with each line.
RawSentences: TypeAlias = Literal["split", "lines"]
#: How pieces of words are marked; `aligntools.words.pieces` knows how.
Scheme: TypeAlias = Literal[
    "auto", "sentencepiece", "bpe", "wordpiece", "icu", "opennmt", "byte-level", "end-of-word", "underscore"
]
#: Words of the longer side above which a pair gets a blank line: kernels number positions in 16 bits.
LONGEST_RANGE = counts(1, 30_000)
_TEXT, _INPUT, _RAW = "Text and resources", "Input", "Raw text"
_OF_RAW: Any = {"needs": ("tokenize",), "said": "`{name}` goes with `tokenize`"}
_TOKENIZER = (
    "What finds words of raw text: the rules of Moses (needs aligntools[tokenize]) or of ICU (aligntools[icu]),"
    " which have dictionaries of Chinese, Japanese, Thai, Khmer, Lao and Burmese."
)


@documented
@dataclass(frozen=True)
class Splitting(Settings):
    """What lines of text are split at."""

    split: Split | None = option(
        None,
        "What separates words: spaces and tabs, or all of Unicode's white space, as for Python's str.split().",
        otherwise="spaces; with a saved model, as its training text was split",
        group=_TEXT,
    )


@documented
@dataclass(frozen=True)
class Loading(Settings):
    """How files of models are loaded."""

    verify: bool = option(True, "Check the checksums of model files on loading.", group=_TEXT)


@documented
@dataclass(frozen=True)
class PairReading(Splitting):
    """The separator of both sides of parallel text."""

    input_format: InputFormat = option(
        "auto",
        "What separates the sides in one file with both: ' ||| ' (joint) or a tab (tsv); auto looks at the first line,"
        " and reads TMX and XLIFF.",
        group=_TEXT,
    )
    languages: str | None = option(
        None,
        "Source and target language of one file with both: TMX, XLIFF, or a table whose first line names them.",
        otherwise="the two that TMX or XLIFF has",
        group=_TEXT,
        metavar="SRC,TGT",
    )


@documented
@dataclass(frozen=True)
class Reading(PairReading):
    """How parallel text is read."""

    case_sensitive: bool = option(False, "Distinguish upper and lower case.", group=_TEXT)
    max_length: int = option(2000, "A pair with a longer side gets a blank line.", allowed=LONGEST_RANGE, group=_TEXT)
    strict: bool = option(False, "Stop at the first pair that would get a blank line.", group=_TEXT)

    def arguments(self) -> dict[str, Any]:
        """Return what `aligntools.formats.text.bitext.read_bitext` and its kin take."""
        found = dict(vars(self))
        found.pop("split")  # it travels with a text's name: `white_space.split_as`
        return {"lowercase": not found.pop("case_sensitive")} | found


@documented
@dataclass(frozen=True)
class PieceReading(Settings):
    """How pieces of words are read."""

    scheme: Scheme = option(
        "auto",
        "How pieces are marked: by \u2581 before words (sentencepiece) or for spaces (icu), @@ (bpe), ## (wordpiece),"
        " \uffed (opennmt), \u0120 (byte-level), </w> (end-of-word), or _ for spaces (underscore).",
    )


@documented
@dataclass(frozen=True)
class Tokenizing(Settings):
    """How words of raw parallel text are found."""

    tokenize: str | None = option(
        None,
        "Tokenize raw text of these languages, such as de-en; links stay between its own words. icu: by ICU's rules,"
        " whatever the languages.",
        metavar="SRC-TGT|icu",
        when="icu",
        excludes=("tokenizer=moses",),
        said="`tokenize=icu` is by ICU's rules; `tokenizer={tokenizer}` does not go with it",
    )
    tokenizer: Tokenizer | None = option(None, _TOKENIZER, otherwise="moses", **_OF_RAW)


@documented
@dataclass(frozen=True)
class RawReading(Settings):
    """How sentences and words of raw text are found."""

    tokenize: bool = option(
        False,
        "The text is raw: find its sentences and words, and write CoNLL that says where its spaces are (needs"
        " aligntools[tokenize]).",
        group=_RAW,
    )
    tokenizer: Tokenizer | None = option(None, _TOKENIZER, otherwise="moses", group=_RAW, **_OF_RAW)
    language: str = option(
        "en",
        "Language of raw text, such as fr, whose rules find sentences and words.",
        group=_RAW,
        metavar="CODE",
        **_OF_RAW,
    )
    sentences: RawSentences = option(
        "split", "Split raw text into sentences, or take each of its lines for one.", group=_RAW, **_OF_RAW
    )

    def arguments(self) -> dict[str, Any]:
        """Return what `aligntools.formats.annotation.raw_text.stream_raw` takes."""
        return {"language": self.language, "sentences": self.sentences, "name": self.tokenizer or "moses"}


@documented
@dataclass(frozen=True)
class LinkReading(Settings):
    """How links are read."""

    reverse: bool = option(False, "The links are target-source: i of i-j is the target word.", group=_INPUT)
    index_base: int = option(0, "Number of the first word in links.", allowed=counts(0, 1), group=_INPUT, metavar="0|1")


@documented
@dataclass(frozen=True)
class TextReading(Settings):
    """How text is read that may have tags."""

    format: TextFormat = option("auto", "Format of the text; auto looks at its first lines.", group=_INPUT)
    separator: str | bytes | None = option(
        None, "Between word and tag.", otherwise="_ or /, whichever the text has", group=_INPUT, metavar="TEXT"
    )

    @property
    def mark(self) -> bytes | None:
        """The separator as files have it."""
        return self.separator.encode("utf-8", "surrogateescape") if isinstance(self.separator, str) else self.separator

    def rules(self) -> None:
        """Refuse a separator that cannot stand within a word."""
        check_separator(self.separator)


def check_separator(separator: str | bytes | None) -> None:
    """Refuse a separator of word and tag that cannot stand within a word."""
    if separator is not None and split_words(separator) != [separator]:
        raise UsageProblem("`separator` is one or more characters, none of them a space")


def check_predicted(predicted_columns: bool, format: str) -> None:
    """Refuse predicted columns of text that is no CoNLL."""
    if predicted_columns and format not in ("auto", "conll"):
        raise UsageProblem(f"`predicted_columns` is for CoNLL-2009; `format={format}` does not go with it")


@documented
@dataclass(frozen=True)
class ColumnReading(Settings):
    """Which columns of CoNLL are meant."""

    predicted_columns: bool = option(
        False,
        "In CoNLL-2009, read and write PLEMMA, PPOS, PFEAT, PHEAD and PDEPREL, and leave the gold columns as they are.",
        group=_INPUT,
    )


@documented
@dataclass(frozen=True)
class TagReading(ColumnReading, TextReading):
    """How text with tags is read."""

    column: str | int | None = option(
        None,
        "Column of CoNLL with the tags, by name or by number from 1.",
        otherwise="upos, or the column that a model learned from",
        group=_INPUT,
        metavar="upos|xpos|N",
    )

    def rules(self) -> None:
        """Refuse predicted columns of what has no columns."""
        super().rules()
        check_predicted(self.predicted_columns, self.format)

    @property
    def tags(self) -> str | int:
        """The column, where no model says which."""
        return "upos" if self.column is None else self.column


@documented
@dataclass(frozen=True)
class WordReading(Splitting, TextReading):
    """How the words of a text are read, whatever tags it may have."""
