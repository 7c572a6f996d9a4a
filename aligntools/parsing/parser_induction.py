"""Parsers learned from tags alone, from Python."""

from typing import TYPE_CHECKING, Any, Unpack

from aligntools.formats.inputs.annotation import check_tags, read_annotated
from aligntools.formats.text.memory_text import name_of
from aligntools.ground.declarations import Given, taking
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.parsing.parsers import Parser, mapped_tags
from aligntools.parsing.settings import InducedParserSettings, ParserReading

if TYPE_CHECKING:
    from aligntools.formats.inputs.annotation import PathLike, TaggedInput
    from aligntools.ground.keywords import ParserInducingKeywords


@taking(InducedParserSettings, ParserReading, Run)
def induce_parser(
    text: "TaggedInput",
    settings: InducedParserSettings | None = None,
    *,
    checkpoint: "PathLike | None" = None,
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
    from aligntools.parsing.learning.checkpoints import Checkpoint
    from aligntools.parsing.unsupervised.learning import NoSentences, TooManyTags, train

    given = Given("induce_parser", options)
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
            model, found = train(
                mapped_tags(read.tags or [], reading.mapping),
                read.offsets,
                settings,
                pool,
                report,
                None if checkpoint is None else Checkpoint(checkpoint),
                about,
            )
        except NoSentences:
            punctuation = " without its punctuation" if settings.punct == "drop" else ""
            which = f"none has {settings.min_length} to {settings.max_length} words{punctuation}"
            problem = f"no sentence can be trained on: {which}; raise `max_length`"
            raise DataError(name, None, problem) from None
        except TooManyTags as error:
            raise DataError(name, None, f"{error}; is this the column of the tags?") from None
    tell(Step("trained", figures=found))
    return Parser(model)
