"""Keywords of functions that take settings, for type checkers; ``python -m tests.keywords`` makes it."""

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

import aligntools as at
from aligntools.ground.parallel import Pool

class AlignerKeywords(TypedDict, total=False):
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

class AlignmentScoringKeywords(TypedDict, total=False):
    split: Literal["spaces", "unicode"] | None
    gold_format: Literal["auto", "pharaoh", "naacl"]
    index_base: int
    gold_base: int | None
    first_sentence: int | None
    head: bool
    reverse: bool
    all_sure: bool
    ignore_possible: bool

class BracketScoringKeywords(TypedDict, total=False):
    leave_out: str
    unlabelled: bool
    whole: bool
    functions: bool
    max_length: int | None
    ignore_forms: bool

class CheckKeywords(TypedDict, total=False):
    flag_above: float

class ClassKeywords(TypedDict, total=False):
    number: int
    iterations: int
    restarts: int
    min_count: int
    seed: int

class CombiningKeywords(TypedDict, total=False):
    split: Literal["spaces", "unicode"] | None
    scheme: Literal["auto", "sentencepiece", "bpe", "wordpiece", "icu", "opennmt", "byte-level", "end-of-word", "underscore"]
    format: Literal["pharaoh", "giza"]
    index_base: int
    to: Literal["pharaoh", "giza"]
    order: Literal["source", "target"] | None
    flavor: Literal["atools", "symal"]

