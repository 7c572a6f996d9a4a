"""Translation from Python: systems of a grammar, a language model and weights."""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Unpack

from aligntools.formats.annotation.tagged_text import Tokens
from aligntools.formats.inputs.sentences import PathLike, Sentence
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.text_settings import Split, Splitting
from aligntools.formats.translation.derivations import DerivedSentence as DerivedSentence
from aligntools.formats.translation.plf import WordLattice
from aligntools.ground.declarations import Keywords, range_of, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.run import Run
from aligntools.store.job_engines import mapping
from aligntools.translating.grammars import Grammar as Grammar
from aligntools.translating.grammars import extract_grammar as extract_grammar
from aligntools.translating.grammars import filter_grammar as filter_grammar
from aligntools.translating.language_models import LanguageModel as LanguageModel
from aligntools.translating.language_models import train_lm as train_lm
from aligntools.translating.lattices import Input, LatticeInput, lattice_input, stream_input, without_arcs
from aligntools.translating.settings import DecoderSettings, LatticeSettings, TranslationLists
from aligntools.translating.translation_weights import (
    TranslationWeights,
    WeightsInput,
    default_weights,
    in_order,
    weights_of,
    with_bigrams,
)

if TYPE_CHECKING:
    from aligntools.ground.keywords import LatticeKeywords, RunKeywords, TranslatorKeywords
    from aligntools.ground.parallel import Pool
    from aligntools.store.stores import Kept
    from aligntools.translating.decoding.decoder import EncodedText, System
    from aligntools.translating.forest.candidates import CandidateLists
    from aligntools.translating.forest.hypergraph import Hypergraph

_COUNT = range_of(TranslationLists, "n_best")
#: Sentences worked at a time.
PART = 500
#: Sentences of a worker's job, but for samples, which depend on where parts begin.
JOB = 100


@dataclass(frozen=True)
class Translation:
    """A translation of one sentence.

    Attributes
    ----------
    words : tuple of str
    score : float
        Weights times features of the derivation.
    features : dict of str to float
        Of the derivation, those that are not 0; empty where they were not asked for.
    """

    words: tuple[str, ...]
    score: float
    features: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join(self.words)


@dataclass(frozen=True, eq=False, repr=False)
class Hypergraphs:
    """Packed derivations of some sentences: all that the search kept."""

    arrays: "Hypergraph"
    features: list[str]
    _system: "System"
    _sentences: "EncodedText"
    _first: int
    _threads: "int | Pool | None"

    def __len__(self) -> int:
        return len(self.arrays)

    def __repr__(self) -> str:
        return f"<Hypergraphs of {len(self)} sentences, {self.arrays.edges} edges>"

    def n_best(self, n: int) -> list[list[Translation]]:
        """Return the n best distinct translations of each sentence, best first."""
        _COUNT.check("n", n)
        from aligntools.translating.forest.derivations import k_best
        from aligntools.translating.forest.hypergraph import edge_scores

        with pool_of(self._threads) as pool:
            scores = edge_scores(self.arrays, self._system.weights, pool=pool)
            return self._listed(k_best(self.arrays, scores, len(self.features), n, pool=pool), 1)

    def derivations(self, n: int = 1) -> list[DerivedSentence]:
        """Return each sentence with its n best derivations that differ in their words: rules, spans, scores."""
        _COUNT.check("n", n)
        if self._system.arc_features:
            raise UsageProblem("derivations are shown over the words of sentences, and these are of lattices")
        from aligntools.translating.forest.nbest import derivation_lists

        with pool_of(self._threads) as pool:
            return derivation_lists(self._system, self.arrays, self._sentences, n, pool)

    def samples(self, n: int, *, gamma: float = 1.0, seed: int = 1) -> list[list[Translation]]:
        """Return n derivations of each sentence, drawn in proportion to ``exp(gamma * score)``."""
        _COUNT.check("n", n)
        TranslationLists(samples=n, gamma=gamma, seed=seed).checked()
        from aligntools.translating.forest.derivations import samples
        from aligntools.translating.forest.hypergraph import edge_scores

        own = seed + (self._first << 32)  # other parts of the text, other samples
        with pool_of(self._threads) as pool:
            scores = edge_scores(self.arrays, self._system.weights, gamma, pool=pool)
            return self._listed(samples(self.arrays, scores, len(self.features), n, own, pool=pool), n)

    def lines(self) -> Iterator[bytes]:
        """Yield a line of JSON for each sentence, as ``translate --hypergraphs`` writes it."""
        from aligntools.formats.translation.derivations import format_lines

        name = self._system.names(self._sentences)
        return format_lines(self.arrays, self.features, lambda word: name([word])[0].decode("utf-8", "replace"))

    def _listed(self, found: "CandidateLists", blank: int) -> list[list[Translation]]:
        """Return the candidates of each sentence, with their own scores; a blank line has this many without words."""
        name, offsets, lists = self._system.names(self._sentences), self._sentences.offsets, list[list[Translation]]()
        for s in range(len(self)):
            if offsets[s] == offsets[s + 1]:
                lists.append([Translation((), 0.0)] * blank)
                continue
            own = list[Translation]()
            for c in range(found.offsets[s], found.offsets[s + 1]):
                words = name(found.words[found.word_offsets[c] : found.word_offsets[c + 1]])
                span = slice(found.feature_offsets[c], found.feature_offsets[c + 1])
                ids, values = found.feature_ids[span], found.feature_values[span]
                score = float(self._system.weights[ids] @ values.astype(float))
                named = {self.features[k]: x for k, x in zip(ids.tolist(), values.tolist(), strict=True)}
                own.append(Translation(_decoded(words), score, named))
            lists.append(own)
        return lists


