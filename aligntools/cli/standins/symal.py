"""Stands in for Moses' symal: its arguments, its output, its messages."""

import sys
from contextlib import closing

import click

from aligntools.aligning.links.symmetrize import grow
from aligntools.cli.placing import Named, placed
from aligntools.cli.standins.arguments import UntouchedButDebug
from aligntools.formats.links.bal import format_union, parse_bal
from aligntools.formats.links.pharaoh import LineReader, format_pharaoh
from aligntools.formats.opening import files
from aligntools.ground.errors import harmless

USAGE = """usage: symal [-i=<inputfile>] [-o=<outputfile>] -a=[u|i|g] -d=[yes|no] -b=[yes|no] -f=[yes|no]
Input file or std must be in .bal format (see script giza2bal.pl).
"""

_NAMES = {"a": "alignment", "d": "diagonal", "f": "final", "b": "both", "i": "input", "o": "output", "v": "verbose"}
_ALIGNMENTS = {
    "union": "union", "u": "union", "intersect": "intersect", "i": "intersect", "grow": "grow", "g": "grow",
    "srctotgt": "source-to-target", "s2t": "source-to-target", "tgttosrc": "target-to-source",
    "t2s": "target-to-source",
}  # fmt: skip
_TRUTHS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}
_LINES = 3 * (1 << 14)


def parse(args):
    """Read ``-name=value`` arguments; what comes after the first of another form is not looked at, as in symal.

    Raises
    ------
    ValueError
        When there is no such argument or value.
    """
    found = {"alignment": None, "diagonal": False, "final": False, "both": False, "verbose": False,
             "input": "-", "output": "-"}  # fmt: skip
    for argument in args:
        name, equals, value = argument.partition("=")
        if not equals or not name.startswith("-"):
            break
        name = _NAMES.get(name[1:], name[1:])
        if name not in found or (name in ("input", "output") and len(argument.partition("=")[0]) > 2):
            raise ValueError(f'Invalid option "{argument}"')
        if name in ("input", "output"):
            found[name] = value
            continue
        known = _ALIGNMENTS if name == "alignment" else _TRUTHS
        if value not in known:
            raise ValueError(f'Invalid value "{value}" for parameter "{name}"; valid ones: {" ".join(known)}')
        found[name] = known[value]
    return found


@click.command("symal", cls=UntouchedButDebug, add_help_option=False)
def command(args):
    """Symmetrize as symal does."""
    try:
        o = parse(args)
    except ValueError as error:
        sys.stderr.write(harmless(f"{error}\n{USAGE}"))
        return 1
    if o["alignment"] is None:
        sys.stderr.write(USAGE)
        return 1
    grows = o["alignment"] == "grow"
    about = f": diagonal ({o['diagonal']:d}) final ({o['final']:d})both-uncovered ({o['both']:d})" if grows else ""
    sys.stderr.write(f"symal: computing {o['alignment']} alignment{about}\n")
    with placed([Named("-i", o["input"])], [Named("-o", o["output"])]):
        count = _run(o)
    if not grows:
        sys.stderr.write(f"Sents: {count}\n")
    return 0


def _run(o):
    """Symmetrize what is read; return how many sentence pairs there were."""
    count = 0
    with files.writing(o["output"]) as out, closing(LineReader(o["input"])) as reader:
        while True:
            line = reader.line + 1
            data = reader.read(_LINES, wait=o["input"] != "-", multiple=3)
            if not data:
                return count
            direct, inverse = parse_bal(data, path=o["input"], line=line)
            out.write(_lines(o, direct, inverse))
            count += len(direct)
            if o["output"] == "-":
                out.flush()  # whoever feeds pairs through a pipe waits for the answers


def _lines(o, direct, inverse):
    """Return a line for each pair, its links in symal's order."""
    kind = o["alignment"]
    if kind == "union":
        return format_union(direct, inverse)
    if kind == "intersect":
        return format_pharaoh(grow(inverse, direct, 0, 0, True))
    if kind == "source-to-target":
        return format_pharaoh(direct)
    if kind == "target-to-source":
        return format_pharaoh(inverse, "target")
    final = 0 if not o["final"] else 2 if o["both"] else 1
    return format_pharaoh(grow(inverse, direct, 8 if o["diagonal"] else 4, final, True), "target")
