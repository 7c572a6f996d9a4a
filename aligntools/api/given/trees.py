"""Trees of constituents, given as a file, as objects or as text."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from aligntools.formats.annotation.brackets import Tree, parse_trees, read_trees
from aligntools.ground.errors import DataError

#: A file of trees in brackets, or trees, as objects or as text.
SomeTrees: TypeAlias = "str | os.PathLike[str] | Iterable[Tree | str]"


def trees_given(given: Any, what: str) -> tuple[list[Tree], list[int] | None]:
    """Return trees as they stand and, of a file, the numbers of their first lines.

    what: What messages call trees in memory.
    Raises DataError when a file cannot be read, brackets are not balanced, or something is not a tree.
    """
    if isinstance(given, str | os.PathLike):
        return read_trees(os.fspath(given))
    return list(_trees_of(given, what)), None


def _trees_of(given: Iterable[Any], what: str) -> Iterator[Tree]:
    for number, item in enumerate(given, 1):
        if isinstance(item, Tree):
            yield item
        elif isinstance(item, str):
            found = [tree for _, tree in parse_trees([item], what)]
            if len(found) != 1:
                raise DataError(what, number, f"{len(found)} trees; give one at a time")
            yield found[0]
        else:
            raise DataError(what, number, "not a tree; give a Tree, or text in brackets")
