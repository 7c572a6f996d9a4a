"""A text in files aligned in parts: larger than memory, worked from disk, in processes or on a cluster."""

import contextlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from aligntools.aligning.settings import PartSettings
from aligntools.api.align import large
from aligntools.api.align.alignments import Alignments, AlignmentTally
from aligntools.api.align.files import FileAlignment, ModelTraining
from aligntools.api.align.large import PartsRun, PartsTask
from aligntools.api.align.outputs import Outputs
from aligntools.api.align.precompile import compiling_for
from aligntools.api.align.priors import WeightedPriors
from aligntools.api.align.reshaping import Reshaping
from aligntools.api.running.threads import pool_of
from aligntools.api.running.watching import Bars, Watch
from aligntools.formats.opening import named_files
from aligntools.formats.opening.named_files import Named, in_place_of_star, is_pattern
from aligntools.ground.errors import UsageProblem

#: What a saved model can be applied with, too: without it, they ask for parts.
_APPLYING = ("tmpdir", "workers", "cluster")


@dataclass(frozen=True)
class PartAlignment:
    """Whether and how a text is worked in parts.

    checkpoint: A folder that the parts are kept in.
    plan: Say what the work would take, and do nothing.
    """

    parts: PartSettings
    checkpoint: str | None = None
    plan: bool = False

    def wanted(self, work: FileAlignment, training: ModelTraining) -> bool:
        """Return whether a text is worked in parts: where that is asked for, or where it does not fit into memory."""
        return self._asked(work) is not None or self._must(work, training)

    def _asked(self, work: FileAlignment) -> str | None:
        """Return the option that asks for parts; a saved model may be applied by workers without them."""
        run, own = work.run, self.parts.part_size
        asking = {
            "tmpdir": run.tmpdir,
            "checkpoint": self.checkpoint,
            "workers": run.workers,
            "cluster": run.cluster,
            "part_size": own,
            "plan": self.plan or None,
        }
        left_out = _APPLYING if work.model else ()
        return next((name for name, value in asking.items() if value is not None and name not in left_out), None)

    def _whole(self, work: FileAlignment, training: ModelTraining) -> dict[str, object]:
        """Return what needs the whole text, or a model of it, in memory."""
        files = {name: getattr(work.outputs, name) for name in ("save_priors", "ttable", "moses_dir", "giza_dir")}
        about: dict[str, object] = {"init_model": work.init_model}
        about |= {"source_classes": work.source_classes, "target_classes": work.target_classes}
        about |= {name: getattr(training.weights, name) for name in ("prior_fertility", "prior_jumps")}
        return {"model": work.model} | about | files

    def _must(self, work: FileAlignment, training: ModelTraining) -> bool:
        """Return whether a text is several files, or seems too large for memory and can be worked so."""
        if any(self._whole(work, training).values()) or work.outputs.costs:
            return False
        texts = [path for path in work.text.text if path is not None]
        return any(is_pattern(path) for path in texts) or large.seems_too_large(
            texts, training.settings, work.reading.languages
        )

    def _check(self, work: FileAlignment, training: ModelTraining) -> None:
        """Refuse what is not done in parts."""
        work.check()
        asking = self._asked(work)
        if asking is None:
            return
        for name, value in self._whole(work, training).items():
            if value:
                problem = f"`{asking}` works a text in parts, and `{name}` is about a text in memory"
                raise UsageProblem(f"{problem}; give one of them")
        if work.outputs.costs:
            raise UsageProblem(
                f"`{asking}` works a text in parts, and `score_form=eflomal` counts the links of a whole text"
            )
        starred = work.outputs.starred
        if starred and not any("*" in (path or "") for path in work.text.text):
            raise UsageProblem(f"`{starred[0]}` has a star, and the text has none")

    def align(self, work: FileAlignment, training: ModelTraining, clock: Callable[[], float]) -> Callable[[], None]:
        """Align a text in parts.

        clock: Tells the time, for a plan.
        Returns empties the checkpoint's folder: to be called once what was made of it is in its place.
        """
        self._check(work, training)
        watch, outputs = work.watch, work.outputs
        outputs.check_direction(training.direction, training.network, work.decisions)
        with ExitStack() as stack:
            shape, sides = work.text.opened(outputs, work.reading, applied=False, service=False)
            if shape:
                stack.enter_context(contextlib.closing(shape))
            pool = stack.enter_context(pool_of(work.run.threads))
            source, target = (str(side) if isinstance(side, Path) else side for side in sides)
            priors = WeightedPriors.of(training.counts, training.weights)
            how = training.settings, work.decisions, self.parts, training.evidence, priors, outputs.directions
            task, run = PartsTask(*how), replace(work.run, threads=pool)
            job = PartsRun(
                source,
                target,
                work.reading,
                task,
                run,
                checkpoint=self.checkpoint,
                progress=watch,
                advance=_bars(watch),
            )
            _check_places(work, job)
            if self.plan:
                for line in job.plan(pool, clock):
                    watch.say(line)
                return lambda: None
            tally, parted = AlignmentTally(), _Parted(work, job.files, shape)
            with compiling_for(training.model_type, pool.threads), parted as out:
                for file, block in job.run(pool, outputs.save_model):
                    out.write(file, block)
                    tally.add(block)
                if shape:
                    shape.end()
            watch.summary(tally.pairs, out.links, tally.skipped.summary())
            return job.forget


class _Parted:
    """Outputs for each file of the text, where their names have a star; else the same for all."""

    def __init__(self, work: FileAlignment, files: list[str], shape: Reshaping | None) -> None:
        self._work, self._files, self._shape = work, files, shape
        self._stack, self._file = ExitStack(), -1
        self.links = 0
        self._starred = bool(work.outputs.starred)
        self._out: Outputs | None = None

    def __enter__(self) -> "_Parted":
        self._stack.__enter__()
        if not self._starred:
            self._open("")
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.__exit__(*exc)  # type: ignore[arg-type]

    def _open(self, star: str) -> Outputs:
        work = self._work
        self._out = Outputs(self._stack, work.outputs.of_file(star), work.decisions, work.text.text)
        self._out.shape = self._shape
        return self._out

    def write(self, file: int, block: Alignments) -> None:
        """Write the links of a part of a file."""
        if self._starred and file != self._file:
            if self._out is not None:  # the files of the text's file before appear
                self._stack.close()
                self._stack = ExitStack()
            self._open(self._files[file])
        self._file = file
        assert self._out is not None
        before = self._out.links
        self._out.write(block)
        self.links += self._out.links - before


def _check_places(work: FileAlignment, job: PartsRun) -> None:
    """Refuse outputs that are inputs, once it is known which files the stars stand for."""
    inputs = [Named("the text", str(path)) for one in job.inputs for path in one.values()]
    outputs = [
        Named(f"`{name}`", in_place_of_star(getattr(work.outputs, name), star))
        for name in work.outputs.starred
        for star in job.files
    ]
    named_files.check(inputs, outputs)


def _bars(watch: Watch) -> Bars:
    """Return what shows a bar for each stage, a step a part."""

    def advance(stage: str, done: int, jobs: int) -> None:
        if done == 1:
            watch.begin(stage, jobs, "part")
        watch.advance(stage)

    return advance
