"""Grammars of constituents learned from tags alone, from Python."""

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from aligntools.api.given.annotated import check_tags, decoded, read_annotated
from aligntools.api.given.keywords import InducedGrammarKeywords, RunKeywords, TagReadingKeywords
from aligntools.api.given.naming import name_of
from aligntools.api.parse.constituents import ConstituentParser
from aligntools.api.running.progress import Progress, Step, reporter
from aligntools.api.running.threads import pool_of
from aligntools.constituents.inducing.settings import InducedGrammarSettings
from aligntools.formats.text.reading import TagReading
from aligntools.ground.declaring import Given, taking
from aligntools.ground.errors import DataError
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.api.given.annotated import PathLike
    from aligntools.api.parse.parser_transfer import TaggedInput
    from aligntools.viewing.models import ModelView


class InducingGrammarKeywords(InducedGrammarKeywords, TagReadingKeywords, RunKeywords, total=False):
    """Keywords of `induce_grammar`, besides its own parameters."""


class InducedConstituentParser(ConstituentParser):
    """A grammar of constituents that was learned from tags: from `induce_grammar` or a model file.

    It is used as every `ConstituentParser`, on text with tags; labels are ``X0``, ``X1`` and so on.
    """

    model: Any
    needs_tags: ClassVar[bool] = True

    def __repr__(self) -> str:
        own = self.model.rules
        return f"<InducedConstituentParser of {len(own.roots)} symbols, {own.n_tags} tags>"

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""
        from aligntools.api.parse.grammar_view import induced_view

        return induced_view(self.model, title, best)

    @classmethod
    def _of_file(cls, path: "PathLike", verify: bool) -> "InducedConstituentParser":
        from aligntools.constituents.inducing.model import InducedGrammar

        return cls(InducedGrammar.load(path, verify))  # type: ignore[arg-type]

    def unknown_tags(self, tags: Iterable[bytes]) -> set[bytes]:
        """Return those of some tags that no sentence of the training had; they are taken for the mean of all."""
        names = {tag: decoded(tag) for tag in tags}
        out = self.model.left_out(list(names.values()))
        seen = {tag for tag, left_out in zip(names, out, strict=True) if not left_out}
        return seen - set(self.model.vocabulary.encoded())


@taking(InducedGrammarSettings, TagReading, Run)
def induce_grammar(
    text: "TaggedInput",
    settings: InducedGrammarSettings | None = None,
    *,
    reading: TagReading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: Unpack[InducingGrammarKeywords],
) -> InducedConstituentParser:
    """Learn a grammar of constituents from tags alone, without trees: rules between symbols without names.

    Each symbol has probabilities for all pairs of symbols and tags below it (Lari & Young 1990), which EM or
    variational Bayes finds from a random start.

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences with tags
        CoNLL, or lines of ``word_TAG``.
    settings, reading, run : InducedGrammarSettings, TagReading, Run or None
        The options below, whole. One process does this.
    progress : callable, True or None
        Called with a `Step` for each iteration, stage ``induce``, with the figures ``step`` and ``objective``; and at
        the end, stage ``trained``, with the numbers of ``sentences``, ``words``, ``tags`` and ``steps``, the
        ``objective``, why it ended (``message``), and the sentences that were ``skipped``, by reason.
    **options

    Returns
    -------
    InducedConstituentParser

    Raises
    ------
    DataError
        When a file cannot be read or has no tags, or no sentence is left to learn from.
    UsageProblem
        When an option is outside its range, or there are too many tags.

    Examples
    --------
    >>> import aligntools as at
    >>> parser = at.induce_grammar("data/samples/en.tagged", symbols=4, iterations=20)
    >>> tree = parser.parse("the_DET dog_NOUN sleeps_VERB ._PUNCT".split(), ["DET", "NOUN", "VERB", "PUNCT"])
    >>> len(list(tree.spans()))
    3
    """
    from aligntools.constituents.inducing.training import train

    given = Given("induce_grammar", options)
    settings = given.take(InducedGrammarSettings, settings)
    reading, run = given.take(TagReading, reading), given.take(Run, run).here()
    given.end()
    read = read_annotated(text, reading)
    check_tags(text, read)
    tags = list(map(decoded, read.tags or []))
    sentences = [tags[begin:end] for begin, end in pairwise(read.offsets.tolist())]
    tell = reporter(progress)

    def report(number: int, objective: float) -> None:
        tell(Step("induce", number, figures={"stage": "induce", "step": number, "objective": objective}))

    with pool_of(run.threads) as pool:
        found = train(sentences, settings, pool, report, {"column": reading.tags})
    if found is None:
        punctuation = " without its punctuation" if settings.punct == "drop" else ""
        which = f"none has 2 to {settings.max_length} words{punctuation}"
        raise DataError(name_of(text), None, f"no sentence can be learned from: {which}; raise `max_length`")
    model, told = found
    figures = {
        "sentences": told.sentences,
        "words": told.words,
        "tags": told.tags,
        "objective": told.fit.values[-1],
        "steps": len(told.fit.values) - 1,
        "message": told.fit.message,
        "skipped": told.skipped,
    }
    tell(Step("trained", figures=figures))
    return InducedConstituentParser(model)  # type: ignore[arg-type]
