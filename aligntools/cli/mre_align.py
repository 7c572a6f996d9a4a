"""``aligntools mre-align``: alignment models trained to make their text again."""

import click

from aligntools.cli.align import estimation, limits, models, outputs, priors, text, with_given
from aligntools.cli.options import SETTINGS


@click.command("mre-align", context_settings=SETTINGS)
@text
@models
@click.option("--model", type=click.Choice(["ibm2", "hmm"]), default="hmm", show_default=True,
              help="What is trained; with --init-model, what that model is.")  # fmt: skip
@click.option("--mre-iterations", type=click.IntRange(0), default=8, show_default=True, metavar="N",
              help="Iterations of reconstruction, after those of EM.")  # fmt: skip
@click.option("--mre-smoothing", type=click.FloatRange(0), metavar="N",
              help="Uses each word has beforehand, spread as the text's words.  [default: em 20, vb 0]")  # fmt: skip
@click.option("--mre-positions/--no-mre-positions", default=False, show_default=True,
              help="Reconstruction trains jumps or positions too, not words alone.")  # fmt: skip
@click.option("--mre-null/--no-mre-null", default=None,
              help="Reconstruction trains the words of NULL too.  [default: after vb]")  # fmt: skip
@outputs
@estimation()
@priors
@limits
def command(**o):
    """Align by maximum reconstruction: train an HMM or IBM 2 by EM, then to make each text again from its own links.

    EM finds what explains the words; reconstruction (Cheng, Liu & Xu 2017) goes on from there and raises P(x|x),
    how surely each word is made again by the links found for it. Each direction is trained by itself, then
    both are combined as in align, with its outputs. With -m a saved model is applied instead, as align -m does.

    \b
    Example:
      aligntools mre-align -s data/samples/de-en.de -t data/samples/de-en.en -o de-en.align
    """
    from aligntools.aligning.settings import Reconstruction
    from aligntools.cli.aligning_run import run

    o = with_given(o)
    if o["views"] is None:
        o["views"] = (0,)
    how = Reconstruction(o["mre_iterations"], o["mre_smoothing"], o["mre_positions"], o["mre_null"])
    run({"fast": False, "sweeps": None, "reconstruct": how, **o})
