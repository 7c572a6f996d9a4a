"""What ``view`` does with trees, of dependencies or constituents, and with tags."""

from typing import TYPE_CHECKING, Any

import click

from aligntools.cli import kinds, options
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.api.views.viewing import View

GROUP = "Trees and tags"
#: Trees are looked at where nothing but files is given; tags where that is asked for or the first has no trees.
ARGUMENTS = ("files",)

own_options = options.group(
    GROUP,
    click.option("--tags", is_flag=True, help="Show the tags of the files, not trees: as eval-tags reads them."),
    click.option(
        "--column",
        default="upos",
        show_default=True,
        type=kinds.Column(),
        metavar="upos|xpos|N",
        help="Column of CoNLL with the tags.",
    ),
)


def view_of(given: dict[str, Any], number: int | None, title: str | None) -> "tuple[View, int | None]":
    """Return the view and the number of the sentence that is asked for, or None."""
    from aligntools.api.views.annotation_views import view_annotation

    files = given["files"]
    if files.count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    shown = view_annotation(files, tags=given["tags"], column=given["column"], title=title)
    if number and number > len(shown):
        raise UsageProblem(f"there is no sentence {number}; the text has {len(shown)}")
    return shown, number


def drawing(given: dict[str, Any]) -> dict[str, Any]:
    """Return how a picture is to be drawn."""
    return {}
