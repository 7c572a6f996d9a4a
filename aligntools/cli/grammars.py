"""``aligntools extract-grammar`` and ``filter-grammar``: rules of Hiero."""

import sys
import time
from contextlib import nullcontext
from typing import Any

import click

from aligntools import ExtractionSettings, GrammarFilter, LinkReading, PairReading
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options, reporter
from aligntools.cli.flags import renamed


@click.command(
    "extract-grammar",
    cls=options.Command,
    renamed={"--align": "--alignments"},
    basic="source target joint_file alignments output format text max_span min_count keep features workers"
    " max_memory threads quiet",
)
@options.group(
    "Common options",
    options.file("-s", "--source", help="Source text, one sentence per line."),
    options.file("-t", "--target", help="Target text."),
    options.file("-a", "--alignments", required=True, help="Links i-j, source-target."),
    options.output(help="Write the grammar to this file instead of standard output, completely or not at all."),
)
@options.group(
    "Input and output",
    options.file("-i", "--input", "joint_file", help="Both texts in one file: ' ||| ' between them, or TMX or XLIFF."),
    options.choice(
        "--format",
        choices=("hiero", "moses", "binary"),
        help="Text for cdec and Joshua, text for Moses, or a binary file, which loads faster.",
    ),
    options.file("--text", help="Write only rules that this text can use; all rules enter the scores."),
    declarations.group(PairReading),
    declarations.option(LinkReading, "index_base"),
)
@declarations.group(ExtractionSettings)
@options.engines
@options.group("Resources", options.table_memory, options.threads, options.verbosity)
def extract_grammar(**o: Any) -> None:
    """Extract a hierarchical grammar (Hiero; Chiang 2007) from aligned text.

    Every stretch of words whose links stay within it is an initial phrase pair. Rules are these, and what is left of
    them when one or two smaller ones are replaced by nonterminals. Each initial phrase pair counts 1, which its rules
    share. Features are natural logarithms, or with --features cdec what cdec has. Rules are sorted by source side. The
    result does not depend on memory, threads or workers.

    Words are taken as they are, upper and lower case: give text as the decoder will see it.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt -o /tmp/de-en.align
      aligntools extract-grammar -q -i data/samples/de-en.txt -a /tmp/de-en.align -o /tmp/de-en.grammar
    """
    aligning.text_files(o).check_text()
    from aligntools.translating.grammars import extract_grammar_file

    began = time.perf_counter()
    with reporter.shown(o["quiet"]):
        how = vars(declarations.settings(PairReading, o)) | {"source": o["joint_file"] or o["source"]}
        figures = declarations.call(extract_grammar_file, o, path=o["output"], **how)
    if o["quiet"]:
        return
    skipped = f" (without words: {figures.skipped})" if figures.skipped else ""
    sys.stderr.write(f"{figures.pairs} sentence pairs{skipped}: {figures.found} rules found, {figures.kept} written\n")
    if o["verbose"]:
        sys.stderr.write(
            f"{figures.sources} source sides, {figures.targets} target sides, {figures.runs} sorted runs,"
            f" {figures.runs_on_disk} of them in temporary files, {time.perf_counter() - began:.1f} s\n"
        )


@click.command("filter-grammar", cls=options.Command, renamed=renamed(GrammarFilter))
@options.group(
    "Common options",
    options.file("--grammar", required=True, help="Grammar, in any of the formats."),
    options.file("--text", required=True, help="Text to be translated, one sentence per line."),
    declarations.option(GrammarFilter, "span_limit"),
)
@options.group(
    "Input and output",
    options.output(),
    options.split,
    options.choice(
        "--format",
        choices=("same", "hiero", "moses", "binary"),
        help="Format to write; same copies the lines as they are.",
    ),
)
@options.group("Resources and messages", options.verify, options.verbosity)
def filter_grammar(*, output: str, quiet: bool, verbose: bool, **o: Any) -> None:
    """Keep the rules of a grammar that a text can use.

    A rule is kept if the text has every sequence of source words that stands between its nonterminals.

    With --span-limit the whole source side must match somewhere, which keeps far fewer rules. The lines of a text
    grammar are copied unless --format is given; with --format the command also converts grammars.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt -o /tmp/de-en.align
      aligntools extract-grammar -q -i data/samples/de-en.txt -a /tmp/de-en.align -o /tmp/de-en.grammar
      head -9 data/samples/de-en.de | aligntools filter-grammar --grammar /tmp/de-en.grammar --text -
    """
    from aligntools.translating.grammars import filter_grammar_file

    with reporter.shown(True) if quiet else nullcontext():
        kept, total, sentences, types = filter_grammar_file(path=output, **o)
    if quiet:
        return
    sys.stderr.write(f"{kept} rules" + (f" of {total}" if total is not None else "") + "\n")
    if verbose:
        sys.stderr.write(f"the text has {sentences} sentences and {types} different words\n")
