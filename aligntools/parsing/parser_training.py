"""Training parsers from Python: on treebanks, and for languages without one."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from aligntools.formats.annotation.class_lists import ClassList
from aligntools.formats.annotation.conll import Conll, column_place, read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.inputs.annotation import PathLike, TaggedInput, check_tags, encoded, lookup_of, read_annotated
from aligntools.formats.text.bitext import IN_MEMORY, name_of
from aligntools.formats.text.text_settings import TagReading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.engines import Advice, forget
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.parsing import valence
from aligntools.parsing.learning import treebank
from aligntools.parsing.learning.checkpoints import Checkpoint
from aligntools.parsing.learning.training import InParts
from aligntools.parsing.parsers import Parse, Parser
from aligntools.parsing.settings import InducedParserSettings, ParserReading, ParserSettings
from aligntools.parsing.text import mapped_tags
from aligntools.store.job_engines import opened, temporary_folder
from aligntools.store.stores import Store

if TYPE_CHECKING:
    from aligntools.ground.keywords import ParserInducingKeywords, ParserTrainingKeywords

#: Trees: a file in CoNLL, what its reader returned, or a parse.
Treebank: TypeAlias = PathLike | Conll | Parse


#: Sentences with trees, joined: words, tags, labels, heads (int32 [words]), offsets (int64 [sentences + 1]), and what
#: messages call each sentence.
Trees: TypeAlias = tuple[list[bytes], list[bytes], list[bytes], npt.NDArray[np.int32], npt.NDArray[np.int64], list[str]]


def read_treebanks(treebanks: Treebank | Iterable[Treebank], reading: TagReading) -> tuple[Trees, str]:
    """Read trees; return them and what messages call them."""
    single = isinstance(treebanks, (str, os.PathLike, Conll, Parse))
    banks: Iterable[Any] = [treebanks] if single else treebanks  # type: ignore[assignment]
    words, tags, labels, places, called = list[bytes](), list[bytes](), list[bytes](), list[str](), ""
    heads, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for bank in banks:
        if isinstance(bank, Parse):
            n, own = len(bank.tokens), np.asarray(bank.heads, np.int32)
            if not n == len(bank.tags) == len(own):
                raise DataError(IN_MEMORY, len(places) + 1, "a tree needs a tag and a head for each word")
            if n and (own.min() < 0 or own.max() > n):
                raise DataError(IN_MEMORY, len(places) + 1, f"heads are 0 to {n}")
            words += map(encoded, bank.tokens)
            tags += map(encoded, bank.tags)
            labels += [b"_"] * n if bank.labels is None else map(encoded, bank.labels)
            heads.append(own)
            lengths.append(np.array([n]))
            places.append(f"sentence {len(places) + 1}")
            continue
        conll = bank if isinstance(bank, Conll) else read_conll(os.fspath(bank))
        called = called or conll.path
        conll = conll.predicted() if reading.predicted_columns else conll
        found = conll.column(column_place(reading.tags))
        if found and set(found) == {b"_"}:
            problem = "the column of the tags is _ in every line; try another column, or tag the text"
            raise DataError(conll.path, None, problem)
        words += conll.words
        tags += found
        labels += conll.column(COLUMNS["deprel"])
        heads.append(conll.heads())
        lengths.append(np.diff(conll.offsets))
        numbered = enumerate(conll.sentence_lines().tolist(), 1)
        places += (f"{conll.path}:{line} (sentence {n})" for n, line in numbered)
    offsets = np.cumsum(np.concatenate(lengths))
    return (words, tags, labels, np.concatenate(heads), offsets, places), called or IN_MEMORY


_ADVICE = Advice(lost="the same call with the same `checkpoint` goes on where it was")


@contextlib.contextmanager
def in_parts(run: Run, pool: "Pool") -> Iterator[InParts | None]:
    """Start what trains by jobs over files, if that is asked for."""
    if not run.asked and run.tmpdir is None:
        yield None
        return
    try:
        with temporary_folder(run.tmpdir) as folder, opened(run, pool, folder, advice=_ADVICE) as engine:
            yield InParts(Store(folder), engine, pool)
    finally:
        forget()


def checkpoint_in(folder: PathLike | None) -> Checkpoint | None:
    """Return what keeps the state of a training in a folder."""
    return None if folder is None else Checkpoint(folder)


@taking(ParserSettings, ParserReading, Run)
def train_parser(
    treebanks: Treebank | Iterable[Treebank],
    settings: ParserSettings | None = None,
    *,
    classes: "ClassList | PathLike | None" = None,
    checkpoint: PathLike | None = None,
    reading: ParserReading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[ParserTrainingKeywords]",
) -> Parser:
    """Train a dependency parser from a treebank, by maximum conditional likelihood.

    A log-linear model over trees that scores each edge by itself (McDonald, Crammer & Pereira 2005; Ma & Xia 2014,
    equation 6), and a classifier of labels.

    Parameters
    ----------
    treebanks : str, path, Conll, or iterable of these or of `Parse`
        Files in CoNLL-X or CoNLL-U with heads, or trees in memory.
    settings, reading, run : ParserSettings, ParserReading, Run or None
        The options below, whole. With other processes or a ``tmpdir`` the objective is evaluated by jobs over files.
        The parser is the same, byte by byte.
    classes : ClassList, str, path or None
        Word classes of plain text (see `word_classes`), by which edges are scored too. The parser keeps them.
    checkpoint : str, path or None
        A folder for the state of the training; the same call continues from it.
    progress : callable, True or None
        Called with a `Step` after each step of L-BFGS, stage ``train``, with the figures ``step`` and ``objective``;
        and at the end, stage ``trained``, with the numbers of ``sentences``, ``words``, ``features`` and ``steps``,
        the ``objective``, the ``message`` of L-BFGS, and the sentences that were ``skipped`` or ``changed``, by reason.
    **options

    Returns
    -------
    Parser

    Raises
    ------
    DataError
        When a file cannot be read, has no tags or heads, or no sentence is left to train on.
    ModelError
        When the checkpoint belongs to another training.
    UsageProblem
        When an option is outside its range, or options do not go together.

    Examples
    --------
    >>> import aligntools as at
    >>> parser = at.train_parser("data/samples/en.conllu", iterations=30)
    >>> tree = parser.parse("the_DET dog_NOUN sleeps_VERB")
    >>> tree.edges
    [(2, 1), (3, 2), (0, 3)]
    >>> tree.labels
    ('det', 'nsubj', 'root')
    """
    given = Keywords("train_parser", options)
    settings = given.take(ParserSettings, settings)
    reading, run = given.take(ParserReading, reading), given.take(Run, run)
    given.end()
    if reading.format not in ("auto", "conll") or reading.separator is not None:
        raise UsageProblem("treebanks are CoNLL; leave out `format` and `separator`")
    (words, tags, labels, heads, offsets, places), name = read_treebanks(treebanks, reading)
    if len(heads) and np.all(heads < 0):
        raise DataError(name, None, "has no heads; column 7 is _ in every line")
    names = None if {*labels} <= {b"_"} else labels
    if names is None:
        settings = replace(settings, labels=False)
    tell, lookup = reporter(progress), lookup_of(classes, words)

    def report(number: int, objective: float, _weights: npt.NDArray[np.float64]) -> None:
        tell(Step("train", number, figures={"stage": "train", "step": number, "objective": objective}))

    about = {"column": reading.tags, "map": reading.mapping}
    with pool_of(run.threads) as pool, in_parts(run, pool) as parts:
        try:
            tags, more = mapped_tags(tags, reading.mapping), (checkpoint_in(checkpoint), about, parts, lookup)
            model, found = treebank.train(words, tags, offsets, heads, names, settings, pool, report, *more)
        except treebank.NoSentences:
            problem = (
                "no sentence can be trained on; is it a treebank, and do the limits on length, crossing edges and"
                " roots leave any?"
            )
            raise DataError(name, None, problem) from None
    if found["first_skipped"] is not None:
        found["first_skipped"] = places[found["first_skipped"]]
    tell(Step("trained", figures=found))
    return Parser(model)


@taking(InducedParserSettings, ParserReading, Run)
def induce_parser(
    text: "TaggedInput",
    settings: InducedParserSettings | None = None,
    *,
    checkpoint: PathLike | None = None,
    reading: ParserReading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[ParserInducingKeywords]",
) -> Parser:
    """Learn a dependency parser from tags alone, without trees: the dependency model with valence.

    A head chooses the tags of its words on either side, from the nearest outwards, and before each one whether to stop,
    by its own tag and by whether it has a word on that side yet (Klein & Manning 2004). Its trees are projective and
    without labels. They find many of a language's dependencies, but not which end of them a treebank calls the head.

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences with tags
        CoNLL, of which only the tags are read, or lines of ``word_TAG``.
    settings, reading, run : InducedParserSettings, ParserReading, Run or None
        The options below, whole. One process does this.
    checkpoint : str, path or None
        A folder for the state of the training; the same call continues from it.
    progress : callable, True or None
        Called with a `Step` for each iteration, stage ``induce``, with the figures ``step`` and ``objective`` (the
        log-likelihood and the prior's logarithm, or the bound of variational Bayes); and at the end, stage ``trained``,
        with the numbers of ``sentences``, ``words``, ``tags`` and ``steps``, the ``objective``, why it ended
        (``message``), and the sentences that were ``skipped``, by reason.
    **options

    Returns
    -------
    Parser

    Raises
    ------
    DataError
        When a file cannot be read or has no tags, or no sentence is left to train on.
    ModelError
        When the checkpoint belongs to another training.
    UsageProblem
        When an option is outside its range, or options do not go together.

    Examples
    --------
    >>> import aligntools as at
    >>> parser = at.induce_parser("data/samples/en.conllu")
    >>> parser.parse("the_DET dog_NOUN sleeps_VERB well_ADV ._PUNCT").heads.tolist()
    [2, 3, 0, 3, 3]
    """
    given = Keywords("induce_parser", options)
    settings = given.take(InducedParserSettings, settings)
    reading, run = given.take(ParserReading, reading), given.take(Run, run).here()
    given.end()
    read = read_annotated(text, reading)
    check_tags(text, read)
    name = name_of(text)
    tell = reporter(progress)

    def report(number: int, objective: float) -> None:
        figures: dict[str, Any] = {"stage": "induce", "step": number, "objective": objective}
        tell(Step("induce", number, figures=figures))

    about = {"column": reading.tags, "map": reading.mapping}
    with pool_of(run.threads) as pool:
        try:
            tags, kept = mapped_tags(read.tags or [], reading.mapping), checkpoint_in(checkpoint)
            model, found = valence.train(tags, read.offsets, settings, pool, report, kept, about)
        except valence.NoSentences:
            punctuation = " without its punctuation" if settings.punct == "drop" else ""
            which = f"none has {settings.min_length} to {settings.max_length} words{punctuation}"
            problem = f"no sentence can be trained on: {which}; raise `max_length`"
            raise DataError(name, None, problem) from None
        except valence.TooManyTags as error:
            raise DataError(name, None, f"{error}; is this the column of the tags?") from None
    tell(Step("trained", figures=found))
    return Parser(model)
