"""Options, checks and reports of the commands that score."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from aligntools.cli import declarations, options, reporter
from aligntools.cli.kinds import Decorator
from aligntools.ground.errors import UsageProblem, readable
from aligntools.ground.ranges import BOOTSTRAP
from aligntools.metrics.base import Score
from aligntools.metrics.report import compare_scores


def tests(figure: str) -> Decorator:
    """Add ``--bootstrap`` and ``--seed``, about intervals of a figure, and the options about messages."""
    random = options.group(
        "Tests",
        click.option(
            "--bootstrap",
            type=options.Number(BOOTSTRAP),
            default=1000,
            show_default=True,
            metavar="N",
            help=f"Samples for the 95% interval of the {figure}; 0 for none.",
        ),
        options.seed,
    )
    return options.group("", random, options.group("Messages", options.verbosity))


def paired(figure: str, system: str) -> Decorator:
    """Return the option ``--paired``; its help names the tested ``figure``, and each further file as ``system``."""
    return click.option("--paired", is_flag=True, help=f"Test the {figure} of each further {system} against the first.")


#: ``--json``, passed as ``json`` (bool).
json = click.option("--json", is_flag=True, help="Print JSON, with fractions instead of percent.")


def check_paired(o: Mapping[str, Any]) -> None:
    """Refuse to compare a single system."""
    if o["paired"] and len(o["hypotheses"]) < 2:
        raise UsageProblem("--paired compares with the first file; give two or more")


def write_report(scorer: Callable[[], Callable[[str], Score]], o: Mapping[str, Any], by: Sequence[str] = ()) -> None:
    """Score every system that the options name; write the table or the JSON, with ``verbose`` the counts, too.

    scorer: Reads the gold file; returns what scores a system's.
    """
    check_paired(o)
    score = scorer()
    paired, bootstrap, seed, verbose = (o[name] for name in ("paired", "bootstrap", "seed", "verbose"))
    if not (bootstrap or paired) and "seed" in declarations.given():
        raise UsageProblem("`seed` is for `bootstrap` and `paired`: there is nothing random without them")
    with reporter.shown(o["quiet"]):
        scores = [score(path) for path in o["hypotheses"]]
    names = list(map(readable, o["hypotheses"]))
    report = compare_scores(scores, names, paired=paired, bootstrap=bootstrap, seed=seed)
    options.write_text(o["output"], report.json(by=by) if o["json"] else report.text(verbose=verbose, by=by))
    if verbose:
        sys.stderr.write(report.details())
