"""``aligntools parse``: a parser applied to text with tags."""

from contextlib import nullcontext
from functools import partial
from typing import Any

import click

from aligntools import ParserDecisions, ParserReading, Run
from aligntools.cli import declared, engine_options, notices, options, reporting, serving
from aligntools.cli.flags import renamed


@click.command("parse", cls=options.Command, renamed=renamed(ParserDecisions))
@click.argument("texts", metavar="[TEXT]...", nargs=-1)
@options.group(
    "Common options",
    click.option("-m", "--model", required=True, metavar="FILE", help="Parser from train-parser or transfer-parse."),
    options.output,
    declared.group(ParserDecisions, "labels"),
)
@options.group(
    "Input",
    declared.option(ParserReading, "format", choices=("auto", "conll", "tagged")),
    declared.group(ParserReading, "column", "predicted_columns", "map", "separator"),
    serving.unbuffered,
)
@declared.group(ParserDecisions, without=("labels",))
@engine_options.group
@options.group("Resources and messages", options.verify, options.threads, options.verbosity)
def command(**o: Any) -> None:
    """Parse text with tags: CoNLL with heads and labels filled in and all else unchanged.

    A parser without labels writes _ in DEPREL, and root at roots. An enhanced graph in DEPS is replaced by the edges of
    the new tree, and empty nodes stay; without one DEPS is emptied. Reads standard input if no TEXT is given, and
    writes while it reads. word_TAG lines become CoNLL. Every sentence of the input is in the output.

    \b
    Example:
      aligntools train-parser -q --treebank data/samples/en.conllu -o /tmp/en.parser
      aligntools parse -m /tmp/en.parser data/samples/en.tagged
    """
    from aligntools.api.parse.parse_files import ParseFiles, Parsing

    run, quiet = declared.settings(Run, o), o["quiet"]
    lines = reporting.SpokenLines(not quiet)
    with notices.shown(quiet) if run.asked else nullcontext():
        words = Parsing(
            declared.made_of(ParseFiles, o),
            declared.settings(ParserDecisions, o),
            declared.settings(ParserReading, o),
            run,
            lines,
            verify=o["verify"],
            unbuffered=o["unbuffered"],
            ending=partial(serving.until_terminated, o["unbuffered"]),
        ).parse()
    if o["verbose"]:
        lines.took(words, "words")
