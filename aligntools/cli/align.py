"""``aligntools align``: from parallel text to alignments, in one command."""

import click

from aligntools.aligning.settings import AlignerSettings, PartSettings, PriorWeights
from aligntools.cli import alignment_options as aligning
from aligntools.cli import engine_options, options
from aligntools.ground.errors import UsageProblem

_fast = options.group(
    "Common options",
    click.option("--fast", is_flag=True, help="Stop at the HMM, one view of the text: quickest."),
    click.option("--best", is_flag=True,
                 help="Fewer errors, in several times the time. A text of up to 100,000 pairs is trained on twice, the"
                      " second time with the links that contrastive-align's network finds as priors; one of over 3.5"
                      " million words gets the views and pieces of words that smaller ones have."),
)  # fmt: skip
_type = options.group(
    "Training",
    click.option("--model-type", type=click.Choice(aligning.TYPES), default="fertility", show_default=True,
                 help="Which model is trained."),
)  # fmt: skip
_sweeps = options.group(
    "Training",
    options.setting("--sweeps", of=AlignerSettings, help="Sweeps of the sampler.  [default: by size]"),
    options.setting("--subwords", of=AlignerSettings, metavar="N",
                    help="Align pieces of words too, and let them have their say: byte-pair encoding of N merges"
                         " a side, learned from the text; 0 for none.  [default: 3000; with --views, --priors or much"
                         " text 0]"),
    click.option("--view-agreement/--no-view-agreement", default=None,
                 help="Let the HMM of each view learn from what all views find.  [default: in text of up to 3.5"
                      " million words]"),
)  # fmt: skip
_priors = options.group(
    "Priors",
    click.option("--priors", metavar="FILE", multiple=True,
                 help="Add counts of links, fertilities and jumps from other text (eflomal's form); may be repeated."),
    click.option("--save-priors", metavar="FILE", type=options.WRITTEN,
                 help="Write such counts of this text's alignment."),
    options.setting("--prior-lexical", of=PriorWeights, name="lexical",
                    help="What a link of --priors weighs beside one of the text; 1 takes counts written by hand at"
                         " their word."),
    options.setting("--prior-fertility", of=PriorWeights, name="fertility", help="The same of a fertility."),
    options.setting("--prior-jumps", of=PriorWeights, name="jumps", help="The same of a jump."),
)  # fmt: skip
_parts = options.group(
    "Text of any size, in parts",
    click.option("--tmpdir", metavar="DIR",
                 help="Work from disk, in parts that are kept here (a cluster's workers have to see it).  [default: the"
                      " system's]"),
    click.option("--checkpoint", metavar="DIR",
                 help="Keep the parts here; the same command goes on where a run that ended has been."),
    engine_options.workers,
    engine_options.cluster,
    engine_options.cluster_file,
    click.option("--part-size", type=options.number(PartSettings, "part_size"), metavar="N",
                 help=f"Sentence pairs of a part.  [default: {PartSettings.part_size}, or what memory allows]"),
    click.option("--plan", is_flag=True, help="Say what the work would take, and do nothing."),
)  # fmt: skip
#: Options of training that the API takes under the same names.
TRAINING = (
    "model_type", "fast", "direction", "estimator", "agreement", "look_alike", "views", "ibm1_iterations",
    "iterations", "sweeps", "alpha", "p_null", "tension", "positions", "seed", "prior_lexical", "prior_fertility",
    "prior_jumps", "subwords", "view_agreement",
)  # fmt: skip


@click.command("align", cls=options.Command, renamed={"--load-model": "--model"})
@aligning.text
@_fast
@aligning.models
@_priors
@aligning.decisions
@aligning.outputs
@aligning.shapes
@_type
@aligning.estimation
@_sweeps
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
    from aligntools.api.alignment import aligner_settings, train_aligner
    from aligntools.cli import aligning_parts
    from aligntools.cli.aligning_run import run

    chosen = aligning.given()
    aligning.take_old_type(o, chosen)
    aligning.check(o, chosen)
    if o["priors"] and o["model"]:
        raise UsageProblem("-m applies a model as it is; --priors are for training")
    weights = sorted(n for n in chosen if n.startswith("prior_"))
    if weights and not o["priors"]:
        raise UsageProblem(f"--{weights[0].replace('_', '-')} weighs what --priors gives; add it")
    aligning.check_shapes(o, chosen)
    if o["best"] and o["fast"]:
        raise UsageProblem("--fast is for less time and --best for fewer errors; choose one of them")
    own = {n: o[n] for n in TRAINING}
    settings = {n: value for n, value in own.items() if not n.startswith("prior_")}
    if aligning_parts.asked(o, chosen) or aligning_parts.must(o, settings):
        aligning_parts.check(o, chosen)
        aligning_parts.run(o, aligner_settings(**settings))
        return
    run(
        o, lambda bitext, **common: train_aligner(
            bitext, priors=o["priors"] or None, best=o["best"], **own, **common
        ),
        lambda n_words: aligner_settings(**settings).resolved(n_words, o["best"]).views[0], finds_links=True,
    )  # fmt: skip
