"""Grammars from Python: extracting Hiero rules from aligned text, filtering, reading and writing."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from aligntools.api.given.sentences import PathLike, Text, lines_of, read_lines, side_of
from aligntools.api.given.texts import Split
from aligntools.api.running.progress import Progress, Step, reporter
from aligntools.api.translate.extracting import AlignmentsInput, extraction_of, parts_of, whole_of
from aligntools.api.views.showing import ShownAsModel
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run
from aligntools.translating.lattices import LatticeLines, as_lattices, joined_lattices
from aligntools.translating.settings import ExtractionSettings
from aligntools.translating.text import Lines

if TYPE_CHECKING:
    from aligntools.formats.text.bitext import Bitext
    from aligntools.formats.translation.grammar import GrammarRules
    from aligntools.translating.grammar.extraction import Extraction, ExtractionFigures
    from aligntools.viewing.models import ModelView

GrammarFormat: TypeAlias = Literal["hiero", "moses", "binary"]
Phrases: TypeAlias = Literal["tight", "outer", "loose"]
FeatureSet: TypeAlias = Literal["standard", "full", "cdec"]
_log = logging.getLogger("aligntools")


@dataclass(frozen=True)
class Rule:
    """A rule of a grammar; both sides are of category X.

    Attributes
    ----------
    source, target : tuple of str
        Words, and ``[X,1]`` and ``[X,2]`` for the nonterminals.
    features : dict of str to float
    links : tuple of (int, int)
        Linked words, by their places on both sides.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    features: dict[str, float]
    links: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        features = " ".join(f"{name}={value:.5g}" for name, value in self.features.items())
        return f"[X] ||| {' '.join(self.source)} ||| {' '.join(self.target)} ||| {features}"


@dataclass(frozen=True)
class FilterFigures:
    """What filtering a grammar came to.

    Attributes
    ----------
    kept : int
        Rules written.
    total : int or None
        Rules of the grammar, where its lines are copied.
    sentences, types : int
        Sentences and different words of the text.
    """

    kept: int
    total: int | None
    sentences: int
    types: int


@dataclass(frozen=True, eq=False, repr=False)
class Grammar(ShownAsModel):
    """A hierarchical (Hiero) grammar, sorted by source side.

    It does not change, can be pickled, and may be used from several threads at once.

    Attributes
    ----------
    rules : GrammarRules
        The arrays: vocabularies, source and target sides, features, links, counts.

    Examples
    --------
    >>> import aligntools as at
    >>> grammar = at.extract_grammar(["das Haus"], ["the house"], ["0-0 1-1"])
    >>> grammar[-1].source, grammar[-1].target
    (('das', '[X,1]'), ('the', '[X,1]'))
    """

    rules: "GrammarRules"

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        return f"<Grammar of {len(self)} rules, features {', '.join(self.feature_names)}>"

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return how many rules have no, one and two nonterminals; see `aligntools.view_model`."""
        import numpy as np

        from aligntools.viewing.models import Columns, ModelView

        arities = np.bincount(self.rules.arities(), minlength=3) / max(len(self), 1)
        chart = Columns("Rules by nonterminals", "nonterminals", ["0", "1", "2"], [("rules", arities.tolist())])
        return ModelView(title, [["rules", len(self)], ["features", " ".join(self.feature_names)]], [chart])

    @property
    def feature_names(self) -> list[str]:
        """Names of the rules' features."""
        return [*self.rules.feature_names, *self.rules.sparse_names]

    def __getitem__(self, number: int) -> Rule:
        if not -len(self) <= number < len(self):
            raise IndexError(f"no rule {number}; there are {len(self)}")
        number %= len(self)
        r = self.rules
        source, target = r.rule(number)
        features = dict(zip(r.feature_names, r.features[number].tolist(), strict=True))
        begin, end = r.sparse_offsets[number : number + 2].tolist()
        for k, value in zip(r.sparse_ids[begin:end].tolist(), r.sparse_values[begin:end].tolist(), strict=True):
            features[r.sparse_names[k]] = value
        begin, end = r.links_offsets[number : number + 2].tolist()
        return Rule(tuple(source), tuple(target), features, tuple((i, j) for i, j in r.links[begin:end].tolist()))

    @classmethod
    def load(
        cls, path: PathLike, *, text: Text | None = None, span: int | None = None, verify: bool = True
    ) -> "Grammar":
        """Read a grammar: the text of cdec and Joshua, that of Moses, or a binary file.

        Parameters
        ----------
        path : str or path
        text : path or iterable of sentences, optional
            Keep only the rules that this text can use: it has all words between a source side's nonterminals.
        span : int, optional
            Keep only those that match within so many words, the span limit of the decoder.
        verify : bool
            Check a binary file's checksum, which says whether the file is what was written.

        Raises
        ------
        DataError
            When the file cannot be read, or for its first line that is not a rule.
        """
        from aligntools.formats.translation.grammar_files import read_grammar

        if isinstance(text, LatticeLines):
            return cls(read_grammar(os.fspath(path), only_for=text.pairs, longest=2, verify=verify))
        only_for = None if text is None else side_of(text)
        return cls(read_grammar(os.fspath(path), only_for=only_for, span=span, verify=verify))

    def save(self, path: PathLike, format: GrammarFormat = "hiero") -> None:
        """Write the grammar; the file appears whole or not at all.

        Parameters
        ----------
        path : str or path
            May end in ``.gz``, ``.xz`` or ``.zst`` for text; ``-`` is standard output.
        format : str
            ``hiero`` (cdec, Joshua), ``moses``, or ``binary``, which loads faster.

        Raises
        ------
        DataError
            When the file cannot be written.
        """
        from aligntools.formats.translation.grammar_files import FORMATS, write_grammar

        if format not in FORMATS:
            raise UsageProblem(f"no format '{format}' of grammars; choose one of {', '.join(FORMATS)}")
        write_grammar(os.fspath(path), self.rules, format)


