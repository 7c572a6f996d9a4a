"""What can be chosen about a model and its training, with the defaults that measured best."""

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from aligntools.aligning.models import registry
from aligntools.ground.declarations import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, SEED, amounts, counts
from aligntools.links.settings import Flavor, Heuristic

Symmetrization: TypeAlias = Literal["joint", "mean", Heuristic]
Decoder: TypeAlias = Literal["best", "posterior", "viterbi"]
Estimator: TypeAlias = Literal["vb", "em"]
Positions: TypeAlias = Literal["diagonal", "table"]
Direction: TypeAlias = Literal["both", "forward", "reverse"]

DIRECTIONS = {"forward": 1, "reverse": 2, "both": 3}
#: Titles of groups of options.
_COMMON, _TRAINING, _PRIORS, _LINKS = "Common options", "Training", "Priors", "Links"
_RESOURCES, _RECONSTRUCTION, _PARTS = "Text and resources", "Reconstruction", "Text of any size, in parts"
#: Ways to decide on both directions' posteriors at once; the others are heuristics over the links of each.
JOINTLY = ("joint", "mean")
#: What the threshold is where none is given.
THRESHOLDS = "0.4; of more than two million words 0.45, with one view of the text 0.5"
#: Pseudo-count of each distribution of a table of positions, spread by the diagonal prior.
POSITION_SMOOTHING = 50.0

#: Tokens of the source side up to which no pair of words is left out; the number of sweeps depends on it too.
SMALL, MEDIUM = 2_000_000, 6_000_000
#: The same up to which several views of the text are trained, and pieces of words; beyond, one view.
SEVERAL = 3_500_000
#: Tokens of the source side beyond which subwords take the place of a view.
FEW = 100_000
#: A pair of words of a larger text stays in the table if the words occur together at least so many times as often as
#: independent words would, and if at least so many links between them are expected after IBM 1.
KEEP, PRUNE = 0.5, 0.002
#: Default of the merges on each side, where subwords are aligned by default.
MERGES = 3_000


