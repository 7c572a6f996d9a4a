"""Parsers learned from tags alone, from Python."""

from typing import TYPE_CHECKING, Any, Literal

from aligntools.api.given.annotated import check_tags, read_annotated
from aligntools.api.given.naming import name_of
from aligntools.api.parse.parsing import Parser, TagMap, mapped_tags
from aligntools.api.running.progress import Progress, Step, reporter
from aligntools.api.running.threads import pool_of
from aligntools.formats.text.reading import TagReading
from aligntools.ground.errors import DataError
from aligntools.parsing.unsupervised.settings import InducedParserSettings

if TYPE_CHECKING:
    from aligntools.api.given.annotated import PathLike
    from aligntools.api.parse.parser_transfer import TaggedInput
    from aligntools.ground.parallel import Pool

_SETTINGS = InducedParserSettings()


def induce_parser(
    text: "TaggedInput",
    *,
    column: str | int = "upos",
    map: TagMap = "none",
    separator: str | bytes | None = None,
    estimator: Literal["em", "vb"] = "em",
    prior: float = _SETTINGS.prior,
    punct: Literal["drop", "keep"] = "drop",
    min_length: int = _SETTINGS.min_length,
    max_length: int = _SETTINGS.max_length,
    decay: float = _SETTINGS.decay,
    iterations: int = _SETTINGS.iterations,
    tolerance: float = _SETTINGS.tolerance,
    checkpoint: "PathLike | None" = None,
    threads: "int | Pool | None" = None,
    progress: Progress = None,
) -> Parser:
    """Learn a dependency parser from tags alone, without trees: the dependency model with valence.

    A head chooses the tags of its words on either side, from the nearest outwards, and before each one whether to stop,
    by its own tag and by whether it has a word on that side yet (Klein & Manning 2004). Its trees are projective and
    without labels. They find many of a language's dependencies, but not which end of them a treebank calls the head.

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences with tags
        CoNLL, of which only the tags are read, or lines of ``word_TAG``.
    column : str or int
        Column of CoNLL with the tags, by name or number from 1.
    map : {"none", "upos", "penn"}
        Map tags to the 12 universal ones: from UPOS, or from the Penn Treebank's.
    separator : str or None
        Between word and tag. None: ``_`` or ``/``, whichever the text has.
    estimator : {"em", "vb"}
        Expectation maximization, or variational Bayes.
    prior : float
        EM: added to the expected counts, so that 0 is plain EM. Variational Bayes: parameter of the symmetric Dirichlet
        priors.
    punct : {"drop", "keep"}
        Punctuation, by its tags: left out of the model and attached afterwards, or words like others.
    min_length, max_length : int
        Shorter and longer sentences are left out; punctuation does not count where it is dropped.
    decay : float
        In the start, a word's heads weigh their distance to the power of minus this; 1 is the harmonic start of the
        paper.
    iterations : int
        Largest number of iterations.
    tolerance : float
        Stop when two iterations in a row gain less than this share of the objective.
    checkpoint : str, path or None
        A folder for the state of the training; the same call continues from it.
    threads : int or None
        None: all cores. The result does not depend on it.
    progress : callable, True or None
        Called with a `Step` for each iteration, stage ``induce``, with the figures ``step`` and ``objective`` (the
        log-likelihood and the prior's logarithm, or the bound of variational Bayes); and at the end, stage ``trained``,
        with the numbers of ``sentences``, ``words``, ``tags`` and ``steps``, the ``objective``, why it ended
        (``message``), and the sentences that were ``skipped``, by reason.

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
        When an option makes no sense.

    Examples
    --------
    >>> import aligntools as at
    >>> parser = at.induce_parser("data/samples/en.conllu")
    >>> parser.parse("the_DET dog_NOUN sleeps_VERB well_ADV ._PUNCT").heads.tolist()
    [2, 3, 0, 3, 3]
    """
    from aligntools.parsing.learning.checkpoints import Checkpoint
    from aligntools.parsing.unsupervised.training import NoSentences, TooManyTags, train

    settings = InducedParserSettings(
        estimator=estimator, prior=prior, punct=punct, min_length=min_length, max_length=max_length, decay=decay,
        iterations=iterations, tolerance=tolerance,
    ).checked()  # fmt: skip
    read = read_annotated(text, TagReading(separator=separator, column=column))
    check_tags(text, read)
    name = name_of(text)
    tell = reporter(progress)

    def report(number: int, objective: float) -> None:
        figures: dict[str, Any] = {"stage": "induce", "step": number, "objective": objective}
        tell(Step("induce", number, figures=figures))

    with pool_of(threads) as pool:
        try:
            model, found = train(
                mapped_tags(read.tags or [], map), read.offsets, settings, pool, report,
                None if checkpoint is None else Checkpoint(checkpoint), {"column": column, "map": map},
            )  # fmt: skip
        except NoSentences:
            punctuation = " without its punctuation" if punct == "drop" else ""
            which = f"none has {min_length} to {max_length} words{punctuation}"
            problem = f"no sentence can be trained on: {which}; raise the greatest length"
            raise DataError(name, None, problem) from None
        except TooManyTags as error:
            raise DataError(name, None, f"{error}; is this the column of the tags?") from None
    figures = {
        "sentences": found.sentences, "words": found.words, "tags": found.tags, "objective": found.fit.values[-1],
        "steps": len(found.fit.values) - 1, "message": found.fit.message, "skipped": found.skipped,
    }  # fmt: skip
    tell(Step("trained", figures=figures))
    return Parser(model)
