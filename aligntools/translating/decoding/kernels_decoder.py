"""Finding a sentence's derivations: CKY over the trie of rules, each cell filled by cube pruning.

Chiang 2007 ("Hierarchical phrase-based translation", sections 5 and 6.2) and Huang & Chiang 2007 ("Forest rescoring").

A cell is a span with its hypotheses, X or S. Source sides are matched by walking the trie from each position, from the
last to the first, over words and over cells further right (active items: a trie node, where it got to, and the cells in
the gaps). All rules with one source side and the same cells in their gaps are a cube: rules in falling order of score
on one axis, the hypotheses of each cell on the others. A cell takes items off all its cubes, best first, at most
``pop_limit``; each is a hyperedge, and those whose states agree become one hypothesis.

Arrays that are too small end the work with a negative number, the caller enlarges them and begins the sentence anew.
"""

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.translating.decoding.kernels_state import combine
from aligntools.translating.grammar.kernels_trie import find_step

#: Pseudo-rules, counted from the number of the grammar's rules on: a word passed through, S -> X, S -> S X, the end.
PASSED, UNARY, BINARY, GOAL = range(4)
#: Columns of a trie's table of nodes.
GAP, FIRST, COUNT, WORDS = range(4)
#: Columns of the tables of cubes, of items and of hypotheses.
RULES, SIZE, LEFT, RIGHT = range(4)
CUBE, RULE, ONE, TWO, DONE = range(5)
#: What was too small.
NO_ACTIVE, NO_CUBES, NO_ITEMS, NO_NODES, NO_EDGES, NO_PATHS = -1, -2, -3, -4, -5, -6
#: What cells hold: X over a span, S over the first words, the goal.
SPAN, PREFIX, WHOLE = range(3)
#: Columns of the decoder's settings, and of its counts.
POP_LIMIT, SPAN_LIMIT, WHOLE_STATES, KEEP_EDGES, LAZY, PASS_KNOWN = range(6)
HYPOTHESES, HYPEREDGES, TAKEN, SCORED = range(4)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(32)
_ZERO, _ONE, _NONE = np.int64(0), np.int64(1), np.int64(-1)


