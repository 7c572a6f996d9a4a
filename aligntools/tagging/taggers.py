"""Tagging from Python: training taggers, with tags or without, and applying them."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from aligntools.formats.annotation.class_lists import ClassList
from aligntools.formats.inputs.annotation import (
    Annotated,
    Annotator,
    Parsed,
    PathLike,
    Sentence,
    batches,
    check_tags,
    check_words,
    lookup_of,
    read_annotated,
    read_untagged,
    tokens_of,
)
from aligntools.formats.text.text_settings import Splitting, TagReading, WordReading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.tagging.settings import INDUCTION_PRESETS, InductionSettings, TagDecisions, TaggerSettings
from aligntools.tagging.state_splits import read_surface
from aligntools.tagging.supervised.partial import Dictionary, observe_text, types_of
from aligntools.tagging.tag_sequences import TagDistributions
from aligntools.tagging.tagged_sentences import TaggedSentence, TaggedSentences
from aligntools.tagging.tagger import TaggerModel
from aligntools.viewing.models import ModelView, ShownAsModel, WordList
from aligntools.words.white_space import in_form

if TYPE_CHECKING:
    from aligntools.ground.keywords import (
        InducingKeywords,
        SentenceKeywords,
        SentencesKeywords,
        TaggerTrainingKeywords,
        TaggingKeywords,
    )


#: Sentences that are tagged at a time.
PART = 4000


@dataclass(frozen=True, eq=False, repr=False)
class Tagger(Annotator, TagDistributions, ShownAsModel):
    """A trained tagger: from `train_tagger`, `induce_tags` or a model file. Several threads can use it at once.

    Attributes
    ----------
    model : TaggerModel
        The arrays; not part of the public interface.
    """

    model: TaggerModel

    def __repr__(self) -> str:
        return f"<Tagger of {len(self.tags)} tags, {self.n_states} states>"

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model learned; see `aligntools.view_model`."""
        return model_view(self.model, title, words, best)

    @classmethod
    def _of_file(cls, path: PathLike, verify: bool) -> "Tagger":
        return cls(TaggerModel.load(path, verify))

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

    def knows(self, words: Iterable[str]) -> list[bool]:
        """Return for each word whether training saw it."""
        return list(self.model.knows([word.encode("utf-8", "surrogateescape") for word in words]).tolist())

    @taking(TagDecisions, Splitting)
    def tag(
        self, sentence: Sentence, decisions: TagDecisions | None = None, **options: "Unpack[SentenceKeywords]"
    ) -> TaggedSentence:
        """Tag a sentence.

        Parameters
        ----------
        sentence : str or sequence of str
            Words between spaces, or a list of words.
        decisions : TagDecisions or None
            The options below, whole.
        **options

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
        given = Keywords("tag", options)
        decisions, split = given.take(TagDecisions, decisions), given.take(Splitting).split
        given.end()
        with pool_of(1) as pool:
            return self._tagged(tokens_of([sentence], split), decisions, pool)[0]

    @taking(TagDecisions, Splitting, Run)
    def tag_batch(
        self,
        sentences: Iterable[Sentence],
        decisions: TagDecisions | None = None,
        *,
        run: Run | None = None,
        batch_size: int = PART,
        unbuffered: bool = False,
        **options: "Unpack[SentencesKeywords]",
    ) -> Iterator[TaggedSentence]:
        """Tag sentences one after the other, in constant memory.

        Parameters
        ----------
        sentences : iterable of str or of sequences of str
            A sentence without words gets no tags, and is returned like the others.
        decisions, run : TagDecisions, Run or None
            The options below, whole. One process does this.
        batch_size : int
            Sentences that are read before the first of them is returned.
        unbuffered : bool
            Yield each sentence before the next is asked for, and remember nothing of it.
        **options

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
        given = Keywords("tag_batch", options)
        decisions, run = given.take(TagDecisions, decisions), given.take(Run, run).here()
        split = given.take(Splitting).split
        given.end()
        with pool_of(run.threads) as pool:
            for part in batches(sentences, 1 if unbuffered else batch_size):
                yield from self._tagged(tokens_of(part, split), decisions, pool, not unbuffered)

    @taking(TagDecisions, Run)
    def tag_text(
        self,
        text: Parsed,
        decisions: TagDecisions | None = None,
        *,
        run: Run | None = None,
        remember: bool = True,
        **options: "Unpack[TaggingKeywords]",
    ) -> TaggedSentences:
        """Tag what a reader of `aligntools.formats` returned.

        Parameters
        ----------
        text : Tokens or Conll
        decisions, run
            As for `tag_batch`.
        remember : bool
            Keep what was found out about unknown words for later calls, up to a bound. It does not change the tags;
            without it a call on a few words takes no time for all the words that the model knows.
        **options

        Returns
        -------
        TaggedSentences
        """
        given = Keywords("tag_text", options)
        decisions, run = given.take(TagDecisions, decisions), given.take(Run, run).here()
        given.end()
        with pool_of(run.threads) as pool:
            return self._tagged(text, decisions, pool, remember)

    def _tagged(self, text: Parsed, decisions: TagDecisions, pool: "Pool", remember: bool = True) -> TaggedSentences:
        words, turned = in_form(text.words, self.model.normal_form)
        ids, probabilities = self.model.tag(words, text.offsets, pool, decisions.decode, remember)
        found = TaggedSentences(text, self.tags, ids, probabilities, self.column, turned, self.model.splitter)
        return found.split() if decisions.split_tokens else found


