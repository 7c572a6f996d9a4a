"""Stands in for GIZA++'s snt2cooc: its arguments, its file, its messages."""

import sys

import click

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import UntouchedButDebug
from aligntools.ground.errors import harmless

USAGE = "Usage: snt2cooc output vcb1 vcb2 snt12 \nConverts GIZA++ snt-format into plain text.\n"


@click.command("snt2cooc", cls=UntouchedButDebug, add_help_option=False)
def command(args: list[str]) -> int:
    """Write which words occur together in a file of sentence pairs."""
    if len(args) not in (4, 5):
        sys.stderr.write(USAGE)
        return 1
    if args[4:] not in ([], ["-counts"]):
        sys.stderr.write(harmless(f"ERROR: wrong option {args[4]}\n"))
        return 1
    output, source, target, snt = args[:4]
    inputs = [Named("vcb1", source), Named("vcb2", target), Named("snt12", snt)]
    with placed(inputs, [Named("output", output)]):
        from aligntools.cli.standins.giza_numbers import write_cooccurrences
        from aligntools.ground.parallel import available_cores

        write_cooccurrences(snt, output, bool(args[4:]), available_cores())
    sys.stderr.write("END.\n")
    return 0
