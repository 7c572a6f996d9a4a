"""Stands in for MGIZA's merge_alignment.py: its arguments, its output, its messages."""

import sys

import click

from aligntools.cli.placing import Named, placed
from aligntools.cli.standins.arguments import UntouchedButDebug


@click.command("merge_alignment.py", cls=UntouchedButDebug, add_help_option=False)
def command(args: list[str]) -> int:
    """Join the parts of MGIZA's alignments."""
    if not args:
        sys.stderr.write("Provide me the file names (at least 2)\n")  # the original takes one, too
        return 1
    with placed([Named("", path) for path in args], [Named("", "-")]):
        from aligntools.api.convert.giza_parts import merge_giza_parts

        count = merge_giza_parts(args, "-")
    sys.stderr.write(f"Combined {len(args)} files, totally {count} sents \n")
    return 0
