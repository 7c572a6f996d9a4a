"""What can be chosen where alignment files are combined."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from aligntools.aligning.settings import Flavor
from aligntools.formats.text.reading import PieceReading, Splitting
from aligntools.ground.declaring import documented, option
from aligntools.ground.ranges import counts

#: How alignment files may be written.
FileFormat: TypeAlias = Literal["pharaoh", "giza"]
#: How links may be sorted.
Order: TypeAlias = Literal["source", "target"]
_FILES, _DECISIONS = "Input and output", "Decisions"


@documented
@dataclass(frozen=True)
class CombiningSettings(PieceReading, Splitting):
    """How alignment files are read, combined and written."""

    format: FileFormat = option(
        "pharaoh", "giza: A3.final files of the two runs; the second one's links are inverted.", group=_FILES
    )
    index_base: int = option(
        0,
        "What the first word is called in the alignment files.",
        allowed=counts(0, 1),
        group=_FILES,
        metavar="0|1",
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
