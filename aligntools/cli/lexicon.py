"""``aligntools lexicon``: translation tables and shortlists from aligned text."""

import sys

import click
import numpy as np

from aligntools.aligning.links import translation_tables
from aligntools.cli import options
from aligntools.formats import files, pharaoh
from aligntools.formats.bitext import read_bitext
from aligntools.ground.errors import DataError, UsageProblem

_ANY_LENGTH = 2**31 - 1


@click.command("lexicon", context_settings=options.SETTINGS)
@click.option("-s", "--source", metavar="FILE", help="Source text, a sentence a line.")
@click.option("-t", "--target", metavar="FILE", help="Target text.")
@click.option("-i", "--input", "joint", metavar="FILE", help="Both in one file, ' ||| ' between them.")
@click.option("-a", "--align", "alignment", metavar="FILE", required=True, help="Links i-j, source-target.")
@click.option(
    "-o",
    "--output",
    "prefix",
    metavar="PREFIX",
    help="Write PREFIX.f2e and PREFIX.e2f.  [default: lex, unless only --shortlist is asked for]",
)
@click.option("--shortlist", metavar="FILE", help="Write the best translations of each source word.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="How many, in the shortlist.",
)
@options.index_base(of="the alignment file")
@click.option("--skip-bad-links", is_flag=True, help="Leave out links past a sentence's end; say how many.")
@options.verbosity
def command(source, target, joint, alignment, prefix, shortlist, top, index_base, skip_bad_links, quiet, verbose):
    """Write translation tables and shortlists from aligned text.

    As in Moses, with f a source and e a target word: PREFIX.f2e has lines 'e f p' with p = c(e,f) / c(f),
    PREFIX.e2f lines 'f e p' with p = c(e,f) / c(e). A word without links counts as linked to NULL.
    Lines are sorted by their words, as LC_ALL=C sort does.

    The shortlist is what Marian and Bergamot read (lex.s2t, pruned): lines 'target source p', the N most
    probable target words for each source word, NULL left out. Both tools work on subword tokens: give the
    text and the alignment in those.

    Words are taken as they stand, upper and lower case. Pairs with a blank side do not count.

    \b
    Example:
      tr '?' - < data/samples/de-en.wa > /tmp/de-en.align
      head -40 data/samples/de-en.txt | aligntools lexicon -i - -a /tmp/de-en.align -o /tmp/lex
    """
    if [source, target, joint, alignment].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    links = pharaoh.read_pharaoh(alignment, index_base=index_base)
    bitext = read_bitext(source, target, joint=joint, lowercase=False, max_length=_ANY_LENGTH)
    if len(links) != len(bitext):
        raise DataError(
            alignment,
            None,
            f"{len(links)} lines, but the text has {len(bitext)} sentence pairs; they must face each other",
        )
    if skip_bad_links:
        good = np.flatnonzero(~translation_tables.out_of_range(bitext, links))
        dropped = len(links.pairs) - len(good)
        links = pharaoh.Links(links.pairs[good], np.searchsorted(good, links.offsets))
        if dropped and not quiet:
            sys.stderr.write(f"note: {alignment}: {dropped} links past the end of a sentence left out\n")
    else:
        lengths = bitext.source.lengths(), bitext.target.lengths()
        pharaoh.check_range(links, *lengths, path=alignment, index_base=index_base)
    counted = translation_tables.count_links(bitext, links)
    if prefix or not shortlist:
        prefix = prefix or "lex"
        _write(f"{prefix}.f2e", translation_tables.table(counted, "source"))
        _write(f"{prefix}.e2f", translation_tables.table(counted, "target"))
    if shortlist:
        _write(shortlist, translation_tables.shortlist(counted, top))
    if bitext.skipped.total and not quiet:
        sys.stderr.write(f"note: pairs without words: {bitext.skipped.summary()}\n")
    if verbose:
        sys.stderr.write(
            f"{len(bitext)} sentence pairs, {len(links.pairs)} links, {len(counted.counts)} pairs of words,"
            f" {len(counted.source_words) - 1} source and {len(counted.target_words) - 1} target words\n"
        )


def _write(path, pieces):
    with files.writing(path) as out:
        out.writelines(pieces)
