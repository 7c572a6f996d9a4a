"""What the commands that train taggers and parsers share: options, and how they show the steps of a training."""

import json
import sys
import time

import click

from aligntools.cli import kinds, options
from aligntools.cli.reporting import Lines, peak_mb
from aligntools.parsing.settings import FEATURES, MAPS, LearningSettings

#: Old spellings of where a model is written.
RENAMED = {"-m": "-o", "--model": "--output"}
output = click.option(
    "-o", "--output", required=True, metavar="FILE", type=options.WRITTEN, help="Write the model to this file."
)
log_json = click.option(
    "--log-json",
    metavar="FILE",
    type=options.WRITTEN,
    help="Also write the figures of each step to this file, one JSON line per step.",
)
separator = click.option(
    "--separator", callback=options.tag_separator, metavar="TEXT",
    help="Separator between word and tag.  [default: '_' or '/', whichever the text has]",
)  # fmt: skip
#: What ``--l2`` of parsers says; the last words are on when to change it.
L2_HELP = (
    "How strongly weights are held near 0 (the paper's lambda): half of this times the sum of their squares is added to"
    " what is minimized. Larger trusts the {} less and generalizes more."
)
column = click.option(
    "--column", default="upos", show_default=True, type=kinds.Column(), metavar="upos|xpos|N",
    help="Column of CoNLL with the tags.",
)  # fmt: skip
tag_map = click.option(
    "--map", type=click.Choice(MAPS), default="none", show_default=True,
    help="Map tags to the 12 universal ones: from UPOS, or from the tags of the Penn Treebank.",
)  # fmt: skip
classes = click.option(
    "--classes", metavar="FILE",
    help="Word classes learned from plain text (train-hmm --save-paths, or Brown clusters), as features beside words"
         " and tags; the model keeps them. For treebanks of few sentences.",
)  # fmt: skip
#: What edges are scored by and which trees there are, for all trainers of parsers.
parser_model = (
    click.option("--features", type=click.Choice(FEATURES), default=LearningSettings.features, show_default=True,
                 help="What edges are scored by: words and tags (full), also word beginnings (prefixes), or tags alone"
                      " (delexicalized)."),
    click.option("--projective/--non-projective", default=LearningSettings.projective, show_default=True,
                 help="Learn over trees without crossing edges, or over all trees."),
    click.option("--any-root/--single-root", default=LearningSettings.any_root, show_default=True,
                 help="Whether several words may be under the root."),
    options.setting("--min-count", of=LearningSettings, metavar="N",
                    help="Words that occur less often are unknown words."),
    options.setting("--bits", of=LearningSettings, metavar="N",
                    help="Each kind of feature has room for at most 2^N weights; where it has more features than that,"
                         " some share a weight. One more doubles the memory; change it if memory is short (less), or"
                         " for a treebank of a million words (more)."),
)  # fmt: skip
#: How the weights of a parser are learned.
parser_learning = (
    options.setting("--iterations", of=LearningSettings, metavar="N", help="Largest number of steps of L-BFGS."),
    options.setting("--tolerance", of=LearningSettings, metavar="X",
                    help="When to stop: as soon as two steps in a row have improved the objective by less than this"
                         " share. Larger stops earlier: 0.001 for quick trials."),
    click.option("--checkpoint", metavar="DIR",
                 help="Keep the state of the training in this folder; the same command continues from it."),
)  # fmt: skip


class Steps:
    """Shows the steps of a training on standard error and writes them to a log; a callback for the API.

    Parameters
    ----------
    show : bool
        Whether to show each step.
    quiet : bool
        Whether to show nothing. Otherwise there is a step twice a minute.
    log : binary file or None
        Gets one JSON line for each step.
    describe : callable
        Returns the line of a `Step`.

    Attributes
    ----------
    result : dict
        The figures of the last step, ``trained``.
    """

    def __init__(self, show, log, describe, quiet):
        self.show, self.log, self.describe, self.result = show and not quiet, log, describe, {}
        self.lines = Lines(not show and not quiet)
        self.last = time.perf_counter()

    def __call__(self, step):
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


def lbfgs_step(step):
    """Return the line of a step of L-BFGS."""
    return f"{step.stage}, step {step.figures['step']}: objective {step.figures['objective']:.2f}"


def counts(reasons):
    """Return numbers by reason in words."""
    return ", ".join(f"{reason} {n}" for reason, n in reasons.items())
