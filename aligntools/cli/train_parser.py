"""``aligntools train-parser``: a dependency parser from a treebank, or from tags alone."""

import contextlib
import sys

import click

from aligntools.cli import engine_options, notices, options, training
from aligntools.cli.alignment_options import given
from aligntools.ground.errors import UsageProblem
from aligntools.parsing.settings import CROSSING, ROOTS, ParserSettings
from aligntools.parsing.unsupervised.settings import ESTIMATORS, PUNCTUATION, InducedParserSettings

#: The options of --unsupervised that others have too, those that are for it alone, and those that both uses have.
SHARED = ("column", "map", "min_length", "max_length", "iterations", "tolerance", "checkpoint")
INDUCING = ("separator", "estimator", "prior", "punct", "decay")
COMMON = {"output", "log_json", "threads", "quiet", "verbose"}


@click.command("train-parser", cls=options.Command, renamed=training.RENAMED)
@options.group(
    "Common options",
    click.option("--treebank", "treebanks", metavar="FILE", multiple=True,
                 help="CoNLL-X or CoNLL-U with heads; can be given several times."),
    click.option("--unsupervised", metavar="TEXT",
                 help="Learn from tags alone instead: CoNLL, whose trees are not read, or word_TAG lines."),
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
    options.setting("--max-length", of=ParserSettings, metavar="N", help="Leave out longer sentences; those of over"
                    f" {InducedParserSettings.max_length} words with --unsupervised, if this is not given."),
)  # fmt: skip
@options.group("Model", *training.parser_model, training.classes)
@options.group(
    "Training",
    options.setting("--l2", of=ParserSettings, metavar="X",
                    help=training.L2_HELP.format("treebank") + " What else is minimized grows"
                         " with the treebank, so the same value holds less in a large one."),
    *training.parser_learning,
)  # fmt: skip
@options.group(
    "Without trees (--unsupervised)",
    click.option("--estimator", type=click.Choice(ESTIMATORS), default=InducedParserSettings.estimator,
                 show_default=True, help="Expectation maximization, or variational Bayes."),
    options.setting("--prior", of=InducedParserSettings, metavar="A",
                    help="em: added to the expected counts; vb: parameter of the Dirichlet priors."),
    click.option("--punct", type=click.Choice(PUNCTUATION), default=InducedParserSettings.punct, show_default=True,
                 help="Punctuation, by its tags: leave it out and attach it afterwards, or take it for words."),
    options.setting("--decay", of=InducedParserSettings, metavar="X",
                    help="In the start, near heads are likelier: by their distance to the power of -X."),
    training.separator,
)  # fmt: skip
@engine_options.group
@options.group("Resources and messages", training.log_json, options.threads, options.verbosity)
def command(treebanks, unsupervised, output, log_json, threads, quiet, verbose, **settings):
    """Train a dependency parser from a treebank, or from tags alone (--unsupervised).

    The model is log-linear and scores each edge by itself (McDonald, Crammer & Pereira 2005; Ma & Xia 2014); labels
    are found after the tree. It is learned by maximum conditional likelihood. Sentences whose trees it cannot have are
    left out or repaired, and counted.

    With --unsupervised it is the dependency model with valence (Klein & Manning 2004): tags that choose tags, without
    labels, for `parse` too. It finds what belongs together better than which of the two a treebank calls the head.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.conllu
      aligntools train-parser -q --unsupervised data/samples/en.tagged -o /tmp/en.dmv
    """
    from aligntools.api.parse.parser_induction import induce_parser
    from aligntools.api.parse.parser_training import train_parser
    from aligntools.formats.opening.files import writing

    _check_use(bool(treebanks), unsupervised is not None)
    with contextlib.ExitStack() as stack:
        stack.enter_context(notices.shown(quiet))
        log = stack.enter_context(writing(log_json)) if log_json else None
        steps = training.Steps(verbose, log, training.lbfgs_step, quiet)
        if unsupervised is None:
            own = {name: value for name, value in settings.items() if name not in INDUCING}
            train_parser(treebanks, **own, threads=threads, progress=steps).save(output)
        else:
            own = {name: settings[name] for name in {*SHARED, *INDUCING} - {"max_length"} | ({"max_length"} & given())}
            induce_parser(unsupervised, **own, threads=threads, progress=steps).save(output)
    if not quiet:
        _tell(steps.result)


def _check_use(supervised, unsupervised):
    """Refuse two uses at once, none, and options of the other."""
    if supervised == unsupervised:
        raise UsageProblem("give one text: --treebank for a parser from trees, or --unsupervised for one from tags")
    flag = {"treebanks": "treebank", "projective": "non-projective"}
    for name in sorted(given() - COMMON - {"treebanks", "unsupervised"}):
        if name in INDUCING if supervised else name not in (*SHARED, *INDUCING):
            use = "--treebank" if supervised else "--unsupervised"
            raise UsageProblem(f"--{flag.get(name, name.replace('_', '-'))} does not go with {use}")


def _tell(found):
    """Write what came of a training to standard error."""
    if found["skipped"]:
        first = f"; the first is {found['first_skipped']}" if found.get("first_skipped") else ""
        total = sum(found["skipped"].values())
        sys.stderr.write(f"{total} sentences left out: {training.counts(found['skipped'])}{first}\n")
    if found.get("changed"):
        total = sum(found["changed"].values())
        sys.stderr.write(f"{total} sentences repaired: {training.counts(found['changed'])}\n")
    units = "features" if "features" in found else "tags"
    sys.stderr.write(
        f"{found['sentences']} sentences, {found['words']} words, {found[units]} {units}; objective"
        f" {found['objective']:.1f} after {found['steps']} steps ({found['message']})\n"
    )
