"""Parsing sentences: a coarse grammar says which symbols a span may have, then the chart of the whole one is filled.

Coarse-to-fine (Charniak et al. 2006; Petrov & Klein 2007): the coarse grammar has no substates, no labels of what is
above and no siblings of intermediate symbols; its rules are as frequent as those of the grammar that it is made of.
Symbols whose class has a posterior under a threshold above a span are left out of the chart there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.constituents import kernels_best, kernels_chart, kernels_coarse, kernels_trees
from aligntools.constituents.binarization import ABOVE, BESIDE, restore
from aligntools.constituents.grammar import ConstituentGrammar
from aligntools.formats.annotation.brackets import Tree

#: Symbol, rule, left child, right child.
Step = tuple[int, int, int, int]


def tree_of(steps: Sequence[Step], sentence: Sequence[str], tags: Sequence[str], grammar: ConstituentGrammar) -> Tree:
    """Return the tree of a derivation, as in the treebank.

    sentence, tags: Words, and a tag of each, or "" where it has none.
    """
    trees, word = [Tree("")] * len(steps), len(sentence)
    for number in range(len(steps) - 1, -1, -1):
        symbol, rule, left, right = steps[number]
        if rule < 0:
            word -= 1
            trees[number] = Tree(tags[word] or grammar.symbols[symbol], [], sentence[word])
        elif right >= 0:
            trees[number] = Tree(grammar.symbols[symbol], [trees[left], trees[right]])
        else:
            node = trees[left]
            for label in reversed(grammar.paths[rule]):
                node = Tree(label, [node])
            trees[number] = Tree(grammar.symbols[symbol], [node])
    return restore(trees[0])


def log_probability(steps: Sequence[Step], words: np.ndarray, grammar: ConstituentGrammar) -> float:
    """Return the log-probability of a tree of symbols and its words, summed over substates.

    words (float64 [words, states of tags]): p(word | state), up to a factor.
    """
    size, first = len(steps), grammar.first
    symbols, numbers, *below = np.array(steps, np.int32)[::-1].T.copy()  # children before their parents
    left, right = (np.where(child < 0, -1, size - 1 - child).astype(np.int32) for child in below)
    leaves = np.flatnonzero(numbers < 0)  # from the last word on
    words_at = np.arange(len(words))[::-1] * words.shape[1] + first[symbols[leaves]]
    numbers[leaves] = np.arange(len(leaves))
    nodes = kernels_trees.Nodes(np.array([0, size]), symbols, left, right, numbers)
    blocks = grammar.binary_at, grammar.binary_weights, grammar.unary_at, grammar.unary_weights
    weights = kernels_trees.RuleWeights(first, *blocks, words_at, words.ravel(), grammar.roots)
    return float(kernels_trees.log_probability(nodes, weights, np.empty((size, int(np.diff(first).max())))))


#: Behind what a symbol is without annotation.
_ANNOTATED = re.compile("|".join(map(re.escape, (ABOVE, BESIDE))))


@dataclass(frozen=True, eq=False)
class Product:
    """Grammars to parse with together (Petrov 2010).

    grammars: Their symbols and rules are the same, their substates and weights are not.
    """

    grammars: tuple[ConstituentGrammar, ...]
    members: kernels_best.Members

    @classmethod
    def of(cls, *grammars: ConstituentGrammar) -> "Product":
        """Return grammars as kernels read them; one is a product, too."""
        width, rules = max(own.n_states for own in grammars), [own.rules for own in grammars]
        members = kernels_best.Members(
            np.stack([own.first for own in grammars]),
            _begins([own.binary_at for own in rules]),
            _joined([own.binary_states for own in rules]),
            _joined([own.binary_weights for own in rules]),
            _begins([own.unary_at for own in rules]),
            _joined([own.unary_states for own in rules]),
            _joined([own.unary_weights for own in rules]),
            np.stack([np.pad(own.roots, (0, width - own.n_states)) for own in grammars]),
        )
        return cls(grammars, members)

    @property
    def first(self) -> "Product":
        """The first member alone."""
        return self if len(self.grammars) == 1 else Product.of(self.grammars[0])

    def charts(self, n: int, allowed: np.ndarray) -> tuple[kernels_best.Charts, list[kernels_chart.Chart]]:
        """Return the memory of a sentence of n words, whose cells may have some symbols, and each member's part."""
        cells, symbols = n * (n + 1) // 2, len(self.grammars[0].symbols)
        shape = len(self.grammars), cells, self.members.roots.shape[1]
        four = [np.empty(shape) for _ in range(4)]
        found = kernels_best.Charts(four[0], four[1], four[2], four[3], np.empty(shape[:2]))
        parts = list[kernels_chart.Chart]()
        for lower, upper, out_lower, out_upper, scale in zip(*found, strict=True):
            live, n_live = np.empty((cells, symbols), np.int32), np.empty(cells, np.int32)
            parts.append(kernels_chart.Chart(lower, upper, out_lower, out_upper, scale, live, n_live, allowed))
        return found, parts


