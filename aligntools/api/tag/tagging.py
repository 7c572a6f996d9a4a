"""Tagging from Python: training taggers, with tags or without, and applying them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from aligntools.api.given.annotated import (
    IN_MEMORY,
    Annotated,
    Parsed,
    PathLike,
    Sentence,
    as_bytes,
    check_tags,
    check_words,
    lookup_of,
    read_annotated,
    read_untagged,
    tokens_of,
)
from aligntools.api.given.notebooks import ShownAsModel
from aligntools.api.given.texts import Split
from aligntools.api.running.progress import Progress, Step, reporter
from aligntools.api.running.threads import pool_of
from aligntools.api.tag.partial_tags import Dictionary, observe_text, types_of
from aligntools.api.tag.surface_tokens import read_surface
from aligntools.api.tag.tag_sequences import TagDistributions
from aligntools.api.tag.tagged_sentences import TaggedSentence, TaggedSentences
from aligntools.formats.annotation.class_lists import ClassList
from aligntools.formats.text.memory_text import sentences_given
from aligntools.ground.errors import UsageProblem
from aligntools.tagging.settings import MIN_SHARE, InductionSettings, TaggerSettings
from aligntools.words.normal_forms import in_form

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool
    from aligntools.tagging.tagger import TaggerModel

Decoder: TypeAlias = Literal["posterior", "viterbi"]
TextFormat: TypeAlias = Literal["auto", "conll", "tagged", "columns", "text"]
Estimator: TypeAlias = Literal["em", "vb", "mre"]

#: Sentences that are tagged at a time.
PART = 4000
_SETTINGS, _INDUCTION = TaggerSettings(), InductionSettings()


@dataclass(frozen=True, eq=False, repr=False)
class Tagger(TagDistributions, ShownAsModel):
    """A trained tagger: from `train_tagger`, `induce_tags` or a model file. Several threads can use it at once.

    Attributes
    ----------
    model : TaggerModel
        The arrays; not part of the public interface.
    """

    model: "TaggerModel"

    def __repr__(self) -> str:
        return f"<Tagger of {len(self.tags)} tags, {self.n_states} states>"

    @classmethod
    def load(cls, path: PathLike, *, verify: bool = True) -> "Tagger":
        """Read a model file.

        Parameters
        ----------
        path : str or path
        verify : bool
            Check the checksum, which says whether the file is what was written.

        Raises
        ------
        ModelError
            When it is not the model of a tagger, or damaged.
        """
        from aligntools.tagging.tagger import TaggerModel

        return cls(TaggerModel.load(path, verify))

    def save(self, path: PathLike) -> None:
        """Write a model file; it appears whole or not at all.

        Raises
        ------
        DataError
            When it cannot be written.
        """
        self.model.save(path)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tagset; numbers from 0 where the tags were induced."""
        return tuple(self.model.tags)

    @property
    def n_states(self) -> int:
        """Number of states of the largest model."""
        return max(len(member.prior) for member in self.model.members)

    @property
    def n_models(self) -> int:
        """Number of models whose posteriors are multiplied."""
        return len(self.model.members)

    @property
    def column(self) -> str | int:
        """Column of CoNLL that the tags were learned from."""
        column: str | int = self.model.settings.get("column", "upos")
        return column

    def knows(self, words: Iterable[str]) -> list[bool]:
        """Return for each word whether training saw it."""
        found: list[bool] = self.model.knows([word.encode("utf-8", "surrogateescape") for word in words]).tolist()
        return found

    def tag(self, sentence: Sentence, *, decoder: Decoder = "posterior") -> TaggedSentence:
        """Tag a sentence.

        Parameters
        ----------
        sentence : str or sequence of str
            Words between spaces, or a list of words.
        decoder : {"posterior", "viterbi"}
            Each word's most probable tag, or the most probable sequence of tags.

        Returns
        -------
        TaggedSentence

        Examples
        --------
        >>> import aligntools as at
        >>> tagger = at.train_tagger(["the_DET dog_NOUN barks_VERB", "a_DET cat_NOUN sleeps_VERB"], latent=1)
        >>> list(tagger.tag("the cat barks"))
        [('the', 'DET'), ('cat', 'NOUN'), ('barks', 'VERB')]
        """
        return self.tag_text(tokens_of([sentence]), decoder=decoder, threads=1)[0]

    def tag_batch(
        self,
        sentences: Iterable[Sentence],
        *,
        decoder: Decoder = "posterior",
        threads: "int | Pool | None" = None,
        batch_size: int = PART,
        unbuffered: bool = False,
    ) -> Iterator[TaggedSentence]:
        """Tag sentences as they come, in constant memory.

        Parameters
        ----------
        sentences : iterable of str or of sequences of str
            A sentence without words gets no tags, and is returned like the others.
        decoder
            As for `tag`.
        threads : int or None
            None: all cores. The result does not depend on it.
        batch_size : int
            Sentences that are read before the first of them is returned.
        unbuffered : bool
            Yield each sentence before the next is asked for, and remember nothing of it.

        Yields
        ------
        TaggedSentence

        Examples
        --------
        >>> import aligntools as at
        >>> tagger = at.train_tagger(["the_DET dog_NOUN barks_VERB", "a_DET cat_NOUN sleeps_VERB"], latent=1)
        >>> [str(s) for s in tagger.tag_batch(["the cat", "", "a dog"])]
        ['the_DET cat_NOUN', '', 'a_DET dog_NOUN']
        """
        rest = sentences_given(sentences, IN_MEMORY)
        with pool_of(threads) as pool:
            while part := list(islice(rest, 1 if unbuffered else batch_size)):
                yield from self.tag_text(tokens_of(part), decoder=decoder, threads=pool, remember=not unbuffered)

    def tag_text(
        self,
        text: Parsed,
        *,
        decoder: Decoder = "posterior",
        threads: "int | Pool | None" = None,
        remember: bool = True,
    ) -> TaggedSentences:
        """Tag what a reader of `aligntools.formats` returned.

        Parameters
        ----------
        text : Tokens or Conll
        decoder, threads
            As for `tag_batch`.
        remember : bool
            Keep what was found out about unknown words for later calls, up to a bound. It does not change the tags;
            without it a call on a few words takes no time for all the words that the model knows.

        Returns
        -------
        TaggedSentences
        """
        with pool_of(threads) as pool:
            words, turned = in_form(text.words, self.model.normal_form)
            ids, probabilities = self.model.tag(words, text.offsets, pool, decoder, remember)
        return TaggedSentences(text, self.tags, ids, probabilities, self.column, turned, self.model.splitter)


