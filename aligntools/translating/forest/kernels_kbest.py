"""The k best derivations of hypergraphs, if need be of different strings, found lazily from heaps at the nodes."""

from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.translating.forest.kernels_hypergraph import BASE, MIX2, mix

#: Columns of a k-best search's table of derivations, and of its table of nodes.
EDGE, FIRST, SECOND, NEXT, SIZE, LENGTH, CHILD, SIBLING = range(8)
LAST, PENDING, HEAP, STATE = range(4)
NEW, OPEN, EXHAUSTED = range(3)


class ScoredForest(NamedTuple):
    """A hypergraph with scores, as `kernels_kbest` takes it.

    edge_offsets, tails, word_offsets, words: See `Hypergraph`.
    """

    edge_offsets: np.ndarray
    tails: np.ndarray
    scores: np.ndarray  # float64 [edges]
    word_offsets: np.ndarray
    words: np.ndarray
    choice: np.ndarray  # int64 [nodes]: The best edge of each node; see `kernels_hypergraph.viterbi`


class SearchTables(NamedTuple):
    """Working memory of `k_best`.

    table (int32 [rows, 8], scores : float64 [rows], hashes : uint64 [rows, 2]): Derivations.
    """

    table: np.ndarray
    scores: np.ndarray
    hashes: np.ndarray
    nodes: np.ndarray  # int32 [nodes of the sentence, 4]
    seen: np.ndarray  # uint64 [a power of two, more than rows]: The strings of each node
    stack: np.ndarray  # int32 [nodes of the sentence + 1]


@kernel(inline=True, owning=False)
def better(scores, a, b):
    """Tell whether candidate ``a`` comes before ``b``: it scores more, or was made earlier."""
    return scores[a] > scores[b] or (scores[a] == scores[b] and a < b)


@kernel(inline=True, owning=False)
def meld(table, scores, a, b):
    """Join two pairing heaps, given by their tops (-1: empty), and return the top."""
    if a < 0:
        return b
    if b < 0:
        return a
    if better(scores, b, a):
        a, b = b, a
    table[b, SIBLING] = table[a, CHILD]
    table[a, CHILD] = b
    return a


@kernel(inline=True, owning=False)
def without_top(table, scores, top):
    """Return the heap without its top."""
    pairs = np.int64(-1)
    child = np.int64(table[top, CHILD])
    while child >= 0:
        other = np.int64(table[child, SIBLING])
        table[child, SIBLING] = -1
        following = np.int64(-1)
        if other >= 0:
            following = np.int64(table[other, SIBLING])
            table[other, SIBLING] = -1
        joined = np.int64(meld(table, scores, child, other))
        table[joined, SIBLING] = pairs
        pairs = joined
        child = following
    merged = np.int64(-1)
    while pairs >= 0:
        following = np.int64(table[pairs, SIBLING])
        table[pairs, SIBLING] = -1
        merged = np.int64(meld(table, scores, merged, pairs))
        pairs = following
    return merged


@kernel(inline=True, owning=False)
def compose(forest, search, d, e, first, second):
    """Fill row ``d`` with the derivation of edge ``e`` over derivations ``first`` and ``second`` (-1: none)."""
    table, scores, hashes, words = search.table, search.scores, search.hashes, forest.words
    table[d, EDGE], table[d, FIRST], table[d, SECOND] = e, first, second
    table[d, NEXT] = table[d, CHILD] = table[d, SIBLING] = -1
    size, length, score = 1, 0, forest.scores[e]
    if first >= 0:
        size += table[first, SIZE]
        length += table[first, LENGTH]
        score += scores[first]
    if second >= 0:
        size += table[second, SIZE]
        length += table[second, LENGTH]
        score += scores[second]
    h, power = np.uint64(0), np.uint64(1)
    for k in range(forest.word_offsets[e], forest.word_offsets[e + 1]):
        word = words[k]
        if word > 0:
            length += 1
            h = h * BASE + mix(np.uint64(word) * MIX2)
            power *= BASE
        else:
            t = first if word == -1 else second
            h = h * hashes[t, 1] + hashes[t, 0]
            power *= hashes[t, 1]
    table[d, SIZE], table[d, LENGTH], scores[d] = size, length, score
    hashes[d, 0], hashes[d, 1] = h, power


