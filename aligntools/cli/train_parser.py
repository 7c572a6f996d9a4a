"""``aligntools train-parser``: a dependency parser from a treebank, or from tags alone."""

import sys
from typing import Any

import click

from aligntools import InducedParserSettings, ParserReading, ParserSettings
from aligntools.cli import declarations, options, training
from aligntools.cli.flags import renamed
from aligntools.cli.kinds import Decorator

_TAGS = ("column", "predicted_columns", "map")
#: The options of each use of the command, apart from those that both have; a tagged text has a separator.
USES = {
    "--treebank": {
        "treebanks",
        *ParserSettings.names(),
        *_TAGS,
        "classes",
        "checkpoint",
        *options.ENGINES,
    },
    "--unsupervised": {"unsupervised", *InducedParserSettings.names(), *_TAGS, "separator", "checkpoint"},
}


def _length(name: str) -> Decorator:
    """Return an option on the length of sentences, which is another one with --unsupervised."""
    default, other = getattr(ParserSettings, name), getattr(InducedParserSettings, name)
    otherwise = f"{default}" if default == other else f"{default}; {other} with --unsupervised"
    return declarations.option(ParserSettings, name, otherwise=otherwise)


@click.command(
    "train-parser",
    cls=options.Command,
    renamed=training.RENAMED | renamed(ParserSettings),
    basic="treebanks unsupervised output labels column map features projective classes checkpoint workers"
    " log_json threads quiet",
)
@options.group(
    "Common options",
    options.file(
        "--treebank", "treebanks", multiple=True, help="CoNLL-X or CoNLL-U with heads; can be given several times."
    ),
    click.option(
        "--unsupervised",
        metavar="TEXT",
        help="Learn from tags alone instead: CoNLL, whose trees are not read, or word_TAG lines.",
    ),
    training.output,
    declarations.group(ParserSettings, "labels"),
)
@declarations.group(ParserReading, *_TAGS, title="Tags")
@options.group(
    "Trees of the treebank",
    declarations.group(ParserSettings, "crossing", "roots"),
    _length("min_length"),
    _length("max_length"),
)
@options.group(
    "Model",
    declarations.group(ParserSettings, "features", "projective", "single_root", "min_count", "bits"),
    training.classes,
)
@options.group(
    "Training",
    declarations.group(ParserSettings, "l2", "iterations", "tolerance"),
    training.checkpoint,
)
@options.group(
    "Without trees (--unsupervised)",
    declarations.group(
        InducedParserSettings, "estimator", "prior", "punct", "decay", title="Without trees (--unsupervised)"
    ),
    declarations.group(ParserReading, "separator", title="Without trees (--unsupervised)"),
)
@options.engines
@options.group("Resources and messages", training.log_json, options.threads, options.verbosity)
def command(**o: Any) -> None:
    """Train a dependency parser from a treebank, or from tags alone (--unsupervised).

    The model is log-linear and scores each edge by itself (McDonald, Crammer & Pereira 2005; Ma & Xia 2014); labels
    are found after the tree. It is learned by maximum conditional likelihood. Trees that it cannot represent are
    left out or repaired, and counted.

    With --unsupervised it is the dependency model with valence (Klein & Manning 2004): tags that choose tags, without
    labels, for `parse` too. It finds well which words belong together, and less well which of the two is the head in
    a treebank.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.conllu
      aligntools train-parser -q --unsupervised data/samples/en.tagged -o /tmp/en.dmv
    """
    from aligntools.parsing.parser_training import induce_parser, train_parser

    asked = {"--treebank": bool(o["treebanks"]), "--unsupervised": o["unsupervised"] is not None}
    which = "give one text: --treebank for a parser from trees, or --unsupervised for one from tags"
    use = training.check_use(o, USES, asked, which)
    with training.reporting(o, training.lbfgs_step) as (steps, result):
        if use == "--treebank":
            parser = declarations.call(train_parser, o, progress=steps)
        else:
            own = InducedParserSettings(**declarations.chosen(InducedParserSettings, o))
            parser = declarations.call(induce_parser, o, text=o["unsupervised"], settings=own, progress=steps)
        parser.save(o["output"])
    if not o["quiet"]:
        _tell(result)


def _tell(found: dict[str, Any]) -> None:
    first = f"; the first is {found['first_skipped']}" if found.get("first_skipped") else ""
    training.say_counts(found["skipped"], "left out", first)
    training.say_counts(found.get("changed") or {}, "repaired")
    units = "features" if "features" in found else "tags"
    sys.stderr.write(
        f"{found['sentences']} sentences, {found['words']} words, {found[units]} {units}; objective"
        f" {found['objective']:.1f} after {found['steps']} steps ({found['message']})\n"
    )
