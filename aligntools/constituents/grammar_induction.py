"""Grammars of constituents learned without trees, from Python."""

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from aligntools.constituents.parsers import ConstituentParser
from aligntools.constituents.settings import InducedGrammarSettings
from aligntools.formats.inputs.annotation import check_tags, check_words, decoded, read_annotated, read_words_or_tags
from aligntools.formats.inputs.texts import SomeSentence
from aligntools.formats.text.memory_text import name_of
from aligntools.formats.text.text_settings import TagReading
from aligntools.ground.declarations import Given, taking
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run

if TYPE_CHECKING:
    from aligntools.formats.inputs.annotation import Parsed, PathLike, TaggedInput
    from aligntools.ground.keywords import InducingGrammarKeywords
    from aligntools.viewing.models import ModelView


class InducedConstituentParser(ConstituentParser):
    """A grammar of constituents that was learned without trees: from `induce_grammar` or a model file.

    It is used as every `ConstituentParser`, on text with tags if it was learned from tags. Labels are ``X0``, ``X1``
    and so on.
    """

    model: Any
    has_lists: ClassVar[bool] = False

    @property
    def needs_tags(self) -> bool:
        """Whether text has to have tags."""
        return bool(self.model.needs_tags)

    def __repr__(self) -> str:
        return f"<InducedConstituentParser of {self.model}>"

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""
        from aligntools.constituents.summary import induced_view

        return induced_view(self.model, title, best)

    @classmethod
    def _of_file(cls, path: "PathLike", verify: bool) -> "InducedConstituentParser":
        from aligntools.constituents.inducing.model import InducedGrammar
        from aligntools.constituents.neural.model import NeuralGrammar
        from aligntools.formats.models.modelfile import model_kind

        kind = NeuralGrammar if model_kind(path) == NeuralGrammar.KIND else InducedGrammar
        return cls(kind.load(path, verify))  # type: ignore[arg-type]

    def turned(self, text: "Parsed") -> int:
        """Return 0: words are compared as they are."""
        return 0

    def unknown_tags(self, tags: Iterable[bytes]) -> set[bytes]:
        """Return those of some tags that the grammar needs, and that no sentence of the training had."""
        if not self.needs_tags:
            return set()
        names = {tag: decoded(tag) for tag in tags}
        out = self.model.left_out(list(names.values()), list(names.values()))
        seen = {tag for tag, left_out in zip(names, out, strict=True) if not left_out}
        return seen - set(self.model.vocabulary.encoded())


@taking(InducedGrammarSettings, TagReading, Run)
def induce_grammar(
    text: "TaggedInput | Iterable[SomeSentence]",
    settings: InducedGrammarSettings | None = None,
    *,
    reading: TagReading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[InducingGrammarKeywords]",
) -> InducedConstituentParser:
    """Learn a grammar of constituents from tags or words, without trees: rules between symbols without names.

    Each symbol has probabilities for all pairs of symbols and tags below it (Lari & Young 1990), which EM or
    variational Bayes finds from a random start. Those of a neural PCFG are made by networks, over hidden symbols above
    words or tags; those of a compound PCFG depend on a latent vector of each sentence, too (Kim, Dyer & Rush 2019).

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences with tags
        CoNLL, or lines of ``word_TAG``. With ``terminals="words"`` also plain text, and sentences are lines of words,
        lists of words, or lists of pairs of word and tag; tags tell what is punctuation.
    settings, reading, run : InducedGrammarSettings, TagReading, Run or None
        The options below, whole. One process does this.
    progress : callable, True or None
        Called with a `Step` for each iteration or pass, stage ``induce``, with the figures ``step`` and
        ``objective``; and at the end, stage ``trained``, with the numbers of ``sentences``, ``words``, ``tags`` or
        ``types`` (words that the grammar knows) and ``steps``, the ``objective``, why it ended (``message``), and the
        sentences that were ``skipped``, by reason.
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
    given = Given("induce_grammar", options)
    settings = given.take(InducedGrammarSettings, settings)
    reading, run = given.take(TagReading, reading), given.take(Run, run).here()
    given.end()
    words, tags = _text(text, reading, settings.terminals == "words")
    tell = reporter(progress)

    def report(number: int, objective: float) -> None:
        tell(Step("induce", number, figures={"stage": "induce", "step": number, "objective": objective}))

    with pool_of(run.threads) as pool:
        if settings.networks:
            from aligntools.constituents.neural.learning import train as train_networks

            found: Any = train_networks(words, tags, settings, pool, report, {"column": reading.tags})
        else:
            from aligntools.constituents.inducing.training import train

            found = train(tags or [], settings, pool, report, {"column": reading.tags})
    if found is None:
        punctuation = " without its punctuation" if settings.punct == "drop" else ""
        which = f"none has 2 to {settings.max_length} words{punctuation}"
        raise DataError(name_of(text), None, f"no sentence can be learned from: {which}; raise `max_length`")
    model, figures = found
    if settings.terminals == "words":
        figures["types"] = figures.pop("tags")
    tell(Step("trained", figures=figures))
    return InducedConstituentParser(model)


def _text(text: Any, reading: TagReading, of_words: bool) -> tuple[list[list[str]], list[list[str]] | None]:
    """Return words and tags of sentences; where words are learned from, all tags (None) or some ("") may be missing."""
    if not of_words:
        read = read_annotated(text, reading)
        check_tags(text, read)
    else:
        read = read_words_or_tags(text, reading)
        check_words(text, read)
    edges = list(pairwise(read.offsets.tolist()))
    words, tags = (
        [[decoded(one) for one in own[begin:end]] for begin, end in edges] for own in (read.words, read.tags or [])
    )
    if read.tags is None:
        return words, None
    return words, [["" if tag == "_" else tag for tag in own] for own in tags] if of_words else tags
