"""Programs that stand in for other aligners' own: the same flags, output and messages (see `drop-ins`)."""

from collections.abc import Sequence

import click

from aligntools.cli import programs, signals

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


def command(name: str) -> click.Command:
    """Return the click command of a program."""
    return programs.command(_SAME.get(name, name), __name__)


def main(name: str, args: Sequence[str] | None = None) -> int:
    """Run a program and return its exit status; without arguments, those of the process."""
    signals.end_quietly()
    from aligntools.cli.main import run

    return run(command(name), args, prog_name=name)
