"""Single derivations of hypergraphs: best, k best, samples; their words, features and n-grams.

A derivation is the list of its edges, an edge before those below it, those of the first tail before those of
the second.
"""

import numpy as np

from aligntools.compiling import kernel

#: Of the hash of a string of words: its factor, and two odd numbers that mix.
BASE = np.uint64(0x9E3779B97F4A7C15)
MIX1 = np.uint64(0xBF58476D1CE4E5B9)
MIX2 = np.uint64(0x94D049BB133111EB)
#: Columns of a k-best search's table of derivations, and of its table of nodes.
EDGE, FIRST, SECOND, NEXT, SIZE, LENGTH, CHILD, SIBLING = range(8)
LAST, PENDING, HEAP, STATE = range(4)
NEW, OPEN, EXHAUSTED = range(3)


@kernel(inline=True)
def mix(x):
    """Spread the bits of a 64-bit number (splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * MIX1
    x = (x ^ (x >> np.uint64(27))) * MIX2
    return x ^ (x >> np.uint64(31))


@kernel(fast=False)
def viterbi(edge_offsets, tails, scores, begin, end, best, choice):
    """Find the best derivation of the nodes ``begin:end``: ``best`` [nodes] its score, ``choice`` [nodes] its top edge.

    The first of equally good edges is taken; -1 where there is none.
    """
    for v in range(begin, end):
        best[v], choice[v] = -np.inf, -1
        for e in range(edge_offsets[v], edge_offsets[v + 1]):
            s = scores[e]
            if tails[e, 0] >= 0:
                s += best[tails[e, 0]]
            if tails[e, 1] >= 0:
                s += best[tails[e, 1]]
            if s > best[v]:
                best[v], choice[v] = s, e


@kernel
def chosen(tails, choice, root, out):
    """Write the edges of the derivation that ``choice`` makes of ``root``; return how many they are.

    ``out`` has a place for every node below the root twice (it serves as the stack, from its end); -1 if too small.
    """
    count, top = 0, len(out)
    v = root
    while True:
        e = choice[v]
        if e < 0:
            return 0
        if count >= top:
            return -1
        out[count] = e
        count += 1
        if tails[e, 0] >= 0:
            if tails[e, 1] >= 0:
                top -= 1
                if top < count:
                    return -1
                out[top] = tails[e, 1]
            v = tails[e, 0]
        elif top < len(out):
            v = out[top]
            top += 1
        else:
            return count


@kernel(fast=False)
def sample(edge_offsets, tails, conditional, root, seed, out):
    """Draw a derivation of ``root``; as `chosen`, with ``conditional`` probabilities of the edges and a seed."""
    count, top = 0, len(out)
    state = np.uint64(seed)
    v = root
    while True:
        state += BASE
        u = float(mix(state) >> np.uint64(11)) / 9007199254740992.0
        e = np.int64(-1)
        for f in range(edge_offsets[v], edge_offsets[v + 1]):
            if conditional[f] > 0.0:
                e = f
                u -= conditional[f]
                if u < 0.0:
                    break
        if e < 0:
            return 0
        if count >= top:
            return -1
        out[count] = e
        count += 1
        if tails[e, 0] >= 0:
            if tails[e, 1] >= 0:
                top -= 1
                if top < count:
                    return -1
                out[top] = tails[e, 1]
            v = tails[e, 0]
        elif top < len(out):
            v = out[top]
            top += 1
        else:
            return count


@kernel
def count_words(word_offsets, words, edges):
    """Return how many words the derivation with these edges has."""
    count = 0
    for i in range(len(edges)):
        for k in range(word_offsets[edges[i]], word_offsets[edges[i] + 1]):
            if words[k] > 0:
                count += 1
    return count


@kernel
def yield_words(tails, word_offsets, words, edges, sizes, stack, out):
    """Write the words of a derivation to ``out``; ``sizes`` [edges] and ``stack`` [2 * edges + 2] are for work."""
    for i in range(len(edges) - 1, -1, -1):
        size = 1
        if tails[edges[i], 0] >= 0:
            size += sizes[i + 1]
            if tails[edges[i], 1] >= 0:
                size += sizes[i + size]
        sizes[i] = size
    count, top = 0, 0
    i, k = 0, word_offsets[edges[0]]
    while True:
        if k == word_offsets[edges[i] + 1]:
            if top == 0:
                return count
            top -= 2
            i, k = stack[top], stack[top + 1]
            continue
        word = words[k]
        k += 1
        if word > 0:
            out[count] = word
            count += 1
        else:
            stack[top], stack[top + 1] = i, k
            top += 2
            i = i + 1 if word == -1 else i + 1 + sizes[i + 1]
            k = word_offsets[edges[i]]


@kernel(inline=True)
def sum_features(feature_offsets, feature_ids, feature_values, edges, dense, touched, ids, values):
    """Add up the features of a derivation's edges; write the ids, ascending, and values; return how many.

    ``dense`` float64 [features] is zero before and after; ``touched`` int32 [features] is for work.
    """
    count = 0
    for i in range(len(edges)):
        for k in range(feature_offsets[edges[i]], feature_offsets[edges[i] + 1]):
            f = feature_ids[k]
            if feature_values[k] != 0.0:
                if dense[f] == 0.0:
                    touched[count] = f
                    count += 1
                dense[f] += feature_values[k]
                if dense[f] == 0.0:
                    dense[f] = 1e-30  # so that it is not listed twice
    found = np.sort(touched[:count])
    for i in range(count):
        ids[i], values[i] = found[i], dense[found[i]]
        dense[found[i]] = 0.0
    return count


@kernel
def measure_derivations(word_offsets, words, feature_offsets, starts, edges, begin_words, begin_features):
    """Say where each derivation's words begin [derivations + 1], and at the latest its features.

    ``starts`` [derivations + 1] says where each one's edges begin.
    """
    begin_words[0], begin_features[0] = 0, 0
    for d in range(len(starts) - 1):
        of = edges[starts[d] : starts[d + 1]]
        begin_words[d + 1] = begin_words[d] + count_words(word_offsets, words, of)
        count = 0
        for e in of:
            count += feature_offsets[e + 1] - feature_offsets[e]
        begin_features[d + 1] = begin_features[d] + count


@kernel(fast=False)
def fill_derivations(
    tails, word_offsets, words, feature_offsets, feature_ids, feature_values, edge_scores, starts, edges,
    sizes, stack, dense, touched, begin_words, out_words, begin_features, ids, values, scores,
):  # fmt: skip
    """Write words, features and scores of derivations.

    Parameters
    ----------
    sizes, stack, dense, touched
        See `yield_words` and `sum_features`; for the longest derivation.
    begin_words, begin_features : int64 [derivations + 1]
        Of `measure_derivations`; the latter then say where the features begin indeed.
    out_words : int32, ids : int32, values : float32, scores : float64 [derivations]
        Out.
    """
    used = 0
    for d in range(len(starts) - 1):
        of = edges[starts[d] : starts[d + 1]]
        yield_words(tails, word_offsets, words, of, sizes, stack, out_words[begin_words[d] : begin_words[d + 1]])
        count = sum_features(
            feature_offsets, feature_ids, feature_values, of, dense, touched, ids[used:], values[used:]
        )
        begin_features[d] = used
        used += count
        score = 0.0
        for e in of:
            score += edge_scores[e]
        scores[d] = score
    begin_features[len(starts) - 1] = used


@kernel
def string_keys(word_offsets, words, feature_offsets, feature_ids, feature_values, grain, keys):
    """Hash words and features, the latter as multiples of ``grain``, of every candidate."""
    for c in range(len(keys)):
        h = BASE
        for k in range(word_offsets[c], word_offsets[c + 1]):
            h = h * MIX1 + mix(np.uint64(words[k]) * BASE)
        h = mix(h)
        for k in range(feature_offsets[c], feature_offsets[c + 1]):
            h = h * MIX1 + mix(np.uint64(feature_ids[k] + 1) * BASE)
            h = h * MIX1 + mix(np.uint64(np.int64(np.floor(feature_values[k] / grain + 0.5))))
        keys[c] = mix(h)


# k best


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
