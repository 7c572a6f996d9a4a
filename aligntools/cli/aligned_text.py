"""``aligntools filter``, ``check`` and ``terms``: what a text shows once its words are aligned."""

import sys
from typing import Any

import click

from aligntools import AlignerSettings, CheckSettings, FilterSettings, TermSettings
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options
from aligntools.cli.reporter import reporting
from aligntools.ground.ranges import amounts
from aligntools.tools.term_settings import TermWriting

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
def filter_pairs(**o: Any) -> None:
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
def check(**o: Any) -> None:
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


@click.command(
    "terms",
    cls=options.Command,
    basic="source target joint_file alignments model output output_format min_count max_words patterns top"
    " source_tags target_tags known inconsistent fast best tokenize threads quiet",
)
@options.group(
    "Common options",
    *aligning.sides,
    aligning.joint_file,
    options.file(
        "-a",
        "--alignments",
        help="Links i-j, source-target, one line per sentence pair; else the text is aligned first.",
    ),
    options.file("-m", "--model", help="Align the text by a saved model; else by one trained on it."),
    options.output(help="Write the terms to this file instead of standard output."),
    declarations.group(TermWriting),
)
@declarations.group(TermSettings)
@options.group(
    "Terms",
    options.file(
        "--source-tags",
        help="A tag for each source word, as eval-tags reads them: tagged text or CoNLL. Goes with --patterns.",
    ),
    options.file("--target-tags", help="A tag for each target word."),
)
@options.group(
    "Known terms",
    options.file("--known", help="Leave out the terms of this glossary: tab-separated, CSV or TBX."),
    options.written(
        "--inconsistent",
        help="Write where the text translates known terms otherwise:"
        " line TAB term TAB its translations TAB words it is linked to.",
    ),
)
@aligning.whole_text(declarations.option(AlignerSettings, "best"))
def terms(**o: Any) -> None:
    """Find the terms of parallel text and their translations, of one word and of several.

    A row has a term, its translation, how often they are linked, the probability of each given the other, a score that
    the rows are ordered by, other translations with their counts, and an example. Phrases are taken that no link leaves
    and that neither begin nor end with a stop word. Nothing is known of the languages.

    Tables of word translation probabilities, as filters' dictionaries are made of, are written by `aligntools lexicon`.

    \b
    Example:
      aligntools terms -i data/samples/manual.tmx --languages de,en --tokenize de-en --min-count 2 \\
        --known data/samples/glossary.tsv --inconsistent /tmp/otherwise.tsv
    """
    from aligntools.tools.terms import term_files

    with reporting(o) as reporter:
        declarations.call(term_files, o, work=aligning.text_work(o, reporter))
