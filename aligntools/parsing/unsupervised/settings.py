"""What can be chosen about a grammar that is learned without trees."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, Range, amounts, check, counts

ESTIMATORS = ("em", "vb")
#: What to do with punctuation: leave it out of the model and attach it afterwards, or take it for words.
PUNCTUATION = ("drop", "keep")


@dataclass(frozen=True)
class InducedParserSettings:
    """How the dependency model with valence is learned.

    Attributes
    ----------
    estimator : str
        ``em`` or ``vb``: expectation maximization, or variational Bayes.
    prior : float
        EM: added to the expected counts, so that 0 is plain EM. Variational Bayes: parameter of the symmetric Dirichlet
        priors.
    punct : str
        One of `PUNCTUATION`.
    min_length, max_length : int
        Shorter and longer sentences are left out; punctuation does not count where it is dropped.
    decay : float
        In the start, a word's heads weigh their distance to the power of minus this; 1 is Klein & Manning's harmonic
        start.
    iterations : int
        Largest number of updates.
    tolerance : float
        Stop when two updates in a row gain less than this share of the objective.
    """

    estimator: str = "em"
    prior: float = 0.1
    punct: str = "drop"
    min_length: int = 1
    max_length: int = 10
    decay: float = 1.0
    iterations: int = 100
    tolerance: float = 1e-4

    RANGES: ClassVar[dict[str, Range]] = {
        "prior": amounts(), "min_length": counts(1), "max_length": counts(1), "iterations": counts(1),
        "tolerance": PROBABILITY, "decay": amounts(0, 100),
    }  # fmt: skip

    def header(self) -> dict[str, Any]:
        """Return the settings as model files and checkpoints name them."""
        return asdict(self)

    def checked(self) -> "InducedParserSettings":
        """Return the settings.

        Raises
        ------
        UsageProblem
            When one of them makes no sense, or two contradict each other.
        """
        for name, known in (("estimator", ESTIMATORS), ("punct", PUNCTUATION)):
            if getattr(self, name) not in known:
                raise UsageProblem(f"{name} '{getattr(self, name)}': choose one of {', '.join(known)}")
        check(self)
        if self.estimator == "vb" and not self.prior:
            raise UsageProblem("variational Bayes needs a prior above 0")
        if self.min_length > self.max_length:
            found = f"the shortest length, {self.min_length}, is above the longest, {self.max_length}"
            raise UsageProblem(f"{found}: nothing is left")
        return self
