"""``aligntools train-parser``: a dependency parser from a treebank."""

import contextlib
import sys

import click

from aligntools.cli import engine_options, notices, options, training
from aligntools.parsing.settings import CROSSING, ROOTS, ParserSettings


@click.command("train-parser", cls=options.Command, renamed=training.RENAMED)
@options.group(
    "Common options",
    click.option("--treebank", "treebanks", metavar="FILE", multiple=True, required=True,
                 help="CoNLL-X or CoNLL-U with heads; can be given several times."),
    training.output,
    click.option("--labels/--no-labels", default=ParserSettings.labels, show_default=True,
                 help="Learn labels too, where there are any."),
)  # fmt: skip
@options.group("Tags", training.column, training.tag_map)
@options.group(
    "Trees of the treebank",
    click.option("--crossing", type=click.Choice(CROSSING), default=ParserSettings.crossing, show_default=True,
                 help="Trees with crossing edges: leave them out, or lift the edges."),
    click.option("--roots", type=click.Choice(ROOTS), default=ParserSettings.roots, show_default=True,
                 help="Trees with several roots: leave them out, or put the others under the first."),
    options.setting("--min-length", of=ParserSettings, metavar="N", help="Leave out shorter sentences."),
    options.setting("--max-length", of=ParserSettings, metavar="N", help="Leave out longer sentences."),
)  # fmt: skip
@options.group("Model", *training.parser_model)
@options.group(
    "Training",
    options.setting("--l2", of=ParserSettings, metavar="X",
                    help=training.L2_HELP.format("treebank") + " What else is minimized grows"
                         " with the treebank, so the same value holds less in a large one."),
    *training.parser_learning,
)  # fmt: skip
@engine_options.group
@options.group("Resources and messages", training.log_json, options.threads, options.verbosity)
def command(treebanks, output, log_json, threads, quiet, verbose, **settings):
    """Train a dependency parser from a treebank, by maximum conditional likelihood.

    The model is log-linear and scores each edge by itself (McDonald, Crammer & Pereira 2005; Ma & Xia 2014); labels
    are found after the tree. Sentences whose trees the model cannot have are left out or repaired, and counted.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.conllu
    """
    from aligntools.api.parser_training import train_parser
    from aligntools.formats.files import writing

    with contextlib.ExitStack() as stack:
        stack.enter_context(notices.shown(quiet))
        log = stack.enter_context(writing(log_json)) if log_json else None
        steps = training.Steps(verbose, log, training.lbfgs_step, quiet)
        train_parser(treebanks, **settings, threads=threads, progress=steps).save(output)
    if quiet:
        return
    found = steps.result
    if found["skipped"]:
        first = f"; the first is {found['first_skipped']}" if found["first_skipped"] else ""
        total = sum(found["skipped"].values())
        sys.stderr.write(f"{total} sentences left out: {training.counts(found['skipped'])}{first}\n")
    if found["changed"]:
        total = sum(found["changed"].values())
        sys.stderr.write(f"{total} sentences repaired: {training.counts(found['changed'])}\n")
    sys.stderr.write(
        f"{found['sentences']} sentences, {found['words']} words, {found['features']} features; objective"
        f" {found['objective']:.1f} after {found['steps']} steps ({found['message']})\n"
    )
