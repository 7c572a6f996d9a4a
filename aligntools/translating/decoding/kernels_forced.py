"""All derivations of a sentence that yield a given translation: a chart over spans of both.

An item is a span of the source with a stretch of the translation. Since the words of a stretch are known, so is what
the language model makes of them by themselves, and the gain of a rule is the difference to that of its nonterminals.
"""

import numpy as np

from aligntools.ground.compiling import kernel
from aligntools.translating.decoding.kernels_decoder import (
    BINARY,
    GOAL,
    HYPEREDGES,
    HYPOTHESES,
    NO_EDGES,
    NO_NODES,
    PASSED,
    UNARY,
)
from aligntools.translating.decoding.kernels_state import after_context
from aligntools.translating.forest.kernels_intersection import fits, is_at
from aligntools.translating.lm.kernels_lm import BEGIN

#: What `derive` returns where the translation cannot be derived.
UNREACHABLE = -100


@kernel(inline=True, fast=False, owning=False)
def _score_stretches(given, model, context, scores):
    """Score all stretches by themselves, and in the last row those from the beginning, with the sentence's ends."""
    m, most = len(given), context.words.shape[0] - 2
    for s in range(m + 2):
        if s == m:
            continue
        total, n_context, begin = 0.0, np.int64(0), s
        if s > m:
            begin = 0
            if most > 0:
                context.words[0], context.backoffs[0], n_context = BEGIN, model.unigrams[BEGIN, 1], np.int64(1)
        scores[s, begin] = 0.0
        for t in range(begin, m + 1 if s > m else m):
            word = np.int64(model.ids[given[t]] if t < m else model.ids[0])
            total += after_context(model, context, n_context, word)
            n_context = context.result[1]
            scores[s, t + 1] = total


@kernel(inline=True, owning=False)
def _keep_fitting(candidates, source_offsets, source, target_offsets, target, has_source, has_target):
    """Put the rules all of whose words there are first; return how many."""
    count = 0
    for c in range(len(candidates)):
        rule, good = candidates[c], True
        for k in range(source_offsets[rule], source_offsets[rule + 1]):
            if good and source[k] > 0 and not has_source[source[k]]:
                good = False
        if good:
            for k in range(target_offsets[rule], target_offsets[rule + 1]):
                if good and target[k] > 0 and not has_target[target[k]]:
                    good = False
        if good and not (source_offsets[rule + 1] - source_offsets[rule] == 1 and source[source_offsets[rule]] < 0):
            candidates[count] = rule
            count += 1
    return count


@kernel(inline=True, owning=False)
def _enter(s, t, rule, left, right, gain, first, place, hypotheses, counts):
    """Make a hyperedge of the item of this cell and stretch; return 0, or what was too small."""
    rows, edges = hypotheses.rows, hypotheses.edges
    node, n = counts[HYPOTHESES], counts[HYPEREDGES]
    if node >= len(rows):
        return NO_NODES
    if n >= len(edges):
        return NO_EDGES
    if place[s, t] < first:
        place[s, t] = node
        rows[node, 0], rows[node, 1], rows[node, 2] = rule, left, right
        hypotheses.states[node, 0], hypotheses.states[node, 1] = s, t
        counts[HYPOTHESES] = node + 1
    edges[n, 0], edges[n, 1], edges[n, 2], edges[n, 3] = place[s, t], rule, left, right
    hypotheses.gains[n] = gain
    counts[HYPEREDGES] = n + 1
    return 0


@kernel(inline=True, fast=False, owning=False)
def _apply(rule, one, two, target_offsets, target, given, scores, cells, first, place, hypotheses, counts):
    """Enter what a rule makes of the items of its nonterminals' cells (-1 none); return 0, or what was too small."""
    begin, end, states, status = target_offsets[rule], target_offsets[rule + 1], hypotheses.states, 0
    none = np.int64(-1)
    if one < 0:
        for s in range(len(given) - (end - begin) + 1):
            if is_at(target, begin, end, given, s):
                t = s + end - begin
                status = min(
                    status, _enter(s, t, rule, none, none, scores[s, t], first, place, hypotheses, counts)
                )  # fmt: skip
        return status
    for x in range(cells[one, 0], cells[one, 0] + cells[one, 1]):
        s1, t1 = np.int64(states[x, 0]), np.int64(states[x, 1])
        if two < 0:
            s, t = fits(target, begin, end, given, s1, t1, none, none)
            if s >= 0:
                gain = scores[s, t] - scores[s1, t1]
                status = min(status, _enter(s, t, rule, x, none, gain, first, place, hypotheses, counts))
            continue
        for y in range(cells[two, 0], cells[two, 0] + cells[two, 1]):
            s2, t2 = np.int64(states[y, 0]), np.int64(states[y, 1])
            s, t = fits(target, begin, end, given, s1, t1, s2, t2)
            if s >= 0:
                gain = scores[s, t] - scores[s1, t1] - scores[s2, t2]
                status = min(status, _enter(s, t, rule, x, y, gain, first, place, hypotheses, counts))
    return status


