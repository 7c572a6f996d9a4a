"""Derivations of a sentence as lists of steps, and the trees that they are.

A step is a node of a binary tree: symbol, rule (-1 of a tag), and the steps of its children (-1 for none). Parents come
before their children, and what is to the left before what is to the right.
"""

from collections.abc import Sequence

import numpy as np

from aligntools.constituents import kernels_listed
from aligntools.constituents.binarization import restore
from aligntools.constituents.grammar import ConstituentGrammar
from aligntools.constituents.kernels_chart import Rules
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


def log_probability(steps: Sequence[Step], words: np.ndarray, rules: Rules) -> float:
    """Return the log-probability of a tree of symbols and its words, summed over substates.

    words (float64 [words, states of tags]): p(word | state), up to a factor.
    """
    array = np.array(steps, np.int32)
    inside = np.empty((len(array), int(np.diff(rules.first).max())))
    value: float = kernels_listed.value_of(array, len(array), words, rules, inside)
    return value