class ContrastiveKeywords(TypedDict, total=False):
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
    symmetrize: Literal["joint", "mean", "union", "intersect", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"]
    flavor: Literal["atools", "symal"]
    decode: Literal["best", "posterior", "viterbi"]
    threshold: float | None
    phrases: bool

class DecoderKeywords(TypedDict, total=False):
    pop_limit: int
    span_limit: int
    lazy: bool

class ExtractionKeywords(TypedDict, total=False):
    max_span: int
    max_symbols: int
    nonterminals: int
    min_hole: int
    phrases: Literal["tight", "outer", "loose"]
    features: Literal["standard", "full", "cdec"]
    keep: int
    min_count: float

class FilterKeywords(TypedDict, total=False):
    min_score: float
    min_coverage: float
    min_probability: float | None
    max_copied: float

class GoldReadingKeywords(TypedDict, total=False):
    split: Literal["spaces", "unicode"] | None
    gold_format: Literal["auto", "pharaoh", "naacl"]
    index_base: int
    gold_base: int | None
    first_sentence: int | None

class GrammarKeywords(TypedDict, total=False):
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
    decode: Literal["max-rule", "viterbi"]
    pruning: float
    keep_tags: bool | None
    max_length: int

class GrammarFilterKeywords(TypedDict, total=False):
    span_limit: int | None

class ImputationKeywords(TypedDict, total=False):
    impute: Literal["kbest", "samples", "lattice", "rules"]
    n_sources: int
    reverse_gamma: float
    monolingual_weight: float
    lattice_order: int
    lattice_prune: float
    source_weights: Literal["posterior", "equal"]

class InducedGrammarKeywords(TypedDict, total=False):
    symbols: int
    estimator: Literal["em", "vb", "neural", "compound"]
    terminals: Literal["tags", "words"]
    brackets: bool
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
    estimator: Literal["em", "vb"]
    prior: float
    punct: Literal["drop", "keep"]
    min_length: int
    max_length: int
    decay: float
    iterations: int
    tolerance: float

class InductionKeywords(TypedDict, total=False):
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

class LanguageModelKeywords(TypedDict, total=False):
    order: int
    prune: Sequence[int]
    lowercase: bool
    skip_symbols: bool

class LatticeKeywords(TypedDict, total=False):
    input: Literal["text", "plf", "cn"]
    arc_scores: int
    arc_weights: Sequence[float] | None

class LinkReadingKeywords(TypedDict, total=False):
    reverse: bool
    index_base: int

class LoadingKeywords(TypedDict, total=False):
    verify: bool

class MarkupKeywords(TypedDict, total=False):
    markup: Literal["xml", "usfm"]
    split_spans: Literal["once", "repeat"]

class ModelViewingKeywords(TypedDict, total=False):
    words: int
    best: int

class PairReadingKeywords(TypedDict, total=False):
    split: Literal["spaces", "unicode"] | None
    input_format: Literal["auto", "joint", "tsv"]
    languages: str | None

class ParserKeywords(TypedDict, total=False):
    projective: bool
    single_root: bool
    features: Literal["full", "prefixes", "delexicalized"]
    bits: int
    min_count: int
    iterations: int
    tolerance: float
    labels: bool
    crossing: Literal["skip", "lift"]
    roots: Literal["skip", "join"]
    min_length: int
    max_length: int
    l2: float

class ParserDecisionsKeywords(TypedDict, total=False):
    labels: bool
    projective: bool | None
    single_root: bool | None
    max_length: int

class ParserReadingKeywords(TypedDict, total=False):
    format: Literal["auto", "conll", "tagged", "columns", "text"]
    separator: str | bytes | None
    predicted_columns: bool
    column: str | int | None
    map: Literal["none", "upos", "penn"] | None

class PartKeywords(TypedDict, total=False):
    part_size: int | None

class PriorWeightsKeywords(TypedDict, total=False):
    prior_lexical: float
    prior_fertility: float
    prior_jumps: float

class ProjectionKeywords(TypedDict, total=False):
    columns: Sequence[Literal["lemma", "upos", "xpos", "feats", "head", "deprel"]]
    spans: str | int | None
    links: Literal["best", "one-to-one", "vote"]

class ReadingKeywords(TypedDict, total=False):
    split: Literal["spaces", "unicode"] | None
    input_format: Literal["auto", "joint", "tsv"]
    languages: str | None
    case_sensitive: bool
    max_length: int
    strict: bool

class ReconstructionKeywords(TypedDict, total=False):
    mre_iterations: int
    mre_smoothing: float | None
    mre_position_smoothing: float
    mre_positions: bool
    mre_null: bool | None
    mre_rate: float

class RunKeywords(TypedDict, total=False):
    threads: int | Pool | None
    max_memory: int | str | None
    workers: int | None
    cluster: str | os.PathLike[str] | None
    tmpdir: str | os.PathLike[str] | None

class SentenceKeywords(TypedDict, total=False):
    group_size: int
    moved: bool
    min_score: float
    encoder: str | bool | os.PathLike[str] | None
    dictionary: Sequence[object]
    priors: Sequence[object]
    vectors: Sequence[str] | None
    anchors: str | None
    split_sentences: str | None

class SplittingKeywords(TypedDict, total=False):
    split: Literal["spaces", "unicode"] | None

class TagDecisionsKeywords(TypedDict, total=False):
    decode: Literal["posterior", "viterbi"]
    split_tokens: bool

class TagReadingKeywords(TypedDict, total=False):
    format: Literal["auto", "conll", "tagged", "columns", "text"]
    separator: str | bytes | None
    predicted_columns: bool
    column: str | int | None

class TagScoringKeywords(TypedDict, total=False):
    column: str | int
    format: Literal["auto", "conll", "tagged", "columns"]
    separator: str | bytes | None
    hyp_column: str | int | None
    hyp_format: Literal["auto", "conll", "tagged", "columns"] | None
    predicted_columns: bool
    head: bool
    ignore_forms: bool

class TagWritingKeywords(TypedDict, total=False):
    to: Literal["same", "tagged", "conll"]
    column: str | int | None
    separator: str
    keep: Sequence[str]

class TaggerKeywords(TypedDict, total=False):
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
    students: Sequence[int]
    lessons: int
    networks: int
    passes: int | None
    seed: int

class TermKeywords(TypedDict, total=False):
    min_count: int
    max_words: int
    min_probability: float
    stop_words: bool
    patterns: str | None
    top: int | None

class TokenizingKeywords(TypedDict, total=False):
    tokenize: str | None
    tokenizer: Literal["moses", "icu"] | None

class TransferKeywords(TypedDict, total=False):
    projective: bool
    single_root: bool
    features: Literal["full", "prefixes", "delexicalized"]
    bits: int
    min_count: int
    iterations: int
    tolerance: float
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
    tokenize: Literal["none"]
    lowercase: bool
    smooth: Literal["exp", "floor", "add-k", "none"]
    smooth_value: float | None

class TreeScoringKeywords(TypedDict, total=False):
    punct: Literal["all", "conll", "ud"]
    conll18: bool
    column: str | int
    predicted_columns: bool
    ignore_forms: bool
    max_length: int | None
    subtypes: bool

class TuningKeywords(TypedDict, total=False):
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

class WordReadingKeywords(TypedDict, total=False):
    format: Literal["auto", "conll", "tagged", "columns", "text"]
    separator: str | bytes | None
    split: Literal["spaces", "unicode"] | None

class EvidenceKeywords(TypedDict, total=False):
    encoder: str | bool | os.PathLike[str] | None
    encoder_layer: int | None
    encoder_pairs: int | None
    encoder_lines: str | None
    encoder_minutes: float | None
    encoder_checkpoint: str | None
    word_encoder: bool
    vectors: Sequence[str] | None
    dictionary: Sequence[str]

class AppliedEvidenceKeywords(TypedDict, total=False):
    encoder: str | bool | os.PathLike[str] | None

class AlignKeywords(AlignerKeywords, DecisionsKeywords, PriorWeightsKeywords, ReadingKeywords, RunKeywords, EvidenceKeywords, total=False): ...

class ApplyingKeywords(DecisionsKeywords, ReadingKeywords, RunKeywords, total=False):
    decisions: at.Decisions | None
    reading: at.Reading | None
    run: at.Run | None

class CheckingKeywords(CheckKeywords, AlignerKeywords, PriorWeightsKeywords, ReadingKeywords, RunKeywords, EvidenceKeywords, total=False): ...

class ClassTrainingKeywords(ClassKeywords, SplittingKeywords, RunKeywords, total=False): ...

class CountingKeywords(WordReadingKeywords, RunKeywords, total=False): ...

class DecidingKeywords(ParserDecisionsKeywords, ParserReadingKeywords, total=False): ...

class ExtractingKeywords(ExtractionKeywords, PairReadingKeywords, RunKeywords, total=False): ...

class FilteringKeywords(FilterKeywords, AlignerKeywords, PriorWeightsKeywords, ReadingKeywords, RunKeywords, EvidenceKeywords, total=False): ...

class GrammarLoadingKeywords(GrammarFilterKeywords, SplittingKeywords, LoadingKeywords, total=False): ...

class GrammarParsingKeywords(GrammarDecisionsKeywords, RunKeywords, total=False): ...

class GrammarTextKeywords(GrammarFilterKeywords, SplittingKeywords, total=False): ...

class GrammarTrainingKeywords(GrammarKeywords, RunKeywords, total=False): ...

class InducingGrammarKeywords(InducedGrammarKeywords, TagReadingKeywords, RunKeywords, total=False): ...

class InducingKeywords(InductionKeywords, WordReadingKeywords, RunKeywords, total=False): ...

class ListingKeywords(GrammarDecisionsKeywords, RunKeywords, total=False): ...

class LmTrainingKeywords(LanguageModelKeywords, SplittingKeywords, RunKeywords, total=False): ...

class MarkupTransferKeywords(MarkupKeywords, TokenizingKeywords, total=False): ...

class MreKeywords(AlignerKeywords, ReconstructionKeywords, ReadingKeywords, RunKeywords, total=False): ...

class ParserInducingKeywords(InducedParserKeywords, ParserReadingKeywords, RunKeywords, total=False): ...

class ParserTrainingKeywords(ParserKeywords, ParserReadingKeywords, RunKeywords, total=False): ...

class ParsingKeywords(ParserDecisionsKeywords, ParserReadingKeywords, RunKeywords, total=False): ...

class PartsKeywords(AlignerKeywords, DecisionsKeywords, PartKeywords, PriorWeightsKeywords, ReadingKeywords, RunKeywords, EvidenceKeywords, total=False): ...

class ProjectingKeywords(ProjectionKeywords, LinkReadingKeywords, SplittingKeywords, total=False): ...

class SearchingKeywords(ReadingKeywords, RunKeywords, total=False):
    reading: at.Reading | None
    run: at.Run | None

class SentenceSettingsKeywords(SentenceKeywords, total=False): ...

class SentencesKeywords(TagDecisionsKeywords, SplittingKeywords, RunKeywords, total=False): ...

class TaggerTrainingKeywords(TaggerKeywords, TagReadingKeywords, RunKeywords, total=False): ...

class TaggingKeywords(TagDecisionsKeywords, RunKeywords, total=False): ...

class TeachKeywords(TeachingKeywords, ReadingKeywords, RunKeywords, total=False): ...

class TermsKeywords(TermKeywords, AlignerKeywords, ReadingKeywords, RunKeywords, total=False): ...

class TrainingKeywords(AlignerKeywords, PriorWeightsKeywords, ReadingKeywords, RunKeywords, EvidenceKeywords, total=False): ...

class TransferringKeywords(TransferKeywords, ParserReadingKeywords, LinkReadingKeywords, LoadingKeywords, RunKeywords, total=False): ...

class TranslatorKeywords(DecoderKeywords, SplittingKeywords, total=False): ...

class TuneKeywords(TuningKeywords, ImputationKeywords, DecoderKeywords, SplittingKeywords, LoadingKeywords, RunKeywords, total=False):
    imputation: at.ImputationSettings | None
    decoding: at.DecoderSettings | None
    reverse_grammar: at.Grammar | str | os.PathLike[str] | None
    reverse_lm: at.LanguageModel | str | os.PathLike[str] | None
    reverse_weights: at.TranslationWeights | Mapping[str, float] | str | os.PathLike[str] | None

class WeightKeywords(ContrastiveKeywords, ReadingKeywords, RunKeywords, EvidenceKeywords, total=False): ...
