"""``aligntools lexicon``: translation tables and shortlists from aligned text."""

import sys
from pathlib import Path
from typing import Any

import click

from aligntools import LinkReading
from aligntools.aligning.text_files import TextFiles
from aligntools.cli import declarations, options, reporter
from aligntools.ground.errors import UsageProblem
from aligntools.links.settings import ShortlistSettings, TableWriting


@click.command(
    "lexicon",
    cls=options.Command,
    renamed={"--align": "--alignments"},
    basic="joint_file alignments source target shortlist top min_share skip_bad_links output quiet",
)
@options.group(
    "Common options",
    options.file("-i", "--input", "joint_file", help="Both texts in one file, ' ||| ' between them, or TMX or XLIFF."),
    options.file("-a", "--alignments", required=True, help="Links i-j, source-target, one line per sentence pair."),
    click.option(
        "-o",
        "--output",
        metavar="PREFIX",
        type=options.Place(written=True, endings=(".f2e", ".e2f")),
        callback=lambda ctx, _option, value: value or (None if ctx.params.get("shortlist") else "lex"),
        show_default="lex; no tables with --shortlist alone",
        help="Write PREFIX.f2e and PREFIX.e2f.",
    ),
)
@options.group(
    "Input and output",
    options.file("-s", "--source", help="Source text, one sentence per line."),
    options.file("-t", "--target", help="Target text."),
    options.written("--shortlist", help="Write the best translations of each source word."),
    declarations.group(
        ShortlistSettings, needs=("shortlist",), said="`{name}` is about shortlists; it goes with `shortlist`"
    ),
    declarations.group(TableWriting),
    options.split,
    options.input_format,
    options.languages,
    declarations.option(LinkReading, "index_base"),
    click.option("--skip-bad-links", is_flag=True, help="Leave out links past a sentence's end; report how many."),
)
@options.group("Messages", options.verbosity)
def command(**o: Any) -> None:
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
    writing = declarations.settings(TableWriting, o)
    if not o["output"] and writing != TableWriting():
        raise UsageProblem("`min_share` and `null=False` are about the tables; give `output` as well as `shortlist`")
    TextFiles(o["source"], o["target"], o["joint_file"]).check_text()
    from aligntools.links.alignments import as_written
    from aligntools.links.translation_tables import extract_lexicon

    first, second = (o["source"], o["target"]) if o["joint_file"] is None else (o["joint_file"], None)
    with reporter.shown(o["quiet"]):
        bitext = as_written(first, second, o["split"], o["input_format"], o["languages"])
        how = {name: o[name] for name in ("index_base", "skip_bad_links")}
        tables = extract_lexicon(bitext, None, Path(o["alignments"]), **how)
        if o["output"]:
            tables.save(o["output"], writing)
        if o["shortlist"]:
            tables.shortlist(o["top"]).save(o["shortlist"])
    if o["verbose"]:
        sys.stderr.write(f"{len(bitext)} sentence pairs, {tables.links} links, {tables}\n")
