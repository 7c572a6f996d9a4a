"""``aligntools terms``: a glossary from parallel text."""

from typing import Any

import click

from aligntools import AlignerSettings, TermSettings
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options
from aligntools.cli.reporter import reporting
from aligntools.tools.terms import TermWriting, term_files


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
def command(**o: Any) -> None:
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
    with reporting(o) as reporter:
        declarations.call(term_files, o, work=aligning.text_work(o, reporter))
