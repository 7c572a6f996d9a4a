"""Hidden structure learned from plain text: word alignments, tags, trees, translations.

The names in ``__all__`` are the public interface: they keep their meaning until the next major version. What they
need is imported when they are first used, so that ``import aligntools`` costs next to nothing.
"""

import importlib
import logging
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # programs choose where warnings go

if TYPE_CHECKING:
    from aligntools.aligning.checking.settings import CheckSettings as CheckSettings
    from aligntools.aligning.contrastive.settings import ContrastiveSettings as ContrastiveSettings
    from aligntools.aligning.contrastive.taught import TeachingSettings as TeachingSettings
    from aligntools.aligning.filter_settings import FilterSettings as FilterSettings
    from aligntools.aligning.settings import AlignerSettings as AlignerSettings
    from aligntools.aligning.settings import Decisions as Decisions
    from aligntools.aligning.settings import PartSettings as PartSettings
    from aligntools.aligning.settings import PriorWeights as PriorWeights
    from aligntools.aligning.settings import ReconstructionSettings as ReconstructionSettings
    from aligntools.aligning.terms.consistency import Inconsistency as Inconsistency
    from aligntools.aligning.terms.finding import Term as Term
    from aligntools.aligning.terms.settings import TermSettings as TermSettings
    from aligntools.api.align.aligner import Aligner as Aligner
    from aligntools.api.align.alignment import align as align
    from aligntools.api.align.alignment import read_bitext as read_bitext
    from aligntools.api.align.alignment import train_aligner as train_aligner
    from aligntools.api.align.alignment import train_mre_aligner as train_mre_aligner
    from aligntools.api.align.alignments import Alignment as Alignment
    from aligntools.api.align.alignments import Alignments as Alignments
    from aligntools.api.align.alignments import PairScores as PairScores
    from aligntools.api.align.checking import Checked as Checked
    from aligntools.api.align.checking import FoundSpan as FoundSpan
    from aligntools.api.align.checking import PairCheck as PairCheck
    from aligntools.api.align.checking import check as check
    from aligntools.api.align.contrastive import ContrastiveAligner as ContrastiveAligner
    from aligntools.api.align.contrastive import train_contrastive_aligner as train_contrastive_aligner
    from aligntools.api.align.contrastive_base import aligner_from_tables as aligner_from_tables
    from aligntools.api.align.costs import link_costs as link_costs
    from aligntools.api.align.filtering import PairQuality as PairQuality
    from aligntools.api.align.filtering import filter_pairs as filter_pairs
    from aligntools.api.align.given_classes import with_word_classes as with_word_classes
    from aligntools.api.align.large import align_in_parts as align_in_parts
    from aligntools.api.align.markup import MarkedText as MarkedText
    from aligntools.api.align.markup import MarkupTransfer as MarkupTransfer
    from aligntools.api.align.markup import PlacedTag as PlacedTag
    from aligntools.api.align.markup import transfer_markup as transfer_markup
    from aligntools.api.align.priors import read_priors as read_priors
    from aligntools.api.align.priors import write_priors as write_priors
    from aligntools.api.align.teaching import teach as teach
    from aligntools.api.align.terms import TermList as TermList
    from aligntools.api.align.terms import terms as terms
    from aligntools.api.convert.links import count_priors as count_priors
    from aligntools.api.convert.links import extract_lexicon as extract_lexicon
    from aligntools.api.convert.links import symmetrize as symmetrize
    from aligntools.api.convert.pieces import links_to_pieces as links_to_pieces
    from aligntools.api.convert.pieces import links_to_words as links_to_words
    from aligntools.api.convert.projecting import Projection as Projection
    from aligntools.api.convert.projecting import project as project
    from aligntools.api.models.loading import load as load
    from aligntools.api.models.model_views import view_model as view_model
    from aligntools.api.parse.constituents import ConstituentParser as ConstituentParser
    from aligntools.api.parse.constituents import train_grammar as train_grammar
    from aligntools.api.parse.grammar_induction import InducedConstituentParser as InducedConstituentParser
    from aligntools.api.parse.grammar_induction import induce_grammar as induce_grammar
    from aligntools.api.parse.parser_induction import induce_parser as induce_parser
    from aligntools.api.parse.parser_training import train_parser as train_parser
    from aligntools.api.parse.parser_transfer import transfer_parser as transfer_parser
    from aligntools.api.parse.parsing import Parse as Parse
    from aligntools.api.parse.parsing import Parser as Parser
    from aligntools.api.running.progress import Step as Step
    from aligntools.api.score.scoring import aer as aer
    from aligntools.api.score.scoring import bleu as bleu
    from aligntools.api.score.scoring import compare_scores as compare_scores
    from aligntools.api.score.scoring import score_brackets as score_brackets
    from aligntools.api.score.scoring import score_tags as score_tags
    from aligntools.api.score.scoring import score_trees as score_trees
    from aligntools.api.tag.class_training import WordClasses as WordClasses
    from aligntools.api.tag.class_training import train_bilingual_classes as train_bilingual_classes
    from aligntools.api.tag.class_training import train_classes as train_classes
    from aligntools.api.tag.tagged_sentences import TaggedSentence as TaggedSentence
    from aligntools.api.tag.tagging import Tagger as Tagger
    from aligntools.api.tag.tagging import induce_tags as induce_tags
    from aligntools.api.tag.tagging import train_tagger as train_tagger
    from aligntools.api.tag.word_classes import ClassList as ClassList
    from aligntools.api.tag.word_classes import read_classes as read_classes
    from aligntools.api.tag.word_classes import word_classes as word_classes
    from aligntools.api.translate.grammars import Grammar as Grammar
    from aligntools.api.translate.grammars import extract_grammar as extract_grammar
    from aligntools.api.translate.grammars import filter_grammar as filter_grammar
    from aligntools.api.translate.language_models import LanguageModel as LanguageModel
    from aligntools.api.translate.language_models import WordScore as WordScore
    from aligntools.api.translate.language_models import train_lm as train_lm
    from aligntools.api.translate.translation import Translation as Translation
    from aligntools.api.translate.translation import Translator as Translator
    from aligntools.api.translate.translation_weights import TranslationWeights as TranslationWeights
    from aligntools.api.translate.tuning import tune as tune
    from aligntools.api.views.constituent_views import view_constituents as view_constituents
    from aligntools.api.views.derivation_views import view_derivations as view_derivations
    from aligntools.api.views.tag_views import view_tags as view_tags
    from aligntools.api.views.training_views import view_training as view_training
    from aligntools.api.views.tree_views import view_trees as view_trees
    from aligntools.api.views.viewing import View as View
    from aligntools.api.views.viewing import view as view
    from aligntools.clustering.settings import ClassSettings as ClassSettings
    from aligntools.constituents.inducing.settings import InducedGrammarSettings as InducedGrammarSettings
    from aligntools.constituents.settings import GrammarDecisions as GrammarDecisions
    from aligntools.constituents.settings import GrammarSettings as GrammarSettings
    from aligntools.constituents.settings import TreeLists as TreeLists
    from aligntools.encoding.settings import EncoderSettings as EncoderSettings
    from aligntools.formats.annotation.brackets import Tree as Tree
    from aligntools.formats.text.reading import ColumnReading as ColumnReading
    from aligntools.formats.text.reading import LinkReading as LinkReading
    from aligntools.formats.text.reading import Loading as Loading
    from aligntools.formats.text.reading import PairReading as PairReading
    from aligntools.formats.text.reading import PieceReading as PieceReading
    from aligntools.formats.text.reading import Reading as Reading
    from aligntools.formats.text.reading import Splitting as Splitting
    from aligntools.formats.text.reading import TagReading as TagReading
    from aligntools.formats.text.reading import Tokenizing as Tokenizing
    from aligntools.formats.text.reading import WordReading as WordReading
    from aligntools.ground.errors import AligntoolsError as AligntoolsError
    from aligntools.ground.errors import ClusterError as ClusterError
    from aligntools.ground.errors import DataError as DataError
    from aligntools.ground.errors import ModelError as ModelError
    from aligntools.ground.errors import ResourceError as ResourceError
    from aligntools.ground.errors import UsageProblem as UsageProblem
    from aligntools.ground.running import Run as Run
    from aligntools.metrics.settings import AlignmentScoring as AlignmentScoring
    from aligntools.metrics.settings import BracketScoring as BracketScoring
    from aligntools.metrics.settings import GoldReading as GoldReading
    from aligntools.metrics.settings import TagScoring as TagScoring
    from aligntools.metrics.settings import TranslationScoring as TranslationScoring
    from aligntools.metrics.settings import TreeScoring as TreeScoring
    from aligntools.parsing.settings import ParserDecisions as ParserDecisions
    from aligntools.parsing.settings import ParserReading as ParserReading
    from aligntools.parsing.settings import ParserSettings as ParserSettings
    from aligntools.parsing.settings import TransferSettings as TransferSettings
    from aligntools.parsing.unsupervised.settings import InducedParserSettings as InducedParserSettings
    from aligntools.projecting.markup.settings import MarkupSettings as MarkupSettings
    from aligntools.projecting.settings import ProjectionSettings as ProjectionSettings
    from aligntools.tagging.settings import InductionSettings as InductionSettings
    from aligntools.tagging.settings import TagDecisions as TagDecisions
    from aligntools.tagging.settings import TaggerSettings as TaggerSettings
    from aligntools.tagging.settings import TagLists as TagLists
    from aligntools.tagging.settings import TagSmoothing as TagSmoothing
    from aligntools.tagging.settings import TagWriting as TagWriting
    from aligntools.translating.settings import DecoderSettings as DecoderSettings
    from aligntools.translating.settings import ExtractionSettings as ExtractionSettings
    from aligntools.translating.settings import GrammarFilter as GrammarFilter
    from aligntools.translating.settings import ImputationSettings as ImputationSettings
    from aligntools.translating.settings import LanguageModelSettings as LanguageModelSettings
    from aligntools.translating.settings import LatticeSettings as LatticeSettings
    from aligntools.translating.settings import TranslationLists as TranslationLists
    from aligntools.translating.settings import TuningSettings as TuningSettings
    from aligntools.viewing.settings import ModelViewing as ModelViewing

