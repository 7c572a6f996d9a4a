"""``aligntools lexicon``: translation tables and shortlists from aligned text."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aligntools.cli import notices, options
from aligntools.cli.alignment_options import check_text
from aligntools.ground.errors import UsageProblem
from aligntools.ground.ranges import PROBABILITY, counts

if TYPE_CHECKING:
    from aligntools.api.given.texts import InputFormat, Split


@click.command("lexicon", cls=options.Command, renamed={"--align": "--alignments"})
@options.group(
    "Common options",
    click.option("-i", "--input", "joint_file", metavar="FILE", help="Both texts in one file, ' ||| ' between them."),
    click.option(
        "-a",
        "--alignments",
        metavar="FILE",
        required=True,
        help="Links i-j, source-target, one line per sentence pair.",
    ),
    click.option(
        "-o",
        "--output",
        "prefix",
        metavar="PREFIX",
        type=options.Place(written=True, endings=(".f2e", ".e2f")),
        callback=lambda ctx, _option, value: value or (None if ctx.params.get("shortlist") else "lex"),
        show_default="lex; no tables with --shortlist alone",
        help="Write PREFIX.f2e and PREFIX.e2f.",
    ),
)
@options.group(
    "Input and output",
    click.option("-s", "--source", metavar="FILE", help="Source text, one sentence per line."),
    click.option("-t", "--target", metavar="FILE", help="Target text."),
    click.option(
        "--shortlist", metavar="FILE", type=options.WRITTEN, help="Write the best translations of each source word."
    ),
    click.option(
        "--top",
        type=options.number(counts(1)),
        default=100,
        show_default=True,
        metavar="N",
        help="Translations of each word in the shortlist.",
    ),
    click.option(
        "--min-share",
        type=options.number(PROBABILITY),
        default=0.0,
        show_default=True,
        metavar="P",
        help="In the tables, leave out a word's translations with less than this share of its highest probability.",
    ),
    click.option("--null/--no-null", default=True, show_default=True, help="Write the tables' entries with NULL."),
    options.split,
    options.input_format,
    options.index_base(of="the alignment file"),
    click.option("--skip-bad-links", is_flag=True, help="Leave out links past a sentence's end; report how many."),
)
@options.group("Messages", options.verbosity)
def command(
    source: str | None,
    target: str | None,
    joint_file: str | None,
    alignments: str,
    prefix: str | None,
    shortlist: str | None,
    top: int,
    min_share: float,
    null: bool,
    index_base: int,
    split: "Split | None",
    input_format: "InputFormat",
    skip_bad_links: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Write translation tables and shortlists from aligned text.

    The tables are Moses' own, with f a source and e a target word: PREFIX.f2e has lines 'e f p' with p = c(e,f) / c(f),
    PREFIX.e2f lines 'f e p' with p = c(e,f) / c(e). A word without links counts as linked to NULL.
    Lines are sorted by their words, as LC_ALL=C sort does.

    Bicleaner's dictionaries are such tables with --min-share 0.1 --no-null, compressed.

    The shortlist is what Marian and Bergamot read (lex.s2t, pruned): lines 'target source p', the N most
    probable target words of each source word, without NULL. Both programs work on subword tokens: give the
    text and the alignment in those.

    Upper and lower case are kept apart. Pairs with a blank side do not count.

    \b
    Example:
      tr '?' - < data/samples/de-en.wa > /tmp/de-en.align
      head -40 data/samples/de-en.txt | aligntools lexicon -i - -a /tmp/de-en.align -o /tmp/lex
    """
    if not prefix and (min_share or not null):
        raise UsageProblem("--min-share and --no-null are about the tables; give -o PREFIX as well as --shortlist")
    if [source, target, joint_file, alignments].count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")

    check_text({"joint_file": joint_file, "source": source, "target": target})
    from aligntools.api.convert.links import as_written, extract_lexicon

    first, second = (source, target) if joint_file is None else (joint_file, None)
    assert first is not None  # as was checked
    with notices.shown(quiet):
        bitext = as_written(first, second, split, input_format)
        tables = extract_lexicon(bitext, None, Path(alignments), index_base=index_base, skip_bad_links=skip_bad_links)
    if prefix:
        tables.save(prefix, min_share=min_share, null=null)
    if shortlist:
        tables.shortlist(top).save(shortlist)
    if verbose:
        sys.stderr.write(f"{len(bitext)} sentence pairs, {tables.links} links, {tables}\n")
