"""The ``aligntools`` command: finds subcommands, turns errors into one line and an exit status."""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from aligntools import __version__
from aligntools.cli import flags, programs, reporter, signals, streams
from aligntools.cli.programs import docstring
from aligntools.ground import memory, portable
from aligntools.ground.errors import AligntoolsError, harmless, one_line, unquoted
from aligntools.store import atomic_write

#: Every subcommand with its one line in ``aligntools --help``, by what it is for. Its module has its name with
#: ``_`` for ``-`` and is imported only when the command is asked for, so that ``--help`` stays quick.
GROUPS = {
    "Word alignment": {
        "align": "Align a parallel corpus, or new text by a saved model.",
        "contrastive-align": "Align with a network, or features learned from gold.",
        "mre-align": "Align by maximum reconstruction (IBM 2, HMM).",
        "teach": "Train contrastive-align's network without gold.",
        "symmetrize": "Combine, convert and check alignment files.",
        "eval-aer": "Score alignments: precision, recall, F1, AER.",
        "lexicon": "Write translation tables and shortlists.",
    },
    "Work with aligned text": {
        "align-sentences": "Find the sentences of two documents that belong together.",
        "eval-sentences": "Score sentence groups: precision, recall, F1.",
        "filter": "Keep the sentence pairs that are translations.",
        "check": "Check what translations leave out, add or repeat.",
        "terms": "Find the terms of parallel text: a glossary.",
        "transfer-markup": "Carry tags of XML and HTML over to a translation.",
        "project": "Carry tags, features and trees over word alignments.",
        "serve": "Answer over HTTP: links, checks, tags carried over.",
    },
    "Tags and word classes": {
        "train-tagger": "Train a tagger on text with tags, some tags or none.",
        "train-hmm": "Train hidden Markov models of tags or alignments.",
        "tag": "Tag text with a trained tagger.",
        "train-classes": "Cluster words by their neighbours, as mkcls does.",
        "eval-tags": "Score tags: accuracy, many-to-1, 1-to-1, VI, V-measure.",
        "conll": "Convert CoNLL and trees: words, tags, columns, raw text.",
    },
    "Trees": {
        "train-parser": "Train a dependency parser from trees or tags.",
        "transfer-parse": "Train a parser through parallel text, without a treebank.",
        "train-grammar": "Learn a grammar of constituents from trees.",
        "parse": "Parse text: trees of dependencies, or of constituents.",
        "eval-uas": "Score dependency trees: UAS, LAS, whole trees, roots.",
        "eval-brackets": "Score trees of constituents: labelled F1, as EVALB counts.",
    },
    "Translation": {
        "train-lm": "Estimate an n-gram language model.",
        "eval-lm": "Measure the perplexity of text under a language model.",
        "extract-grammar": "Extract a Hiero grammar from aligned text.",
        "filter-grammar": "Keep the rules of a grammar that a text can use.",
        "translate": "Translate text with a hierarchical grammar.",
        "imputed-risk": "Learn the weights of a translation system.",
        "eval-bleu": "Score translations: BLEU.",
    },
    "Everything else": {
        "view": "Look at results: in the terminal, as a page, as a picture.",
        "drop-ins": "Write programs that stand in for other aligners.",
        "warmup": "Compile everything once, for container images and CI.",
    },
}
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}

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
    portable.prepare()
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
