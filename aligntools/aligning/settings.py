"""What can be chosen about a model and its training, with the defaults that measured best."""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, SEED, Range, amounts, check, counts

ModelType: TypeAlias = Literal["ibm1", "ibm2", "hmm", "fertility"]
Symmetrization: TypeAlias = Literal[
    "joint", "mean", "union", "intersect", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"
]
Flavor: TypeAlias = Literal["atools", "symal"]
Decoder: TypeAlias = Literal["best", "posterior", "viterbi"]
Scheme: TypeAlias = Literal[
    "auto", "sentencepiece", "bpe", "wordpiece", "icu", "opennmt", "byte-level", "end-of-word", "underscore"
]

MODELS = ("ibm1", "ibm2", "hmm", "fertility")
ESTIMATORS = ("vb", "em")
POSITIONS = ("diagonal", "table")
DIRECTIONS = {"forward": 1, "reverse": 2, "both": 3}
#: How two directions become one alignment: by their mean posterior, or by a heuristic over their links.
JOINTLY = ("joint", "mean")
SYMMETRIZATIONS = (*JOINTLY, "union", "intersect", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and")
#: Whose scan order the heuristics follow.
FLAVORS = ("atools", "symal")
#: How a single direction's links are chosen: each word's best one, all over the threshold, or the Viterbi path.
DECODERS = ("best", "posterior", "viterbi")
#: How pieces of words are marked; `aligntools.formats.pieces` knows how.
SCHEMES: tuple[Scheme, ...] = (
    "auto", "sentencepiece", "bpe", "wordpiece", "icu", "opennmt", "byte-level", "end-of-word", "underscore",
)  # fmt: skip

#: Words that each distribution of a table of positions pretends to have seen before, drawn to the diagonal.
POSITION_SMOOTHING = 50.0

#: Tokens of the source side up to which no pair of words is left out; these and more tell how often the sampler sweeps.
SMALL, MEDIUM = 2_000_000, 6_000_000
#: The same up to which several views of the text are trained, and pieces of words; beyond, one view.
SEVERAL = 3_500_000
#: Tokens of the source side beyond which subwords take the place of a view.
FEW = 100_000
#: How often two words of a larger text must occur together, in times of what independent ones would, and how many links
#: must be expected of them after IBM 1, for their pair to stay in the table.
KEEP, PRUNE = 0.5, 0.002
#: Merges of a side, where subwords are aligned without being asked for.
MERGES = 3_000
#: Words of the longer side above which a pair gets a blank line: kernels number positions in 16 bits.
LONGEST_RANGE = counts(1, 30_000)


@dataclass(frozen=True)
class AlignerSettings:
    """Settings of a model; what is None is chosen by the size of the corpus when training begins.

    Attributes
    ----------
    model : str
        One of MODELS.
    estimator : str
        ``vb`` (variational Bayes) or ``em``.
    joint : bool
        Train both directions by agreement (Liang, Taskar & Klein 2006).
    direction : str
        One of DIRECTIONS; one alone excludes ``joint``.
    look_alike : bool
        Let words that look alike begin with a larger prior, as far as the text bears it out.
    views : tuple of int or None
        Views of the text that are trained and averaged: 0 for whole words, n for their first n letters.
    ibm_iterations, model_iterations : int
        Iterations of IBM 1 (the first is the table's counting), and of the model itself (IBM 2 or the HMM). The
        sampler does better from an HMM that is not yet sure of itself: two iterations.
    sweeps : int or None
        Sweeps of the sampler (``fertility``).
    alpha : float
        Dirichlet prior a pair of words that occur together.
    p_null : float
        Probability of NULL, in the HMM and IBM models.
    sampler_p_null : float or None
        The same in the sampler, which measured best a quarter higher: None takes 1.25 times ``p_null``.
    tension : float
        IBM 2's start.
    optimize_tension : bool or str
        Whether it is climbed; ``fast_align`` climbs to fast_align's digits.
    favor_diagonal : bool
        False makes IBM 2 what fast_align's IBM 1 is, with NULL one position among the others.
    positions : str
        IBM 2's prior: ``diagonal`` (Dyer et al. 2013), or a ``table`` p(m | n, M, N) as in Brown et al. (1993).
    hmm_weight : float
        Weight of the HMM's posteriors beside the sampler's marginals.
    view_agreement : bool or None
        Let each view's HMM count the mean of all views' posteriors. None: in text of up to SEVERAL tokens, where there
        are several views that are trained jointly.
    subwords : int or None
        Merges of each side's words into pieces, which a member of the model aligns; 0 for no such member. None: where
        the views are not chosen either, MERGES for the fertility model on text of up to SEVERAL tokens.
    keep : float or None
        Pairs seen less than this many times as often as independent words would be are left out.
    """

    model: str = "fertility"
    estimator: str = "vb"
    joint: bool = True
    direction: str = "both"
    look_alike: bool = True
    views: tuple[int, ...] | None = None
    ibm_iterations: int = 5
    model_iterations: int | None = None
    sweeps: int | None = None
    alpha: float = 0.2
    p_null: float = 0.08
    sampler_p_null: float | None = None
    tension: float = 4.0
    optimize_tension: bool | Literal["fast_align"] = True
    favor_diagonal: bool = True
    positions: str = "diagonal"
    hmm_weight: float = 0.25
    view_agreement: bool | None = None
    subwords: int | None = None
    keep: float | None = None
    prune: float | None = None
    seed: int = 1

    RANGES: ClassVar[dict[str, Range]] = {
        "ibm_iterations": counts(), "model_iterations": counts(), "sweeps": counts(3), "alpha": amounts(above=True),
        "p_null": amounts(0, 0.999), "sampler_p_null": amounts(0, 0.999), "tension": amounts(-1000, 1000),
        "hmm_weight": amounts(), "subwords": counts(), "keep": amounts(), "prune": amounts(), "seed": SEED,
    }  # fmt: skip
    #: Of each of the views.
    VIEW: ClassVar[Range] = counts()

    @property
    def null_prior(self) -> float:
        """Probability of NULL for the IBM models' kernels: -1 where it is one position among the others."""
        return self.p_null if self.favor_diagonal or not self.p_null else -1.0

    def unused(self) -> dict[str, str]:
        """Return what was chosen that changes nothing, under the names of options, and what it is for; unresolved."""
        found = {
            "sweeps": (self.sweeps is not None and self.model != "fertility", "only the model type fertility samples"),
            "tension": (self.tension != AlignerSettings.tension and self.model != "ibm2", "it is of IBM 2's diagonal"),
            "alpha": (self.alpha != AlignerSettings.alpha and self.estimator == "em", "it is a prior of vb"),
            "iterations": (
                self.model_iterations is not None and self.model == "ibm1", "IBM 1 has ibm1_iterations alone"
            ),
        }  # fmt: skip
        return {name: about for name, (holds, about) in found.items() if holds}

    def threshold(self, members: int) -> float:
        """Return the posterior that a link must exceed, in a resolved model of so many views, pieces among them.

        One view is surer of itself than several together, and several are of a large text, of which some pairs of words
        were left out (more of them in models of versions up to 0.3, whose threshold stays).
        """
        if members == 1:
            return 0.5
        return 0.45 if 0 < (self.prune or 0) <= PRUNE else 0.4

    def resolved(self, n_tokens: int, best: bool = False) -> "AlignerSettings":
        """Return the settings with everything chosen, for a corpus of so many source tokens.

        With ``best`` views and subwords are those of text of up to SEVERAL words, whatever it costs.

        Raises
        ------
        UsageProblem
            When settings exclude each other, or one is outside its range.
        """
        check(self)
        for view in self.views or ():
            self.VIEW.check("a view", view)
        choice = asdict(self)
        if self.model not in MODELS or self.estimator not in ESTIMATORS or self.direction not in DIRECTIONS:
            raise UsageProblem(
                f"no such model, estimator or direction: {self.model}, {self.estimator}, {self.direction}"
            )
        if self.positions not in POSITIONS:
            raise UsageProblem(f"no such kind of positions: {self.positions}")
        if self.positions == "table" and self.model != "ibm2":
            raise UsageProblem("a table of positions is IBM 2's; use --model-type ibm2")
        if self.direction != "both":
            choice["joint"] = False
            if self.model == "fertility":
                raise UsageProblem("the fertility model starts from both directions; use --model-type hmm for one")
        several = best or n_tokens <= SEVERAL
        if self.views is None:
            if self.subwords is None and self.model == "fertility" and choice["joint"] and several:
                choice["subwords"] = MERGES
            if self.model in ("ibm1", "ibm2"):
                choice["views"] = (0,)
            elif not several:
                choice["views"] = (5,)
            else:
                choice["views"] = (0, 5, 3) if choice["subwords"] and n_tokens > FEW else (0, 5, 4, 3)
        choice["subwords"] = choice["subwords"] or 0
        can_agree = self.model in ("hmm", "fertility") and choice["joint"] and len(choice["views"]) > 1
        if self.view_agreement and not can_agree:
            raise UsageProblem("views agree in the HMM, where both directions of several views are trained together")
        if self.view_agreement is None:
            choice["view_agreement"] = can_agree and several
        if choice["subwords"] and (self.model not in ("hmm", "fertility") or not choice["joint"]):
            raise UsageProblem("subwords are aligned in both directions together, by the HMM and the fertility model")
        if self.model_iterations is None:
            choice["model_iterations"] = {"fertility": 2, "hmm": 4, "ibm2": 5, "ibm1": 0}[self.model]
        if self.sweeps is None:
            choice["sweeps"] = (
                30 if n_tokens <= SMALL // 8 else 12 if n_tokens <= SMALL else 6 if n_tokens <= MEDIUM else 4
            )
        if self.keep is None:
            choice["keep"] = 0.0 if n_tokens <= SMALL or self.estimator == "em" else KEEP
        if self.prune is None:
            choice["prune"] = 0.0 if n_tokens <= SMALL or self.estimator == "em" else PRUNE
        if self.sampler_p_null is None:
            choice["sampler_p_null"] = min(1.25 * self.p_null, 0.99)
        choice["views"] = tuple(choice["views"])
        return AlignerSettings(**choice)


@dataclass(frozen=True)
class PriorWeights:
    """What one count of priors weighs beside one of the text.

    Links that were decided on are sharper than what training expects of them, above all their jumps and fertilities:
    these cost accuracy at any weight that was tried.

    Attributes
    ----------
    lexical, fertility, jumps : float
    """

    lexical: float = 0.1
    fertility: float = 0.0
    jumps: float = 0.0

    RANGES: ClassVar[dict[str, Range]] = dict.fromkeys(("lexical", "fertility", "jumps"), amounts())


@dataclass(frozen=True)
class ReconstructionSettings:
    """How maximum reconstruction is climbed.

    Attributes
    ----------
    iterations : int
        Steps, counting those that are taken back.
    smoothing : float or None
        Uses that every word is given beforehand, spread as the text's own words are. None: 20 after EM, none after
        variational Bayes, whose prior has done that.
    positions : bool
        Train jumps, the tension or the table of positions too; else they stay as EM left them.
    position_smoothing : float
        Words that each distribution of a table of positions is given beforehand, drawn to the diagonal: in the EM
        that goes before, and in what is climbed.
    null : bool or None
        Train which words come from NULL too. None: after variational Bayes, not after EM.
    rate : float
        Of every distribution, at the beginning.
    """

    iterations: int = 8
    smoothing: float | None = None
    positions: bool = False
    null: bool | None = None
    rate: float = 1.0
    position_smoothing: float = POSITION_SMOOTHING

    RANGES: ClassVar[dict[str, Range]] = {
        "iterations": counts(), "smoothing": amounts(), "position_smoothing": amounts(), "rate": amounts(0, 1000),
    }  # fmt: skip

    def resolved(self, estimator: str) -> Self:
        """Return the same with everything chosen, for a start that ``estimator`` made.

        Raises
        ------
        UsageProblem
            When a number is outside its range.
        """
        check(self, {name: f"mre_{name}" for name in self.RANGES})
        smoothing = (20.0 if estimator == "em" else 0.0) if self.smoothing is None else self.smoothing
        null = estimator == "vb" if self.null is None else self.null
        return replace(self, smoothing=float(smoothing), null=null)


#: What a preset says of what is not given to `train_mre_aligner`, in place of its defaults. ``paper`` is what Cheng,
#: Liu & Xu (2017) describe: IBM 2 with a table of positions that begins uniform, EM and then 50 steps of reconstruction
#: of every parameter, no smoothing. An HMM in place of IBM 2 has no such table.
MRE_PRESETS: dict[str, dict[str, Any]] = {
    "paper": {
        "model_type": "ibm2", "positions": "table", "tension": 0.0, "estimator": "em", "agreement": False,
        "mre_iterations": 50, "mre_smoothing": 0.0, "mre_position_smoothing": 0.0, "mre_positions": True,
        "mre_null": True,
    }
}  # fmt: skip


def mre_symmetrization(model: str, agreement: bool, preset: str | None) -> Symmetrization:
    """Return how `mre-align` makes one alignment of both directions: what measured better on all languages.

    Posteriors of an IBM 2 whose directions were trained each by itself, and those that the paper's preset makes, spread
    over many words after reconstruction: their mean exceeds the threshold too seldom.
    """
    apart = preset is not None or (model == "ibm2" and not agreement)
    return "grow-diag-final-and" if apart else "joint"


@dataclass(frozen=True)
class DecisionSettings:
    """How links are decided on from posteriors.

    Attributes
    ----------
    symmetrize : str
        One of SYMMETRIZATIONS.
    flavor : str
        One of FLAVORS.
    decode : str
        One of DECODERS.
    threshold : float or None
        Posterior that a link must exceed; None takes `AlignerSettings.threshold`: THRESHOLDS.
    """

    #: What the threshold is where none is given.
    THRESHOLDS: ClassVar[str] = "0.4; of more than two million words 0.45, with one view of the text 0.5"

    symmetrize: Symmetrization = "joint"
    flavor: Flavor = "atools"
    decode: Decoder = "best"
    threshold: float | None = None

    RANGES: ClassVar[dict[str, Range]] = {"threshold": PROBABILITY}

    def checked(self, direction: str = "both") -> Self:
        """Return the same settings, for a model of both directions or of one.

        Raises
        ------
        UsageProblem
            When one of them does not exist, is outside its range or changes nothing.
        """
        choices = {"symmetrize": SYMMETRIZATIONS, "flavor": FLAVORS, "decode": DECODERS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise UsageProblem(f"{name} is one of {', '.join(known)}, not {getattr(self, name)}")
        check(self)
        one = f"the {direction} direction alone"
        jointly = self.symmetrize in JOINTLY and direction == "both"
        if direction != "both" and self.symmetrize != DecisionSettings.symmetrize:
            raise UsageProblem(f"symmetrize {self.symmetrize} combines two directions, and there is {one}")
        if self.flavor != DecisionSettings.flavor and (jointly or direction != "both"):
            what = one if direction != "both" else f"symmetrize {self.symmetrize}"
            raise UsageProblem(
                f"flavor {self.flavor} changes nothing with {what}; it is for heuristics such as grow-diag"
            )
        if self.threshold is not None and not jointly and self.decode != "posterior":
            what, advice = one, "decode posterior"
            if direction == "both":
                what, advice = f"symmetrize {self.symmetrize}", "decode posterior, or symmetrize joint or mean"
            raise UsageProblem(
                f"threshold changes nothing with {what} and decode {self.decode}, which asks for none; take {advice}"
            )
        return self


@dataclass(frozen=True)
class PartSettings:
    """How a text is cut into parts.

    Attributes
    ----------
    part_size : int
        Sentence pairs of a part. Larger ones let the sampler know more of the text, smaller ones need less memory.
    """

    part_size: int = 100_000

    RANGES: ClassVar[dict[str, Range]] = {"part_size": counts(1)}


@dataclass(frozen=True)
class FilterSettings:
    """Limits that sentence pairs must keep to pass a filter.

    Attributes
    ----------
    min_score : float
        Least score. The default was chosen on en-de, en-fr, en-cs and en-sv text with noise of four kinds.
    min_coverage : float
        Least coverage of either side.
    min_probability : float or None
        Least log-probability per word, of the worse direction; None for any.
    max_copied : float
        Largest part of the longer sentence's words that the other has as they are.
    """

    RANGES: ClassVar[dict[str, Range]] = {
        "min_score": PROBABILITY, "min_coverage": PROBABILITY, "min_probability": amounts(-1000, 0),
        "max_copied": PROBABILITY,
    }  # fmt: skip

    min_score: float = 0.25
    min_coverage: float = 0.0
    min_probability: float | None = None
    max_copied: float = 0.8

    def checked(self) -> Self:
        """Return these settings, or say which is out of its range."""
        check(self)
        return self
