"""``aligntools align``: from parallel text to alignments, in one command."""

import time
from typing import Any

import click

from aligntools import AlignerSettings, PartSettings, PriorWeights, Run
from aligntools.aligning.models import registry
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options
from aligntools.cli.reporter import reporting
from aligntools.cli.service_options import ending
from aligntools.ground.errors import UsageProblem

_priors = options.group(
    "Priors",
    options.file(
        "--priors",
        multiple=True,
        excludes=("model",),
        help="Add counts of links, fertilities and jumps from other text (eflomal's form); may be repeated.",
    ),
    options.written("--save-priors", help="Write counts of this text's links, fertilities and jumps in the same form."),
    declarations.group(PriorWeights, needs=("priors",), excludes=("model",)),
)
_adapt = options.group(
    "Models",
    options.option(
        "--adapt",
        is_flag=True,
        needs=("model",),
        excludes=("unbuffered", "workers", "cluster", "tmpdir"),
        help="With -m: train on this text, starting from what the model has learned; both decide. Best for a file of"
        " new text.",
    ),
)
_saved = options.written(
    "--save-model",
    help="Save the model that was trained; with --adapt, both this and the one that it was adapted from.",
)
_classes = options.group(
    "Classes of words",
    options.file(
        "--source-classes",
        help="Classes of the source words for IBM 4 and hmm-classes, as mkcls and train-classes write them: word TAB"
        " class.  [default: learned from the text]",
    ),
    options.file("--target-classes", help="The same of the target words."),
    excludes=("model", "init_model"),
)
_parts = options.group(
    "Text of any size, in parts",
    declarations.option(
        Run,
        "tmpdir",
        help="Work from disk, in parts that are kept here (a cluster's workers have to see"
        " it).  [default: the system's]",
    ),
    click.option(
        "--checkpoint",
        metavar="DIR",
        help="Keep the parts here; the same command continues from where a run stopped.",
    ),
    declarations.option(Run, "workers"),
    declarations.option(Run, "cluster"),
    declarations.group(PartSettings),
    click.option("--plan", is_flag=True, help="Say what the work would take, and do nothing."),
)


@click.command(
    "align",
    cls=options.Command,
    renamed={"--load-model": "--model"},
    types=registry.names,
    basic="source target joint_file output model adapt save_model fast best encoder dictionary priors threshold"
    " symmetrize phrases link_probabilities scores forward_output reverse_output tokenize tmpdir workers"
    " unbuffered max_memory threads seed quiet",
)
@aligning.text
@aligning.model_files(_saved)
@_adapt
@_priors
@aligning.decisions
@aligning.outputs
@aligning.shapes
@declarations.group(AlignerSettings, excludes=("model", "init_model"))
@_classes
@aligning.evidence
@_parts
@aligning.limits
def command(**o: Any) -> None:
    """Align a parallel corpus: one line of links i-j for each sentence pair, i the source word, from 0.

    Trains both directions and writes one alignment. A pair that cannot be aligned gets a blank line and is
    counted on standard error. With -m a saved model is applied instead.

    A text that is too large for memory is processed from disk, in parts. Names with a star stand for several files:
    -i 'parts/*.zst' -o 'out/*.align'.

    \b
    Example:
      aligntools align -s data/samples/de-en.de -t data/samples/de-en.en
    """
    from aligntools.aligning.alignment import Plan
    from aligntools.aligning.files import align_files, align_files_in_parts, in_parts
    from aligntools.aligning.outputs import AlignmentSinks

    text, out = aligning.text_files(o), declarations.call(AlignmentSinks, o)
    text.check()
    settings, applied = declarations.settings(AlignerSettings, o), o["model"] is not None and not o["adapt"]
    if applied and o["save_model"]:
        raise UsageProblem("`save_model` saves a model that is trained here; add `adapt`, or leave out `model`")
    evidence = aligning.evidence_of(o, applied)
    if not applied and not o["adapt"]:
        evidence = evidence.chosen(settings.best and not o["init_model"])
    others = {name: o[name] for name in ("init_model", "source_classes", "target_classes")}
    with reporting(o) as watch:
        how: dict[str, Any] = {"text": text, "out": out, "evidence": evidence, "watch": watch}
        if declarations.call(in_parts, o, text=text, out=out, **others):
            forget = declarations.call(align_files_in_parts, o, **how, clock=time.perf_counter)
            click.get_current_context().meta.setdefault(options.AFTERWARDS, []).append(forget)
        else:
            how["planned"] = lambda start: Plan(start.settings if start else settings)
            declarations.call(align_files, o, **how, ending=ending(o["unbuffered"]))
