"""What can be chosen about learning the contrastive model's weights, with its defaults."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, SEED, Range, amounts, check, counts

Start: TypeAlias = Literal["languages", "paper"]
Noise: TypeAlias = Literal["shuffle", "delete", "insert", "replace"]
Density: TypeAlias = Literal["base", "expected", "learned"]
Constraint: TypeAlias = Literal["none", "itg", "block-itg"]
Method: TypeAlias = Literal["risk", "mert"]

#: Ways to make a corrupted copy of a sentence pair: exchange all words, leave one out, add one, replace one.
NOISE: tuple[Noise, ...] = ("shuffle", "delete", "insert", "replace")
STARTS: tuple[Start, ...] = ("languages", "paper")
DENSITIES: tuple[Density, ...] = ("base", "expected", "learned")
CONSTRAINTS: tuple[Constraint, ...] = ("none", "itg", "block-itg")
METHODS: tuple[Method, ...] = ("risk", "mert")
#: Size of the first steps, and share of the start in what is learned: from each start.
RATES = {"languages": 0.0001, "paper": 0.05}
PULLS = {"languages": 0.5, "paper": 0.0}


@dataclass(frozen=True)
class ContrastiveSettings:
    """How weights are learned.

    Attributes
    ----------
    features : str
        Groups and names of features, with commas; see `features.select`.
    start : str or None
        Weights to start from: learned on other languages, or the paper's. None: ``languages`` with all features.
    sentences : int
        Pairs to learn from, chosen at random.
    noise : str
        How the corrupted copies (negative examples) are made.
    n_best : int
        Alignments of a pair that stand for all in learning.
    passes : int
        Most passes over the pairs; 0 keeps the start.
    rate, pull : float or None
        Size of the first steps; share of the start in what is learned. None: as the start suggests.
    density : str or None
        How many links: as the base model decides, as it expects, or as the weights say. None: ``base``.
    beam : int
        Beam width of the search.
    constraint : str
        Alignments that are allowed: all, or those that an inversion transduction grammar can build, of words or of
        blocks.
    method : str
        With gold links: minimum risk, or minimum error rate training.
    folds : int
        With gold links: parts of the cross-validation; 0 for none.
    seed : int
    """

    features: str = "all"
    start: Start | None = None
    sentences: int = 500
    noise: Noise = "shuffle"
    n_best: int = 5
    passes: int = 5
    rate: float | None = None
    pull: float | None = None
    density: Density | None = None
    beam: int = 1
    constraint: Constraint = "none"
    method: Method = "risk"
    folds: int = 5
    seed: int = 1

    RANGES: ClassVar[dict[str, Range]] = {
        "sentences": counts(), "n_best": counts(1, 1000), "passes": counts(), "rate": amounts(0, 1000),
        "pull": PROBABILITY, "beam": counts(1, 1000), "folds": counts(), "seed": SEED,
    }  # fmt: skip

    def checked(self) -> "ContrastiveSettings":
        """Return the same settings.

        Raises
        ------
        UsageProblem
            When one of them does not exist or is outside its range.
        """
        choices = {
            "start": (None, *STARTS), "noise": NOISE, "density": (None, *DENSITIES), "constraint": CONSTRAINTS,
            "method": METHODS,
        }  # fmt: skip
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise UsageProblem(f"{name} is one of {', '.join(map(str, known))}, not {getattr(self, name)}")
        check(self)
        return self

    @property
    def begins(self) -> Start:
        """Where learning starts."""
        return self.start or ("languages" if self.features.strip() == "all" else "paper")
