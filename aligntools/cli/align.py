"""``aligntools align``: from parallel text to alignments, in one command."""

import click
from click.core import ParameterSource

from aligntools.cli import options
from aligntools.cli.options import SETTINGS


def _views(_ctx, _option, value):
    if value is None:
        return None
    try:
        views = tuple(int(x) for x in value.split(","))
    except ValueError:
        views = ()
    if not views or min(views) < 0 or len(set(views)) < len(views):
        raise click.BadParameter(f"'{value}': different numbers of letters, with commas; 0 for whole words")
    return views


HEURISTICS = ("joint", "union", "intersect", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and")
POSITIONS = ("diagonal", "table")


def bundle(*options):
    """Return one decorator for several, which come in this order in the help."""

    def decorate(function):
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


#: What is read, and where the alignment goes.
text = bundle(
    click.option("-i", "--input", "joint_file", metavar="FILE",
                 help="Text with ' ||| ' between the sides (- is stdin)."),
    click.option("-s", "--source", metavar="FILE", help="Source side; with -t, instead of -i."),
    click.option("-t", "--target", metavar="FILE", help="Target side."),
    options.output(help="Write the alignment here instead of standard output; appears whole or not at all."),
)  # fmt: skip
#: Models on disk.
models = bundle(
    click.option("-m", "--load-model", metavar="FILE", help="Apply a saved model: reads and writes as it goes."),
    click.option("--save-model", metavar="FILE", help="Keep the trained model."),
    click.option("--init-model", metavar="FILE", help="Go on training from a saved model, on this text."),
)
#: How links are decided on, and what else is written.
outputs = bundle(
    click.option("--symmetrize", type=click.Choice(HEURISTICS), default="joint", show_default=True,
                 help="How the two directions become one; joint thresholds their mean posterior."),
    click.option("--flavor", type=click.Choice(["atools", "symal"]), default="atools", show_default=True,
                 help="Whose scan order the heuristics follow."),
    click.option("--decode", type=click.Choice(["best", "posterior", "viterbi"]), default="best", show_default=True,
                 help="Single directions: each word's best link, all over the threshold, or Viterbi."),
    click.option("--threshold", type=click.FloatRange(0, 1), default=None, metavar="P",
                 help="Posterior that a link must exceed.  [default: 0.4; for one view 0.5]"),
    click.option("--direction", type=click.Choice(["both", "forward", "reverse"]), default="both",
                 show_default=True, help="Train and write one direction alone (not for fertility)."),
    click.option("--forward-output", metavar="FILE", help="Also write the forward direction (target words choose)."),
    click.option("--reverse-output", metavar="FILE", help="Also write the reverse direction (source words choose)."),
    click.option("--scores", metavar="FILE", help="Also write ln p(t|s), ln p(s|t), both a word; tabs between."),
    click.option("--link-probabilities", is_flag=True, help="Write links as i-j:p (with --symmetrize joint)."),
    click.option("--ttable", metavar="FILE",
                 help="Also write ln p(target|source) as 'source TAB target TAB ln p'."),
)  # fmt: skip
views = click.option("--views", callback=_views, metavar="N,N..",
                     help="Views to average: 0 whole words, n their first n letters.  [default: by size]")  # fmt: skip
look_alike = click.option(
    "--look-alike/--no-look-alike",
    default=True,
    show_default=True,
    help="Expect look-alike words to be translations, as far as the text bears it out.",
)


def estimation(estimator="vb", joint=True):
    """Return the options of the estimation by EM or VB, with these defaults."""
    return bundle(
        click.option("--estimator", type=click.Choice(["vb", "em"]), default=estimator, show_default=True,
                     help="Variational Bayes or maximum likelihood."),
        click.option("--agreement/--no-agreement", "joint", default=joint, show_default=True,
                     help="Train the directions jointly."),
        look_alike,
        views,
        click.option("--ibm1-iterations", type=click.IntRange(1), default=5, show_default=True, metavar="N",
                     help="Iterations of IBM 1, before the model."),
        click.option("--iterations", type=click.IntRange(1), metavar="N",
                     help="Iterations of the HMM or of IBM 2.  [default: 2 before the sampler, hmm 4, ibm2 5]"),
    )  # fmt: skip


sweeps = click.option(
    "--sweeps", type=click.IntRange(3), metavar="N", help="Sweeps of the sampler.  [default: by size]"
)
#: Numbers that the estimation takes as given.
priors = bundle(
    click.option("--alpha", type=click.FloatRange(0, min_open=True), default=0.2, show_default=True, metavar="A",
                 help="Dirichlet prior a pair of words (vb)."),
    click.option("--p-null", type=click.FloatRange(0, 0.99), default=0.08, show_default=True, metavar="P",
                 help="Probability of no link."),
    click.option("--tension", type=float, default=4.0, show_default=True, metavar="X",
                 help="IBM 2's starting tension."),
    click.option("--positions", type=click.Choice(POSITIONS), default="diagonal", show_default=True,
                 help="IBM 2's positions: drawn to the diagonal, or a table of p(m|n,M,N)."),
)  # fmt: skip
#: What is left out, and how the work is done.
limits = bundle(
    click.option("--case-sensitive", is_flag=True, help="Keep upper and lower case apart."),
    click.option("--max-length", type=click.IntRange(1, 30000), default=2000, show_default=True, metavar="N",
                 help="A pair with a longer side gets a blank line."),
    click.option("--strict", is_flag=True, help="Stop at pairs that would get a blank line."),
    click.option("--max-memory", callback=options.size, metavar="SIZE",
                 help="Trade time for memory, for instance 800M or 4G."),
    click.option("--unbuffered", is_flag=True, help="With -m: a line out for each line in, at once."),
    click.option("--log-json", metavar="FILE", help="Also write figures of each training step, one JSON line each."),
    options.threads,
    options.seed,
    options.verbosity,
)  # fmt: skip


def with_given(o):
    """Add which options the command line itself gave, as ``given``."""
    context = click.get_current_context()
    o["given"] = {name for name in o if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    return o


@click.command("align", context_settings=SETTINGS)
@text
@models
@click.option("--model", type=click.Choice(["ibm1", "ibm2", "hmm", "fertility"]), default="fertility",
              show_default=True, help="What is trained.")  # fmt: skip
@click.option("--fast", is_flag=True, help="Stop at the HMM, one view of the text: quickest.")
@outputs
@estimation()
@sweeps
@priors
@limits
def command(**o):
    """Align a parallel corpus; one line of Pharaoh links (i-j, from 0, i source) for each pair.

    Trains both directions and writes one alignment; pairs that cannot be aligned get a blank line and are
    counted on standard error. With -m a saved model is applied instead.

    \b
    Example:
      aligntools align -s data/samples/de-en.de -t data/samples/de-en.en
    """
    from aligntools.cli.aligning_run import run

    run(with_given(o))
