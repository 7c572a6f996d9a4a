"""``aligntools mre-align``: alignment models trained to make their text again."""

import click

from aligntools.aligning.models import registry
from aligntools.aligning.settings import MRE_PRESETS, AlignerSettings, ReconstructionSettings, mre_symmetrization
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declared, options

#: What the sampler and several members have, which is not trained here.
_NOT_HERE = ("model_type", "fast", "best", "sweeps", "subwords", "view_agreement")
_reconstruction = options.group(
    "Reconstruction",
    click.option("--preset", type=click.Choice(list(MRE_PRESETS)),
                 help="paper: as Cheng, Liu & Xu (2017) have it, unless other options say otherwise: --model-type ibm2"
                      " --positions table --tension 0 --estimator em --no-agreement --mre-iterations 50 --mre-positions"
                      " --mre-null --mre-smoothing 0 --mre-position-smoothing 0. With --model-type hmm, jumps take the"
                      " place of the table. The defaults depart from it in each of these."),
    declared.option(AlignerSettings, "model_type", choices=registry.reconstructed, default="hmm",
                    help="Which model is trained; with --init-model, what that model is."),
    declared.group(ReconstructionSettings),
)  # fmt: skip


@click.command("mre-align", cls=options.Command, renamed={"--load-model": "--model"})
@aligning.text
@aligning.models
@_reconstruction
@aligning.deciding(
    "  [default: joint; grow-diag-final-and for an IBM 2 trained with --no-agreement, and for --preset paper]"
)
@aligning.outputs
@declared.group(AlignerSettings, without=_NOT_HERE)
@aligning.limits
def command(**o):
    """Align by maximum reconstruction: train an HMM or IBM 2 by EM, then to reproduce each text from its own links.

    EM finds the parameters that explain the words. Reconstruction (Cheng, Liu & Xu 2017) continues from there and
    raises P(x|x), the probability that each word comes back from the word it is linked to. Each direction is trained
    by itself; then both are combined, with the outputs of align. With -m a saved model is applied instead.

    What it gains after EM, it gains in single directions and in heuristics over their links. The joint decision of both
    does not gain: of an HMM it stays the best, but EM's own is as good; of an IBM 2 trained by EM it becomes worse, and
    --symmetrize has another default. With -m that is always joint.

    \b
    Example:
      aligntools mre-align -s data/samples/de-en.de -t data/samples/de-en.en -o de-en.align
    """
    from aligntools.api.align.alignment import train_mre_aligner
    from aligntools.cli.aligning_run import run

    chosen = aligning.given()
    aligning.take_old_type(o, chosen, registry.reconstructed())
    symmetrize = o["symmetrize"]
    if not symmetrize:  # after --init-model, as soon as that is read
        apart = not o["model"] and mre_symmetrization(o["model_type"], o["agreement"], o["preset"])
        o["symmetrize"] = (o["direction"] == "both" and apart) or "joint"
    aligning.check(o, chosen, reconstructs=True)
    names = {*AlignerSettings.names(), *ReconstructionSettings.names()}
    own = {name: o[name] for name in chosen & names}
    views = o["views"] or (0,)

    def train(bitext, init_model, **common):
        from aligntools.aligning.training.train_model import settings_after

        if init_model and not symmetrize and init_model.settings.direction == "both":
            model = settings_after(init_model.model, True, own.get("model_type")).model_type
            o["symmetrize"] = mre_symmetrization(model, init_model.settings.agreement, o["preset"])
            aligning.check_decisions(o, "both")
        return train_mre_aligner(bitext, preset=o["preset"], **own, init_model=init_model, **common)

    run(o, train, lambda _: views[0])
