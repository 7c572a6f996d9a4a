"""``aligntools align``: from parallel text to alignments, in one command."""

import click

from aligntools.aligning.settings import AlignerSettings, PartSettings, PriorWeights
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declared, engine_options, options
from aligntools.encoding.settings import EncoderSettings
from aligntools.ground.errors import UsageProblem

_priors = options.group(
    "Priors",
    click.option(
        "--priors",
        metavar="FILE",
        multiple=True,
        help="Add counts of links, fertilities and jumps from other text (eflomal's form); may be repeated.",
    ),
    click.option(
        "--save-priors", metavar="FILE", type=options.WRITTEN, help="Write such counts of this text's alignment."
    ),
    declared.group(PriorWeights),
)
_parts = options.group(
    "Text of any size, in parts",
    engine_options.option("tmpdir", help="Work from disk, in parts that are kept here (a cluster's workers have to see"
                                         " it).  [default: the system's]"),
    click.option(
        "--checkpoint",
        metavar="DIR",
        help="Keep the parts here; the same command goes on where a run that ended has been.",
    ),
    engine_options.option("workers"),
    engine_options.option("cluster"),
    engine_options.option("cluster_file"),
    declared.group(PartSettings),
    click.option("--plan", is_flag=True, help="Say what the work would take, and do nothing."),
)  # fmt: skip


@click.command("align", cls=options.Command, renamed={"--load-model": "--model"})
@aligning.text
@aligning.models
@_priors
@aligning.decisions
@aligning.outputs
@aligning.shapes
@declared.group(AlignerSettings)
@declared.group(EncoderSettings)
@_parts
@aligning.limits
def command(**o):
    """Align a parallel corpus: one line of links i-j for each sentence pair, i the source word, from 0.

    Trains both directions and writes one alignment. A pair that cannot be aligned gets a blank line and is
    counted on standard error. With -m a saved model is applied instead.

    A text that is too large for memory is worked from disk, in parts. Names with a star stand for several files:
    -i 'parts/*.zst' -o 'out/*.align'.

    \b
    Example:
      aligntools align -s data/samples/de-en.de -t data/samples/de-en.en
    """
    from aligntools.api.align.alignment import tell_unused, train_with
    from aligntools.cli import aligning_parts
    from aligntools.cli.aligning_run import run

    chosen = aligning.given()
    aligning.take_old_type(o, chosen)
    aligning.check(o, chosen)
    if o["priors"] and o["model"]:
        raise UsageProblem("-m applies a model as it is; --priors are for training")
    weights = sorted(chosen & set(PriorWeights.names()))
    if weights and not o["priors"]:
        raise UsageProblem(f"`{weights[0]}` weighs what --priors gives; add it")
    aligning.check_shapes(o, chosen)
    settings, encoder = declared.settings(AlignerSettings, o), declared.settings(EncoderSettings, o)
    given = sorted(chosen & {"encoder_layer", "encoder_pairs"})
    if o["model"] and given:
        raise UsageProblem(f"-m applies a model as it is; `{given[0]}` is for training")
    if aligning_parts.asked(o, chosen) or aligning_parts.must(o, settings):
        aligning_parts.check(o, chosen)
        aligning_parts.run(o, settings)
        return

    def train(bitext, init_model, **common):
        if init_model is None:
            tell_unused(settings)
        own = init_model.settings if init_model else settings
        more = {"priors": o["priors"] or None, "weights": declared.settings(PriorWeights, o)}
        return train_with(bitext, None, own, init_model=init_model, **more, **common)

    run(
        o,
        train,
        lambda n_words: settings.resolved(n_words).views[0],
        finds_links=True,
        encoder=encoder.chosen(o["best"] and not (o["model"] or o["init_model"])),
    )
