"""Language models from Python: estimating, loading, scoring text."""

import logging
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, Unpack

from aligntools.formats.inputs.sentences import PathLike, Sentence, Split, Text, sources_of, words_of_model
from aligntools.formats.text.text_settings import Splitting
from aligntools.ground import memory
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.store.job_engines import opened, temporary_folder
from aligntools.translating.settings import TABLES, LanguageModelSettings
from aligntools.viewing.models import ShownAsModel

if TYPE_CHECKING:
    from aligntools.formats.text.numbered_text import LineSource
    from aligntools.ground.keywords import LmTrainingKeywords
    from aligntools.ground.parallel import Pool
    from aligntools.store.sorting import ArrayStore
    from aligntools.translating.lm.kneser_ney import Discounts, Estimate, NgramCounts
    from aligntools.translating.lm.language_model import NgramModel, WordScores
    from aligntools.translating.lm.language_model import Perplexity as Perplexity
    from aligntools.viewing.models import ModelView

_log = logging.getLogger("aligntools")


@dataclass(frozen=True)
class SentenceScore:
    """What a language model says of one sentence.

    words, unknown: Words without the end of the sentence, and those of them that the model does not know.
    """

    log_probability: float  # Natural logarithm, the end of the sentence included; 0 for a blank line
    words: int
    unknown: int

    @property
    def perplexity(self) -> float:
        """Per word and end of sentence; NaN for a blank line."""
        return math.exp(-self.log_probability / (self.words + 1)) if self.words else math.nan


class WordScore(NamedTuple):
    """What a language model says of a word, or of the end of a sentence."""

    #: the word; ``</s>`` for the end
    word: str
    #: natural logarithm of its probability after the words before it
    log_probability: float
    #: order of the n-gram that was found for it
    order: int
    #: whether the model does not know it
    unknown: bool


