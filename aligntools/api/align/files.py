"""A text in files aligned: read, an aligner trained or loaded, links and what else is wanted written."""

import contextlib
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from aligntools.aligning.evidence import Asked
from aligntools.aligning.settings import AlignerSettings, Decisions, PriorWeights, mre_symmetrization
from aligntools.api.align.aligner import PART, Aligner
from aligntools.api.align.alignment import known_text, read_bitext, train_mre_aligner
from aligntools.api.align.alignments import Alignments, AlignmentTally
from aligntools.api.align.evidence_texts import check_applied
from aligntools.api.align.given_classes import with_word_classes
from aligntools.api.align.outputs import AlignmentFiles, Outputs, check_whole_words, write_ttable
from aligntools.api.align.precompile import compiling_for
from aligntools.api.align.priors import WeightedPriors, read_priors, write_priors
from aligntools.api.align.text_files import TextFiles, TextSides
from aligntools.api.align.training import tell_unused, train_with
from aligntools.api.align.training_links import TrainingLinks
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import Watch
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

if TYPE_CHECKING:
    from aligntools.aligning.prior_counts import PriorCounter
    from aligntools.formats.links.pharaoh import Links
    from aligntools.formats.links.priors import Priors
    from aligntools.formats.text.corpus import Bitext, Skipped
    from aligntools.ground.parallel import Pool


class Trainer(Protocol):
    """What trains an aligner of a text."""

    #: What is trained, which is compiled ahead.
    model_type: str
    #: The direction that is trained, or ``both``.
    direction: str
    #: Whether the network decides on links.
    network: bool
    evidence: Asked
    #: Whether it takes `TrainingLinks`.
    finds_links: bool

    @property
    def counts(self) -> "Priors | None":
        """The priors that are trained with."""

    def first_view(self, n_words: int) -> int:
        """Return the first view that is trained of so many source words."""

    def decided(self, decisions: Decisions, start: Aligner | None) -> Decisions:
        """Return how links are decided on, where that goes by the model that training goes on from."""

    def train(self, bitext: "Bitext", start: Aligner | None, **how: Any) -> Aligner:
        """Train; the other arguments are those of `train_with`."""


@dataclass
class ModelTraining:
    """Training as `train_aligner` does it."""

    settings: AlignerSettings
    weights: PriorWeights
    priors: tuple[str, ...]
    evidence: Asked
    finds_links: bool = True

    def __post_init__(self) -> None:
        self.model_type = self.settings.trained
        self.direction: str = self.settings.direction
        self.network = self.settings.decides
        chosen = [name for name in PriorWeights.names() if getattr(self.weights, name) != getattr(PriorWeights, name)]
        if chosen and not self.priors:
            raise UsageProblem(f"`{chosen[0]}` weighs what `priors` gives; add it")

    @cached_property
    def counts(self) -> "Priors | None":
        """The priors that are trained with."""
        return read_priors(self.priors) if self.priors else None

    def first_view(self, n_words: int) -> int:
        """Return the first view that is trained of so many source words."""
        return self.settings.resolved(n_words).views[0]

    def decided(self, decisions: Decisions, start: Aligner | None) -> Decisions:
        """Return how links are decided on: as asked."""
        return decisions

    def train(self, bitext: "Bitext", start: Aligner | None, **how: Any) -> Aligner:
        """Train, or go on from an aligner."""
        if start is None:
            tell_unused(self.settings)
        own = start.settings if start else self.settings
        priors = WeightedPriors.of(self.counts, self.weights)
        return train_with(bitext, own, init_model=start, priors=priors, **how)


@dataclass
class MreTraining:
    """Training as `train_mre_aligner` does it.

    options: Its other keywords that were given.
    symmetrize: Whether ``symmetrize`` was asked for; else it goes by the model that training goes on from.
    """

    preset: Any
    options: Mapping[str, Any]
    direction: str
    symmetrize: bool
    finds_links: bool = False
    network: bool = False
    counts: None = None

    def __post_init__(self) -> None:
        self.model_type = self.options.get("model_type", "hmm")
        self.evidence = Asked()

    def first_view(self, n_words: int) -> int:
        """Return the first view that is trained."""
        return int((self.options.get("views") or (0,))[0])

    def decided(self, decisions: Decisions, start: Aligner | None) -> Decisions:
        """Return how links are decided on: as asked, or as measured best for the model."""
        if self.symmetrize or (start.settings.direction if start else self.direction) != "both":
            return decisions
        model, agreement = self.model_type, self.options.get("agreement", True)
        if start is not None:
            from aligntools.aligning.training.train_model import settings_after

            model = settings_after(start.model, True, self.options.get("model_type")).model_type
            agreement = start.settings.agreement
        return replace(decisions, symmetrize=mre_symmetrization(model, agreement, self.preset))

    def train(self, bitext: "Bitext", start: Aligner | None, **how: Any) -> Aligner:
        """Train by EM and by reconstruction, or go on from an aligner."""
        return train_mre_aligner(bitext, preset=self.preset, init_model=start, **self.options, **how)