@kernel(inline=True, fast=False, owning=False)
def _match(
    rule, i, d, span, words, source_offsets, source, target_offsets, target, given, scores, cells, first, place,
    hypotheses, counts,
):  # fmt: skip
    """Apply a rule to a span in all ways that its source side covers it; return 0, or what was too small."""
    a, b = source_offsets[rule], source_offsets[rule + 1]
    size, one, two = b - a, np.int64(-1), np.int64(-1)
    none = np.int64(-1)
    for k in range(size):
        if source[a + k] < 0:
            if one < 0:
                one = np.int64(k)
            else:
                two = np.int64(k)
    lead, last = size if one < 0 else one, two if two >= 0 else one
    tail = size - 1 - last if one >= 0 else np.int64(0)
    if size > d or (one < 0 and size != d):
        return 0
    if not is_at(source, a, a + lead, words, i) or not is_at(source, b - tail, b, words, i + d - tail):
        return 0
    if one < 0:
        return _apply(rule, none, none, target_offsets, target, given, scores, cells, first, place, hypotheses, counts)
    hole, stop, status = i + lead, i + d - tail, 0
    if two < 0:
        cell = hole * span + stop - hole - 1
        return _apply(rule, cell, none, target_offsets, target, given, scores, cells, first, place, hypotheses, counts)
    between = two - one - 1
    for middle in range(hole + 1, stop - between):
        if is_at(source, a + one + 1, a + two, words, middle):
            left, right = hole * span + middle - hole - 1, (middle + between) * span + stop - middle - between - 1
            if cells[left, 1] > 0 and cells[right, 1] > 0:
                status = min(
                    status,
                    _apply(rule, left, right, target_offsets, target, given, scores, cells, first, place, hypotheses,
                           counts),
                )  # fmt: skip
    return status


@kernel(fast=False, owning=False)
def derive(
    words, passed, alone, given, candidates, span, source_offsets, source, has_source, has_target, rules, model,
    context, scores, place, cells, hypotheses, counts,
):  # fmt: skip
    """Find all derivations of one translation of one sentence.

    Parameters
    ----------
    words, passed : int32 [words]
        As for `kernels_decoder.decode`.
    alone : bool [words]
        Whether a rule has just this word as its source side.
    given : int32 [target words]
        The translation.
    candidates : int32
        Rules that may be used; in place, those that are used first.
    span : int
        Most words that X covers, no more than there are.
    source_offsets, source : int64 [rules + 1], int32
    has_source, has_target : bool [ids]
        Whether the sentence, and the translation, have a word.
    rules : RuleTables
    model : ModelTables
    context : Context
    scores : float64, place : int64 [target words + 2, target words + 2]
        Working memory; ``place`` is filled with -1.
    cells : int32 [*, 2], hypotheses : Hypotheses, counts : int64 [4]
        As `kernels_decoder.decode` leaves them, the goal last.

    Returns
    -------
    int
        The goal's hypothesis; `UNREACHABLE`; or what was too small.
    """
    n, m, n_rules = len(words), len(given), np.int64(rules.ordered.shape[0] - 4)
    target_offsets, target, states = rules.target_offsets, rules.target, hypotheses.states
    none = np.int64(-1)
    counts[:] = 0
    _score_stretches(given, model, context, scores)
    used = _keep_fitting(candidates, source_offsets, source, target_offsets, target, has_source, has_target)
    for d in range(1, span + 1):
        for i in range(n - d + 1):
            first, status = counts[HYPOTHESES], 0
            for c in range(used):
                status = min(
                    status,
                    _match(np.int64(candidates[c]), np.int64(i), np.int64(d), span, words, source_offsets, source,
                           target_offsets, target, given, scores, cells, first, place, hypotheses, counts),
                )  # fmt: skip
            if d == 1 and not alone[i]:
                for s in range(m):
                    if given[s] == passed[i]:
                        status = min(
                            status,
                            _enter(s, s + 1, n_rules + PASSED, np.int64(-2 - i), none, scores[s, s + 1], first, place,
                                   hypotheses, counts),
                        )  # fmt: skip
            if status < 0:
                return np.int64(status)
            cells[i * span + d - 1, 0], cells[i * span + d - 1, 1] = first, counts[HYPOTHESES] - first
    for j in range(1, n + 1):
        first, status = counts[HYPOTHESES], 0
        for k in range(max(0, j - span), j):
            cell = k * span + j - k - 1
            for x in range(cells[cell, 0], cells[cell, 0] + cells[cell, 1]):
                s, t = np.int64(states[x, 0]), np.int64(states[x, 1])
                if k == 0 and s == 0:
                    gain = scores[m + 1, t] - scores[0, t]
                    rule = n_rules + UNARY
                    status = min(status, _enter(s, t, rule, np.int64(x), none, gain, first, place, hypotheses, counts))
                before = n * span + k - 1
                for y in range(cells[before, 0], cells[before, 0] + cells[before, 1] if k > 0 else cells[before, 0]):
                    if states[y, 1] == s:
                        gain = scores[m + 1, t] - scores[m + 1, s] - scores[s, t]
                        status = min(
                            status,
                            _enter(np.int64(0), t, n_rules + BINARY, np.int64(y), np.int64(x), gain, first, place,
                                   hypotheses, counts),
                        )  # fmt: skip
        if status < 0:
            return np.int64(status)
        cells[n * span + j - 1, 0], cells[n * span + j - 1, 1] = first, counts[HYPOTHESES] - first
    last, first = n * span + n - 1, counts[HYPOTHESES]
    for x in range(cells[last, 0], cells[last, 0] + cells[last, 1]):
        if states[x, 1] == m:
            gain = scores[m + 1, m + 1] - scores[m + 1, m]
            status = _enter(np.int64(0), np.int64(m), n_rules + GOAL, np.int64(x), none, gain, first, place, hypotheses,
                            counts)  # fmt: skip
            return np.int64(status) if status < 0 else first
    return np.int64(UNREACHABLE)
