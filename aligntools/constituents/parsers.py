"""Grammars of constituents from Python: trained on trees, and the trees that they find."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

from aligntools.constituents.settings import GrammarDecisions, GrammarSettings, TreeLists
from aligntools.constituents.tree_lists import PART, TreeDistributions, read_sentences
from aligntools.formats.annotation.brackets import SomeTrees, Tree, clean, trees_given
from aligntools.formats.annotation.conll import Conll, column_place
from aligntools.formats.inputs.annotation import Parsed, PathLike, decoded, tell_unused
from aligntools.formats.inputs.annotators import Annotator, batches
from aligntools.formats.inputs.sentences import words_of
from aligntools.formats.inputs.texts import SomeSentence
from aligntools.formats.text.memory_text import IN_MEMORY, name_of
from aligntools.ground.declarations import Given, taking
from aligntools.ground.errors import DataError
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.viewing.notebooks import ShownAsModel
from aligntools.words.normal_forms import in_form

if TYPE_CHECKING:
    from aligntools.constituents.derivation_lists import ScoredTree
    from aligntools.constituents.model import ConstituentModel, ParsedTrees
    from aligntools.ground.keywords import GrammarDecisionsKeywords, GrammarParsingKeywords, GrammarTrainingKeywords
    from aligntools.ground.parallel import Pool
    from aligntools.viewing.models import ModelView
_log = logging.getLogger("aligntools")


@dataclass(frozen=True, eq=False, repr=False)
class ConstituentParser(Annotator, TreeDistributions, ShownAsModel):
    """A grammar of constituents: from `train_grammar` or a model file.

    It can be used from several threads.

    Attributes
    ----------
    model : ConstituentModel
        The arrays; not part of the public interface.
    """

    model: "ConstituentModel"

    @property
    def needs_tags(self) -> bool:
        """Whether text has to have tags."""
        return False

    def __repr__(self) -> str:
        own = self.model.grammar
        return f"<ConstituentParser of {len(own.symbols)} symbols, {self.model.n_states} states>"

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""
        from aligntools.constituents.summary import model_view

        return model_view(self.model, title, best)

    @classmethod
    def _of_file(cls, path: PathLike, verify: bool) -> "ConstituentParser":
        from aligntools.constituents.model import ConstituentModel

        return cls(ConstituentModel.load(path, verify))

    @taking(GrammarDecisions)
    def parse(
        self,
        tokens: SomeSentence,
        tags: Sequence[str] | None = None,
        decisions: GrammarDecisions | None = None,
        **options: "Unpack[GrammarDecisionsKeywords]",
    ) -> Tree:
        """Parse a sentence.

        Parameters
        ----------
        tokens : str, sequence of str, or sequence of (str, str)
            A line of words, words, or pairs of word and tag.
        tags : sequence of str, optional
            A tag for each word.
        decisions : GrammarDecisions or None
            The options below, whole.
        **options

        Returns
        -------
        Tree
            ``str()`` gives it in brackets. Of a sentence without words it is empty.

        Raises
        ------
        DataError
            When there is not one tag for each word.

        Examples
        --------
        >>> import aligntools as at
        >>> parser = at.train_grammar("data/samples/en.mrg")
        >>> print(parser.parse("The dog sleeps ."))
        (S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .))
        """
        given = Given("parse", options)
        decisions = given.take(GrammarDecisions, decisions)
        given.end()
        sentence = tokens
        if tags is not None:
            words = [decoded(word) for word in words_of(tokens)]  # type: ignore[arg-type]
            if len(words) != len(tags):
                raise DataError(IN_MEMORY, None, f"{len(words)} words, but {len(tags)} tags")
            sentence = list(zip(words, tags, strict=True))
        with pool_of(1) as pool:
            return self._parsed([sentence], decisions, pool)[0]

    @taking(GrammarDecisions, Run)
    def parse_batch(
        self,
        sentences: Iterable[SomeSentence],
        decisions: GrammarDecisions | None = None,
        *,
        run: Run | None = None,
        batch_size: int = PART,
        **options: "Unpack[GrammarParsingKeywords]",
    ) -> Iterator[Tree]:
        """Parse sentences one after the other, in constant memory.

        Parameters
        ----------
        sentences : iterable of sentences
            Lines of words, lists of words, or lists of pairs of word and tag.
        decisions, run : GrammarDecisions, Run or None
            The options below, whole. One process does this.
        batch_size : int
            Sentences that are read before the first of them is returned.
        **options

        Yields
        ------
        Tree

        Examples
        --------
        >>> import aligntools as at
        >>> parser = at.train_grammar("data/samples/en.mrg")
        >>> [len(tree.words()) for tree in parser.parse_batch(["The dog sleeps .", [("Rain", "NN")]])]
        [4, 1]
        """
        given = Given("parse_batch", options)
        decisions = given.take(GrammarDecisions, decisions)
        run = given.take(Run, run).here()
        given.end()
        with pool_of(run.threads) as pool:
            for part in batches(sentences, batch_size):
                yield from self._parsed(part, decisions, pool)

    def _parsed(self, sentences: Sequence[Any], decisions: GrammarDecisions, pool: "Pool") -> list[Tree]:
        words, tags = read_sentences(sentences)
        return self.model.parse(words, None if decisions.keep_tags is False else tags, decisions, pool).trees

    def unknown_tags(self, tags: Iterable[bytes]) -> set[bytes]:
        """Return those of some tags that no tree of the training had; they say nothing of their words."""
        known = {*self.model.grammar.symbols[: self.model.grammar.n_tags], "_"}
        return {tag for tag in {*tags} if clean(decoded(tag)) not in known}

    def tags_of(self, text: Parsed, column: str | int | None, decisions: GrammarDecisions) -> list[bytes] | None:
        """Return the tags of what a reader returned, None where it has none or they are not to be kept."""
        of_trees = not isinstance(text, Conll) and text.format == "trees" and not self.needs_tags
        if decisions.keep_tags is False or (decisions.keep_tags is None and of_trees):
            return None
        if isinstance(text, Conll):
            return text.column(column_place(self.column if column is None else column))
        return text.tags

    def parse_read(
        self, text: Parsed, decisions: GrammarDecisions, column: str | int | None, pool: "Pool"
    ) -> "ParsedTrees":
        """Parse what a reader of `aligntools.formats` returned; see `parse`.

        Parameters
        ----------
        text : Tokens or Conll
        decisions : GrammarDecisions
        column : str, int or None
            Column of CoNLL with tags; None: that of the model.
        pool : Pool
        """
        words, given = self._read(text, decisions, column)
        return self.model.parse(words, given, decisions, pool)

    def lists_of(
        self,
        text: Parsed,
        lists: TreeLists,
        decisions: GrammarDecisions,
        column: str | int | None,
        pool: "Pool",
        first: int = 0,
    ) -> "list[list[ScoredTree]]":
        """List trees of what a reader returned; ``first`` is the number of its first sentence. See `parse_read`."""
        words, given = self._read(text, decisions, column)
        return self.model.listed(words, lists, given, decisions, pool, first)

    def _read(
        self, text: Parsed, decisions: GrammarDecisions, column: str | int | None
    ) -> tuple[list[list[str]], list[list[str]] | None]:
        """Return the words and the tags of what a reader returned."""
        tell_unused("conll" if isinstance(text, Conll) else text.format, "the text", column, None)
        tags = self.tags_of(text, column, decisions)
        edges = text.offsets.tolist()
        words = [list(map(decoded, text.words[a:b])) for a, b in pairwise(edges)]
        if tags is None:
            return words, None
        known = [("" if tag == b"_" else decoded(tag)) for tag in tags]
        return words, [known[a:b] for a, b in pairwise(edges)]

    def turned(self, text: Parsed) -> int:
        """Return how many words are in another of Unicode's normal forms than those of the training."""
        return in_form(text.words, self.model.normal_form)[1]


