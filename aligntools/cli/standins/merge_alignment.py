"""Stands in for MGIZA's merge_alignment.py: its arguments, its output, its messages."""

import heapq
import sys
from collections.abc import Iterator, Sequence

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import Wrong, program
from aligntools.formats.links.giza import giza_records
from aligntools.formats.opening.files import writing
from aligntools.ground.errors import DataError


def merge_giza_parts(paths: Sequence[str], output: str) -> int:
    """Write the pairs of several ``A3.final.part`` files, whose numbers rise, in the order of their numbers."""
    count = 0
    with writing(output) as file:
        for number, place, line, record in heapq.merge(*(_pairs(path, place) for place, path in enumerate(paths))):
            if number <= count:
                raise DataError(paths[place], line, f"sentence pair {number} comes twice")
            if number > count + 1:
                raise DataError(paths[place], line, f"sentence pair {count + 1} is in no part; expected it before this")
            file.write(record)
            count = number
    return count


def _pairs(path: str, place: int) -> Iterator[tuple[int, int, int, bytes]]:
    """Yield number, place of the file, line and text of each pair."""
    last = 0
    for line, (number, _, _), lines in giza_records(path):
        if number < last:
            raise DataError(
                path, line, f"sentence pair {number} comes behind {last}; expected a part whose numbers rise"
            )
        yield number, place, line, b"".join(row + b"\n" for row in lines)
        last = number


@program("merge_alignment.py")
def command(args: list[str]) -> int:
    """Join the parts of MGIZA's alignments."""
    if not args:
        raise Wrong("Provide me the file names (at least 2)")  # the original takes one, too
    with placed([Named("", path) for path in args], [Named("", "-")]):
        count = merge_giza_parts(args, "-")
    sys.stderr.write(f"Combined {len(args)} files, totally {count} sents \n")
    return 0
