"""Options of the settings as keywords, for type checkers; ``python -m tests.keywords`` makes it of these."""

import os
from collections.abc import Sequence
from typing import Literal, TypedDict

from aligntools.ground.parallel import Pool


class AlignerKeywords(TypedDict, total=False):
    """Those of `AlignerSettings`."""

    model_type: Literal["ibm1", "ibm2", "hmm", "hmm-classes", "fertility", "ibm3", "ibm4"]
    fast: bool
    best: bool
    estimator: Literal["vb", "em"]
    agreement: bool
    direction: Literal["both", "forward", "reverse"]
    look_alike: bool
    views: Sequence[int] | None
    ibm1_iterations: int
    iterations: int | None
    sweeps: int | None
    alpha: float
    p_null: float
    null_smoothing: float | None
    tension: float
    positions: Literal["diagonal", "table"]
    pegging: bool
    word_classes: int
    subwords: int | None
    view_agreement: bool | None
    seed: int
    sampler_p_null: float | None
    hmm_weight: float
    keep: float | None
    prune: float | None


class SplittingKeywords(TypedDict, total=False):
    """Those of `Splitting`."""

    split: Literal["spaces", "unicode"] | None


class GoldReadingKeywords(SplittingKeywords, total=False):
    """Those of `GoldReading`."""

    gold_format: Literal["auto", "pharaoh", "naacl"]
    index_base: int
    gold_base: int | None
    first_sentence: int | None


class AlignmentScoringKeywords(GoldReadingKeywords, total=False):
    """Those of `AlignmentScoring`."""

    head: bool
    reverse: bool
    all_sure: bool
    ignore_possible: bool


class BracketScoringKeywords(TypedDict, total=False):
    """Those of `BracketScoring`."""

    leave_out: str
    unlabelled: bool
    whole: bool
    functions: bool
    max_length: int | None
    ignore_forms: bool


class CheckKeywords(TypedDict, total=False):
    """Those of `CheckSettings`."""

    flag_above: float


class ClassKeywords(TypedDict, total=False):
    """Those of `ClassSettings`."""

    number: int
    iterations: int
    restarts: int
    min_count: int
    seed: int


class PieceReadingKeywords(TypedDict, total=False):
    """Those of `PieceReading`."""

    scheme: Literal[
        "auto", "sentencepiece", "bpe", "wordpiece", "icu", "opennmt", "byte-level", "end-of-word", "underscore"
    ]


class CombiningKeywords(PieceReadingKeywords, SplittingKeywords, total=False):
    """Those of `CombiningSettings`."""

    format: Literal["pharaoh", "giza"]
    index_base: int
    to: Literal["pharaoh", "giza"]
    order: Literal["source", "target"] | None
    flavor: Literal["atools", "symal"]


class ContrastiveKeywords(TypedDict, total=False):
    """Those of `ContrastiveSettings`."""

    features: str
    sentences: int
    noise: str
    n_best: int
    learning_beam: int
    optimizer: Literal["sphere", "sgd"]
    passes: int | None
    rate: float | None
    pull: float | None
    density: Literal["base", "expected", "learned"] | None
    method: Literal["risk", "mert"]
    evidence_share: float | None
    folds: int
    rounds: int | None
    beam: int
    constraint: Literal["none", "itg", "block-itg"]
    candidates: Literal["few", "base", "all"] | None
    seed: int


class DecisionsKeywords(TypedDict, total=False):
    """Those of `Decisions`."""

    symmetrize: Literal[
        "joint", "mean", "union", "intersect", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"
    ]
    flavor: Literal["atools", "symal"]
    decode: Literal["best", "posterior", "viterbi"]
    threshold: float | None
    phrases: bool


class FilterKeywords(TypedDict, total=False):
    """Those of `FilterSettings`."""

    min_score: float
    min_coverage: float
    min_probability: float | None
    max_copied: float


