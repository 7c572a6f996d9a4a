"""Translation from Python: systems of a grammar, a language model and weights."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

from aligntools.api.given.naming import name_of
from aligntools.api.given.sentences import PathLike, Sentence
from aligntools.api.running.engines import Where, mapping
from aligntools.api.running.threads import pool_of
from aligntools.api.translate.grammars import Grammar as Grammar
from aligntools.api.translate.grammars import extract_grammar as extract_grammar
from aligntools.api.translate.grammars import filter_grammar as filter_grammar
from aligntools.api.translate.language_models import LanguageModel as LanguageModel
from aligntools.api.translate.language_models import train_lm as train_lm
from aligntools.api.translate.lattices import (
    Input,
    LatticeFormat,
    LatticeInput,
    WordLattice,
    lattice_input,
    stream_input,
    without_arcs,
)
from aligntools.api.views.showing import ShownAsWeights
from aligntools.formats.translation.derivations import DerivedSentence as DerivedSentence
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.ranges import SEED
from aligntools.ground.running import Run
from aligntools.translating.settings import CANDIDATES, SAMPLING_GAMMA, DecoderSettings
from aligntools.translating.text import Lines

if TYPE_CHECKING:
    from aligntools.formats.translation.grammar import GrammarRules
    from aligntools.ground.parallel import Pool
    from aligntools.store.objects import Kept
    from aligntools.translating.decoding.decoder import Sentences, System
    from aligntools.translating.forest.hypergraph import Hypergraph
    from aligntools.translating.forest.nbest import Candidate

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


@dataclass(frozen=True)
class TranslationWeights(ShownAsWeights):
    """Weights of a translation system, by the names of its features.

    Attributes
    ----------
    features : dict of str to float
    about : dict
        How they were learned.

    Examples
    --------
    >>> import aligntools as at
    >>> at.TranslationWeights({"lm": 1.0, "word-penalty": 0.5}).features["lm"]
    1.0
    """

    features: Mapping[str, float]
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, path: PathLike) -> "TranslationWeights":
        """Read weights from a file.

        Raises
        ------
        DataError
            When it is not a file of translation weights.
        """
        from aligntools.translating.tuning.weights import read_weights

        return cls(*read_weights(os.fspath(path)))

    def save(self, path: PathLike) -> None:
        """Write the weights as JSON; the file appears whole or not at all."""
        from aligntools.translating.tuning.weights import save_weights

        save_weights(os.fspath(path), list(self.features), list(self.features.values()), dict(self.about))


#: Weights: learned ones, their file, numbers by name, or None for untuned ones.
WeightsInput = TranslationWeights | Mapping[str, float] | PathLike | None


@dataclass(frozen=True, eq=False, repr=False)
class Hypergraphs:
    """Packed derivations of some sentences: all that the search kept.

    Attributes
    ----------
    arrays : Hypergraph
        The flat arrays: nodes, edges, features, words.
    features : list of str
        Names of the features, by number.
    """

    arrays: "Hypergraph"
    features: list[str]
    _system: "System"
    _sentences: "Sentences"
    _first: int
    _threads: "int | Pool | None"

    def __len__(self) -> int:
        return len(self.arrays)

    def __repr__(self) -> str:
        return f"<Hypergraphs of {len(self)} sentences, {self.arrays.edges} edges>"

    def n_best(self, n: int) -> list[list[Translation]]:
        """Return the n best distinct translations of each sentence, best first."""
        CANDIDATES.check("n", n)
        from aligntools.translating.forest.nbest import best_lists

        with pool_of(self._threads) as pool:
            return self._named(best_lists(self._system, self.arrays, self._sentences, n, pool))

    def derivations(self, n: int = 1) -> list[DerivedSentence]:
        """Return each sentence with its n best derivations that differ in their words: rules, spans, scores."""
        CANDIDATES.check("n", n)
        if self._system.arc_features:
            raise UsageProblem("derivations are shown over the words of sentences, and these are of lattices")
        from aligntools.translating.forest.nbest import derivation_lists

        with pool_of(self._threads) as pool:
            return derivation_lists(self._system, self.arrays, self._sentences, n, pool)

    def samples(self, n: int, *, gamma: float = 1.0, seed: int = 1) -> list[list[Translation]]:
        """Return n derivations of each sentence, drawn in proportion to ``exp(gamma * score)``."""
        for name, value, allowed in (("n", n, CANDIDATES), ("gamma", gamma, SAMPLING_GAMMA), ("seed", seed, SEED)):
            allowed.check(name, value)
        from aligntools.translating.forest.nbest import sample_lists

        own = seed + (self._first << 32)  # other parts of the text, other samples
        with pool_of(self._threads) as pool:
            return self._named(sample_lists(self._system, self.arrays, self._sentences, n, gamma, own, pool))

    def lines(self) -> Iterator[bytes]:
        """Yield a line of JSON for each sentence, as ``translate --hypergraphs`` writes it."""
        from aligntools.formats.translation.hypergraphs import format_lines

        name = self._system.names(self._sentences)
        return format_lines(self.arrays, self.features, lambda word: name([word])[0].decode("utf-8", "replace"))

    def _named(self, lists: "list[list[Candidate]]") -> list[list[Translation]]:
        names = self.features
        return [
            [
                Translation(_decoded(words), score, {names[k]: x for k, x in zip(ids, values, strict=True)})
                for words, ids, values, score in candidates
            ]
            for candidates in lists
        ]


def _decoded(words: list[bytes]) -> tuple[str, ...]:
    return tuple(word.decode("utf-8", "surrogateescape") for word in words)


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
    pop_limit : int
        Most items taken in a cell of the chart: more is slower and finds better scores; 0 takes all.
    span_limit : int
        Most words that a rule covers.
    threads : int, optional
        All cores if not given; does not change the translations.

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
    _system: "System"
    _lattices: LatticeInput | None
    _arc_weights: Mapping[str, float]

    def __init__(
        self,
        grammar: Grammar | PathLike,
        lm: LanguageModel | PathLike | None = None,
        weights: WeightsInput = None,
        *,
        tags: PathLike | Mapping[str, str] | None = None,
        pop_limit: int = DecoderSettings.pop_limit,
        span_limit: int = DecoderSettings.span_limit,
        threads: "int | Pool | None" = None,
    ) -> None:
        from aligntools.translating.decoding.decoder import System, feature_names

        settings = DecoderSettings(pop_limit, span_limit)
        settings.check()
        given = weights_of(weights)  # first: wrong ones are soon found
        of_arcs: dict[str, float] = {}
        if given is not None:
            plain, of_arcs = without_arcs(given.features)
            given = TranslationWeights(plain, given.about)
        rules = (grammar if isinstance(grammar, Grammar) else Grammar.load(grammar, span_limit=span_limit)).rules
        if tags is not None:
            rules = with_bigrams(rules, tags, None if given is None else given.features)
        values = ordered_weights(weights, given, feature_names(rules))
        model = lm if isinstance(lm, LanguageModel) or lm is None else LanguageModel.load(lm)
        object.__setattr__(self, "threads", threads)
        object.__setattr__(self, "_system", System(rules, model.ngrams if model else None, values, settings))
        object.__setattr__(self, "_lattices", None)
        object.__setattr__(self, "_arc_weights", of_arcs)

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
        """Return the same system, which works with so many threads."""
        return self._other(threads=threads)

    def for_lattices(
        self, format: LatticeFormat = "plf", *, scores: int = 1, weights: Sequence[float] | None = None
    ) -> "Translator":
        """Return the same system for lattices: its text is PLF or confusion networks, or consists of `WordLattice`.

        The logarithms of an arc's scores are features, ``lattice-1`` and so on; -100 at least.

        Parameters
        ----------
        format : str
            ``plf``: a lattice a line, as Moses reads it; ``cn``: confusion networks, with blank lines between them.
        scores : int
            Of each arc.
        weights : sequence of float, optional
            Of the scores. If not given, those that the translator's weights have for ``lattice-1`` and so on, or 1.

        Examples
        --------
        >>> import aligntools as at
        >>> grammar = at.extract_grammar(["das Haus", "ein Hund"], ["the house", "a dog"], ["0-0 1-1", "0-0 1-1"])
        >>> translator = at.Translator(grammar, at.train_lm(["the house", "a dog"], order=2)).for_lattices()
        >>> str(translator.translate("((('ein',0.7,1),('das',0.3,1),),(('Hund',1,1),),)"))
        'a dog'
        """
        how, known = lattice_input(format, scores, weights, self._arc_weights)
        system = self._system.for_arcs(known)
        return self._other(_system=system, _lattices=how)

    def _other(self, **changed: Any) -> "Translator":
        other = object.__new__(Translator)
        for name in ("threads", "_system", "_lattices", "_arc_weights"):
            object.__setattr__(other, name, changed.get(name, getattr(self, name)))
        return other

    def _parts(self, text: Input, size: int) -> Iterator[Lines]:
        return stream_input(text, size, self._lattices)

    def translate_batch(
        self, text: Input, *, features: bool = False, unbuffered: bool = False, **where: Unpack[Where]
    ) -> Iterator[Translation]:
        """Translate sentences one after another; text of any length, which is read as it is needed.

        Parameters
        ----------
        text : path, or iterable of sentences
        features : bool
            Return the features of each derivation too, which takes longer.
        unbuffered : bool
            Yield each translation before the next sentence is asked for.
        **where
            ``workers``, ``cluster``, ``cluster_file`` and ``tmpdir``, as for `align_in_parts`: what does the work,
            which does not change the translations.
        """
        if Run(**where).checked().asked:
            if unbuffered:
                raise UsageProblem("unbuffered translation is done in this process; leave out the workers")
            yield from self._by_workers(where, self._parts(text, JOB), _translations, features)
            return
        for lines in self._parts(text, 1 if unbuffered else PART):
            sentences = self._system.encode_text(lines)
            name = self._system.names(sentences)
            with pool_of(self.threads) as pool:
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

    def n_best(self, text: Input, n: int, **where: Unpack[Where]) -> Iterator[list[Translation]]:
        """Return the n best distinct translations of each sentence, best first, with their features.

        Parameters
        ----------
        text : path, or iterable of sentences
        n : int
        **where
            As for `translate_batch`.
        """
        if Run(**where).checked().asked:
            yield from self._by_workers(where, self._parts(text, JOB), _candidates, n)
            return
        for part in self.hypergraphs(text):
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

    def samples(
        self, text: Input, n: int, *, gamma: float = 1.0, seed: int = 1, **where: Unpack[Where]
    ) -> Iterator[list[Translation]]:
        """Return n derivations of each sentence, drawn in proportion to ``exp(gamma * score)``, with their features.

        Parameters
        ----------
        text : path, or iterable of sentences
        n : int
        gamma : float
            Factor of the scores.
        seed : int
        **where
            As for `translate_batch`.
        """
        if Run(**where).checked().asked:
            yield from self._by_workers(where, enumerate(self._parts(text, PART)), _samples, n, gamma, seed)
            return
        for part in self.hypergraphs(text):
            yield from part.samples(n, gamma=gamma, seed=seed)

    def _by_workers(self, where: Where, blocks: Iterable[Any], job: Callable[..., Any], *how: Any) -> Iterator[Any]:
        """Yield the items of what workers make of each block by ``job(translator, *how, block, pool)``."""
        with pool_of(self.threads) as pool, mapping(Run(**where).checked(), pool) as found:
            kept = found.keep(self.with_threads(None))
            for items in found.run("translating", partial(job, kept, *how), blocks):
                yield from items


def _translations(translator: "Kept", features: bool, lines: Lines, pool: "Pool") -> list[Translation]:
    """Do a worker's job of `Translator.translate_batch`."""
    return list(translator.get().with_threads(pool).translate_batch(lines, features=features))


