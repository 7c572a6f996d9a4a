"""``aligntools mre-align``: alignment models trained to make their text again."""

from typing import Any

import click

from aligntools import AlignerSettings, ReconstructionSettings
from aligntools.aligning.models import registry
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options
from aligntools.cli.reporter import reporting
from aligntools.cli.service_options import ending

#: What the sampler and several members have, which is not trained here.
_NOT_HERE = ("model_type", "fast", "best", "sweeps", "subwords", "view_agreement")
_reconstruction = options.group(
    "Reconstruction",
    options.option(
        "--preset",
        excludes=("model",),
        type=click.Choice(["paper"]),
        help="paper: as Cheng, Liu & Xu (2017) have it, unless other options say otherwise: --model-type ibm2"
        " --set positions=table --set tension=0 --estimator em --set agreement=false --set mre_iterations=50"
        " --set mre_positions=true --set mre_null=true --set mre_smoothing=0 --set mre_position_smoothing=0."
        " With --model-type hmm, jumps take the place of the table. The defaults differ in each of these.",
    ),
    declarations.option(
        AlignerSettings,
        "model_type",
        excludes=("model",),
        choices=registry.reconstructed,
        default="hmm",
        help="Which model is trained; with --init-model, what that model is.",
    ),
    declarations.group(ReconstructionSettings, excludes=("model",)),
)


@click.command(
    "mre-align",
    cls=options.Command,
    renamed={"--load-model": "--model"},
    types=registry.names,
    basic="source target joint_file output model save_model init_model preset model_type"
    " threshold symmetrize forward_output reverse_output scores max_memory threads seed quiet",
)
@aligning.text
@aligning.models
@_reconstruction
@aligning.deciding("joint; grow-diag-final-and for an IBM 2 trained with --set agreement=false, and for --preset paper")
@aligning.outputs
@declarations.group(AlignerSettings, "positions", excludes=("model",))
@declarations.group(AlignerSettings, without=(*_NOT_HERE, "positions"), excludes=("model", "init_model"))
@aligning.limits
def command(**o: Any) -> None:
    """Align by maximum reconstruction: train an HMM or IBM 2 by EM, then to reproduce each text from its own links.

    EM finds the parameters that explain the words. Reconstruction (Cheng, Liu & Xu 2017) continues from there and
    raises P(x|x), the probability that each word comes back from the word it is linked to. Each direction is trained
    by itself; then both are combined, with the outputs of align. With -m a saved model is applied instead.

    Reconstruction improves single directions, and heuristics over their links. It does not improve the joint decision
    of both directions. With an HMM the joint decision is still the best, but it is as good after EM alone; with an
    IBM 2 trained by EM it gets worse, and --symmetrize has another default there. With -m the default is always joint.

    \b
    Example:
      aligntools mre-align -s data/samples/de-en.de -t data/samples/de-en.en -o de-en.align
    """
    from aligntools.aligning.alignment import mre_plan
    from aligntools.aligning.files import align_files
    from aligntools.aligning.outputs import AlignmentSinks

    text = aligning.text_files(o)
    text.check()
    own = {name: o[name] for name in declarations.given() & {*AlignerSettings.names(), *ReconstructionSettings.names()}}
    said = o["symmetrize"] is not None

    def planned(start: Any) -> Any:
        plan, _ = mre_plan(o["preset"], own, start)
        return plan._replace(symmetrize=None) if said else plan

    with reporting(o) as watch:
        how = {
            "text": text,
            "out": declarations.call(AlignmentSinks, o),
            "evidence": aligning.evidence_of(o, bool(o["model"])),
        }
        declarations.call(align_files, o, planned=planned, **how, watch=watch, ending=ending(o["unbuffered"]))
