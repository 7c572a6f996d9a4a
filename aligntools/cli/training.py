"""Options and progress of the commands that train taggers and parsers."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from aligntools.cli import options
from aligntools.cli.reporter import ProgressLines, peak_mb
from aligntools.ground.progress import Step

if TYPE_CHECKING:
    from aligntools.formats.opening.files import Output

#: Old spellings of where a model is written.
RENAMED = {"-m": "-o", "--model": "--output"}
output = options.written("-o", "--output", required=True, help="Write the model to this file.")
log_json = options.written(
    "--log-json", help="Also write the figures of each step to this file, one JSON line per step."
)
classes = options.file(
    "--classes",
    help="Word classes learned from plain text (train-hmm --save-paths, or Brown clusters), as further features of"
    " words and tags; the model keeps them. For treebanks of few sentences.",
)
checkpoint = click.option(
    "--checkpoint",
    metavar="DIR",
    help="Keep the state of the training in this folder; the same command continues from it.",
)


class Steps:
    """Shows the steps of a training on standard error and writes them to a log; a callback for the API.

    show: Whether to show each step.
    quiet: Whether to show nothing. Otherwise there is a step twice a minute.
    log: Gets one JSON line for each step.
    describe: Returns the line of a `Step`.
    result: The figures of the last step, ``trained``.
    """

    def __init__(self, show: bool, log: "Output | None", describe: Callable[[Step], str], quiet: bool) -> None:
        self.show, self.log, self.describe = show and not quiet, log, describe
        self.result: dict[str, Any] = {}
        self.lines = ProgressLines(not show and not quiet)
        self.last = time.perf_counter()

    def __call__(self, step: Step) -> None:
        """Take a step."""
        if step.stage == "trained":
            self.result = dict(step.figures)
            return
        if self.show:
            sys.stderr.write(self.describe(step) + "\n")
        self.lines.tell(lambda: self.describe(step))
        if self.log:
            now = time.perf_counter()
            cost = {"seconds": now - self.last, "peak_mb": peak_mb()}
            self.log.write((json.dumps({"stage": step.stage} | dict(step.figures) | cost) + "\n").encode())
            self.last = now


def lbfgs_step(step: Step) -> str:
    """Return the line of a step of L-BFGS."""
    return f"{step.stage}, step {step.figures['step']}: objective {step.figures['objective']:.2f}"


def counts(reasons: Mapping[str, int]) -> str:
    """Return numbers by reason in words."""
    return ", ".join(f"{reason} {n}" for reason, n in reasons.items())
