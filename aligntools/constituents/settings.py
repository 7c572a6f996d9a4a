"""What can be chosen about grammars of constituents that are learned from trees, and about parsing with them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, amounts, counts
from aligntools.ground.run import SEED_OPTION, Lists

#: Which tree is the best: the one whose rules are most probably right, or the most probable derivation.
Decode: TypeAlias = Literal["max-rule", "viterbi"]
DECODE: tuple[str, ...] = get_args(Decode)
_TRAINING, _DECISIONS = "Grammar", "Grammars of constituents"


@documented
@dataclass(frozen=True)
class GrammarSettings(Settings):
    """How a grammar is learned from trees."""

    horizontal: int | None = option(
        None,
        "How many siblings to the left an intermediate symbol of a long constituent knows.",
        allowed=counts(0, 20),
        otherwise="2; with `latent` 0",
        group=_TRAINING,
    )
    vertical: int | None = option(
        None,
        "How many labels a symbol has: its own, and those above it.",
        allowed=counts(1, 5),
        otherwise="2; with `latent` 1",
        group=_TRAINING,
    )
    latent: int = option(
        0,
        "Rounds in which symbols are split in two, trained, and merged where that costs least.",
        allowed=counts(0, 8),
        group=_TRAINING,
    )
    merge: float = option(
        0.5, "Share of the splits that are undone in each round.", allowed=PROBABILITY, group=_TRAINING
    )
    iterations: int = option(
        20,
        "Iterations of EM after symbols are split; half as many after they are merged.",
        allowed=counts(1),
        group=_TRAINING,
    )
    smoothing: float = option(
        0.01,
        "How far the probabilities of a split symbol's rules are drawn to their mean; of its words ten times as far.",
        allowed=amounts(0, 0.1),
        group=_TRAINING,
    )
    members: int = option(
        1,
        "Grammars that are learned with `latent`, with `seed` and the numbers after it. In parsing the probabilities of"
        " their rules are multiplied.",
        needs=("latent",),
        said="`members` differ by how `latent` splits symbols; give it with it",
        allowed=counts(1, 100),
        group=_TRAINING,
    )
    functions: bool = option(
        False, "Learn labels with their functions, such as NP-SBJ; indices are left out.", group=_TRAINING
    )
    seed: int = option(
        1,
        "Of the random start, or the noise by which split symbols begin to differ.",
        allowed=counts(0),
        group=_TRAINING,
    )

    @property
    def siblings(self) -> int:
        """``horizontal``, or its default."""
        return self.horizontal if self.horizontal is not None else (0 if self.latent else 2)

    @property
    def labels(self) -> int:
        """``vertical``, or its default."""
        return self.vertical if self.vertical is not None else (1 if self.latent else 2)


@documented
@dataclass(frozen=True)
class GrammarDecisions(Settings):
    """How sentences are parsed with a grammar of constituents."""

    decode: Decode = option(
        "max-rule",
        "max-rule: the tree whose rules are most probably right, together; viterbi: the most probable derivation,"
        " of the first of several grammars (`members`).",
        group=_DECISIONS,
    )
    pruning: float = option(
        1e-3,
        "Symbols above a span that are less probable than this under a coarse grammar, which has neither latent"
        " annotations nor markovization, are left out.",
        allowed=PROBABILITY,
        group=_DECISIONS,
        metavar="P",
    )
    keep_tags: bool | None = option(
        None,
        "Words have the tags that the text has, where it has some; or their tags are found, too.",
        otherwise="keep-tags; no-keep-tags where the text is trees in brackets",
        group=_DECISIONS,
    )
    max_length: int = option(
        150, "Longer sentences get a flat tree, and are counted.", allowed=counts(1), group=_DECISIONS
    )


@documented
@dataclass(frozen=True)
class TreeLists(Lists, Settings):
    """Which trees of each sentence are listed."""

    n_best: int | None = option(
        None,
        "Write the N best trees of each sentence, those whose rules are most probably right, together: the sentence's"
        " number, the tree, ln p(tree | words) and what trees are ordered by, ' ||| ' between them.",
        allowed=counts(1, 10**6),
        group=_DECISIONS,
        excludes=("samples",),
    )
    samples: int | None = option(
        None,
        "Write N trees of each sentence, drawn from p(tree | words): its number, the tree and ln p(tree | words).",
        allowed=counts(1, 10**6),
        group=_DECISIONS,
    )
    seed: int = option(**SEED_OPTION)


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
        "tags",
        "What the grammar is of. Only neural and compound PCFGs can be of words.",
        when="words",
        needs=("estimator=neural|estimator=compound",),
        said="`terminals=words` needs `estimator=neural` or `estimator=compound`",
        group=_GROUP,
    )
    brackets: bool = option(
        False,
        "The text is trees in brackets, and only trees that cross none of theirs are learned from. They may be partial,"
        " and labels do not count.",
        needs=("estimator=em|estimator=vb",),
        said="`brackets` are for `estimator=em` and `estimator=vb`",
        group=_GROUP,
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
        "drop", "Punctuation, by its tags: leave it out and put it back afterwards, or take it for words.", group=_GROUP
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
        """Refuse variational Bayes without a prior."""
        if self.estimator == "vb" and not self.prior:
            raise UsageProblem("`estimator=vb` needs a `prior` above 0")

    @property
    def networks(self) -> bool:
        """Whether networks make the rules."""
        return self.estimator in ("neural", "compound")
