"""``aligntools check``: what translations leave out, add or repeat, the worst pairs first."""

import sys
from typing import Any

import click

from aligntools import CheckSettings
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options
from aligntools.cli.reporter import reporting
from aligntools.ground.ranges import amounts

#: Exit status where more pairs are flagged than ``--fail-above`` allows.
FAILED = 3


@click.command(
    "check",
    cls=options.Command,
    basic="source target joint_file output model flag_above fail_above output_format summary flagged save_model"
    " fast tokenize max_memory threads quiet",
)
@options.group(
    "Common options",
    *aligning.sides,
    aligning.joint_file,
    options.output(help="Write the rows to this file instead of standard output."),
    options.file("-m", "--model", help="Judge by a saved model; else by one trained on this text."),
)
@options.group(
    "Limits",
    declarations.group(CheckSettings, title="Limits"),
    click.option(
        "--fail-above",
        metavar="P",
        type=options.Number(amounts(0, 1)),
        help=f"End with status {FAILED} when a larger share of the pairs is flagged; 0: when any is.",
    ),
)
@options.group(
    "Output",
    options.choice(
        "--output-format", choices=("tsv", "json"), help="json: an object a line, with the spans' positions and scores."
    ),
    click.option("--summary", is_flag=True, help="Write one line about the text and no rows."),
    click.option("--flagged", is_flag=True, help="Leave out pairs that are not flagged."),
    click.option("--in-order", is_flag=True, help="Write the pairs in the order of the text."),
    aligning.save_model,
)
@aligning.whole_text(without=["strict"])
def command(**o: Any) -> None:
    """Check what translations leave out, add or repeat.

    The target is the translation. A pair's score is how much speaks for some words having no counterpart: more where
    such words usually have one, as names and content words do, less for words that often have none. Repeated words,
    and numbers and placeholders that differ, add to it.

    A row for each pair, the worst first: line number, score, share of pairs with a lower score, flagged or passed,
    share of unlinked source words and of unlinked target words, what was found, source, target. What was found names
    words by their positions, from 0: added[3:5] are the fourth and fifth word of the target.

    \b
    Example:
      aligntools check -s data/samples/de-en.de -t data/samples/de-en.en --flagged
      aligntools check -i data/samples/de-en.txt --summary
    """
    from aligntools.tools.checks import check_files

    with reporting(o) as reporter:
        found = declarations.call(check_files, o, work=aligning.text_work(o, reporter))
    if o["fail_above"] is not None and found.flagged_share > o["fail_above"]:
        sys.exit(FAILED)
