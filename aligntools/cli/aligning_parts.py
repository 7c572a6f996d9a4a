"""``align`` in parts: text that is larger than memory, worked from disk, in processes or on a cluster."""

import contextlib
import time
from pathlib import Path

import click

from aligntools.aligning.settings import Decisions, PartSettings
from aligntools.cli import ahead, declared, options, placing
from aligntools.cli.aligning_run import Outputs, shape_of
from aligntools.cli.reporting import reporting
from aligntools.encoding.settings import EncoderSettings
from aligntools.formats.text.reading import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.running import Run

#: Options that ask for parts by themselves.
ASKING = ("tmpdir", "checkpoint", "workers", "cluster", "cluster_file", "part_size", "plan")
#: Options that need the whole text, or a model of it, in memory.
WHOLE = ("best", "init_model", "priors", "save_priors", "ttable", "moses_dir")
_OUTPUTS = ("output", "forward_output", "reverse_output", "scores", "word_pairs")


#: What a saved model can be applied with, too: without it, they ask for parts.
APPLYING = ("tmpdir", "workers", "cluster", "cluster_file")


def asked(o, chosen) -> bool:
    """Tell whether options that were given ask for parts."""
    return bool(set(_asking(o)) & chosen)


def _asking(o):
    """Return the options that ask for parts."""
    return [name for name in ASKING if not (o["model"] and name in APPLYING)]


def must(o, settings) -> bool:
    """Tell whether the text is several files, or seems too large for the memory that there is and can be worked so."""
    texts = [o[name] for name in ("joint_file", "source", "target") if o[name] is not None]
    if o["model"] or any(o[name] for name in WHOLE) or o["score_form"] == "eflomal":
        return False
    from aligntools.formats.opening.file_patterns import is_pattern

    if any(is_pattern(text) for text in texts):
        return True
    from aligntools.api.align.large import seems_too_large

    return seems_too_large(texts, settings)


def check(o, chosen) -> None:
    """Refuse what is not done in parts.

    Raises
    ------
    UsageProblem
    """
    asking = next((name for name in _asking(o) if name in chosen), None)
    if asking is None:
        return
    flag = "--" + asking.replace("_", "-")
    for name in ("model", *WHOLE):
        if o[name]:
            other = "-m" if name == "model" else f"--{name.replace('_', '-')}"
            raise UsageProblem(f"{flag} works a text in parts, and {other} is about a text in memory; give one of them")
    if o["score_form"] == "eflomal":
        raise UsageProblem(f"{flag} works a text in parts, and --score-form eflomal counts the links of a whole text")
    texts = [o[name] or "" for name in ("joint_file", "source", "target")]
    starred = [name for name in _OUTPUTS if "*" in (o[name] or "")]
    if starred and not any("*" in text for text in texts):
        raise UsageProblem(f"--{starred[0].replace('_', '-')} has a star, and the text has none")


class _Parted:
    """Outputs for each file of the text, where their names have a star; else the same for all."""

    def __init__(self, o, files, shape):
        self._o, self._files, self._shape = o, files, shape
        self._stack, self._file = contextlib.ExitStack(), None
        self.links = 0
        self._starred = any("*" in (o[name] or "") for name in _OUTPUTS)
        self.out = None

    def __enter__(self):
        self._stack.__enter__()
        if not self._starred:
            self._open("")
        return self

    def __exit__(self, *exc):
        return self._stack.__exit__(*exc)

    def _open(self, star):
        from aligntools.formats.opening.file_patterns import in_place_of_star

        names = {name: self._o[name] and in_place_of_star(self._o[name], star) for name in _OUTPUTS}
        self.out = Outputs(self._stack, self._o | names)
        self.out.shape = self._shape

    def write(self, file, block):
        """Write the links of a part of a file."""
        if self._starred and file != self._file:
            self._finish()
            self._open(self._files[file])
        self._file = file
        before = self.out.links
        self.out.write(block)
        self.links += self.out.links - before

    def _finish(self):
        """Let the files of the text's file before appear."""
        if self.out is not None:
            self._stack.close()
            self._stack = contextlib.ExitStack()
            self._stack.__enter__()


def _check_places(o, run):
    """Refuse outputs that are inputs, once it is known which files the stars stand for."""
    from aligntools.formats.opening.file_patterns import in_place_of_star

    inputs = [placing.Named("the text", str(path)) for one in run.inputs for path in one.values()]
    outputs = [
        placing.Named(f"--{name.replace('_', '-')}", in_place_of_star(o[name], star))
        for name in _OUTPUTS
        if o[name] and "*" in o[name]
        for star in run.files
    ]
    placing.check(inputs, outputs)


def _bars(reporter):
    """Return what shows a bar for each stage, a step a part."""

    def advance(stage, done, jobs):
        if done == 1:
            reporter.begin(stage, jobs, "part")
        reporter.advance(stage)

    return advance


def run(o, settings) -> None:
    """Align as the options say.

    Parameters
    ----------
    o : dict
        Options by name.
    settings : AlignerSettings
    """
    from aligntools.api.align.large import PartsRun
    from aligntools.api.running.threads import pool_of
    from aligntools.formats.text.corpus import Skipped

    with contextlib.ExitStack() as stack:
        reporter = stack.enter_context(reporting(o))
        shape, text = shape_of(o)
        if shape:
            stack.enter_context(contextlib.closing(shape))
        pool = stack.enter_context(pool_of(o["threads"]))
        single = o["forward_output"] is not None or o["reverse_output"] is not None
        source, target = (str(side) if isinstance(side, Path) else side for side in text)
        job = PartsRun(
            source, target, settings, declared.settings(Decisions, o), declared.settings(PartSettings, o),
            declared.settings(Reading, o), declared.settings(Run, o, threads=pool), checkpoint=o["checkpoint"],
            directions=single, progress=reporter, advance=_bars(reporter),
            encoder=declared.settings(EncoderSettings, o).chosen(False),
        )  # fmt: skip
        _check_places(o, job)
        if o["plan"]:
            for line in job.plan(pool, time.perf_counter):
                reporter.say(line)
            return
        pairs, skipped = 0, Skipped()
        with ahead.compiling_for(o), _Parted(o, job.files, shape) as out:
            for file, block in job.run(pool, o["save_model"]):
                out.write(file, block)
                pairs += len(block)
                skipped.add(block.skipped)
            if shape:
                shape.end()
        reporter.summary(pairs, out.links, skipped.summary())
        click.get_current_context().meta.setdefault(options.AFTERWARDS, []).append(job.forget)
