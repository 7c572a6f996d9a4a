"""What can be chosen about taggers and their training, with the defaults that measured best."""

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from aligntools.formats.text.text_settings import check_separator
from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, amounts, counts
from aligntools.ground.run import SEED_OPTION, Lists

Decoder: TypeAlias = Literal["posterior", "viterbi"]
#: Ways to learn tags from untagged text: expectation maximization, variational Bayes, maximum reconstruction after EM.
Estimator: TypeAlias = Literal["em", "vb", "mre"]
TagFile: TypeAlias = Literal["same", "tagged", "conll"]
#: What is learned of CoNLL: its syntactic words, or surface tokens.
Units: TypeAlias = Literal["words", "surface"]

DECODERS: tuple[Decoder, ...] = get_args(Decoder)
#: Share of a word's weight in a dictionary from which a tag counts as one of its tags.
MIN_SHARE = 0.3
#: Sequences of tags of each sentence.
SEQUENCES = counts(1, 100_000)
#: Titles of groups of options.
_KNOWN, _TRAINING, _TAGGERS, _INDUCED = "Tags that are not all known", "Training", "Taggers", "Induced tags"
_OUTPUT, _PROBABILITIES = "Input and output", "Probabilities"
_SHARE: dict[str, Any] = {
    "default": MIN_SHARE,
    "help": "Leave out of the dictionary tags with a smaller share of their word's weight.",
    "allowed": PROBABILITY,
    "group": _KNOWN,
    "metavar": "P",
}


@documented
@dataclass(frozen=True)
class TagSmoothing(Settings):
    """How counts become probabilities; each value is a number of observations of what is backed off to."""

    transitions: float = option(10.0, "A state's next state, towards its tag's.", allowed=amounts())
    tags: float = option(5.0, "A tag's next state, towards that of any tag.", allowed=amounts())
    substates: float = option(
        3.0, "A word's substates of a tag, towards those of words that look like it.", allowed=amounts()
    )
    classes: float = option(
        5.0, "The substates of words that look alike, towards those of words that look less alike.", allowed=amounts()
    )
    words: float = option(1.0, "A word's tags, towards those that its letters suggest.", allowed=amounts())


@documented
@dataclass(frozen=True)
class TaggerSettings(Settings):
    """How a tagger is trained on text with tags.

    ``smoothing`` is a `TagSmoothing`.
    """

    latent: int = option(
        8,
        "Largest number of substates of a tag; 1 is the plain bigram tagger.",
        allowed=counts(1, 1024),
        group=_TAGGERS,
    )
    members: int = option(
        4,
        "Number of models with different seeds, whose posteriors are multiplied; one if tags have no substates.",
        allowed=counts(1, 1024),
        group=_TAGGERS,
    )
    iterations: int = option(
        20, "Largest number of iterations of EM, in each round of splits.", allowed=counts(1), group=_TRAINING
    )
    noise: float = option(0.01, "How far the halves of a split state differ at first.", allowed=amounts(0, 1))
    merging: float = option(0.25, "Share of the splits that is undone.", allowed=amounts(0, 1, below=True))
    rare: float = option(20, "Words seen at most this often teach what unknown words are like.", allowed=amounts())
    seed: int = option(**SEED_OPTION)
    smoothing: TagSmoothing = field(default_factory=TagSmoothing)
    relative_frequencies: bool = option(
        False,
        "One state per tag, estimated by maximum likelihood: relative frequencies, without smoothing. An unknown"
        " word has probability 0, and its neighbours decide its tag.",
        group=_TAGGERS,
        excludes=("partial",),
    )
    tokens: Units = option(
        "words",
        "Learn CoNLL's syntactic words, or its surface tokens, so that the tagger tags text with au in place of"
        " à le and can split it. A range such as au has the tags of its words with a plus between, ADP+DET.",
        group=_TAGGERS,
    )
    partial: bool = option(
        False,
        "Words may have no tag (_) or several (NOUN|VERB), one of which is right: training sums over what is not"
        " known.",
        excludes=("tokens=surface",),
        said="`partial` tags are those of words, not of surface tokens; leave out `tokens=surface`",
        group=_KNOWN,
    )
    min_share: float = option(**_SHARE)

    def rules(self) -> None:
        """Refuse settings that do not go together."""
        self.smoothing.checked()
        if self.relative_frequencies and self.latent > 1:
            raise UsageProblem("`relative_frequencies` needs one state per tag: give `latent=1`")


