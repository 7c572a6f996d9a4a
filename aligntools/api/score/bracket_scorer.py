"""What scores of constituents stand on: gold trees, read once, and systems scored against them."""

import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from aligntools.api.given.naming import name_of
from aligntools.api.given.trees import trees_given
from aligntools.api.score.scorers import Scorer
from aligntools.formats.annotation.brackets import Tree, plain
from aligntools.ground.errors import DataError
from aligntools.metrics.brackets import Bracketing, BracketScore
from aligntools.metrics.fitting import check_words
from aligntools.metrics.settings import BracketScoring

_log = logging.getLogger("aligntools")


@dataclass(frozen=True)
class Treebank:
    """Trees of a file, without what is not scored, and the words of each.

    offsets (int64 [trees + 1]), lines (int64 [trees] or None).
    """

    trees: list[Tree]
    words: list[bytes]
    offsets: np.ndarray
    lines: np.ndarray | None


@dataclass(eq=False)
class BracketScorer(Scorer[BracketScore]):
    """Scores trees of constituents; see `aligntools.score_brackets`."""

    gold: Any
    settings: BracketScoring = field(default_factory=BracketScoring)

    def score(self, system: Any) -> BracketScore:
        """Score trees: a file's path, or one tree after the other."""
        how, name = self.settings, name_of(system, "parsed")
        gold, other = self._reference, self._read(system, "parsed")
        if len(gold.trees) == len(other.trees):
            other = _filled(gold, other)
        check_words(gold, other, name_of(self.gold, "gold"), name, ignore_forms=how.ignore_forms, what="trees")
        metric = Bracketing(how.tags_left_out(), how.unlabelled, how.whole, how.max_length)
        score = metric.score(gold.trees, other.trees)
        if not score.totals["gold"]:
            raise DataError(name_of(self.gold, "gold"), None, "no bracket of it counts; there is nothing to score")
        if score.failed:
            _log.info("%s: sentences without a tree: %d; all their brackets are missing", name, score.failed)
        return score

    @cached_property
    def _reference(self) -> Treebank:
        gold = self._read(self.gold, "gold")
        empty = [k for k, tree in enumerate(gold.trees) if not tree.children and tree.word is None]
        if empty:
            line = None if gold.lines is None else int(gold.lines[empty[0]])
            raise DataError(name_of(self.gold, "gold"), line, "a gold tree without words")
        return gold

    def _read(self, given: Any, what: str) -> Treebank:
        trees, numbers = trees_given(given, what)
        lines = None if numbers is None else np.array(numbers, np.int64)
        trees = [plain(tree, self.settings.functions) for tree in trees]
        words = [tree.words() for tree in trees]
        offsets = np.append(0, np.cumsum([len(own) for own in words])).astype(np.int64)
        joined = [word.encode("utf-8", "surrogateescape") for own in words for word in own]
        return Treebank(trees, joined, offsets, lines)


def _filled(gold: Treebank, other: Treebank) -> Treebank:
    """Return trees with the gold's words where there is no tree, so that the others can be compared."""
    empty = np.diff(other.offsets) == 0
    if not empty.any():
        return other
    words = list[bytes]()
    for k, nothing in enumerate(empty.tolist()):
        side = gold if nothing else other
        words += side.words[side.offsets[k] : side.offsets[k + 1]]
    lengths = np.where(empty, np.diff(gold.offsets), np.diff(other.offsets))
    return Treebank(other.trees, words, np.append(0, np.cumsum(lengths)), other.lines)
