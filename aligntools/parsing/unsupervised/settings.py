"""What can be chosen about a grammar that is learned without trees."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, amounts, counts
from aligntools.parsing.settings import check_lengths

#: Expectation maximization, or variational Bayes.
Estimator: TypeAlias = Literal["em", "vb"]
#: What to do with punctuation: leave it out of the model and attach it afterwards, or take it for words.
Punctuation: TypeAlias = Literal["drop", "keep"]
PUNCTUATION: tuple[str, ...] = get_args(Punctuation)
_GROUP = "Without trees"


@documented
@dataclass(frozen=True)
class InducedParserSettings(Settings):
    """How the dependency model with valence is learned."""

    estimator: Estimator = option("em", "Expectation maximization, or variational Bayes.", group=_GROUP)
    prior: float = option(
        0.1,
        "em: added to the expected counts; vb: parameter of the symmetric Dirichlet priors.",
        allowed=amounts(),
        group=_GROUP,
        metavar="A",
    )
    punct: Punctuation = option(
        "drop",
        "Punctuation, by its tags: leave it out and attach it afterwards, or take it for words.",
        group=_GROUP,
    )
    min_length: int = option(
        1,
        "Leave out shorter sentences; punctuation does not count where it is dropped.",
        allowed=counts(1),
        group=_GROUP,
    )
    max_length: int = option(
        10,
        "Leave out longer sentences; punctuation does not count where it is dropped.",
        allowed=counts(1),
        group=_GROUP,
    )
    decay: float = option(
        1.0,
        "At the start, the probability of a head falls with its distance, to the power of minus this. 1 is the"
        " harmonic start of the paper.",
        allowed=amounts(0, 100),
        group=_GROUP,
    )
    iterations: int = option(100, "Largest number of iterations.", allowed=counts(1), group=_GROUP)
    tolerance: float = option(
        1e-4,
        "When to stop: as soon as two iterations in a row have improved the objective by less than this share.",
        allowed=PROBABILITY,
        group=_GROUP,
    )

    def rules(self) -> None:
        """Refuse limits that leave nothing, and variational Bayes without a prior."""
        if self.estimator == "vb" and not self.prior:
            raise UsageProblem("`estimator=vb` needs a `prior` above 0")
        check_lengths(self.min_length, self.max_length)
