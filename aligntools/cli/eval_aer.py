"""``aligntools eval-aer``: alignments scored against gold links."""

import click

from aligntools.api.score.scorers import AlignmentScorer
from aligntools.cli import options, scoring
from aligntools.formats.links import goldlinks


@click.command("eval-aer", cls=options.Command)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="ALIGNMENT...", nargs=-1, required=True)
@options.group(
    "Common options",
    click.option("--head", is_flag=True, help="Score the first lines of an alignment longer than the gold."),
    scoring.paired("AER", "alignment"),
    scoring.json,
)
@options.group(
    "Input and output",
    click.option(
        "--gold-format",
        type=click.Choice(["auto", *goldlinks.FORMATS]),
        default=AlignmentScorer.gold_format,
        show_default=True,
        help="pharaoh: i-j sure, i?j or ipj possible, alone or after an id and a tab; ids #2, #17 are the lines to"
        " score. naacl: 'sentence i j [S|P]', counted from 1.",
    ),
    *options.counted_from,
    click.option("--reverse", is_flag=True, help="The alignments are target-source."),
    click.option("-s", "--source", metavar="FILE", help="Source text: links past a sentence's end are refused."),
    click.option("-t", "--target", metavar="FILE", help="Target text, likewise."),
    options.split,
    options.output,
)
@options.group(
    "Decisions",
    click.option("--all-sure", is_flag=True, help="Take possible links as sure."),
    click.option("--ignore-possible", is_flag=True, help="Leave possible links out."),
)
@scoring.tests("AER")
@options.group("Messages", options.verbosity)  # fmt: skip
def command(gold, hypotheses, source, target, bootstrap, paired, seed, json, output, quiet, verbose, **how):
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
    scoring.check_files([gold, source, target], hypotheses, paired)
    scorer = AlignmentScorer(gold, source=source, target=target, **how)
    scoring.write_report(
        scorer, hypotheses, output, bootstrap=bootstrap, paired=paired, seed=seed, json=json, quiet=quiet,
        verbose=verbose,
    )  # fmt: skip