@documented
@dataclass(frozen=True)
class AlignerSettings(Settings):
    """Settings of a model and of its training; what is None is chosen by the size of the text when training begins."""

    model_type: str = option(
        "fertility",
        "Which model is trained; fertility is the HMM and then a sampler over fertilities.",
        choices=registry.names,
        group=_TRAINING,
    )
    fast: bool = option(False, "Stop at the HMM, one view of the text: quickest.", group=_COMMON, excludes=("best",))
    best: bool = option(
        False,
        "Most accurate, 2 to 5 times slower, and with an encoder by up to some minutes more: links are chosen by a"
        " network trained on gold links of other languages, as in contrastive-align. Text is trained on twice, the"
        " second time with the links found as priors, unless it has more than 100,000 pairs and no encoder reads"
        " a fifth of it.",
        group=_COMMON,
    )
    estimator: Estimator = option("vb", "Variational Bayes or maximum likelihood (EM).", group=_TRAINING)
    agreement: bool = option(
        True, "Train the directions jointly (agreement: Liang, Taskar & Klein 2006).", group=_TRAINING
    )
    direction: Direction = option("both", "Train and write one direction alone (not for fertility).", group=_TRAINING)
    look_alike: bool = option(
        True, "Expect words that look alike to be translations, as far as the text supports it.", group=_TRAINING
    )
    views: tuple[int, ...] | None = option(
        None,
        "Views of the text to average: 0 for whole words, n for their first n letters.",
        allowed=counts(),
        otherwise="by the size of the text",
        group=_TRAINING,
    )
    # the counts that come with the table are IBM 1's first iteration
    ibm1_iterations: int = option(5, "Iterations of IBM 1, before the model.", allowed=counts(), group=_TRAINING)
    iterations: int | None = option(
        None,
        "Iterations of each model after IBM 1.",
        allowed=counts(),
        otherwise="2 before the sampler and with `fast` in large text, hmm and hmm-classes 4, others 5",
        group=_TRAINING,
    )
    sweeps: int | None = option(
        None, "Sweeps of the sampler.", allowed=counts(3), otherwise="by the size of the text", group=_TRAINING
    )
    alpha: float = option(
        0.2,
        "Dirichlet prior of each pair of words that occur together (vb).",
        allowed=amounts(above=True),
        group=_TRAINING,
        metavar="A",
    )
    p_null: float = option(0.08, "Probability of no link.", allowed=amounts(0, 0.999), group=_TRAINING, metavar="P")
    null_smoothing: float | None = option(
        None,
        "Let the HMM learn each word's own probability of no link, drawn to that of all words by a pseudo-count of N.",
        allowed=amounts(),
        otherwise="hmm-classes 5; others the same for all words",
        group=_TRAINING,
        metavar="N",
    )
    tension: float = option(
        4.0,
        "Initial tension of IBM 2's diagonal (Dyer, Chahuneau & Smith 2013).",
        allowed=amounts(-1000, 1000),
        group=_TRAINING,
    )
    positions: Positions = option(
        "diagonal",
        "IBM 2's prior over positions: the diagonal, or a table of p(m|n,M,N) (Brown et al. 1993).",
        group=_TRAINING,
    )
    pegging: bool = option(
        False, "Use pegging in the hill climbing of IBM 3 and IBM 4: slower, slightly better.", group=_TRAINING
    )
    word_classes: int = option(
        50,
        "Word classes a side, on which distances of IBM 4 and jumps of hmm-classes depend.",
        allowed=counts(1, 100),
        group=_TRAINING,
    )
    subwords: int | None = option(
        None,
        "Align pieces of words too, and average them with the views: byte-pair encoding of N merges a side,"
        " learned from the text; 0 for none.",
        allowed=counts(),
        group=_TRAINING,
        otherwise="3000; 0 with views, with priors, or in text of over 3.5 million words",
    )
    view_agreement: bool | None = option(
        None,
        "Let the HMM of each view learn from what all views find.",
        group=_TRAINING,
        otherwise="in text of up to 3.5 million words, where several views are trained jointly",
    )
    seed: int = option(
        1, "Seed of everything random; the same seed gives the same bytes.", allowed=SEED, group=_RESOURCES
    )
    # Not on the command line: what was settled by measuring, and what makes IBM 2 that of another aligner
    sampler_p_null: float | None = option(
        None, "Probability of no link in the sampler.", allowed=amounts(0, 0.999), otherwise="1.25 times p_null"
    )
    hmm_weight: float = option(
        0.25, "Weight of the HMM's posteriors against the sampler's marginals.", allowed=amounts()
    )
    keep: float | None = option(
        None,
        "Leave out pairs of words that occur together less than this many times as often as independent words would.",
        allowed=amounts(),
        otherwise="by the size of the text",
    )
    prune: float | None = option(
        None,
        "Leave out pairs of words between which IBM 1 expects fewer links than this.",
        allowed=amounts(),
        otherwise="by the size of the text",
    )
    optimize_tension: bool | Literal["fast_align"] = True
    favor_diagonal: bool = True

    @property
    def trained(self) -> str:
        """The model that is trained; with ``fast``, or in one direction, it may be the one that comes before."""
        kind = registry.kind_of(self.model_type)
        apart = (self.fast or self.direction != "both") and kind.both
        return kind.after or kind.name if apart else kind.name

    @property
    def null_prior(self) -> float:
        """Probability of NULL for the IBM models' kernels: -1 if NULL is a position like the others."""
        return self.p_null if self.favor_diagonal or not self.p_null else -1.0

    @property
    def decides(self) -> bool:
        """Whether the network decides on links, of settings that are not resolved."""
        return self.best and self.direction == "both"

    def unused(self) -> dict[str, str]:
        """Return the settings, not resolved, that were chosen but change nothing, and what each is for."""
        others = registry.of_others(self.trained)
        found = {name: about for name, about in others.items() if self.chosen(name)}
        if self.chosen("alpha") and self.estimator == "em":
            found["alpha"] = "it is a prior of vb"
        if self.chosen("look_alike") and self.estimator == "em":
            found["look_alike"] = "it is a prior of vb"
        if self.best and self.direction != "both":
            found["best"] = "its network judges links by both directions together"
        return found

    def chosen(self, name: str) -> bool:
        """Return whether an option is other than its default."""
        return bool(getattr(self, name) != getattr(AlignerSettings, name))

    def rules(self) -> None:
        """Refuse settings that do not go together."""
        if self.views is not None and (not self.views or len(set(self.views)) < len(self.views)):
            raise UsageProblem("`views` must be different numbers of letters, 0 for whole words")
        if self.positions == "table" and "positions" not in registry.kind_of(self.model_type).own:
            raise UsageProblem("a table of positions is IBM 2's; use `model_type=ibm2`")

    def resolved(self, n_tokens: int) -> "ResolvedSettings":
        """Return the settings with everything chosen, for a corpus of so many source tokens.

        ``fast`` is replaced by what it means, and ``best``, which is about decisions and rounds, is left out. Settings
        that exclude each other are refused.
        """
        self.checked()
        chosen: dict[str, Any] = {"fast": False, "best": False}
        model, agreement, views = self.trained, self.agreement, self.views
        if self.fast:
            views = views or (5,)
        agreement = agreement and self.direction == "both"
        several = n_tokens <= SEVERAL
        kind = registry.kind_of(model)
        subwords = self.subwords
        if views is None:
            if subwords is None and kind.pieces and agreement and several:
                subwords = MERGES
            if not kind.views:
                views = (0,)
            elif not several:
                views = (5,)
            else:
                views = (0, 5, 3) if subwords and n_tokens > FEW else (0, 5, 4, 3)
        can_agree = kind.views and agreement and len(views) > 1
        if self.view_agreement and not can_agree:
            raise UsageProblem("views agree in the HMM, where both directions of several views are trained together")
        if subwords and not (kind.views and agreement):
            raise UsageProblem("subwords are aligned in both directions together, by the HMM and the fertility model")
        chosen |= {"model_type": model, "agreement": agreement, "views": tuple(views), "subwords": subwords or 0}
        if self.view_agreement is None:
            chosen["view_agreement"] = can_agree and several
        if self.iterations is None:
            own = registry.kind_of(self.model_type)
            chosen["iterations"] = (own if self.fast and not several else kind).iterations
        if self.null_smoothing is None:
            chosen["null_smoothing"] = kind.null_smoothing
        if self.sweeps is None:
            sizes = ((SMALL // 8, 30), (SMALL, 12), (MEDIUM, 6))
            chosen["sweeps"] = next((sweeps for most, sweeps in sizes if n_tokens <= most), 4)
        whole = n_tokens <= SMALL or self.estimator == "em"
        if self.keep is None:
            chosen["keep"] = 0.0 if whole else KEEP
        if self.prune is None:
            chosen["prune"] = 0.0 if whole else PRUNE
        if self.sampler_p_null is None:
            chosen["sampler_p_null"] = min(1.25 * self.p_null, 0.99)
        return ResolvedSettings(**{f.name: getattr(self, f.name) for f in fields(AlignerSettings)} | chosen)


class ResolvedSettings(AlignerSettings):
    """Settings with everything chosen: those that training goes by, and that a model has; see `resolved`."""

    if TYPE_CHECKING:  # the fields are declared once, above; here they are never None
        views: tuple[int, ...]
        iterations: int
        sweeps: int
        subwords: int
        view_agreement: bool
        sampler_p_null: float
        keep: float
        prune: float

    def threshold(self, members: int) -> float:
        """Return the posterior that a link must exceed, of a model of so many views, pieces among them.

        One view needs a higher threshold than the mean of several. Several views of a large text, of which some pairs
        of words were left out, need one in between. Models of versions up to 0.3 left out more and keep the lowest.
        """
        if members == 1:
            return 0.5
        return 0.45 if 0 < self.prune <= PRUNE else 0.4


@documented
@dataclass(frozen=True)
class PriorWeights(Settings):
    """What one count of priors weighs compared with one of the text.

    Decided links are more certain than expected ones. Most harmful are their jumps and fertilities, which cost accuracy
    at any weight that was tried.
    """

    prior_lexical: float = option(
        0.1,
        "What a link of the priors weighs compared with one of the text. 1 suits counts that were written by hand.",
        allowed=amounts(),
        group=_PRIORS,
    )
    prior_fertility: float = option(
        0.0, "What a fertility of the priors weighs compared with one of the text.", allowed=amounts(), group=_PRIORS
    )
    prior_jumps: float = option(
        0.0, "What a jump of the priors weighs compared with one of the text.", allowed=amounts(), group=_PRIORS
    )


@documented
@dataclass(frozen=True)
class ReconstructionSettings(Settings):
    """How maximum reconstruction is climbed (Cheng, Liu & Xu 2017)."""

    mre_iterations: int = option(
        8,
        "Iterations of reconstruction, after those of EM, including those that are undone.",
        allowed=counts(),
        group=_RECONSTRUCTION,
    )
    mre_smoothing: float | None = option(
        None,
        "Pseudo-count of each word, spread as the text's words are.",
        allowed=amounts(),
        otherwise="em 20, vb 0",
        group=_RECONSTRUCTION,
        metavar="N",
    )
    mre_position_smoothing: float = option(
        POSITION_SMOOTHING,
        "Pseudo-count of each distribution of a table of positions, drawn to the diagonal, in EM too.",
        allowed=amounts(),
        group=_RECONSTRUCTION,
        metavar="N",
    )
    mre_positions: bool = option(
        False,
        "Train jumps, the tension or positions by reconstruction too, not the words alone.",
        group=_RECONSTRUCTION,
    )
    mre_null: bool | None = option(
        None, "Train the words of NULL by reconstruction too.", otherwise="after vb", group=_RECONSTRUCTION
    )
    mre_rate: float = option(1.0, "Rate of every distribution, at the beginning.", allowed=amounts(0, 1000))

    def resolved(self, estimator: str) -> Self:
        """Return the same with everything chosen, for a start that ``estimator`` made."""
        self.checked()
        smoothing = (20.0 if estimator == "em" else 0.0) if self.mre_smoothing is None else self.mre_smoothing
        null = estimator == "vb" if self.mre_null is None else self.mre_null
        return replace(self, mre_smoothing=float(smoothing), mre_null=null)


#: What a preset says of what is not given to `train_mre_aligner`, in place of its defaults. ``paper`` is what Cheng,
#: Liu & Xu (2017) describe: IBM 2 with a table of positions that begins uniform, EM and then 50 steps of reconstruction
#: of every parameter, no smoothing. An HMM in place of IBM 2 has no such table.
MRE_PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "model_type": "ibm2",
        "positions": "table",
        "tension": 0.0,
        "estimator": "em",
        "agreement": False,
        "mre_iterations": 50,
        "mre_smoothing": 0.0,
        "mre_position_smoothing": 0.0,
        "mre_positions": True,
        "mre_null": True,
    }
}


