"""The ``aligntools`` command: finds subcommands, turns errors into one line and an exit status."""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from aligntools import __version__
from aligntools.cli import flags, programs, reporter, signals, streams
from aligntools.cli.programs import COMMANDS as COMMANDS
from aligntools.cli.programs import GROUPS, docstring
from aligntools.ground import memory, numba_settings
from aligntools.ground.errors import AligntoolsError, harmless, one_line, unquoted
from aligntools.store import atomic_write

#: Set by the shell when it asks for completions (click's protocol).
COMPLETION = "_ALIGNTOOLS_COMPLETE"
#: Set where what is written need not survive a power cut, as in tests.
NO_FSYNC = "ALIGNTOOLS_NO_FSYNC"


class _Lazy(click.Group):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.help = self.help or docstring(self.callback)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        return programs.command(name) if name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", prog_name="aligntools")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Learn hidden structure from plain text: word alignments and what follows from them.

    Text goes in as plain files, one sentence a line; results go to standard output or -o.
    """


def run(command: click.Command, args: Sequence[str] | None = None, prog_name: str | None = None) -> int:
    """Run a click command as a program: exit status 0 done, 1 wrong input, 2 wrong command line.

    No traceback reaches the user unless ``--debug`` is given. A closed pipe ends quietly.
    """
    numba_settings.prepare()
    args = list(sys.argv[1:] if args is None else args)
    debug = "--debug" in args
    with streams.safe(), signals.ending():
        logging.getLogger("aligntools").addHandler(warnings := reporter.OnStandardError())
        for name in ("compiling", "hints"):  # `options.verbosity` takes it back
            logging.getLogger(f"aligntools.{name}").setLevel(logging.INFO)
        atomic_write.SYNC = not os.environ.get(NO_FSYNC)
        try:
            return _run(command, args, prog_name, debug)
        finally:
            logging.getLogger("aligntools").removeHandler(warnings)


def _run(command: click.Command, args: list[str], prog_name: str | None, debug: bool) -> int:
    flags.of_command({})
    try:
        # not command.main(), which turns a closed pipe into exit status 1
        share = int(memory.SHARE * memory.available())
        with memory.bounded(share, asked=False), command.make_context(prog_name or command.name, args) as context:
            status = command.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.Abort:
        return 130
    except click.ClickException as error:
        vars(error)["message"] = harmless(unquoted(error.message))  # Final in click's types
        error.show()
        return 2
    except BrokenPipeError:
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if status := signals.status():
            return status
        if debug or not isinstance(error, (AligntoolsError, MemoryError, OSError)):
            raise
        if isinstance(error, MemoryError):
            message = "out of memory; try --max-memory, a shorter corpus or a smaller model"
        elif isinstance(error, OSError):
            message = f"{error.filename or 'output'}: {error.strerror or error}"
        else:
            message = flags.said(error)
        sys.stderr.write("error: " + one_line(message) + "\n")
        return int(getattr(error, "exit_code", 1))


def main() -> None:
    """Entry point of the ``aligntools`` command; also answers the shell, which asks for completions."""
    if asked := os.environ.get(COMPLETION):
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(cli, {}, "aligntools", COMPLETION, asked))
    sys.exit(run(cli, prog_name="aligntools"))