def _begins(offsets: Sequence[np.ndarray]) -> np.ndarray:
    """Return where the weights of each member's rules begin among those of all: int64 [members, rules + 1]."""
    sizes = np.append(0, np.cumsum([own[-1] for own in offsets]))[:-1]
    return np.stack([own + begin for own, begin in zip(offsets, sizes, strict=True)])


def _joined(own: Sequence[np.ndarray]) -> np.ndarray:
    """Return weights or states of all members; those of one are not copied."""
    return own[0] if len(own) == 1 else np.concatenate(own)


@dataclass(frozen=True, eq=False)
class Pruning:
    """A coarse grammar.

    classes (int64 [symbols]): Of each symbol of the whole grammar.
    rules: Of the coarse one.
    """

    grammar: ConstituentGrammar
    classes: np.ndarray
    rules: kernels_coarse.CoarseRules

    @classmethod
    def of(cls, grammar: ConstituentGrammar, frequencies: np.ndarray) -> "Pruning":
        """Return the coarse grammar of a grammar; `frequencies` are those of states."""
        names, classes = list[str](), list[int]()
        n_tags = 0
        for part in (grammar.symbols[: grammar.n_tags], grammar.symbols[grammar.n_tags :]):
            known: dict[str, int] = {}
            for symbol in part:
                # tags are as they are; where an escaped label is cut does not matter, as long as it is alike
                name = symbol if not n_tags else _ANNOTATED.split(symbol, maxsplit=1)[0]
                if name not in known:
                    known[name] = len(names)
                    names.append(symbol)  # whole: a tree's labels are found by what they are escaped with
                classes.append(known[name])
            n_tags = n_tags or len(names)
        found = np.array(classes, np.int64)
        coarse = grammar.projected(frequencies, found, tuple(names), n_tags)
        pairs, numbers = np.unique(coarse.binary[:, 1:], axis=0, return_inverse=True)  # in order
        binary = np.stack([coarse.binary[:, 0], numbers.ravel().astype(np.int32)], 1)
        by_left = np.searchsorted(pairs[:, 0], np.arange(len(names) + 1)).astype(np.int64)
        right, unary = np.ascontiguousarray(pairs[:, 1]), np.ascontiguousarray(coarse.unary)
        rules = kernels_coarse.CoarseRules(
            binary, coarse.binary_weights, right, by_left, unary, coarse.unary_weights, coarse.roots
        )
        return cls(coarse, found, rules)

    def allowed(self, words: np.ndarray, least: float) -> np.ndarray | None:
        """Return which symbols of the whole grammar each cell may have; None where there is no tree.

        words (float64 [words, tags]).
        Returns bool [cells, symbols].
        """
        n, size = len(words), self.grammar.n_states
        cells = n * (n + 1) // 2
        lower, upper, out_upper = (np.empty((cells, size)) for _ in range(3))
        sums = np.empty(len(self.rules.right))
        live, n_live = np.empty((cells, size), np.int32), np.empty(cells, np.int32)
        scale, out_lower = np.empty(cells), np.empty(size)
        memory = kernels_coarse.CoarseChart(lower, upper, out_upper, scale, out_lower, sums, live, n_live)
        found = np.zeros((cells, size), np.bool_)
        if not kernels_coarse.probable(n, words, self.rules, memory, least, found):
            return None
        return np.ascontiguousarray(found[:, self.classes])


