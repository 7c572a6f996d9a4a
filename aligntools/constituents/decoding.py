"""Parsing sentences: a coarse grammar says which symbols a span may have, then the chart of the whole one is filled.

Coarse-to-fine (Charniak et al. 2006; Petrov & Klein 2007): the coarse grammar has no substates, no labels of what is
above and no siblings of intermediate symbols; its rules are as frequent as those of the grammar that it is made of.
Symbols whose class has a posterior under a threshold above a span are left out of the chart there.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.constituents import kernels_best, kernels_chart, kernels_coarse
from aligntools.constituents.binarizing import ABOVE, BESIDE, restore
from aligntools.constituents.grammar import Grammar
from aligntools.formats.annotation.brackets import Tree

#: Behind what a symbol is without annotation.
_ANNOTATED = re.compile("|".join(map(re.escape, (ABOVE, BESIDE))))


@dataclass(frozen=True, eq=False)
class Level:
    """A grammar to parse with.

    Attributes
    ----------
    grammar : Grammar
    rules : kernels_chart.Rules
    """

    grammar: Grammar
    rules: kernels_chart.Rules

    @classmethod
    def of(cls, grammar: Grammar) -> "Level":
        """Return a grammar as kernels read it."""
        rules = kernels_chart.Rules(
            grammar.first,
            np.ascontiguousarray(grammar.binary),
            grammar.binary_at,
            grammar.binary_weights,
            grammar.by_left,
            np.ascontiguousarray(grammar.unary),
            grammar.unary_at,
            grammar.unary_weights,
            grammar.by_child,
            grammar.roots,
        )
        return cls(grammar, rules)


@dataclass(frozen=True, eq=False)
class Product:
    """Grammars to parse with together (Petrov 2010).

    Attributes
    ----------
    levels : tuple of Level
        Their symbols and rules are the same, their substates and weights are not.
    members : kernels_best.Members
        Their weights side by side.
    """

    levels: tuple[Level, ...]
    members: kernels_best.Members

    @classmethod
    def of(cls, *grammars: Grammar) -> "Product":
        """Return grammars as kernels read them; one is a product, too."""
        levels = tuple(map(Level.of, grammars))
        width = max(own.n_states for own in grammars)
        members = kernels_best.Members(
            np.stack([own.first for own in grammars]),
            _begins([own.binary_at for own in grammars]),
            _joined([own.binary_weights for own in grammars]),
            _begins([own.unary_at for own in grammars]),
            _joined([own.unary_weights for own in grammars]),
            np.stack([np.pad(own.roots, (0, width - own.n_states)) for own in grammars]),
        )
        return cls(levels, members)

    def charts(self, n: int, allowed: np.ndarray) -> tuple[kernels_best.Charts, list[kernels_chart.Chart]]:
        """Return the memory of a sentence of n words, whose cells may have some symbols, and each member's part."""
        cells, symbols = n * (n + 1) // 2, len(self.levels[0].grammar.symbols)
        shape = len(self.levels), cells, self.members.roots.shape[1]
        four = [np.empty(shape) for _ in range(4)]
        found = kernels_best.Charts(four[0], four[1], four[2], four[3], np.empty(shape[:2]))
        parts = list[kernels_chart.Chart]()
        for lower, upper, out_lower, out_upper, scale in zip(*found, strict=True):
            live, n_live = np.empty((cells, symbols), np.int32), np.empty(cells, np.int32)
            parts.append(kernels_chart.Chart(lower, upper, out_lower, out_upper, scale, live, n_live, allowed))
        return found, parts


def _begins(offsets: Sequence[np.ndarray]) -> np.ndarray:
    """Return where the blocks of each member begin among those of all: int64 [members, blocks + 1]."""
    sizes = np.append(0, np.cumsum([own[-1] for own in offsets]))[:-1]
    return np.stack([own + begin for own, begin in zip(offsets, sizes, strict=True)])


def _joined(weights: Sequence[np.ndarray]) -> np.ndarray:
    """Return weights of all members; those of one are not copied."""
    return weights[0] if len(weights) == 1 else np.concatenate(weights)


