"""Grammars from Python: extracting Hiero rules from aligned text, filtering, reading and writing."""

import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union, Unpack

import numpy as np

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.inputs.sentences import PathLike, Text, side_of
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.text_settings import Loading, PairReading, Splitting
from aligntools.ground import memory
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import pool_of, threads_in
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.store.job_engines import mapping
from aligntools.translating.lattices import LatticeLines
from aligntools.translating.settings import TABLES, ExtractionSettings, GrammarFilter
from aligntools.viewing.models import ShownAsModel

if TYPE_CHECKING:
    from aligntools.formats.links.pharaoh import Links
    from aligntools.formats.text.corpus import Bitext
    from aligntools.formats.translation.grammar import GrammarRules
    from aligntools.ground.keywords import ExtractingKeywords, GrammarLoadingKeywords, GrammarTextKeywords
    from aligntools.translating.grammar.extraction import Extraction, ExtractionFigures
    from aligntools.viewing.models import ModelView


#: Word alignments: a Pharaoh file, what its reader returned, or for each pair a line such as ``0-0 1-2``, positions, or
#: an `Alignment`.
AlignmentsInput: TypeAlias = Union[PathLike, "Links", Iterable[Any]]


def _extraction(
    function: str,
    texts: "tuple[Text | Bitext, Text | None]",
    alignments: AlignmentsInput | None,
    text: Text | None,
    index_base: int,
    wholes: tuple[ExtractionSettings | None, Run | None],
    options: "ExtractingKeywords",
) -> "tuple[Extraction, Run]":
    """Read what a function is given and prepare the extraction; return also how it is run."""
    given = Keywords(function, options)
    settings, run = given.take(ExtractionSettings, wholes[0]), given.take(Run, wholes[1])
    reading = given.take(PairReading)
    given.end()
    if alignments is None:
        raise UsageProblem("a grammar needs alignments: one for each sentence pair")
    from aligntools.formats.links import pharaoh
    from aligntools.formats.text.corpus import Bitext
    from aligntools.links.alignments import as_written, links_of
    from aligntools.translating.grammar.extraction import Extraction

    source, target = texts
    if target is None and not isinstance(source, Bitext | str | os.PathLike):
        raise UsageProblem("a grammar needs two texts: source and target, one file of both, or a Bitext")
    how = reading.split, reading.input_format, reading.languages
    bitext = source if isinstance(source, Bitext) else as_written(_sentences(source), _sentences(target), *how)
    name = name_of(alignments, "<alignments>")
    if isinstance(alignments, str | os.PathLike):
        alignments = Path(alignments)
    elif index_base and not hasattr(alignments, "pairs"):  # positions count as text does, links of an object from 0
        alignments = [
            one if isinstance(one, str) or hasattr(one, "links") else " ".join(f"{i}-{j}" for i, j in one)
            for one in alignments
        ]
    links = links_of(alignments, name=name, index_base=index_base)
    if len(links) != len(bitext):
        found = f"{len(links)} lines, but the text has {len(bitext)} sentence pairs; they must have the same number"
        raise DataError(name, None, found)
    lengths = bitext.source.lengths(), bitext.target.lengths()
    pharaoh.check_range(links, *lengths, path=name, index_base=index_base)
    extraction = Extraction(
        bitext,
        links,
        settings,
        text=None if text is None else side_of(text, reading.split),
        threads=threads_in(run.threads),
        max_memory=memory.for_tables(run.memory, TABLES),
        folder=None if run.tmpdir is None else os.fspath(run.tmpdir),
    )
    return extraction, run


def _sentences(text: Any) -> Any:
    """Return what a reader returned as sentences; anything else is returned as it is."""
    if not isinstance(text, Tokens):
        return text
    words = [word.decode("utf-8", "surrogateescape") for word in text.words]
    return [words[begin:end] for begin, end in pairwise(text.offsets.tolist())]


def _parts_of(extraction: "Extraction", run: Run, style: str | None = None) -> Iterator[Any]:
    """Yield the grammar in parts; with workers as text, in the style that is given."""
    from aligntools.translating.grammar.extraction import parts_by_jobs

    if not run.asked:
        yield from extraction.parts()
        return
    with pool_of(run.threads) as pool, mapping(run, pool) as blocks:
        yield from parts_by_jobs(extraction, blocks, run.workers or 1, style)


GrammarFormat: TypeAlias = Literal["hiero", "moses", "binary"]
_log = logging.getLogger("aligntools")


