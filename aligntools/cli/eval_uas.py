"""``aligntools eval-uas``: dependency trees scored against gold trees."""

from typing import Any

import click

from aligntools import TreeScoring
from aligntools.cli import declarations, options, scoring
from aligntools.ground.errors import UsageProblem
from aligntools.metrics.scorers import TreeScorer


@click.command(
    "eval-uas",
    cls=options.Command,
    renamed={"--no-punct": "--punct=ud"},
    basic="paired punct conll18 by max_length json bootstrap seed quiet",
)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="PARSED...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(TreeScoring, "punct"),
    click.option(
        "--by",
        type=click.Choice(["length", "distance", "tag", "relation"]),
        multiple=True,
        help="Add attachment by length of the sentence, distance of the head, gold tag, or relation (label too).",
    ),
    click.option("--confusion", is_flag=True, help="Add the most frequent wrong labels."),
    declarations.group(TreeScoring, "conll18"),
    scoring.paired("UAS", "PARSED"),
)
@options.group(
    "Input and output",
    declarations.group(TreeScoring, "column", "predicted_columns", "ignore_forms"),
    scoring.json,
    options.output(),
)
@declarations.group(TreeScoring, "max_length", "subtypes")
@scoring.tests("UAS")
def command(**o: Any) -> None:
    """Score dependency trees against gold trees: UAS, LAS, whole trees, roots.

    Files are CoNLL-X or CoNLL-U with the same words, or with --conll18 the same characters. UAS and LAS: words with the
    right head (and label, where both files have labels); trees: sentences whose words all have the right head; root:
    gold roots that are roots.

    \b
    Example:
      aligntools eval-uas --by distance data/samples/en.conllu data/samples/en.conllu
    """
    if "column" in declarations.given() and o["punct"] != "ud" and "tag" not in o["by"]:
        raise UsageProblem("`column` changes nothing here; it goes with `punct=ud` or --by tag")
    by = [*o["by"], *["confusion"] * o["confusion"], *["conll18"] * o["conll18"]]
    scoring.write_report(lambda: declarations.call(TreeScorer, o).score, o, by=by)