@dataclass
class FileAlignment:
    """A text in files, and what is to be done with it.

    reading: ``split`` None is that of the model, where one is applied.
    model, init_model: A saved model: to apply, or to go on training from.
    source_classes, target_classes: Files of classes of words, for a model that goes by them.
    verify: Check its checksum.
    evidence: Which sources a model to apply asks.
    unbuffered: Write each line as soon as its pair is read.
    ending: Returns a context in which lines are answered, and that may end the reading.
    """

    text: TextFiles
    outputs: AlignmentFiles
    decisions: Decisions
    reading: Reading
    run: Run
    watch: Watch
    model: str | None = None
    init_model: str | None = None
    source_classes: str | None = None
    target_classes: str | None = None
    verify: bool = True
    evidence: Asked = field(default_factory=Asked)
    unbuffered: bool = False
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    def check(self) -> None:
        """Refuse what does not go together, before anything is read."""
        outputs, applied = self.outputs, self.model is not None
        if applied and (outputs.save_model or self.init_model):
            raise UsageProblem("`model` is applied as it is; to continue training from one use `init_model`")
        if self.init_model and os.path.isdir(self.init_model):
            raise UsageProblem("`init_model` goes on from a model file; GIZA++'s tables have no counts to go on from")
        for name in ("source_classes", "target_classes"):
            if getattr(self, name) and (applied or self.init_model):
                raise UsageProblem(f"`{name}` is for a new model; a saved one keeps the classes it was trained with")
        outputs.check(self.decisions, applied)
        if outputs.moses_dir and self.unbuffered:
            raise UsageProblem("`moses_dir` counts the links of a whole text; leave out `unbuffered`")
        if self.unbuffered and not applied:
            raise UsageProblem("`unbuffered` goes with `model`: training needs the whole text")
        self.text.check(outputs)

    def align(self, trainer: Trainer) -> None:
        """Align the text: by the model, or by one that is trained on it.

        Raises UsageProblem when files and options do not go together. Raises DataError when a file cannot be read or
        written.
        """
        self.check()
        if not self.model and not self.init_model:
            self.decisions = trainer.decided(self.decisions, None)
            self.outputs.check_direction(trainer.direction, trainer.network, self.decisions)
        with ExitStack() as stack:
            out = Outputs(stack, self.outputs, self.decisions, self.text.text)
            pool = stack.enter_context(pool_of(self.run.threads))
            aligner = self._loaded(pool) if self.model else None
            out.shape, sides = self.text.opened(self.outputs, self.reading, bool(aligner), self.unbuffered)
            if out.shape:
                stack.enter_context(contextlib.closing(out.shape))
            if aligner:
                self._apply(aligner, sides, out, pool)
            else:
                with compiling_for(trainer.model_type, pool.threads):
                    self._train(trainer, sides, out, pool)
            if out.moses:
                out.moses.finish(*self.text.paths(self.reading.split), self.reading)

    def _loaded(self, pool: "Pool") -> Aligner:
        """Load the model; text is split as its training text was, unless that is said."""
        assert self.model is not None
        aligner, self.reading = loaded(self.model, pool, self.watch, self.verify, self.reading, self.evidence)
        return aligner

    def _apply(self, aligner: Aligner, sides: TextSides, out: Outputs, pool: "Pool") -> None:
        direction = aligner.settings.direction
        self.outputs.check_direction(direction, aligner.weights is not None, self.decisions, str(self.model))
        if self.outputs.ttable:
            check_whole_words(aligner.settings.views[0])
            write_ttable(aligner, self.outputs.ttable)
        tally, counter = AlignmentTally(), self._counter(direction)
        blocks = aligner.align_blocks(
            *sides,
            decisions=self.decisions,
            directions=self.outputs.directions,
            run=replace(self.run, threads=pool),
            reading=self.reading,
            unbuffered=self.unbuffered,
            counter=counter,
        )
        with self.ending():
            with self.watch.stage("aligning"):
                for block in blocks:
                    out.write(block, flush=self.unbuffered)
                    tally.add(block)
                    self.watch.tell(f"aligning: {tally.pairs} pairs")
                if out.shape:
                    out.shape.end()
            self._finish(out, counter, tally.pairs, tally.skipped)

    def _train(self, trainer: Trainer, sides: TextSides, out: Outputs, pool: "Pool") -> None:
        watch, outputs = self.watch, self.outputs
        run = Run(threads=pool, max_memory=self.run.max_memory)
        start = Aligner.load(self.init_model, threads=pool, verify=self.verify) if self.init_model else None
        direction = start.settings.direction if start else trainer.direction
        if start:
            self.decisions = trainer.decided(self.decisions, start)
            outputs.check_direction(direction, start.weights is not None, self.decisions, str(self.init_model))
        bitext, more = self._read(trainer.evidence, sides, start, run)
        if self.source_classes or self.target_classes:
            bitext = with_word_classes(bitext, self.source_classes, self.target_classes)
        if not len(bitext.source.tokens):
            watch.say("warning: every line has a blank side; nothing to learn from")
        if outputs.ttable or outputs.giza_dir:
            first = start.settings.views[0] if start else trainer.first_view(len(bitext.source.tokens))
            check_whole_words(first, "ttable" if outputs.ttable else "giza_dir")
        counter = self._counter(direction)
        if out or counter:
            watch.go_over(len(bitext), PART)
        found = _Found(self, out, counter) if trainer.finds_links and (out or counter is not None) else None
        aligner = trainer.train(
            bitext,
            start,
            reading=self.reading,
            run=run,
            keep_text=counter is not None or outputs.costs or outputs.giza_dir is not None,
            progress=watch,
            **({"links": found.links} if found else {}),
            **more,
        )
        if outputs.save_model:
            with watch.stage("saving"):
                aligner.save(outputs.save_model)
        if outputs.ttable:
            write_ttable(aligner, outputs.ttable)
        if not out and counter is None:
            watch.summary(len(bitext), None, bitext.skipped.summary())
            return
        with watch.stage("aligning"):
            if found and found.links.found:
                found.count(bitext)
            else:
                blocks = aligner.align_blocks(
                    bitext, decisions=self.decisions, directions=outputs.directions, run=run, counter=counter
                )
                for block in blocks:
                    out.write(block)
                    watch.passed("aligning", len(block))
            if outputs.costs:
                out.write_costs(bitext, pool, self.reading.case_sensitive, trainer.counts)
            if out.shape:
                out.shape.end()
            if out.giza:
                out.giza.finish(aligner, bitext)
        self._finish(out, counter, len(bitext), bitext.skipped)

    def _read(self, asked: Asked, sides: TextSides, start: Aligner | None, run: Run) -> "tuple[Bitext, dict[str, Any]]":
        """Read the text; return what is known of its words, too, as training takes that."""
        if start:
            self.reading = replace(self.reading, case_sensitive=not start.model.lowercase)
        if not asked:
            with self.watch.stage("reading"):
                return read_bitext(*sides, reading=self.reading), {}
        with self.watch.stage(" and ".join(kind.name for kind in asked.kinds)):
            bitext, known = known_text(*sides, asked, self.reading, run, asking(self.watch))
        self.watch.close()
        assert known is not None
        for line in known.summary:
            self.watch.say(line)
        return bitext, {"known": known}

    def _counter(self, direction: str) -> "PriorCounter | None":
        """Return what counts priors, if they are asked for."""
        if not self.outputs.save_priors:
            return None
        from aligntools.aligning.prior_counts import PriorCounter

        if direction != "both":
            raise UsageProblem(f"`save_priors` counts links of both directions, and {direction} alone is trained")
        return PriorCounter()

    def _finish(self, out: Outputs, counter: "PriorCounter | None", pairs: int, skipped: "Skipped") -> None:
        """Write priors, and say what was done."""
        if counter is not None and self.outputs.save_priors:
            write_priors(self.outputs.save_priors, counter.finish())
        if out.shape is not None:
            if left := out.shape.mismatched.summary():
                self.watch.say(f"no links written for pairs: {left}")
            if out.shape.tabs:
                self.watch.say(f"tabs within sentences written as spaces: {out.shape.tabs}")
        self.watch.summary(pairs, out.links, skipped.summary())


