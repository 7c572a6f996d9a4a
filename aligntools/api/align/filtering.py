"""Sentence pairs judged by their alignment: which are translations of each other, and which are noise."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from aligntools.aligning.settings import AlignerSettings, FilterSettings, PriorWeights
from aligntools.api.align.aligner import Aligner
from aligntools.api.align.alignment import TrainingKeywords, read_bitext, train_aligner
from aligntools.api.align.alignments import Alignments, Tally
from aligntools.api.align.files import loaded
from aligntools.api.align.text_files import TextFiles, raw_text
from aligntools.api.given.keywords import FilterKeywords
from aligntools.api.given.texts import Sentence
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import Watch
from aligntools.formats.text.reading import Reading
from aligntools.ground.declaring import Given, taking
from aligntools.ground.running import Run


class PairQuality(NamedTuple):
    """How well a sentence pair fits together, and whether it passes a filter."""

    #: 0 to 1: the lower of the two coverages, times the lower log-probability per word, damped
    score: float
    #: how far the source words are linked: the mean of their best links' probabilities
    source_coverage: float
    #: the same of the target words
    target_coverage: float
    #: the lower of the two log-probabilities per word
    log_probability: float
    #: which part of the longer sentence's words stands in the other as it is
    copied: float
    #: why it does not pass: ``unaligned``, ``score``, ``coverage``, ``probability``, ``copied``; empty if it does
    reason: str

    @property
    def kept(self) -> bool:
        """Whether it passes."""
        return not self.reason


class Filter:
    """What tells pairs that pass from those that do not."""

    def __init__(self, settings: FilterSettings):
        self.settings = settings.checked()

    def judged(self, block: Alignments, sources: Sequence[str], targets: Sequence[str]) -> list[PairQuality]:
        """Return the quality of each pair of a block that was aligned with ``threshold=LEAST``.

        Parameters
        ----------
        block : Alignments
        sources, targets : sequences of str
            The sentences.
        """
        from aligntools.aligning.applying.quality import copied, coverage, scores

        covered = coverage(block.table, block.probabilities, block.lengths)
        per_word = block.scores[:, 2:].T
        figures = np.stack([scores(covered, per_word), *covered, np.fmin(*per_word)]).T.tolist()
        words = block.lengths[0].tolist()
        found = []
        for row, n, source, target in zip(figures, words, sources, targets, strict=True):
            same = copied(source.split(), target.split()) if n else 0.0
            score, first, second, probability = row
            reason = self._reason(score, min(first, second), probability, same) if n else "unaligned"
            found.append(PairQuality(score, first, second, probability, same, reason))
        return found

    def _reason(self, score: float, covered: float, probability: float, same: float) -> str:
        if same > self.settings.max_copied:
            return "copied"
        if score < self.settings.min_score:
            return "score"
        if covered < self.settings.min_coverage:
            return "coverage"
        least = self.settings.min_probability
        if least is not None and probability < least:
            return "probability"
        return ""


class FilteringKeywords(FilterKeywords, TrainingKeywords, total=False):
    """Keywords of `filter_pairs`, besides its own parameters."""


@taking(FilterSettings)
def filter_pairs(
    sources: Sequence[Sentence],
    targets: Sequence[Sentence],
    limits: FilterSettings | None = None,
    *,
    model: Aligner | None = None,
    **options: Unpack[FilteringKeywords],
) -> list[PairQuality]:
    """Judge sentence pairs by how well their words align: one `PairQuality` for each pair.

    Parameters
    ----------
    sources, targets : sequences of str or of lists of str
        As many of each.
    model : Aligner or None
        What is known of the languages; None trains on these pairs themselves, which takes some thousands of them.
    limits : FilterSettings or None
        The limits below, whole.
    **options

    The keywords of `train_aligner` go to training, where there is no ``model``.

    Returns
    -------
    list of PairQuality

    Raises
    ------
    DataError
        When there are not as many sentences of each.
    UsageProblem
        When a limit is out of its range.

    Examples
    --------
    >>> import aligntools as at
    >>> text = at.read_bitext("data/samples/de-en.txt")
    >>> model = at.train_aligner(text)
    >>> good = "Der Zug fährt um acht Uhr ab .", "The train leaves at eight o'clock ."
    >>> bad = "Der Zug fährt um acht Uhr ab .", "Yesterday I bought a new bicycle ."
    >>> [pair.kept for pair in at.filter_pairs(*zip(good, bad), model=model)]
    [True, False]
    """
    given = Given("filter_pairs", options)
    judge = Filter(given.take(FilterSettings, limits))
    settings, weights = given.take(AlignerSettings), given.take(PriorWeights)
    reading, run = given.take(Reading), given.take(Run)
    given.end()
    if model is None:
        model = train_aligner(sources, targets, settings, weights=weights, reading=reading, run=run)
    lines = [[s if isinstance(s, str) else " ".join(s) for s in side] for side in (sources, targets)]
    found: list[PairQuality] = []
    for block in qualities(model, *lines, run=run):
        here = slice(len(found), len(found) + len(block))
        found += judge.judged(block, lines[0][here], lines[1][here])
    return found


def qualities(model: Aligner, *texts: Any, **options: Any) -> Iterator[Alignments]:
    """Align as `Aligner.align_blocks` does, with every link that counts for a pair's quality."""
    from aligntools.aligning.applying.quality import LEAST

    least = LEAST if model.settings.direction == "both" else None  # one direction has each word's best link
    yield from model.align_blocks(*texts, threshold=least, directions=False, **options)


