"""A text in files aligned: read, an aligner trained or loaded, links and what else is wanted written."""

import contextlib
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from aligntools.aligning.aligner import PART, Aligner, check_applied
from aligntools.aligning.aligner_training import settings_of_new_text, tell_unused, train_with
from aligntools.aligning.alignment import Plan, text_with_evidence, with_word_classes
from aligntools.aligning.alignments import Alignments, AlignmentTally
from aligntools.aligning.evidence import EvidenceOptions, TextEvidence
from aligntools.aligning.outputs import AlignmentSinks, check_whole_words
from aligntools.aligning.parts import alignment as large
from aligntools.aligning.parts.alignment import PartsRun
from aligntools.aligning.precompile import compiling_for
from aligntools.aligning.priors import PriorCounter, WeightedPriors, write_priors
from aligntools.aligning.settings import AlignerSettings, Decisions, PartSettings, PriorWeights
from aligntools.aligning.text_files import TextFiles, TextSides
from aligntools.aligning.training.sampling import LastPass
from aligntools.aligning.word_tables import write_ttable
from aligntools.formats.links.pharaoh import concatenate
from aligntools.formats.opening import files as named_files
from aligntools.formats.opening.files import Named, is_pattern
from aligntools.formats.text.corpus import Bitext
from aligntools.formats.text.text_settings import Reading
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool, pool_of
from aligntools.ground.progress import Watch
from aligntools.ground.run import Run
from aligntools.pipeline import Tally