class GrammarKeywords(TypedDict, total=False):
    """Those of `GrammarSettings`."""

    horizontal: int | None
    vertical: int | None
    latent: int
    merge: float
    iterations: int
    smoothing: float
    members: int
    functions: bool
    seed: int


class GrammarDecisionsKeywords(TypedDict, total=False):
    """Those of `GrammarDecisions`."""

    decode: Literal["max-rule", "viterbi"]
    pruning: float
    keep_tags: bool | None
    max_length: int


class InducedGrammarKeywords(TypedDict, total=False):
    """Those of `InducedGrammarSettings`."""

    symbols: int
    estimator: Literal["em", "vb", "neural", "compound"]
    terminals: Literal["tags", "words"]
    preterminals: int
    width: int
    epochs: int
    prior: float
    punct: Literal["drop", "keep"]
    max_length: int
    restarts: int
    iterations: int
    tolerance: float
    seed: int


class InducedParserKeywords(TypedDict, total=False):
    """Those of `InducedParserSettings`."""

    estimator: Literal["em", "vb"]
    prior: float
    punct: Literal["drop", "keep"]
    min_length: int
    max_length: int
    decay: float
    iterations: int
    tolerance: float


class InductionKeywords(TypedDict, total=False):
    """Those of `InductionSettings`."""

    states: int
    estimator: Literal["em", "vb", "mre"]
    iterations: int
    mre_iterations: int
    tolerance: float
    transition_prior: float | None
    emission_prior: float | None
    restarts: int
    stop: bool
    seed: int
    min_share: float


class LinkReadingKeywords(TypedDict, total=False):
    """Those of `LinkReading`."""

    reverse: bool
    index_base: int


class LoadingKeywords(TypedDict, total=False):
    """Those of `Loading`."""

    verify: bool


class MarkupKeywords(TypedDict, total=False):
    """Those of `MarkupSettings`."""

    markup: Literal["xml", "usfm"]
    split_spans: Literal["once", "repeat"]


class ModelViewingKeywords(TypedDict, total=False):
    """Those of `ModelViewing`."""

    words: int
    best: int


class PairReadingKeywords(SplittingKeywords, total=False):
    """Those of `PairReading`."""

    input_format: Literal["auto", "joint", "tsv"]
    languages: str | None


class TreeConstraintsKeywords(TypedDict, total=False):
    """Those of `TreeConstraints`."""

    projective: bool
    single_root: bool


class LearningKeywords(TreeConstraintsKeywords, total=False):
    """Those of `LearningSettings`."""

    features: Literal["full", "prefixes", "delexicalized"]
    bits: int
    min_count: int
    iterations: int
    tolerance: float


class ParserKeywords(LearningKeywords, total=False):
    """Those of `ParserSettings`."""

    labels: bool
    crossing: Literal["skip", "lift"]
    roots: Literal["skip", "join"]
    min_length: int
    max_length: int
    l2: float


class ParserDecisionsKeywords(TypedDict, total=False):
    """Those of `ParserDecisions`."""

    labels: bool
    projective: bool | None
    single_root: bool | None
    max_length: int


class ColumnReadingKeywords(TypedDict, total=False):
    """Those of `ColumnReading`."""

    predicted_columns: bool


class TextReadingKeywords(TypedDict, total=False):
    """Those of `TextReading`."""

    format: Literal["auto", "conll", "tagged", "columns", "text"]
    separator: str | bytes | None


class TagReadingKeywords(ColumnReadingKeywords, TextReadingKeywords, total=False):
    """Those of `TagReading`."""

    column: str | int | None


class ParserReadingKeywords(TagReadingKeywords, total=False):
    """Those of `ParserReading`."""

    map: Literal["none", "upos", "penn"] | None


class PartKeywords(TypedDict, total=False):
    """Those of `PartSettings`."""

    part_size: int | None


