"""Grammars of constituents from Python: trained on trees, and the trees that they find."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from aligntools.constituents.binarization import EMPTY, INTERMEDIATE
from aligntools.constituents.inducing.model import InducedGrammar
from aligntools.constituents.model import ConstituentModel
from aligntools.constituents.neural.model import NeuralGrammar
from aligntools.constituents.settings import GrammarDecisions, GrammarSettings, InducedGrammarSettings, TreeLists
from aligntools.formats.annotation.brackets import SomeTrees, Tree, clean, plain_trees, trees_given
from aligntools.formats.annotation.conll import Conll, column_place
from aligntools.formats.inputs.annotation import (
    Annotator,
    Parsed,
    PathLike,
    batches,
    check_tags,
    check_words,
    decoded,
    read_annotated,
    read_words_or_tags,
    tagged_tokens_of,
    tell_unused,
    tokens_of,
)
from aligntools.formats.inputs.sentences import SomeSentence, words_of
from aligntools.formats.text.bitext import IN_MEMORY, name_of
from aligntools.formats.text.text_settings import TagReading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.viewing.models import ModelView, ShownAsModel
from aligntools.words.white_space import in_form

if TYPE_CHECKING:
    from aligntools.constituents.derivation_lists import ScoredTree
    from aligntools.formats.inputs.annotation import TaggedInput
    from aligntools.ground.keywords import (
        GrammarDecisionsKeywords,
        GrammarParsingKeywords,
        GrammarTrainingKeywords,
        InducingGrammarKeywords,
        ListingKeywords,
    )
    from aligntools.ground.parallel import Pool


_log = logging.getLogger("aligntools")


#: Sentences that are looked at a time.
PART = 200


def read_sentences(sentences: Sequence[Any]) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of sentences, and a tag of each, "" where it has none."""
    words, tags = list[list[str]](), list[list[str]]()
    for sentence in sentences:
        pairs = not isinstance(sentence, str | bytes) and any(isinstance(one, tuple) for one in sentence)
        read = tagged_tokens_of([sentence]) if pairs else tokens_of([sentence])
        words.append(list(map(decoded, read.words)))
        tags.append(list(map(decoded, read.tags)) if read.tags else [""] * len(read.words))
    return words, tags


def check_lists(lists: TreeLists, decisions: GrammarDecisions, has_lists: bool) -> None:
    """Refuse lists that there are not."""
    name = lists.kind
    if name is None:
        return
    if not has_lists:
        raise UsageProblem(f"`{name}` is for grammars that were learned from trees")
    if decisions.decode != GrammarDecisions.decode:
        raise UsageProblem(f"`{name}` lists trees by the probabilities of their rules; leave out `decode`")