def train_tagger(
    text: PathLike | Parsed | Iterable[Annotated],
    *,
    column: str | int = "upos",
    format: TextFormat = "auto",
    separator: str | bytes | None = None,
    latent: int = _SETTINGS.latent,
    members: int = _SETTINGS.members,
    classes: "ClassList | PathLike | None" = None,
    iterations: int = _SETTINGS.iterations,
    partial: bool = False,
    dictionary: Dictionary | None = None,
    min_share: float = MIN_SHARE,
    relative_frequencies: bool = False,
    seed: int = _SETTINGS.seed,
    tokens: Literal["words", "surface"] = "words",
    threads: "int | Pool | None" = None,
    progress: Progress = None,
) -> Tagger:
    """Train a tagger on tagged text: a hidden Markov model whose tags are split into latent substates.

    The method is that of Huang, Eidelman & Harper (2009), after Petrov et al. (2006); several models with different
    seeds are combined by the product of their posteriors (Petrov 2010).

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences
        The name of a file (CoNLL, ``word_TAG`` lines, or one word and tag per line), or sentences: lines of
        ``word_TAG``, or lists of pairs of word and tag.
    column : str or int
        Column of CoNLL with the tags, by name or number from 1.
    format : {"auto", "conll", "tagged", "columns"}
        Format of the file; ``auto`` looks at its first lines.
    separator : str or None
        Between word and tag. None: ``_`` or ``/``, whichever the text has.
    latent : int
        Largest number of substates of a tag; 1 is the plain bigram tagger.
    members : int
        Number of models.
    classes : ClassList, str, path or None
        Word classes of plain text (see `word_classes`): features of the words that training has not or seldom seen.
        The tagger keeps them.
    iterations : int
        Iterations of EM in each round of splits.
    partial : bool
        Words may have no tag, ``_``, or a set of them, ``NOUN|VERB``: what is not known is summed over.
    dictionary : path, dict of str to dict of str to float, or None
        Tags that words can have and their weights, as `Projection.dictionary` returns them and ``project --dictionary``
        writes them. A word that is in it has one of its tags there, whatever the text says; needs ``partial``.
    min_share : float
        Tags with a smaller share of their word's weight are left out of the dictionary.
    relative_frequencies : bool
        Maximum likelihood of a chain with one state a tag: counts over counts, nothing smoothed; needs ``latent=1``.
        An unknown word has the probability 0, and gets the tag that its neighbours ask for.
    seed : int
        The same seed gives the same model.
    tokens : {"words", "surface"}
        What is learned of CoNLL: its words, or surface tokens. A range such as *au* has the tags of its words with a
        plus between, ``ADP+DET``, and the tagger learns what it is split into; see `TaggedSentences.split`.
    threads : int or None
        None: all cores. The result does not depend on it.
    progress : callable, True or None
        Called with a `Step` after each iteration, stage ``em``, with the figures ``member``, ``split``,
        ``iteration``, ``states`` and ``log_likelihood`` (natural logarithm; with ``partial``, split 0 is EM with one
        state a tag), and at the end, stage ``trained``.

    Returns
    -------
    Tagger

    Raises
    ------
    DataError
        When the file cannot be read or has no words, a word has no tag (unless ``partial``), or nothing is known of
        any word.
    UsageProblem
        When an option makes no sense.

    Examples
    --------
    >>> import aligntools as at
    >>> tagger = at.train_tagger("data/samples/en.tagged", latent=1)
    >>> str(tagger.tag("My sister leaves ."))
    'My_PRON sister_NOUN leaves_VERB ._PUNCT'
    >>> tagger = at.train_tagger(["the_DET dog__", "a_DET dog_NOUN", "dogs__ bark_NOUN|VERB"], partial=True, latent=1,
    ...                          dictionary={"bark": {"VERB": 3, "NOUN": 1}, "dogs": {"NOUN": 1}})
    >>> str(tagger.tag("the dogs bark"))
    'the_DET dogs_NOUN bark_VERB'
    """
    from dataclasses import replace

    from aligntools.tagging.supervised.training import train_supervised

    settings = TaggerSettings(
        latent=latent, members=members, iterations=iterations, seed=seed, relative_frequencies=relative_frequencies
    ).checked()
    if relative_frequencies and (partial or classes is not None):
        raise UsageProblem("relative frequencies are counted in text whose tags are all known, without classes")
    if dictionary is not None and not partial:
        raise UsageProblem("a dictionary needs partial tags, or text without tags")
    if partial and tokens == "surface":
        raise UsageProblem("tags that are not all known are those of words, not of surface tokens")
    tell, learned = reporter(progress), dict[str, Any](column=column)
    if tokens == "surface":
        tagged, splitter = read_surface(text, column, format)
        learned["splits"] = splitter.kept()
    else:
        tagged = read_annotated(text, column, format, as_bytes(separator), partial)
    check_words(text, tagged)
    observed, known = None, dict[str, int]()
    if partial:
        observed, known = observe_text(text, tagged, dictionary, min_share)
    else:
        check_tags(text, tagged)
    lookup = lookup_of(classes, tagged.words)
    names = ("member", "split", "iteration", "states", "log_likelihood")

    def report(*figures: float) -> None:
        tell(Step("em", figures=dict(zip(names, figures, strict=True))))

    with pool_of(threads) as pool:
        model = train_supervised(
            tagged.words, tagged.offsets, tagged.tags or [], pool, settings, report, lookup, observed
        )
    tagger = Tagger(replace(model, settings=model.settings | learned))
    sizes = {"words": len(tagged.words), "tags": len(tagger.tags), "states": tagger.n_states, "models": tagger.n_models}
    tell(Step("trained", figures=sizes | known))
    return tagger


