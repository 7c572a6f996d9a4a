"""What scores of constituents stand on: gold trees, read once, and systems scored against them."""

import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from aligntools.formats.annotation.brackets import Tree, are_named, plain_trees, trees_given
from aligntools.formats.text.memory_text import name_of
from aligntools.ground.errors import DataError
from aligntools.metrics.brackets import Bracketing, BracketScore
from aligntools.metrics.scorers import Scorer
from aligntools.metrics.settings import BracketScoring
from aligntools.metrics.text_match import check_words

_log = logging.getLogger("aligntools")


@dataclass(frozen=True)
class BracketTreebank:
    """Trees of a file, without what is not scored, and the words of each.

    offsets (int64 [trees + 1]), lines (int64 [trees] or None).
    """

    trees: list[Tree]
    words: list[bytes]
    offsets: np.ndarray
    lines: np.ndarray | None

    def with_words(self) -> "BracketTreebank":
        """Return the trees that have words."""
        kept = np.diff(self.offsets) > 0
        trees = [self.trees[k] for k in np.flatnonzero(kept)]
        lines = None if self.lines is None else self.lines[kept]
        return BracketTreebank(trees, self.words, self.offsets[np.append(kept, True)], lines)


@dataclass(eq=False)
class BracketScorer(Scorer[BracketScore]):
    """Scores trees of constituents; see `aligntools.score_brackets`."""

    gold: Any
    settings: BracketScoring = field(default_factory=BracketScoring)

    def score(self, system: Any) -> BracketScore:
        """Score trees: a file's path, or one tree after the other."""
        how, name = self.settings, name_of(system, "parsed")
        gold, other = self._reference, self._read(system, "parsed")
        gold_name, note = name_of(self.gold, "gold"), ""
        if len(gold.trees) != len(other.trees):
            problem = f"{len(other.trees)} trees, but the gold {gold_name} has {len(gold.trees)}"
            gold, other = gold.with_words(), other.with_words()
            if len(gold.trees) != len(other.trees):
                raise DataError(name, None, f"{problem}; there must be one for each, in the same order")
            note = f"{name}: {problem}; those without words are left out"
        elif empty := int(np.sum(np.diff(gold.offsets) == 0)):
            note = f"{gold_name}: trees without words, which do not count: {empty}"
        other = _filled(gold, other)
        check_words(gold, other, gold_name, name, ignore_forms=how.ignore_forms, what="trees")
        if note:
            _log.info("%s", note)
        metric = Bracketing(how.tags_left_out(), how.unlabelled, how.whole, how.max_length, how.functions)
        score = metric.score(gold.trees, other.trees)
        if not score.totals["gold"]:
            raise DataError(gold_name, None, "no bracket of it counts; there is nothing to score")
        if score.failed:
            _log.info("%s: sentences without a tree: %d; all their brackets are missing", name, score.failed)
        return score

    @cached_property
    def _reference(self) -> BracketTreebank:
        return self._read(self.gold, "gold")

    @cached_property
    def _gold(self) -> tuple[list[Tree], list[int] | None]:
        return trees_given(self.gold, "gold")

    @cached_property
    def _named(self) -> bool:
        return are_named(self._gold[0])

    def _read(self, given: Any, what: str) -> BracketTreebank:
        trees, numbers = self._gold if what == "gold" else trees_given(given, what)
        lines = None if numbers is None else np.array(numbers, np.int64)
        trees, notes = plain_trees(trees, self.settings.functions, self._named)
        for note in notes:
            _log.info("%s: %s", name_of(given, what), note)
        words = [tree.words() for tree in trees]
        offsets = np.append(0, np.cumsum([len(own) for own in words])).astype(np.int64)
        joined = [word.encode("utf-8", "surrogateescape") for own in words for word in own]
        return BracketTreebank(trees, joined, offsets, lines)


def _filled(gold: BracketTreebank, other: BracketTreebank) -> BracketTreebank:
    """Return trees with the gold's words where there is no tree, so that the others can be compared."""
    empty = np.diff(other.offsets) == 0
    if not empty.any():
        return other
    words = list[bytes]()
    for k, nothing in enumerate(empty.tolist()):
        side = gold if nothing else other
        words += side.words[side.offsets[k] : side.offsets[k + 1]]
    lengths = np.where(empty, np.diff(gold.offsets), np.diff(other.offsets))
    return BracketTreebank(other.trees, words, np.append(0, np.cumsum(lengths)), other.lines)