#: The module of each public name, by module.
_MODULES = {
    "ground.running": ("Run",),
    "translating.settings": (
        "DecoderSettings",
        "ExtractionSettings",
        "GrammarFilter",
        "ImputationSettings",
        "LanguageModelSettings",
        "LatticeSettings",
        "TranslationLists",
        "TuningSettings",
    ),
    "formats.text.reading": (
        "ColumnReading",
        "LinkReading",
        "Loading",
        "PieceReading",
        "Reading",
        "PairReading",
        "Splitting",
        "TagReading",
        "Tokenizing",
        "WordReading",
    ),
    "clustering.settings": ("ClassSettings",),
    "constituents.inducing.settings": ("InducedGrammarSettings",),
    "constituents.settings": ("GrammarDecisions", "GrammarSettings", "TreeLists"),
    "encoding.settings": ("EncoderSettings",),
    "viewing.settings": ("ModelViewing",),
    "metrics.settings": (
        "AlignmentScoring",
        "BracketScoring",
        "GoldReading",
        "TagScoring",
        "TranslationScoring",
        "TreeScoring",
    ),
    "formats.annotation.brackets": ("Tree",),
    "projecting.markup.settings": ("MarkupSettings",),
    "projecting.settings": ("ProjectionSettings",),
    "parsing.settings": ("ParserDecisions", "ParserReading", "ParserSettings", "TransferSettings"),
    "parsing.unsupervised.settings": ("InducedParserSettings",),
    "tagging.settings": (
        "InductionSettings",
        "TagDecisions",
        "TagLists",
        "TagSmoothing",
        "TagWriting",
        "TaggerSettings",
    ),
    "aligning.checking.settings": ("CheckSettings",),
    "aligning.contrastive.taught": ("TeachingSettings",),
    "aligning.contrastive.settings": ("ContrastiveSettings",),
    "aligning.filter_settings": ("FilterSettings",),
    "aligning.settings": (
        "AlignerSettings",
        "Decisions",
        "PartSettings",
        "PriorWeights",
        "ReconstructionSettings",
    ),
    "aligning.terms.consistency": ("Inconsistency",),
    "aligning.terms.finding": ("Term",),
    "aligning.terms.settings": ("TermSettings",),
    "api.align.aligner": ("Aligner",),
    "api.align.alignment": ("align", "read_bitext", "train_aligner", "train_mre_aligner"),
    "api.align.alignments": ("Alignment", "Alignments", "PairScores"),
    "api.align.checking": ("Checked", "FoundSpan", "PairCheck", "check"),
    "api.align.contrastive": ("ContrastiveAligner", "train_contrastive_aligner"),
    "api.align.contrastive_base": ("aligner_from_tables",),
    "api.align.costs": ("link_costs",),
    "api.views.constituent_views": ("view_constituents",),
    "api.align.given_classes": ("with_word_classes",),
    "api.views.derivation_views": ("view_derivations",),
    "api.align.filtering": ("PairQuality", "filter_pairs"),
    "api.translate.grammars": ("Grammar", "extract_grammar", "filter_grammar"),
    "api.align.large": ("align_in_parts",),
    "api.align.markup": ("MarkedText", "MarkupTransfer", "PlacedTag", "transfer_markup"),
    "api.translate.language_models": ("LanguageModel", "WordScore", "train_lm"),
    "api.convert.links": ("count_priors", "extract_lexicon", "symmetrize"),
    "api.models.loading": ("load",),
    "api.models.model_views": ("view_model",),
    "api.parse.constituents": ("ConstituentParser", "train_grammar"),
    "api.parse.grammar_induction": ("InducedConstituentParser", "induce_grammar"),
    "api.parse.parser_induction": ("induce_parser",),
    "api.parse.parser_training": ("train_parser",),
    "api.parse.parser_transfer": ("transfer_parser",),
    "api.parse.parsing": ("Parse", "Parser"),
    "api.align.priors": ("read_priors", "write_priors"),
    "api.convert.pieces": ("links_to_pieces", "links_to_words"),
    "api.running.progress": ("Step",),
    "api.convert.projecting": ("Projection", "project"),
    "api.score.scoring": ("aer", "bleu", "compare_scores", "score_brackets", "score_tags", "score_trees"),
    "api.views.tag_views": ("view_tags",),
    "api.tag.tagged_sentences": ("TaggedSentence",),
    "api.tag.tagging": ("Tagger", "induce_tags", "train_tagger"),
    "api.align.teaching": ("teach",),
    "api.align.terms": ("TermList", "terms"),
    "api.views.training_views": ("view_training",),
    "api.translate.translation": ("Translation", "Translator"),
    "api.translate.translation_weights": ("TranslationWeights",),
    "api.views.tree_views": ("view_trees",),
    "api.translate.tuning": ("tune",),
    "api.views.viewing": ("View", "view"),
    "api.tag.class_training": ("WordClasses", "train_bilingual_classes", "train_classes"),
    "api.tag.word_classes": ("ClassList", "read_classes", "word_classes"),
    "ground.errors": ("AligntoolsError", "ClusterError", "DataError", "ModelError", "ResourceError", "UsageProblem"),
}
_HOMES = {name: f"aligntools.{module}" for module, names in _MODULES.items() for name in names}
__all__ = sorted(["__version__", *_HOMES])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'aligntools' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
