"""Lists of trees of a sentence: the best ones, and trees that are drawn.

The k best trees are those of the highest products of the posteriors of their rules, in which substates are summed, so
that each tree is there once. A symbol of a cell lists its trees only as far as one above it asks for them (Huang &
Chiang 2005, algorithm 3). Trees are drawn from the inside (Johnson, Griffiths & Goldwater 2007, section 3), with
substates, which are left out.
"""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from aligntools.constituents import kernels_tree_lists
from aligntools.constituents.decoding import Product, Step, filled, log_probability, max_rule, tree_of
from aligntools.constituents.kernels_best import BestDerivations, Charts
from aligntools.constituents.kernels_chart import Chart, cell_of
from aligntools.formats.annotation.brackets import Tree

#: Layers of a symbol: below unary rules, above them, above the sentence.
_LOWER, _UPPER, _TOP = range(3)
#: How many derivations are looked at for each tree that is asked for, where tags that are not the grammar's hide what
#: tells them apart.
_MORE = 20


@dataclass(frozen=True)
class ScoredTree:
    """A tree of a sentence.

    Attributes
    ----------
    tree : Tree
        As in the treebank.
    log_probability : float
        ``log p(tree | words)``, natural logarithm, among the trees that pruning leaves; the logarithm of the mean under
        the members of a product of grammars. -inf where the grammar has no tree.
    score : float
        What lists of the best trees are ordered by: the sum of the logarithms of the posteriors of the tree's rules. Of
        a tree that was drawn, its `log_probability`.
    """

    tree: Tree
    log_probability: float
    score: float


@dataclass(frozen=True)
class _Way:
    """A rule above symbols of cells: its number, -1 for none; its score; and the symbols below."""

    rule: int
    score: float
    below: "tuple[_Item, ...]"


@dataclass
class _Item:
    """A symbol in a layer of a span, and its trees as far as they are known, best first."""

    layer: int
    symbol: int
    i: int
    j: int
    #: Score, way, and which tree of each symbol below.
    trees: list[tuple[float, _Way, tuple[int, ...]]] = field(default_factory=list)
    #: The same with the score's sign changed and a number that tells equals apart; None before it is looked at.
    heap: list[tuple[float, int, _Way, tuple[int, ...]]] | None = None
    #: Trees whose neighbours are not in the heap yet.
    done: int = 0
    exhausted: bool = False


class BestTrees:
    """The trees of a sentence by the product of their rules' posteriors, best first.

    charts: With inside and outside.
    chart: Of the first member.
    """

    def __init__(
        self, n: int, product: Product, charts: Charts, chart: Chart, best: BestDerivations, values: Sequence[float]
    ) -> None:
        self._n, self._rules, self._best = n, product.grammars[0].rules, best
        self._given = self._rules, product.members, charts, chart, best
        binary, unary = (
            np.bincount(rules[:, 0], minlength=1).max() for rules in (self._rules.binary, self._rules.unary)
        )
        most = max(int(binary) * n, int(unary), 1)
        self._found = kernels_tree_lists.Readings(np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most))
        self._items: dict[tuple[int, int, int, int], _Item] = {}
        self._serial = 0
        self._top = np.empty(len(self._rules.first) - 1)
        top = cell_of(0, n)
        kernels_tree_lists.tops(top, product.members, charts, self._top)
        self._top -= sum(values) - charts.scale[:, top].sum()  # so that they are posteriors

    def __iter__(self) -> Iterator[tuple[float, list[Step]]]:
        """Yield score and steps of each tree."""
        top, number = self._item(_TOP, -1, 0, self._n), 0
        while self._grown(top, number):
            yield top.trees[number][0], self._steps(top, number)
            number += 1

    def _item(self, layer: int, symbol: int, i: int, j: int) -> _Item:
        return self._items.setdefault((layer, symbol, i, j), _Item(layer, symbol, i, j))

    def _grown(self, goal: _Item, number: int) -> bool:
        """Find a symbol's trees up to the one with a number; return whether there is one."""
        waiting = [(goal, number)]
        while waiting:
            item, wanted = waiting[-1]
            if item.heap is None:
                self._open(item)
            assert item.heap is not None
            if item.exhausted or len(item.trees) > wanted:
                waiting.pop()
                continue
            if item.done < len(item.trees):
                _, way, ranks = item.trees[item.done]
                others = list(_neighbours(ranks))
                needed = [(way.below[k], rank) for other in others for k, rank in enumerate(other)]
                lacking = [one for one in needed if not (one[0].exhausted or len(one[0].trees) > one[1])]
                if lacking:
                    waiting.append(lacking[0])
                    continue
                for other in others:
                    below = list(zip(way.below, other, strict=True))
                    if all(len(one.trees) > rank for one, rank in below):
                        score = way.score + sum(one.trees[rank][0] for one, rank in below)
                        self._serial += 1
                        heapq.heappush(item.heap, (-score, self._serial, way, other))
                item.done += 1
            if not item.heap:
                item.exhausted = True
                continue
            score, _, way, ranks = heapq.heappop(item.heap)
            item.trees.append((-score, way, ranks))
        return len(goal.trees) > number

    def _open(self, item: _Item) -> None:
        """Put the best tree of each way to a symbol on its heap."""
        item.heap = []
        for way in self._ways(item):
            values = [self._best.lower if one.layer == _LOWER else self._best.upper for one in way.below]
            below = zip(values, way.below, strict=True)
            score = way.score + sum(float(own[cell_of(one.i, one.j), one.symbol]) for own, one in below)
            self._serial += 1
            item.heap.append((-score, self._serial, way, (0,) * len(way.below)))
        heapq.heapify(item.heap)

    def _ways(self, item: _Item) -> Iterator[_Way]:
        symbol, i, j = item.symbol, item.i, item.j
        if item.layer == _TOP:
            for c in np.flatnonzero(self._top > -np.inf).tolist():
                if self._best.upper[cell_of(i, j), c] > -np.inf:
                    yield _Way(-1, float(self._top[c]), (self._item(_UPPER, c, i, j),))
        elif item.layer == _UPPER:
            if self._best.lower[cell_of(i, j), symbol] > -np.inf:
                yield _Way(-1, 0.0, (self._item(_LOWER, symbol, i, j),))
            count = kernels_tree_lists.ways_above(cell_of(i, j), symbol, *self._given, self._found)
            for r, score in zip(self._found.rules[:count].tolist(), self._found.scores[:count].tolist(), strict=True):
                yield _Way(r, score, (self._item(_LOWER, int(self._rules.unary[r, 1]), i, j),))
        elif j - i == 1:
            yield _Way(-1, float(self._best.lower[cell_of(i, j), symbol]), ())
        else:
            count = kernels_tree_lists.ways_below(i, j, symbol, *self._given, self._found)
            for r, k, score in zip(*(values[:count].tolist() for values in self._found), strict=True):
                left, right = self._rules.binary[r, 1:].tolist()
                yield _Way(r, score, (self._item(_UPPER, left, i, k), self._item(_UPPER, right, k, j)))

    def _steps(self, top: _Item, number: int) -> list[Step]:
        steps, waiting = list[list[int]](), [(top, number, -1, 0)]
        while waiting:
            item, rank, above, column = waiting.pop()
            self._grown(item, rank)
            _, way, ranks = item.trees[rank]
            if way.rule >= 0 or not way.below:
                if above >= 0:
                    steps[above][column] = len(steps)
                steps.append([item.symbol, way.rule, -1, -1])
                above, column = len(steps) - 1, kernels_tree_lists.LEFT
            below = [(one, r, above, column + k) for k, (one, r) in enumerate(zip(way.below, ranks, strict=True))]
            waiting += reversed(below)
        return [(symbol, rule, left, right) for symbol, rule, left, right in steps]


