"""Stands in for Moses' symal: its arguments, its output, its messages."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Literal, TypeAlias

from aligntools.cli.kinds import Named, placed
from aligntools.cli.standins.arguments import Wrong, program
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.opening import files

# Both directions' links in symal's own file combined as symal does


#: What symal makes of both directions.
Kind: TypeAlias = Literal["union", "intersect", "grow", "source-to-target", "target-to-source"]
_LINES = 3 * (1 << 14)


def combine_bal(
    path: str, output: str, kind: Kind, *, diagonal: bool = False, final: bool = False, both: bool = False
) -> int:
    """Combine both directions of each pair of giza2bal.pl's file, in constant memory; return how many there were."""
    from aligntools.formats.links.giza import parse_bal
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
    from aligntools.formats.links.giza import format_union
    from aligntools.formats.links.pharaoh import format_pharaoh
    from aligntools.links.symmetrize import grow

    if kind == "union":
        return format_union(direct, inverse)
    if kind == "intersect":
        return format_pharaoh(grow(inverse, direct, 0, 0, True))
    if kind == "source-to-target":
        return format_pharaoh(direct)
    if kind == "target-to-source":
        return format_pharaoh(inverse, "target")
    return format_pharaoh(grow(inverse, direct, *steps, True), "target")


USAGE = """usage: symal [-i=<inputfile>] [-o=<outputfile>] -a=[u|i|g] -d=[yes|no] -b=[yes|no] -f=[yes|no]
Input file or std must be in .bal format (see script giza2bal.pl).
"""

_NAMES = {"a": "alignment", "d": "diagonal", "f": "final", "b": "both", "i": "input", "o": "output", "v": "verbose"}
_ALIGNMENTS = {
    **{"union": "union", "u": "union", "intersect": "intersect", "i": "intersect", "grow": "grow", "g": "grow"},
    **dict.fromkeys(("srctotgt", "s2t"), "source-to-target"),
    **dict.fromkeys(("tgttosrc", "t2s"), "target-to-source"),
}
_TRUTHS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}


def parse(args: Sequence[str]) -> dict[str, Any]:
    """Read ``-name=value`` arguments; what comes after the first of another form is not looked at, as in symal."""
    found: dict[str, Any] = {"alignment": None, "input": "-", "output": "-"}
    found |= dict.fromkeys(("diagonal", "final", "both", "verbose"), False)
    for argument in args:
        name, equals, value = argument.partition("=")
        if not equals or not name.startswith("-"):
            break
        name = _NAMES.get(name[1:], name[1:])
        if name not in found or (name in ("input", "output") and len(argument.partition("=")[0]) > 2):
            raise Wrong(f'Invalid option "{argument}"')
        if name in ("input", "output"):
            found[name] = value
            continue
        known: Mapping[str, str | bool] = _ALIGNMENTS if name == "alignment" else _TRUTHS
        if value not in known:
            raise Wrong(f'Invalid value "{value}" for parameter "{name}"; valid ones: {" ".join(known)}')
        found[name] = known[value]
    return found


@program("symal", USAGE)
def command(args: list[str]) -> int:
    """Symmetrize as symal does."""
    o = parse(args)
    if o["alignment"] is None:
        raise Wrong
    grows = o["alignment"] == "grow"
    about = f": diagonal ({o['diagonal']:d}) final ({o['final']:d})both-uncovered ({o['both']:d})" if grows else ""
    sys.stderr.write(f"symal: computing {o['alignment']} alignment{about}\n")
    with placed([Named("-i", o["input"])], [Named("-o", o["output"])]):
        steps = {name: o[name] for name in ("diagonal", "final", "both")}
        count = combine_bal(o["input"], o["output"], o["alignment"], **steps)
    if not grows:
        sys.stderr.write(f"Sents: {count}\n")
    return 0
