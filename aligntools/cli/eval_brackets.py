"""``aligntools eval-brackets``: trees of constituents scored against gold trees."""

from typing import Any

import click

from aligntools import BracketScoring
from aligntools.cli import declarations, options, scoring
from aligntools.metrics.scorers import BracketScorer


@click.command("eval-brackets", cls=options.Command)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="PARSED...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(BracketScoring, "leave_out", "unlabelled"),
    click.option(
        "--by",
        type=click.Choice(["label", "length"]),
        multiple=True,
        help="Add brackets by label, or by length of the sentence.",
    ),
    scoring.paired("F1", "PARSED"),
)
@options.group(
    "Input and output",
    declarations.group(BracketScoring, "ignore_forms"),
    scoring.json,
    options.output(),
)
@declarations.group(BracketScoring, "whole", "functions", "max_length")
@scoring.tests("F1")
def command(**o: Any) -> None:
    """Score trees of constituents against gold trees: labelled F1, precision, recall, as EVALB counts them.

    Files have trees in brackets, one on a line or over several, with the same words in the same order. Functions
    (NP-SBJ), traces and labels above the sentence (TOP) are left out, and so is punctuation; PRT counts as ADVP. A line
    (()) is a sentence without a tree: its gold brackets are missing. Gold trees without words do not count.
    exact: sentences with all brackets and no other; crossing: brackets of a sentence that cross a gold one, in the
    mean.

    \b
    Example:
      aligntools eval-brackets --by label data/samples/en.mrg data/samples/en.mrg
    """
    scoring.write_report(lambda: declarations.call(BracketScorer, o).score, o, by=o["by"])
