"""Programs that stand in for other aligners' own: the same flags, output and messages (see `drop-ins`)."""

import sys
from collections.abc import Callable, Sequence

import click

from aligntools.cli import programs, signals
from aligntools.ground.errors import harmless

#: Every program; its module here has its name, with ``_`` for ``-``.
PROGRAMS = (
    "fast_align",
    "atools",
    "eflomal",
    "eflomal-align",
    "eflomal-makepriors",
    "force_align.py",
    "symal",
    "extract_lex",
    "mkcls",
    "plain2snt",
    "snt2cooc",
    "mgiza",
    "GIZA++",
    "merge_alignment.py",
    "hunalign",
)
#: Programs that are another's module.
_SAME = {"GIZA++": "mgiza"}
#: Python packages that have an adapter of the same name in ``aligntools.adapters``.
PACKAGES = ("eflomal", "systran_align", "simalign")


class Untouched(click.Command):
    """A command that gets its arguments as they are, under the name ``args``, but for our ``--debug``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave the arguments alone."""
        ctx.params["args"] = [argument for argument in args if argument != "--debug"]
        return []


class Wrong(Exception):
    """A wrong command line of a program; the message is worded as the program words it."""


def program(name: str, usage: str = "", prefix: str = "") -> Callable[[Callable[[list[str]], int]], click.Command]:
    """Return what makes a program of a function of its arguments; wrong ones get ``usage`` and status 1."""

    def decorate(function: Callable[[list[str]], int]) -> click.Command:
        def run(args: list[str]) -> int:
            try:
                return function(args)
            except Wrong as error:
                sys.stderr.write(harmless(f"{prefix}{error}\n{usage}" if str(error) else usage))
                return 1

        return Untouched(name, callback=run, add_help_option=False)

    return decorate


def command(name: str) -> click.Command:
    """Return the click command of a program."""
    return programs.command(_SAME.get(name, name), __name__)


def main(name: str, args: Sequence[str] | None = None) -> int:
    """Run a program and return its exit status; without arguments, those of the process."""
    signals.end_quietly()
    from aligntools.cli.main import run

    return run(command(name), args, prog_name=name)
