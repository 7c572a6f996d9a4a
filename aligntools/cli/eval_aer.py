"""``aligntools eval-aer``: alignments scored against gold links."""

from typing import Any

import click

from aligntools import AlignmentScoring
from aligntools.cli import declarations, options, scoring
from aligntools.metrics.scorers import AlignmentScorer


@click.command(
    "eval-aer",
    cls=options.Command,
    basic="head paired json gold_format index_base reverse bootstrap seed quiet",
)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="ALIGNMENT...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(AlignmentScoring, "head"),
    scoring.paired("AER", "alignment"),
    scoring.json,
)
@options.group(
    "Input and output",
    declarations.group(AlignmentScoring, "gold_format", "index_base", "gold_base", "first_sentence", "reverse"),
    options.file("-s", "--source", help="Source text: links past a sentence's end are refused."),
    options.file("-t", "--target", help="Target text, for the same check."),
    options.split,
    options.output(),
)
@declarations.group(AlignmentScoring, "all_sure", "ignore_possible")
@scoring.tests("AER")
def command(**o: Any) -> None:
    """Score alignments against gold links: AER, precision, recall, F1.

    With A the links of an alignment, S the sure and P the possible gold links (S is part of P): precision is
    |A∩P| / |A|, recall |A∩S| / |S|, AER 1 - (|A∩S| + |A∩P|) / (|A| + |S|) (Och & Ney 2003), summed over the
    corpus. Files count words from 0 by default. The last line of the output is a signature: figures can be
    compared if it is the same.

    The interval comes from drawing sentences with replacement. --paired adds the difference to the first
    alignment, its interval, and how often exchanging the two outputs at random gives as large a difference.

    \b
    Example:
      cut -d' ' -f1-5 data/samples/de-en.wa | tr '?' - | aligntools eval-aer data/samples/de-en.wa -
    """
    scoring.write_report(lambda: declarations.call(AlignmentScorer, o).score, o)
