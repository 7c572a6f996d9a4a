"""All derivations of a sentence that yield a given translation: a chart over spans of both.

An item is a span of the source with a stretch of the translation. Since the words of a stretch are known, so is what
the language model makes of them by themselves, and the gain of a rule is the difference to that of its nonterminals.
"""

from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel
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
from aligntools.translating.decoding.kernels_tables import Hypotheses
from aligntools.translating.forest.kernels_intersection import fits, is_at
from aligntools.translating.lm.kernels_lm import BEGIN

#: What `derive` returns where the translation cannot be derived.
UNREACHABLE = -100


class ForcedItems(NamedTuple):
    """What has been found, and where.

    scores (float64 [target words + 2, target words + 2]): Of each stretch of the translation by itself; in the last
        row, from the sentence's beginning.
    place (int64 [target words + 2, target words + 2]): The last item with each stretch; those before the cell's first
        one are another cell's.
    cells (int32 [*, 2], hypotheses : Hypotheses, counts : int64 [4]): As `kernels_decoder.decode` leaves them.
    """

    scores: np.ndarray
    place: np.ndarray
    cells: np.ndarray
    hypotheses: Hypotheses
    counts: np.ndarray


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
def _keep_fitting(candidates, sides, has_source, has_target):
    """Put the rules all of whose words there are first; return how many."""
    source_offsets, source, target_offsets, target = sides
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
def _enter(s, t, rule, left, right, gain, first, items):
    """Make a hyperedge of the item of this cell and stretch; return 0, or what was too small."""
    rows, edges = items.hypotheses.rows, items.hypotheses.edges
    place, counts = items.place, items.counts
    node, n = counts[HYPOTHESES], counts[HYPEREDGES]
    if node >= len(rows):
        return NO_NODES
    if n >= len(edges):
        return NO_EDGES
    if place[s, t] < first:
        place[s, t] = node
        rows[node, 0], rows[node, 1], rows[node, 2] = rule, left, right
        items.hypotheses.states[node, 0], items.hypotheses.states[node, 1] = s, t
        counts[HYPOTHESES] = node + 1
    edges[n, 0], edges[n, 1], edges[n, 2], edges[n, 3] = place[s, t], rule, left, right
    items.hypotheses.gains[n] = gain
    counts[HYPEREDGES] = n + 1
    return 0


@kernel(inline=True, fast=False, owning=False)
def _apply(rule, one, two, sides, given, first, items):
    """Enter what a rule makes of the items of its nonterminals' cells (-1 none); return 0, or what was too small."""
    _, _, target_offsets, target = sides
    begin, end, none = target_offsets[rule], target_offsets[rule + 1], np.int64(-1)
    scores, cells, states, status = items.scores, items.cells, items.hypotheses.states, 0
    if one < 0:
        for s in range(len(given) - (end - begin) + 1):
            if is_at(target, begin, end, given, s):
                t = s + end - begin
                status = min(status, _enter(s, t, rule, none, none, scores[s, t], first, items))
        return status
    for x in range(cells[one, 0], cells[one, 0] + cells[one, 1]):
        s1, t1 = np.int64(states[x, 0]), np.int64(states[x, 1])
        if two < 0:
            s, t = fits(target, begin, end, given, s1, t1, none, none)
            if s >= 0:
                gain = scores[s, t] - scores[s1, t1]
                status = min(status, _enter(s, t, rule, x, none, gain, first, items))
            continue
        for y in range(cells[two, 0], cells[two, 0] + cells[two, 1]):
            s2, t2 = np.int64(states[y, 0]), np.int64(states[y, 1])
            s, t = fits(target, begin, end, given, s1, t1, s2, t2)
            if s >= 0:
                gain = scores[s, t] - scores[s1, t1] - scores[s2, t2]
                status = min(status, _enter(s, t, rule, x, y, gain, first, items))
    return status


@kernel(inline=True, fast=False, owning=False)
def _match(rule, i, d, span, words, sides, given, first, items):
    """Apply a rule to a span in all ways that its source side covers it; return 0, or what was too small."""
    source_offsets, source, _, _ = sides
    cells, a, b = items.cells, source_offsets[rule], source_offsets[rule + 1]
    size, one, two, none = b - a, np.int64(-1), np.int64(-1), np.int64(-1)
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
        return _apply(rule, none, none, sides, given, first, items)
    hole, stop, status = i + lead, i + d - tail, 0
    if two < 0:
        return _apply(rule, hole * span + stop - hole - 1, none, sides, given, first, items)
    between = two - one - 1
    for middle in range(hole + 1, stop - between):
        if is_at(source, a + one + 1, a + two, words, middle):
            left, right = hole * span + middle - hole - 1, (middle + between) * span + stop - middle - between - 1
            if cells[left, 1] > 0 and cells[right, 1] > 0:
                status = min(status, _apply(rule, left, right, sides, given, first, items))
    return status


