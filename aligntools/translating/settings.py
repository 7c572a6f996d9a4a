"""Settings of language models, grammars, decoding and tuning; their defaults are those of the API and the commands."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from aligntools.ground.declarations import (
    Settings,
    common_option,
    declared,
    documented,
    file_option,
    option,
    training_option,
)
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, amounts, counts
from aligntools.ground.run import SEED_OPTION, Lists

#: Words after which a sentence is cut for its best translation, and over which none is learned from: memory grows with
#: the length.
LONGEST = 600
#: Titles of groups of options.
_RULES, _SEARCH, _MONOLINGUAL, _START = "Rules", "Search", "Target text alone", "Features and starting weights"
#: Bytes of tables beyond which they go to files, where nothing bounds them.
TABLES = 2 << 30
Phrases: TypeAlias = Literal["tight", "outer", "loose"]
FeatureSet: TypeAlias = Literal["standard", "full", "cdec"]
#: Sentences, or lattices in one of two formats.
InputKind: TypeAlias = Literal["text", "plf", "cn"]
Method: TypeAlias = Literal["risk", "mert", "likelihood", "mira", "perceptron"]
Loss: TypeAlias = Literal["corpus", "sentence", "linear"]
Prior: TypeAlias = Literal["zero", "start"]
#: Which derivations of references count.
Reach: TypeAlias = Literal["forest", "grammar"]
#: The weights of which round are taken.
Choice: TypeAlias = Literal["all", "supervised", "last"]
Imputation: TypeAlias = Literal["kbest", "samples", "lattice", "rules"]
#: What the k best imputed sources of a sentence weigh.
SourceWeights: TypeAlias = Literal["posterior", "equal"]
#: Methods that look at single candidates, or at their BLEU.
_ON_LISTS = ("mert", "mira", "perceptron")
_OF_LATTICES: Any = {"needs": ("input=plf|input=cn",), "said": "`{name}` is for lattices: `input=plf` or `input=cn`"}


@documented
@dataclass(frozen=True)
class LanguageModelSettings(Settings):
    """How n-gram models are estimated."""

    order: int = common_option(5, "Words in the longest n-grams.", allowed=counts(1, 10))
    prune: tuple[int, ...] = training_option(
        (0,),
        "Leave out n-grams that occur N times or less, by order; the last N is for all higher orders, the first, for"
        " single words, is 0.",
        allowed=counts(),
    )
    lowercase: bool = training_option(False, "Put the text in lower case.")
    skip_symbols: bool = training_option(False, "Skip <s>, </s> and <unk> in the text; otherwise they are an error.")

    def rules(self) -> None:
        """Refuse thresholds that no model has."""
        if not self.prune or self.prune[0] != 0 or sorted(self.prune) != list(self.prune):
            raise UsageProblem("`prune`: counts must not decrease and begin with 0, for example 0,0,1")
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
        0.0, "Leave out rules with a lower fractional count.", allowed=amounts(), metavar="C", group=_RULES
    )


@documented
@dataclass(frozen=True)
class GrammarFilter(Settings):
    """Which rules of a grammar a text can use."""

    span_limit: int | None = common_option(
        None,
        "Keep only rules that match within N words of a sentence: the span limit of the decoder.",
        allowed=counts(1, 200),
        otherwise="within any number",
    )


@documented
@dataclass(frozen=True)
class DecoderSettings(Settings):
    """How translations are searched."""

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
    """The input: sentences or lattices."""

    input: InputKind = file_option(
        "text",
        "What the text is: sentences; word lattices, one a line, in the python lattice format (plf); or confusion"
        " networks, with blank lines between them (cn).",
    )
    arc_scores: int = file_option(
        1,
        "Scores of each arc of a lattice: probabilities, whose logarithms are features, lattice-1 and so on; -100 at"
        " least.",
        **_OF_LATTICES,
        allowed=counts(0, 1000),
    )
    arc_weights: tuple[float, ...] | None = file_option(
        None,
        "Weights of these scores, one for each.",
        **_OF_LATTICES,
        allowed=amounts(-1e6, 1e6),
        otherwise="what the translation weights have for lattice-1 and so on, or 1",
    )

    def rules(self) -> None:
        """Refuse weights of arcs without scores."""
        if self.arc_weights is not None and len(self.arc_weights) != self.arc_scores:
            found = f"{len(self.arc_weights)} weights for {self.arc_scores} scores of an arc"
            raise UsageProblem(f"{found} (`arc_weights`, `arc_scores`)")


@documented
@dataclass(frozen=True)
class TranslationLists(Lists, Settings):
    """Which translations of each sentence are listed."""

    n_best: int | None = file_option(
        None,
        "Write the N best distinct translations of each sentence, with features, in Moses' format.",
        allowed=counts(1, 10**6),
        excludes=("samples",),
    )
    samples: int | None = file_option(
        None,
        "Write N derivations of each sentence, drawn by their probability, in the same format.",
        allowed=counts(1, 10**6),
    )
    gamma: float = file_option(
        1.0,
        "For `samples`: scores are multiplied by this before they become probabilities. Larger draws the best"
        " translations more often, smaller more different ones.",
        allowed=amounts(),
    )
    seed: int = option(**SEED_OPTION)


@documented
@dataclass(frozen=True)
class ImputationSettings(Settings):
    """How missing source sentences are imputed."""

    impute: Imputation = option(
        "kbest",
        "The best sources, weighted by their probabilities (kbest); independent samples of equal weight; a lattice of"
        " sources, which is translated whole; or the best sources' trees, which are translated rule by rule (rules).",
        group=_MONOLINGUAL,
    )
    n_sources: int = option(
        1,
        "Sources, or trees, for each sentence; a lattice has as many as its arcs make.",
        allowed=counts(1, 10**6),
        group=_MONOLINGUAL,
    )
    reverse_gamma: float = option(
        1.0,
        "How sharply imputed sources are weighed by the reverse model's scores. Larger counts its best source almost"
        " alone.",
        allowed=amounts(above=True),
        group=_MONOLINGUAL,
    )
    monolingual_weight: float = option(
        0.1,
        "Weight of an imputed sentence relative to a supervised one.",
        allowed=amounts(above=True),
        group=_MONOLINGUAL,
    )
    lattice_order: int = option(
        3, "Words of the n-grams from which `impute=lattice` makes lattices.", allowed=counts(2, 5), group=_MONOLINGUAL
    )
    lattice_prune: float = option(
        0.02,
        "Leave out arcs of these lattices with a lower posterior probability.",
        allowed=PROBABILITY,
        group=_MONOLINGUAL,
    )
    source_weights: SourceWeights = option(
        "posterior",
        "What the best sources of a sentence weigh: their probabilities, or all alike.",
        needs=("impute=kbest",),
        said="`source_weights={source_weights}` needs `impute=kbest`, not {impute}",
        group=_MONOLINGUAL,
    )

    def unused(self, monolingual: bool) -> dict[str, str]:
        """Return what was chosen that changes nothing, and why; ``monolingual``: whether there is text to impute."""
        chosen = [name for name, one in declared(type(self)).items() if getattr(self, name) != one.default]
        if not monolingual:
            return dict.fromkeys(chosen, "there is no monolingual text")
        others = {"lattice": ("n_sources",)}.get(self.impute, ("lattice_order", "lattice_prune"))
        why = "a lattice has as many sources as its arcs make" if self.impute == "lattice" else "it is of lattices"
        return {name: why for name in chosen if name in others}


@documented
@dataclass(frozen=True)
class TuningSettings(Settings):
    """How weights are learned."""

    method: Method = training_option(
        "risk",
        "Expected loss; minimum error rate training (BLEU of the best candidates); conditional likelihood of the best"
        " candidate, or of the references with `forest` (equation 5 of Li et al. 2011); batch k-best MIRA (Cherry &"
        " Foster 2012); the averaged perceptron, towards the best of the list (Liang et al. 2006).",
        when="mira",
        excludes=("loss=linear",),
        said="`method=mira` has the losses corpus or sentence, not `loss=linear`",
    )
    loss: Loss = training_option(
        "corpus",
        "Of risk and MIRA: 1 - BLEU of expected counts (MIRA: of a sentence among others); of each sentence, smoothed;"
        " or, of risk, BLEU's linear approximation (Tromble et al. 2008).",
    )
    forest: bool = training_option(
        False,
        "Risk over all derivations, not over n-best lists; likelihood of the references, over all their derivations,"
        " not of the nearest candidate.",
        excludes=tuple(f"method={name}" for name in _ON_LISTS),
        said="`forest` is for risk or likelihood, not `method={method}`",
    )
    n_best: int = training_option(100, "Candidates of each sentence that a round adds.", allowed=counts(2, 10**6))
    rounds: int = training_option(10, "Most rounds of decoding and optimizing.", allowed=counts())
    patience: int = training_option(3, "Stop after N rounds without a gain in BLEU.", allowed=counts(1))
    gamma: float = training_option(
        1.0,
        "How sharply candidates are weighed by their scores (the paper's gamma): scores are multiplied by it before"
        " they become probabilities. Larger counts the best candidate almost alone, as the decoder does; smaller"
        " spreads over all, which is easier to learn from. See `quench`.",
        allowed=amounts(above=True),
    )
    quench: float | None = training_option(
        None,
        "Double gamma in every round, optimizing each time, until it reaches X.",
        allowed=amounts(above=True),
        metavar="X",
    )
    l2: float = training_option(
        1e-4,
        "How strongly weights are held near those of `prior`: half of this times their squared distance is added to"
        " what is minimized. Larger changes them less; for few or short sentences.",
        allowed=amounts(),
    )
    temperature: float = training_option(0.0, "Weight of the entropy, which is rewarded.", allowed=amounts())
    prior: Prior = training_option("zero", "What `l2` draws the weights to: zero, or the starting weights.")
    iterations: int = option(200, "Most steps of L-BFGS for each gamma.", allowed=counts(1))
    restarts: int = training_option(8, "Random starting points of MERT in each round.", allowed=counts())
    seed: int = option(**SEED_OPTION | {"group": "Resources"})
    passes: int = training_option(
        60, "Passes of MIRA and the perceptron over the sentences in each round.", allowed=counts(1)
    )
    step: float = training_option(
        0.001,
        "The largest step of MIRA (its C), every step of the perceptron. Larger learns faster and is less steady.",
        allowed=amounts(above=True),
    )
    oracle: bool = training_option(
        False,
        "With `method=likelihood` and `forest`, where the grammar derives no reference: take the nearest candidate.",
        needs=("method=likelihood", "forest"),
        said="`oracle` needs `method=likelihood` with `forest`",
    )
    reach: Reach = training_option(
        "forest",
        "With `method=likelihood` and `forest`: the derivations of references that the decoder's forests have, or all"
        " that the grammar has.",
    )
    choose: Choice = training_option(
        "all", "Take the weights of the round that is best on all text or on the supervised text, or of the last round."
    )
    bigrams: int = option(500, "How many bigrams of tags, the most frequent ones.", allowed=counts(1), group=_START)

    def rules(self) -> None:
        """Refuse settings that contradict each other."""
        if self.quench is not None and self.quench < self.gamma:
            raise UsageProblem(f"`quench={self.quench:g}` is below `gamma={self.gamma:g}`")
        if self.forest and self.method == "risk" and self.loss == "sentence":
            raise UsageProblem("`loss=sentence` needs n-best lists: leave out `forest`, or take corpus or linear")

    def fixed(self) -> dict[str, Any]:
        """Return what the state of a run depends on: not what is taken from it, nor what its features tell."""
        return {name: value for name, value in self.header().items() if name not in ("choose", "bigrams")}

    def unused(self, lattices: bool = False, tags: bool = True) -> dict[str, str]:
        """Return what was chosen that changes nothing, and what it is for.

        ``lattices`` and ``tags``: whether sources are lattices, and whether there are tags.
        """
        lists, online = self.method in _ON_LISTS, self.method in ("mira", "perceptron")
        found = {
            "restarts": (self.method != "mert", "only mert starts again"),
            "passes": (not online, "it is of mira and the perceptron"),
            "step": (not online, "it is of mira and the perceptron"),
            "temperature": (self.method != "risk", "it is of risk"),
            "loss": (self.method not in ("risk", "mira"), "it is of risk and mira"),
            "l2": (lists, "it is of risk and likelihood"),
            "prior": (lists or not self.l2, "it is of risk and likelihood, with `l2` above 0"),
            "gamma": (lists and not lattices, "it is of risk and likelihood"),
            "quench": (lists and not lattices, "it is of risk and likelihood"),
            "reach": (not (self.forest and self.method == "likelihood"), "it is of likelihood with `forest`"),
            "bigrams": (not tags, "there are no tags"),
        }
        chosen = {name for name, one in declared(type(self)).items() if getattr(self, name) != one.default}
        return {name: about for name, (holds, about) in found.items() if holds and name in chosen}
