"""Command lines of programs that Python's own parser serves: abbreviated names, ``-f=FILE``, their messages."""

import argparse
import sys

import click


class Untouched(click.Command):
    """A command that gets its arguments as they are, under the name ``args``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Leave the arguments alone."""
        ctx.params["args"] = args
        return []


class Parser(argparse.ArgumentParser):
    """A parser of such arguments; wrong ones end the program with status 2, or what is given."""

    def __init__(self, *args, wrong_status: int = 2, **options):
        super().__init__(*args, **options)
        self.wrong_status = wrong_status

    def exit(self, status=0, message=None):
        """End the program."""
        if message:
            sys.stderr.write(message)
        raise click.exceptions.Exit(self.wrong_status if status == 2 else status)


def fail(program: str, message: str) -> click.exceptions.Exit:
    """Say what is wrong; return what ends the program with status 1."""
    sys.stderr.write(f"{program}: {message}\n")
    return click.exceptions.Exit(1)
