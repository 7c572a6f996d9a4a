"""A grammar's rules by their source sides: what the decoder walks over a sentence."""

from dataclasses import dataclass

import numpy as np

from aligntools.translating.grammar import kernels_trie


@dataclass(eq=False)
class Trie:
    """A trie over source sides; weights do not enter it, so tuning builds it once.

    keys, children (uint64, int32 [a power of two]): Steps by words (see `kernels_trie`).
    by_gap (int32 [nodes]): The step by a nonterminal, -1 where there is none.
    rule_at (int64 [nodes + 1]): Where the rules of each node begin in ``rules``.
    rules (int32 [rules]): Rule numbers, node after node.
    """

    keys: np.ndarray
    children: np.ndarray
    by_gap: np.ndarray
    rule_at: np.ndarray
    rules: np.ndarray

    def __len__(self) -> int:
        return len(self.by_gap)

    def ordered(self, scores: np.ndarray) -> np.ndarray:
        """Return ``rules`` with each node's in falling order of score [float32, one a rule], equals by number."""
        rules = self.rules.copy()
        kernels_trie.order_rules(0, len(self), self.rule_at, rules, np.ascontiguousarray(scores, np.float32))
        return rules


def build_trie(source_offsets: np.ndarray, source: np.ndarray) -> Trie:
    """Build the trie of a grammar's source sides.

    source_offsets (int64 [rules + 1]).
    source (int32): Word ids (positive), -1 and -2 for the nonterminals; rules with the same source side follow one
        another (where they do not, building only takes longer).
    """
    n_rules = len(source_offsets) - 1
    longest = int(np.diff(source_offsets).max(initial=0))
    keys, children = np.zeros(1 << 12, np.uint64), np.empty(1 << 12, np.int32)
    by_gap = np.full(1 << 11, -1, np.int32)
    ends = np.empty(n_rules, np.int32)
    used = np.array([1, 0], np.int64)
    rule = 0
    while True:
        rule = kernels_trie.enter_rules(rule, source_offsets, source, used, keys, children, by_gap, ends)
        if rule == n_rules:
            break
        if used[0] + longest > len(by_gap):
            by_gap = np.concatenate([by_gap, np.full(len(by_gap) + longest, -1, np.int32)])
        if 2 * (used[1] + longest) > len(keys):
            size = 1 << int(4 * (used[1] + longest)).bit_length()
            new_keys, new_children = np.zeros(size, np.uint64), np.empty(size, np.int32)
            kernels_trie.move_steps(keys, children, new_keys, new_children)
            keys, children = new_keys, new_children
    nodes = int(used[0])
    rule_at = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=nodes), out=rule_at[1:])
    rules = np.argsort(ends, kind="stable").astype(np.int32)
    return Trie(keys, children, by_gap[:nodes].copy(), rule_at, rules)
