"""Both directions' links in symal's own file combined as symal does."""

from contextlib import closing
from typing import Literal, TypeAlias

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files

#: What symal makes of both directions.
Kind: TypeAlias = Literal["union", "intersect", "grow", "source-to-target", "target-to-source"]
_LINES = 3 * (1 << 14)


def combine_bal(
    path: str, output: str, kind: Kind, *, diagonal: bool = False, final: bool = False, both: bool = False
) -> int:
    """Combine both directions of each sentence pair of a file, in constant memory.

    path: As giza2bal.pl writes it; ``-`` is standard input.
    diagonal, final, both: Of ``grow``: diagonal neighbours too; then links with a free word; or with both words free
        alone.
    Returns how many sentence pairs there were. Raises DataError for the first pair that cannot be read.
    """
    from aligntools.formats.links.bal import parse_bal
    from aligntools.formats.links.pharaoh import LineReader

    steps = 8 if diagonal else 4, 0 if not final else 2 if both else 1
    count = 0
    with files.writing(output) as out, closing(LineReader(path)) as reader:
        while True:
            line = reader.line + 1
            data = reader.read(_LINES, wait=path != "-", multiple=3)
            if not data:
                return count
            direct, inverse = parse_bal(data, path=path, line=line)
            out.write(_lines(kind, steps, direct, inverse))
            count += len(direct)
            if output == "-":
                out.flush()  # whoever feeds pairs through a pipe waits for the answers


def _lines(kind: Kind, steps: tuple[int, int], direct: Links, inverse: Links) -> bytes:
    """Return a line for each pair, its links in symal's order."""
    from aligntools.aligning.links.symmetrize import grow
    from aligntools.formats.links.bal import format_union
    from aligntools.formats.links.pharaoh import format_pharaoh

    if kind == "union":
        return format_union(direct, inverse)
    if kind == "intersect":
        return format_pharaoh(grow(inverse, direct, 0, 0, True))
    if kind == "source-to-target":
        return format_pharaoh(direct)
    if kind == "target-to-source":
        return format_pharaoh(inverse, "target")
    return format_pharaoh(grow(inverse, direct, *steps, True), "target")