@dataclass(frozen=True)
class Rule:
    """A rule of a grammar; both sides are of category X.

    source, target: Words, and ``[X,1]`` and ``[X,2]`` for the nonterminals.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    features: dict[str, float]
    links: tuple[tuple[int, int], ...]  # Linked words, by their places on both sides

    def __str__(self) -> str:
        features = " ".join(f"{name}={value:.5g}" for name, value in self.features.items())
        return f"[X] ||| {' '.join(self.source)} ||| {' '.join(self.target)} ||| {features}"


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
    @taking(GrammarFilter, Splitting, Loading)
    def load(
        cls, path: PathLike, *, text: Text | None = None, **options: "Unpack[GrammarLoadingKeywords]"
    ) -> "Grammar":
        """Read a grammar: the text of cdec and Joshua, that of Moses, or a binary file.

        Parameters
        ----------
        path : str or path
        text : path or iterable of sentences, optional
            Keep only the rules that this text can use: it has each stretch of source words between nonterminals.
        **options

        Raises
        ------
        DataError
            When the file cannot be read, or for its first line that is not a rule.
        """
        from aligntools.formats.translation.grammar_text import read_grammar

        given = Keywords("Grammar.load", options)
        span, verify = given.take(GrammarFilter).span_limit, given.take(Loading).verify
        split = given.take(Splitting).split
        given.end()
        if isinstance(text, LatticeLines):
            return cls(read_grammar(os.fspath(path), only_for=text.pairs, longest=2, verify=verify))
        only_for = None if text is None else side_of(text, split)
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
        from aligntools.formats.translation.grammar_text import FORMATS, write_grammar

        if format not in FORMATS:
            raise UsageProblem(f"no format '{format}' of grammars; choose one of {', '.join(FORMATS)}")
        write_grammar(os.fspath(path), self.rules, format)


@taking(ExtractionSettings, PairReading, Run)
def extract_grammar(
    source: "Text | Bitext",
    target: Text | None = None,
    alignments: AlignmentsInput | None = None,
    settings: ExtractionSettings | None = None,
    *,
    text: Text | None = None,
    index_base: int = 0,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[ExtractingKeywords]",
) -> Grammar:
    """Extract a hierarchical grammar from aligned text (Chiang 2007, "Hierarchical phrase-based translation", 3).

    Every stretch of words whose links stay within it is an initial phrase pair. Rules are these, and what is left of
    them when one or two smaller ones are replaced by nonterminals. Each initial phrase pair counts 1, which its rules
    share. Words are taken as they are, upper and lower case.

    Parameters
    ----------
    source, target : path, or iterable of sentences
        ``source`` alone: a file of both sides, or a `Bitext`, from `read_bitext`.
    alignments : path, or iterable of alignments
        One for each sentence pair: a line of Pharaoh, pairs of positions, or an `Alignment`.
    settings, run : ExtractionSettings, Run or None
        The options below, whole. None of them but the settings changes the grammar. Without ``max_memory`` tables take
        2 GiB, less where the machine or the container has less and a command bounds the process by that; what exceeds
        them goes to temporary files.
    text : path or iterable of sentences, optional
        Keep only the rules that this text can use; all rules enter the scores.
    index_base : int
        Number of the first word in ``alignments``, 0 or 1.
    progress : callable or bool, optional
        Called with a `Step` at the end, with what the extraction found.
    **options

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
    texts, wholes = (source, target), (settings, run)
    extraction, run = _extraction("extract_grammar", texts, alignments, text, index_base, wholes, options)
    from aligntools.translating.grammar.extraction import whole

    rules = whole(_parts_of(extraction, run))
    _report(extraction, progress)
    return Grammar(rules)


@taking(ExtractionSettings, PairReading, Run)
def extract_grammar_file(
    path: PathLike,
    source: "Text | Bitext",
    target: Text | None = None,
    alignments: AlignmentsInput | None = None,
    settings: ExtractionSettings | None = None,
    *,
    format: GrammarFormat = "hiero",
    text: Text | None = None,
    index_base: int = 0,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[ExtractingKeywords]",
) -> "ExtractionFigures":
    """Extract a grammar and write it part by part, so that it is never in memory as a whole; see `extract_grammar`.

    path: The file, which appears whole or not at all; ``-`` is standard output.
    format: ``hiero``, ``moses`` or ``binary``; the last one is made in memory.
    """
    from aligntools.formats.opening import files
    from aligntools.formats.translation.grammar_text import tell_factors, write_grammar, write_text
    from aligntools.translating.grammar.extraction import whole

    if format == "binary" and os.fspath(path) == "-":
        raise UsageProblem("`format=binary` is written to a file, not to standard output")
    texts, wholes = (source, target), (settings, run)
    extraction, run = _extraction("extract_grammar_file", texts, alignments, text, index_base, wholes, options)
    if format == "binary":
        write_grammar(os.fspath(path), whole(_parts_of(extraction, run)), "binary")
    elif run.asked:
        with files.writing(os.fspath(path)) as out:
            out.writelines(_parts_of(extraction, run, format))
        if format == "moses":
            tell_factors(os.fspath(path), extraction.source_vocabulary, extraction.target_vocabulary)
    else:
        write_text(os.fspath(path), extraction.parts(), format)
    _report(extraction, progress)
    return extraction.figures


