"""What can be chosen where links are written, alignment files combined, and tables made of links."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from aligntools.formats.text.text_settings import PieceReading, Splitting
from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.ranges import PROBABILITY, counts

#: Heuristics over both directions' links; `aligntools.links.symmetrize` says what each does.
Heuristic: TypeAlias = Literal["union", "intersect", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"]


Flavor: TypeAlias = Literal["atools", "symal"]


#: How alignment files may be written.
FileFormat: TypeAlias = Literal["pharaoh", "giza"]
#: How links may be sorted.
Order: TypeAlias = Literal["source", "target"]
#: What scores of pairs are: log-probabilities under the model; eflomal's costs, of counts over the text's own links.
ScoreForm: TypeAlias = Literal["log", "eflomal"]
#: How links are written: alone, or with both sides before them.
LinkFormat: TypeAlias = Literal["pharaoh", "tsv"]
_FILES, _DECISIONS, _MORE = "Input and output", "Decisions", "More output"


@documented
@dataclass(frozen=True)
class CombiningSettings(PieceReading, Splitting):
    """How alignment files are read, combined and written."""

    format: FileFormat = option(
        "pharaoh", "giza: A3.final files of the two runs; the second one's links are inverted.", group=_FILES
    )
    index_base: int = option(
        0, "Number of the first word in the alignment files.", allowed=counts(0, 1), group=_FILES, metavar="0|1"
    )
    to: FileFormat = option(
        "pharaoh",
        "giza: write an A3.final file, with the words of `check`; each target word has one link at most.",
        group=_FILES,
    )
    order: Order | None = option(
        None,
        "Sort links by source or target word.",
        otherwise="source; target for symal's growing methods",
        group=_FILES,
    )
    flavor: Flavor = option("atools", "Whose scan order the growing methods follow.", group=_DECISIONS)


@documented
@dataclass(frozen=True)
class TableWriting(Settings):
    """Which entries of translation tables are written."""

    min_share: float = option(
        0.0,
        "In the tables, leave out a word's translations with less than this share of its highest probability.",
        allowed=PROBABILITY,
        group=_FILES,
        metavar="P",
    )
    null: bool = option(True, "Write the tables' entries with NULL.", group=_FILES)


@documented
@dataclass(frozen=True)
class ShortlistSettings(Settings):
    """How many translations a shortlist has."""

    top: int = option(100, "Translations of each word in the shortlist.", allowed=counts(1), group=_FILES)


@documented
@dataclass(frozen=True)
class LinkWriting(Settings):
    """In which form the links of a text and their scores are written."""

    score_form: ScoreForm = option(
        "log",
        "What `scores` writes: log-probabilities, or both directions' costs on eflomal's scale.",
        group=_MORE,
        needs=("scores",),
        excludes=("model", "decode=posterior"),
        when="eflomal",
    )
    link_probabilities: bool = option(False, "Write links as i-j:p, with their posteriors.", group=_MORE)
    output_format: LinkFormat = option(
        "pharaoh",
        "tsv: source TAB target TAB links, as OpusTrainer and Marian read it.",
        excludes=("link_probabilities",),
        when="tsv",
        group="Raw text, pieces, and text with links",
    )
