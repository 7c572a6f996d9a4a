"""What can be chosen about views."""

from dataclasses import dataclass

from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.ranges import counts


@documented
@dataclass(frozen=True)
class ModelViewing(Settings):
    """How much of a model is shown."""

    words: int = option(
        4000,
        "How many words of each side can be searched in the page, the most frequent ones.",
        allowed=counts(0, 1_000_000),
        group="Models",
    )
    best: int = option(10, "Translations of each word; words of each tag.", allowed=counts(1, 1000), group="Models")
