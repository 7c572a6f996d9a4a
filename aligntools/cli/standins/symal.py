"""Stands in for Moses' symal: its arguments, its output, its messages."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from aligntools.api.convert.bal import combine_bal
from aligntools.cli.placing import Named, placed
from aligntools.cli.standins.arguments import UntouchedButDebug
from aligntools.ground.errors import harmless

USAGE = """usage: symal [-i=<inputfile>] [-o=<outputfile>] -a=[u|i|g] -d=[yes|no] -b=[yes|no] -f=[yes|no]
Input file or std must be in .bal format (see script giza2bal.pl).
"""

_NAMES = {"a": "alignment", "d": "diagonal", "f": "final", "b": "both", "i": "input", "o": "output", "v": "verbose"}
_ALIGNMENTS = {
    "union": "union",
    "u": "union",
    "intersect": "intersect",
    "i": "intersect",
    "grow": "grow",
    "g": "grow",
    "srctotgt": "source-to-target",
    "s2t": "source-to-target",
    "tgttosrc": "target-to-source",
    "t2s": "target-to-source",
}
_TRUTHS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}


def parse(args: Sequence[str]) -> dict[str, Any]:
    """Read ``-name=value`` arguments; what comes after the first of another form is not looked at, as in symal.

    Raises ValueError when there is no such argument or value.
    """
    found: dict[str, Any] = {
        "alignment": None,
        "diagonal": False,
        "final": False,
        "both": False,
        "verbose": False,
        "input": "-",
        "output": "-",
    }
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
        known: Mapping[str, str | bool] = _ALIGNMENTS if name == "alignment" else _TRUTHS
        if value not in known:
            raise ValueError(f'Invalid value "{value}" for parameter "{name}"; valid ones: {" ".join(known)}')
        found[name] = known[value]
    return found


@click.command("symal", cls=UntouchedButDebug, add_help_option=False)
def command(args: list[str]) -> int:
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
        steps = {name: o[name] for name in ("diagonal", "final", "both")}
        count = combine_bal(o["input"], o["output"], o["alignment"], **steps)
    if not grows:
        sys.stderr.write(f"Sents: {count}\n")
    return 0
