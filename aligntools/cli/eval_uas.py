"""``aligntools eval-uas``: dependency trees scored against gold trees."""

import click

from aligntools.api.score.scorers import TreeScorer
from aligntools.cli import kinds, options, scoring
from aligntools.ground.ranges import counts
from aligntools.metrics.attachment import PUNCTUATION


@click.command("eval-uas", cls=options.Command)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="PARSED...", nargs=-1, required=True)
@options.group(
    "Common options",
    click.option(
        "--punct",
        type=click.Choice(PUNCTUATION),
        default=TreeScorer.punct,
        show_default=True,
        help="Words that count: all; conll: not those of punctuation characters alone (CoNLL 2006/2007);"
        " ud: not those with the gold tag PUNCT (or '.').",
    ),
    click.option("--no-punct", is_flag=True, help="The same as --punct ud."),
    click.option(
        "--by",
        type=click.Choice(["length", "distance", "tag", "relation"]),
        multiple=True,
        help="Add attachment by length of the sentence, distance of the head, gold tag, or relation (label too).",
    ),
    click.option("--confusion", is_flag=True, help="Add the most frequent wrong labels."),
    click.option(
        "--conll18",
        is_flag=True,
        help="Add the measures of the CoNLL 2018 shared task: LAS without subtypes, CLAS, MLAS, BLEX. Words and"
        " sentences may be others than the gold's; they are aligned by their characters.",
    ),
    scoring.paired("UAS", "PARSED"),
)
@options.group(
    "Input and output",
    click.option(
        "--column",
        default=TreeScorer.column,
        show_default=True,
        type=kinds.Column(),
        metavar="upos|xpos|N",
        help="Column with the gold tags (--punct ud, --by tag).",
    ),
    click.option("--ignore-forms", is_flag=True, help="Do not compare the words, only how many there are."),
    scoring.json,
    options.output,
)
@options.group(
    "Decisions",
    click.option(
        "--max-length",
        type=options.number(counts(1)),
        metavar="N",
        help="Only sentences of at most N words that count.",
    ),
    click.option(
        "--subtypes/--no-subtypes",
        default=TreeScorer.subtypes,
        show_default=True,
        help="Whether labels must agree behind a colon too (nsubj:pass).",
    ),
)
@scoring.tests("UAS")
@options.group("Messages", options.verbosity)  # fmt: skip
def command(
    gold, hypotheses, punct, no_punct, by, confusion, conll18, bootstrap, paired, seed, json, output, quiet, verbose,
    **how,
):  # fmt: skip
    """Score dependency trees against gold trees: UAS, LAS, whole trees, roots.

    Files are CoNLL-X or CoNLL-U with the same words, or with --conll18 the same characters. UAS and LAS: words with the
    right head (and label, where both files have labels); trees: sentences whose words all have the right head; root:
    gold roots that are roots.

    \b
    Example:
      aligntools eval-uas --by distance data/samples/en.conllu data/samples/en.conllu
    """
    scoring.check_files([gold], hypotheses, paired)
    scorer = TreeScorer(gold, punct="ud" if no_punct else punct, conll18=conll18, **how)
    scoring.write_report(
        scorer, hypotheses, output, bootstrap=bootstrap, paired=paired, seed=seed, json=json, quiet=quiet,
        verbose=verbose, by=[*by, *["confusion"] * confusion, *["conll18"] * conll18],
    )  # fmt: skip