def _neighbours(ranks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield what follows a choice of trees of one or two symbols below; each choice follows one other alone."""
    if ranks:
        yield (*ranks[:-1], ranks[-1] + 1)
        if len(ranks) == 2 and ranks[1] == 0:
            yield ranks[0] + 1, 0


def best_trees(
    sentence: Sequence[str],
    tags: Sequence[str],
    words: Sequence[np.ndarray],
    product: Product,
    allowed: np.ndarray,
    k: int,
) -> list[ScoredTree]:
    """Return the k best trees of a sentence, best first; fewer where there are no more, none where there is none.

    The first is that of `decoding.best_tree`, unless others are as good. Parameters are as there.
    """
    n, grammar = len(sentence), product.grammars[0]
    charts, parts, values = filled(words, product, allowed)
    if -np.inf in values:
        return []
    best, top = max_rule(n, product, charts, parts[0])
    if top < 0:
        return []
    found: dict[str, ScoredTree] = {}
    for score, steps in islice(BestTrees(n, product, charts, parts[0], best, values), _MORE * k):
        tree = tree_of(steps, sentence, tags, grammar)
        name = str(tree)
        if name not in found:
            found[name] = ScoredTree(tree, _conditional(steps, words, product, values), score)
            if len(found) == k:
                break
    return list(found.values())


def drawn_trees(
    sentence: Sequence[str],
    tags: Sequence[str],
    words: Sequence[np.ndarray],
    product: Product,
    allowed: np.ndarray,
    size: int,
    random: np.random.Generator,
) -> list[ScoredTree]:
    """Return trees of a sentence that are drawn by their probability, of one member of a product or another.

    Parameters are as for `decoding.best_tree`.
    """
    n, grammar = len(sentence), product.grammars[0]
    _, parts, values = filled(words, product, allowed, outside=False)
    if -np.inf in values:
        return []
    waiting, steps = np.empty((2 * n, kernels_tree_lists.WAITING), np.int64), np.empty((4 * n, 4), np.int32)
    found = list[ScoredTree]()
    for member in random.integers(len(parts), size=size).tolist():
        rules, chart = product.grammars[member].rules, parts[member]
        count = kernels_tree_lists.draw(n, rules, chart, random.random(3 * n), waiting, steps)
        own = list(map(tuple, steps[:count].tolist()))
        value = _conditional(own, words, product, values)
        found.append(ScoredTree(tree_of(own, sentence, tags, grammar), value, value))
    return found


def _conditional(
    steps: Sequence[Step], words: Sequence[np.ndarray], product: Product, values: Sequence[float]
) -> float:
    """Return the logarithm of the mean of a tree's probabilities under the members, given the sentence."""
    logs = [
        log_probability(steps, own, grammar) - value
        for own, grammar, value in zip(words, product.grammars, values, strict=True)
    ]
    return float(np.logaddexp.reduce(logs) - np.log(len(logs)))