@kernel(inline=True, fast=False, owning=False)
def push(keys, items, size, key, item):
    """Add to a heap whose top has the highest key, of equals the lowest item; return its new size."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if keys[above] > key or (keys[above] == key and items[above] < item):
            break
        keys[at], items[at] = keys[above], items[above]
        at = above
    keys[at], items[at] = key, item
    return size + 1


@kernel(inline=True, fast=False, owning=False)
def pop(keys, items, size):
    """Remove the top of a heap; return the new size."""
    size -= 1
    key, item = keys[size], items[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        right = below + 1
        if right < size and (keys[right] > keys[below] or (keys[right] == keys[below] and items[right] < items[below])):
            below = right
        if key > keys[below] or (key == keys[below] and item < items[below]):
            break
        keys[at], items[at] = keys[below], items[below]
        at = below
    keys[at], items[at] = key, item
    return size


@kernel(inline=True, owning=False)
def find_state(states, row, slots, first):
    """Return where in ``slots`` a row equal to this one is entered, or the free place for it.

    Slots that hold numbers below ``first`` are left from other cells, and free.
    """
    mask = np.uint64(slots.shape[0] - 1)
    code = np.uint64(0)
    for k in range(row.shape[0]):
        code = (code ^ np.uint64(np.int64(row[k]) + 1)) * _MIX
        code ^= code >> _SHIFT
    place = np.int64((code * _MIX2 >> _SHIFT) & mask)
    while slots[place] >= first:
        node = slots[place]
        same = True
        for k in range(row.shape[0]):
            if states[node, k] != row[k]:
                same = False
                break
        if same:
            break
        place = (place + 1) & np.int64(mask)
    return place


@kernel(inline=True, owning=False)
def find_item(items, cube, rule, one, two, seen, base):
    """Return where in ``seen`` an item of the cell is entered, or the free place; items count from ``base``."""
    mask = np.int64(seen.shape[0] - 1)
    code = np.uint64(cube) * _MIX
    code = (code ^ (code >> _SHIFT) ^ np.uint64(rule)) * _MIX
    code = (code ^ (code >> _SHIFT) ^ np.uint64(one)) * _MIX2
    code = (code ^ (code >> _SHIFT) ^ np.uint64(two)) * _MIX
    place = np.int64(code >> _SHIFT) & mask
    while seen[place] >= base:
        item = seen[place] - base
        if items[item, CUBE] == cube and items[item, RULE] == rule and items[item, ONE] == one:
            if items[item, TWO] == two:
                break
        place = (place + 1) & mask
    return place


@kernel(inline=True, owning=False)
def next_cell(kind, i, d, n, span):
    """Return the cell that comes next: its kind, where it begins, and how many words it covers."""
    if kind == SPAN:
        d += 1
        if d > span or i + d > n:
            i, d = i - 1, 1
            if i < 0:
                kind, d = np.int64(PREFIX), np.int64(0)
    if kind == PREFIX:
        d += 1
        if d > n:
            kind = np.int64(WHOLE)
    return kind, i, d


@kernel(inline=True, owning=False)
def add_active(chart, n_active, n_gaps, nodes, v, one, two):
    """Add an active item at trie node ``v``, and to those that a nonterminal may follow; return both numbers."""
    active, gaps = chart.active, chart.gaps
    active[n_active, 0], active[n_active, 1], active[n_active, 2] = v, one, two
    n_active += 1
    if nodes[v, GAP] >= 0:
        gaps[n_gaps, 0], gaps[n_gaps, 1], gaps[n_gaps, 2] = nodes[v, GAP], one, two
        n_gaps += 1
    return n_active, n_gaps


@kernel(inline=True, owning=False)
def set_cube(cubes, c, first, size, left, right):
    """Write a cube: its first rule, how many there are, and the cells of its nonterminals; return the next number."""
    cubes[c, RULES], cubes[c, SIZE], cubes[c, LEFT], cubes[c, RIGHT] = first, size, left, right
    return c + 1


@kernel(inline=True, owning=False)
def match_rules(words, i, d, span, pass_known, rules, chart):
    """Find the rules that match the words ``i .. i + d``, from the active items that end further left.

    A word that no rule has alone is passed through; one that the grammar has elsewhere only if ``pass_known``.

    Returns n_cubes: Cubes of the cell; below 0 what was too small.
    Returns n_active, n_gaps: Active items from ``i`` so far.
    """
    active, gaps, active_at, gaps_at = chart.active, chart.gaps, chart.active_at, chart.gaps_at
    cells, cubes, nodes = chart.cells, chart.cubes, rules.nodes
    first_pseudo = np.int64(rules.ordered.shape[0] - 4)
    if d == 1:
        active[0, 0], active[0, 1], active[0, 2] = 0, -1, -1
        active_at[0], active_at[1], gaps_at[0], gaps_at[1] = 0, 1, 0, 0
    n_active, n_gaps, n_cubes = active_at[d], gaps_at[d], np.int64(0)
    alone = False  # whether a rule has just this word
    for back in range(d):  # how far the item has got: by a word from d - 1, by a cell from elsewhere
        right = (i + back) * span + d - back - 1
        if back == 0:
            begin, end = active_at[d - 1], active_at[d]
        else:
            begin, end = gaps_at[back], gaps_at[back + 1]
            if cells[right, 1] == 0:
                continue
        if n_active + end - begin >= active.shape[0]:
            return np.int64(NO_ACTIVE), n_active, n_gaps
        if n_cubes + end - begin + 2 >= cubes.shape[0]:
            return np.int64(NO_CUBES), n_active, n_gaps
        for a in range(begin, end):
            if back == 0:
                v = np.int64(active[a, 0])
                if nodes[v, WORDS] == 0:
                    continue
                v = find_step(rules.steps, rules.children, v, np.int64(words[i + d - 1]))
                if v < 0:
                    continue
                one, two = np.int64(active[a, 1]), np.int64(active[a, 2])
            else:
                v = np.int64(gaps[a, 0])
                one, two = np.int64(gaps[a, 1]), np.int64(-1)
                if one < 0:
                    one = right
                else:
                    two = right
            n_active, n_gaps = add_active(chart, n_active, n_gaps, nodes, v, one, two)
            if nodes[v, COUNT] > 0:
                n_cubes = set_cube(cubes, n_cubes, np.int64(nodes[v, FIRST]), np.int64(nodes[v, COUNT]), one, two)
                alone = alone or d == 1
    if d == 1 and not alone and (pass_known or words[i] == 0):
        n_cubes = set_cube(cubes, n_cubes, first_pseudo + PASSED, _ONE, -2 - i, _NONE)
    return n_cubes, n_active, n_gaps


@kernel(inline=True, owning=False)
def glue(d, n, span, first_pseudo, chart):
    """Make the cubes of S over the first ``d`` words; return how many, or what was too small."""
    cells, cubes, n_cubes = chart.cells, chart.cubes, np.int64(0)
    if n + 2 > cubes.shape[0]:
        return np.int64(NO_CUBES)
    for k in range(max(0, d - span), d):
        x = k * span + d - k - 1
        if cells[x, 1] == 0:
            continue
        if k == 0:
            n_cubes = set_cube(cubes, n_cubes, first_pseudo + UNARY, _ONE, x, _NONE)
        elif cells[n * span + k - 1, 1] > 0:
            n_cubes = set_cube(cubes, n_cubes, first_pseudo + BINARY, _ONE, n * span + k - 1, x)
    return n_cubes


@kernel(inline=True, fast=False, owning=False)
def estimate_item(c, rule, one, two, rules, chart, paths, node_scores):
    """Return what an item would score if its words cost what is known of them without their neighbours."""
    cubes, cells, ordered = chart.cubes, chart.cells, chart.ordered
    estimate = rules.scores[rules.ordered[cubes[c, RULES] + rule], 1]
    if paths.cubes.shape[0] > 0:
        estimate += paths.scores[paths.cubes[c]]
    if cubes[c, LEFT] >= 0:
        estimate += node_scores[ordered[cells[cubes[c, LEFT], 0] + one]]
    if cubes[c, RIGHT] >= 0:
        estimate += node_scores[ordered[cells[cubes[c, RIGHT], 0] + two]]
    return estimate


@kernel(inline=True, fast=False, owning=False)
def take_item(item, rule, tails, first, keep, items, paths, hypotheses, counts):
    """Make an item a hyperedge of the hypothesis that has its state; return 0, or what was too small."""
    n_nodes, n_edges = counts[HYPOTHESES], counts[HYPEREDGES]
    rows, scores, states = hypotheses.rows, hypotheses.scores, hypotheses.states
    if n_nodes >= rows.shape[0]:
        return NO_NODES
    place = find_state(states, items.states[item], items.slots, first)
    node, score = np.int64(items.slots[place]), items.scores[item]
    if node < first:
        node = n_nodes
        counts[HYPOTHESES] = n_nodes + 1
        items.slots[place] = node
        scores[node] = -np.inf
        rows[node, 0] = -1
        for k in range(states.shape[1]):
            states[node, k] = items.states[item, k]
        for k in range(hypotheses.floats.shape[1]):
            hypotheses.floats[node, k] = items.floats[item, k]
    if score > scores[node] or rows[node, 0] < 0:
        scores[node] = score
        rows[node, 0], rows[node, 1], rows[node, 2] = rule, tails[0], tails[1]
    if keep:
        edges = hypotheses.edges
        if n_edges >= edges.shape[0]:
            return NO_EDGES
        edges[n_edges, 0], edges[n_edges, 1], edges[n_edges, 2], edges[n_edges, 3] = node, rule, tails[0], tails[1]
        hypotheses.gains[n_edges] = items.gains[item]
        if paths.cubes.shape[0] > 0:
            hypotheses.paths[n_edges] = paths.cubes[items.rows[item, CUBE]]
        counts[HYPEREDGES] = n_edges + 1
    return 0


@kernel(inline=True, fast=False, owning=False)
def add_neighbours(item, n_items, size, base, lazy, rules, chart, items, paths, node_scores):
    """Enter the items one step further along each axis, those that are new; return the numbers of items and queued."""
    rows, cubes, cells = items.rows, chart.cubes, chart.cells
    c = np.int64(rows[item, CUBE])
    for axis in range(3):
        r, one, two = np.int64(rows[item, RULE]), np.int64(rows[item, ONE]), np.int64(rows[item, TWO])
        if axis == 0:
            r += 1
            if r >= cubes[c, SIZE]:
                continue
        elif axis == 1:
            one += 1
            if cubes[c, LEFT] < 0 or one >= cells[cubes[c, LEFT], 1]:
                continue
        else:
            two += 1
            if cubes[c, RIGHT] < 0 or two >= cells[cubes[c, RIGHT], 1]:
                continue
        place = find_item(rows, c, r, one, two, items.seen, base)
        if items.seen[place] >= base:
            continue
        items.seen[place] = base + n_items
        rows[n_items, CUBE], rows[n_items, RULE], rows[n_items, ONE] = c, r, one
        rows[n_items, TWO], rows[n_items, DONE] = two, 0
        if lazy:  # as far off as its neighbour's was
            estimate = estimate_item(c, r, one, two, rules, chart, paths, node_scores)
            items.estimates[n_items] = estimate
            estimate += items.scores[item] - items.estimates[item]
            size = push(items.heap_keys, items.heap_rows, size, estimate, np.int32(n_items))
        n_items += 1
    return n_items, size


@kernel(inline=True, fast=False, owning=False)
def fill_cell(
    kind, n_cubes, base, passed, weights, settings, rules, model, context, chart, items, paths, hypotheses, counts
):
    """Take items off the cell's cubes, best first; return how many were made, or what was too small."""
    limit, lazy = settings[POP_LIMIT], settings[LAZY] > 0
    rows, cubes, cells, ordered = items.rows, chart.cubes, chart.cells, chart.ordered
    heap_keys, heap_rows, target_offsets = items.heap_keys, items.heap_rows, rules.target_offsets
    whole, first_pseudo, first = settings[WHOLE_STATES] > 0, rules.ordered.shape[0] - 4, counts[HYPOTHESES]
    if n_cubes > rows.shape[0]:
        return np.int64(NO_ITEMS)
    for c in range(n_cubes):
        rows[c, CUBE], rows[c, RULE], rows[c, ONE], rows[c, TWO], rows[c, DONE] = c, 0, 0, 0, 0
        items.estimates[c] = estimate_item(c, _ZERO, _ZERO, _ZERO, rules, chart, paths, hypotheses.scores)
    n_items, size, pending, pops, tails = n_cubes, np.int64(0), np.int64(0), 0, context.tails
    while limit <= 0 or pops < limit:
        if pending < (n_cubes if lazy else n_items):  # what is not to wait
            item = pending
            pending += 1
        elif size > 0:
            item = np.int64(heap_rows[0])
            size = pop(heap_keys, heap_rows, size)
        else:
            break
        c = np.int64(rows[item, CUBE])
        rule = np.int64(rules.ordered[cubes[c, RULES] + rows[item, RULE]])
        tails[0], tails[1] = cubes[c, LEFT], cubes[c, RIGHT]
        if tails[0] >= 0:
            tails[0] = ordered[cells[tails[0], 0] + rows[item, ONE]]
        if tails[1] >= 0:
            tails[1] = ordered[cells[tails[1], 0] + rows[item, TWO]]
        if rows[item, DONE] == 0:
            begin, end, word, score = target_offsets[rule], target_offsets[rule + 1], np.int64(0), rules.scores[rule, 0]
            if rule == first_pseudo + PASSED:
                begin, word = np.int64(-1), np.int64(passed[-2 - tails[0]])
                if model.ids[word] == 0:
                    score += weights[1]
            gain = combine(
                rules.target,
                begin,
                end,
                word,
                kind == PREFIX and tails[1] < 0,
                tails,
                model,
                context,
                whole,
                hypotheses.states,
                hypotheses.floats,
                items.states[item],
                items.floats[item],
            )
            score += weights[0] * gain
            if paths.cubes.shape[0] > 0:
                score += paths.scores[paths.cubes[c]]
            for side in range(2):
                if tails[side] >= 0:
                    score += hypotheses.scores[tails[side]]
            items.scores[item], items.gains[item], rows[item, DONE] = score, gain, 1
            if kind == WHOLE:
                items.states[item][:] = 0  # one goal for all words
            counts[SCORED] += 1
            if pending > item or (size > 0 and heap_keys[0] > score):
                size = push(heap_keys, heap_rows, size, score, np.int32(item))
                continue
        pops += 1
        if n_items + 3 > rows.shape[0]:  # no cell has more hypotheses than items
            return np.int64(NO_ITEMS)
        status = take_item(item, rule, tails, first, settings[KEEP_EDGES] > 0, items, paths, hypotheses, counts)
        if status < 0:
            return np.int64(status)
        n_items, size = add_neighbours(item, n_items, size, base, lazy, rules, chart, items, paths, hypotheses.scores)
    counts[TAKEN] += pops
    return n_items


