"""Building and walking a trie over the source sides of a grammar's rules.

A node is a number; the root is 0. A step from node ``v`` by a word is found in an open-addressing table under the key
``v << 32 | word`` (a word's id is positive, so 0 is free); a step by a nonterminal, whichever of the two, is in an
array.
"""

import numpy as np

from aligntools.ground.compiler import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)


@kernel(inline=True)
def _place_of(keys, key):
    """Return where a step is, or the free place for it."""
    mask = np.uint64(keys.shape[0] - 1)
    code = key * _MIX
    place = (code ^ (code >> _SHIFT)) & mask
    while keys[place] != key and keys[place] != 0:
        place = (place + np.uint64(1)) & mask
    return place


@kernel(inline=True)
def find_step(keys, children, node, word):
    """Return the node that a word leads to, or -1; no step is by word 0."""
    if word <= 0:
        return np.int64(-1)
    place = _place_of(keys, (np.uint64(node) << _SHIFT) | np.uint64(word))
    return np.int64(-1) if keys[place] == 0 else np.int64(children[place])


@kernel
def move_steps(keys, children, new_keys, new_children):
    """Enter all steps of a table in a larger, empty one."""
    for k in range(keys.shape[0]):
        if keys[k] != 0:
            place = _place_of(new_keys, keys[k])
            new_keys[place], new_children[place] = keys[k], children[k]


@kernel
def enter_rules(rule, source_offsets, source, used, keys, children, by_gap, ends):
    """Walk rules down from the root and make the nodes that are missing; stop where the arrays may not hold more.

    rule (int): Where to begin.
    source_offsets (int64 [rules + 1]), keys (uint64 [a power of two]), children (int32 [as many]).
    source (int32): Words (positive) and nonterminals (negative).
    used (int64 [2]): Nodes and steps by words so far; brought up to date.
    by_gap (int32 [nodes at most]): Where a nonterminal leads, -1 where nowhere.
    ends (int32 [rules], output): The node that each rule's source side leads to.
    Returns the rule to continue with once the arrays have grown; the number of rules when done.
    """
    rules = source_offsets.shape[0] - 1
    while rule < rules:
        begin, end = source_offsets[rule], source_offsets[rule + 1]
        size = end - begin
        if rule > 0 and source_offsets[rule] - source_offsets[rule - 1] == size:
            same = True
            for k in range(size):
                if source[begin + k] != source[begin - size + k]:
                    same = False
                    break
            if same:
                ends[rule] = ends[rule - 1]
                rule += 1
                continue
        if used[0] + size > by_gap.shape[0] or 2 * (used[1] + size) > keys.shape[0]:
            return rule
        node = np.int64(0)
        for k in range(begin, end):
            symbol = np.int64(source[k])
            child = np.int64(by_gap[node]) if symbol < 0 else find_step(keys, children, node, symbol)
            if child < 0:
                child = used[0]
                used[0] += 1
                by_gap[child] = -1
                if symbol < 0:
                    by_gap[node] = child
                else:
                    key = (np.uint64(node) << _SHIFT) | np.uint64(symbol)
                    place = _place_of(keys, key)
                    keys[place], children[place] = key, child
                    used[1] += 1
            node = child
        ends[rule] = node
        rule += 1
    return rule
