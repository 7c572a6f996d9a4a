"""What ``view`` does with models."""

import click

from aligntools.cli import options
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.models import BEST, WORDS

GROUP = "Models"
#: A model is looked at where it is given.
ARGUMENTS = ("model",)

own_options = options.group(
    GROUP,
    click.option("-m", "--model", metavar="FILE", help="A model of any kind, or weights: what it is, the file says."),
    click.option(
        "--words",
        type=options.number(WORDS),
        default=4000,
        show_default=True,
        metavar="N",
        help="The most frequent words of each side, which can be searched in the page.",
    ),
    click.option(
        "--best",
        type=options.number(BEST),
        default=10,
        show_default=True,
        metavar="N",
        help="Translations of each word; words of each tag.",
    ),
    options.verify,
)


def view_of(given, number, title):
    """Return the view and the number of the chart that is asked for, or None."""
    from aligntools.api.models.model_views import view_model

    if given["files"]:
        raise UsageProblem(f"'{given['files'][0]}': --model is looked at alone")
    how = {name: given[name] for name in ("words", "best", "verify")}
    shown = view_model(given["model"], title=title, **how)
    if number and number > len(shown):
        raise UsageProblem(f"there is no chart {number}; there are {len(shown)}")
    return shown, number


def drawing(given):
    """Return how a picture is to be drawn."""
    return {}
