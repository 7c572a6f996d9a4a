"""The contrastive aligner from Python: learning how links go together, and aligning with it (Liu & Sun 2015)."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

import numpy as np

from aligntools.aligning.aligner import JOB, Aligner, evidence_sources, parts_to_align, text_of
from aligntools.aligning.alignment import text_with_evidence
from aligntools.aligning.alignments import Alignment, Alignments, with_words
from aligntools.aligning.contrastive import tasks
from aligntools.aligning.contrastive.base import check_of_places, network_for, network_of, train_base
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.distillation import SomeStart, resolved_start
from aligntools.aligning.contrastive.other_links import Evidence, check_count, in_step
from aligntools.aligning.contrastive.settings import Candidates, Constraint, ContrastiveSettings
from aligntools.aligning.contrastive.tasks import EvidenceFile, GoldLearning
from aligntools.aligning.contrastive.weights import Weights, load_weights
from aligntools.aligning.evidence import EvidenceOptions, TextEvidence, TextSource
from aligntools.aligning.evidence_kinds import SETTINGS
from aligntools.aligning.model import AlignmentModel
from aligntools.aligning.settings import AlignerSettings, Decisions
from aligntools.formats.inputs.sentences import Sentence, Sentences
from aligntools.formats.links.given_links import GivenLinks
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import check_range
from aligntools.formats.text.bitext import name_of
from aligntools.formats.text.corpus import Bitext, pick
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.declarations import Keywords, taking
from aligntools.ground.errors import DataError, UsageProblem
from aligntools.ground.parallel import pool_of
from aligntools.ground.progress import Progress, Step, reporter
from aligntools.ground.run import Run
from aligntools.links.alignments import OneAlignment
from aligntools.metrics.scorers import gold_of
from aligntools.pipeline import Part, Tally, map_parts

if TYPE_CHECKING:
    from aligntools.ground.keywords import AppliedEvidenceKeywords, SearchingKeywords, WeightKeywords
    from aligntools.ground.parallel import Pool


#: Sentence pairs searched at a time: their candidate links take far more memory than the pairs.
PART = 10_000
_log = logging.getLogger("aligntools")


class ContrastiveAligner:
    """A base aligner and the weights of features of whole alignments over it.

    It does not change, can be pickled, and may be used from several threads at once. `train_contrastive_aligner` and
    `load` make one.

    Parameters
    ----------
    aligner : Aligner
        The base model, of both directions.
    weights : Weights
    report : GoldLearning or None
    evidence : sequence of EvidenceFile
    asked : EvidenceOptions
        Which sources the weights ask, where they ask some.
    """

    #: The base model.
    aligner: Aligner
    #: The base model's vocabularies, settings and arrays.
    model: AlignmentModel
    #: The features' weights, and how alignments are searched with them.
    weights: Weights
    #: Errors on the gold links that the weights were learned from, AER as fractions of 1: ``base``, ``fitted`` and
    #: ``validated``; with evidence ``files``, each alone, and ``without``, as ``validated``.
    report: GoldLearning | None
    #: Of each file of evidence that the weights were learned with: links, agreement with the base model, estimated
    #: precision and recall, weight.
    evidence: "tuple[EvidenceFile, ...]"
    _asked: EvidenceOptions

    def __init__(
        self,
        aligner: Aligner,
        weights: Weights,
        report: GoldLearning | None = None,
        evidence: "Sequence[EvidenceFile]" = (),
        asked: EvidenceOptions = EvidenceOptions(),  # noqa: B008
    ):
        _check_base(aligner)
        own = {"aligner": aligner, "model": aligner.model, "weights": weights.without(asked.left_out)}
        vars(self).update(own, report=report, evidence=tuple(evidence), _asked=asked)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name}: a model cannot be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return ContrastiveAligner, (self.aligner, self.weights, self.report, self.evidence, self._asked)

    @cached_property
    def _sources(self) -> Mapping[str, TextSource]:
        return evidence_sources(self.weights, self.aligner.known, self._asked)

    @classmethod
    def load(
        cls,
        weights: str | os.PathLike[str],
        aligner: Aligner,
        *,
        beam: int | None = None,
        constraint: Constraint | None = None,
        candidates: Candidates | None = None,
        start: SomeStart | None = None,
        **options: "Unpack[AppliedEvidenceKeywords]",
    ) -> "ContrastiveAligner":
        """Read a weights file, as ``contrastive-align --save-weights`` or `save_weights` wrote it.

        Parameters
        ----------
        weights : path
        aligner : Aligner
            The base model.
        beam, constraint, candidates
            In place of the file's own.
        start : path, ContrastiveStart or None
            What the weights were learned from, where that is none of the starts that come with the program: what
            judges links goes with them.
        **options
            Where sources of evidence are, as for `Aligner.load`.

        Raises
        ------
        DataError
            When it is not a weights file, or names features that do not exist.
        """
        found = load_contrastive_weights(weights, beam=beam, constraint=constraint, candidates=candidates, start=start)
        given = Keywords("load", options)
        asked = EvidenceOptions.of(given.take, applying=True)
        given.end()
        return cls(aligner, found, asked=asked)

    def save_weights(self, path: str | os.PathLike[str]) -> None:
        """Write the weights as JSON; the base model is saved by itself.

        Raises
        ------
        DataError
            When the file cannot be written.
        """
        self.weights.save(os.fspath(path))

    def align(
        self,
        source: Sentence,
        target: Sentence,
        *,
        evidence: "Sequence[OneAlignment]" = (),
        threshold: float | None = None,
        **options: "Unpack[SearchingKeywords]",
    ) -> Alignment:
        """Align one sentence pair; ``evidence`` has other aligners' alignments of it. See `align_batch`."""
        given: Any = {"evidence": [[one] for one in evidence], "threshold": threshold, "unbuffered": True}
        options.setdefault("threads", 1)
        (found,) = self.align_batch([source], [target], **given, **options)
        return with_words(found, source, target)

    def align_batch(
        self,
        sources: "Sentences | Bitext",
        targets: Sentences | None = None,
        *,
        unbuffered: bool = False,
        evidence: Sequence[Evidence] = (),
        threshold: float | None = None,
        **options: "Unpack[SearchingKeywords]",
    ) -> Iterator[Alignment]:
        """Align sentence pairs one after the other: one `Alignment` for each pair; see `Aligner.align_batch`.

        Probabilities of links are the network's, scores the base model's. ``evidence`` has the same other aligners'
        links as when the weights were learned (see `train_contrastive_aligner`), of these pairs.

        Parameters
        ----------
        threshold : float or None
            The posterior that a link must exceed, as for `Aligner.align_batch`; None: as many links as the weights
            give.

        Yields
        ------
        Alignment

        Raises
        ------
        DataError
            When one side is shorter than the other, ``strict`` is not met, or evidence does not fit the text.
        UsageProblem
            When there is more or less evidence than the weights were learned with.
        """
        how: Any = {"unbuffered": unbuffered, "evidence": evidence, "threshold": threshold}
        for block in self.align_blocks(sources, targets, **how, **options):
            yield from block

    def align_blocks(
        self,
        sources: "Sentences | Bitext",
        targets: Sentences | None = None,
        *,
        unbuffered: bool = False,
        evidence: Sequence[Evidence] = (),
        requests: "tuple[Tally, str] | None" = None,
        threshold: float | None = None,
        **options: "Unpack[SearchingKeywords]",
    ) -> Iterator[Alignments]:
        """Align as `align_batch` does; yield runs of sentence pairs as arrays, for speed."""
        check_count(evidence, self.weights.files)
        given = Keywords("align_blocks", options)
        reading, run = given.take(Reading, "reading"), given.take(Run, "run")
        given.end()
        decisions = Decisions(threshold=threshold).checked()
        if unbuffered and run.asked:
            raise UsageProblem("unbuffered pairs are aligned in this process; leave out the workers")
        part = JOB if run.asked else PART
        with pool_of(run.threads) as pool:
            read = self.aligner.texts_with_links(self._sources, sources, targets, reading, unbuffered, part, pool)
            work = partial(_align_part, decisions)
            parts = parts_to_align(in_step(read, evidence), run, requests)
            with closing(map_parts(work, self, parts, run, pool, requests[0] if requests else Tally())) as done:
                for found in done:
                    yield from found


