"""``aligntools eval-tags``: tags, or induced classes, scored against gold tags."""

from typing import Any

import click

from aligntools import TagScoring
from aligntools.cli import declarations, options, scoring
from aligntools.metrics.scorers import TagScorer


@click.command(
    "eval-tags",
    cls=options.Command,
    basic="column train paired by_tag format head json bootstrap seed quiet",
)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="TAGGED...", nargs=-1, required=True)
@options.group(
    "Common options",
    declarations.group(TagScoring, "column"),
    options.file("--train", help="The tagger's training text: score words that are not in it apart."),
    scoring.paired("accuracy", "TAGGED"),
    click.option(
        "--by-tag", is_flag=True, help="Add precision, recall and F1 of each tag, and the most frequent errors."
    ),
)
@options.group("Input and output", declarations.group(TagScoring, without=("column",)), scoring.json, options.output())
@scoring.tests("accuracy")
def command(**o: Any) -> None:
    """Score tags against gold tags: accuracy, and measures for induced classes without names.

    Files are CoNLL-X or CoNLL-U, word_TAG lines, or a word and its tag per line, told apart by their first lines.

    Accuracy (and that of known and unknown words) is for labels that are the gold's tags; it is left out where
    most words have other labels. many-to-1: every label counts as the tag that it has most words in common with
    (Johnson 2007). 1-to-1: every label as a tag of its own, in the best way. VI: variation of information,
    H(G|P) + H(P|G), in bits, 0 is best (Meila 2007). V-measure: harmonic mean of homogeneity and completeness
    (Rosenberg & Hirschberg 2007). All words count, punctuation too.

    \b
    Example:
      sed 's/_ADJ/_NOUN/g' data/samples/en.tagged | aligntools eval-tags data/samples/en.tagged -
    """
    scoring.write_report(lambda: declarations.call(TagScorer, o).score, o, by=["tag"] if o["by_tag"] else [])
