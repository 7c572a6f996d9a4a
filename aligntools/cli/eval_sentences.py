"""``aligntools eval-sentences``: groups of sentences scored against gold groups."""

from collections.abc import Callable
from typing import Any

import click

from aligntools.cli import options, scoring


@click.command("eval-sentences", cls=options.Command)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="LADDER...", nargs=-1, required=True)
@options.group("Common options", scoring.paired("F1", "ladder"), scoring.json, options.output())
@scoring.tests("F1")
def command(**o: Any) -> None:
    """Score groups of sentences against gold groups: precision, recall, F1, strict and lax.

    Files have a group a line, [source lines]:[target lines] from 0, as Vecalign writes them and align-sentences
    --ladder does; or hunalign's ladders and hand-made alignments, a rung a line; or links of XCES. Strict: a group is
    right if both its sides are those of a gold group. Lax: if a sentence of each side is in one gold group. Precision
    counts sentences without a partner as groups, recall does not (Thompson & Koehn 2019).

    \b
    Example:
      printf '[0]:[0]\\n[1, 2]:[1]\\n' > /tmp/gold.ladder
      printf '[0]:[0]\\n[1]:[1]\\n[2]:[]\\n' | aligntools eval-sentences /tmp/gold.ladder -
    """
    from aligntools.formats.links.ladder import read_ladder
    from aligntools.metrics.sentence_groups import LadderScore

    def scorer() -> Callable[[str], LadderScore]:
        gold = read_ladder(o["gold"])
        return lambda path: LadderScore.of(gold, read_ladder(path))

    scoring.write_report(scorer, o)