@dataclass(frozen=True, eq=False, repr=False)
class ConstituentParser(Annotator, ShownAsModel):
    """A grammar of constituents: from `train_grammar` or a model file.

    It can be used from several threads.

    Attributes
    ----------
    model : ConstituentModel
        The arrays; not part of the public interface.
    """

    model: ConstituentModel
    #: Whether there are lists of trees.
    has_lists: ClassVar[bool] = True

    @property
    def needs_tags(self) -> bool:
        """Whether text has to have tags."""
        return False

    def __repr__(self) -> str:
        own = self.model.grammar
        return f"<ConstituentParser of {len(own.symbols)} symbols, {self.model.n_states} states>"

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""
        return model_view(self.model, title, best)

    @classmethod
    def _of_file(cls, path: PathLike, verify: bool) -> "ConstituentParser":
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
        decisions = Keywords("parse", options).only(GrammarDecisions, decisions)
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
        given = Keywords("parse_batch", options)
        decisions = given.take(GrammarDecisions, decisions)
        run = given.take(Run, run).here()
        given.end()
        with pool_of(run.threads) as pool:
            for part in batches(sentences, batch_size):
                yield from self._parsed(part, decisions, pool)

    def _parsed(self, sentences: Sequence[Any], decisions: GrammarDecisions, pool: "Pool") -> list[Tree]:
        words, tags = read_sentences(sentences)
        return self.model.parse(words, None if decisions.keep_tags is False else tags, decisions, pool).trees

    @taking(GrammarDecisions, Run)
    def n_best(
        self,
        sentences: Iterable[SomeSentence],
        n: int,
        decisions: GrammarDecisions | None = None,
        *,
        run: Run | None = None,
        **options: "Unpack[ListingKeywords]",
    ) -> "Iterator[list[ScoredTree]]":
        """Return the n best trees of each sentence, best first: those whose rules are most probably right, together.

        Parameters
        ----------
        sentences : iterable of sentences
            Lines of words, lists of words, or lists of pairs of word and tag.
        n : int
        decisions, run : GrammarDecisions, Run or None
            The options below, whole. One process does this.
        **options

        Yields
        ------
        list of ScoredTree
            Fewer where there are no more. Of a sentence that the grammar has no tree for a flat one.

        Raises
        ------
        UsageProblem
            When the grammar was learned from tags, or an option does not go with lists.

        Examples
        --------
        >>> import aligntools as at
        >>> parser = at.train_grammar("data/samples/en.mrg")
        >>> for one in next(parser.n_best(["The dog sleeps ."], 2)):
        ...     print(one.tree, -3 < one.log_probability < 0)
        (S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .)) True
        (S (NP (DT The) (NN dog)) (VP (VBD sleeps)) (. .)) True
        """
        given = Keywords("n_best", options)
        decisions, run = given.take(GrammarDecisions, decisions), given.take(Run, run).here()
        given.end()
        yield from self._listed(sentences, TreeLists(n_best=n), decisions, run, 0)

    @taking(GrammarDecisions, Run)
    def sample_trees(
        self,
        sentences: Iterable[SomeSentence],
        n: int,
        decisions: GrammarDecisions | None = None,
        *,
        seed: int = 1,
        first: int = 0,
        run: Run | None = None,
        **options: "Unpack[ListingKeywords]",
    ) -> "Iterator[list[ScoredTree]]":
        """Draw n trees of each sentence from ``p(tree | words)``, among the trees that pruning leaves.

        Of a product of grammars each tree is drawn from one member or another.

        Parameters
        ----------
        sentences, n, decisions, run
            As for `n_best`.
        seed : int
            What is drawn depends on it and on the sentence's number alone.
        first : int
            Number of the first sentence.
        **options

        Yields
        ------
        list of ScoredTree
            Of a sentence that the grammar has no tree for a flat one.

        Raises
        ------
        UsageProblem
            When the grammar was learned from tags, or an option does not go with lists.
        """
        given = Keywords("sample_trees", options)
        decisions, run = given.take(GrammarDecisions, decisions), given.take(Run, run).here()
        given.end()
        yield from self._listed(sentences, TreeLists(samples=n, seed=seed), decisions, run, first)

    def _listed(
        self, sentences: Iterable[SomeSentence], lists: TreeLists, decisions: GrammarDecisions, run: Run, first: int
    ) -> "Iterator[list[ScoredTree]]":
        check_lists(lists, decisions, self.has_lists)
        with pool_of(run.threads) as pool:
            for part in batches(sentences, PART):
                words, tags = read_sentences(part)
                given = None if decisions.keep_tags is False else tags
                yield from self.model.listed(words, lists, given, decisions, pool, first)
                first += len(words)

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

    def sentences_of(
        self, text: Parsed, column: str | int | None, decisions: GrammarDecisions
    ) -> tuple[list[list[str]], list[list[str]] | None]:
        """Return the words of the sentences that a reader of `aligntools.formats` returned, and their tags."""
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

    given = Keywords("train_grammar", options)
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


def model_view(model: ConstituentModel, title: str, best: int) -> ModelView:
    """Return the most probable rules of symbols and words of tags; of several members, of the first."""
    own = model.grammar
    frequent = np.add.reduceat(model.frequencies, own.first[:-1])
    plain = own.projected(model.frequencies, np.arange(len(own.symbols)), own.symbols, own.n_tags)
    names = [name.replace(EMPTY, "(no label)") for name in own.symbols]
    rules: dict[int, list[tuple[float, str]]] = {}
    for table, weights in (plain.binary, plain.binary_weights), (plain.unary, plain.unary_weights):
        for (parent, *below), weight in zip(table.tolist(), weights.tolist(), strict=True):
            rules.setdefault(parent, []).append((weight, " ".join(names[k] for k in below)))

    def top(found: list[tuple[float, str]]) -> str:
        return ", ".join(
            f"{name} {weight:.3f}" for weight, name in sorted(found, key=lambda one: (-one[0], one[1]))[:best]
        )

    order = np.argsort(-frequent, kind="stable").tolist()
    symbols = [
        [names[k], f"{frequent[k]:.0f}", int(own.substates[k]), top(rules.get(k, []))]
        for k in order
        if k >= own.n_tags and not names[k].startswith(INTERMEDIATE)
    ]
    words = _words(model)
    tags = [
        [names[k], f"{frequent[k]:.0f}", int(own.substates[k]), top(words.get(k, []))] for k in order if k < own.n_tags
    ]
    settings: list[list[Any]] = [
        ["symbols", f"{len(names)}, of them {own.n_tags} tags"],
        ["substates", model.n_states],
        ["binary rules, unary rules", f"{len(own.binary)}, {len(own.unary)}"],
        ["known words", len(model.lexicon.words)],
        *([name, str(value)] for name, value in model.settings.items() if value is not None),
    ]
    tables = [
        {
            "caption": f"{caption}, the most probable {what}",
            "head": [name, "in training", "substates", what],
            "rows": rows,
            "words": True,
        }
        for rows, name, caption, what in ((symbols, "symbol", "Symbols", "rules"), (tags, "tag", "Tags", "words"))
    ]
    note = "Probabilities are those of the symbols without their substates."
    return ModelView(title, settings, tables=tables, notes=[note])


