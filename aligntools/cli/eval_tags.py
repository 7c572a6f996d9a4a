"""``aligntools eval-tags``: tags, or induced classes, scored against gold tags."""

from typing import get_args

import click

from aligntools.api.score.scorers import TagFormat, TagScorer
from aligntools.cli import kinds, options, scoring


@click.command("eval-tags", cls=options.Command)
@click.argument("gold", metavar="GOLD")
@click.argument("hypotheses", metavar="TAGGED...", nargs=-1, required=True)
@options.group(
    "Common options",
    click.option(
        "--column",
        default=TagScorer.column,
        show_default=True,
        metavar="upos|xpos|N",
        type=kinds.Column(),
        help="Column of the tags in CoNLL, by name or number, counted from 1.",
    ),
    click.option("--train", metavar="FILE", help="The tagger's training text: score words that are not in it apart."),
    scoring.paired("accuracy", "TAGGED"),
    click.option(
        "--by-tag", is_flag=True, help="Add precision, recall and F1 of each tag, and the most frequent errors."
    ),
)
@options.group(
    "Input and output",
    click.option(
        "--format",
        type=click.Choice(get_args(TagFormat)),
        default=TagScorer.format,
        show_default=True,
        help="tagged: word_TAG or word/TAG, one sentence per line. columns: one word and its tag per line.",
    ),
    click.option(
        "--separator",
        metavar="TEXT",
        callback=options.tag_separator,
        show_default="'_' or '/', found out",
        help="Between word and tag in tagged text.",
    ),
    click.option(
        "--hyp-column", metavar="upos|xpos|N", type=kinds.Column(), help="Column of the tags in TAGGED alone."
    ),
    click.option("--hyp-format", type=click.Choice(get_args(TagFormat)), help="Format of TAGGED alone."),
    click.option("--head", is_flag=True, help="Score the first sentences of a TAGGED longer than the gold."),
    click.option("--ignore-forms", is_flag=True, help="Do not compare the words, only how many there are."),
    scoring.json,
    options.output,
)
@scoring.tests("accuracy")
@options.group("Messages", options.verbosity)  # fmt: skip
def command(gold, hypotheses, train, by_tag, bootstrap, paired, seed, json, output, quiet, verbose, **how):
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
    scoring.check_files([gold, train], hypotheses, paired)
    scorer = TagScorer(gold, train=train, **how)
    scoring.write_report(
        scorer, hypotheses, output, bootstrap=bootstrap, paired=paired, seed=seed, json=json, quiet=quiet,
        verbose=verbose, by=["tag"] if by_tag else [],
    )  # fmt: skip