@dataclass(frozen=True, eq=False, repr=False)
class LanguageModel(ShownAsModel):
    """An n-gram language model with backoff (Katz 1987), from `train_lm` or from a file.

    It does not change, can be pickled, and may be used from several threads at once.

    Attributes
    ----------
    ngrams : NgramModel
        The arrays that words are scored with: ``unigrams``, ``keys``, ``values`` and the ``vocabulary``.

    Examples
    --------
    >>> import aligntools as at
    >>> model = at.train_lm(["the house is small", "the house is old", "a house"], order=2)
    >>> model.score("the house") > model.score("house the")
    True
    """

    _ngrams: "NgramModel | None" = None
    _estimate: "Estimate | None" = None

    @cached_property
    def ngrams(self) -> "NgramModel":
        """The arrays that words are scored with."""
        from aligntools.translating.lm.language_model import from_blocks

        if self._ngrams is not None:
            return self._ngrams
        assert self._estimate is not None
        e = self._estimate
        return from_blocks(e.order, e.vocabulary, e.counts, e.blocks())

    def model_view(self, title: str, words: int, best: int) -> "ModelView":
        """Return what the model says of itself; see `aligntools.view_model`."""
        from aligntools.viewing.models import ModelView

        return ModelView(title, [["language model", repr(self).strip("<>")]])

    @property
    def order(self) -> int:
        """Words in the longest n-gram."""
        return (self._estimate or self.ngrams).order

    @property
    def counts(self) -> list[int]:
        """N-grams of each order."""
        return list((self._estimate or self.ngrams).counts)

    @property
    def discounts(self) -> "tuple[Discounts, ...]":
        """The discounts of each order, where the model was estimated in this session."""
        return () if self._estimate is None else tuple(self._estimate.discounts)

    def __len__(self) -> int:
        return len((self._estimate or self.ngrams).vocabulary)

    def __repr__(self) -> str:
        return f"<LanguageModel of order {self.order}, {len(self)} words, {sum(self.counts)} n-grams>"

    @classmethod
    def load(cls, path: PathLike, *, verify: bool = True) -> "LanguageModel":
        """Load a model: an ARPA file of any compression, or a binary one.

        Parameters
        ----------
        path : str or path
        verify : bool
            Check a binary file's checksum, which says whether the file is what was written.

        Raises
        ------
        DataError
            When the file cannot be read or is neither.
        """
        from aligntools.translating.lm.language_model import load

        return cls(load(os.fspath(path), verify))

    def save(self, path: PathLike, format: Literal["arpa", "binary"] = "binary") -> None:
        """Write the model; the file appears whole or not at all.

        Parameters
        ----------
        path : str or path
            May end in ``.gz``, ``.xz`` or ``.zst`` for ARPA; ``-`` is standard output.
        format : str
            ``binary`` loads faster; ``arpa`` is what other programs read, and is available right after training.

        Raises
        ------
        UsageProblem
            When a model that was loaded is to be written as ARPA: in memory its n-grams are hashed.
        DataError
            When the file cannot be written.
        """
        from aligntools.formats.translation.arpa import write_arpa

        if format == "binary":
            self.ngrams.save(os.fspath(path))
        elif format != "arpa":
            raise UsageProblem(f"no format '{format}' of language models; choose arpa or binary")
        elif self._estimate is None:
            raise UsageProblem("a loaded model has no n-grams to write as ARPA; train it again, or save it as binary")
        else:
            e = self._estimate
            write_arpa(os.fspath(path), e.vocabulary, e.counts, e.blocks())

    def score(self, sentence: Sentence, *, bos: bool = True, eos: bool = True, split: Split | None = None) -> float:
        """Return the log-probability of a sentence, natural.

        Parameters
        ----------
        sentence : str or list of str
            A line of words between spaces, or its words.
        bos, eos : bool
            The words begin a sentence; its end counts too. Both False: the words are from anywhere.
        split : str
            As for `train_lm`.

        Examples
        --------
        >>> import aligntools as at
        >>> model = at.train_lm(["a b", "a b", "b a"], order=2)
        >>> model.score("a b") == model.score(["a", "b"])
        True
        """
        from aligntools.translating.lm.language_model import score_sentence

        words = words_of_model(sentence, split)
        found = score_sentence(self.ngrams, [word.decode("utf-8", "surrogateescape") for word in words], bos)
        return float(found.sentences()[0]) - (0.0 if eos else float(found.logs[-1]))

    def score_words(
        self, sentence: Sentence, *, bos: bool = True, eos: bool = True, split: Split | None = None
    ) -> list[WordScore]:
        """Return what the model says of each word of a sentence and, with ``eos``, of its end; see `score`.

        Examples
        --------
        >>> import aligntools as at
        >>> model = at.train_lm(["a b", "a b", "b a"], order=2)
        >>> [(one.word, one.order, one.unknown) for one in model.score_words("a z")]
        [('a', 2, False), ('z', 1, True), ('</s>', 1, False)]
        """
        from aligntools.translating.lm.language_model import score_sentence

        words = [word.decode("utf-8", "surrogateescape") for word in words_of_model(sentence, split)]
        found = _word_scores(score_sentence(self.ngrams, words, bos), [*words, "</s>"], 0, len(words) + 1)
        return found if eos else found[:-1]

    def score_lines_by_word(
        self, text: Text, *, lowercase: bool = False, split: Split | None = None, threads: "int | Pool | None" = None
    ) -> Iterator[list[WordScore]]:
        """Score a text of any length word by word: a list for each line, empty for a blank one; see `score_lines`."""
        for scores in self._scored(text, lowercase, split, threads, texts=True):
            shown = iter(scores.texts or ())
            for begin, end in pairwise(scores.offsets.tolist()):
                words = [word.decode("utf-8", "surrogateescape") for word in islice(shown, end - begin - 1)]
                yield _word_scores(scores, [*words, "</s>"], begin, end) if words else []

    def _scored(
        self, text: Text, lowercase: bool, split: Split | None, threads: "int | Pool | None", texts: bool = False
    ) -> "Iterator[WordScores]":
        from aligntools.translating.lm.language_model import score_text

        with pool_of(threads) as pool:
            for source in sources_of(text, split):
                yield from score_text(self.ngrams, source, pool, lowercase=lowercase, texts=texts)

    def score_lines(
        self, text: Text, *, lowercase: bool = False, split: Split | None = None, threads: "int | Pool | None" = None
    ) -> Iterator[SentenceScore]:
        """Score a text of any length sentence by sentence.

        Parameters
        ----------
        text : path, or iterable of sentences
        lowercase : bool
            Put the text in lower case.
        split : str
            As for `train_lm`.
        threads : int, optional
            All cores if not given; does not change the result.

        Examples
        --------
        >>> import aligntools as at
        >>> model = at.train_lm(["a b", "a b", "b a"], order=2)
        >>> [score.unknown for score in model.score_lines(["a b", "", "a z"])]
        [0, 0, 1]
        """
        for scores in self._scored(text, lowercase, split, threads):
            for log, (begin, end) in zip(scores.sentences().tolist(), pairwise(scores.offsets.tolist()), strict=True):
                words = end - begin - 1
                yield SentenceScore(log if words else 0.0, words, int(scores.unknown[begin:end].sum()))

    def perplexity(
        self, text: Text, *, lowercase: bool = False, split: Split | None = None, threads: "int | Pool | None" = None
    ) -> "Perplexity":
        """Measure how well the model predicts a text; lines without words do not count.

        Parameters
        ----------
        text : path, or iterable of sentences
        lowercase : bool
            Put the text in lower case.
        split : str
            As for `train_lm`.
        threads : int, optional
            All cores if not given; does not change the result.

        Returns
        -------
        Perplexity
            ``perplexity`` per word and end of sentence (also ``float(...)``), ``perplexity_known`` without unknown
            words, ``log_probability`` (natural), ``sentences``, ``words``, ``unknown``, and ``found`` by order.

        Examples
        --------
        >>> import aligntools as at
        >>> model = at.train_lm("data/samples/de-en.en", order=3)
        >>> 20 < float(model.perplexity("data/samples/fr-en.en")) < 300
        True
        """
        from aligntools.translating.lm.language_model import perplexity

        return perplexity(self._scored(text, lowercase, split, threads), self.order)