def load_contrastive_weights(
    path: str | os.PathLike[str],
    *,
    beam: int | None = None,
    constraint: Constraint | None = None,
    candidates: Candidates | None = None,
    start: SomeStart | None = None,
) -> "Weights":
    """Read a weights file alone; see `ContrastiveAligner.load`."""
    _, given = resolved_start(start)
    found = load_weights(os.fspath(path), given.network if given is not None else None, name_of(start, "the start"))
    chosen: dict[str, Any] = {name: value for name, value in (("beam", beam), ("constraint", constraint)) if value}
    search = replace(found.search, **chosen)
    return replace(found, search=search.among(candidates) if candidates else search)


def _align_part(decisions: Decisions, aligner: ContrastiveAligner, part: Part, pool: "Pool") -> Iterator[Alignments]:
    """Yield the alignments of the runs of a part."""
    text, evidence = text_of(part, aligner.model)
    asked = network_of(aligner.weights), aligner.weights.search.candidates
    finder = CandidateFinder(aligner.model, pool, *asked, applier=aligner.aligner.network_applier)
    for number, run in enumerate(tasks.align(finder, text, aligner.weights, pool, evidence, decisions=decisions)):
        yield run if number else replace(run, skipped=text.skipped)


def _check_base(aligner: Aligner) -> None:
    if aligner.settings.direction != "both":
        raise UsageProblem("the base model has one direction alone; this needs one with both")


