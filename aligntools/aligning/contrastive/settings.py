"""What can be chosen about learning the contrastive model's weights, with its defaults."""

import contextlib
import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import MUCH, PROBABILITY, SEED, Range, amounts, counts, shown

Start: TypeAlias = Literal["languages", "paper"]
Density: TypeAlias = Literal["base", "expected", "learned"]
Constraint: TypeAlias = Literal["none", "itg", "block-itg"]
Method: TypeAlias = Literal["risk", "mert"]
Optimizer: TypeAlias = Literal["sphere", "sgd"]
Candidates: TypeAlias = Literal["few", "base", "all"]

#: Ways to make a corrupted copy of a sentence pair: exchange all words, leave one out, add one, replace one.
NOISE: tuple[str, ...] = ("shuffle", "delete", "insert", "replace")
#: Range of the share of a kind of noise.
SHARE = Range(0, MUCH, above=True)
STARTS: tuple[Start, ...] = get_args(Start)
#: The name of a start in a file, and the default start for all features.
GIVEN, USUAL = "given", "languages"
_LEARNING, _SEARCH = "Learning", "Search"
#: Most files of other aligners' links.
MOST_FILES = 9
#: Passes, size of the first steps, and share of the start in what is learned: from the paper's start, and from those
#: that were learned beforehand.
PAPER_STEPS, TAUGHT_STEPS = (5, 0.05, 0.0), (5, 0.0001, 0.5)
#: The same with plain descent, as the authors' program has them, and what is added to a step's number.
SGD_RATE, SGD_PULL, SGD_DELAY = 1.0, 0.0, 1.0


def noise_shares(text: str) -> dict[str, float]:
    """Return the share of each kind of noise, 1 in all, that a choice such as ``shuffle:2,delete`` means."""
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


@documented
@dataclass(frozen=True)
class ContrastiveSettings(Settings):
    """How the weights of features of whole alignments are learned, and how alignments are searched with them.

    ``start`` says what judges links, and the weights to start from: learned from gold links of other ``languages``, the
    ``paper``'s, or ``given`` in a file. None: ``languages`` with all features, else the paper's.
    """

    features: str = option(
        "all",
        "local, paper (the 16 of the paper), all, or names, with commas; -name leaves one out.",
        group=_LEARNING,
        metavar="LIST",
    )
    start: str | None = None
    sentences: int = option(500, "Pairs to learn from, chosen at random.", allowed=counts(), group=_LEARNING)
    noise: str = option(
        "shuffle",
        "How corrupted copies of the pairs (negative examples) are made: shuffle, delete, insert, replace, or"
        " several with their shares of the pairs, such as shuffle:2,delete:1.",
        group=_LEARNING,
        metavar="LIST",
    )
    n_best: int = option(
        5, "Alignments of each pair that approximate all of them in learning.", allowed=counts(1, 1000), group=_LEARNING
    )
    learning_beam: int = option(3, "Beam width of the search for these.", allowed=counts(1, 1000), group=_LEARNING)
    optimizer: Optimizer = option(
        "sphere",
        "sphere: steps that keep the length of the start's weights, and the weights of the best pass; sgd: plain"
        " stochastic gradient descent, as in the paper.",
        group=_LEARNING,
    )
    passes: int | None = option(
        None,
        "Most passes over the pairs in learning; 0 keeps the start.",
        allowed=counts(),
        otherwise="5; 0 where the encoder reads the text",
        group=_LEARNING,
    )
    rate: float | None = option(
        None,
        "Size of the first steps.",
        allowed=amounts(0, 1000),
        metavar="R",
        group=_LEARNING,
        otherwise="0.0001; from the paper's start 0.05; with sgd 1",
    )
    pull: float | None = option(
        None,
        "Share of the start weights in the learned weights.",
        allowed=PROBABILITY,
        metavar="P",
        group=_LEARNING,
        otherwise="0.5; from the paper's start and with sgd 0",
    )
    density: Density | None = option(
        None,
        "Number of links: as the base model decides, as it expects, or as the weights say.",
        group=_LEARNING,
        otherwise="base; learned where the encoder reads the text; with tables of another aligner expected",
    )
    method: Method = option(
        "risk", "With gold links: minimum risk, or minimum error rate training.", group=_LEARNING, needs=("gold",)
    )
    evidence_share: float | None = option(
        None,
        "Weight of other aligners' links compared with the base model's, 0 to 1; with gold links, the value that"
        " learning starts from.",
        allowed=PROBABILITY,
        metavar="P",
        group=_LEARNING,
        otherwise="by each file's estimated precision, mostly little; with gold links 0.25",
        needs=("evidence",),
    )
    folds: int = option(
        5,
        "With gold links: parts for the cross-validated error; 0 for none.",
        allowed=counts(),
        group=_LEARNING,
        needs=("gold",),
    )
    rounds: int | None = option(
        None,
        "How often the base model is trained; from the second time on, with the links that the start finds in"
        " the text as priors.",
        allowed=counts(1, 10),
        group=_LEARNING,
        otherwise="2; 1 with fast, a base model that is given, or the paper's start, and for more than 100,000 pairs"
        " of which no encoder reads a fifth",
    )
    beam: int = option(1, "Beam width.", allowed=counts(1, 1000), group=_SEARCH)
    constraint: Constraint = option(
        "none", "Allow only alignments that an ITG of words or blocks can build.", group=_SEARCH
    )
    candidates: Candidates | None = option(
        None,
        "Links that are tried: those with some posterior under the base model (base), fewer of these in less time"
        " (few), or all, as in the paper, which is many times slower.",
        group=_SEARCH,
        otherwise="base; few with more than 100,000 pairs",
    )
    seed: int = option(
        1, "Seed of everything random; the same seed gives the same bytes.", allowed=SEED, group="Text and resources"
    )

    def rules(self) -> None:
        """Refuse unknown starts and noise."""
        if self.start not in (None, *STARTS, GIVEN):
            raise UsageProblem(f"`start` is one of {', '.join(STARTS)}, or a file; not {shown(self.start)}")
        noise_shares(self.noise)

    @property
    def of_noise(self) -> tuple[str, ...]:
        """What was chosen of learning from noise, which gold links take the place of."""
        names = ("sentences", "noise", "n_best", "learning_beam", "optimizer", "passes", "rate", "pull")
        return tuple(name for name in names if getattr(self, name) != getattr(ContrastiveSettings, name))

    @property
    def begins(self) -> str:
        """The start, chosen by the features if none is named."""
        return self.start or (USUAL if self.features.strip() == "all" else "paper")

    @property
    def steps(self) -> tuple[int, float, float]:
        """Defaults of passes, of the size of the first steps, and of the share of the start."""
        if self.optimizer == "sgd":
            return PAPER_STEPS[0], SGD_RATE, SGD_PULL
        return PAPER_STEPS if self.begins == "paper" else TAUGHT_STEPS