def _word_scores(scores: "WordScores", words: list[str], begin: int, end: int) -> list[WordScore]:
    rows = (scores.logs[begin:end].tolist(), scores.matched[begin:end].tolist(), scores.unknown[begin:end].tolist())
    return [WordScore(*row) for row in zip(words, *rows, strict=True)]


@taking(LanguageModelSettings, Splitting, Run)
def train_lm(
    text: Text | Iterable[os.PathLike[str]],
    settings: LanguageModelSettings | None = None,
    *,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[LmTrainingKeywords]",
) -> LanguageModel:
    """Estimate an n-gram language model: interpolated modified Kneser-Ney smoothing, as KenLM's lmplz has it.

    Kneser & Ney 1995 ("Improved backing-off for m-gram language modeling"); Chen & Goodman 1998 ("An empirical study
    of smoothing techniques for language modeling"), with three discounts for each order.

    Parameters
    ----------
    text : path, iterable of sentences, or list of paths
        One sentence a line or an item; sentences without words do not count.
    settings, run : LanguageModelSettings, Run or None
        The options below, whole. None of them but the settings changes the model. Without ``max_memory`` tables take
        2 GiB, less where the machine or the container has less and a command bounds the process by that; what exceeds
        them goes to temporary files. ``spaces`` are all that KenLM's programs separate words at: NUL, carriage returns,
        vertical tabs and form feeds too.
    progress : callable or bool, optional
        Called with a `Step` once the n-grams are counted, and once the model is estimated.
    **options

    Raises
    ------
    DataError
        When a file cannot be read, a line is not UTF-8 or has one of those symbols, or there are no words.
    UsageProblem
        When the order or the thresholds are not valid.
    ResourceError
        When ``max_memory`` is too little, or temporary files do not fit on the disk.

    Examples
    --------
    >>> import aligntools as at
    >>> at.train_lm("data/samples/de-en.en", order=3)
    <LanguageModel of order 3, 477 words, 3771 n-grams>
    """
    given = Keywords("train_lm", options)
    settings, run = given.take(LanguageModelSettings, settings), given.take(Run, run)
    split = given.take(Splitting).split
    given.end()
    from aligntools.translating.lm.kneser_ney import estimate

    report = reporter(progress)
    with pool_of(run.threads) as pool:
        counts, store = _counted(sources_of(text, split), settings, run, pool)
        figures = {"sentences": counts.sentences, "words": counts.words, "blank": counts.blank}
        report(Step("counting", 1, 2, figures | {"types": len(counts.vocabulary) - 3}))
        found = estimate(counts, store, pool, settings.prune)
    report(Step("estimating", 2, 2, {"ngrams": list(found.counts), "spilled": store.spilled}))
    for n, discounts in enumerate(found.discounts, 1):
        if discounts.problem:
            shown = ", ".join(f"{value:.4g}" for value in discounts.values)
            _log.info("%d-grams: %s; discounts %s are used (a small text?)", n, discounts.problem, shown)
    return LanguageModel(_estimate=found)


def _counted(
    sources: "list[LineSource]", settings: LanguageModelSettings, run: Run, pool: "Pool"
) -> "tuple[NgramCounts, ArrayStore]":
    """Count n-grams, in this process or by jobs; return also where tables are kept."""
    from aligntools.formats.opening.files import is_regular
    from aligntools.store.sorting import ArrayStore
    from aligntools.store.stores import Store
    from aligntools.translating.lm.kneser_ney import A_JOB, count, count_in_parts
    from aligntools.words.white_space import named_as

    how = {"lowercase": settings.lowercase, "skip_symbols": settings.skip_symbols}

    def tables() -> ArrayStore:
        """Return memory for tables, and files beyond it; the rest is for what is sorted at a time, and for text."""
        room = memory.for_tables(run.memory, TABLES) * 7 // 10
        return ArrayStore(room, None if run.tmpdir is None else os.fspath(run.tmpdir))

    if not run.asked:
        store = tables()
        return count(sources, settings.order, store, **how), store

    def is_file(source: "LineSource") -> bool:
        return source.lines is None and is_regular(source.name)

    if run.remote:  # workers have working folders of their own
        sources = [replace(s, name=named_as(s.name, os.path.abspath(s.name))) if is_file(s) else s for s in sources]
    names = [source.name for source in sources if is_file(source)]
    with temporary_folder(run.tmpdir) as folder:
        with opened(run, pool, folder, names, each=A_JOB) as engine:
            gathered = count_in_parts(sources, settings.order, Store(folder), engine, pool, **how)
        store = tables()
        return gathered(store), store
