"""What can be chosen about a grammar of constituents that is learned without trees."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, amounts, counts

#: Expectation maximization, variational Bayes, or networks that make the rules: of all sentences, or of each.
Estimator: TypeAlias = Literal["em", "vb", "neural", "compound"]
#: What sentences consist of.
Terminals: TypeAlias = Literal["tags", "words"]
TERMINALS: tuple[str, ...] = get_args(Terminals)
#: What to do with punctuation: leave it out of the model and put it where it crosses nothing, or take it for words.
Punctuation: TypeAlias = Literal["drop", "keep"]
PUNCTUATION: tuple[str, ...] = get_args(Punctuation)
_GROUP = "Without trees"


@documented
@dataclass(frozen=True)
class InducedGrammarSettings(Settings):
    """How a grammar is learned from tags or words."""

    symbols: int = option(15, "Symbols above spans of two words and more.", allowed=counts(1, 200), group=_GROUP)
    estimator: Estimator = option(
        "em",
        "Expectation maximization; variational Bayes; or a neural or compound PCFG, whose rules a network makes.",
        group=_GROUP,
    )
    terminals: Terminals = option(
        "tags", "What the grammar is of. Only neural and compound PCFGs can be of words.", group=_GROUP
    )
    preterminals: int = option(
        60, "neural, compound: hidden symbols above words or tags.", allowed=counts(1, 500), group=_GROUP
    )
    width: int = option(
        256, "neural, compound: numbers of an embedding and of a layer.", allowed=counts(4, 1000), group=_GROUP
    )
    epochs: int = option(10, "neural, compound: passes over the text.", allowed=counts(1), group=_GROUP)
    prior: float = option(
        0.01,
        "em: added to the expected counts; vb: parameter of the symmetric Dirichlet priors.",
        allowed=amounts(),
        group=_GROUP,
        metavar="A",
    )
    punct: Punctuation = option(
        "drop",
        "Punctuation, by its tags: leave it out and put it back afterwards, or take it for words.",
        group=_GROUP,
    )
    max_length: int = option(
        20,
        "Without trees, leave out longer sentences; punctuation does not count where it is dropped.",
        allowed=counts(2),
        group=_GROUP,
    )
    restarts: int = option(1, "Learn from as many random starts, and keep the best.", allowed=counts(1), group=_GROUP)
    iterations: int = option(100, "Largest number of iterations.", allowed=counts(1), group=_GROUP)
    tolerance: float = option(
        1e-5,
        "When to stop: as soon as two iterations in a row have improved the objective by less than this share.",
        allowed=PROBABILITY,
        group=_GROUP,
    )
    seed: int = option(
        1, "Of the random start, or the noise by which split symbols begin to differ.", allowed=counts(0), group=_GROUP
    )

    def rules(self) -> None:
        """Refuse variational Bayes without a prior, and words where only tags can be learned from."""
        if self.terminals == "words" and not self.networks:
            raise UsageProblem("`terminals=words` needs `estimator=neural` or `estimator=compound`")
        if self.estimator == "vb" and not self.prior:
            raise UsageProblem("`estimator=vb` needs a `prior` above 0")

    @property
    def networks(self) -> bool:
        """Whether networks make the rules."""
        return self.estimator in ("neural", "compound")
