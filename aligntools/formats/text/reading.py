"""How text and models are read."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.ranges import counts

#: What is between the sides of a text that is one file: ``' ||| '``, a tab, or what its first line says.
InputFormat: TypeAlias = Literal["auto", "joint", "tsv"]
#: What separates words: spaces and tabs, or all white space at which Python's `str.split` splits.
Split: TypeAlias = Literal["spaces", "unicode"]
#: Words of the longer side above which a pair gets a blank line: kernels number positions in 16 bits.
LONGEST_RANGE = counts(1, 30_000)
_TEXT = "Text and resources"


@documented
@dataclass(frozen=True)
class Splitting(Settings):
    """What lines of text are split at."""

    CHANGES: ClassVar = "reading"

    split: Split | None = option(
        None,
        "What separates words: spaces and tabs, or all of Unicode's white space, as for Python's str.split().",
        otherwise="spaces; with a saved model as in its training text",
        group=_TEXT,
    )


@documented
@dataclass(frozen=True)
class Loading(Settings):
    """How files of models are loaded."""

    CHANGES: ClassVar = "run"

    verify: bool = option(True, "Check the checksums of model files on loading.", group=_TEXT)


@documented
@dataclass(frozen=True)
class Reading(Splitting):
    """How parallel text is read."""

    case_sensitive: bool = option(False, "Keep upper and lower case apart.", group=_TEXT)
    input_format: InputFormat = option(
        "auto",
        "Of one file with both sides: ' ||| ' between them (joint) or a tab (tsv); auto looks at its first line.",
        group=_TEXT,
    )
    max_length: int = option(2000, "A pair with a longer side gets a blank line.", allowed=LONGEST_RANGE, group=_TEXT)
    strict: bool = option(False, "Stop at the first pair that would get a blank line.", group=_TEXT)

    def arguments(self) -> dict[str, Any]:
        """Return what `aligntools.formats.text.bitext.read_bitext` and its kin take."""
        found = asdict(self)
        found.pop("split")  # it travels with a text's name: `white_space.split_as`
        return {"lowercase": not found.pop("case_sensitive")} | found
