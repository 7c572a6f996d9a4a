"""``aligntools train-grammar``: a grammar of constituents from a treebank."""

import contextlib
import sys
from typing import Any

import click

from aligntools import GrammarSettings, Run
from aligntools.api.running.progress import Step
from aligntools.cli import declared, notices, options, training


@click.command("train-grammar", cls=options.Command)
@options.group(
    "Common options",
    click.option(
        "--treebank",
        "treebanks",
        metavar="FILE",
        multiple=True,
        required=True,
        help="Trees in brackets, one on a line or over several; can be given several times.",
    ),
    training.output,
    declared.group(GrammarSettings, "latent", title="Common options"),
)
@declared.group(GrammarSettings, without=("latent", "seed"))
@options.group(
    "Resources and messages",
    training.log_json,
    options.threads,
    declared.option(GrammarSettings, "seed"),
    options.verbosity,
)
def command(**o: Any) -> None:
    """Learn a grammar of constituents from trees: the treebank's rules, or with --latent refined ones.

    A tree is made binary; symbols know their siblings and what is above them (Klein & Manning 2003). With --latent 1 to
    6 they are split, trained by EM and merged in as many rounds instead (Petrov, Barrett, Thibaux & Klein 2006), which
    finds better trees and takes minutes. Traces are left out, and functions (NP-SBJ) unless --functions is given.
    `aligntools parse` finds trees with the grammar, of words with or without tags.

    \b
    Example:
      aligntools train-grammar -q --treebank data/samples/en.mrg -o /tmp/en.pcfg
      aligntools parse -m /tmp/en.pcfg data/samples/en.txt
    """
    from aligntools.api.parse.constituents import train_grammar
    from aligntools.formats.opening.files import writing

    quiet = o["quiet"]
    with contextlib.ExitStack() as stack:
        stack.enter_context(notices.shown(quiet))
        log = stack.enter_context(writing(o["log_json"])) if o["log_json"] else None
        steps = training.Steps(o["verbose"], log, _line, quiet)
        settings, run = declared.settings(GrammarSettings, o), declared.settings(Run, o)
        parser = train_grammar(list(map(_path, o["treebanks"])), settings, run=run, progress=steps)
        parser.save(o["output"])
    if not quiet:
        _tell(steps.result)


def _path(name: str) -> Any:
    """Return a file's name so that it is taken for none but that."""
    from pathlib import Path

    return name if name == "-" else Path(name)


def _line(step: Step) -> str:
    """Return the line of an iteration of EM."""
    own = step.figures
    what = {"split": "split", "merged": "after merging", "smoothed": "smoothed"}.get(step.stage, step.stage)
    return (
        f"round {own['round']}, {what}, iteration {own['iteration']}: log-likelihood {own['objective']:.1f},"
        f" {own['substates']} substates"
    )


def _tell(found: dict[str, Any]) -> None:
    """Write what came of a training to standard error."""
    if found["empty"]:
        sys.stderr.write(f"{found['empty']} trees without words left out\n")
    sys.stderr.write(
        f"{found['sentences']} sentences, {found['words']} words; {found['symbols']} symbols, {found['substates']}"
        f" substates, {found['rules']} rules\n"
    )