def extract_grammar(
    source: "Text | Bitext",
    target: Text | None = None,
    alignments: AlignmentsInput | None = None,
    *,
    max_span: int = ExtractionSettings.max_span,
    max_symbols: int = ExtractionSettings.max_symbols,
    nonterminals: int = ExtractionSettings.nonterminals,
    min_hole: int = ExtractionSettings.min_hole,
    phrases: Phrases = "outer",
    features: FeatureSet = "full",
    keep: int = ExtractionSettings.keep,
    min_count: float = ExtractionSettings.min_count,
    text: Text | None = None,
    index_base: int = 0,
    split: Split = "spaces",
    max_memory: int | None = None,
    tmpdir: PathLike | None = None,
    threads: int | None = None,
    progress: Progress = None,
    workers: int | None = None,
    cluster: str | None = None,
    cluster_file: PathLike | None = None,
) -> Grammar:
    """Extract a hierarchical grammar from aligned text (Chiang 2007, "Hierarchical phrase-based translation", 3).

    Every stretch of words whose links stay within it is an initial phrase pair. Rules are these, and what is left of
    them when one or two smaller ones are replaced by nonterminals. Each initial phrase pair counts 1, which its rules
    share. Words are taken as they are, upper and lower case.

    Parameters
    ----------
    source, target : path, or iterable of sentences
        Or one `Bitext`, from `read_bitext`, as ``source``.
    alignments : path, or iterable of alignments
        One for each sentence pair: a line of Pharaoh, pairs of positions, or an `Alignment`.
    max_span : int
        Most words of an initial phrase, on either side.
    max_symbols : int
        Most words and nonterminals of a source side.
    nonterminals : int
        Most nonterminals, 0 to 2; 0 gives a phrase table.
    min_hole : int
        Fewest source words that a nonterminal replaces.
    phrases : str
        ``tight``: phrases begin and end with linked words; ``loose``: they need not; ``outer``: only those that
        nonterminals replace do.
    features : str
        ``standard``: phrase and lexical probabilities, natural logs; ``full``: with counts; ``cdec``: cdec's.
    keep : int
        Rules kept for each source side, the most frequent ones.
    min_count : float
        Leave out rules with a lower (fractional) count.
    text : path or iterable of sentences, optional
        Keep only the rules that this text can use; all rules enter the scores.
    index_base : int
        What the first word is called in ``alignments``, 0 or 1.
    split : str
        What separates words in lines, as for `read_bitext`.
    max_memory : int or None
        Bytes that the process may have; tables that do not fit go to temporary files. None: 2 GiB of tables, less
        where the machine or the container has less and a command bounds the process by that.
    tmpdir : path, optional
        Where temporary files go; the system's folder for them if not given.
    threads : int, optional
        All cores if not given; neither this nor ``max_memory`` changes the grammar.
    progress : callable or bool, optional
        Called with a `Step` at the end, with what the extraction found.
    workers, cluster, cluster_file
        As for `align_in_parts`: what does the work, with files in ``tmpdir``. It does not change the grammar.

    Raises
    ------
    DataError
        When texts and alignments do not have the same number of lines, or a link points past a sentence.
    UsageProblem
        When a setting is not valid.
    ResourceError
        When ``max_memory`` is too little.

    Examples
    --------
    >>> import aligntools as at
    >>> grammar = at.extract_grammar(["das Haus", "ein Haus"], ["the house", "a house"], ["0-0 1-1", "0-0 1-1"],
    ...                              features="standard")
    >>> print(grammar[len(grammar) - 1])
    [X] ||| ein Haus ||| a house ||| PhraseEgivenF=0 PhraseFgivenE=0 LexEgivenF=0 LexFgivenE=0
    """
    settings = ExtractionSettings(max_span, max_symbols, nonterminals, phrases, min_hole, keep, min_count, features)
    run = Run(None, max_memory, workers, cluster, cluster_file, tmpdir).checked()
    source, target, text = (_split_as(one, split) for one in (source, target, text))
    extraction = extraction_of(source, target, alignments, settings, text, index_base, max_memory, tmpdir, threads)
    rules = whole_of(extraction, run, threads)
    _report(extraction, progress)
    return Grammar(rules)


