"""Stands in for GIZA++'s snt2cooc: its arguments, its file, its messages."""

import sys

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import Wrong, program

USAGE = "Usage: snt2cooc output vcb1 vcb2 snt12 \nConverts GIZA++ snt-format into plain text.\n"


@program("snt2cooc")
def command(args: list[str]) -> int:
    """Write which words occur together in a file of sentence pairs."""
    if len(args) not in (4, 5):
        raise Wrong(USAGE.rstrip("\n"))
    if args[4:] not in ([], ["-counts"]):
        raise Wrong(f"ERROR: wrong option {args[4]}")
    output, source, target, snt = args[:4]
    inputs = [Named("vcb1", source), Named("vcb2", target), Named("snt12", snt)]
    with placed(inputs, [Named("output", output)]):
        from aligntools.cli.standins.giza_numbers import write_cooccurrences
        from aligntools.ground.parallel import available_cores

        write_cooccurrences(snt, output, bool(args[4:]), available_cores())
    sys.stderr.write("END.\n")
    return 0
