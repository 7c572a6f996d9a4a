"""The contrastive aligner from Python: learning how links go together, and aligning with it (Liu & Sun 2015)."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from aligntools.aligning.contrastive.settings import (
    MOST_FILES,
    Candidates,
    Constraint,
    ContrastiveSettings,
    Density,
    Method,
    Optimizer,
)
from aligntools.api.aligner import Aligner
from aligntools.api.alignment import read_bitext
from aligntools.api.alignments import Alignment, Alignments, with_words
from aligntools.api.contrastive_base import judge_for, judge_of, train_base
from aligntools.api.engines import Where, engines_of, mapping
from aligntools.api.evidence import Evidence, check_count, in_step
from aligntools.api.links import OneAlignment
from aligntools.api.progress import Progress, Step, reporter
from aligntools.api.teaching import SomeStart, resolved_start
from aligntools.api.texts import InputFormat, Sentence, Sentences, Split
from aligntools.api.threads import pool_of
from aligntools.ground.errors import DataError, UsageProblem

if TYPE_CHECKING:
    from aligntools.aligning.applying.applier import Applier
    from aligntools.aligning.contrastive.candidates import CandidateFinder
    from aligntools.aligning.contrastive.evidence_tasks import EvidenceFile
    from aligntools.aligning.contrastive.tasks import GoldLearning
    from aligntools.aligning.contrastive.weights import Weights
    from aligntools.aligning.model import AlignmentModel
    from aligntools.formats.corpus import Bitext
    from aligntools.formats.given_links import GivenLinks
    from aligntools.formats.goldlinks import Gold
    from aligntools.ground.parallel import Pool

#: Sentence pairs searched at a time: their candidate links take far more memory than the pairs.
PART = 10_000
_SETTINGS = ContrastiveSettings()


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
        Errors on the gold links that the weights were learned from.
    evidence : sequence of EvidenceFile
        What was found out about the files of evidence that the weights were learned with.
    """

    def __init__(
        self, aligner: Aligner, weights: "Weights", report: "GoldLearning | None" = None,
        evidence: "Sequence[EvidenceFile]" = (),
    ):  # fmt: skip
        _check_base(aligner)
        self._aligner, self._weights, self._report, self._evidence = aligner, weights, report, tuple(evidence)

    def __reduce__(self) -> tuple[Any, ...]:
        return ContrastiveAligner, (self._aligner, self._weights, self._report, self._evidence)

    @property
    def aligner(self) -> Aligner:
        """The base model."""
        return self._aligner

    @property
    def model(self) -> "AlignmentModel":
        """The base model's vocabularies, settings and arrays."""
        return self._aligner.model

    @property
    def weights(self) -> "Weights":
        """The features' weights, and how alignments are searched with them."""
        return self._weights

    @property
    def report(self) -> "GoldLearning | None":
        """Errors on gold links, AER as fractions of 1.

        ``base``, ``fitted`` and ``validated``; with evidence ``files``, each alone, and ``without``, as ``validated``.
        """
        return self._report

    @property
    def evidence(self) -> "tuple[EvidenceFile, ...]":
        """Of each file of evidence: links, agreement with the base model, estimated precision and recall, weight."""
        return self._evidence

    @classmethod
    def load(
        cls, weights: str | os.PathLike[str], aligner: Aligner, *, beam: int | None = None,
        constraint: Constraint | None = None, candidates: Candidates | None = None, start: SomeStart | None = None,
    ) -> "ContrastiveAligner":  # fmt: skip
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

        Raises
        ------
        DataError
            When it is not a weights file, or names features that do not exist.
        """
        found = load_contrastive_weights(
            weights, beam=beam, constraint=constraint, candidates=candidates, start=start
        )  # fmt: skip
        return cls(aligner, found)

    @cached_property
    def _applier(self) -> "Applier":
        from aligntools.aligning.contrastive.candidates import CELLS

        return self.aligner.applier(CELLS)

    def save_weights(self, path: str | os.PathLike[str]) -> None:
        """Write the weights as JSON; the base model is saved by itself.

        Raises
        ------
        DataError
            When the file cannot be written.
        """
        self.weights.save(os.fspath(path))

    def align(
        self, source: Sentence, target: Sentence, *, max_length: int = 2000, evidence: "Sequence[OneAlignment]" = ()
    ) -> Alignment:
        """Align one sentence pair; ``evidence`` has other aligners' alignments of it."""
        given = [[one] for one in evidence]
        (found,) = self.align_batch(
            [source], [target], max_length=max_length, unbuffered=True, threads=1, evidence=given
        )  # fmt: skip
        return with_words(found, source, target)

    def align_batch(
        self, sources: "Sentences | Bitext", targets: Sentences | None = None, *, max_length: int = 2000,
        strict: bool = False, input_format: InputFormat = "auto", unbuffered: bool = False,
        threads: "int | Pool | None" = None, evidence: Sequence[Evidence] = (), **where: Unpack[Where],
    ) -> Iterator[Alignment]:  # fmt: skip
        """Align sentence pairs as they come: one `Alignment` for each pair; see `Aligner.align_batch`.

        Probabilities and scores are those of the base model. ``evidence`` has the same other aligners' links as when
        the weights were learned (see `train_contrastive_aligner`), of these pairs.

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
        for block in self.align_blocks(
            sources,
            targets,
            max_length=max_length,
            strict=strict,
            input_format=input_format,
            unbuffered=unbuffered,
            threads=threads,
            evidence=evidence,
            **where,
        ):
            yield from block

    def align_blocks(
        self, sources: "Sentences | Bitext", targets: Sentences | None = None, *, max_length: int = 2000,
        strict: bool = False, input_format: InputFormat = "auto", unbuffered: bool = False,
        threads: "int | Pool | None" = None, evidence: Sequence[Evidence] = (), **where: Unpack[Where],
    ) -> Iterator[Alignments]:  # fmt: skip
        """Align as `align_batch` does; yield runs of sentence pairs as arrays, for speed."""
        from aligntools.api.aligning_blocks import JOB, aligned_by

        check_count(evidence, len(self.weights.tables), MOST_FILES)
        engines = engines_of(where)
        if unbuffered and engines.asked:
            raise UsageProblem("unbuffered pairs are aligned in this process; leave out the workers")
        part = JOB if engines.asked else PART
        texts = in_step(
            self.aligner.texts(sources, targets, max_length, strict, input_format, unbuffered, part), evidence
        )
        with pool_of(threads) as pool:
            if engines.asked:
                with mapping(engines, where.get("tmpdir"), pool) as blocks:
                    yield from aligned_by(blocks, self, _align, texts)
                return
            for text, given in texts:
                yield from _align(self, text, pool, given)


def load_contrastive_weights(
    path: str | os.PathLike[str], *, beam: int | None = None, constraint: Constraint | None = None,
    candidates: Candidates | None = None, start: SomeStart | None = None,
) -> "Weights":  # fmt: skip
    """Read a weights file alone; see `ContrastiveAligner.load`."""
    from aligntools.aligning.contrastive.weights import load_weights

    _, given = resolved_start(start)
    named = os.fspath(start) if isinstance(start, (str, os.PathLike)) else "the start"
    found = load_weights(os.fspath(path), given.trees if given is not None else None, named)
    chosen: dict[str, Any] = {name: value for name, value in (("beam", beam), ("constraint", constraint)) if value}
    search = replace(found.search, **chosen)
    return replace(found, search=search.among(candidates) if candidates else search)


def _align(
    aligner: ContrastiveAligner, text: "Bitext", pool: "Pool", evidence: "list[GivenLinks]"
) -> Iterator[Alignments]:
    """Yield the alignments of runs of a text in the model's ids."""
    from aligntools.aligning.contrastive import tasks
    from aligntools.formats.corpus import Skipped

    finder = _candidate_finder(aligner.aligner, aligner.weights, pool, aligner._applier)
    skipped = text.skipped
    for d in tasks.align(finder, text, aligner.weights, pool, evidence):
        yield Alignments(d.links, d.probabilities, None, None, d.log_likelihood, d.lengths, skipped)
        skipped = Skipped()