@kernel(inline=True, fast=False, owning=False)
def order_cell(cell, first, last, chart, items, node_scores):
    """Put a cell's hypotheses, ``first .. last``, in falling order."""
    size = np.int64(0)
    for node in range(first, last):
        size = push(items.heap_keys, items.heap_rows, size, node_scores[node], np.int32(node))
    chart.cells[cell, 0], chart.cells[cell, 1] = first, last - first
    for k in range(first, last):
        chart.ordered[k] = items.heap_rows[0]
        size = pop(items.heap_keys, items.heap_rows, size)


@kernel(fast=False, owning=False)
def decode(words, passed, settings, weights, rules, model, context, chart, items, paths, hypotheses, counts):
    """Find one sentence's hypotheses.

    words (int32 [words]): Source ids.
    passed (int32 [words]): The target id that a word has when it is passed through.
    settings (int64 [6]): Most items taken in a cell (0: all); longest span of X; whether whole states are kept; whether
        hyperedges are kept; whether items that are not a cube's first wait unscored until their estimate is the
        highest; whether words of the grammar that no rule has alone are passed through.
    weights (float64 [2]): Of the language model, and of a passed word that it does not know.
    rules (RuleTables), model (ModelTables).
    context: Working memory.
    chart: Filled.
    items: Working memory.
    paths: Without elements: of lattices.
    hypotheses: Filled.
    counts (int64 [4], output): Hypotheses; hyperedges; items taken; items scored.
    Returns the goal's hypothesis; below 0 what was too small.
    """
    n, span = words.shape[0], min(settings[SPAN_LIMIT], words.shape[0])
    first_pseudo = np.int64(rules.ordered.shape[0] - 4)
    base = np.int64(0)  # of the numbers of the cell's items
    items.slots[:] = -1
    items.seen[:] = -1
    counts[:] = 0
    kind, i, d = np.int64(SPAN), n - 1, np.int64(0)
    while True:
        kind, i, d = next_cell(kind, i, d, n, span)
        n_active, n_gaps = np.int64(0), np.int64(0)
        if kind == SPAN:
            cell = i * span + d - 1
            n_cubes, n_active, n_gaps = match_rules(words, i, d, span, settings[PASS_KNOWN] > 0, rules, chart)
        elif kind == PREFIX:
            cell = n * span + d - 1
            n_cubes = glue(d, n, span, first_pseudo, chart)
        else:
            cell = n * span + n
            n_cubes = set_cube(chart.cubes, np.int64(0), first_pseudo + GOAL, _ONE, cell - 1, _NONE)
        if n_cubes < 0:
            return n_cubes
        first = counts[HYPOTHESES]
        n_items = fill_cell(
            kind,
            n_cubes,
            base,
            passed,
            weights,
            settings,
            rules,
            model,
            context,
            chart,
            items,
            paths,
            hypotheses,
            counts,
        )
        if n_items < 0:
            return n_items
        base += n_items
        order_cell(cell, first, counts[HYPOTHESES], chart, items, hypotheses.scores)
        if kind == WHOLE:
            return counts[HYPOTHESES] - 1
        if kind == SPAN:
            v = np.int64(rules.nodes[0, GAP])  # rules that begin with a nonterminal
            if v >= 0 and counts[HYPOTHESES] > first:
                if n_active >= chart.active.shape[0]:
                    return np.int64(NO_ACTIVE)
                n_active, n_gaps = add_active(chart, n_active, n_gaps, rules.nodes, v, cell, _NONE)
            chart.active_at[d + 1], chart.gaps_at[d + 1] = n_active, n_gaps