@taking(TaggerSettings, TagReading, Run)
def train_tagger(
    text: PathLike | Parsed | Iterable[Annotated],
    settings: TaggerSettings | None = None,
    *,
    classes: "ClassList | PathLike | None" = None,
    dictionary: Dictionary | None = None,
    reading: TagReading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[TaggerTrainingKeywords]",
) -> Tagger:
    """Train a tagger on tagged text: a hidden Markov model whose tags are split into latent substates.

    The method is that of Huang, Eidelman & Harper (2009), after Petrov et al. (2006); several models with different
    seeds are combined by the product of their posteriors (Petrov 2010).

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences
        The name of a file (CoNLL, ``word_TAG`` lines, or one word and tag per line), or sentences: lines of
        ``word_TAG``, or lists of pairs of word and tag.
    settings, reading, run : TaggerSettings, TagReading, Run or None
        The options below, whole. One process does this.
    classes : ClassList, str, path or None
        Word classes of plain text (see `word_classes`): features of the words that training has not or seldom seen.
        The tagger keeps them.
    dictionary : path, dict of str to dict of str to float, or None
        Tags that words can have and their weights, as `Projection.dictionary` returns them and ``project --dictionary``
        writes them. A word that is in it has one of its tags there, whatever the text says; needs ``partial``.
    progress : callable, True or None
        Called with a `Step` after each iteration, stage ``em``, with the figures ``member``, ``split``,
        ``iteration``, ``states`` and ``log_likelihood`` (natural logarithm; with ``partial``, split 0 is EM with one
        state a tag), and at the end, stage ``trained``.
    **options

    Returns
    -------
    Tagger
        With ``tokens="surface"`` it has learned what tokens are split into; see `TaggedSentences.split`.

    Raises
    ------
    DataError
        When the file cannot be read or has no words, a word has no tag (unless ``partial``), or nothing is known of
        any word.
    UsageProblem
        When an option is outside its range, or options do not go together.

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
    from aligntools.tagging.supervised.training import train_supervised

    given = Keywords("train_tagger", options)
    settings = given.take(TaggerSettings, settings)
    reading, run = given.take(TagReading, reading), given.take(Run, run).here()
    given.end()
    if settings.relative_frequencies and classes is not None:
        raise UsageProblem("`relative_frequencies` are counted without `classes`")
    if dictionary is not None and not settings.partial:
        raise UsageProblem("`dictionary` goes with `partial`, or with text without tags")
    _check_share(settings.min_share, dictionary)
    tell, learned = reporter(progress), dict[str, Any](column=reading.tags)
    if settings.tokens == "surface":
        tagged, splitter = read_surface(text, reading)
        learned["splits"] = asdict(splitter)
    else:
        tagged = read_annotated(text, reading, settings.partial)
    check_words(text, tagged)
    observed, known = None, dict[str, int]()
    if settings.partial:
        observed, known = observe_text(text, tagged, dictionary, settings.min_share)
    else:
        check_tags(text, tagged)
    lookup = lookup_of(classes, tagged.words)
    names = ("member", "split", "iteration", "states", "log_likelihood")

    def report(*figures: float) -> None:
        tell(Step("em", figures=dict(zip(names, figures, strict=True))))

    given_tags = tagged.words, tagged.offsets, tagged.tags or []
    with pool_of(run.threads) as pool:
        model = train_supervised(*given_tags, pool, settings, report, lookup, observed)
    tagger = Tagger(replace(model, settings=model.settings | learned))
    sizes = {"words": len(tagged.words), "tags": len(tagger.tags), "states": tagger.n_states, "models": tagger.n_models}
    tell(Step("trained", figures=sizes | known))
    return tagger


def _check_share(share: float, dictionary: Dictionary | None) -> None:
    """Refuse `min_share` without a dictionary."""
    if dictionary is None and share != TaggerSettings.min_share:
        raise UsageProblem("`min_share` goes with `dictionary`")


@taking(InductionSettings, WordReading, Run)
def induce_tags(
    text: PathLike | Parsed | Iterable[Sentence],
    settings: InductionSettings | None = None,
    *,
    preset: Literal["paper"] | None = None,
    dictionary: Dictionary | None = None,
    reading: WordReading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[InducingKeywords]",
) -> Tagger:
    """Learn tags from text without tags: a hidden Markov model, by EM, variational Bayes or maximum reconstruction.

    Parameters
    ----------
    text : str, path, Tokens, Conll, or iterable of sentences
        The name of a file (plain text; of tagged text or CoNLL the words are read), or sentences: lines of words
        between spaces, or lists of words.
    settings, reading, run : InductionSettings, WordReading, Run or None
        The options below, whole. One process does this.
    preset : str or None
        ``paper`` says of what is not given what Cheng, Liu & Xu (2017) describe: 100 iterations of EM, then 50 steps of
        maximum reconstruction, and a chain that does not know the end of a sentence.
    dictionary : path, dict of str to dict of str to float, or None
        As for `train_tagger`: words have one of their tags there, words that are not in it any (Merialdo 1994). The
        states have the names of these tags, and ``states`` is not given.
    progress : callable, True or None
        Called with a `Step` after each iteration. Stages ``em`` and ``vb`` have the figures ``restart``,
        ``iteration``, ``objective`` and ``perplexity``; ``mre`` has ``iteration`` and ``objective``, the mean
        ``ln P(x|x)`` of a sentence; ``trained`` is the end.
    **options

    Returns
    -------
    Tagger
        Its tags are the numbers of the states, or with a dictionary its tags.

    Raises
    ------
    DataError
        When the file cannot be read or has no words.
    UsageProblem
        When an option is outside its range, or options do not go together.

    Examples
    --------
    >>> import aligntools as at
    >>> tagger = at.induce_tags(["the dog barks", "a cat sleeps", "the cat barks"], states=3, iterations=20)
    >>> tagger.tags
    ('0', '1', '2')
    >>> len(tagger.tag("a dog sleeps"))
    3
    """
    from aligntools.tagging.induction import train_induced

    if preset is not None and preset not in INDUCTION_PRESETS:
        raise UsageProblem(f"`preset` is one of {', '.join(INDUCTION_PRESETS)}, not {preset}")
    given = Keywords("induce_tags", (INDUCTION_PRESETS[preset] if preset else {}) | options)
    settings = given.take(InductionSettings, settings)
    reading, run = given.take(WordReading, reading), given.take(Run, run).here()
    given.end()
    if preset is not None and settings.estimator != "mre":
        raise UsageProblem(f"`preset={preset}` is of `estimator=mre`, not {settings.estimator}")
    if dictionary is not None and settings.states != InductionSettings.states:
        raise UsageProblem("`states` does not go with `dictionary`, whose tags are the states")
    _check_share(settings.min_share, dictionary)
    tokens, tell = read_untagged(text, reading), reporter(progress)
    check_words(text, tokens)
    types = None if dictionary is None else types_of(text, tokens, dictionary, settings.min_share)

    def report(stage: str, figures: dict[str, Any]) -> None:
        tell(Step(stage, figures=figures))

    with pool_of(run.threads) as pool:
        model, restart = train_induced(tokens.words, tokens.offsets, pool, settings, report, types)
    figures = {"words": len(tokens.words), "types": len(model.words), "states": len(model.tags), "restart": restart}
    tell(Step("trained", figures=figures))
    return Tagger(model)


#: Tags in the table of transitions, at most.
_MOST = 60
#: Probability of a tag given a word from which the word may be one of the tag's own.
_TYPICAL = 0.1


def model_view(model: TaggerModel, title: str, words: int, best: int) -> ModelView:
    """Return what a tagger learned: words of tags, tags that follow each other, tags of the first ``words`` words.

    best: Words given for each tag: those with the largest ``p(tag | word) / p(tag)``.
    """
    member, n = model.coarse or model.members[0], len(model.tags)
    chain, prior = member.chain, member.prior
    groups = np.repeat(np.arange(n), np.diff(model.first_states(chain)))
    tag_prior = np.bincount(groups, prior, n)
    settings: list[list[Any]] = [
        ["tags", n],
        ["known words", len(model.words)],
        ["models that are averaged", len(model.members)],
        ["states", ", ".join(str(len(m.prior)) for m in model.members)],
    ]
    between = np.zeros((n, n))
    share = prior / np.maximum(tag_prior, 1e-300)[groups]
    np.add.at(between, (groups[:, None], groups[None, :]), share[:, None] * chain.transitions)
    kept = np.sort(np.argsort(-tag_prior, kind="stable")[:_MOST])
    rows = between[np.ix_(kept, kept)]
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    _, candidate, state = model.candidates.states(chain.first)
    of_word, shares = model.candidates.rows()[candidate], chain.values * prior[state]
    shares /= np.maximum(np.bincount(of_word, shares, len(model.words)), 1e-300)[of_word]
    of_tag = groups[state]

    def typical(tag: int) -> list[str]:
        """Return the words whose emissions by a tag are the largest compared with those of other tags."""
        words, inverse = np.unique(of_word[of_tag == tag], return_inverse=True)
        p = np.bincount(inverse, shares[of_tag == tag], len(words))
        order = np.argsort(-p, kind="stable")[:best]
        return [model.words[k].decode("utf-8", "surrogateescape") for k in words[order[p[order] >= _TYPICAL]].tolist()]

    table = {
        "caption": "Words that a tag emits most readily",
        "head": ["tag", "share, %", "words"],
        "rows": [
            [model.tags[k], f"{100 * tag_prior[k]:.1f}", " ".join(typical(k))]
            for k in np.argsort(-tag_prior, kind="stable").tolist()
        ],
        "words": True,
    }
    names = [model.tags[k] for k in kept.tolist()]
    matrix = ("Tags that follow each other: the next tag's probability in percent", names, names, rows.tolist())
    lists, notes = [], []
    if words:
        known = [word.decode("utf-8", "surrogateescape") for word in model.words[:words]]
        of_known: list[dict[str, float]] = [{} for _ in known]
        end = int(np.searchsorted(of_word, len(known)))
        for row, tag, p in zip(*(values[:end].tolist() for values in (of_word, of_tag, shares)), strict=True):
            name = model.tags[tag]
            of_known[row][name] = of_known[row].get(name, 0.0) + p
        pairs = [
            [[tag, p] for tag, p in sorted(own.items(), key=lambda pair: -pair[1]) if p >= 1e-4] for own in of_known
        ]
        lists = [WordList("known words", "tag", known, pairs)]
        if len(known) < len(model.words):
            notes.append(f"{len(known):,} of {len(model.words):,} known words.")
    return ModelView(title, settings, tables=[table], words=lists, matrix=matrix, notes=notes)