def _check_base(aligner: Aligner) -> None:
    if aligner.settings.direction != "both":
        raise UsageProblem("the base model has one direction alone; this needs one with both")


def _candidate_finder(
    aligner: Aligner, chosen: Any, pool: "Pool", applier: "Applier | None" = None
) -> "CandidateFinder":
    """Return what finds the features' values; ``chosen`` says which are active."""
    from aligntools.aligning.contrastive.candidates import EVERY_CELL, CandidateFinder

    bounds: dict[str, Any] = EVERY_CELL if chosen.search.candidates == "all" else {}
    return CandidateFinder(aligner.model, pool, judge_of(chosen), applier=applier, **bounds)


def train_contrastive_aligner(
    sources: "Sentences | Bitext", targets: Sentences | None = None, *, aligner: Aligner | None = None,
    gold: "Gold | Path | str | list[Any] | None" = None, evidence: Sequence[Evidence] = (),
    evidence_share: float | None = _SETTINGS.evidence_share, features: str = _SETTINGS.features,
    start: SomeStart | None = _SETTINGS.start, sentences: int = _SETTINGS.sentences, noise: str = _SETTINGS.noise,
    n_best: int = _SETTINGS.n_best, learning_beam: int = _SETTINGS.learning_beam,
    optimizer: Optimizer = _SETTINGS.optimizer, passes: int | None = _SETTINGS.passes,
    rate: float | None = _SETTINGS.rate,
    pull: float | None = _SETTINGS.pull, density: Density | None = _SETTINGS.density, beam: int = _SETTINGS.beam,
    constraint: Constraint = _SETTINGS.constraint, candidates: Candidates = _SETTINGS.candidates,
    method: Method = _SETTINGS.method, folds: int = _SETTINGS.folds, rounds: int | None = _SETTINGS.rounds,
    fast: bool = False,
    case_sensitive: bool = False, max_length: int = 2000, strict: bool = False, split: Split = "spaces",
    seed: int = _SETTINGS.seed, threads: "int | Pool | None" = None, progress: Progress = None,
) -> ContrastiveAligner:  # fmt: skip
    """Learn the weights of features of whole alignments, from the text itself or from gold links.

    A log-linear model over a base aligner's posteriors and word probabilities weighs how links go together (Liu &
    Sun 2015). Without gold links each observed pair is compared with a corrupted copy; with them the error itself is
    minimized.

    Parameters
    ----------
    sources, targets : iterables of str or of lists of str, or files (str or path)
        As for `train_aligner`.
    aligner : Aligner or None
        The base model; None trains one on this text.
    gold : path, Gold, or list
        Gold links of the text's first pairs, as `aer` takes them.
    evidence : sequence of paths, or of alignments
        Other aligners' links of the same pairs, one item for each aligner: a Pharaoh file, whose links may have
        probabilities (``3-4:0.97``) or be possible (``3?4``), or alignments as `symmetrize` takes them. How far each is
        to be believed is learned from how it agrees with the base model and the others, or from gold links.
    evidence_share : float or None
        What every file of evidence counts for beside the base model, 0 to 1; with gold links, where learning begins.
        None: without gold links little, unless a file hardly contradicts what the base model is sure of. Say more of
        an aligner that is known to be better.
    features : str
        ``local``, ``paper``, ``all``, or names, with commas; ``-name`` leaves one out.
    start : str, path, ContrastiveStart or None
        What judges links, and start weights: learned from gold links of other ``languages``, or the ``paper``'s; or
        what `teach` returned, or its file. None: ``languages`` with all features, else ``paper``.
    sentences : int
        Pairs to learn from, chosen at random.
    noise : str
        How the corrupted copies (negative examples) are made: ``shuffle``, ``delete``, ``insert`` or ``replace``; or
        several with the share of pairs that are corrupted so: ``shuffle:2,delete:1``.
    n_best : int
        Alignments of each pair that stand for all.
    learning_beam : int
        Beam width of the search for these.
    optimizer : str
        How steps are taken: on the ``sphere`` of the start's size, keeping the best pass; or plainly, as the paper
        does (``sgd``).
    passes : int or None
        Most passes over the pairs; 0 keeps the start. None: 5.
    rate, pull : float or None
        Size of the first steps; share of the start in what is learned. None: as the start and ``optimizer`` suggest.
    density : str or None
        How many links: as the ``base`` model decides, as it expects (``expected``), or as the weights say
        (``learned``). None: ``base``. With other aligners' tables, ``expected`` is better: their posteriors decide
        on few links.
    beam : int
        Beam width.
    constraint : str
        Allow all alignments (``none``), or only those that an ITG over words (``itg``) or blocks (``block-itg``)
        can build.
    candidates : str
        Cells that may be linked: those to which the ``base`` model gives some posterior, or ``all``, the paper's
        full space: many times slower.
    method : str
        With gold links: minimum ``risk``, or minimum error rate training (``mert``).
    folds : int
        With gold links: parts of the cross-validation; 0 for none.
    rounds : int or None
        Times that the base model is trained; each time after the first, links that the start's network (or trees) found
        in the text are priors. None: 2 with a network, 1 with ``fast``, more than 100,000 pairs, the ``paper``'s start,
        one of trees, or where there is an ``aligner``, which is taken as it is.
    fast, case_sensitive, max_length, strict, split, seed, threads, progress
        As for `train_aligner`.

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
    from aligntools.aligning.contrastive import tasks
    from aligntools.formats.corpus import Bitext

    named, begun = resolved_start(start)
    settings = ContrastiveSettings(
        features, named, sentences, noise, n_best, learning_beam, optimizer, passes, rate, pull, density, beam,
        constraint, candidates, method, folds, seed, evidence_share, rounds,
    ).checked()  # fmt: skip
    tell = reporter(progress)
    judge = judge_for(features, start)  # wrong features are told of before anything is trained
    if aligner is not None and (rounds or 1) > 1:
        raise UsageProblem("an aligner is taken as it is; leave it out, or ask for one round")
    with pool_of(threads) as pool:
        if aligner is None:
            if not isinstance(sources, Bitext):
                sources = read_bitext(
                    sources,
                    targets,
                    case_sensitive=case_sensitive,
                    max_length=max_length,
                    strict=strict,
                    split=split,
                )
            aligner = train_base(
                sources, judge, rounds, fast=fast, case_sensitive=case_sensitive, seed=seed, threads=pool,
                progress=progress,
            )  # fmt: skip
        _check_base(aligner)
        members = len(aligner.model.views) + (aligner.model.subwords is not None)
        plan = tasks.plan_of(settings, aligner.model.settings.threshold(members), begun)
        finder = _candidate_finder(aligner, plan, pool)
        texts = list(aligner.texts(sources, targets, max_length, strict, "auto", False))
        given = _Given(finder, texts, evidence, plan) if evidence else None
        if gold is not None:
            found = _learn_from_gold(finder, texts, gold, plan, settings, tell, given)
            told = given.told(found.weights, found.files) if given else ()
            return ContrastiveAligner(aligner, found.weights, found, told)

        def learned(figures: dict[str, Any]) -> None:
            tell(Step("learning", figures["pass"], None, figures))

        weights = tasks.learn_weights(finder, texts, plan, learned)
        if given is None:
            return ContrastiveAligner(aligner, weights)
        weights = given.weights(weights, settings.evidence_share)
        return ContrastiveAligner(aligner, weights, None, given.told(weights))


class _Given:
    """Evidence for a text: each file's links in its runs of pairs, and what they are worth."""

    def __init__(
        self, finder: "CandidateFinder", texts: "list[Bitext]", evidence: Sequence[Evidence], plan: Any
    ) -> None:  # fmt: skip
        from aligntools.aligning.contrastive import evidence_tasks

        check_count(evidence, len(evidence), MOST_FILES)
        self.links = [given for _, given in in_step(texts, evidence)]
        self.tables, self._files = evidence_tasks.judge_files(finder, texts, self.links, plan)

    def weights(self, weights: "Weights", share: float | None) -> "Weights":
        """Return weights with those of the files."""
        from aligntools.aligning.contrastive.evidence_tasks import with_evidence

        return with_evidence(weights, self.tables, self._files, share)

    def told(self, weights: "Weights", aers: Sequence[float] = ()) -> "list[EvidenceFile]":
        """Return what is known of the files."""
        own = weights.values[len(weights.values) - len(self._files) :].tolist()
        known: list[float | None] = list(aers) or [None] * len(own)
        return [replace(f, weight=w, aer=a) for f, w, a in zip(self._files, own, known, strict=True)]


