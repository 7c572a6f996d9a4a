"""What ``view`` does with dependency trees and with tags."""

import io

import click

from aligntools.cli import kinds, options
from aligntools.ground.errors import UsageProblem

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


def view_of(given, number, title):
    """Return the view and the number of the sentence that is asked for, or None."""
    files = given["files"]
    if len(files) > 2:
        raise UsageProblem(f"{len(files)} files; give one with trees or tags, or that and one with gold ones")
    if files.count("-") > 1:
        raise UsageProblem("standard input ('-') can be only one of the files")
    for path in files:
        _check_kind(path)
    if given["tags"] or not _may_have_trees(files[0]):
        from aligntools.api.views.tag_views import view_tags as view
    else:
        from aligntools.api.views.tree_views import view_trees as view

    shown = view(*files, column=given["column"], title=title)
    if number and number > len(shown):
        raise UsageProblem(f"there is no sentence {number}; the text has {len(shown)}")
    return shown, number


def _check_kind(path):
    """Refuse a file of another kind, with the option that it is for."""
    from aligntools.formats.models.modelfile import is_model
    from aligntools.formats.opening.beginnings import beginning

    if is_model(path):
        raise UsageProblem(f"{path} is a model; give it with -m")
    if path != "-" and beginning(path)[0].startswith((b'{"', b"{\n")):
        others = "logs of training go with --log, derivations with --derivations, weights with -m"
        raise UsageProblem(f"{path} is JSON: {others}")


def _may_have_trees(path):
    """Tell whether a file seems to be CoNLL, which is tabs between columns, or cannot be looked at beforehand."""
    from aligntools.formats.annotation import tagged
    from aligntools.formats.opening.beginnings import beginning

    seen, telling = tagged.beginning(io.BytesIO(b"" if path == "-" else beginning(path)[0]))
    return not telling or any(b"\t" in seen[k] for k in telling)


def drawing(given):
    """Return how a picture is to be drawn."""
    return {}
