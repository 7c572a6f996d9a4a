"""What ``view`` does with derivations of translations."""

from typing import TYPE_CHECKING, Any

import click

from aligntools.cli import options
from aligntools.ground.errors import UsageProblem

if TYPE_CHECKING:
    from aligntools.api.views.viewing import View

GROUP = "Translations"
#: Derivations are looked at where they are given.
ARGUMENTS = ("derivations",)

own_options = options.group(
    GROUP,
    click.option("--derivations", metavar="FILE", help="What translate --derivations wrote."),
    click.option("--reference", metavar="FILE", help="A translation of each sentence, to compare with."),
)


def view_of(given: dict[str, Any], number: int | None, title: str | None) -> "tuple[View, int | None]":
    """Return the view and the number of the sentence that is asked for, or None."""
    from aligntools.api.views.derivation_views import view_derivations

    if given["files"]:
        raise UsageProblem(f"'{given['files'][0]}': --derivations is looked at alone, or with --reference")
    if given["derivations"] == given["reference"] == "-":
        raise UsageProblem("standard input ('-') can be only one of the files")
    shown = view_derivations(given["derivations"], given["reference"], title=title)
    if number and number > len(shown):
        raise UsageProblem(f"there is no sentence {number}; there are {len(shown)}")
    return shown, number


def drawing(given: dict[str, Any]) -> dict[str, Any]:
    """Return how a picture is to be drawn."""
    return {}
