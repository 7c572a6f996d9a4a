"""Settings of language models, grammars, decoding and tuning; their defaults are those of the API and the commands."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

from aligntools.ground.declaring import Settings, documented, option
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, SEED, Range, amounts, check, counts

#: Titles of groups of options.
_COMMON, _TRAINING, _RULES, _SEARCH = "Common options", "Training", "Rules", "Search"
_OUTPUT, _RESOURCES = "Input and output", "Resources"
#: Declared once for the classes that have it.
_SEED: dict[str, Any] = {
    "default": 1,
    "help": "Seed of everything random; the same seed gives the same bytes.",
    "allowed": SEED,
    "group": _RESOURCES,
}
#: Bytes of tables beyond which they go to files, where nothing bounds them.
TABLES = 2 << 30
Phrases: TypeAlias = Literal["tight", "outer", "loose"]
FeatureSet: TypeAlias = Literal["standard", "full", "cdec"]
#: Sentences, or lattices in one of two formats.
InputKind: TypeAlias = Literal["text", "plf", "cn"]
METHODS = ("risk", "mert", "likelihood", "mira", "perceptron")
#: Those that look at single candidates, or at their BLEU.
_ON_LISTS = ("mert", "mira", "perceptron")
LOSSES = ("corpus", "sentence", "linear")
PRIORS = ("zero", "start")
IMPUTATIONS = ("kbest", "samples", "lattice", "rules")
#: Which derivations of references count; see `TuningSettings.reach`.
REACHES = ("forest", "grammar")
#: What the k best imputed sources of a sentence weigh.
SOURCE_WEIGHTS = ("posterior", "equal")
CHOICES = ("supervised", "all", "last")
#: How many bigrams over tags may be features.
BIGRAMS, BIGRAMS_RANGE = 500, counts(1)


@documented
@dataclass(frozen=True)
class LanguageModelSettings(Settings):
    """How n-gram models are estimated."""

    order: int = option(5, "Words in the longest n-grams.", allowed=counts(1, 10), group=_COMMON)
    prune: tuple[int, ...] = option(
        (0,),
        "Leave out n-grams that occur N times or less, by order; the last N is for all higher orders, the first, for"
        " single words, is 0.",
        allowed=counts(),
        group=_TRAINING,
    )
    lowercase: bool = option(False, "Put the text in lower case.", group=_TRAINING)
    skip_symbols: bool = option(
        False, "Skip <s>, </s> and <unk> in the text; otherwise they are an error.", group=_TRAINING
    )

    def rules(self) -> None:
        """Refuse thresholds that no model has."""
        if not self.prune or self.prune[0] != 0 or sorted(self.prune) != list(self.prune):
            raise UsageProblem("`prune` takes numbers that do not fall, the first of them 0: for instance 0,0,1")
        if len(self.prune) > self.order:
            raise UsageProblem(f"`prune` has {len(self.prune)} numbers for a model of order {self.order}")


@documented
@dataclass(frozen=True)
class ExtractionSettings(Settings):
    """What rules are extracted, kept and how they are scored."""

    max_span: int = option(10, "Most words of an initial phrase, on either side.", allowed=counts(1, 200), group=_RULES)
    max_symbols: int = option(5, "Most words and nonterminals of a source side.", allowed=counts(1, 200), group=_RULES)
    nonterminals: int = option(2, "Most nonterminals; 0 gives a phrase table.", allowed=counts(0, 2), group=_RULES)
    min_hole: int = option(1, "Fewest source words that a nonterminal replaces.", allowed=counts(1, 200), group=_RULES)
    phrases: Phrases = option(
        "outer",
        "All phrases begin and end with linked words (tight), only those that nonterminals replace do (outer), or none"
        " need to (loose).",
        group=_RULES,
    )
    features: FeatureSet = option(
        "full",
        "Phrase and lexical probabilities (standard), with counts (full), or those of cdec's extractor.",
        group=_RULES,
    )
    keep: int = option(20, "Rules kept for each source side, the most frequent ones.", allowed=counts(1), group=_RULES)
    min_count: float = option(
        0.0, "Leave out rules with a lower fractional count.", allowed=amounts(), group=_RULES, metavar="C"
    )


@documented
@dataclass(frozen=True)
class GrammarFilter(Settings):
    """Which rules of a grammar a text can use, beside having their words."""

    CHANGES: ClassVar = "reading"

    span_limit: int | None = option(
        None,
        "Keep only rules that match within N words of a sentence: the span limit of the decoder.",
        allowed=counts(1, 200),
        otherwise="within any number",
        group=_COMMON,
    )


@documented
@dataclass(frozen=True)
class DecoderSettings(Settings):
    """How translations are searched."""

    CHANGES: ClassVar = "decisions"

    pop_limit: int = option(
        100,
        "Most items taken in a cell of the chart (cube pruning): more is slower and finds better scores; 0 takes all.",
        allowed=counts(0, 10**6),
        group=_SEARCH,
    )
    span_limit: int = option(
        10,
        "Most words that a rule covers; longer stretches are built by glue rules alone, from left to right.",
        allowed=counts(1, 100),
        group=_SEARCH,
    )
    # hypotheses of `System.forest` keep their first and last 4 words: hyperedges decide which n-grams a derivation has
    full_states: bool = True
    lazy: bool = option(
        True,
        "Score only a cube's first item by the language model at once. The others wait until their estimate is the"
        " highest of their cell: their score without the language model across junctions, corrected by the difference"
        " that it made for the item from which they were reached. This saves a third of the scoring; what it loses"
        " (0.01 to 0.03 of a sentence's score, measured) a higher `pop_limit` wins back sooner.",
    )
    # words of the grammar that no rule has alone are passed through, as unknown words are; without it only sentences
    # that rules cover have a translation
    pass_known: bool = True


@documented
@dataclass(frozen=True)
class LatticeSettings(Settings):
    """What is translated: sentences or lattices."""

    CHANGES: ClassVar = "reading"

    input: InputKind = option(
        "text",
        "What the text is: sentences; word lattices, one a line, in the python lattice format (plf); or confusion"
        " networks, with blank lines between them (cn).",
        group=_OUTPUT,
    )
    arc_scores: int = option(
        1,
        "Scores of each arc of a lattice: probabilities, whose logarithms are features, lattice-1 and so on; -100 at"
        " least.",
        allowed=counts(0, 1000),
        group=_OUTPUT,
    )
    arc_weights: tuple[float, ...] | None = option(
        None,
        "Weights of these scores, one for each.",
        allowed=amounts(-1e6, 1e6),
        otherwise="what the translation weights have for lattice-1 and so on, or 1",
        group=_OUTPUT,
    )

    def rules(self) -> None:
        """Refuse weights that are of no scores."""
        if self.arc_weights is None:
            return
        if self.input == "text":
            raise UsageProblem("`arc_weights` is for lattices: `input=plf` or `input=cn`")
        if len(self.arc_weights) != self.arc_scores:
            found = f"{len(self.arc_weights)} weights for {self.arc_scores} scores of an arc"
            raise UsageProblem(f"{found} (`arc_weights`, `arc_scores`)")


@documented
@dataclass(frozen=True)
class TranslationLists(Settings):
    """Which translations of each sentence are listed."""

    CHANGES: ClassVar = "decisions"

    n_best: int | None = option(
        None,
        "Write the N best distinct translations of each sentence, with features, in Moses' format.",
        allowed=counts(1, 10**6),
        group=_OUTPUT,
        excludes=("samples",),
    )
    samples: int | None = option(
        None,
        "Write N derivations of each sentence, drawn by their probability, in the same format.",
        allowed=counts(1, 10**6),
        group=_OUTPUT,
    )
    gamma: float = option(
        1.0,
        "For `samples`: scores are multiplied by this before they become probabilities. Larger draws the best"
        " translations more often, smaller more different ones.",
        allowed=amounts(),
        group=_OUTPUT,
    )
    seed: int = option(**_SEED)

    def rules(self) -> None:
        """Refuse a factor of nothing."""
        if self.samples is None and self.gamma != TranslationLists.gamma:
            raise UsageProblem("`gamma` is for `samples`: give it with it, or leave it out")


@dataclass(frozen=True)
class ImputationSettings:
    """How missing source sentences are imputed.

    Attributes
    ----------
    impute : str
        ``kbest``: the best sources, their probabilities rescaled; ``samples``: independent samples of equal weight;
        ``lattice``: an automaton of sources, translated whole (`tuning.imputed_lattices`); ``rules``: trees of the
        best sources, which are translated rule by rule (`tuning.round_trips`).
    n_sources : int
        Sources, or trees, of each sentence; a lattice has as many as its arcs make.
    reverse_gamma : float
        Sharpness of the reverse model's probabilities.
    monolingual_weight : float
        Weight of an imputed sentence relative to a supervised one.
    lattice_order : int
        Of a lattice's n-grams.
    lattice_prune : float
        Least posterior of a lattice's arcs.
    source_weights : str
        Of the k best: ``posterior``, the reverse model's probabilities; ``equal``, 1 / k each.
    """

    impute: str = "kbest"
    n_sources: int = 1
    reverse_gamma: float = 1.0
    monolingual_weight: float = 0.1
    lattice_order: int = 3
    lattice_prune: float = 0.02
    source_weights: str = "posterior"

    RANGES: ClassVar[dict[str, Range]] = {
        "n_sources": counts(1, 10**6), "reverse_gamma": amounts(above=True), "monolingual_weight": amounts(above=True),
        "lattice_order": counts(2, 5), "lattice_prune": PROBABILITY,
    }  # fmt: skip

    def check(self) -> None:
        """Raise a `UsageProblem` for an imputation that does not exist, or numbers outside their ranges."""
        if self.impute not in IMPUTATIONS:
            raise UsageProblem(f"no impute '{self.impute}'; choose one of {', '.join(IMPUTATIONS)}")
        if self.source_weights not in SOURCE_WEIGHTS:
            problem = f"no source weights '{self.source_weights}'; choose one of {', '.join(SOURCE_WEIGHTS)}"
            raise UsageProblem(problem)
        if self.source_weights != "posterior" and self.impute != "kbest":
            raise UsageProblem(f"--source-weights {self.source_weights} needs --impute kbest, not {self.impute}")
        check(self)

    def unused(self, monolingual: bool) -> dict[str, str]:
        """Return what was chosen that changes nothing, and why; ``monolingual``: whether there is text to impute."""
        chosen = [one.name for one in fields(self) if getattr(self, one.name) != one.default]
        if not monolingual:
            return dict.fromkeys(chosen, "there is no monolingual text")
        others = {"lattice": ("n_sources",)}.get(self.impute, ("lattice_order", "lattice_prune"))
        why = (
            "a lattice has as many sources as its arcs make" if self.impute == "lattice" else "it is of impute lattice"
        )
        return {name: why for name in chosen if name in others}


@dataclass(frozen=True)
class TuningSettings:
    """How weights are learned.

    Attributes
    ----------
    method : str
        ``risk`` (expected loss), ``mert`` (BLEU of the best candidates), ``likelihood`` (equation 5 of Li et al. 2011:
        of the candidate closest to the references, with ``forest`` of the references themselves), ``mira``,
        ``perceptron`` (`online`).
    loss : str
        Of risk: ``corpus``, 1 - BLEU of expected counts; ``sentence``, 1 - smoothed BLEU of each candidate;
        ``linear``, Tromble et al. 2008's approximation, around the counts of the round's translations. Of MIRA:
        ``corpus``, BLEU with a background of other sentences; ``sentence``, smoothed.
    forest : bool
        Risk over all derivations of all rounds, instead of over merged n-best lists.
    n_best : int
        Candidates of each sentence that a round adds.
    rounds : int
        Most rounds of decoding and optimizing.
    patience : int
        Rounds without a gain in BLEU after which tuning ends.
    gamma, quench : float
        See `risk.schedule`; every round goes through it.
    l2, temperature : float
        See `risk.Risk`.
    prior : str
        What the L2 term draws weights to: ``zero``, or ``start``, the weights that tuning began with.
    iterations : int
        L-BFGS steps for each gamma.
    restarts : int
        See `mert.maximize`.
    passes, step : int, float
        See `online.mira` and `online.perceptron`.
    oracle : bool
        Of the likelihood of references: where none is reached, the nearest of the round's n best stands in.
    reach : str
        Of the likelihood of references: ``forest``, the derivations that the decoder's forests have, pruned as all
        others are; ``grammar``, all that the grammar has.
    seed : int
    """

    method: str = "risk"
    loss: str = "corpus"
    forest: bool = False
    n_best: int = 100
    rounds: int = 10
    patience: int = 3
    gamma: float = 1.0
    quench: float | None = None
    l2: float = 1e-4
    temperature: float = 0.0
    prior: str = "zero"
    iterations: int = 200
    restarts: int = 8
    seed: int = 1
    passes: int = 60
    step: float = 0.001
    oracle: bool = False
    reach: str = "forest"

    RANGES: ClassVar[dict[str, Range]] = {
        "n_best": counts(2, 10**6), "rounds": counts(), "patience": counts(1), "gamma": amounts(above=True),
        "quench": amounts(above=True), "l2": amounts(), "temperature": amounts(), "iterations": counts(1),
        "restarts": counts(), "seed": SEED, "passes": counts(1), "step": amounts(above=True),
    }  # fmt: skip

    def check(self) -> None:
        """Raise a `UsageProblem` for settings that contradict each other."""
        for name, value, known in (("method", self.method, METHODS), ("loss", self.loss, LOSSES),
                                   ("prior", self.prior, PRIORS), ("reach", self.reach, REACHES)):  # fmt: skip
            if value not in known:
                raise UsageProblem(f"no {name} '{value}'; choose one of {', '.join(known)}")
        check(self)
        if self.quench is not None and self.quench < self.gamma:
            raise UsageProblem(f"--quench {self.quench:g} is below --gamma {self.gamma:g}")
        if self.forest and self.method in _ON_LISTS:
            raise UsageProblem(f"--forest needs --method risk or likelihood, not {self.method}")
        if self.oracle and not (self.forest and self.method == "likelihood"):
            raise UsageProblem("--oracle needs --method likelihood with --forest")
        if self.method == "mira" and self.loss == "linear":
            raise UsageProblem("--method mira needs --loss corpus or sentence, not linear")
        if self.forest and self.method == "risk" and self.loss == "sentence":
            raise UsageProblem("--loss sentence needs n-best lists: omit --forest, or use --loss corpus or linear")

    def unused(self, lattices: bool = False) -> dict[str, str]:
        """Return what was chosen that changes nothing, and what it is for; ``lattices``: whether sources are."""
        lists, online = self.method in _ON_LISTS, self.method in ("mira", "perceptron")
        found = {
            "restarts": (self.method != "mert", "only mert starts again"),
            "passes": (not online, "it is of mira and the perceptron"),
            "step": (not online, "it is of mira and the perceptron"),
            "temperature": (self.method != "risk", "it is of risk"),
            "loss": (self.method not in ("risk", "mira"), "it is of risk and mira"),
            "l2": (lists, "it is of risk and likelihood"),
            "prior": (lists or not self.l2, "it is of risk and likelihood, with l2 above 0"),
            "gamma": (lists and not lattices, "it is of risk and likelihood"),
            "quench": (lists and not lattices, "it is of risk and likelihood"),
            "reach": (not (self.forest and self.method == "likelihood"), "it is of likelihood with forest"),
        }
        chosen = {one.name for one in fields(self) if getattr(self, one.name) != one.default}
        return {name: about for name, (holds, about) in found.items() if holds and name in chosen}
