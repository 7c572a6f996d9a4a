"""What can be chosen about carrying annotation over links."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem

LinkChoice: TypeAlias = Literal["best", "one-to-one", "vote"]
Projected: TypeAlias = Literal["lemma", "upos", "xpos", "feats", "head", "deprel"]
PROJECTED: tuple[Projected, ...] = get_args(Projected)
#: In place of a column with spans: the source is trees of constituents.
BRACKETS = "brackets"


@documented
@dataclass(frozen=True)
class ProjectionSettings(Settings):
    """What is carried over links, and over which."""

    columns: tuple[Projected, ...] = option(
        ("upos",),
        f"What is carried over: {', '.join(PROJECTED)}. With head, a relation is carried over where its edge is.",
        group="Common options",
        metavar="A,B",
    )
    spans: str | int | None = option(
        None,
        "Column with spans in BIO (B-PER I-PER O), carried over as spans; by name or by number from 1. Or brackets: the"
        " source is trees of constituents, which become partial trees in brackets.",
        group="Common options",
        metavar="xpos|misc|N|brackets",
    )
    links: LinkChoice = option(
        "best",
        "For a word with several links: best takes the most probable one (without probabilities, that of the"
        " source word with fewest links, then the one nearest to the diagonal), one-to-one takes none, and vote"
        " lets all linked words vote on labels (trees use the best).",
        group="Links",
    )

    @property
    def of_trees(self) -> bool:
        """Whether trees of constituents are carried over."""
        return self.spans == BRACKETS

    def rules(self) -> None:
        """Refuse to carry nothing over, and votes on trees."""
        if not self.columns and self.spans is None:
            raise UsageProblem("there is nothing to carry over; give `columns` or `spans`")
        if self.of_trees and self.links == "vote":
            raise UsageProblem("`links=vote` is for labels of words; with `spans=brackets` all links count")
