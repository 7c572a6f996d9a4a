"""Texts in files tagged: read in parts or line by line, tags and what else is wanted of each sentence written."""

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aligntools.api.given.annotated import Parsed, predicted_of
from aligntools.api.running.annotating_blocks import annotated, parts_of, turned_note
from aligntools.api.running.answering import Unanswered, answer, check_unbuffered
from aligntools.api.running.engines import mapping_if_asked
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import LineWatch
from aligntools.api.tag.tag_sequences import TagSequence, format_posteriors, format_scores, format_sequences
from aligntools.api.tag.tagging import PART, Tagger
from aligntools.api.tag.word_classes import Counts, counts_of, list_of
from aligntools.formats.annotation.conll import column_place
from aligntools.formats.annotation.raw_text import stream_raw
from aligntools.formats.annotation.tagged import stream_sentences
from aligntools.formats.opening.files import Output, writing
from aligntools.formats.text.reading import RawReading, Split, check_predicted
from aligntools.formats.text.requests import stream_requests
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run
from aligntools.tagging.settings import TagDecisions, TagLists, TagWriting
from aligntools.words.white_space import split_as

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool


@dataclass(frozen=True)
class TagFiles:
    """Files that are read and written; None for what is not.

    Attributes
    ----------
    model : str
        A tagger.
    texts : sequence of str
        None of them is standard input, ``-``.
    output : str
        The texts with their tags, or lists of sequences of tags.
    scores : str
        ``ln p(x)`` of each sentence.
    posteriors : str
        The probability of every tag of every word.
    save_classes : str
        How often each word got each tag.
    """

    model: str
    texts: Sequence[str] = ()
    output: str = "-"
    scores: str | None = None
    posteriors: str | None = None
    save_classes: str | None = None


@dataclass(frozen=True)
class TagInput:
    """How texts to tag are read.

    Attributes
    ----------
    format : str
        ``auto``, ``text`` or ``conll``.
    predicted_columns : bool
        Of CoNLL-2009.
    split : str or None
        What separates words; None where that was not said.
    raw : RawReading
        How sentences and words of raw text are found.
    """

    format: str = "auto"
    predicted_columns: bool = False
    split: Split | None = None
    raw: RawReading = RawReading()  # noqa: RUF009

    def check(self, unbuffered: bool) -> None:
        """Refuse what does not go together; ``unbuffered``: where each line is answered as it comes."""
        check_predicted(self.predicted_columns, "raw" if self.raw.tokenize else self.format)
        if self.raw.tokenize and (unbuffered or self.format == "conll"):
            raise UsageProblem(f"`tokenize` does not go with {'`unbuffered`' if unbuffered else '`format=conll`'}")
        if self.raw.tokenize and self.split is not None:
            raise UsageProblem("`split` is about words between spaces; `tokenize` finds its own")

    def parts(self, path: str) -> Iterable[Parsed]:
        """Yield a text in parts."""
        if self.raw.tokenize:
            return stream_raw(path, most=PART, **self.raw.arguments())
        return stream_sentences(path, format=self.format, sentences=PART)