def _report(extraction: "Extraction", progress: Progress) -> None:
    figures = extraction.figures
    reporter(progress)(Step("extracting", 1, 1, dict(vars(figures))))
    if figures.kept == 0:
        _log.info("no rules; do the alignments belong to these texts, or is `min_count` too high?")
    if figures.unwritable:
        words = "'|||', '[X]' or white space in them, which the format cannot express"
        _log.info("%d rules left out with words such as %s", figures.unwritable, words)


@taking(GrammarFilter, Splitting)
def filter_grammar(grammar: Grammar, text: Text, **options: "Unpack[GrammarTextKeywords]") -> Grammar:
    """Keep the rules of a grammar that a text can use: it has each stretch of source words between nonterminals.

    Parameters
    ----------
    grammar : Grammar
    text : path, or iterable of sentences
        What is to be translated.
    **options

    Returns
    -------
    Grammar
        Its vocabularies have only the words of its rules.

    Examples
    --------
    >>> import aligntools as at
    >>> grammar = at.extract_grammar(["das Haus", "ein Hund"], ["the house", "a dog"], ["0-0 1-1", "0-0 1-1"])
    >>> len(grammar), len(at.filter_grammar(grammar, ["das Haus", "Haus"]))
    (10, 5)
    """
    from aligntools.formats.translation.grammar import TextFilter, filtered

    given = Keywords("filter_grammar", options)
    span, split = given.take(GrammarFilter).span_limit, given.take(Splitting).split
    given.end()
    side, vocabulary = side_of(text, split)
    return Grammar(filtered(grammar.rules, TextFilter(side, vocabulary, span=span)))


@taking(GrammarFilter, Splitting, Loading)
def filter_grammar_file(
    grammar: PathLike,
    text: Text,
    path: PathLike,
    *,
    format: Literal["same", "hiero", "moses", "binary"] = "same",
    **options: "Unpack[GrammarLoadingKeywords]",
) -> tuple[int, int | None, int, int]:
    """Keep the rules of a grammar's file that a text can use; the lines of text files are copied as they are.

    path: The file to write; it appears whole or not at all. ``-`` is standard output.
    format: ``same`` as that of the grammar, or one of those of `Grammar.save`.
    Returns how many rules are written, and how many the grammar has, where its lines are copied; sentences and
    different words of the text.
    """
    from aligntools.formats.models import modelfile
    from aligntools.formats.opening import files
    from aligntools.formats.translation.grammar import TextFilter
    from aligntools.formats.translation.grammar_text import filter_lines, read_grammar

    given = Keywords("filter_grammar_file", options)
    span, verify = given.take(GrammarFilter).span_limit, given.take(Loading).verify
    split = given.take(Splitting).split
    given.end()
    name, only_for = os.fspath(grammar), side_of(text, split)
    binary = modelfile.is_model(name)
    if os.fspath(path) == "-" and (format == "binary" or (format == "same" and binary)):
        raise UsageProblem("a binary grammar is written to a file, not to standard output")
    if format != "same" or binary:
        rules = Grammar(read_grammar(name, only_for=only_for, span=span, verify=verify))
        rules.save(path, "binary" if format == "same" else format)
        return len(rules), None, len(only_for[0]), len(only_for[1]) - 1
    kept = total = 0
    with files.writing(os.fspath(path)) as out:
        for found, some, of in filter_lines(name, TextFilter(*only_for, span=span)):
            out.write(found)
            kept, total = kept + some, total + of
    return kept, total, len(only_for[0]), len(only_for[1]) - 1


def grammar_of(
    grammar: "Grammar | PathLike", text: Tokens | None = None, span_limit: int | None = None, verify: bool = True
) -> Grammar:
    """Return a grammar, read from its file as far as a text needs it; one in memory is taken as it is."""
    if isinstance(grammar, Grammar):
        return grammar
    return Grammar.load(grammar, text=text, span_limit=span_limit, verify=verify)