def asking(watch: Watch) -> Callable[[str, int, int], None]:
    """Return what shows how far a kind of evidence has read a text, called with its name, more pairs and all pairs."""
    begun = set()

    def tell(kind: str, more: int, pairs: int) -> None:
        if kind not in begun:
            begun.add(kind)
            watch.begin(kind, pairs, "pair")
        watch.advance(kind, more)

    return tell


class _Found:
    """Takes the links that training finds on its way through a large text."""

    def __init__(self, work: FileAlignment, out: Outputs, counter: "PriorCounter | None") -> None:
        directions = work.outputs.directions or counter is not None
        self.links = TrainingLinks(self.take, work.decisions, directions=directions)
        self._out, self._watch, self._counter = out, work.watch, counter
        self._counted: list[tuple[Links | None, Links | None]] = []

    def take(self, block: Alignments) -> None:
        """Write the lines of a block."""
        self._out.write(block)
        if self._counter is not None:
            self._counted.append((block.forward_table, block.reverse_table))
        self._watch.passed("sampler and links", len(block))

    def count(self, bitext: "Bitext") -> None:
        """Count priors, where they are asked for."""
        from aligntools.formats.links.pharaoh import concatenate

        if self._counter is not None:
            both = [[table for table in column if table is not None] for column in zip(*self._counted, strict=True)]
            self._counter.add(bitext, *map(concatenate, both))


def loaded(
    path: str,
    pool: "Pool",
    watch: Watch,
    verify: bool,
    reading: Reading,
    asked: Asked = Asked(),  # noqa: B008
) -> tuple[Aligner, Reading]:
    """Load a saved model, and return how text is read that it is applied to: split as its training text was."""
    with watch.stage("loading"):
        aligner = Aligner.load(path, threads=pool, verify=verify).asking(asked)
    check_applied(asked, aligner.weights, path)
    split: Any = reading.split or aligner.model.split
    return aligner, replace(reading, split=split)
