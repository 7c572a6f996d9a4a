"""What can be chosen about learning the contrastive model's weights, with its defaults."""

import contextlib
import math
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import MUCH, PROBABILITY, SEED, Range, amounts, check, counts, shown

Start: TypeAlias = Literal["languages", "paper"]
Density: TypeAlias = Literal["base", "expected", "learned"]
Constraint: TypeAlias = Literal["none", "itg", "block-itg"]
Method: TypeAlias = Literal["risk", "mert"]
Optimizer: TypeAlias = Literal["sphere", "sgd"]
Candidates: TypeAlias = Literal["base", "all"]

#: Ways to make a corrupted copy of a sentence pair: exchange all words, leave one out, add one, replace one.
NOISE: tuple[str, ...] = ("shuffle", "delete", "insert", "replace")
#: What one kind of noise may count for beside others.
SHARE = Range(0, MUCH, above=True)
STARTS: tuple[Start, ...] = ("languages", "paper")
#: A start that comes in a file, and the one that all features take where none is named.
GIVEN, USUAL = "given", "languages"
DENSITIES: tuple[Density, ...] = ("base", "expected", "learned")
CONSTRAINTS: tuple[Constraint, ...] = ("none", "itg", "block-itg")
METHODS: tuple[Method, ...] = ("risk", "mert")
#: Steps that return to weights of the start's size; and the paper's plain stochastic gradient descent.
OPTIMIZERS: tuple[Optimizer, ...] = ("sphere", "sgd")
#: Cells that may be linked: those to which the base model gives some posterior, or all.
CANDIDATES: tuple[Candidates, ...] = ("base", "all")
#: Most files of other aligners' links.
MOST_FILES = 9
#: Passes, size of the first steps, and share of the start in what is learned: from the paper's start, and from those
#: that were learned beforehand.
PAPER_STEPS, TAUGHT_STEPS = (5, 0.05, 0.0), (5, 0.0001, 0.5)
#: The same with plain descent, as the authors' program has them, and what is added to a step's number.
SGD_RATE, SGD_PULL, SGD_DELAY = 1.0, 0.0, 1.0


def noise_shares(text: str) -> dict[str, float]:
    """Return the share of each kind of noise, 1 in all, that a choice such as ``shuffle:2,delete`` means.

    Raises
    ------
    UsageProblem
        For a kind that does not exist or comes twice, and for a share that is no number above 0.
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        kind, colon, number = (x.strip() for x in part.partition(":"))
        if kind not in NOISE:
            known = f"{', '.join(NOISE)}, or several with their shares, such as shuffle:2,delete:1"
            raise UsageProblem(f"noise is one of {known}, not {shown(kind)}")
        if kind in shares:
            raise UsageProblem(f"noise has {kind} twice")
        value: object = number
        if colon:
            with contextlib.suppress(ValueError):
                value = float(number)
            SHARE.check(f"the share of {kind} in noise", value)
        shares[kind] = float(number) if colon else 1.0
    total = math.fsum(shares.values())
    return {kind: share / total for kind, share in shares.items()}


@dataclass(frozen=True)
class ContrastiveSettings:
    """How weights are learned.

    Attributes
    ----------
    features : str
        Groups and names of features, with commas; see `features.select`.
    start : str or None
        What judges links, and weights to start from: learned from gold links of other ``languages``, or the
        ``paper``'s; or ``given`` in a file. None: ``languages`` with all features, else the paper's.
    sentences : int
        Pairs to learn from, chosen at random.
    noise : str
        How the corrupted copies (negative examples) are made: one of NOISE, or several with the share of pairs that
        are corrupted so: ``shuffle:2,delete:1``.
    n_best : int
        Alignments of a pair that stand for all in learning.
    learning_beam : int
        Beam width of the search for these.
    optimizer : str
        How steps are taken: on the ``sphere`` of the start's size, or plainly (``sgd``).
    passes : int or None
        Most passes over the pairs; 0 keeps the start. None: 5.
    rate, pull : float or None
        Size of the first steps; share of the start in what is learned. None: as the start suggests.
    density : str or None
        How many links: as the base model decides, as it expects, or as the weights say. None: ``base``.
    beam : int
        Beam width of the search.
    constraint : str
        Alignments that are allowed: all, or those that an inversion transduction grammar can build, of words or of
        blocks.
    candidates : str
        Cells that may be linked: those to which the ``base`` model gives some posterior, or ``all``.
    evidence_share : float or None
        What the log-odds of other aligners' links count for beside the base model's; with gold links, where learning
        begins. None: without gold as each file's estimated precision suggests.
    method : str
        With gold links: minimum risk, or minimum error rate training.
    folds : int
        With gold links: parts of the cross-validation; 0 for none.
    seed : int
    rounds : int or None
        Times that the base model is trained, each time after the first with the links that the judge found as priors.
        None: 2 where a network judges text of up to 100,000 pairs, unless training is to be quick.
    """

    features: str = "all"
    start: str | None = None
    sentences: int = 500
    noise: str = "shuffle"
    n_best: int = 5
    learning_beam: int = 3
    optimizer: Optimizer = "sphere"
    passes: int | None = None
    rate: float | None = None
    pull: float | None = None
    density: Density | None = None
    beam: int = 1
    constraint: Constraint = "none"
    candidates: Candidates = "base"
    method: Method = "risk"
    folds: int = 5
    seed: int = 1
    evidence_share: float | None = None
    rounds: int | None = None

    RANGES: ClassVar[dict[str, Range]] = {
        "sentences": counts(), "n_best": counts(1, 1000), "learning_beam": counts(1, 1000), "passes": counts(),
        "rate": amounts(0, 1000),
        "pull": PROBABILITY, "evidence_share": PROBABILITY, "beam": counts(1, 1000), "folds": counts(), "seed": SEED,
        "rounds": counts(1, 10),
    }  # fmt: skip

    def checked(self) -> "ContrastiveSettings":
        """Return the same settings.

        Raises
        ------
        UsageProblem
            When one of them does not exist or is outside its range.
        """
        choices = {
            "start": (None, *STARTS, GIVEN), "density": (None, *DENSITIES), "constraint": CONSTRAINTS,
            "method": METHODS, "optimizer": OPTIMIZERS, "candidates": CANDIDATES,
        }  # fmt: skip
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise UsageProblem(f"{name} is one of {', '.join(map(str, known))}, not {getattr(self, name)}")
        noise_shares(self.noise)
        check(self)
        return self

    @property
    def begins(self) -> str:
        """Where learning starts."""
        return self.start or (USUAL if self.features.strip() == "all" else "paper")

    @property
    def steps(self) -> tuple[int, float, float]:
        """Passes, size of the first steps, and share of the start, where they are not given."""
        passes, rate, pull = PAPER_STEPS if self.begins == "paper" else TAUGHT_STEPS
        plain = self.optimizer == "sgd"
        return (PAPER_STEPS[0], SGD_RATE, SGD_PULL) if plain else (passes, rate, pull)