def extract_grammar_file(
    path: PathLike,
    source: "Text | Bitext",
    target: Text | None = None,
    alignments: AlignmentsInput | None = None,
    *,
    format: GrammarFormat = "hiero",
    text: Text | None = None,
    index_base: int = 0,
    max_memory: int | None = None,
    tmpdir: PathLike | None = None,
    threads: int | None = None,
    progress: Progress = None,
    workers: int | None = None,
    cluster: str | None = None,
    cluster_file: PathLike | None = None,
    **settings: Any,
) -> "ExtractionFigures":
    """Extract a grammar and write it part by part, so that it is never in memory as a whole.

    Parameters
    ----------
    path : str or path
        The file, which appears whole or not at all; ``-`` is standard output.
    format : str
        ``hiero``, ``moses`` or ``binary``; the last one is made in memory.
    source, target, alignments, text, index_base, max_memory, tmpdir, threads, progress, workers, cluster, cluster_file
        See `extract_grammar`.
    **settings
        As well.

    Returns
    -------
    ExtractionFigures
        Rules found and written, source and target sides, sorted runs.
    """
    from aligntools.formats.opening import files
    from aligntools.formats.translation.grammar_files import write_grammar
    from aligntools.formats.translation.grammar_text import tell_factors, write_text

    run = Run(None, max_memory, workers, cluster, cluster_file, tmpdir).checked()
    extraction = extraction_of(
        source, target, alignments, ExtractionSettings(**settings), text, index_base, max_memory, tmpdir, threads
    )
    if format == "binary":
        write_grammar(os.fspath(path), whole_of(extraction, run, threads), "binary")
    elif run.asked:
        with files.writing(os.fspath(path)) as out:
            out.writelines(parts_of(extraction, run, threads, format))
        if format == "moses":
            tell_factors(os.fspath(path), extraction.source_vocabulary, extraction.target_vocabulary)
    else:
        write_text(os.fspath(path), extraction.parts(), format)
    _report(extraction, progress)
    return extraction.figures


def _report(extraction: "Extraction", progress: Progress) -> None:
    figures = extraction.figures
    reporter(progress)(Step("extracting", 1, 1, vars(figures) | {"pairs": len(extraction.source)}))
    if figures.kept == 0:
        _log.info("no rules; do the alignments belong to these texts, or is min_count too high?")
    if figures.unwritable:
        words = "'|||', '[X]' or the like, which the format cannot express"
        _log.info("%d rules left out with words such as %s", figures.unwritable, words)