@kernel(inline=True, owning=False)
def is_new(seen, node, h):
    """Enter a string's hash for a node in the set ``seen``; tell whether it was not there."""
    key = mix(h + np.uint64(node + 1) * BASE) | np.uint64(1)
    mask = np.uint64(len(seen) - 1)
    slot = (key >> np.uint64(1)) & mask
    while seen[slot] != np.uint64(0):
        if seen[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & mask
    seen[slot] = key
    return True


@kernel(inline=True, fast=False, owning=False)
def tails_of(tails, e, begin):
    """Return the nodes below an edge, counted from ``begin``; -1 none."""
    first, second = np.int64(-1), np.int64(-1)
    if tails[e, 0] >= 0:
        first = np.int64(tails[e, 0] - begin)
    if tails[e, 1] >= 0:
        second = np.int64(tails[e, 1] - begin)
    return first, second


@kernel(inline=True, fast=False, owning=False)
def begin_search(forest, search, begin, end):
    """Put the best derivation of each node in the table."""
    nodes = search.nodes
    search.seen[:] = 0
    for v in range(begin, end):
        n = v - begin
        nodes[n, LAST], nodes[n, PENDING], nodes[n, HEAP], nodes[n, STATE] = n, n, -1, NEW
        e = np.int64(forest.choice[v])
        if e < 0:
            nodes[n, STATE] = EXHAUSTED
            continue
        first, second = tails_of(forest.tails, e, begin)
        compose(forest, search, n, e, first, second)


@kernel(inline=True, fast=False, owning=False)
def add_candidate(forest, search, used, e, first, second, heap):
    """Put a derivation in the table and on a heap; return the heap's top."""
    compose(forest, search, used, e, first, second)
    return np.int64(meld(search.table, search.scores, heap, used))


@kernel(inline=True, fast=False, owning=False)
def open_node(forest, search, begin, n, used):
    """Make the best derivation of each further edge of a node; return the rows used, -1 where they do not suffice."""
    nodes, v, heap = search.nodes, begin + n, np.int64(-1)
    nodes[n, STATE] = OPEN
    is_new(search.seen, n, search.hashes[n, 0])
    for e in range(forest.edge_offsets[v], forest.edge_offsets[v + 1]):
        if e == forest.choice[v] or forest.scores[e] == -np.inf:
            continue
        first, second = tails_of(forest.tails, e, begin)
        if first >= 0 and forest.choice[begin + first] < 0:
            continue
        if second >= 0 and forest.choice[begin + second] < 0:
            continue
        if used >= len(search.table):
            return np.int64(-1)
        heap = add_candidate(forest, search, used, e, first, second, heap)
        used += 1
    nodes[n, HEAP] = heap
    return used


@kernel(inline=True, fast=False, owning=False)
def unfinished_below(forest, search, begin, p):
    """Return the node below that has yet to find what comes after its derivation in ``p``, or -1."""
    table, nodes = search.table, search.nodes
    first, second = np.int64(table[p, FIRST]), np.int64(table[p, SECOND])
    if first >= 0:
        one, two = tails_of(forest.tails, np.int64(table[p, EDGE]), begin)
        if table[first, NEXT] < 0 and nodes[one, STATE] != EXHAUSTED:
            return one
        if second >= 0 and first == one and table[second, NEXT] < 0 and nodes[two, STATE] != EXHAUSTED:
            return two
    return np.int64(-1)


@kernel(inline=True, fast=False, owning=False)
def add_neighbours(forest, search, begin, n, p, used):
    """Make the derivations that follow ``p``: with the next one of either tail; return the rows used."""
    table, nodes = search.table, search.nodes
    e, first, second = np.int64(table[p, EDGE]), np.int64(table[p, FIRST]), np.int64(table[p, SECOND])
    heap = np.int64(nodes[n, HEAP])
    if first >= 0 and table[first, NEXT] >= 0:
        heap = add_candidate(forest, search, used, e, np.int64(table[first, NEXT]), second, heap)
        used += 1
    if second >= 0 and first == forest.tails[e, 0] - begin and table[second, NEXT] >= 0:
        heap = add_candidate(forest, search, used, e, first, np.int64(table[second, NEXT]), heap)
        used += 1
    nodes[n, HEAP], nodes[n, PENDING] = heap, -1
    return used


@kernel(inline=True, fast=False, owning=False)
def take_best(search, n, distinct):
    """Take a node's best candidate as its next derivation; tell whether it is one: not seen, if it is to be new."""
    table, nodes = search.table, search.nodes
    best = np.int64(nodes[n, HEAP])
    nodes[n, HEAP] = without_top(table, search.scores, best)
    nodes[n, PENDING] = best
    if distinct and not is_new(search.seen, n, search.hashes[best, 0]):
        return False
    table[nodes[n, LAST], NEXT] = best
    nodes[n, LAST] = best
    return True


@kernel(inline=True, fast=False, owning=False)
def find_next(forest, search, begin, goal, distinct, used):
    """Find one more derivation of a node, if there is one; return the rows used, -1 where they do not suffice."""
    nodes, stack = search.nodes, search.stack
    top, n = 0, np.int64(goal)  # nodes above the one at work wait on the stack
    while True:
        if nodes[n, STATE] == NEW:
            used = open_node(forest, search, begin, n, used)
            if used < 0:
                return used
        below, finished = np.int64(-1), nodes[n, STATE] == EXHAUSTED
        while not finished:
            p = np.int64(nodes[n, PENDING])
            if p >= 0:
                below = unfinished_below(forest, search, begin, p)
                if below >= 0:
                    break
                if used + 2 > len(search.table):
                    return np.int64(-1)
                used = add_neighbours(forest, search, begin, n, p, used)
            if nodes[n, HEAP] < 0:
                nodes[n, STATE] = EXHAUSTED
                break
            finished = take_best(search, n, distinct)
        if below >= 0:
            stack[top] = n
            top += 1
            n = below
        elif top == 0:
            return used
        else:
            top -= 1
            n = np.int64(stack[top])


@kernel(fast=False, owning=False)
def k_best(forest, search, begin, end, root, k, distinct, found):
    """Find the ``k`` best derivations of a root, best first (Huang & Chiang 2005, algorithm 3).

    forest (ScoredForest).
    search (SearchTables): The derivation of `viterbi` for node v is in row ``v - begin`` of its table.
    begin, end (int): The nodes of the sentence.
    distinct (bool): Only the best derivation of each string of words.
    found (int32 [k]): Out: the rows of the derivations.
    Returns how many there are, or -1 when the rows do not suffice; then ``search.nodes[0, LAST]`` says how many were
    found.
    """
    table, goal, used, listed = search.table, root - begin, np.int64(end - begin), 0
    begin_search(forest, search, begin, end)
    if forest.choice[root] < 0:
        return 0
    d = np.int64(goal)
    while True:
        found[listed] = d
        listed += 1
        if listed == k:
            return listed
        used = find_next(forest, search, begin, goal, distinct, used)
        if used < 0:
            search.nodes[0, LAST] = listed
            return -1
        if table[d, NEXT] < 0:
            return listed
        d = np.int64(table[d, NEXT])


@kernel(owning=False)
def trace(table, rows, stack, starts, edges):
    """Write the edges of the derivations in some rows of the table, one derivation after another.

    ``starts`` [rows + 1] says where each begins; ``stack`` has as many entries as the longest has edges.
    """
    for r in range(len(rows)):
        count, top = starts[r], 0
        d = np.int64(rows[r])
        while True:
            edges[count] = table[d, EDGE]
            count += 1
            if table[d, FIRST] >= 0:
                if table[d, SECOND] >= 0:
                    stack[top] = table[d, SECOND]
                    top += 1
                d = np.int64(table[d, FIRST])
            elif top > 0:
                top -= 1
                d = np.int64(stack[top])
            else:
                break
