"""``aligntools symmetrize``: alignment files combined, converted, checked, shown and compared."""

import sys

import click

from aligntools.aligning.links.operations import FORMATS, OPERATIONS, ORDERS
from aligntools.aligning.links.symmetrize import FLAVORS
from aligntools.api.convert.links import combine_files
from aligntools.cli import notices, options
from aligntools.ground.errors import UsageProblem


def usage() -> str:
    """Return one line per operation: its name, operands and what it does."""
    rows = list(OPERATIONS.values())
    width = max(len(row.name) for row in rows)
    return "\n".join(f"  {r.name:{width}}  {'A  ' if r.operands == 1 else 'A B'}  {r.about}" for r in rows)


_HELP = f"""Combine, convert and check alignment files.

Files have links i-j (source-target), one line per sentence pair. Methods take one file or two:

\b
{usage()}

A is the forward alignment and B the reverse one, both as source-target. '-' is standard input; if both
are '-', its lines alternate between A and B. Probabilities after links (3-4:0.97) and anything before the
last ' ||| ' of a line are ignored. The output counts words from 0.

The growing methods have two flavors, which look at the links in a different order: atools (fast_align,
eflomal's recipes) and symal (Moses).

\b
Example:
  tr '?' - < data/samples/fr-en.wa | aligntools symmetrize -c display -
"""


def _texts(name, about):
    """Return the option for the texts of both sides."""
    return click.option(name, nargs=2, metavar="SRC TGT", type=options.Place(), help=about)


@click.command("symmetrize", cls=options.Command, help=_HELP)
@click.argument("operands", metavar="A [B]", nargs=-1)
@options.group(
    "Common options",
    click.option(
        "-c",
        "--command",
        "name",
        type=click.Choice(list(OPERATIONS)),
        default="grow-diag-final-and",
        show_default=True,
        metavar="METHOD",
        help="What to do; see above.",
    ),
    click.option(
        "--check",
        nargs=2,
        metavar="SRC TGT",
        type=options.Place(),
        help="Refuse links that point past the sentences of these texts (many programs crash on them).",
    ),
    click.option(
        "--unicode-spaces",
        is_flag=True,
        hidden=True,  # what --split unicode was called
    ),
    options.split,
    options.output,
    click.option("--in-place", is_flag=True, help="Replace A by the result."),
)
@options.group(
    "Input and output",
    click.option("-i", "--input_1", "first", metavar="A", help="The first file, as with atools."),
    click.option("-j", "--input_2", "second", metavar="B", help="The second file."),
    click.option(
        "--format",
        type=click.Choice(FORMATS),
        default=FORMATS[0],
        show_default=True,
        help="giza: A3.final files of the two runs; the second one's links are inverted.",
    ),
    options.index_base,
    click.option(
        "--to",
        type=click.Choice(FORMATS),
        default=FORMATS[0],
        show_default=True,
        help="giza: write an A3.final file, with the words of --check; each target word has one link at most.",
    ),
    click.option(
        "--order",
        type=click.Choice(ORDERS),
        show_default="source; target for symal's growing methods",
        help="Sort links by source or target word.",
    ),
)
@options.group(
    "Decisions",
    click.option(
        "--flavor",
        type=click.Choice(FLAVORS),
        default=FLAVORS[0],
        show_default=True,
        help="Whose scan order the growing methods follow.",
    ),
)
@options.group(
    "Words and pieces",
    _texts("--to-words", "These texts are in pieces, which links are between: write links between words."),
    _texts("--to-pieces", "These texts are in pieces, of whose words links are: write links between pieces."),
    _texts("--words", "The same texts in words: letters then say which pieces a word has, not marks."),
    options.scheme,
)
@options.group("Messages", options.verbosity)  # fmt: skip
def command(operands, name, first, second, output, in_place, quiet, verbose, **how):
    if operands and (first or second):
        raise UsageProblem("give the files either as arguments or with -i and -j")
    if second and not first:
        raise UsageProblem("-j gives the second file; give the first with -i")
    paths = list(operands) or [path for path in (first, second) if path]
    given = how["to_words"] or how["to_pieces"]
    if not given and (how["words"] or how["scheme"] != "auto"):
        raise UsageProblem("--words and --scheme go with --to-words or --to-pieces")
    if how["flavor"] != FLAVORS[0] and OPERATIONS[name].operands == 1:
        raise UsageProblem(f"--flavor is about methods that combine two files, not {name}")
    if how["order"] and OPERATIONS[name].yields != "links":
        raise UsageProblem(f"--order is about links, and {name} writes none")
    if how.pop("unicode_spaces"):
        how["split"] = "unicode"
    if how["split"] not in (None, "spaces") and not (how["check"] or given):
        raise UsageProblem("--split is about the texts of --check, --to-words or --to-pieces")
    texts = [path for pair in (given, how["words"]) for path in pair or ()]
    if "-" in texts and [*texts, *paths, *(how["check"] or ())].count("-") > 1:
        raise UsageProblem("only one of the files can be standard input")
    if in_place:
        if (
            output != "-"
            or (how["format"], how["to"]) != (FORMATS[0], FORMATS[0])
            or not paths
            or paths[0] == "-"
            or OPERATIONS[name].yields != "links"
        ):
            raise UsageProblem(
                "--in-place replaces the file A, of links, by links: no -o, --format giza, --to giza or standard input"
            )
        output = paths[0]
    with notices.shown(quiet):
        tally = combine_files(name, paths, output, in_place=in_place, **how)
    if verbose:
        read = f"{tally.first}" if len(paths) == 1 else f"{tally.first} and {tally.second}"
        sys.stderr.write(
            f"{tally.sentences} sentence pairs, {read} links read, {tally.result} in the result;"
            f" {tally.empty} pairs without links\n"
        )
