"""What can be chosen about carrying tags over."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from aligntools.ground.declarations import Settings, documented, option

Markup: TypeAlias = Literal["xml", "usfm"]
Splits: TypeAlias = Literal["once", "repeat"]


@documented
@dataclass(frozen=True)
class MarkupSettings(Settings):
    """How tags are placed."""

    markup: Markup = option(
        "xml",
        "Which tags segments have: those of XML and HTML, or USFM's markers (\\nd ...\\nd*, \\p, \\v 3, notes).",
        group="Tags",
    )
    split_spans: Splits = option(
        "once",
        "If the words in a tag are not adjacent in the translation: once puts the tag around all of them, repeat around"
        " each part. A link (<a>) and a tag with an id stand once always.",
        group="Tags",
    )
