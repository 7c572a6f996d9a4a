"""What ``view`` does with models."""

from typing import TYPE_CHECKING, Any

import click

from aligntools import ModelViewing
from aligntools.cli import declared, options
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.api.views.viewing import View

GROUP = "Models"
#: A model is looked at where it is given.
ARGUMENTS = ("model",)

own_options = options.group(
    GROUP,
    click.option("-m", "--model", metavar="FILE", help="A model of any kind, or weights; the file says which."),
    declared.option(ModelViewing, "words"),
    declared.option(ModelViewing, "best"),
    options.verify,
)


def view_of(given: dict[str, Any], number: int | None, title: str | None) -> "tuple[View, int | None]":
    """Return the view and the number of the chart that is asked for, or None."""
    from aligntools.api.models import view_model

    if given["files"]:
        raise UsageProblem(f"'{given['files'][0]}': --model is looked at alone")
    settings = declared.settings(ModelViewing, given)
    shown = view_model(given["model"], settings, title=title, verify=given["verify"])
    if number and number > len(shown):
        raise UsageProblem(f"there is no chart {number}; there are {len(shown)}")
    return shown, number


def drawing(given: dict[str, Any]) -> dict[str, Any]:
    """Return how a picture is to be drawn."""
    return {}
