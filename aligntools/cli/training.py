"""Options and progress of the commands that train taggers and parsers."""

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import click

from aligntools.cli import declarations, options
from aligntools.cli.reporter import ProgressLines, peak_mb, shown
from aligntools.ground.errors import UsageProblem
from aligntools.ground.progress import Step

#: A callback for steps, and where the figures of the last one, ``trained``, are put.
Steps: TypeAlias = tuple[Callable[[Step], None], dict[str, Any]]
#: What all uses of a command that trains have.
COMMON = {"output", "log_json", "threads", "seed", "quiet", "verbose"}
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


@contextlib.contextmanager
def reporting(o: Mapping[str, Any], describe: Callable[[Step], str], notices: bool = True) -> Iterator[Steps]:
    """Show a training's notices and steps (or one line twice a minute) and log them, as the options ``o`` say."""
    from aligntools.formats.opening.files import writing

    nothing = contextlib.nullcontext()
    with shown(o["quiet"]) if notices else nothing, writing(o["log_json"]) if o["log_json"] else nothing as log:
        show, quiet = o["verbose"] and not o["quiet"], o["quiet"]
        result, lines, last = dict[str, Any](), ProgressLines(not show and not quiet), time.perf_counter()

        def take(step: Step) -> None:
            nonlocal last
            if step.stage == "trained":
                result.update(step.figures)
                return
            if show:
                sys.stderr.write(describe(step) + "\n")
            lines.tell(lambda: describe(step))
            if log:
                now = time.perf_counter()
                cost = {"seconds": now - last, "peak_mb": peak_mb()}
                log.write((json.dumps({"stage": step.stage} | dict(step.figures) | cost) + "\n").encode())
                last = now

        yield take, result


def check_use(o: Mapping[str, Any], uses: Mapping[str, set[str]], asked: Mapping[str, bool], otherwise: str) -> str:
    """Refuse two uses of a command, none (``otherwise``), and options of others; return the one that is asked for."""
    found = [use for use, given in asked.items() if given]
    if len(found) != 1:
        raise UsageProblem(otherwise)
    declarations.refuse(declarations.given() - COMMON - uses[found[0]], found[0], o)
    return found[0]


def lbfgs_step(step: Step) -> str:
    """Return the line of a step of L-BFGS."""
    return f"{step.stage}, step {step.figures['step']}: objective {step.figures['objective']:.2f}"


def say_counts(reasons: Mapping[str, int], what: str, more: str = "") -> None:
    """Write how many sentences something was done with, for which reasons, if there were any."""
    if reasons:
        said = ", ".join(f"{reason} {n}" for reason, n in reasons.items())
        sys.stderr.write(f"{sum(reasons.values())} sentences {what}: {said}{more}\n")
