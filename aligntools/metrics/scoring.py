"""Scores of alignments, tags, trees and translations, with signatures, intervals and paired tests."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

from aligntools.formats.inputs.sentences import Sentences
from aligntools.ground.declarations import Keywords, taking
from aligntools.links.alignments import ManyAlignments
from aligntools.metrics.scorers import AlignmentScorer, BracketScorer, TagScorer, TranslationScorer, TreeScorer
from aligntools.metrics.settings import AlignmentScoring, BracketScoring, TagScoring, TranslationScoring, TreeScoring

if TYPE_CHECKING:
    from aligntools.formats.annotation.brackets import Tree
    from aligntools.formats.annotation.conll import Conll
    from aligntools.formats.annotation.tagged_text import Tokens
    from aligntools.formats.links.goldlinks import Gold
    from aligntools.ground.keywords import (
        AlignmentScoringKeywords,
        BracketScoringKeywords,
        TagScoringKeywords,
        TranslationScoringKeywords,
        TreeScoringKeywords,
    )
    from aligntools.metrics.aer import AerScore
    from aligntools.metrics.attachment import DependencyTrees, TreeScore
    from aligntools.metrics.bleu import BleuScore
    from aligntools.metrics.brackets import BracketScore
    from aligntools.metrics.tags import TagScore

#: A file.
AnyPath: TypeAlias = str | Path


@taking(AlignmentScoring)
def aer(
    gold: "AnyPath | Gold | Iterable[Any]",
    hypotheses: "AnyPath | ManyAlignments",
    *,
    source: AnyPath | Sentences | None = None,
    target: AnyPath | Sentences | None = None,
    settings: AlignmentScoring | None = None,
    **options: "Unpack[AlignmentScoringKeywords]",
) -> "AerScore":
    """Score alignments against gold links: alignment error rate, precision, recall, F1.

    With A the links of the alignment, S the sure and P the possible gold links (S is part of P), summed over the
    corpus: precision is ``|A∩P| / |A|``, recall ``|A∩S| / |S|``, AER ``1 - (|A∩S| + |A∩P|) / (|A| + |S|)``.

    Parameters
    ----------
    gold : str, Path, or iterable
        A file; or for each sentence pair a line of Pharaoh text (``"0-0 1?2"``: sure and possible), a pair ``(sure,
        possible)`` of lists of links, or a list of sure links.
    hypotheses : str, Path, or iterable of alignments
        A file of Pharaoh text; or for each sentence pair a list of links ``(source position, target position)``, an
        `Alignment`, or a line of Pharaoh text.
    source, target : str, Path, or iterable of sentences, optional
        The texts: links past a sentence's end are refused.
    settings : AlignmentScoring or None
        The options below, whole.
    **options

    Returns
    -------
    AerScore
        ``aer``, ``precision``, ``recall``, ``f1`` as fractions, what was counted, and ``signature``;
        ``interval()`` draws sentences, ``minus(other)`` tests a difference, ``str()`` shows percent.

    Raises
    ------
    DataError
        When a file cannot be read, something is not an alignment, or there are not equally many.
    UsageProblem
        When options exclude each other.

    Notes
    -----
    Och & Ney (2003), "A systematic comparison of various statistical alignment models", section 7.2.

    Examples
    --------
    >>> import aligntools as at
    >>> score = at.aer(["0-0 1-1 2-2 1?2 2?1"], [[(0, 0), (1, 2), (2, 2), (3, 3)]])
    >>> round(score.precision, 2), round(score.recall, 2), round(score.aer, 2)
    (0.75, 0.67, 0.29)
    >>> print(score)
    AER% 28.57, precision 75.00, recall 66.67, F1 70.59, links 4, A∩S 2, A∩P 3
    """
    settings = Keywords("aer", options).only(AlignmentScoring, settings)
    return AlignmentScorer(gold, settings, source, target).score(hypotheses)


@taking(TagScoring)
def score_tags(
    gold: "AnyPath | Tokens | Conll | Iterable[Any]",
    predicted: "AnyPath | Tokens | Conll | Iterable[Any]",
    settings: TagScoring | None = None,
    *,
    train: AnyPath | Sentences | None = None,
    **options: "Unpack[TagScoringKeywords]",
) -> "TagScore":
    """Score tags, or induced classes without names, against gold tags.

    Accuracy (and that of known and unknown words) is None where most words have labels that are none of the gold's
    tags. many-to-1: every label counts as the tag that it has most words in common with. 1-to-1: every label as a tag
    of its own, in the best way. Variation of information is H(G|P) + H(P|G) in bits, V-measure the harmonic mean of
    homogeneity and completeness.

    Parameters
    ----------
    gold, predicted : str, Path, or iterable of sentences
        A file: CoNLL, ``word_TAG`` lines, or a word and its tag on a line. Or sentences: ``"word_TAG word_TAG"``, lists
        of ``(word, tag)`` pairs, lists of tags, or objects with ``tags`` (and ``tokens``), as `Tagger` gives.
    settings : TagScoring or None
        The options below, whole.
    train : str, Path, or iterable of sentences, optional
        The training text: words that it does not have are scored apart.
    **options

    Returns
    -------
    TagScore
        ``accuracy``, ``accuracy_known``, ``accuracy_unknown``, ``many_to_one``, ``one_to_one`` as fractions,
        ``information``, the contingency ``table``, and ``signature``.

    Raises
    ------
    DataError
        When a file cannot be read or the words are not the gold's.
    UsageProblem
        When there is no such column, or so many labels that they can be no tags.

    Notes
    -----
    Johnson (2007), "Why doesn't EM find good HMM POS-taggers?"; Meila (2007), "Comparing clusterings"; Rosenberg &
    Hirschberg (2007), "V-measure".

    Examples
    --------
    >>> import aligntools as at
    >>> score = at.score_tags(["the_DET dog_NOUN barks_VERB"], [["DET", "NOUN", "NOUN"]])
    >>> round(score.accuracy, 2), round(score.one_to_one, 2), round(score.information.vi, 2)
    (0.67, 0.67, 0.67)
    """
    settings = Keywords("score_tags", options).only(TagScoring, settings)
    return TagScorer(gold, settings, train).score(predicted)


@taking(TreeScoring)
def score_trees(
    gold: "AnyPath | Conll | DependencyTrees | Iterable[Any]",
    predicted: "AnyPath | Conll | DependencyTrees | Iterable[Any]",
    settings: TreeScoring | None = None,
    **options: "Unpack[TreeScoringKeywords]",
) -> "TreeScore":
    """Score dependency trees against gold trees: UAS, LAS, whole trees, roots.

    Parameters
    ----------
    gold, predicted : str, Path, or iterable of trees
        A CoNLL-X or CoNLL-U file; or trees as lists of heads (numbers of words, counted from 1, 0 for the root), lists
        of ``(head, label)`` pairs, or objects with ``heads`` (and ``labels``, ``tokens``, ``tags``), as `Parser` gives.
    settings : TreeScoring or None
        The options below, whole.
    **options

    Returns
    -------
    TreeScore
        ``uas``, ``las`` (None without labels), ``complete``, ``root`` as fractions, and ``signature``;
        ``groups("distance")`` scores the words apart by the distance of their heads.

    Raises
    ------
    DataError
        When a file cannot be read, the words are not the gold's, or the gold has words without a head.
    UsageProblem
        When an option is none of its choices, or what it needs is not there.

    Notes
    -----
    Buchholz & Marsi (2006), "CoNLL-X shared task on multilingual dependency parsing".

    Examples
    --------
    >>> import aligntools as at
    >>> print(at.score_trees([[2, 3, 0, 3]], [[2, 0, 2, 3]]))
    UAS% 50.00, LAS% -, trees% 0.00, root% 0.00
    """
    settings = Keywords("score_trees", options).only(TreeScoring, settings)
    return TreeScorer(gold, settings).score(predicted)


@taking(BracketScoring)
def score_brackets(
    gold: "AnyPath | Iterable[Tree | str]",
    parsed: "AnyPath | Iterable[Tree | str]",
    settings: BracketScoring | None = None,
    **options: "Unpack[BracketScoringKeywords]",
) -> "BracketScore":
    """Score trees of constituents against gold trees: labelled F1, precision and recall, as EVALB counts them.

    Parameters
    ----------
    gold, parsed : str, Path, or iterable of trees
        A file of trees in brackets; or trees, as `Tree` or as text.
    settings : BracketScoring or None
        The options below, whole.
    **options

    Returns
    -------
    BracketScore
        ``f1``, ``precision``, ``recall``, ``exact``, ``tags`` as fractions, ``crossing``, and ``signature``;
        ``groups("label")`` scores the brackets of each label apart.

    Raises
    ------
    DataError
        When a file cannot be read, brackets are not balanced, or the words are not the gold's.
    UsageProblem
        When options exclude each other.

    Notes
    -----
    Black et al. (1991), "A procedure for quantitatively comparing the syntactic coverage of English grammars".

    Examples
    --------
    >>> import aligntools as at
    >>> gold = ["(S (NP (PRP I)) (VP (VBP like) (NP (DT this) (NN song))) (. .))"]
    >>> print(at.score_brackets(gold, ["(S (NP (PRP I)) (VP (VBP like) (DT this) (NN song)) (. .))"]))
    F1% 85.71, precision 100.00, recall 75.00, exact% 0.00, tags% 100.00, crossing 0.00
    """
    settings = Keywords("score_brackets", options).only(BracketScoring, settings)
    return BracketScorer(gold, settings).score(parsed)


@taking(TranslationScoring)
def bleu(
    references: AnyPath | Sentences,
    translations: AnyPath | Sentences,
    *,
    more_references: Sequence[AnyPath | Sentences] = (),
    settings: TranslationScoring | None = None,
    **options: "Unpack[TranslationScoringKeywords]",
) -> "BleuScore":
    """Score translations against references: BLEU, as sacrebleu counts it with tokenization ``none``.

    The geometric mean of the precisions of n-grams up to 4, clipped by the reference that has most of each, times a
    penalty for being shorter than the closest reference.

    Parameters
    ----------
    references, translations : str, Path, or iterable of sentences
        Files of lines; or sentences as lines or lists of words.
    more_references : sequence of the same
        Further references, a set each.
    settings : TranslationScoring or None
        The options below, whole.
    **options

    Returns
    -------
    BleuScore
        ``bleu`` from 0 to 1, where sacrebleu says 100, ``precisions``, ``brevity_penalty``, ``ratio``, and
        ``signature``; ``sentences()`` is the BLEU of each sentence.

    Raises
    ------
    DataError
        When a file cannot be read or is empty, references have no words, or a text has not as many lines as the first.
    UsageProblem
        When options do not go together.

    Notes
    -----
    Papineni et al. (2002), "BLEU: a method for automatic evaluation of machine translation"; Post (2018), "A call for
    clarity in reporting BLEU scores". Smoothing: Chen & Cherry (2014), methods 3, 1 and 2.

    Examples
    --------
    >>> import aligntools as at
    >>> score = at.bleu(["the cat sat on the mat ."], ["the cat sat on a mat ."])
    >>> round(100 * score.bleu, 2)
    48.89
    >>> print(score.signature)  # doctest: +ELLIPSIS
    metric:bleu|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|nsent:1|version:...
    """
    settings = Keywords("bleu", options).only(TranslationScoring, settings)
    return TranslationScorer(references, more_references, settings).score(translations)