_TEACHING = "Teaching"

#: Students of one size have about so many pairs together, but there are at most MOST of them.
TOGETHER, MOST = 2000, 6
#: The largest student's share of its text.
LARGEST = 0.5
#: Size of large students, and their views: `align` uses fewer views for much text.
LARGE, LARGE_VIEWS = 5000, (5,)
#: Steps of stochastic gradient descent for a network, and limits of the passes that give them.
STEPS, FEWEST_PASSES, MOST_PASSES = 2000, 8, 64


@documented
@dataclass(frozen=True)
class TeachingSettings(Settings):
    """How a start is taught."""

    students: tuple[int, ...] = option(
        (150, 300, 1000, 5000, 20000),
        "Sizes of the students' texts, in pairs. Small sizes are drawn several times; sizes over half of a text"
        " are left out.",
        allowed=counts(10),
        group=_TEACHING,
    )
    lessons: int = option(
        200,
        "Pairs of each student's text that the network learns from; for large students as many pairs from"
        " elsewhere in the text, too.",
        allowed=counts(1, 100_000),
        group=_TEACHING,
    )
    networks: int = option(2, "Networks that are averaged.", allowed=counts(1, 100), group=_TEACHING)
    passes: int | None = option(
        None,
        "How often each network passes over the lessons.",
        allowed=counts(1, 1000),
        group=_TEACHING,
        otherwise="8 to 64, the more the fewer lessons there are",
    )
    seed: int = option(
        1, "Seed of everything random; the same seed gives the same bytes.", allowed=SEED, group="Text and resources"
    )

    def rules(self) -> None:
        """Refuse to teach without students."""
        if not self.students:
            raise UsageProblem("there are no students; give their sizes, for instance `students=300,1000`")

    def enough(self, steps: float) -> int:
        """Return the number of passes over lessons of ``steps`` steps: the setting, or enough for about STEPS steps."""
        if self.passes is not None:
            return self.passes
        return min(max(round(STEPS / max(steps, 1.0)), FEWEST_PASSES), MOST_PASSES)

    def drawn(self, pairs: int) -> list[tuple[int, int, tuple[int, ...] | None]]:
        """Return the students of a text of ``pairs`` sentence pairs: (size, number, views)."""
        found: list[tuple[int, int, tuple[int, ...] | None]] = []
        for size in self.students:
            if size <= LARGEST * pairs:
                found += [(size, n, None) for n in range(min(max(TOGETHER // size, 1), MOST))]
                if size >= LARGE:
                    found.append((size, MOST, LARGE_VIEWS))
        return found
