"""What can be chosen about parsers and their training, with the defaults that measured best."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from aligntools.formats.text.text_settings import TagReading
from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, amounts, counts

#: Named sets of feature templates; see `feature_space.SETS`.
Features: TypeAlias = Literal["full", "prefixes", "delexicalized"]
#: What to do with given trees that have crossing edges or several roots.
Crossing: TypeAlias = Literal["skip", "lift"]
Roots: TypeAlias = Literal["skip", "join"]
#: Ways to the 12 universal tags; see `tagsets`.
TagMap: TypeAlias = Literal["none", "upos", "penn"]
#: Ways to transfer a parser, what is transferred of an edge, and entropies.
Method: TypeAlias = Literal["full", "direct", "projected"]
Transferred: TypeAlias = Literal["posterior", "score"]
Entropy: TypeAlias = Literal["shannon", "renyi"]

CROSSING: tuple[str, ...] = get_args(Crossing)
ROOTS: tuple[str, ...] = get_args(Roots)
MAPS: tuple[str, ...] = get_args(TagMap)
METHODS: tuple[Method, ...] = get_args(Method)
TRANSFERRED: tuple[Transferred, ...] = get_args(Transferred)
#: Longer sentences are not parsed: they get a flat tree.
LONGEST = 1000
#: Titles of groups of options.
_COMMON, _INPUT, _TREES, _GIVEN, _MODEL = "Common options", "Input", "Trees", "Trees of the treebank", "Model"
_TRAINING, _METHOD = "Training", "Method"
_PROJECTIVE = "trees without crossing edges, or {} all trees."
_SINGLE_ROOT = "Only trees with one word under the root, as Universal Dependencies requires, or with several too."
_LABELS = "Learn labels (nsubj, obj, ...) too, where there are any."
_L2 = (
    "How strongly weights are held near 0 (the paper's lambda): half of this times the sum of their squares is"
    " added to what is minimized. Larger trusts the {} less and generalizes more.{} The rest of what is"
    " minimized grows with the text, so the same value has less effect in a large one."
)


@documented
@dataclass(frozen=True)
class ParserReading(TagReading):
    """How text with tags is read for a parser."""

    map: TagMap | None = option(
        None,
        "Map tags to the 12 universal ones: from UPOS, or from the tags of the Penn Treebank. The output keeps"
        " the text's own tags.",
        otherwise="none, or the map that a model learned with",
        group=_INPUT,
    )

    @property
    def mapping(self) -> TagMap:
        """The map, where no model says which."""
        return self.map or "none"


@documented
@dataclass(frozen=True)
class TreeConstraints(Settings):
    """Which trees sentences may have."""

    projective: bool = option(True, "Learn over " + _PROJECTIVE.format("over"), group=_MODEL)
    single_root: bool = option(True, _SINGLE_ROOT, group=_MODEL)


@documented
@dataclass(frozen=True)
class LearningSettings(TreeConstraints):
    """What training on a treebank and transfer have in common."""

    features: Features = option(
        "full",
        "What edges are scored by: words and tags (full), also word beginnings (prefixes), or tags alone"
        " (delexicalized).",
        group=_MODEL,
    )
    bits: int = option(
        19,
        "Each kind of feature has room for at most 2^N weights; where it has more features than that, some share a"
        " weight. One more doubles the memory; change it if memory is short (less), or for a treebank of a million"
        " words (more).",
        allowed=counts(4, 24),
        group=_MODEL,
    )
    min_count: int = option(2, "Words that occur less often are unknown words.", allowed=counts(1), group=_MODEL)
    iterations: int = option(100, "Largest number of steps of L-BFGS.", allowed=counts(1), group=_TRAINING)
    tolerance: float = option(
        1e-4,
        "When to stop: as soon as two steps in a row have improved the objective by less than this share. Larger stops"
        " earlier: 0.001 for quick trials.",
        allowed=PROBABILITY,
        group=_TRAINING,
    )

    @property
    def constraints(self) -> TreeConstraints:
        """Which trees there are."""
        return TreeConstraints(self.projective, self.single_root)


@documented
@dataclass(frozen=True)
class ParserSettings(LearningSettings):
    """How a parser is trained on a treebank."""

    labels: bool = option(True, _LABELS, group=_COMMON)
    crossing: Crossing = option(
        "lift",
        "Trees with crossing edges: leave them out, or lift the edges (Nivre & Nilsson 2005).",
        excludes=("projective=False",),
        said="`crossing` changes nothing with `projective=False`: edges may cross",
        group=_GIVEN,
    )
    roots: Roots = option(
        "join",
        "Trees with several roots: leave them out, or put the others under the first.",
        excludes=("single_root=False",),
        said="`roots` changes nothing with `single_root=False`: trees may have several",
        group=_GIVEN,
    )
    min_length: int = option(1, "Leave out shorter sentences.", allowed=counts(1), group=_GIVEN)
    max_length: int = option(200, "Leave out longer sentences.", allowed=counts(1), group=_GIVEN)
    l2: float = option(5.0, _L2.format("treebank", ""), allowed=amounts(), group=_TRAINING)

    def rules(self) -> None:
        """Refuse limits that leave nothing."""
        check_lengths(self.min_length, self.max_length)


@documented
@dataclass(frozen=True)
class TransferSettings(LearningSettings):
    """How a parser is transferred to another language."""

    labels: bool = option(True, _LABELS, group=_COMMON)
    min_length: int = option(3, "Leave out pairs with a shorter sentence.", allowed=counts(1), group=_INPUT)
    max_length: int = option(100, "Leave out pairs with a longer sentence.", allowed=counts(1), group=_INPUT)
    min_aligned: float = option(
        0.8,
        "Leave out pairs with a smaller share of target words aligned one to one.",
        allowed=PROBABILITY,
        group=_INPUT,
        metavar="P",
    )
    max_pairs: int | None = option(
        None, "Use the first N of the pairs that are left.", allowed=counts(1), otherwise="all", group=_INPUT
    )
    method: Method = option(
        "full",
        "full: transferred distributions (Ma & Xia 2014); direct: the source parser without its words; projected:"
        " trees that the alignments support (McDonald, Petrov & Hall 2011).",
        group=_METHOD,
    )
    transferred: Transferred = option(
        "posterior",
        "What an aligned edge carries over from the source sentence (the paper's transferring weight, w in equation 8):"
        " how probable the source parser finds it there, or its bare score, as in the paper.",
        group=_METHOD,
    )
    gamma: float = option(
        0.03,
        "How much it counts that the parser is certain of its trees on unlabeled text (gamma in the paper's equation"
        " 11). Larger makes it more certain, also of mistakes; 0 leaves that text out.",
        allowed=amounts(),
        group=_METHOD,
    )
    direct_share: float = option(
        0.0,
        "Learn from unlabeled text in another way: from the trees of the parser so far and of the source parser"
        " without its words, combined with this share of the latter. 0.15 helped most languages tried, above all"
        " with few pairs, and harmed German.",
        allowed=PROBABILITY,
        group=_METHOD,
        metavar="P",
    )
    entropy: Entropy = option("shannon", "Entropy of Shannon or of Renyi.", group=_METHOD)
    alpha: float = option(2.0, "Order of Renyi's entropy.", allowed=amounts(0, 100, above=True), group=_METHOD)
    rounds: int = option(3, "How often projected transfer chooses its trees again.", allowed=counts(), group=_METHOD)
    reward: float = option(
        3.0,
        "For projected transfer: how much the alignment counts against the parser's own opinion. An edge that the"
        " source tree has too gains this much score, one that contradicts it loses as much. Larger follows the source"
        " trees more; 0 ignores them.",
        allowed=amounts(),
        group=_METHOD,
    )
    l2: float = option(
        100.0,
        _L2.format("transferred trees", " The default is higher than for a treebank, because these have mistakes."),
        allowed=amounts(),
        group=_TRAINING,
    )

    @property
    def order(self) -> float:
        """Order of the entropy: 1 is Shannon's."""
        return 1.0 if self.entropy == "shannon" else self.alpha

    def rules(self) -> None:
        """Refuse limits that leave nothing."""
        check_lengths(self.min_length, self.max_length)


def check_lengths(shortest: int, longest: int) -> None:
    """Refuse limits on the length of sentences that leave nothing."""
    if shortest > longest:
        raise UsageProblem(f"`min_length={shortest}` is above `max_length={longest}`: nothing is left")


@documented
@dataclass(frozen=True)
class ParserDecisions(Settings):
    """How trees are decided on."""

    labels: bool = option(True, "Write labels too, where the parser has learned any.", group=_COMMON)
    projective: bool | None = option(
        None, "Choose from " + _PROJECTIVE.format("from"), otherwise="as in training", group=_TREES
    )
    single_root: bool | None = option(None, _SINGLE_ROOT, otherwise="as in training", group=_TREES)
    max_length: int = option(
        LONGEST, "Longer sentences get a flat tree, and are counted.", allowed=counts(1), group=_TREES
    )

    def constraints(self, trained: TreeConstraints) -> TreeConstraints:
        """Return which trees there are to choose from, of a parser that was trained over some."""
        projective = trained.projective if self.projective is None else self.projective
        single_root = trained.single_root if self.single_root is None else self.single_root
        return TreeConstraints(projective, single_root)


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