@documented
@dataclass(frozen=True)
class InductionSettings(Settings):
    """How tags are learned from text without tags."""

    states: int = option(50, "Number of tags.", allowed=counts(1, 2**15), group=_INDUCED)
    estimator: Estimator = option("em", "EM, variational Bayes, or EM and then reconstruction.", group=_TRAINING)
    iterations: int = option(
        100, "Largest number of iterations of EM or variational Bayes.", allowed=counts(1), group=_TRAINING
    )
    mre_iterations: int = option(
        50,
        "Steps of maximum reconstruction (Cheng, Liu & Xu 2017).",
        needs=("estimator=mre",),
        said="`mre_iterations` goes with `estimator=mre`",
        allowed=counts(),
        group=_TRAINING,
    )
    tolerance: float = option(
        1e-5,
        "When to stop: as soon as an iteration improves the objective by less than this share. Larger stops earlier.",
        allowed=amounts(0, 1),
        group=_INDUCED,
    )
    transition_prior: float | None = option(
        None,
        "Dirichlet prior of the transitions; em adds it to the expected counts.",
        allowed=amounts(),
        otherwise="0 for em, 0.1 for vb",
        group=_INDUCED,
        metavar="A",
    )
    emission_prior: float | None = option(
        None,
        "Dirichlet prior of the emissions; em adds it to the expected counts.",
        allowed=amounts(),
        otherwise="0 for em, 0.1 for vb",
        group=_INDUCED,
        metavar="A",
    )
    restarts: int = option(
        1, "Random starts; the one with the highest objective is kept.", allowed=counts(1), group=_INDUCED
    )
    stop: bool = option(True, "Whether the end of a sentence is part of the model.", group=_INDUCED)
    seed: int = option(**SEED_OPTION)
    min_share: float = option(**_SHARE)

    @property
    def learner(self) -> Literal["em", "vb"]:
        """The estimator of the first part: reconstruction begins from the solution of EM."""
        return "vb" if self.estimator == "vb" else "em"


@documented
@dataclass(frozen=True)
class TagDecisions(Settings):
    """How tags are decided on."""

    decode: Decoder = option(
        "posterior",
        "Give each word its most probable tag, or each sentence its most probable sequence of tags.",
        group="Decisions",
    )
    split_tokens: bool = option(
        False,
        "Split tokens of several words, au into à le, as the treebank has them; what is written is CoNLL then. For"
        " taggers trained with `tokens=surface`.",
        group="Decisions",
    )


@documented
@dataclass(frozen=True)
class TagWriting(Settings):
    """How text is written with its tags."""

    to: TagFile = option(
        "same",
        "Write word_TAG lines or CoNLL; same: CoNLL for CoNLL, word_TAG lines for plain text.",
        group="Common options",
    )
    column: str | int | None = option(
        None,
        "Column of CoNLL that gets the tags, by name or by number from 1.",
        otherwise="the one that the tagger learned",
        group=_OUTPUT,
        metavar="upos|xpos|N",
    )
    separator: str = option("_", "Between word and tag in word_TAG lines.", group=_OUTPUT, metavar="TEXT")
    keep: tuple[str, ...] = option(
        (),
        "Keep this column of CoNLL; otherwise UPOS, XPOS and FEATS are emptied.",
        group=_OUTPUT,
        metavar="upos|xpos|feats",
    )

    def rules(self) -> None:
        """Refuse a separator that cannot stand within a word, and what the format that is written does not have."""
        check_separator(self.separator)
        if self.to != "same" and (unused := self.unused(self.to == "conll")):
            raise UsageProblem(f"`{unused}` changes nothing with `to={self.to}`")

    def unused(self, conll: bool) -> str:
        """Return what was chosen and is not of CoNLL, or not of ``word_TAG`` lines; empty where there is nothing."""
        own = ("separator",) if conll else ("column", "keep")
        return next((name for name in own if getattr(self, name) != getattr(TagWriting, name)), "")


@documented
@dataclass(frozen=True)
class TagLists(Lists, Settings):
    """Which sequences of tags of each sentence are listed."""

    n_best: int | None = option(
        None,
        "Write the N most probable sequences of tags of each sentence: its number, the tags and ln p(x, z), ' ||| '"
        " between them. Exact with one state a tag and one model.",
        allowed=SEQUENCES,
        group=_PROBABILITIES,
        excludes=("samples",),
    )
    samples: int | None = option(
        None,
        "Write N sequences of tags of each sentence, drawn from p(z|x), in the same format.",
        allowed=SEQUENCES,
        group=_PROBABILITIES,
    )
    seed: int = option(**SEED_OPTION)


#: What a preset makes of `InductionSettings`. ``paper`` is what Cheng, Liu & Xu (2017) describe where it is not the
#: default: all 100 iterations of EM, then 50 steps, and a chain that knows no end of a sentence.
INDUCTION_PRESETS: dict[str, dict[str, Any]] = {"paper": {"estimator": "mre", "tolerance": 0.0, "stop": False}}
