"""``aligntools extract-grammar``: Hiero rules from aligned text."""

import sys
import time

import click

from aligntools.cli import engine_options, notices, options
from aligntools.ground.errors import UsageProblem
from aligntools.translating.settings import FEATURE_SETS, PHRASES, ExtractionSettings

_ANY_LENGTH = 2**31 - 1


@click.command("extract-grammar", cls=options.Command, renamed={"--align": "--alignments"})
@options.group(
    "Common options",
    click.option("-s", "--source", metavar="FILE", help="Source text, one sentence per line."),
    click.option("-t", "--target", metavar="FILE", help="Target text."),
    click.option("-a", "--alignments", metavar="FILE", required=True, help="Links i-j, source-target."),
    options.output(help="Write the grammar to this file instead of standard output; it appears whole or not at all."),
)
@options.group(
    "Input and output",
    click.option("-i", "--input", "joint", metavar="FILE",
                 help="Both texts in one file, with ' ||| ' between the sides."),
    click.option("--format", type=click.Choice(["hiero", "moses", "binary"]), default="hiero", show_default=True,
                 help="Text for cdec and Joshua, text for Moses, or a binary file, which loads faster."),
    click.option("--text", metavar="FILE",
                 help="Write only rules that this text can use; all rules enter the scores."),
    options.split,
    options.input_format,
    options.index_base(of="the alignment file"),
)  # fmt: skip
@options.group(
    "Rules",
    options.setting("--max-span", of=ExtractionSettings, metavar="N",
                    help="Most words of an initial phrase, on either side."),
    options.setting("--max-symbols", of=ExtractionSettings, metavar="N",
                    help="Most words and nonterminals of a source side."),
    options.setting("--nonterminals", of=ExtractionSettings, metavar="N",
                    help="Most nonterminals; 0 gives a phrase table."),
    options.setting("--min-hole", of=ExtractionSettings, metavar="N",
                    help="Fewest source words that a nonterminal replaces."),
    click.option("--phrases", type=click.Choice(PHRASES), default=ExtractionSettings.phrases, show_default=True,
                 help="All phrases begin and end with linked words (tight), only those that nonterminals replace do"
                      " (outer), or none need to (loose)."),
    click.option("--features", type=click.Choice(FEATURE_SETS), default=ExtractionSettings.features, show_default=True,
                 help="Phrase and lexical probabilities (standard), with counts (full), or those of cdec's extractor."),
    options.setting("--keep", of=ExtractionSettings, metavar="N",
                    help="Rules kept for each source side, the most frequent ones."),
    options.setting("--min-count", of=ExtractionSettings, metavar="C",
                    help="Leave out rules with a lower fractional count."),
)  # fmt: skip
@engine_options.group
@options.group(
    "Resources",
    options.max_memory("Use at most this much memory, for instance 800M or 4G; tables that do not fit go to temporary"
                       " files.  [default: 2G of tables, 75% of the memory in all]"),
    options.threads,
    options.verbosity,
)  # fmt: skip
def command(source, target, joint, alignments, output, format, text, split, input_format, index_base, tmpdir, threads,
            quiet, verbose, **settings):  # fmt: skip
    """Extract a hierarchical grammar (Hiero; Chiang 2007) from aligned text.

    Every stretch of words whose links stay within it is an initial phrase pair. Rules are these, and what is left of
    them when one or two smaller ones are replaced by nonterminals. Each initial phrase pair counts 1, which its rules
    share. Features are natural logs (cdec's: as in cdec). Rules are sorted by source side; the result depends
    neither on memory nor on threads nor on workers.

    Words are taken as they are, upper and lower case: give text as the decoder will see it.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt -o /tmp/de-en.align
      aligntools extract-grammar -q -i data/samples/de-en.txt -a /tmp/de-en.align -o /tmp/de-en.grammar
    """
    if [source, target, joint, alignments, text].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    if format == "binary" and output == "-":
        raise UsageProblem("--format binary needs a file: -o FILE")
    from aligntools.api.translate.grammars import extract_grammar_file
    from aligntools.formats.text.bitext import read_bitext
    from aligntools.words.white_space import split_as

    began = time.perf_counter()
    with notices.shown(quiet):
        bitext = read_bitext(
            *(split_as(path, split) for path in (source, target)),
            joint=split_as(joint, split),
            lowercase=False,
            max_length=_ANY_LENGTH,
            input_format=input_format,
        )
        figures = extract_grammar_file(
            output, bitext, alignments=alignments, format=format, text=split_as(text, split), index_base=index_base,
            tmpdir=tmpdir, threads=threads, **settings,
        )  # fmt: skip
    if quiet:
        return
    skipped = f" (without words: {bitext.skipped.summary()})" if bitext.skipped.total else ""
    sys.stderr.write(f"{len(bitext)} sentence pairs{skipped}: {figures.found} rules found, {figures.kept} written\n")
    if verbose:
        sys.stderr.write(
            f"{figures.sources} source sides, {figures.targets} target sides, {figures.runs} sorted runs,"
            f" {figures.runs_on_disk} of them in temporary files, {time.perf_counter() - began:.1f} s\n"
        )
