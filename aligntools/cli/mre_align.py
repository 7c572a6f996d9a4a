"""``aligntools mre-align``: alignment models trained to make their text again."""

import click

from aligntools.aligning.settings import MRE_PRESETS, ReconstructionSettings, mre_symmetrization
from aligntools.cli import alignment_options as aligning
from aligntools.cli import options

_DEFAULTS = ReconstructionSettings()
_reconstruction = options.group(
    "Reconstruction",
    click.option("--preset", type=click.Choice(list(MRE_PRESETS)),
                 help="paper: as Cheng, Liu & Xu (2017) have it, unless other options say otherwise: --model-type ibm2"
                      " --positions table --tension 0 --estimator em --no-agreement --mre-iterations 50 --mre-positions"
                      " --mre-null --mre-smoothing 0 --mre-position-smoothing 0. With --model-type hmm, jumps take the"
                      " place of the table. The defaults depart from it in each of these."),
    click.option("--model-type", type=click.Choice(["ibm2", "hmm"]), default="hmm", show_default=True,
                 help="Which model is trained; with --init-model, what that model is."),
    options.setting("--mre-iterations", of=ReconstructionSettings, name="iterations", metavar="N",
                    help="Iterations of reconstruction, after those of EM."),
    options.setting("--mre-smoothing", of=ReconstructionSettings, name="smoothing", metavar="N",
                    help="Pseudo-count of each word, spread as the text's words are.  [default: em 20, vb 0]"),
    options.setting("--mre-position-smoothing", of=ReconstructionSettings, name="position_smoothing", metavar="N",
                    help="Pseudo-count of each distribution of --positions table, drawn to the diagonal, in EM too."),
    click.option("--mre-positions/--no-mre-positions", default=_DEFAULTS.positions, show_default=True,
                 help="Train jumps or positions by reconstruction too, not the words alone."),
    click.option("--mre-null/--no-mre-null", default=_DEFAULTS.null,
                 help="Train the words of NULL by reconstruction too.  [default: after vb]"),
)  # fmt: skip
#: Options of training that the API takes under the same names.
TRAINING = (
    "preset", "mre_iterations", "mre_smoothing", "mre_position_smoothing", "mre_positions", "mre_null", "direction",
    "estimator", "agreement", "look_alike", "ibm1_iterations", "iterations", "alpha", "p_null", "tension", "seed",
)  # fmt: skip


@click.command("mre-align", cls=options.Command, renamed={"--load-model": "--model"})
@aligning.text
@aligning.models
@_reconstruction
@aligning.deciding(
    None, "  [default: joint; grow-diag-final-and for an IBM 2 trained with --no-agreement, and for --preset paper]"
)
@aligning.outputs
@aligning.estimation
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
    from aligntools.api.alignment import train_mre_aligner
    from aligntools.cli.aligning_run import run

    chosen = aligning.given()
    aligning.take_old_type(o, chosen, ("ibm2", "hmm"))
    symmetrize = o["symmetrize"]
    if not symmetrize:  # after --init-model, as soon as that is read
        apart = not o["model"] and mre_symmetrization(o["model_type"], o["agreement"], o["preset"])
        o["symmetrize"] = (o["direction"] == "both" and apart) or "joint"
    aligning.check(o, chosen, reconstructs=True)
    own = {n: o[n] for n in TRAINING} | {"views": o["views"] or (0,)}
    own |= {n: o[n] for n in ("model_type", "positions") if not o["init_model"] or n in chosen}
    own |= {n: None for n in MRE_PRESETS.get(o["preset"], ()) if n not in chosen}  # the preset's to say

    def train(bitext, init_model, **common):
        from aligntools.aligning.training.train_model import settings_after

        if init_model and not symmetrize and init_model.settings.direction == "both":
            model = settings_after(init_model.model, True, own.get("model_type")).model
            o["symmetrize"] = mre_symmetrization(model, init_model.settings.joint, o["preset"])
            aligning.check_decisions(o, "both")
        return train_mre_aligner(bitext, **own, init_model=init_model, **common)

    run(o, train, lambda _: own["views"][0])
