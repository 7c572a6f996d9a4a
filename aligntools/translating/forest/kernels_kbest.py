"""The k best derivations of hypergraphs, if need be of different strings, found lazily from heaps at the nodes."""

import numpy as np

from aligntools.ground.compiling import kernel
from aligntools.translating.forest.kernels_hypergraph import BASE, MIX2, mix

#: Columns of a k-best search's table of derivations, and of its table of nodes.
EDGE, FIRST, SECOND, NEXT, SIZE, LENGTH, CHILD, SIBLING = range(8)
LAST, PENDING, HEAP, STATE = range(4)
NEW, OPEN, EXHAUSTED = range(3)


@kernel(inline=True)
def better(scores, a, b):
    """Tell whether candidate ``a`` comes before ``b``: it scores more, or was made earlier."""
    return scores[a] > scores[b] or (scores[a] == scores[b] and a < b)


@kernel(inline=True)
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


@kernel(inline=True)
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


@kernel(inline=True)
def compose(tails, edge_scores, word_offsets, words, table, scores, hashes, d, e, first, second):
    """Fill row ``d`` with the derivation of edge ``e`` over derivations ``first`` and ``second`` (-1: none)."""
    table[d, EDGE], table[d, FIRST], table[d, SECOND] = e, first, second
    table[d, NEXT] = table[d, CHILD] = table[d, SIBLING] = -1
    size, length, score = 1, 0, edge_scores[e]
    if first >= 0:
        size += table[first, SIZE]
        length += table[first, LENGTH]
        score += scores[first]
    if second >= 0:
        size += table[second, SIZE]
        length += table[second, LENGTH]
        score += scores[second]
    h, power = np.uint64(0), np.uint64(1)
    for k in range(word_offsets[e], word_offsets[e + 1]):
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


@kernel(inline=True)
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


@kernel(fast=False)
def k_best(
    edge_offsets, tails, edge_scores, word_offsets, words, choice, begin, end, root, k,
    distinct, table, scores, hashes, nodes, seen, stack, found,
):  # fmt: skip
    """Find the ``k`` best derivations of a root, best first (Huang & Chiang 2005, algorithm 3).

    Parameters
    ----------
    choice : int64 [nodes]
        Of `viterbi`.
    begin, end : int
        The nodes of the sentence.
    distinct : bool
        Only the best derivation of each string of words.
    table : int32 [rows, 8], scores : float64 [rows], hashes : uint64 [rows, 2]
        Out: derivations; that of `viterbi` for node v in row ``v - begin``.
    nodes : int32 [nodes of the sentence, 4]
        For work.
    seen : uint64 [a power of two, more than rows], stack : int32 [nodes of the sentence]
        For work.
    found : int32 [k]
        Out: the rows of the derivations.

    Returns
    -------
    int
        How many there are, or -1 when the rows do not suffice; then ``nodes[0, LAST]`` says how many were found.
    """
    count = end - begin
    seen[:] = 0
    for v in range(begin, end):
        n = v - begin
        nodes[n, LAST], nodes[n, PENDING], nodes[n, HEAP], nodes[n, STATE] = n, n, -1, NEW
        e = choice[v]
        if e < 0:
            nodes[n, STATE] = EXHAUSTED
            continue
        first = np.int64(tails[e, 0] - begin) if tails[e, 0] >= 0 else np.int64(-1)
        second = np.int64(tails[e, 1] - begin) if tails[e, 1] >= 0 else np.int64(-1)
        compose(tails, edge_scores, word_offsets, words, table, scores, hashes, n, e, first, second)
    goal = root - begin
    if choice[root] < 0:
        return 0
    used, listed = np.int64(count), 0
    d = np.int64(goal)
    while True:
        found[listed] = d
        listed += 1
        if listed == k:
            return listed
        # one more derivation of the root; nodes above the one at work wait on the stack
        top = 0
        n = np.int64(goal)
        while True:
            if nodes[n, STATE] == NEW:
                nodes[n, STATE] = OPEN
                is_new(seen, n, hashes[n, 0])
                v = begin + n
                heap = np.int64(-1)
                for e in range(edge_offsets[v], edge_offsets[v + 1]):
                    if e == choice[v]:
                        continue
                    first, second = np.int64(-1), np.int64(-1)
                    if tails[e, 0] >= 0:
                        first = np.int64(tails[e, 0] - begin)
                        if choice[tails[e, 0]] < 0:
                            continue
                    if tails[e, 1] >= 0:
                        second = np.int64(tails[e, 1] - begin)
                        if choice[tails[e, 1]] < 0:
                            continue
                    if edge_scores[e] == -np.inf:
                        continue
                    if used >= len(table):
                        nodes[0, LAST] = listed
                        return -1
                    compose(tails, edge_scores, word_offsets, words, table, scores, hashes, used, e, first, second)
                    heap = np.int64(meld(table, scores, heap, used))
                    used += 1
                nodes[n, HEAP] = heap
            waiting = False
            finished = nodes[n, STATE] == EXHAUSTED
            while not finished:
                p = np.int64(nodes[n, PENDING])
                if p >= 0:
                    # the neighbours of the derivation taken last: the next one of either tail
                    e, first, second = np.int64(table[p, EDGE]), np.int64(table[p, FIRST]), np.int64(table[p, SECOND])
                    below = np.int64(-1)
                    if first >= 0:
                        t = np.int64(tails[e, 0] - begin)
                        if table[first, NEXT] < 0 and nodes[t, STATE] != EXHAUSTED:
                            below = t
                        elif second >= 0 and first == t:
                            t = np.int64(tails[e, 1] - begin)
                            if table[second, NEXT] < 0 and nodes[t, STATE] != EXHAUSTED:
                                below = t
                    if below >= 0:
                        stack[top] = n
                        top += 1
                        n = below
                        waiting = True
                        break
                    if used + 2 > len(table):
                        nodes[0, LAST] = listed
                        return -1
                    heap = np.int64(nodes[n, HEAP])
                    if first >= 0 and table[first, NEXT] >= 0:
                        following = np.int64(table[first, NEXT])
                        compose(
                            tails, edge_scores, word_offsets, words, table, scores, hashes, used, e, following, second
                        )
                        heap = np.int64(meld(table, scores, heap, used))
                        used += 1
                    if second >= 0 and first == tails[e, 0] - begin and table[second, NEXT] >= 0:
                        following = np.int64(table[second, NEXT])
                        compose(
                            tails, edge_scores, word_offsets, words, table, scores, hashes, used, e, first, following
                        )
                        heap = np.int64(meld(table, scores, heap, used))
                        used += 1
                    nodes[n, HEAP], nodes[n, PENDING] = heap, -1
                best = np.int64(nodes[n, HEAP])
                if best < 0:
                    nodes[n, STATE] = EXHAUSTED
                    break
                nodes[n, HEAP] = without_top(table, scores, best)
                nodes[n, PENDING] = best
                if not distinct or is_new(seen, n, hashes[best, 0]):
                    table[nodes[n, LAST], NEXT] = best
                    nodes[n, LAST] = best
                    finished = True
            if waiting:
                continue
            if top == 0:
                break
            top -= 1
            n = np.int64(stack[top])
        if table[d, NEXT] < 0:
            return listed
        d = np.int64(table[d, NEXT])


@kernel
def trace(table, rows, stack, starts, edges):
    """Write the edges of the derivations in some rows of the table, one derivation behind the other.

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
