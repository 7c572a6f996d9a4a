"""Stands in for fast_align's force_align.py, in one process: aligns by the tables and messages of two trainings."""

import math
import sys
from collections.abc import Sequence

from aligntools import AlignerSettings
from aligntools.cli.kinds import Named, check
from aligntools.cli.standins import program
from aligntools.cli.standins.fast_align_form import FastAlignForm, LinksOf, sides_of
from aligntools.formats.opening import files
from aligntools.ground.declarations import range_of
from aligntools.ground.errors import DataError
from aligntools.ground.ranges import amounts
from aligntools.links.operations import OPERATIONS

_TRAIN = "fast_align -i corpus.f-e {}-d -v -o -p {}_params >{}_align 2>{}_err"
#: How both directions are combined.
METHODS = tuple(name for name, one in OPERATIONS.items() if one.operands == 2 and one.yields == "links")
USAGE = f"""run:
  {_TRAIN.format("", "fwd", "fwd", "fwd")}
  {_TRAIN.format("-r ", "rev", "rev", "rev")}

then run:
  force_align.py fwd_params fwd_err rev_params rev_err [heuristic] <in.f-e >out.f-e.gdfa

where heuristic is one of: ({" ".join(METHODS)}) default=grow-diag-final-and
"""
#: Share of NULL that the original leaves as it is.
P_NULL = 0.08


@program("force_align.py")
def command(args: list[str]) -> int:
    """Align as force_align.py does."""
    if not 4 <= len(args) <= 5:
        sys.stderr.write(USAGE)
        return 2
    heuristic = args[4] if len(args) == 5 else "grow-diag-final-and"
    if heuristic not in METHODS:
        sys.stderr.write(f"Don't understand command: {heuristic}\n")
        return 1
    from aligntools.formats.links.pharaoh import Links, format_pharaoh
    from aligntools.links.symmetrize import symmetrize

    check([Named(flag, path) for flag, path in zip("0123", args, strict=False)], [Named("", "-")])
    forward, reverse = aligner_of(args[0], args[1]), aligner_of(args[2], args[3], reverse=True)
    with files.writing("-") as out:
        for number, line in enumerate(files.lines("-"), 1):
            source, target = sides_of(line, "-", number)
            both = (links_of(source, target, "-", number)[0] for links_of in (forward, reverse))
            there, back = (Links.from_lists([pairs]) for pairs in both)
            out.write(format_pharaoh(symmetrize(there, back, heuristic)))
            out.flush()  # whoever feeds lines through a pipe waits for this one
    return 0


def aligner_of(table: str, messages: str, reverse: bool = False) -> LinksOf:
    """Return one direction's aligner, of a table and of what fast_align said when it wrote it."""
    tension, ratio = figures(messages)
    return FastAlignForm(reverse, tension, P_NULL).by_table(table, ratio)[1]


def figures(path: str) -> Sequence[float]:
    """Return the last tension and ratio of lengths in fast_align's messages."""
    found: dict[bytes, bytes | None] = {b"final tension": None, b"expected target length": None}
    for line in files.lines(path):
        for what in found:
            if what in line:
                found[what] = line.split()[-1]
    values = []
    for (what, value), allowed in zip(found.items(), (range_of(AlignerSettings, "tension"), amounts()), strict=True):
        try:
            values.append(float(value or "nan"))
        except ValueError:
            values.append(math.nan)
        if values[-1] not in allowed:
            problem = f"has no '{what.decode()}' (give what fast_align -d -o wrote to standard error)"
            raise DataError(path, None, problem)
    return values