def _learn_from_gold(
    finder: "CandidateFinder", texts: "list[Bitext]", given: Any, plan: Any, settings: ContrastiveSettings, tell: Any,
    evidence: _Given | None,
) -> "GoldLearning":  # fmt: skip
    """Learn weights from the gold links of the text's first pairs."""
    from aligntools.aligning.contrastive import tasks
    from aligntools.aligning.contrastive.noise import pick
    from aligntools.api.scorers import gold_of
    from aligntools.formats.pharaoh import check_range

    name = str(given) if isinstance(given, str | Path) else "gold"
    n = sum(map(len, texts))
    gold = gold_of(given, {"sentences": n})
    if gold.reach > n:
        problem = f"{len(gold)} sentence pairs" if gold.numbers is None else f"links of line {gold.reach}"
        raise DataError(name, None, f"{problem}, but the text has {n}")
    if gold.reach > len(texts[0]):
        raise DataError(name, None, f"{gold.reach} sentence pairs; the first {len(texts[0])} are enough")
    text = pick(texts[0], gold.rows)
    lengths = text.source.lengths(), text.target.lengths()
    check_range(gold.possible, *lengths, path=name, index_base=gold.index_base)

    def learned(figures: dict[str, Any]) -> None:
        tell(Step("learning", figures["round"], None, figures))

    how = settings.method, settings.folds, learned
    if evidence is None:
        return tasks.learn_from_gold(finder, text, gold, plan, *how)
    from aligntools.aligning.contrastive.evidence_tasks import plan_with_evidence

    links, tables = [x[gold.rows] for x in evidence.links[0]], evidence.tables
    with_files = plan_with_evidence(plan, len(tables), settings.evidence_share)
    found = tasks.learn_from_gold(finder, text, gold, with_files, *how, links, tables)
    if found.validated is None:
        return found
    return replace(found, without=tasks.learn_from_gold(finder, text, gold, plan, *how[:2]).validated)
