"""What ``view`` does with logs of training."""

from typing import TYPE_CHECKING, Any

import click

from aligntools.cli import options
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.api.views.viewing import View

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


def view_of(given: dict[str, Any], number: int | None, title: str | None) -> "tuple[View, int | None]":
    """Return the view and the number of the chart that is asked for, or None."""
    from aligntools.api.views.training_views import view_training

    files = [*given["log"], *given["files"]]
    if files.count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    shown = view_training(*files, title=title or "Training")
    if number and number > len(shown):
        raise UsageProblem(f"there is no chart {number}; there are {len(shown)}")
    return shown, number


def drawing(given: dict[str, Any]) -> dict[str, Any]:
    """Return how a picture is to be drawn."""
    return {}
