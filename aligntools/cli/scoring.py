"""Options, checks and reports of the commands that score."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from aligntools.cli import declarations, options, reporter
from aligntools.cli.option_groups import FC
from aligntools.ground.errors import UsageProblem, readable
from aligntools.ground.ranges import BOOTSTRAP
from aligntools.metrics.base import Score
from aligntools.metrics.report import compare_scores


def tests(figure: str) -> Callable[[FC], FC]:
    """Add ``--bootstrap`` and ``--seed``, passed as ``bootstrap`` and ``seed`` (int).

    ``figure`` is what the intervals are of.
    """
    return options.group(
        "Tests",
        click.option(
            "--bootstrap",
            type=options.number(BOOTSTRAP),
            default=1000,
            show_default=True,
            metavar="N",
            help=f"Samples for the 95% interval of the {figure}; 0 for none.",
        ),
        options.seed,
    )


def paired(figure: str, system: str) -> Callable[[FC], FC]:
    """Add ``--paired``, passed as ``paired`` (bool).

    ``figure`` is what is tested, ``system`` what each further file is called.
    """
    return click.option("--paired", is_flag=True, help=f"Test the {figure} of each further {system} against the first.")


def json(function: FC) -> FC:
    """Add ``--json``, passed as ``json`` (bool)."""
    return click.option("--json", is_flag=True, help="Print JSON, with fractions instead of percent.")(function)


def report(score: Callable[[str], Score], o: dict[str, Any], by: Sequence[str] = ()) -> None:
    """Score every system that a command's options name; see `write_report`."""
    names = ("output", "bootstrap", "paired", "seed", "json", "quiet", "verbose")
    write_report(score, o["hypotheses"], **{name: o[name] for name in names}, by=by)


def check_files(files: Sequence[str | None], systems: Sequence[str], paired: bool) -> None:
    """Refuse command lines with one system to compare, or with standard input as two files."""
    if paired and len(systems) < 2:
        raise UsageProblem("--paired compares with the first file; give two or more")


def write_report(
    score: Callable[[str], Score],
    systems: Sequence[str],
    output: str,
    *,
    bootstrap: int,
    paired: bool,
    seed: int,
    json: bool,
    quiet: bool,
    verbose: bool,
    by: Sequence[str] = (),
) -> None:
    """Score every system and write the table or the JSON; ``verbose`` adds the counts on standard error."""
    if not (bootstrap or paired) and "seed" in declarations.given():
        raise UsageProblem("`seed` is for `bootstrap` and `paired`: there is nothing random without them")
    with reporter.shown(quiet):
        scores = [score(path) for path in systems]
    report = compare_scores(scores, list(map(readable, systems)), paired=paired, bootstrap=bootstrap, seed=seed)
    options.write_text(output, report.json(by=by) if json else report.text(verbose=verbose, by=by))
    if verbose:
        sys.stderr.write(report.details())
