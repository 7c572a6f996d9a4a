"""Stands in for fast_align's atools: its flags, its output, its messages."""

import sys

import click

from aligntools.cli.kinds import Named, check
from aligntools.ground.errors import harmless
from aligntools.links.operations import OPERATIONS, MismatchedLines, combine_files

USAGE = f"""Usage: atools -c COMMAND -i FILE1.AL [-j FILE2.AL]
Valid options for COMMAND: {" ".join(OPERATIONS)}"""


@click.command(add_help_option=False)
@click.option("-c", "--command", "name")
@click.option("-i", "--input_1", "first")
@click.option("-j", "--input_2", "second")
@click.option("-h", "--help", "wants_help", is_flag=True)
def command(name: str | None, first: str | None, second: str | None, wants_help: bool) -> int:
    """Apply one operation to one or two alignment files."""
    if wants_help:
        print(USAGE)
        return 0
    if not name or not first:
        return _fail(USAGE)
    if name not in OPERATIONS:
        return _fail(f"Don't understand command: {name}")
    operation = OPERATIONS[name]
    if operation.operands == 2 and not second:
        return _fail(f"Command '{name}' requires two alignment files")
    if operation.operands == 1 and second:
        return _fail(f"Command '{name}' requires only one alignment file")
    files = [Named("-i", first), *([Named("-j", second)] if second else [])]
    check(files, [Named("", "-")])
    try:
        combine_files(name, [named.path for named in files])
    except MismatchedLines:
        return _fail("Mismatched number of lines!")
    return 0


def _fail(message: str) -> int:
    sys.stderr.write(harmless(message) + "\n")
    return 1