def _words(model: ConstituentModel) -> dict[int, list[tuple[float, str]]]:
    """Return the words of each tag with their share of it."""
    lexicon = model.lexicon
    names = sorted(lexicon.words, key=lexicon.words.__getitem__)
    sums = np.add.reduceat(lexicon.pair_counts, lexicon.pairs_at[:-1]) if len(lexicon.pairs) else np.zeros(0)
    totals = np.bincount(lexicon.pairs[:, 1], sums, model.grammar.n_tags)
    found: dict[int, list[tuple[float, str]]] = {}
    for (word, tag), count in zip(lexicon.pairs.tolist(), sums.tolist(), strict=True):
        found.setdefault(tag, []).append((count / max(totals[tag], 1e-300), names[word]))
    return found


def induced_view(model: InducedGrammar | NeuralGrammar, title: str, best: int) -> ModelView:
    """Return what a grammar learned without trees: rules of symbols, and words of hidden tags."""
    known = model.vocabulary.words()[1:]
    hidden = isinstance(model, NeuralGrammar)
    under = [f"T{k}" for k in range(model.rules.n_tags)] if hidden else known
    names = [f"X{k}" for k in range(len(model.rules.roots))] + under
    rows = []
    for k, rules in enumerate(model.rules.rules):
        order = np.argsort(-rules, axis=None, kind="stable")[:best]
        pairs = zip(*np.unravel_index(order, rules.shape), strict=True)
        shown = ", ".join(f"{names[a]} {names[b]} {rules[a, b]:.3f}" for a, b in pairs)
        rows.append([names[k], f"{model.rules.roots[k]:.3f}", shown])
    head = ["symbol", "above a sentence", "rules"]
    tables = [{"caption": "Symbols, the most probable rules", "head": head, "rows": rows, "words": True}]
    notes = []
    if isinstance(model, NeuralGrammar):
        words = np.exp(model.prior_heads.words[:, 1:])
        order = np.argsort(-words, axis=1, kind="stable")[:, :best]
        of_tags = [[under[t], ", ".join(f"{known[w]} {words[t, w]:.3f}" for w in own)] for t, own in enumerate(order)]
        what = "tags" if model.needs_tags else "words"
        caption = f"Preterminals, the most probable {what}"
        tables.append({"caption": caption, "head": ["preterminal", what], "rows": of_tags, "words": True})
        if model.sizes.latent:
            notes.append("Probabilities are those of the latent vector 0, the mean of its prior.")
    settings = [[name, str(value)] for name, value in model.settings.items()]
    return ModelView(title, settings, tables=tables, notes=notes)


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
        return induced_view(self.model, title, best)

    @classmethod
    def _of_file(cls, path: "PathLike", verify: bool) -> "InducedConstituentParser":
        from aligntools.formats.models.modelfile import model_kind

        kind = NeuralGrammar if model_kind(path) == NeuralGrammar.KIND else InducedGrammar
        return cls(kind.load(path, verify))  # type: ignore[arg-type]

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
        lists of words, or lists of pairs of word and tag; tags tell what is punctuation. With ``brackets`` trees, as
        for `train_grammar`.
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
    given = Keywords("induce_grammar", options)
    settings = given.take(InducedGrammarSettings, settings)
    reading, run = given.take(TagReading, reading), given.take(Run, run).here()
    given.end()
    of_words, spans = settings.terminals == "words", None
    if settings.brackets:
        if reading != TagReading():
            raise UsageProblem("`brackets` are of trees, whose tags need no `column`, `format` or `separator`")
        trees = plain_trees(trees_given(text, IN_MEMORY)[0])[0]
        spans = [[(i, j) for _, i, j in tree.spans()] for tree in trees]
        leaves = [tree.leaves() for tree in trees]
        read = tagged_tokens_of([[(leaf.word or "", leaf.label) for leaf in own] for own in leaves])
    else:
        read = read_words_or_tags(text, reading) if of_words else read_annotated(text, reading)  # type: ignore[arg-type]
    (check_words if of_words else check_tags)(text, read)
    edges = list(pairwise(read.offsets.tolist()))
    words = [list(map(decoded, read.words[begin:end])) for begin, end in edges]
    tags = None if read.tags is None else [list(map(decoded, read.tags[begin:end])) for begin, end in edges]
    if of_words and tags is not None:  # some may be missing
        tags = [["" if tag == "_" else tag for tag in own] for own in tags]
    tell = reporter(progress)

    def report(number: int, objective: float) -> None:
        tell(Step("induce", number, figures={"stage": "induce", "step": number, "objective": objective}))

    with pool_of(run.threads) as pool:
        if settings.networks:
            from aligntools.constituents.neural.learning import train as train_networks

            found: Any = train_networks(words, tags, settings, pool, report, {"column": reading.tags})
        else:
            from aligntools.constituents.inducing.training import train

            found = train(tags or [], settings, pool, report, {"column": reading.tags}, spans)
    if found is None:
        punctuation = " without its punctuation" if settings.punct == "drop" else ""
        which = f"none has 2 to {settings.max_length} words{punctuation}"
        raise DataError(name_of(text), None, f"no sentence can be learned from: {which}; raise `max_length`")
    model, figures = found
    if settings.terminals == "words":
        figures["types"] = figures.pop("tags")
    tell(Step("trained", figures=figures))
    return InducedConstituentParser(model)
