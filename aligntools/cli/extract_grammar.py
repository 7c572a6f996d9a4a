"""``aligntools extract-grammar``: Hiero rules from aligned text."""

import os
import sys
import time

import click

from aligntools.cli import options
from aligntools.ground.errors import DataError, UsageProblem

_ANY_LENGTH = 2**31 - 1


@click.command("extract-grammar", context_settings=options.SETTINGS)
@click.option("-s", "--source", metavar="FILE", help="Source text, a sentence a line.")
@click.option("-t", "--target", metavar="FILE", help="Target text.")
@click.option("-i", "--input", "joint", metavar="FILE", help="Both in one file, ' ||| ' between them.")
@click.option("-a", "--align", "alignment", metavar="FILE", required=True, help="Links i-j, source-target.")
@options.output(help="Write the grammar here instead of to standard output; appears whole or not at all.")
@click.option("--format", type=click.Choice(["hiero", "moses", "binary"]), default="hiero", show_default=True,
              help="Text for cdec and Joshua, or for Moses; or a file that loads at once.")  # fmt: skip
@click.option("--features", type=click.Choice(["standard", "full", "cdec"]), default="full", show_default=True,
              help="Both phrase and lexical probabilities; with counts; or those of cdec's extractor.")  # fmt: skip
@click.option("--max-span", type=click.IntRange(1, 200), default=10, show_default=True, metavar="N",
              help="Most words of an initial phrase, on either side.")  # fmt: skip
@click.option("--max-symbols", type=click.IntRange(1, 200), default=5, show_default=True, metavar="N",
              help="Most words and nonterminals of a source side.")  # fmt: skip
@click.option("--nonterminals", type=click.IntRange(0, 2), default=2, show_default=True, metavar="N",
              help="Most nonterminals; 0 gives a phrase table.")  # fmt: skip
@click.option("--min-hole", type=click.IntRange(1), default=1, show_default=True, metavar="N",
              help="Fewest source words that a nonterminal stands for.")  # fmt: skip
@click.option("--phrases", type=click.Choice(["tight", "outer", "loose"]), default="outer", show_default=True,
              help="Phrases begin and end with linked words (tight), those that nonterminals stand for do (outer),"
              " or none need to (loose).")  # fmt: skip
@click.option("--keep", type=click.IntRange(1), default=20, show_default=True, metavar="N",
              help="Rules kept for each source side, the most frequent.")  # fmt: skip
@click.option("--min-count", type=click.FloatRange(0), default=0, show_default=True, metavar="C",
              help="Leave out rules of a lower fractional count.")  # fmt: skip
@click.option("--text", metavar="FILE", help="Write only rules that may be used on this text; all enter the scores.")
@options.index_base(of="the alignment file")
@click.option("--max-memory", callback=options.size, default="2G", show_default=True, metavar="SIZE",
              help="What exceeds this goes to temporary files: 800M, 4G.")  # fmt: skip
@click.option("--tmpdir", metavar="DIR", help="Where temporary files go.  [default: the system's folder for them]")
@options.threads
@options.verbosity
def command(source, target, joint, alignment, output, format, features, max_span, max_symbols, nonterminals, min_hole,
            phrases, keep, min_count, text, index_base, max_memory, tmpdir, threads, quiet, verbose):  # fmt: skip
    """Extract a hierarchical grammar (Hiero; Chiang 2007) from aligned text.

    Every stretch of words whose links stay within it is an initial phrase pair; rules are these, and what is left of
    them when one or two smaller ones are replaced by nonterminals. Each initial phrase pair counts 1, which its rules
    share. Features are natural logs (cdec's: what cdec has). Rules are sorted by source side; the result depends
    neither on memory nor on threads.

    Words are taken as they stand, upper and lower case: give text as the decoder will see it.

    \b
    Example:
      aligntools align -q -i data/samples/de-en.txt -o /tmp/de-en.align
      aligntools extract-grammar -q -i data/samples/de-en.txt -a /tmp/de-en.align -o /tmp/de-en.grammar
    """
    if [source, target, joint, alignment, text].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    if tmpdir is not None and not os.path.isdir(tmpdir):
        raise UsageProblem(f"--tmpdir {tmpdir} is no folder")
    if format == "binary" and output == "-":
        raise UsageProblem("--format binary needs a file: -o FILE")
    from aligntools.formats.bitext import read_side
    from aligntools.formats.grammar import concatenate, write_grammar
    from aligntools.formats.grammar_text import write_text
    from aligntools.translating.grammar.extraction import Extraction, Settings

    began = time.perf_counter()
    bitext, links = _read(source, target, joint, alignment, index_base)
    only_for = read_side(text, lowercase=False) if text else None
    settings = Settings(max_span, max_symbols, nonterminals, phrases, min_hole, keep, min_count, features)
    extraction = Extraction(
        bitext, links, settings, text=only_for, threads=threads, max_memory=max_memory, folder=tmpdir
    )
    if format == "binary":
        write_grammar(output, concatenate(extraction.parts()).canonical(), "binary")
    else:
        write_text(output, extraction.parts(), format)
    if not quiet:
        _tell(bitext, extraction.figures, time.perf_counter() - began, verbose)


def _read(source, target, joint, alignment, index_base):
    """Read text and links and check that they fit each other."""
    from aligntools.formats import pharaoh
    from aligntools.formats.bitext import read_bitext

    links = pharaoh.read_pharaoh(alignment, index_base=index_base)
    bitext = read_bitext(source, target, joint=joint, lowercase=False, max_length=_ANY_LENGTH)
    if len(links) != len(bitext):
        found = f"{len(links)} lines, but the text has {len(bitext)} sentence pairs; they must face each other"
        raise DataError(alignment, None, found)
    lengths = bitext.source.lengths(), bitext.target.lengths()
    pharaoh.check_range(links, *lengths, path=alignment, index_base=index_base)
    return bitext, links


def _tell(bitext, figures, seconds, verbose):
    pairs = f"{len(bitext)} sentence pairs"
    if bitext.skipped.total:
        pairs += f" (without words: {bitext.skipped.summary()})"
    sys.stderr.write(f"{pairs}: {figures.found} rules found, {figures.kept} written\n")
    if figures.kept == 0:
        sys.stderr.write("note: no rules; is the alignment one of these texts, or --min-count too high?\n")
    if figures.unwritable:
        words = "'|||', '[X]' or the like, which the format cannot have"
        sys.stderr.write(f"note: {figures.unwritable} rules left out with words such as {words}\n")
    if verbose:
        sys.stderr.write(
            f"{figures.sources} source sides, {figures.targets} target sides, {figures.runs} sorted runs,"
            f" {figures.runs_on_disk} of them in temporary files, {seconds:.1f} s\n"
        )
