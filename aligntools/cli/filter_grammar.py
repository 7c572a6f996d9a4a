"""``aligntools filter-grammar``: the rules of a grammar that a text can use."""

import sys
from contextlib import nullcontext
from typing import Any

import click

from aligntools import GrammarFilter
from aligntools.cli import declarations, options, reporter
from aligntools.cli.flags import renamed


@click.command("filter-grammar", cls=options.Command, renamed=renamed(GrammarFilter))
@options.group(
    "Common options",
    options.file("--grammar", required=True, help="Grammar, in any of the formats."),
    options.file("--text", required=True, help="Text to be translated, one sentence per line."),
    declarations.option(GrammarFilter, "span_limit"),
)
@options.group(
    "Input and output",
    options.output(),
    options.split,
    options.choice(
        "--format",
        choices=("same", "hiero", "moses", "binary"),
        help="Format to write; same copies the lines as they are.",
    ),
)
@options.group("Resources and messages", options.verify, options.verbosity)
def command(*, output: str, quiet: bool, verbose: bool, **o: Any) -> None:
    """Keep the rules of a grammar that a text can use.

    A rule is kept if the text has every sequence of source words that stands between its nonterminals.

    With --span-limit the whole source side must match somewhere, which keeps far fewer rules. The lines of a text
    grammar are copied unless --format is given; with --format the command also converts grammars.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt -o /tmp/de-en.align
      aligntools extract-grammar -q -i data/samples/de-en.txt -a /tmp/de-en.align -o /tmp/de-en.grammar
      head -9 data/samples/de-en.de | aligntools filter-grammar --grammar /tmp/de-en.grammar --text -
    """
    from aligntools.translating.grammars import filter_grammar_file

    with reporter.shown(True) if quiet else nullcontext():
        kept, total, sentences, types = filter_grammar_file(path=output, **o)
    if quiet:
        return
    sys.stderr.write(f"{kept} rules" + (f" of {total}" if total is not None else "") + "\n")
    if verbose:
        sys.stderr.write(f"the text has {sentences} sentences and {types} different words\n")