def _decoded(words: list[bytes]) -> tuple[str, ...]:
    return tuple(word.decode("utf-8", "surrogateescape") for word in words)


@taking(DecoderSettings, Splitting)
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Translator:
    """A translation system: a hierarchical grammar, a language model and weights.

    Sentences are searched by CKY with cube pruning (Chiang 2007; Huang & Chiang 2007). Words that the grammar does not
    know are passed through. A translator does not change, can be pickled, and may be used from several threads.

    Parameters
    ----------
    grammar : Grammar or path
    lm : LanguageModel, path or None
        Of the target language; None translates without one.
    weights : TranslationWeights, mapping of str to float, path, or None
        One for each feature; None takes untuned weights.
    tags : path, or mapping of str to str, optional
        Tagged target text, or each word's tag: for weights with bigrams of target sides over tags.
    settings : DecoderSettings or None
        The options below, whole.
    threads : int, optional
        All cores if not given; does not change the translations.
    **options

    Raises
    ------
    DataError
        When a file cannot be read, or weights and features do not fit each other.

    Examples
    --------
    >>> import aligntools as at
    >>> grammar = at.extract_grammar(["das Haus", "ein Hund"], ["the house", "a dog"], ["0-0 1-1", "0-0 1-1"])
    >>> translator = at.Translator(grammar, at.train_lm(["the house", "a dog", "the dog"], order=2))
    >>> str(translator.translate("das Haus"))
    'the house'
    >>> [str(translation) for translation in translator.translate_batch(["das Hund", "", "Katze"])]
    ['the dog', '', 'Katze']
    """

    threads: "int | Pool | None"
    _split: Split | None
    _system: "System"
    _lattices: LatticeInput | None
    _arc_weights: Mapping[str, float]

    def __init__(
        self,
        grammar: Grammar | PathLike,
        lm: LanguageModel | PathLike | None = None,
        weights: WeightsInput = None,
        settings: DecoderSettings | None = None,
        *,
        tags: PathLike | Mapping[str, str] | None = None,
        threads: "int | Pool | None" = None,
        **options: "Unpack[TranslatorKeywords]",
    ) -> None:
        from aligntools.translating.decoding.decoder import System
        from aligntools.translating.decoding.system_tables import feature_names

        keywords = Keywords("Translator", options)
        settings, split = keywords.take(DecoderSettings, settings), keywords.take(Splitting).split
        keywords.end()
        given = weights_of(weights)  # first: wrong ones are soon found
        of_arcs: dict[str, float] = {}
        if given is not None:
            of_rules, of_arcs = without_arcs(given.features)
            given = TranslationWeights(of_rules, given.about)
        rules = (grammar if isinstance(grammar, Grammar) else Grammar.load(grammar)).rules
        if tags is not None:
            rules = with_bigrams(rules, tags, None if given is None else given.features)
        names = feature_names(rules)
        known = (
            default_weights(names) if given is None else in_order(name_of(weights, "<weights>"), given.features, names)
        )
        model = lm if isinstance(lm, LanguageModel) or lm is None else LanguageModel.load(lm)
        system = System(rules, model.ngrams if model else None, known, settings)
        vars(self).update(threads=threads, _split=split, _system=system, _lattices=None, _arc_weights=of_arcs)

    def __repr__(self) -> str:
        return f"<Translator with {len(self._system.grammar)} rules, {len(self.features)} features>"

    @property
    def features(self) -> list[str]:
        """Names of the features, in order."""
        return list(self._system.features)

    @property
    def weights(self) -> TranslationWeights:
        """The weight of each feature."""
        return TranslationWeights(dict(zip(self.features, self._system.weights.tolist(), strict=True)))

    def translate(self, sentence: Sentence | WordLattice) -> Translation:
        """Translate one sentence.

        Parameters
        ----------
        sentence : str or list of str
            A line of words between spaces, or its words; a `WordLattice` or PLF after `for_lattices`.

        Returns
        -------
        Translation
            With the features of its derivation.
        """
        return next(self.translate_batch([sentence], features=True))

    def with_threads(self, threads: "int | Pool | None") -> "Translator":
        """Return the same system, working with this many threads."""
        return self._other(threads=threads)

    @taking(LatticeSettings)
    def for_lattices(
        self, settings: LatticeSettings | Literal["plf", "cn"] = "plf", **options: "Unpack[LatticeKeywords]"
    ) -> "Translator":
        """Return the same system for lattices: its text is PLF or confusion networks, or consists of `WordLattice`.

        Parameters
        ----------
        settings : LatticeSettings or str
            The options below, whole, or the first of them.
        **options

        Examples
        --------
        >>> import aligntools as at
        >>> grammar = at.extract_grammar(["das Haus", "ein Hund"], ["the house", "a dog"], ["0-0 1-1", "0-0 1-1"])
        >>> translator = at.Translator(grammar, at.train_lm(["the house", "a dog"], order=2)).for_lattices()
        >>> str(translator.translate("((('ein',0.7,1),('das',0.3,1),),(('Hund',1,1),),)"))
        'a dog'
        """
        given = Keywords("for_lattices", options)
        whole = settings if isinstance(settings, LatticeSettings) else LatticeSettings(input=settings)
        settings = given.take(LatticeSettings, whole)
        given.end()
        if settings.input == "text":
            raise UsageProblem("lattices are `input=plf` or `input=cn`")
        how, known = lattice_input(settings, self._arc_weights)
        system = self._system.for_arcs(known)
        return self._other(_system=system, _lattices=how)

    def _other(self, **changed: Any) -> "Translator":
        """Return a translator that is the same but for these attributes."""
        other = copy(self)
        vars(other).update(changed)
        return other

    def _parts(self, text: Input, size: int) -> Iterator[Tokens]:
        return stream_input(text, size, self._lattices, self._split)

    @taking(Run)
    def translate_batch(
        self,
        text: Input,
        *,
        features: bool = False,
        unbuffered: bool = False,
        run: Run | None = None,
        **options: "Unpack[RunKeywords]",
    ) -> Iterator[Translation]:
        """Translate sentences one after another; text of any length, which is read as it is needed.

        Parameters
        ----------
        text : path, or iterable of sentences
        features : bool
            Return the features of each derivation too, which takes longer.
        unbuffered : bool
            Yield each translation before the next sentence is asked for.
        run : Run or None
            The options below, whole. None of them changes the translations; without ``threads`` it is the translator's.
        **options
        """
        run = self._run("translate_batch", run, options)
        if run.asked:
            if unbuffered:
                raise UsageProblem("`unbuffered` answers each line in this process; leave out `workers` and `cluster`")
            yield from self._by_workers(run, self._parts(text, JOB), "translate_batch", features=features)
            return
        for lines in self._parts(text, 1 if unbuffered else PART):
            sentences = self._system.encode_text(lines)
            name = self._system.names(sentences)
            with pool_of(run.threads) as pool:
                found = self._system.translate(sentences, pool)
                vectors = self._system.derivation_features(sentences, pool) if features else None
            scores = found.scores.tolist()
            for k, (a, b) in enumerate(pairwise(found.offsets.tolist())):
                own = {} if vectors is None else {self._system.features[f]: x for f, x in vectors[k]}
                yield Translation(_decoded(name(found.tokens[a:b])), scores[k], own)

    def hypergraphs(self, text: Input, *, first: int = 0) -> Iterator[Hypergraphs]:
        """Return all derivations that the search keeps, in parts of some hundred sentences.

        Parameters
        ----------
        text : path, or iterable of sentences
        first : int
            Number of the first sentence; samples depend on it.
        """
        for lines in self._parts(text, PART):
            sentences = self._system.encode_text(lines)
            with pool_of(self.threads) as pool:
                forest = self._system.forest(sentences, pool)
            yield Hypergraphs(forest, self.features, self._system, sentences, first, self.threads)
            first += len(lines)

    @taking(Run)
    def n_best(
        self, text: Input, n: int, *, run: Run | None = None, **options: "Unpack[RunKeywords]"
    ) -> Iterator[list[Translation]]:
        """Return the n best distinct translations of each sentence, best first, with their features.

        Parameters
        ----------
        text : path, or iterable of sentences
        n : int
        run : Run or None
            As for `translate_batch`.
        **options
        """
        run = self._run("n_best", run, options)
        if run.asked:
            yield from self._by_workers(run, self._parts(text, JOB), "n_best", n=n)
            return
        for part in self.with_threads(run.threads).hypergraphs(text):
            yield from part.n_best(n)

    def derivations(self, text: Input, n: int = 1) -> Iterator[DerivedSentence]:
        """Return each sentence with its n best derivations that differ in their words: rules, spans, scores.

        Parameters
        ----------
        text : path, or iterable of sentences
        n : int
        """
        for part in self.hypergraphs(text):
            yield from part.derivations(n)

    @taking(Run)
    def samples(
        self,
        text: Input,
        n: int,
        *,
        gamma: float = TranslationLists.gamma,
        seed: int = TranslationLists.seed,
        run: Run | None = None,
        **options: "Unpack[RunKeywords]",
    ) -> Iterator[list[Translation]]:
        """Return n derivations of each sentence, drawn in proportion to ``exp(gamma * score)``, with their features.

        Parameters
        ----------
        text : path, or iterable of sentences
        n : int
        gamma : float
            Factor of the scores.
        seed : int
        run : Run or None
            As for `translate_batch`.
        **options
        """
        run = self._run("samples", run, options)
        if run.asked:
            yield from self._by_workers(run, self._parts(text, PART), "samples", n=n, gamma=gamma, seed=seed)
            return
        for part in self.with_threads(run.threads).hypergraphs(text):
            yield from part.samples(n, gamma=gamma, seed=seed)

    def _run(self, function: str, run: Run | None, options: Mapping[str, Any]) -> Run:
        """Return how a call's work is done; with the translator's threads where it does not say."""
        run = Keywords(function, options).only(Run, run)
        return run if run.threads is not None else replace(run, threads=self.threads)

    def _by_workers(self, run: Run, parts: Iterator[Tokens], method: str, **how: Any) -> Iterator[Any]:
        """Yield what workers return for each part by the method of that name, item by item."""
        with pool_of(run.threads) as pool, mapping(run, pool) as found:
            kept = found.keep(self.with_threads(None))
            for items in found.run("translating", partial(_answers, kept, method, how), enumerate(parts)):
                yield from items


def _answers(translator: "Kept", method: str, how: dict[str, Any], part: tuple[int, Tokens], pool: "Pool") -> list[Any]:
    """Call a method of `Translator` in a worker; samples depend on the number of their first sentence."""
    number, lines = part
    own = translator.get().with_threads(pool)
    if method == "samples":
        own = next(own.hypergraphs(lines, first=number * PART))
        return list(own.samples(**how))
    return list(getattr(own, method)(lines, **how))