@taking(ContrastiveSettings, Reading, Run, *SETTINGS)
def train_contrastive_aligner(
    sources: "Sentences | Bitext",
    targets: Sentences | None = None,
    settings: ContrastiveSettings | None = None,
    *,
    aligner: Aligner | None = None,
    fast: bool = False,
    gold: "Gold | Path | str | list[Any] | None" = None,
    evidence: Sequence[Evidence] = (),
    start: SomeStart | None = None,
    reading: Reading | None = None,
    run: Run | None = None,
    progress: Progress = None,
    **options: "Unpack[WeightKeywords]",
) -> ContrastiveAligner:
    """Learn the weights of features of whole alignments, from the text itself or from gold links.

    A log-linear model over a base aligner's posteriors and word probabilities weighs how links go together (Liu &
    Sun 2015). Without gold links each observed pair is compared with a corrupted copy; with them the error itself is
    minimized.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        As for `train_aligner`.
    aligner : Aligner or None
        The base model; None trains one on this text. Of kinds of evidence those of places take part with it.
    gold : path, Gold, or list
        Gold links of the text's first pairs, as `aer` takes them.
    evidence : sequence of paths, or of alignments
        Other aligners' links of the same pairs, one item for each aligner: a Pharaoh file, whose links may have
        probabilities (``3-4:0.97``) or be possible (``3?4``), or alignments as `symmetrize` takes them. How far each is
        to be believed is learned from how it agrees with the base model and the others, or from gold links.
    start : str, path, ContrastiveStart or None
        What judges links, and start weights: learned from gold links of other ``languages``, or the ``paper``'s; or
        what `teach` returned, or its file. None: ``languages`` with all features, else ``paper``.
    fast : bool
        Train the quickest base model: the HMM, one view of the text.
    settings, reading, run : ContrastiveSettings, Reading, Run or None
        The options below, whole.
    progress : callable, True or None
        As for `train_aligner`.
    **options

    Returns
    -------
    ContrastiveAligner

    Raises
    ------
    DataError
        When gold links or evidence do not fit the text.
    UsageProblem
        When an option or a feature does not exist, the base model has one direction alone, or several rounds are asked
        for where there is a base model already, or nothing that judges links.

    Examples
    --------
    >>> import aligntools as at
    >>> text = at.read_bitext("data/samples/de-en.txt")
    >>> model = at.train_contrastive_aligner(text, fast=True, sentences=100)
    >>> str(model.align("Der Zug fährt .", "The train leaves ."))
    '0-0 1-1 2-2 3-3'
    """
    given = Keywords("train_contrastive_aligner", options)
    named, begun = resolved_start(start)
    settings = replace(given.take(ContrastiveSettings, settings), start=named).checked()
    for name in settings.of_noise if gold is not None else ():
        _log.warning("`%s` changes nothing: with `gold` weights are learned from its links, not from noise", name)
    reading, run = given.take(Reading, reading), given.take(Run, run)
    asked = EvidenceOptions.of(given.take)
    given.end()
    tell = reporter(progress)
    network = network_for(settings.features, start)  # wrong features are told of before anything is trained
    if aligner is not None and (aligner.known is None or aligner.known.text is not sources):
        check_of_places(asked, network)
    left_out = asked.left_out
    asked = asked.chosen(network is not None and not fast)
    if aligner is not None and (settings.rounds or 1) > 1:
        raise UsageProblem("an aligner is taken as it is; leave it out, or ask for one round")
    with pool_of(run.threads) as pool:
        if aligner is None:
            run = replace(run, threads=pool)
            sources, known = text_with_evidence(sources, targets, asked, reading, run)
            gold = None if gold is None else gold_within(gold, sources, len(sources))  # before anything is trained
            base = AlignerSettings(fast=fast, seed=settings.seed)
            how: dict[str, Any] = {"reading": reading, "run": run, "progress": progress, "known": known}
            aligner = train_base(sources, network, base, settings.rounds, **how)
        elif asked and (aligner.known is None or aligner.known.text is not sources):
            how = {"reading": replace(reading, case_sensitive=not aligner.model.lowercase), "run": run}
            sources, known = text_with_evidence(sources, targets, asked, places=True, **how)
            aligner = aligner.knowing(known)
        _check_base(aligner)
        texts = list(aligner.texts(sources, targets, reading, False))
        pairs = sum(map(len, texts)) if gold is None else None
        known = aligner.known.without(left_out) if aligner.known is not None and network is not None else None
        if known is not None and (known.text is not sources or not known.places):
            known = None
        plan = tasks.plan_of(settings, aligner.model.usual_threshold, begun, pairs, known is not None)
        finder = CandidateFinder(aligner.model, pool, network_of(plan), plan.search.candidates)
        check_count(evidence)
        links = [given for _, given in in_step(texts, evidence)]
        tables, files = tasks.judge_files(finder, texts, links, plan) if evidence else ([], [])
        if gold is not None:
            found = learn_from_gold(finder, texts, gold, plan, settings, tell, links[0], tables, known)
            return ContrastiveAligner(aligner, found.weights, found, _told(files, found.weights, found.files))

        weights = tasks.learn_weights(
            finder, texts, plan, lambda figures: tell(Step("learning", figures["pass"], None, figures))
        )
        if files:
            given_share = settings.evidence_share
            shares = [tasks.share(file.precision) if given_share is None else given_share for file in files]
            weights = tasks.with_tables(weights, tables, shares)
        if known is not None:
            worth = {name: places.table for name, places in known.places.items()}
            weights = tasks.with_knowers(weights, known.header, worth, aligner.model.evidence)
            if not files and known.text is not None:
                places = [one.given for one in known.places.values()]
                tell(Step("deciding", None, None, tasks.brought(finder, known.text, weights, places)))
        return ContrastiveAligner(aligner, weights, None, _told(files, weights))