@dataclass(frozen=True)
class Found:
    """What is found in a part of a text.

    Attributes
    ----------
    written : bytes
        The sentences with their tags; nothing where sequences of tags are listed.
    words, sentences : int
    turned : int
        Words in another normal form than the tagger's.
    counts : Counter
        How often each word got each tag, where that is counted.
    lists : list of list of TagSequence, or None
        Of each sentence.
    scores, posteriors : bytes
        Lines of their files.
    figures : dict of str to float
        Sums over the part: ``log``, ``words``, ``sentences`` and ``unknown`` words, where there are scores.
    """

    written: bytes
    words: int
    sentences: int
    turned: int
    counts: Counts
    lists: list[list[TagSequence]] | None = None
    scores: bytes = b""
    posteriors: bytes = b""
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class TagOutput:
    """What is wanted of each sentence.

    Attributes
    ----------
    decisions : TagDecisions
    writing : TagWriting
    lists : TagLists
        Lists of sequences in the place of the sentences with their tags.
    predicted_columns : bool
        Take the predicted columns of CoNLL-2009.
    scores, posteriors, counts : bool
        What is wanted besides.
    """

    decisions: TagDecisions
    writing: TagWriting
    lists: TagLists
    predicted_columns: bool = False
    scores: bool = False
    posteriors: bool = False
    counts: bool = False

    @property
    def listed(self) -> str | None:
        """The option that asks for lists."""
        return "n_best" if self.lists.n_best else "samples" if self.lists.samples else None

    def of(self, tagger: Tagger, text: Parsed, pool: "Pool", first: int = 0, *, remember: bool = True) -> Found:
        """Tag a part of a text whose first sentence has this number; what is drawn depends on it."""
        text = predicted_of(text) if self.predicted_columns else text
        found = tagger.tag_text(text, self.decisions, run=Run(threads=pool), remember=remember)
        written = b"" if self.listed else found.format(self.writing)
        counts = counts_of(found) if self.counts else Counter()
        more = self._more(tagger, text, pool, first)
        return Found(written, len(found.ids), len(text), found.turned, counts, **more)

    def _more(self, tagger: Tagger, text: Parsed, pool: "Pool", first: int) -> dict[str, Any]:
        """Return lists, scores and posteriors of a part."""
        more: dict[str, Any] = {}
        lists = self.lists
        if self.listed or self.scores:
            own = tagger.sequences_of(text, pool)
            if lists.n_best:
                more["lists"] = tagger.named(own.best(lists.n_best))
            if lists.samples:
                more["lists"] = tagger.named(own.samples(lists.samples, lists.seed, first))
            if self.scores:
                logs = own.log_probabilities()
                sizes = np.diff(own.offsets)
                more["scores"] = format_scores(logs.tolist(), own.offsets)
                more["figures"] = {
                    "log": float(logs.sum()),
                    "words": int(sizes.sum()),
                    "sentences": int((sizes > 0).sum()),
                    "unknown": own.unknown,
                }
        if self.posteriors:
            found = tagger.posteriors_of(text, threads=pool)
            names = [name.encode("utf-8", "surrogateescape") for name in tagger.tags]
            tags = [names[k] for k in found.ids.tolist()]
            more["posteriors"] = format_posteriors(text.words, text.offsets, found.cells, tags, found.values)
        return more


class _Outputs:
    """The files, opened whole-or-nothing, and what was written to them."""

    def __init__(self, stack: ExitStack, files: TagFiles) -> None:
        self.words = self.sentences = self.turned = 0
        self.counts: Counts = Counter()
        self._figures = Counter[str]()
        self.out: Output = stack.enter_context(writing(files.output))
        others = files.scores, files.posteriors
        self._others = [stack.enter_context(writing(path)) if path else None for path in others]

    def take(self, found: Found) -> bytes:
        """Write what stands beside the sentences of a part, and return what is written of these."""
        written = found.written if found.lists is None else format_sequences(self.sentences, found.lists)
        for file, rows in zip(self._others, (found.scores, found.posteriors), strict=True):
            if file is not None:
                file.write(rows)
        self.words, self.turned = self.words + found.words, self.turned + found.turned
        self.sentences += found.sentences
        self.counts.update(found.counts)
        self._figures.update(found.figures)
        return written

    def likelihood(self) -> str:
        """Return how probable the texts are, in words."""
        total = self._figures
        events = total["words"] + total["sentences"]
        finite = events and math.isfinite(total["log"])
        perplexity = math.exp(min(-total["log"] / events, 700)) if finite else math.inf
        return (
            f"log-likelihood {total['log']:.2f}; {total['words']} words, {total['sentences']} sentences; perplexity"
            f" {perplexity:.2f}; {total['unknown']} unknown words"
        )