class PriorWeightsKeywords(TypedDict, total=False):
    """Those of `PriorWeights`."""

    prior_lexical: float
    prior_fertility: float
    prior_jumps: float


class ProjectionKeywords(TypedDict, total=False):
    """Those of `ProjectionSettings`."""

    columns: Sequence[Literal["lemma", "upos", "xpos", "feats", "head", "deprel"]]
    spans: str | int | None
    links: Literal["best", "one-to-one", "vote"]


class ReadingKeywords(PairReadingKeywords, total=False):
    """Those of `Reading`."""

    case_sensitive: bool
    max_length: int
    strict: bool


class ReconstructionKeywords(TypedDict, total=False):
    """Those of `ReconstructionSettings`."""

    mre_iterations: int
    mre_smoothing: float | None
    mre_position_smoothing: float
    mre_positions: bool
    mre_null: bool | None
    mre_rate: float


class RunKeywords(TypedDict, total=False):
    """Those of `Run`."""

    threads: int | Pool | None
    max_memory: int | str | None
    workers: int | None
    cluster: str | os.PathLike[str] | None
    tmpdir: str | os.PathLike[str] | None


class TagDecisionsKeywords(TypedDict, total=False):
    """Those of `TagDecisions`."""

    decode: Literal["posterior", "viterbi"]
    split_tokens: bool


class TagScoringKeywords(TypedDict, total=False):
    """Those of `TagScoring`."""

    column: str | int
    format: Literal["auto", "conll", "tagged", "columns"]
    separator: str | bytes | None
    hyp_column: str | int | None
    hyp_format: Literal["auto", "conll", "tagged", "columns"] | None
    predicted_columns: bool
    head: bool
    ignore_forms: bool


class TagWritingKeywords(TypedDict, total=False):
    """Those of `TagWriting`."""

    to: Literal["same", "tagged", "conll"]
    column: str | int | None
    separator: str
    keep: Sequence[str]


class TaggerKeywords(TypedDict, total=False):
    """Those of `TaggerSettings`."""

    latent: int
    members: int
    iterations: int
    noise: float
    merging: float
    rare: float
    seed: int
    relative_frequencies: bool
    tokens: Literal["words", "surface"]
    partial: bool
    min_share: float


class TeachingKeywords(TypedDict, total=False):
    """Those of `TeachingSettings`."""

    students: Sequence[int]
    lessons: int
    networks: int
    passes: int | None
    seed: int


class TermKeywords(TypedDict, total=False):
    """Those of `TermSettings`."""

    min_count: int
    max_words: int
    min_probability: float
    stop_words: bool
    patterns: str | None
    top: int | None


class TokenizingKeywords(TypedDict, total=False):
    """Those of `Tokenizing`."""

    tokenize: str | None
    tokenizer: Literal["moses", "icu"] | None


class TransferKeywords(LearningKeywords, total=False):
    """Those of `TransferSettings`."""

    labels: bool
    min_length: int
    max_length: int
    min_aligned: float
    max_pairs: int | None
    method: Literal["full", "direct", "projected"]
    transferred: Literal["posterior", "score"]
    gamma: float
    direct_share: float
    entropy: Literal["shannon", "renyi"]
    alpha: float
    rounds: int
    reward: float
    l2: float


class TranslationScoringKeywords(TypedDict, total=False):
    """Those of `TranslationScoring`."""

    tokenize: Literal["none"]
    lowercase: bool
    smooth: Literal["exp", "floor", "add-k", "none"]
    smooth_value: float | None


class TreeScoringKeywords(TypedDict, total=False):
    """Those of `TreeScoring`."""

    punct: Literal["all", "conll", "ud"]
    conll18: bool
    column: str | int
    predicted_columns: bool
    ignore_forms: bool
    max_length: int | None
    subtypes: bool


class WordReadingKeywords(SplittingKeywords, TextReadingKeywords, total=False):
    """Those of `WordReading`."""
