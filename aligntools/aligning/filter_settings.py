"""What can be chosen about filters of parallel text."""

from dataclasses import dataclass

from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.ranges import PROBABILITY, amounts

_LIMITS = "Limits"


@documented
@dataclass(frozen=True)
class FilterSettings(Settings):
    """Limits that sentence pairs must keep to pass a filter.

    The default of ``min_score`` was chosen on en-de, en-fr, en-cs and en-sv text with noise of four kinds.
    """

    min_score: float = option(
        0.25, "Least score of a pair that is kept.", allowed=PROBABILITY, group=_LIMITS, metavar="P"
    )
    min_coverage: float = option(0.0, "Least coverage of either side.", allowed=PROBABILITY, group=_LIMITS, metavar="P")
    min_probability: float | None = option(
        None,
        "Least log-probability per word, of the worse direction.",
        allowed=amounts(-1000, 0),
        group=_LIMITS,
        otherwise="any",
    )
    max_copied: float = option(
        0.8,
        "Largest share of the longer sentence's words that occur unchanged in the other.",
        allowed=PROBABILITY,
        group=_LIMITS,
        metavar="P",
    )
