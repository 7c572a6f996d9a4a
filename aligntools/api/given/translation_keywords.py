"""Options of translation as keywords, for type checkers; ``python -m tests.keywords`` makes it of these."""

from collections.abc import Sequence
from typing import Literal, TypedDict


class DecoderKeywords(TypedDict, total=False):
    """Those of `DecoderSettings`."""

    pop_limit: int
    span_limit: int
    lazy: bool


class ExtractionKeywords(TypedDict, total=False):
    """Those of `ExtractionSettings`."""

    max_span: int
    max_symbols: int
    nonterminals: int
    min_hole: int
    phrases: Literal["tight", "outer", "loose"]
    features: Literal["standard", "full", "cdec"]
    keep: int
    min_count: float


class GrammarFilterKeywords(TypedDict, total=False):
    """Those of `GrammarFilter`."""

    span_limit: int | None


class ImputationKeywords(TypedDict, total=False):
    """Those of `ImputationSettings`."""

    impute: Literal["kbest", "samples", "lattice", "rules"]
    n_sources: int
    reverse_gamma: float
    monolingual_weight: float
    lattice_order: int
    lattice_prune: float
    source_weights: Literal["posterior", "equal"]


class LanguageModelKeywords(TypedDict, total=False):
    """Those of `LanguageModelSettings`."""

    order: int
    prune: Sequence[int]
    lowercase: bool
    skip_symbols: bool


class LatticeKeywords(TypedDict, total=False):
    """Those of `LatticeSettings`."""

    input: Literal["text", "plf", "cn"]
    arc_scores: int
    arc_weights: Sequence[float] | None


class TuningKeywords(TypedDict, total=False):
    """Those of `TuningSettings`."""

    method: Literal["risk", "mert", "likelihood", "mira", "perceptron"]
    loss: Literal["corpus", "sentence", "linear"]
    forest: bool
    n_best: int
    rounds: int
    patience: int
    gamma: float
    quench: float | None
    l2: float
    temperature: float
    prior: Literal["zero", "start"]
    iterations: int
    restarts: int
    seed: int
    passes: int
    step: float
    oracle: bool
    reach: Literal["forest", "grammar"]
    choose: Literal["all", "supervised", "last"]
    bigrams: int
