"""What ``view`` does with logs of training."""

import click

from aligntools.cli import options
from aligntools.ground.errors import UsageProblem

GROUP = "Training"
#: Logs are looked at where one is given.
ARGUMENTS = ("log",)

own_options = options.group(
    GROUP,
    click.option(
        "--log",
        metavar="FILE...",
        multiple=True,
        help="What --log-json of a training wrote; several files are runs to compare.",
    ),
)


def view_of(given, number, title):
    """Return the view and the number of the chart that is asked for, or None."""
    from aligntools.api.views.training_views import view_training

    files = [*given["log"], *given["files"]]
    if files.count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    shown = view_training(*files, title=title or "Training")
    if number and number > len(shown):
        raise UsageProblem(f"there is no chart {number}; there are {len(shown)}")
    return shown, number


def drawing(given):
    """Return how a picture is to be drawn."""
    return {}
