"""``aligntools extract-grammar``: Hiero rules from aligned text."""

import sys
import time
from typing import Any

import click

from aligntools import ExtractionSettings, LinkReading, PairReading
from aligntools.cli import alignment_options as aligning
from aligntools.cli import declarations, options, reporter


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
def command(**o: Any) -> None:
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