@dataclass(frozen=True, eq=False)
class Pruning:
    """A coarse grammar.

    Attributes
    ----------
    level : Level
    classes : int64 [symbols]
        Of each symbol of the whole grammar.
    right : int32 [binary rules]
        The right child of each rule of the coarse one.
    """

    level: Level
    classes: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, grammar: Grammar, frequencies: np.ndarray) -> "Pruning":
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
                    names.append(name)
                classes.append(known[name])
            n_tags = n_tags or len(names)
        found = np.array(classes, np.int64)
        level = Level.of(grammar.projected(frequencies, found, tuple(names), n_tags))
        return cls(level, found, np.ascontiguousarray(level.grammar.binary[:, 2]))

    def allowed(self, words: np.ndarray, least: float) -> np.ndarray | None:
        """Return which symbols of the whole grammar each cell may have; None where there is no tree.

        Parameters
        ----------
        words : float64 [words, tags]
        least : float

        Returns
        -------
        bool [cells, symbols]
        """
        n, size = len(words), self.level.grammar.n_states
        cells = n * (n + 1) // 2
        lower, upper, out_upper = (np.empty((cells, size)) for _ in range(3))
        sums = np.empty(len(self.right))
        live, n_live = np.empty((cells, size), np.int32), np.empty(cells, np.int32)
        scale, out_lower = np.empty(cells), np.empty(size)
        memory = kernels_coarse.Coarse(lower, upper, out_upper, scale, out_lower, sums, self.right, live, n_live)
        found = np.zeros((cells, size), np.bool_)
        if not kernels_coarse.probable(n, words, self.level.rules, memory, least, found):
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

    Parameters
    ----------
    sentence, tags : sequence of str
        Words, and a tag of each, or "" where it has none.
    words : sequence of float64 [words, states of tags]
        Of each member p(word | state), up to a factor.
    product : Product
    allowed : bool [cells, symbols]
        Which symbols each cell may have.
    decode : str
        The most probable derivation is that of the first member.

    Returns
    -------
    tree : Tree or None
    value : float
        Mean of the log-probabilities of the members that were looked at.
    """
    n, grammar = len(sentence), product.levels[0].grammar
    charts, parts = product.charts(n, allowed)
    members = list(zip(words, product.levels, parts, strict=True))
    if decode == "viterbi":
        members = members[:1]
    values = [kernels_chart.fill_inside(n, own, level.rules, chart) for own, level, chart in members]
    value = sum(values) / len(values)
    if value == -np.inf:
        return None, value
    if decode == "viterbi":
        best = _derivation(n, *members[0])
    else:
        for _, level, chart in members:
            kernels_chart.fill_outside(n, level.rules, chart)
        best = _by_rules(n, product, charts, parts[0])
    return (None if best is None else _tree(best, sentence, tags, grammar, n)), value


#: A chosen tree: the rule, the place where its children part, and the unary rule above, by cell and symbol or state;
#: and the symbol or state at the top.
_Chosen = tuple[kernels_best.Best, int, bool]


def _best(cells: int, size: int, states: bool) -> kernels_best.Best:
    own = size if states else 0
    lower, upper = (np.empty((cells, size)) for _ in range(2))
    rules, places, above = (np.empty((cells, size), np.int32) for _ in range(3))
    parts, below = np.empty((cells, own, 2), np.int32), np.empty((cells, own), np.int32)
    return kernels_best.Best(lower, upper, rules, places, above, parts, below)


def _by_rules(n: int, product: Product, charts: kernels_best.Charts, chart: kernels_chart.Chart) -> _Chosen | None:
    level = product.levels[0]
    best = _best(n * (n + 1) // 2, len(level.grammar.symbols), False)
    top = kernels_best.max_rule(n, level.rules, product.members, charts, chart, best)
    return None if top < 0 else (best, top, False)


def _derivation(n: int, words: np.ndarray, level: Level, chart: kernels_chart.Chart) -> _Chosen | None:
    best = _best(n * (n + 1) // 2, level.grammar.n_states, True)
    top, _ = kernels_best.viterbi(n, words, level.rules, chart, best)
    return None if top < 0 else (best, top, True)


def _tree(chosen: _Chosen, sentence: Sequence[str], tags: Sequence[str], grammar: Grammar, n: int) -> Tree:
    """Return the tree that a chart's best rules make, as in the treebank."""
    best, top, of_states = chosen
    symbol_of = np.arange(len(grammar.symbols)).repeat(grammar.substates) if of_states else None
    root = Tree("")
    waiting: list[tuple[int, int, int, bool, Tree]] = [(top, 0, n, True, root)]
    while waiting:
        own, i, j, upper, parent = waiting.pop()
        cell = j * (j - 1) // 2 + i
        symbol = own if symbol_of is None else int(symbol_of[own])
        if upper and best.above[cell, own] >= 0:
            rule = int(best.above[cell, own])
            node = Tree(grammar.symbols[symbol])
            parent.children.append(node)
            for label in grammar.paths[rule]:
                node.children.append(Tree(label))
                node = node.children[0]
            below = int(best.below[cell, own]) if of_states else int(grammar.unary[rule, 1])
            waiting.append((below, i, j, False, node))
        elif j - i == 1:
            parent.children.append(Tree(tags[i] or grammar.symbols[symbol], [], sentence[i]))
        else:
            rule, k = int(best.rules[cell, own]), int(best.places[cell, own])
            node = Tree(grammar.symbols[symbol])
            parent.children.append(node)
            left, right = best.parts[cell, own] if of_states else grammar.binary[rule, 1:]
            waiting += [(int(right), k, j, True, node), (int(left), i, k, True, node)]
    return restore(root.children[0])
