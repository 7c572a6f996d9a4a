"""Programs that stand in for other aligners' own: the same flags, output and messages.

``aligntools drop-ins`` puts them into a folder under the names that they stand in for; the checkout's ``bin/`` has the
first two.
"""

import importlib

from aligntools.cli import signals

#: Every program, and where its click command is: ``module:name``.
PROGRAMS = {
    "fast_align": "aligntools.cli.standins.fast_align:command",
    "atools": "aligntools.cli.standins.atools:command",
    "eflomal": "aligntools.cli.standins.eflomal:command",
    "eflomal-align": "aligntools.cli.standins.eflomal_align:command",
    "eflomal-makepriors": "aligntools.cli.standins.eflomal_makepriors:command",
    "force_align.py": "aligntools.cli.standins.force_align:command",
    "symal": "aligntools.cli.standins.symal:command",
    "extract_lex": "aligntools.cli.standins.extract_lex:command",
}
#: Python packages that have an adapter of the same name in ``aligntools.adapters``.
PACKAGES = ("eflomal", "systran_align", "simalign")


def command(name: str):
    """Return the click command of a program."""
    module, _, attribute = PROGRAMS[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def main(name: str, args=None) -> int:
    """Run a program and return its exit status; without arguments, those of the process."""
    signals.end_quietly()
    from aligntools.cli.main import run

    return run(command(name), args, prog_name=name)