class FilteredText:
    """A text in files whose pairs are judged, in order, by a saved model or by one that is trained on it.

    Parameters
    ----------
    files : TextFiles
    limits : FilterSettings
    training : AlignerSettings
    reading : Reading
    run : Run
    watch : Watch
    model : str or None
        A saved model.
    verify : bool
        Check its checksum.
    save_model : str or None
        Where the model that is trained is saved.

    Attributes
    ----------
    tally : Tally
        What was aligned so far.
    """

    def __init__(
        self,
        files: TextFiles,
        limits: FilterSettings,
        training: AlignerSettings,
        reading: Reading,
        run: Run,
        watch: Watch,
        *,
        model: str | None = None,
        verify: bool = True,
        save_model: str | None = None,
    ) -> None:
        files.check()
        self._filter, self._training, self._watch = Filter(limits), training, watch
        self._run, self._reading, self._save_model = run, reading, save_model
        with pool_of(run.threads) as pool:
            self._model = None if model is None else loaded(model, pool, watch, verify, reading)
        if self._model is not None:
            self._reading = self._model[1]
        self._raw, self._tokens = raw_text(files, self._reading, applied=model is not None)
        self.tally = Tally()

    @property
    def tabbed(self) -> bool:
        """Whether pairs that pass are written with a tab between their sides, as they are read."""
        return self._raw.format in (None, "tsv")

    def __iter__(self) -> Iterator[tuple[list[PairQuality], list[list[bytes]]]]:
        """Yield the qualities of consecutive pairs, with both sides as they stand in the files."""
        with closing(self._raw), closing(self._tokens or self._raw), pool_of(self._run.threads) as pool:
            blocks = self._blocks(replace(self._run, threads=pool))
            with self._watch.stage("filtering"):
                for block in blocks:
                    sides = self._raw.read(len(block))
                    source, target = ([line.decode("utf-8", "replace") for line in side] for side in sides)
                    yield self._filter.judged(block, source, target), sides
                    self.tally.add(block)
                    self._watch.tell(f"filtering: {self.tally.pairs} pairs")

    def _blocks(self, run: Run) -> Iterator[Alignments]:
        inputs = (self._tokens or self._raw).inputs
        if self._model is not None:
            return qualities(self._model[0], *inputs, reading=self._reading, run=run)
        with self._watch.stage("reading"):
            bitext = read_bitext(*inputs, reading=self._reading)
        how: Any = {"reading": self._reading, "run": run, "keep_text": False, "progress": self._watch}
        aligner = train_aligner(bitext, None, self._training, **how)
        if self._save_model:
            with self._watch.stage("saving"):
                aligner.save(self._save_model)
        return qualities(aligner, bitext, run=run)