def best_tree(
    sentence: Sequence[str],
    tags: Sequence[str],
    words: Sequence[np.ndarray],
    product: Product,
    allowed: np.ndarray,
    decode: str,
) -> tuple[Tree | None, float]:
    """Return the best tree of a sentence and its log-probability; no tree where there is none of what is allowed.

    words (sequence of float64 [words, states of tags]): Of each member p(word | state), up to a factor.
    allowed (bool [cells, symbols]): Which symbols each cell may have.
    decode: The most probable derivation is that of the first member.
    Returns value: Mean of the log-probabilities of the members that were looked at.
    """
    n, grammar = len(sentence), product.grammars[0]
    if decode == "viterbi":
        words, product = words[:1], product.first
    charts, parts, values = filled(words, product, allowed, outside=decode != "viterbi")
    if -np.inf in values:
        return None, -np.inf
    if decode == "viterbi":
        best = _best(n, grammar.n_states, True)
        top = kernels_best.viterbi(n, words[0], grammar.rules, parts[0], best)[0]
    else:
        best, top = max_rule(n, product, charts, parts[0])
    tree = None if top < 0 else tree_of(_steps(best, top, n, grammar), sentence, tags, grammar)
    return tree, sum(values) / len(values)


def filled(
    words: Sequence[np.ndarray], product: Product, allowed: np.ndarray, outside: bool = True
) -> tuple[kernels_best.Charts, list[kernels_chart.Chart], list[float]]:
    """Return charts of a sentence, each member's part of them, and the members' log-probabilities.

    Where one of these is -inf, the charts are not filled.
    """
    charts, parts = product.charts(len(words[0]), allowed)
    members = list(zip(words, product.grammars, parts, strict=True))
    values = [kernels_chart.fill_inside(len(own), own, grammar.rules, chart) for own, grammar, chart in members]
    if outside and -np.inf not in values:
        for own, grammar, chart in members:
            kernels_chart.fill_outside(len(own), grammar.rules, chart)
    return charts, parts, values


def max_rule(
    n: int, product: Product, charts: kernels_best.Charts, chart: kernels_chart.Chart
) -> tuple[kernels_best.BestDerivations, int]:
    """Return the best rules of symbols; `kernels_best.max_rule` says how."""
    grammar = product.grammars[0]
    best = _best(n, len(grammar.symbols), False)
    return best, kernels_best.max_rule(n, grammar.rules, product.members, charts, chart, best)


def _best(n: int, size: int, states: bool) -> kernels_best.BestDerivations:
    cells, own = n * (n + 1) // 2, size if states else 0
    lower, upper = (np.empty((cells, size)) for _ in range(2))
    rules, places, above = (np.empty((cells, size), np.int32) for _ in range(3))
    parts, below = np.empty((cells, own, 2), np.int32), np.empty((cells, own), np.int32)
    return kernels_best.BestDerivations(lower, upper, rules, places, above, parts, below)


def _steps(best: kernels_best.BestDerivations, top: int, n: int, grammar: ConstituentGrammar) -> list[Step]:
    """Return the derivation that best rules of symbols, or of states, make."""
    of_states = best.parts.shape[1] > 0
    symbol_of = np.arange(len(grammar.symbols))
    if of_states:
        symbol_of = symbol_of.repeat(grammar.substates)
    steps = list[list[int]]()
    waiting: list[tuple[int, int, int, bool, int, int]] = [(top, 0, n, True, -1, 0)]
    while waiting:
        own, i, j, upper, above, column = waiting.pop()
        cell, here = j * (j - 1) // 2 + i, len(steps)
        if above >= 0:
            steps[above][column] = here
        if upper and best.above[cell, own] >= 0:
            rule = int(best.above[cell, own])
            below = int(best.below[cell, own]) if of_states else int(grammar.unary[rule, 1])
            waiting.append((below, i, j, False, here, 2))
        elif j - i == 1:
            rule = -1
        else:
            rule, k = int(best.rules[cell, own]), int(best.places[cell, own])
            left, right = best.parts[cell, own] if of_states else grammar.binary[rule, 1:]
            waiting += [(int(right), k, j, True, here, 3), (int(left), i, k, True, here, 2)]
        steps.append([int(symbol_of[own]), rule, -1, -1])
    return [(symbol, rule, left, right) for symbol, rule, left, right in steps]
