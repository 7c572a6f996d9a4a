"""``aligntools filter``: parallel text without the pairs that are no translations, by how their words align."""

from typing import Any

import click

from aligntools import FilterSettings
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options
from aligntools.cli.reporter import reporting

#: Rows of text are put in this order and form.
_ROW = "line TAB reason TAB score TAB source TAB target"


@click.command(
    "filter",
    cls=options.Command,
    basic="source target joint_file output model min_score min_coverage max_copied everything rejected"
    " source_output target_output scores save_model fast tokenize max_memory threads quiet",
)
@options.group(
    "Common options",
    *aligning.sides,
    aligning.joint_file,
    options.output(help="Write the pairs that are kept to this file instead of standard output, both sides on a line."),
    options.file("-m", "--model", help="Judge by a saved model; else by one trained on this text."),
)
@declarations.group(FilterSettings, title="Limits")
@options.group(
    "More output",
    click.option("--all", "everything", is_flag=True, help=f"Write all pairs to -o, as {_ROW}."),
    options.written("--rejected", help=f"Write the pairs that are left out to this file, as {_ROW}."),
    options.written(
        "--source-output", help="Write the source side of the pairs that are kept to this file, and nothing to -o."
    ),
    options.written("--target-output", help="Write their target side to this file."),
    options.written(
        "--scores",
        help="Write a line for every line of input: score, coverage of source and target, ln p per word,"
        " copied part, reason.",
    ),
    aligning.save_model,
)
@aligning.whole_text(without=["strict"])
def command(**o: Any) -> None:
    """Keep the sentence pairs that are translations of each other, and say what was left out and why.

    A pair's score, 0 to 1, is how far the words of its worse side are linked, lowered where the words are improbable
    as translations. Pairs whose sides are copies are found by the words that both sides share. Every line is accounted
    for: standard error says how many were left out for which reason, and --rejected or --all has them, with their line
    numbers.

    \b
    Example:
      aligntools filter -i data/samples/de-en.txt --rejected rejected.tsv -o kept.txt
    """
    from aligntools.tools.filters import filter_files

    with reporting(o) as reporter:
        output = o["output"] if "output" in declarations.given() else None
        declarations.call(filter_files, o, work=aligning.text_work(o, reporter), output=output)
