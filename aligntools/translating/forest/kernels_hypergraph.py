"""Single derivations of hypergraphs: the best, samples; their words, features and n-grams.

A derivation is the list of its edges, an edge before those below it, those of the first tail before those of
the second.
"""

import numpy as np

from aligntools.ground.compiler import kernel

#: Of the hash of a string of words: its factor, and two odd numbers that mix.
BASE = np.uint64(0x9E3779B97F4A7C15)
MIX1 = np.uint64(0xBF58476D1CE4E5B9)
MIX2 = np.uint64(0x94D049BB133111EB)
#: Instead of a next node: the derivation ends; no room on the stack.
_DONE, _FULL = -1, -2


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


@kernel(fast=False, inline=True)
def _next_node(tails, e, count, top, out):
    """Return the node that comes after edge ``e``, in the derivation's pre-order, and where the stack begins then.

    The stack of nodes ends ``out``, whose first ``count`` places are taken. The node is `_DONE` where the derivation
    ends, `_FULL` if there is no room.
    """
    v = np.int64(_DONE)
    if tails[e, 0] >= 0:
        v = np.int64(tails[e, 0])
        if tails[e, 1] >= 0:
            top -= 1
            if top < count:
                v = np.int64(_FULL)
            else:
                out[top] = tails[e, 1]
    elif top < len(out):
        v = np.int64(out[top])
        top += 1
    return v, top


@kernel
def chosen(tails, choice, root, out):
    """Write the edges of the derivation that ``choice`` makes of ``root``; return how many they are.

    ``out`` has a place for every node below the root twice (it serves as the stack, from its end); -1 if too small.
    """
    count, top = 0, len(out)
    v = np.int64(root)
    while True:
        e = choice[v]
        if e < 0:
            return 0
        if count >= top:
            return -1
        out[count] = e
        count += 1
        v, top = _next_node(tails, e, count, top, out)
        if v < 0:
            return count if v == _DONE else -1


@kernel(fast=False)
def sample(edge_offsets, tails, conditional, root, seed, out):
    """Draw a derivation of ``root``; as `chosen`, with ``conditional`` probabilities of the edges and a seed."""
    count, top = 0, len(out)
    state = np.uint64(seed)
    v = np.int64(root)
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
        v, top = _next_node(tails, e, count, top, out)
        if v < 0:
            return count if v == _DONE else -1


@kernel
def yield_words(tails, word_offsets, words, edges, sizes, stack, out):
    """Write the words of a derivation to ``out``; ``sizes`` [edges], ``stack`` [2 * edges + 2] are working memory."""
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
def sum_features(features, edges, dense, touched, ids, values):
    """Add up the features of a derivation's edges; write the ids, ascending, and values; return how many.

    ``dense`` float64 [features] is zero before and after; ``touched`` int32 [features] is working memory.
    """
    feature_offsets, feature_ids, feature_values = features
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
        n_words, n_features = 0, 0
        for e in edges[starts[d] : starts[d + 1]]:
            for k in range(word_offsets[e], word_offsets[e + 1]):
                if words[k] > 0:
                    n_words += 1
            n_features += feature_offsets[e + 1] - feature_offsets[e]
        begin_words[d + 1], begin_features[d + 1] = begin_words[d] + n_words, begin_features[d] + n_features


@kernel(fast=False)
def fill_derivations(strings, features, edge_scores, starts, edges, room, begin_words, begin_features, out):
    """Write words, features and scores of derivations.

    strings, features: See `Hypergraph`.
    room: ``sizes``, ``stack``, ``dense`` and ``touched`` of `yield_words` and `sum_features`; for the longest
        derivation.
    begin_words, begin_features (int64 [derivations + 1]): Of `measure_derivations`; the latter then say where the
        features really begin.
    out: Words (int32), ids of features (int32), their values (float32), scores (float64 [derivations]).
    """
    _, tails, word_offsets, words = strings
    sizes, stack, dense, touched = room
    out_words, ids, values, scores = out
    used = 0
    for d in range(len(starts) - 1):
        of = edges[starts[d] : starts[d + 1]]
        yield_words(tails, word_offsets, words, of, sizes, stack, out_words[begin_words[d] : begin_words[d + 1]])
        count = sum_features(features, of, dense, touched, ids[used:], values[used:])
        begin_features[d] = used
        used += count
        score = 0.0
        for e in of:
            score += edge_scores[e]
        scores[d] = score
    begin_features[len(starts) - 1] = used


@kernel
def string_keys(word_offsets, words, features, keys):
    """Hash words and features, the latter as multiples of 1e-4, of every candidate."""
    feature_offsets, feature_ids, feature_values = features
    for c in range(len(keys)):
        h = BASE
        for k in range(word_offsets[c], word_offsets[c + 1]):
            h = h * MIX1 + mix(np.uint64(words[k]) * BASE)
        h = mix(h)
        for k in range(feature_offsets[c], feature_offsets[c + 1]):
            h = h * MIX1 + mix(np.uint64(feature_ids[k] + 1) * BASE)
            h = h * MIX1 + mix(np.uint64(np.int64(np.floor(feature_values[k] / 1e-4 + 0.5))))
        keys[c] = mix(h)
