"""Trees of constituents to look at, from Python."""

import os
from pathlib import Path
from typing import Any

from aligntools.api.score.bracket_scorer import BracketScorer
from aligntools.formats.annotation.brackets import Tree, plain, trees_given
from aligntools.ground.errors import DataError, visible
from aligntools.metrics.settings import BracketScoring
from aligntools.viewing.constituents import ConstituentsView


def view_constituents(trees: Any, gold: Any = None, *, title: str | None = None) -> ConstituentsView:
    """Look at trees of constituents, alone or beside gold trees of the same words: what is wrong is marked.

    What is wrong is what `score_brackets` counts: functions and traces are left out beside gold trees, and brackets of
    punctuation alone and labels above whole sentences are neither right nor wrong. Alone, trees are shown as they are.

    Parameters
    ----------
    trees : str, path, Tree, or iterable of trees
        A file of trees in brackets; or trees, as `Tree` or as text.
    gold : the same, optional
    title : str, optional
        Of the page.

    Returns
    -------
    View
        ``html()``, ``svg(number)``, ``text()`` and ``save(path)``; notebooks show it, ``str()`` is for terminals.

    Raises
    ------
    DataError
        When a file cannot be read, brackets are not balanced, or the two do not have the same words.

    Examples
    --------
    >>> import aligntools as at
    >>> print(at.view_constituents(["(S (NP (PRP I)) (VP (VBP sleep)) (. .))"]).text(number=1), end="")
    sentence 1
    S
    ├─ NP
    │  ╰─ PRP I
    ├─ VP
    │  ╰─ VBP sleep
    ╰─ . .
    """
    name = title or " beside ".join(
        _name_of(each, word) for each, word in ((trees, "Trees"), (gold, "gold")) if each is not None
    )
    trees, gold = ([one] if isinstance(one, Tree) else one for one in (trees, gold))
    if gold is None:
        found, _ = trees_given(trees, "trees")
        if not found:
            raise DataError(_name_of(trees, "<trees>"), None, "has no trees; a tree is (S (NP (DT the) ...) ...)")
        return ConstituentsView([plain(tree, functions=True, traces=True) for tree in found], title=visible(name))
    score = BracketScorer(gold, BracketScoring()).score(trees)
    return ConstituentsView(score.hypothesis, score.gold, visible(name), score)


def _name_of(given: Any, otherwise: str) -> str:
    is_file = isinstance(given, str | os.PathLike) and str(given) != "-"
    return Path(given).name if is_file else otherwise
