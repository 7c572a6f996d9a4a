"""What ``view`` does with dependency trees."""

import click

from aligntools.cli import options
from aligntools.ground.errors import UsageProblem

GROUP = "Trees and tags"
#: Trees are looked at where nothing but files is given.
ARGUMENTS = ("files",)

own_options = options.group(
    GROUP,
    click.option(
        "--column",
        default="upos",
        show_default=True,
        type=options.Column(),
        metavar="upos|xpos|N",
        help="Column of CoNLL with the tags.",
    ),
)


def view_of(given, number, title):
    """Return the view and the number of the sentence that is asked for, or None."""
    from aligntools.api.tree_views import view_trees

    files = given["files"]
    if len(files) > 2:
        raise UsageProblem(f"{len(files)} files; give one with trees, or that and one with gold trees")
    if files.count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    shown = view_trees(*files, column=given["column"], title=title)
    if number and number > len(shown):
        raise UsageProblem(f"there is no sentence {number}; the text has {len(shown)}")
    return shown, number


def drawing(given):
    """Return how a picture is to be drawn."""
    return {}
