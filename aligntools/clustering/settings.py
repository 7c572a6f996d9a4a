"""What can be chosen about word classes."""

from dataclasses import dataclass

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.ranges import SEED, counts


@documented
@dataclass(frozen=True)
class ClassSettings(Settings):
    """How words are clustered."""

    number: int = option(50, "Number of classes.", allowed=counts(1, 5_000), group="Common options")
    iterations: int = option(
        20,
        "Passes over the words in which they are drawn into classes, ever more surely, before those in which each word"
        " goes where it gains most.",
        allowed=counts(0, 100_000),
        group="Training",
    )
    restarts: int = option(
        1,
        "Number of times that words are clustered; the classes that predict their neighbours best are kept.",
        allowed=counts(1, 10_000),
        group="Training",
    )
    min_count: int = option(
        1, "Words with fewer occurrences share a class of their own.", allowed=counts(1), group="Training"
    )
    seed: int = option(
        1,
        "Seed of everything random; the same seed gives the same bytes.",
        allowed=SEED,
        group="Resources and messages",
    )