@documented
@dataclass(frozen=True)
class Decisions(Settings):
    """How links are decided on from posteriors."""

    symmetrize: Symmetrization = option(
        "joint",
        "How the two directions are combined. joint: by their mean posterior, with a lower threshold next to a word's"
        " other link and a higher one away from it; mean: with one threshold; else a heuristic over their links.",
        group=_LINKS,
    )
    flavor: Flavor = option("atools", "Scan order of the heuristics: as atools or as Moses' symal.", group=_LINKS)
    decode: Decoder = option(
        "best",
        "Single directions: each word's best link, all links over the threshold, or the Viterbi path.",
        group=_LINKS,
    )
    threshold: float | None = option(
        None,
        "Posterior that a link must exceed (with joint, a word's first one): higher for precision, lower for recall.",
        allowed=PROBABILITY,
        group=_LINKS,
        metavar="P",
        otherwise=THRESHOLDS,
    )
    phrases: bool = option(
        False,
        "Link phrases as wholes, each word with each (with `best`): idioms, verb groups, compounds. For term lists and"
        " phrase tables, and for gold standards that do so; others lose precision.",
        group=_LINKS,
    )

    @property
    def jointly(self) -> bool:
        """Whether links are decided on by both directions at once, without links of the single directions."""
        return self.symmetrize in JOINTLY

    @property
    def by_network(self) -> bool:
        """Whether the network of a model of ``best`` decides on links; single directions have none."""
        return self.symmetrize == Decisions.symmetrize

    def suiting(self, direction: str, network: bool = False) -> Self:
        """Return these decisions; refuse options that have no effect on a model of this direction, with or without a
        network.
        """
        one = f"the {direction} direction alone"
        jointly = self.jointly and direction == "both"
        if direction != "both" and self.symmetrize != Decisions.symmetrize:
            raise UsageProblem(f"`symmetrize={self.symmetrize}` combines two directions, and there is {one}")
        what = one if direction != "both" else f"`symmetrize={self.symmetrize}`"
        if self.flavor != Decisions.flavor and (jointly or direction != "both"):
            raise UsageProblem(
                f"`flavor={self.flavor}` changes nothing with {what}; it is for heuristics such as grow-diag"
            )
        if self.threshold is not None and not jointly and self.decode != "posterior":
            others = ", or `symmetrize=joint` or `symmetrize=mean`" if direction == "both" else ""
            raise UsageProblem(
                f"`threshold` changes nothing with {what} and `decode={self.decode}`, which uses none; take"
                f" `decode=posterior`{others}"
            )
        if self.phrases and not (network and self.by_network):
            raise UsageProblem("`phrases` is for links that the network decides on, by `best` and `symmetrize=joint`")
        return self


