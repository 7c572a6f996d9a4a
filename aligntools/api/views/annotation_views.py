"""Files with trees or with tags to look at: which they have, they say themselves."""

import io
import re
from collections.abc import Sequence

from aligntools.api.views.constituent_views import view_constituents
from aligntools.api.views.tag_views import view_tags
from aligntools.api.views.tree_views import view_trees
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.constituents import ConstituentsView
from aligntools.viewing.tags import TagsView
from aligntools.viewing.trees import TreesView

#: How a file of trees in brackets begins: brackets and labels, then a leaf; not so the first word of tagged text.
_SPACE, _WORD = r"[ \t\r\n]", r"[^ \t\r\n()]+"
_BRACKETS = re.compile(
    rf"{_SPACE}*\((?![_/])(?:{_SPACE}*(?:{_WORD}{_SPACE}*)?\()*(?:{_SPACE}*{_WORD}{_SPACE}+{_WORD}[^()]*)?\)"
)


def view_annotation(
    paths: Sequence[str], *, tags: bool = False, column: str | int = "upos", title: str | None = None
) -> TagsView | TreesView | ConstituentsView:
    """Look at the trees or the tags of a file, alone or beside those of a gold file.

    paths: A file, or that and a gold file.
    tags: Show tags where there are trees, too.
    column: Column of CoNLL with the tags.
    title: Of the page.
    Raises UsageProblem for a file of another kind. Raises DataError when a file cannot be read, or the two do not have
    the same words.
    """
    if len(paths) > 2:
        raise UsageProblem(f"{len(paths)} files; give one with trees or tags, or that and one with gold ones")
    for path in paths:
        _check_kind(path)
    if not tags and _has_brackets(paths[0]):
        return view_constituents(*paths, title=title)
    if tags or not _may_have_trees(paths[0]):
        return view_tags(*paths, column=column, title=title)
    return view_trees(*paths, column=column, title=title)


def _check_kind(path: str) -> None:
    """Refuse a file of another kind; the message names the option that it is for."""
    from aligntools.formats.models.modelfile import is_model
    from aligntools.formats.opening.recognition import beginning_of_input

    if is_model(path):
        raise UsageProblem(f"{path} is a model; give it with `model`")
    if beginning_of_input(path).startswith((b'{"', b"{\n")):
        others = "logs of training go with `log`, derivations with `derivations`, weights with `model`"
        raise UsageProblem(f"{'<stdin>' if path == '-' else path} is JSON: {others}")


def _has_brackets(path: str) -> bool:
    """Return whether a file that can be looked at beforehand has trees of constituents."""
    from aligntools.formats.annotation.brackets import outside, refuse_others
    from aligntools.formats.opening.recognition import beginning_of_input

    lines = beginning_of_input(path).decode("utf-8", "replace").split("\n")
    for number, line in enumerate(lines, 1):
        refuse_others(line, path, number)
        if (bare := outside(line)).strip(" \t\r"):
            return _BRACKETS.match("\n".join([bare, *lines[number:]])) is not None
    return False


def _may_have_trees(path: str) -> bool:
    """Return whether a file seems to be CoNLL, which is tabs between columns, or cannot be looked at beforehand."""
    from aligntools.formats.annotation import sniffing
    from aligntools.formats.opening.recognition import beginning_of_input

    seen, telling = sniffing.beginning(io.BytesIO(beginning_of_input(path)))
    return not telling or any(b"\t" in seen[k] for k in telling)