@dataclass
class Tagging:
    """Texts in files, and what is to be done with them.

    Attributes
    ----------
    files : TagFiles
    reading : TagInput
    decisions : TagDecisions
    writing : TagWriting
    lists : TagLists
    run : Run
    watch : LineWatch
    given : collection of str
        Which of ``writing`` and ``decisions`` were said, be it as they are by default.
    verify : bool
        Check the tagger's checksum.
    unbuffered : bool
        Answer each line before the next is read.
    ending : callable
        Returns a context in which lines are answered, and that may end the reading.
    """

    files: TagFiles
    reading: TagInput
    decisions: TagDecisions
    writing: TagWriting
    lists: TagLists
    run: Run
    watch: LineWatch
    given: Collection[str] = ()
    verify: bool = True
    unbuffered: bool = False
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    @property
    def _wanted(self) -> TagOutput:
        files, columns = self.files, self.reading.predicted_columns
        scores, posteriors, counts = (f is not None for f in (files.scores, files.posteriors, files.save_classes))
        return TagOutput(self.decisions, self.writing, self.lists, columns, scores, posteriors, counts)

    def check(self) -> None:
        """Refuse what does not go together, before anything is read."""
        wanted, listed = self._wanted, self._wanted.listed
        self.reading.check(self.unbuffered)
        check_unbuffered(self.unbuffered, self.run)
        if self.unbuffered and (listed or wanted.scores or wanted.posteriors):
            raise UsageProblem(
                "`unbuffered` answers a line with a line; leave out `n_best`, `samples`, `scores` and `posteriors`"
            )
        if self.lists.samples and self.run.asked:
            raise UsageProblem("`samples` are drawn by the number of the sentence; leave out `workers` and `cluster`")
        others = sorted({*self.given} & {*TagWriting.names(), *TagDecisions.names()})
        if listed and others:
            raise UsageProblem(f"`{listed}` writes sequences of tags; leave out `{others[0]}`")

    def tag(self) -> int:
        """Tag the texts; return how many words they have.

        Raises
        ------
        UsageProblem
            When files and options do not go together.
        DataError
            When a file cannot be read or written.
        """
        self.check()
        tagger, unanswered = self._tagger(), Unanswered()
        self.watch.begin("tagging", unit="word")
        with pool_of(self.run.threads) as pool, ExitStack() as stack:
            out = _Outputs(stack, self.files)
            with self.ending():
                if self.unbuffered:
                    self._answer(tagger, pool, out, unanswered)
                else:
                    self._tag(tagger, pool, out)
                if self.files.save_classes:
                    list_of(out.counts).save(self.files.save_classes)
                for line in (unanswered.summary(), turned_note(out.turned, "tagger")):
                    if line:
                        self.watch.say(line)
                if self.files.scores:
                    self.watch.say(out.likelihood())
        return out.words

    def _tagger(self) -> Tagger:
        """Load the tagger; refuse what it has nothing for."""
        tagger = Tagger.load(self.files.model, verify=self.verify)
        for name in (tagger.column if self.writing.column is None else self.writing.column, *self.writing.keep):
            column_place(name)
        if self.decisions.split_tokens and tagger.model.splitter is None:
            problem = "`split_tokens` is for taggers of train-hmm `tokens=surface`, which this one is not"
            raise UsageProblem(f"{self.files.model}: {problem}")
        return tagger

    @property
    def _texts(self) -> list[str]:
        return [split_as(path, self.reading.split) for path in self.files.texts or ("-",)]

    def _answer(self, tagger: Tagger, pool: "Pool", out: _Outputs, unanswered: Unanswered) -> None:
        """Tag each line before the next is read."""
        tag = partial(self._wanted.of, tagger, pool=pool, remember=False)
        for path in self._texts:
            requests = stream_requests(path, self.reading.format)
            answer(requests, path, lambda text: out.take(tag(text)), out.out, unanswered)

    def _tag(self, tagger: Tagger, pool: "Pool", out: _Outputs) -> None:
        """Tag the texts in parts, here or by workers."""
        wanted = self._wanted

        def tag(tagger: Tagger, text: Parsed, pool: "Pool") -> Found:
            return wanted.of(tagger, text, pool, out.sentences)

        with mapping_if_asked(self.run, pool) as blocks:
            parts = parts_of(self._texts, self.reading.parts)
            for _, _, found in annotated(parts, tagger, tag if blocks is None else wanted.of, pool, blocks):
                out.out.write(out.take(found))
                out.out.flush()
                self.watch.tell(f"{out.words} words tagged")
