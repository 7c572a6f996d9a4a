"""Command lines of programs that Python's own parser serves: abbreviated names, ``-f=FILE``, their messages."""

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

import click

from aligntools.ground.errors import harmless


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


class ProgramParser(argparse.ArgumentParser):
    """A parser of such arguments; wrong ones end the program with status 2."""

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End the program."""
        if message:
            sys.stderr.write(harmless(message))
        raise click.exceptions.Exit(status)