#: Sentence pairs of a part where memory allows them.
PART_PAIRS = 100_000


@documented
@dataclass(frozen=True)
class PartSettings(Settings):
    """How a text is cut into parts."""

    part_size: int | None = option(
        None,
        "Sentence pairs of a part. Larger ones let the sampler know more of the text, smaller ones need less memory.",
        allowed=counts(1),
        otherwise=f"{PART_PAIRS}, or what memory allows",
        group=_PARTS,
    )


# What can be chosen about filters of parallel text


_LIMITS = "Limits"


@documented
@dataclass(frozen=True)
class FilterSettings(Settings):
    """Limits that sentence pairs must keep to pass a filter.

    The default of ``min_score`` was chosen on en-de, en-fr, en-cs and en-sv text with noise of four kinds.
    """

    min_score: float = option(
        0.25, "Least score of a pair that is kept.", allowed=PROBABILITY, group=_LIMITS, metavar="P"
    )
    min_coverage: float = option(0.0, "Least coverage of either side.", allowed=PROBABILITY, group=_LIMITS, metavar="P")
    min_probability: float | None = option(
        None,
        "Least log-probability per word, of the worse direction.",
        allowed=amounts(-1000, 0),
        group=_LIMITS,
        otherwise="any",
    )
    max_copied: float = option(
        0.8,
        "Largest share of the longer sentence's words that occur unchanged in the other.",
        allowed=PROBABILITY,
        group=_LIMITS,
        metavar="P",
    )


@documented
@dataclass(frozen=True)
class CheckSettings(Settings):
    """When a sentence pair is flagged.

    The default of ``flag_above`` was chosen on en-de and en-cs text, so that 5 % of its pairs are flagged.
    """

    flag_above: float = option(
        8.0, "Flag pairs whose score is above this.", allowed=amounts(), group=_LIMITS, metavar="X"
    )