def _told(files: Sequence[EvidenceFile], weights: Weights, aers: Sequence[float] = ()) -> list[EvidenceFile]:
    """Return the estimates of files of evidence with their weights and, where gold links are given, their AER."""
    own = weights.values[len(weights.values) - len(weights.tables) :].tolist()
    found = [replace(file, weight=weight) for file, weight in zip(files, own, strict=False)]
    return [replace(file, aer=aer) for file, aer in zip(found, aers, strict=False)] or found


def gold_within(given: Any, text: "Bitext", pairs: int) -> Gold:
    """Return gold links of the first pairs of a text, checked against them; ``pairs`` are in the whole text."""
    name = str(given) if isinstance(given, str | Path) else "gold"
    gold = gold_of(given, {"sentences": pairs})
    if gold.reach > pairs:
        problem = f"{len(gold)} sentence pairs" if gold.numbers is None else f"links of line {gold.reach}"
        raise DataError(name, None, f"{problem}, but the text has {pairs}")
    if gold.reach > len(text):
        raise DataError(name, None, f"{gold.reach} sentence pairs; the first {len(text)} are enough")
    own = pick(text, gold.rows)
    lengths = own.source.lengths(), own.target.lengths()
    check_range(gold.possible, *lengths, path=name, index_base=gold.index_base)
    return gold


def learn_from_gold(
    finder: CandidateFinder,
    texts: "list[Bitext]",
    given: Any,
    plan: Any,
    settings: ContrastiveSettings,
    tell: Any,
    links: Sequence[GivenLinks],
    tables: Sequence[np.ndarray],
    known: TextEvidence | None,
) -> "GoldLearning":
    """Learn weights from the gold links of the text's first pairs; ``tables`` has what files' ``links`` are worth."""
    gold = gold_within(given, texts[0], sum(map(len, texts)))
    text = pick(texts[0], gold.rows)

    def learned(figures: dict[str, Any]) -> None:
        tell(Step("learning", figures["round"], None, figures))

    how = settings.method, settings.folds, learned
    read, worth = [x[gold.rows] for x in links], list(tables)
    with_files = tasks.plan_with_evidence(plan, len(tables), settings.evidence_share)
    for places in known.places.values() if known is not None else ():
        with_files = tasks.plan_with_evidence(with_files, 1, 1.0)
        read.append(places.given[: len(texts[0])][gold.rows])
        worth.append(places.table)
    found = tasks.learn_from_gold(finder, text, gold, with_files, *how, read, worth)
    if known is not None:
        about = {name: known.header[name] for name in known.places}
        found = replace(found, weights=replace(found.weights, knowers=about))
    if not tables or found.validated is None:
        return found
    return replace(found, without=tasks.learn_from_gold(finder, text, gold, plan, *how[:2]).validated)