def _candidates(translator: "Kept", n: int, lines: Lines, pool: "Pool") -> list[list[Translation]]:
    """Do a worker's job of `Translator.n_best`."""
    return list(translator.get().with_threads(pool).n_best(lines, n))


def _samples(
    translator: "Kept", n: int, gamma: float, seed: int, part: tuple[int, Lines], pool: "Pool"
) -> list[list[Translation]]:
    """Do a worker's job of `Translator.samples`: of one of its parts, by number."""
    number, lines = part
    forests = next(translator.get().with_threads(pool).hypergraphs(lines, first=number * PART))
    found: list[list[Translation]] = forests.samples(n, gamma=gamma, seed=seed)
    return found


def weights_of(weights: WeightsInput) -> TranslationWeights | None:
    """Return weights, read from their file if they are given by its name."""
    if weights is None or isinstance(weights, TranslationWeights):
        return weights
    if isinstance(weights, str | os.PathLike):
        return TranslationWeights.load(weights)
    return TranslationWeights(dict(weights))


def ordered_weights(given: WeightsInput, weights: TranslationWeights | None, names: list[str]) -> Any:
    """Return a weight for each feature [float64], untuned ones if there are none."""
    from aligntools.translating.tuning.weights import default_weights, in_order

    if weights is None:
        return default_weights(names)
    return in_order(name_of(given, "<weights>"), weights.features, names)


def with_bigrams(
    rules: "GrammarRules",
    tags: PathLike | Mapping[str, str],
    known: Mapping[str, float] | None = None,
    most: int | None = None,
) -> "GrammarRules":
    """Return a grammar with bigrams of target sides as features: those that weights know, or the most frequent."""
    from aligntools.formats.annotation.tagged import check_tags, read_tags
    from aligntools.translating.decoding.decoder import feature_names
    from aligntools.translating.grammar.features import add_bigrams, dominant_tags

    if isinstance(tags, str | os.PathLike):
        tagged = read_tags(os.fspath(tags))
        if tagged.tags is None:
            raise DataError(os.fspath(tags), None, "has no tags")
        check_tags(tagged, os.fspath(tags))
        by_word = dominant_tags(tagged.words, tagged.tags)
    else:
        by_word = {word.encode(): tag.encode() for word, tag in tags.items()}
    names = None
    if known is not None:
        plain = set(feature_names(rules))
        names = [name for name in known if name not in plain]
        if most is not None:
            names = names or None  # weights learned without bigrams to begin with
    return add_bigrams(rules, by_word, most=most, names=names)
