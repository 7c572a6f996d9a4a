"""What a grammar of constituents says of sentences besides the best tree: the best ones, and trees that are drawn."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from aligntools.constituents.settings import GrammarDecisions, TreeLists
from aligntools.formats.inputs.annotation import decoded, tagged_tokens_of, tokens_of
from aligntools.formats.inputs.annotators import batches
from aligntools.formats.inputs.texts import SomeSentence
from aligntools.ground.declarations import Given, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.run import Run

if TYPE_CHECKING:
    from aligntools.constituents.derivation_lists import ScoredTree
    from aligntools.ground.keywords import ListingKeywords

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


class TreeDistributions:
    """Methods of a grammar of constituents: the best trees of a sentence, and trees that are drawn."""

    model: Any
    #: Whether there are any.
    has_lists: ClassVar[bool] = True

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
        given = Given("n_best", options)
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
        given = Given("sample_trees", options)
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
