"""Files with trees or with tags to look at: which they have, they say themselves."""

import io
from collections.abc import Sequence

from aligntools.api.views.tag_views import view_tags
from aligntools.api.views.tree_views import view_trees
from aligntools.ground.errors import UsageProblem
from aligntools.viewing.tags import TagsView
from aligntools.viewing.trees import TreesView


def view_annotation(
    paths: Sequence[str], *, tags: bool = False, column: str | int = "upos", title: str | None = None
) -> TagsView | TreesView:
    """Look at the trees or the tags of a file, alone or beside those of a gold file.

    Parameters
    ----------
    paths : sequence of str
        A file, or that and a gold file.
    tags : bool
        Show tags where there are trees, too.
    column : str or int
        Column of CoNLL with the tags.
    title : str, optional
        Of the page.

    Raises
    ------
    UsageProblem
        For a file of another kind.
    DataError
        When a file cannot be read, or the two do not have the same words.
    """
    if len(paths) > 2:
        raise UsageProblem(f"{len(paths)} files; give one with trees or tags, or that and one with gold ones")
    for path in paths:
        _check_kind(path)
    if tags or not _may_have_trees(paths[0]):
        return view_tags(*paths, column=column, title=title)
    return view_trees(*paths, column=column, title=title)


def _check_kind(path: str) -> None:
    """Refuse a file of another kind; the message names the option that it is for."""
    from aligntools.formats.models.modelfile import is_model
    from aligntools.formats.opening.beginnings import beginning

    if is_model(path):
        raise UsageProblem(f"{path} is a model; give it with `model`")
    if path != "-" and beginning(path)[0].startswith((b'{"', b"{\n")):
        others = "logs of training go with `log`, derivations with `derivations`, weights with `model`"
        raise UsageProblem(f"{path} is JSON: {others}")


def _may_have_trees(path: str) -> bool:
    """Tell whether a file seems to be CoNLL, which is tabs between columns, or cannot be looked at beforehand."""
    from aligntools.formats.annotation import sniffing
    from aligntools.formats.opening.beginnings import beginning

    seen, telling = sniffing.beginning(io.BytesIO(b"" if path == "-" else beginning(path)[0]))
    return not telling or any(b"\t" in seen[k] for k in telling)
