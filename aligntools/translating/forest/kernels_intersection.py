"""The derivations of a hypergraph that yield given words."""

import numpy as np

from aligntools.ground.compiler import kernel

#: What was too small.
NO_ITEMS, NO_EDGES = -1, -2


@kernel(inline=True, owning=False)
def fits(target, begin, end, given, s1, t1, s2, t2):
    """Return from where to where in the given words a target side with nonterminals stands, or -1 and -1.

    target (int32): The side is ``target[begin:end]``: words, -1 and -2 for the nonterminals.
    given (int32 [words]).
    s1, t1, s2, t2 (int): Where in them the nonterminals stand.
    """
    start, at, lead, good = np.int64(-1), np.int64(-1), 0, True
    for k in range(begin, end):
        symbol = target[k]
        if not good:
            continue
        if symbol > 0:
            if at < 0:
                lead += 1
            elif at >= len(given) or given[at] != symbol:
                good = False
            else:
                at += 1
            continue
        s, t = (s1, t1) if symbol == -1 else (s2, t2)
        if at < 0:
            start = s - lead
            if start < 0:
                good = False
            for j in range(lead):
                if good and given[start + j] != target[begin + j]:
                    good = False
        elif at != s:
            good = False
        at = t
    if not good:
        start, at = np.int64(-1), np.int64(-1)
    return start, at


@kernel(inline=True, owning=False)
def is_at(target, begin, end, given, start):
    """Return whether words stand at a place of the given ones."""
    good = start + end - begin <= len(given)
    for k in range(begin, end):
        if good and given[start + k - begin] != target[k]:
            good = False
    return good


@kernel(inline=True, owning=False)
def _enter(v, s, t, edge, left, right, first, place, items, edges, counts):
    """Make an edge of the item of a node and a stretch of the words; return 0, or what was too small."""
    if counts[0] >= len(items):
        return NO_ITEMS
    if counts[1] >= len(edges):
        return NO_EDGES
    if place[s, t] < first:
        place[s, t] = counts[0]
        items[counts[0], 0], items[counts[0], 1], items[counts[0], 2] = v, s, t
        counts[0] += 1
    n = counts[1]
    edges[n, 0], edges[n, 1], edges[n, 2], edges[n, 3] = place[s, t], edge, left, right
    counts[1] += 1
    return 0


@kernel(owning=False)
def intersect(begin, end, edge_offsets, tails, word_offsets, words, given, place, item_at, items, edges, counts):
    """Find what the nodes ``begin:end`` of a sentence yield of the given words.

    given (int32 [words]).
    place (int64 [words + 1, words + 1]): Working memory, filled with -1.
    item_at (int64 [end - begin + 1]): Out: where each node's items begin.
    items (int32 [*, 3]): Out: node, and the stretch of the words that it yields.
    edges (int32 [*, 4]): Out: item, edge of the hypergraph, items of its tails or -1.
    counts (int64 [2]): Out: items, edges.
    Returns 0, or what was too small.
    """
    counts[:] = 0
    none = np.int64(-1)
    for v in range(begin, end):
        first = counts[0]
        item_at[v - begin] = first
        for e in range(edge_offsets[v], edge_offsets[v + 1]):
            a, b, status = word_offsets[e], word_offsets[e + 1], 0
            one, two = np.int64(tails[e, 0]), np.int64(tails[e, 1])
            if one < 0:
                for s in range(len(given) - (b - a) + 1):
                    if is_at(words, a, b, given, s):
                        status = min(
                            status,
                            _enter(v, s, s + b - a, e, none, none, first, place, items, edges, counts),
                        )
                if status < 0:
                    return status
                continue
            for x in range(item_at[one - begin], item_at[one - begin + 1]):
                s1, t1 = np.int64(items[x, 1]), np.int64(items[x, 2])
                if two < 0:
                    s, t = fits(words, a, b, given, s1, t1, none, none)
                    if s >= 0:
                        status = min(status, _enter(v, s, t, e, x, none, first, place, items, edges, counts))
                    continue
                for y in range(item_at[two - begin], item_at[two - begin + 1]):
                    s, t = fits(words, a, b, given, s1, t1, np.int64(items[y, 1]), np.int64(items[y, 2]))
                    if s >= 0:
                        status = min(status, _enter(v, s, t, e, x, y, first, place, items, edges, counts))
            if status < 0:
                return status
        item_at[v - begin + 1] = counts[0]
    return 0
