"""``aligntools symmetrize``: alignment files combined, converted, checked, shown and compared."""

import sys
from typing import Any

import click

from aligntools.cli import declarations, options, reporter
from aligntools.cli.kinds import Decorator
from aligntools.links.operations import OPERATIONS, combine_files
from aligntools.links.settings import CombiningSettings


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

#: What is said where files are given in two ways.
_ONE_WAY = "give the files either as arguments or with -i and -j"


def _texts(name: str, about: str) -> Decorator:
    return click.option(name, nargs=2, metavar="SRC TGT", type=options.Place(), help=about)


@click.command(
    "symmetrize",
    cls=options.Command,
    renamed={"--input_1": "-i", "--input_2": "-j"},
    once=False,
    help=_HELP,
    basic="name check output in_place format to index_base to_words to_pieces words quiet",
)
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
    options.output(),
    click.option("--in-place", is_flag=True, help="Replace A by the result."),
)
@options.group(
    "Input and output",
    options.option(
        "-i", "first", metavar="A", help="The first file, as with atools.", excludes=("operands",), said=_ONE_WAY
    ),
    options.option(
        "-j",
        "second",
        metavar="B",
        help="The second file.",
        needs=("first",),
        said="-j gives the second file; give the first with -i",
    ),
    *(declarations.option(CombiningSettings, name) for name in ("format", "index_base", "to", "order")),
)
@declarations.group(CombiningSettings, "flavor")
@options.group(
    "Words and pieces",
    _texts("--to-words", "The texts in pieces, where links are between pieces: write links between words."),
    _texts("--to-pieces", "The texts in pieces, where links are between words: write links between pieces."),
    _texts("--words", "The same texts in words: pieces then belong to words by their letters, not by marks."),
    options.scheme,
)
@options.group("Messages", options.verbosity)
def command(*, operands: tuple[str, ...], first: str | None, second: str | None, **o: Any) -> None:
    paths = list(operands) or [path for path in (first, second) if path]
    if o["unicode_spaces"]:
        o["split"] = "unicode"
    with reporter.shown(o["quiet"]):
        tally = declarations.call(combine_files, o, operation=o["name"], paths=paths)
    if o["verbose"]:
        read = f"{tally.first}" if len(paths) == 1 else f"{tally.first} and {tally.second}"
        sys.stderr.write(
            f"{tally.sentences} sentence pairs, {read} links read, {tally.result} in the result;"
            f" {tally.empty} pairs without links\n"
        )
