"""Trees of a treebank in arrays: their rules, and their nodes by rule."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.constituents.binarization import binarize
from aligntools.constituents.grammar import ConstituentGrammar
from aligntools.constituents.kernels_trees import Nodes
from aligntools.constituents.lexicon import Occurrences
from aligntools.formats.annotation.brackets import Tree, escaped


@dataclass(frozen=True, eq=False)
class Treebank:
    """A treebank and its grammar.

    grammar: Without substates; its weights are counts.
    occurrences: Of words.
    pair_counts (float64 [pairs of word and tag]).
    """

    grammar: ConstituentGrammar
    nodes: Nodes
    occurrences: Occurrences
    pair_counts: np.ndarray


def treebank(trees: Sequence[Tree], horizontal: int, vertical: int) -> Treebank:
    """Return the grammar of trees, and the trees as nodes with its rules.

    trees: Not binary, none empty.
    horizontal, vertical: As for `binarization.binarize`.
    """
    flat = [_nodes(binarize(tree, horizontal, vertical)) for tree in trees]
    tags = sorted({label for nodes in flat for label, left, *_ in nodes if left < 0}, key=escaped)
    labels = sorted({label for nodes in flat for label, left, *_ in nodes if left >= 0}, key=escaped)
    own = {label: k for k, label in enumerate(tags)}
    # a tag may be called like a constituent, and is another symbol
    others = {label: len(tags) + k for k, label in enumerate(labels)}
    binary, unary, roots = Counter[tuple[int, int, int]](), Counter[tuple[int, int]](), Counter[int]()
    paths: dict[tuple[int, int], Counter[tuple[str, ...]]] = defaultdict(Counter)
    numbered = []
    for nodes in flat:
        symbols = [(own if left < 0 else others)[label] for label, left, *_ in nodes]
        numbered.append(symbols)
        roots[symbols[-1]] += 1
        for symbol, (_, left, right, path, _) in zip(symbols, nodes, strict=True):
            if right >= 0:
                binary[symbols[left], symbols[right], symbol] += 1
            elif left >= 0:
                unary[symbols[left], symbol] += 1
                paths[symbols[left], symbol][path] += 1
    binary_rules, unary_rules = sorted(binary), sorted(unary)
    grammar = ConstituentGrammar(
        (*tags, *labels),
        len(tags),
        np.ones(len(tags) + len(labels), np.int32),
        np.array([(parent, *children) for *children, parent in binary_rules], np.int32).reshape(-1, 3),
        np.array([binary[rule] for rule in binary_rules], np.float64),
        np.array([(p, c) for c, p in unary_rules], np.int32).reshape(-1, 2),
        np.array([unary[rule] for rule in unary_rules], np.float64),
        np.bincount(list(roots), list(roots.values()), len(tags) + len(labels)).astype(np.float64),
        tuple(min(paths[rule].items(), key=lambda item: (-item[1], item[0]))[0] for rule in unary_rules),
    )
    sentences = [
        (
            [word for *_, word in nodes if word is not None],
            [symbol for symbol, (_, left, *_) in zip(symbols, nodes, strict=True) if left < 0],
        )
        for symbols, nodes in zip(numbered, flat, strict=True)
    ]
    occurrences, pairs = Occurrences.of(sentences)
    binary_numbers = {rule: k for k, rule in enumerate(binary_rules)}
    unary_numbers = {rule: k for k, rule in enumerate(unary_rules)}
    rules = list[int]()
    for symbols, nodes, of_words in zip(numbered, flat, pairs, strict=True):
        leaves = iter(of_words)
        for symbol, (_, left, right, *_) in zip(symbols, nodes, strict=True):
            if left < 0:
                rules.append(next(leaves))
            elif right < 0:
                rules.append(unary_numbers[symbols[left], symbol])
            else:
                rules.append(binary_numbers[symbols[left], symbols[right], symbol])
    every = [node for nodes in flat for node in nodes]
    nodes_array = Nodes(
        np.append(0, np.cumsum([len(nodes) for nodes in flat])).astype(np.int64),
        np.array([symbol for symbols in numbered for symbol in symbols], np.int32),
        np.array([left for _, left, *_ in every], np.int32),
        np.array([right for _, _, right, *_ in every], np.int32),
        np.array(rules, np.int32),
    )
    counts = np.bincount([pair for own in pairs for pair in own], minlength=len(occurrences.pairs)).astype(np.float64)
    return Treebank(grammar, nodes_array, occurrences, counts)


def _nodes(tree: Tree) -> list[tuple[str, int, int, tuple[str, ...], str | None]]:
    """Return the nodes of a binary tree after their children: label, children, labels between, word.

    Of a chain of constituents with one child, the last is the child of the first.
    """
    found: list[tuple[str, int, int, tuple[str, ...], str | None]] = []
    done: list[int] = []
    waiting: list[tuple[Tree, tuple[str, ...] | None]] = [(tree, None)]
    while waiting:
        node, path = waiting.pop()
        if path is None and node.word is None:
            between, below = list[str](), node.children
            if len(below) == 1:
                while len(below[0].children) == 1:
                    between.append(below[0].label)
                    below = below[0].children
            waiting.append((node, tuple(between)))
            waiting += [(child, None) for child in reversed(below)]
        elif node.word is not None:
            found.append((node.label, -1, -1, (), node.word))
            done.append(len(found) - 1)
        else:
            right = done.pop() if len(node.children) == 2 else -1
            left = done.pop()
            found.append((node.label, left, right, path or (), None))
            done.append(len(found) - 1)
    return found
