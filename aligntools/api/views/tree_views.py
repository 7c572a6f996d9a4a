"""Dependency trees to look at, from Python."""

import os
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from aligntools.api.score.scorers import TreeScorer
from aligntools.formats.annotation.conll import Conll, column_place, read_conll
from aligntools.formats.annotation.conll_layouts import COLUMNS
from aligntools.formats.inputs.annotation import encoded
from aligntools.ground.errors import DataError, visible
from aligntools.metrics.attachment import DependencyTrees
from aligntools.metrics.settings import TreeScoring
from aligntools.viewing.trees import TreesView


def view_trees(trees: Any, gold: Any = None, *, column: str | int = "upos", title: str | None = None) -> TreesView:
    """Look at dependency trees, alone or beside gold trees of the same words: what is wrong is marked.

    Parameters
    ----------
    trees : str, path, Parses, Parse, Conll, or iterable of Parse
        A CoNLL-X or CoNLL-U file, or what a parser returned.
    gold : the same, optional
    column : str or int
        Column of CoNLL with the tags that are shown.
    title : str, optional
        Of the page.

    Returns
    -------
    View
        ``html()``, ``svg(number)``, ``text()`` and ``save(path)``; notebooks show it, ``str()`` is for terminals.

    Raises
    ------
    DataError
        When a file cannot be read, or the two do not have the same words.

    Examples
    --------
    >>> import aligntools as at
    >>> shown = at.view_trees("data/samples/en.conllu")
    >>> print(shown.text(number=3), end="")
    sentence 3
      ╭──  The  DET det
    ╭─┴  soup  NOUN nsubj
    ├──  is  AUX cop
    ├──  too  ADV advmod
    ┼  hot  ADJ root
    ╰──  .  PUNCT punct
    """
    name = title or " beside ".join(_name_of(each, word) for each, word in ((trees, "Trees"), (gold, "gold")) if each)
    if gold is None:
        return TreesView(_trees_of(trees, column), title=visible(name))
    scorer = TreeScorer(gold if _is_file(gold) else _trees_of(gold, column), TreeScoring(column=column))
    score = scorer.score(str(trees) if _is_file(trees) else _trees_of(trees, column))
    return TreesView(score.hypothesis, score.gold, visible(name), score)


def _is_file(given: Any) -> bool:
    return isinstance(given, str | os.PathLike)


def _name_of(given: Any, otherwise: str) -> str:
    return Path(given).name if _is_file(given) and str(given) != "-" else otherwise


def _trees_of(given: Any, column: str | int) -> DependencyTrees:
    """Return trees with words, from a file or from memory."""
    if isinstance(given, DependencyTrees):
        return given
    if _is_file(given):
        given = read_conll(str(given))
        if not len(given):
            raise DataError(given.path, None, "has no sentences; give trees in CoNLL-X or CoNLL-U")
    if isinstance(given, Conll):
        tags, labels = given.column(column_place(column)), given.column(COLUMNS["deprel"])
        heads = given.heads()
        if len(heads) and (heads < 0).all():
            raise DataError(given.path, given.line_of_word(0), "no head in column 7 (_); was the file parsed?")
        return DependencyTrees(heads, given.offsets, labels, given.words, tags, given.sentence_lines())
    if hasattr(given, "source"):  # Parses
        return DependencyTrees(given.heads, given.source.offsets, given.labels, given.source.words, given.tags)
    parses = [given] if hasattr(given, "heads") else list(given)
    columns = [
        list(map(encoded, chain.from_iterable(getattr(parse, name) or () for parse in parses)))
        for name in ("tokens", "tags", "labels")
    ]
    heads = np.concatenate([np.zeros(0, np.int32), *(parse.heads for parse in parses)]).astype(np.int32)
    offsets = np.cumsum([0, *map(len, parses)], dtype=np.int64)
    return DependencyTrees(
        heads, offsets, columns[2] if len(columns[2]) == len(heads) else None, columns[0], columns[1]
    )