def align_files(
    planned: Callable[[Aligner | None], Plan],
    text: TextFiles,
    out: AlignmentSinks,
    decisions: Decisions,
    reading: Reading,
    run: Run,
    *,
    watch: Watch,
    model: str | None = None,
    init_model: str | None = None,
    adapt: bool = False,
    source_classes: str | None = None,
    target_classes: str | None = None,
    priors: Sequence[str] = (),
    weights: PriorWeights = PriorWeights(),  # noqa: B008
    evidence: EvidenceOptions = EvidenceOptions(),  # noqa: B008
    verify: bool = True,
    unbuffered: bool = False,
    ending: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> None:
    """Align a text by a saved ``model``, or by one that is trained on it.

    planned: What is trained, from a model on or, of None, anew.
    adapt: Train on the text, beginning with what ``model`` has learned, in place of applying it.
    ending: Returns a context in which lines are answered, and that may end the reading.
    """
    if init_model and os.path.isdir(init_model):
        raise UsageProblem("`init_model` goes on from a model file; GIZA++'s tables have no counts to go on from")
    plan = planned(None) if not (model or init_model) else None
    if plan is not None:
        decisions = plan.decisions(decisions)
        out.check_direction(plan.settings.direction, plan.settings.decides, decisions)
    with out.opened(decisions, text.text), pool_of(run.threads) as pool:
        run = replace(run, threads=pool)
        aligner = None
        if model is not None:
            if adapt and os.path.isdir(model):
                raise UsageProblem("`adapt` starts from a model file; GIZA++'s tables have no counts to start from")
            aligner, reading = loaded(model, pool, watch, verify, reading, EvidenceOptions() if adapt else evidence)
            network = aligner.weights is not None
            out.check_direction(aligner.settings.direction, network, decisions, str(model))
        with text.opened(out, reading, aligner is not None and not adapt, unbuffered) as sides:
            if aligner is not None and not adapt:
                _apply(aligner, sides, out, decisions, reading, run, watch, unbuffered, ending)
            else:
                start = Aligner.load(init_model, threads=pool, verify=verify) if init_model else None
                if aligner is not None:
                    plan = Plan(settings_of_new_text(aligner.model))
                    evidence = evidence.chosen(plan.settings.best)
                plan, before = plan or planned(start), start or aligner
                if before is not None:
                    reading = replace(reading, case_sensitive=not before.model.lowercase)
                if start is not None:
                    decisions, network = plan.decisions(decisions), start.weights is not None
                    out.check_direction(plan.settings.direction, network, decisions, str(init_model))
                with compiling_for(plan.settings.trained, pool.threads):
                    bitext, known = text_with_evidence(*sides, evidence, reading, run, watch)
                    if source_classes or target_classes:
                        bitext = with_word_classes(bitext, source_classes, target_classes)
                        known = replace(known, text=bitext) if known is not None else None
                    counts = WeightedPriors.of(priors or None, weights)
                    _train(plan, start, bitext, out, decisions, reading, run, watch, counts, known, aligner)
        if out.moses:
            out.moses.finish(*text.paths(reading.split), reading)


def _apply(
    aligner: Aligner,
    sides: TextSides,
    out: AlignmentSinks,
    decisions: Decisions,
    reading: Reading,
    run: Run,
    watch: Watch,
    unbuffered: bool,
    ending: Callable[[], AbstractContextManager[None]],
) -> None:
    if out.ttable:
        check_whole_words(aligner.settings.views[0])
        write_ttable(out.ttable, aligner.model)
    counter, tally = PriorCounter() if out.save_priors else None, Tally()
    requests = (tally, str(sides[0])) if unbuffered else None
    how: Any = {"directions": out.directions, "unbuffered": unbuffered, "counter": counter, "requests": requests}
    blocks = aligner.decided_blocks(*sides, decisions, reading, run, **how)
    with ending():
        with watch.stage("aligning"):
            for block in blocks:
                out.write_block(block, flush=unbuffered)
                watch.tell(f"aligning: {out.tally.pairs} pairs")
            out.end()
        for line in tally.lines():
            watch.say(line)
        _finish(out, counter, watch)


def _train(
    plan: Plan,
    start: Aligner | None,
    bitext: "Bitext",
    out: AlignmentSinks,
    decisions: Decisions,
    reading: Reading,
    run: Run,
    watch: Watch,
    priors: WeightedPriors | None,
    known: TextEvidence | None,
    learned: Aligner | None,
) -> None:
    if not len(bitext.source.tokens):
        watch.say("warning: every line has a blank side; nothing to learn from")
    if out.ttable or out.giza_dir:
        first = plan.settings.resolved(len(bitext.source.tokens)).views[0]
        check_whole_words(first, "ttable" if out.ttable else "giza_dir")
    counter, written = PriorCounter() if out.save_priors else None, bool(out)
    if written or counter:
        watch.go_over(len(bitext), PART)
    links, counted = None, []
    if plan.reconstruction is None and (written or counter):

        def take(found: Alignments) -> None:
            """Write links that training finds on its way through a large text."""
            out.write_block(found)
            counted.append((found.forward_table, found.reverse_table))
            watch.passed("sampler and links", len(found.lengths[0]))

        links = LastPass(take, decisions, out.directions or counter is not None)
    if start is None and learned is None:
        tell_unused(plan.settings)
    aligner = train_with(
        bitext,
        plan.settings,
        init_model=start,
        reconstruction=plan.reconstruction,
        reading=reading,
        run=run,
        keep_text=counter is not None or out.costs or out.giza_dir is not None,
        progress=watch,
        priors=priors,
        links=links,
        known=known,
        learned=learned,
    )
    if out.save_model:
        with watch.stage("saving"):
            aligner.save(out.save_model)
    if out.ttable:
        write_ttable(out.ttable, aligner.model)
    if not written and counter is None:
        watch.summary(len(bitext), None, bitext.skipped.summary())
        return
    with watch.stage("aligning"):
        if links is not None and links.found:
            out.tally.skipped = bitext.skipped
            if counter is not None:
                counter.add(bitext, *map(concatenate, zip(*counted, strict=True)))
        else:
            for block in aligner.decided_blocks(
                bitext, None, decisions, Reading(), run, directions=out.directions, counter=counter
            ):
                out.write_block(block)
                watch.passed("aligning", len(block))
        if out.costs:
            out.write_costs(bitext, run.threads, reading.case_sensitive, priors.counts if priors else None)
        out.end()
        if out.giza:
            out.giza.finish(aligner, bitext)
    _finish(out, counter, watch)


def _finish(out: AlignmentSinks, counter: "PriorCounter | None", watch: Watch) -> None:
    if counter is not None and out.save_priors:
        write_priors(out.save_priors, counter.finish())
    if out.shape is not None:
        if left := out.shape.mismatched.summary():
            watch.say(f"no links written for pairs: {left}")
        if out.shape.tabs:
            watch.say(f"tabs within sentences written as spaces: {out.shape.tabs}")
    watch.summary(out.tally.pairs, out.links, out.tally.skipped.summary())


def in_parts(
    text: TextFiles,
    out: AlignmentSinks,
    settings: AlignerSettings,
    parts: PartSettings,
    reading: Reading,
    run: Run,
    weights: PriorWeights,
    *,
    checkpoint: str | None = None,
    plan: bool = False,
    model: str | None = None,
    **others: str | None,
) -> bool:
    """Return whether a text is worked in parts: where that is asked for, or where it does not fit into memory.

    A saved model may be applied by workers without parts.

    others: What besides a model needs the whole text, or a model of it, in memory.
    Raises UsageProblem when parts are asked for, and something that needs the whole text.
    """
    asking: dict[str, object] = {"checkpoint": checkpoint, "part_size": parts.part_size, "plan": plan or None}
    if model is None:
        asking = {"tmpdir": run.tmpdir, "workers": run.workers, "cluster": run.cluster} | asking
    whole: dict[str, object] = {"model": model, **others}
    whole |= {name: getattr(weights, name) for name in ("prior_fertility", "prior_jumps")}
    whole |= {name: getattr(out, name) for name in ("save_priors", "ttable", "moses_dir", "giza_dir")}
    whole["score_form=eflomal"] = out.costs
    asked = next((name for name, value in asking.items() if value is not None), None)
    needing = next((name for name, value in whole.items() if value), None)
    if asked is not None and needing is not None:
        problem = f"`{asked}` works a text in parts, and `{needing}` is about a text in memory"
        raise UsageProblem(f"{problem}; give one of them")
    files = [path for path in text.text if path is not None]
    return asked is not None or (
        needing is None and (any(map(is_pattern, files)) or large.seems_too_large(files, settings, reading.languages))
    )


def align_files_in_parts(
    settings: AlignerSettings,
    parts: PartSettings,
    text: TextFiles,
    out: AlignmentSinks,
    decisions: Decisions,
    reading: Reading,
    run: Run,
    *,
    watch: Watch,
    clock: Callable[[], float],
    checkpoint: str | None = None,
    plan: bool = False,
    priors: Sequence[str] = (),
    weights: PriorWeights = PriorWeights(),  # noqa: B008
    evidence: EvidenceOptions = EvidenceOptions(),  # noqa: B008
) -> Callable[[], None]:
    """Align a text in parts: worked from disk, in processes or on a cluster.

    clock: Tells the time, for a plan.
    Returns empties the checkpoint's folder: to be called once what was made of it is in its place.
    """
    out.check_direction(settings.direction, settings.decides, decisions)
    if out.starred and not any("*" in (path or "") for path in text.text):
        raise UsageProblem(f"`{next(iter(out.starred))}` has a star, and the text has none")

    def advance(stage: str, done: int, jobs: int) -> None:
        """Show a bar for each stage, a step a part."""
        if done == 1:
            watch.begin(stage, jobs, "part")
        watch.advance(stage)

    with text.opened(out, reading, applied=False, service=False) as sides, pool_of(run.threads) as pool:
        source, target = (str(side) if isinstance(side, Path) else side for side in sides)
        job = PartsRun(
            source,
            target,
            settings,
            decisions,
            parts,
            reading=reading,
            run=replace(run, threads=pool),
            evidence=evidence,
            priors=WeightedPriors.of(priors or None, weights),
            directions=out.directions,
            checkpoint=checkpoint,
            progress=watch,
            advance=advance,
        )
        inputs = [Named("the text", str(path)) for one in job.inputs for path in one.values()]
        outputs = [(f"`{name}`", path.replace("*", star)) for name, path in out.starred.items() for star in job.files]
        named_files.check(inputs, [Named(*one) for one in outputs])  # once it is known what the stars stand for
        if plan:
            for line in job.plan(pool, clock):
                watch.say(line)
            return lambda: None
        tally, links = AlignmentTally(), 0
        with compiling_for(settings.trained, pool.threads), ExitStack() as written:
            of_file = -1 if out.starred else 0
            if not out.starred:
                written.enter_context(out.opened(decisions))
            found = out
            for file, block in job.run(pool, out.save_model):
                if out.starred and file != of_file:  # the files of the text's file before appear
                    written.close()
                    of_file, found = file, out.of_file(job.files[file])
                    written.enter_context(found.opened(decisions))
                before = found.links
                found.write_block(block)
                links += found.links - before
                tally.add(block)
            out.end()
        watch.summary(tally.pairs, links, tally.skipped.summary())
        return job.forget


def loaded(
    path: str,
    pool: "Pool",
    watch: Watch,
    verify: bool,
    reading: Reading,
    asked: EvidenceOptions = EvidenceOptions(),  # noqa: B008
) -> tuple[Aligner, Reading]:
    """Load a saved model, and return how text is read that it is applied to: split as its training text was."""
    with watch.stage("loading"):
        aligner = Aligner.load(path, threads=pool, verify=verify).asking(asked)
    check_applied(asked, aligner.weights, path)
    split: Any = reading.split or aligner.model.split
    return aligner, replace(reading, split=split)