def filter_grammar(grammar: Grammar, text: Text, *, span: int | None = None) -> Grammar:
    """Keep the rules of a grammar that a text can use: it has all words between a source side's nonterminals.

    Parameters
    ----------
    grammar : Grammar
    text : path, or iterable of sentences
        What is to be translated.
    span : int, optional
        Keep only rules that match within so many words of a sentence, the span limit of the decoder: far fewer.

    Returns
    -------
    Grammar
        With the words that its rules have, and no others.

    Examples
    --------
    >>> import aligntools as at
    >>> grammar = at.extract_grammar(["das Haus", "ein Hund"], ["the house", "a dog"], ["0-0 1-1", "0-0 1-1"])
    >>> len(grammar), len(at.filter_grammar(grammar, ["das Haus", "Haus"]))
    (10, 5)
    """
    from aligntools.formats.translation.grammar import TextFilter, filtered

    side, vocabulary = side_of(text)
    return Grammar(filtered(grammar.rules, TextFilter(side, vocabulary, span=span)))


def _split_as(text: Any, split: Split) -> Any:
    """Return a text, a `Bitext` or None with the text's lines split so."""
    from aligntools.words.white_space import split_as

    text = split_as(text, split)
    if split == "spaces" or text is None or isinstance(text, str | os.PathLike) or hasattr(text, "source_vocabulary"):
        return text
    return read_lines(text, split)


def filter_grammar_file(
    grammar: PathLike,
    text: Text,
    path: PathLike,
    *,
    span: int | None = None,
    format: Literal["same", "hiero", "moses", "binary"] = "same",
    split: Split = "spaces",
    verify: bool = True,
) -> FilterFigures:
    """Keep the rules of a grammar's file that a text can use; the lines of text files are copied as they are.

    Parameters
    ----------
    grammar : str or path
        Of any format.
    text : path, or iterable of sentences
    path : str or path
        The file to write; it appears whole or not at all. ``-`` is standard output.
    span : int, optional
        See `filter_grammar`.
    format : str
        ``same`` as that of the grammar, or one of those of `Grammar.save`.
    split : str
        What separates words in lines, as for `read_bitext`.
    verify : bool
        See `Grammar.load`.

    Returns
    -------
    FilterFigures
    """
    from aligntools.formats.models import modelfile
    from aligntools.formats.opening import files
    from aligntools.formats.translation.grammar import TextFilter
    from aligntools.formats.translation.grammar_files import read_grammar
    from aligntools.formats.translation.grammar_text import filter_lines

    name, only_for = os.fspath(grammar), side_of(text, split)
    binary = modelfile.is_model(name)
    if os.fspath(path) == "-" and (format == "binary" or (format == "same" and binary)):
        raise UsageProblem("a binary grammar is written to a file: -o FILE")
    if format != "same" or binary:
        rules = Grammar(read_grammar(name, only_for=only_for, span=span, verify=verify))
        rules.save(path, "binary" if format == "same" else format)
        return FilterFigures(len(rules), None, len(only_for[0]), len(only_for[1]) - 1)
    kept = total = 0
    with files.writing(os.fspath(path)) as out:
        for found, some, of in filter_lines(name, TextFilter(*only_for, span=span)):
            out.write(found)
            kept, total = kept + some, total + of
    return FilterFigures(kept, total, len(only_for[0]), len(only_for[1]) - 1)


def grammar_of(
    grammar: "Grammar | PathLike", text: Lines | None = None, span: int | None = None, verify: bool = True
) -> Grammar:
    """Return a grammar, read from its file as far as a text needs it; one in memory is taken as it is."""
    return grammar if isinstance(grammar, Grammar) else Grammar.load(grammar, text=text, span=span, verify=verify)


def joined(texts: Sequence[Lines]) -> Lines:
    """Return texts one after another; as lattices if there are any among them."""
    if len(texts) == 1:
        return texts[0]
    if any(isinstance(text, LatticeLines) for text in texts):
        return joined_lattices([as_lattices(text) for text in texts])
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(text.offsets) for text in texts)])
    return Lines([word for text in texts for word in text.words], np.cumsum(sizes)) if texts else lines_of([])