def induce_tags(
    text: PathLike | Parsed | Iterable[Sentence],
    *,
    format: TextFormat = "auto",
    separator: str | bytes | None = None,
    split: Split = "spaces",
    states: int = _INDUCTION.states,
    estimator: Estimator = "em",
    iterations: int = _INDUCTION.iterations,
    mre_iterations: int = _INDUCTION.mre_iterations,
    tolerance: float = _INDUCTION.tolerance,
    transition_prior: float | None = _INDUCTION.transition_prior,
    emission_prior: float | None = _INDUCTION.emission_prior,
    restarts: int = _INDUCTION.restarts,
    stop: bool = _INDUCTION.stop,
    dictionary: Dictionary | None = None,
    min_share: float = MIN_SHARE,
    seed: int = _INDUCTION.seed,
    threads: "int | Pool | None" = None,
    progress: Progress = None,
) -> Tagger:
    """Learn tags from text without tags: a hidden Markov model, by EM, variational Bayes or maximum reconstruction.

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences
        The name of a file (plain text; of tagged text or CoNLL the words are read), or sentences: lines of words
        between spaces, or lists of words.
    format, separator
        As for `train_tagger`; ``text`` is plain text.
    split : str
        What separates words in plain text, as for `read_bitext`.
    states : int
        Number of tags.
    estimator : {"em", "vb", "mre"}
        EM, variational Bayes, or EM and then maximum reconstruction (Cheng, Liu & Xu 2017).
    iterations : int
        Largest number of iterations of EM or variational Bayes.
    mre_iterations : int
        Steps of maximum reconstruction; only for ``mre``.
    tolerance : float
        Stop when an iteration gains less than this, relative to the objective.
    transition_prior, emission_prior : float or None
        EM: added to the expected counts. Variational Bayes: parameters of the Dirichlet priors. None: 0 for EM, 0.1
        for variational Bayes.
    restarts : int
        Random starts; the one with the highest objective is kept.
    stop : bool
        Whether the end of a sentence is part of the model. The paper's chain does not have it; ``estimator="mre",
        tolerance=0, stop=False`` is its configuration.
    dictionary, min_share
        As for `train_tagger`: words have one of their tags there, words that are not in it any (Merialdo 1994). The
        states have the names of these tags; ``states`` does not count.
    seed, threads
        As for `train_tagger`.
    progress : callable, True or None
        Called with a `Step` after each iteration. Stages ``em`` and ``vb`` have the figures ``restart``,
        ``iteration``, ``objective`` and ``perplexity``; ``mre`` has ``iteration`` and ``objective``, the mean
        ``ln P(x|x)`` of a sentence; ``trained`` is the end.

    Returns
    -------
    Tagger
        Its tags are the numbers of the states, or with a dictionary its tags.

    Raises
    ------
    DataError
        When the file cannot be read or has no words.
    UsageProblem
        When an option makes no sense.

    Examples
    --------
    >>> import aligntools as at
    >>> tagger = at.induce_tags(["the dog barks", "a cat sleeps", "the cat barks"], states=3, iterations=20)
    >>> tagger.tags
    ('0', '1', '2')
    >>> len(tagger.tag("a dog sleeps"))
    3
    """
    from aligntools.tagging.induced import train_induced

    settings = InductionSettings(
        states, estimator, iterations, mre_iterations, tolerance, transition_prior, emission_prior, restarts, stop, seed
    ).checked()
    tokens, tell = read_untagged(text, format, as_bytes(separator), split), reporter(progress)
    check_words(text, tokens)
    types = None if dictionary is None else types_of(text, tokens, dictionary, min_share)

    def report(stage: str, figures: dict[str, Any]) -> None:
        tell(Step(stage, figures=figures))

    with pool_of(threads) as pool:
        model, restart = train_induced(tokens.words, tokens.offsets, pool, settings, report, types)
    figures = {"words": len(tokens.words), "types": len(model.words), "states": len(model.tags), "restart": restart}
    tell(Step("trained", figures=figures))
    return Tagger(model)