@taking(GrammarSettings, Run)
def train_grammar(
    treebanks: "SomeTrees | Sequence[PathLike]",
    settings: GrammarSettings | None = None,
    *,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[GrammarTrainingKeywords]",
) -> ConstituentParser:
    """Learn a grammar of constituents from trees: a treebank grammar, markovized or with latent annotations.

    A probabilistic context-free grammar of binary rules (Klein & Manning 2003); with ``latent`` its symbols are split,
    trained by EM and merged (Petrov, Barrett, Thibaux & Klein 2006), several times over with ``members`` (Petrov 2010).
    Unknown words are known by their form.

    Parameters
    ----------
    treebanks : str, path, sequence of these, or iterable of trees
        Files of trees in brackets; or trees, as `Tree` or as text. What stands for nothing (traces) is left out.
    settings, run : GrammarSettings, Run or None
        The options below, whole. One process does this.
    progress : callable, True or None
        Called with a `Step` for each iteration of EM, stage ``split``, ``merged`` or ``smoothed``, with the figures
        ``round``, ``iteration``, ``objective`` (log-likelihood), ``substates`` and, where there are several,
        ``member``; and at the end, stage ``trained``, with the numbers of ``sentences``, ``words``, ``symbols``,
        ``substates``, ``rules`` and trees that are ``empty``.
    **options

    Returns
    -------
    ConstituentParser

    Raises
    ------
    DataError
        When a file cannot be read, brackets are not balanced, or there is no tree.
    UsageProblem
        When an option is outside its range.

    Examples
    --------
    >>> import aligntools as at
    >>> parser = at.train_grammar("data/samples/en.mrg", latent=1, iterations=5)
    >>> print(parser.parse([("The", "DT"), ("dog", "NN"), ("sleeps", "VBZ")]))
    (S (NP (DT The) (NN dog)) (VP (VBZ sleeps)))
    """
    from aligntools.constituents.learning import train

    given = Given("train_grammar", options)
    settings = given.take(GrammarSettings, settings)
    run = given.take(Run, run).here()
    given.end()
    trees, empty, name = _trees_of(treebanks, settings.functions)
    if not trees:
        raise DataError(name, None, "has no trees to learn from; a tree is (S (NP (DT the) ...) ...)")
    tell = reporter(progress)

    def report(stage: str, figures: dict[str, float]) -> None:
        tell(Step(stage, figures={"stage": stage} | figures))

    with pool_of(run.threads) as pool:
        model = train(trees, settings, pool, report, {"column": "xpos"})
    own = model.grammar
    found = {
        "sentences": len(trees),
        "words": sum(len(tree.words()) for tree in trees),
        "symbols": len(own.symbols),
        "substates": model.n_states,
        "rules": len(own.binary) + len(own.unary),
        "empty": empty,
    }
    tell(Step("trained", figures=found))
    return ConstituentParser(model)


def _trees_of(treebanks: Any, functions: bool) -> tuple[list[Tree], int, str]:
    """Return the trees to learn from, how many were empty, and what messages call the first treebank."""
    from aligntools.constituents.binarization import without_repeats
    from aligntools.formats.annotation.brackets import plain_trees

    banks = [treebanks] if isinstance(treebanks, str | os.PathLike) else list(treebanks)
    if not all(isinstance(bank, os.PathLike) or (isinstance(bank, str) and bank.lstrip()[:1] != "(") for bank in banks):
        banks = [banks]
    found = list[Tree]()
    for bank in banks:
        found += trees_given(bank, IN_MEMORY)[0]
    name = name_of(banks[0] if banks else [], IN_MEMORY)
    trees, notes = plain_trees(found, functions)
    for note in notes:
        _log.info("%s: %s", name, note)
    kept = [without_repeats(tree) for tree in trees if tree.children or tree.word is not None]
    return kept, len(trees) - len(kept), name