@kernel(inline=True, fast=False, owning=False)
def _glue(j, n, m, span, n_rules, first, items):
    """Enter what S makes of the first ``j`` of ``n`` words; return 0, or what was too small."""
    scores, cells, states, status = items.scores, items.cells, items.hypotheses.states, 0
    zero, none = np.int64(0), np.int64(-1)
    for k in range(max(0, j - span), j):
        cell = k * span + j - k - 1
        for x in range(cells[cell, 0], cells[cell, 0] + cells[cell, 1]):
            s, t = np.int64(states[x, 0]), np.int64(states[x, 1])
            if k == 0 and s == 0:
                gain = scores[m + 1, t] - scores[0, t]
                status = min(status, _enter(s, t, n_rules + UNARY, np.int64(x), none, gain, first, items))
            before = n * span + k - 1
            for y in range(cells[before, 0], cells[before, 0] + cells[before, 1] if k > 0 else cells[before, 0]):
                if states[y, 1] == s:
                    gain = scores[m + 1, t] - scores[m + 1, s] - scores[s, t]
                    left, right = np.int64(y), np.int64(x)
                    status = min(status, _enter(zero, t, n_rules + BINARY, left, right, gain, first, items))
    return status


@kernel(fast=False, owning=False)
def derive(
    words, passed, alone, given, candidates, span, sides, has_source, has_target, n_rules, model, context, items
):
    """Find all derivations of one translation of one sentence.

    words, passed (int32 [words]): As for `kernels_decoder.decode`.
    alone (bool [words]): Whether a rule has just this word as its source side.
    given (int32 [target words]): The translation.
    candidates (int32): Rules that may be used; in place, those that are used first.
    span (int): Most words that X covers, no more than there are.
    sides: Of the rules, words above 0, nonterminals below: source_offsets (int64 [rules + 1]), source (int32), and
        target_offsets (int64 [rules + 5]), target (int32) with those of the pseudo-rules.
    has_source, has_target (bool [ids]): Whether the sentence, and the translation, have a word.
    n_rules (int): Of the grammar; the pseudo-rules come after them.
    model (ModelTables).
    items: On entry `ForcedItems.place` is -1 everywhere; on return the goal is the last item.
    Returns the goal's hypothesis; `UNREACHABLE`; or what was too small.
    """
    n, m = len(words), len(given)
    scores, cells, counts, states = items.scores, items.cells, items.counts, items.hypotheses.states
    none = np.int64(-1)
    counts[:] = 0
    _score_stretches(given, model, context, scores)
    used = _keep_fitting(candidates, sides, has_source, has_target)
    for d in range(1, span + 1):
        for i in range(n - d + 1):
            first, status = counts[HYPOTHESES], 0
            for c in range(used):
                rule = np.int64(candidates[c])
                status = min(status, _match(rule, np.int64(i), np.int64(d), span, words, sides, given, first, items))
            if d == 1 and not alone[i]:
                for s in range(m):
                    if given[s] == passed[i]:
                        left, gain = np.int64(-2 - i), scores[s, s + 1]
                        status = min(status, _enter(s, s + 1, n_rules + PASSED, left, none, gain, first, items))
            if status < 0:
                return np.int64(status)
            cells[i * span + d - 1, 0], cells[i * span + d - 1, 1] = first, counts[HYPOTHESES] - first
    for j in range(1, n + 1):
        first = counts[HYPOTHESES]
        status = _glue(j, n, m, span, n_rules, first, items)
        if status < 0:
            return np.int64(status)
        cells[n * span + j - 1, 0], cells[n * span + j - 1, 1] = first, counts[HYPOTHESES] - first
    last, first = n * span + n - 1, counts[HYPOTHESES]
    for x in range(cells[last, 0], cells[last, 0] + cells[last, 1]):
        if states[x, 1] == m:
            gain, end = scores[m + 1, m + 1] - scores[m + 1, m], np.int64(m)
            status = _enter(np.int64(0), end, n_rules + GOAL, np.int64(x), none, gain, first, items)
            return np.int64(status) if status < 0 else first
    return np.int64(UNREACHABLE)
