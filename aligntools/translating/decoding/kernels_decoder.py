"""Finding a lattice's derivations: CKY over the trie of rules, each cell filled by cube pruning.

Chiang 2007 ("Hierarchical phrase-based translation", sections 5 and 6.2), Huang & Chiang 2007 ("Forest rescoring") and
Dyer, Muresan & Resnik 2008 ("Generalizing word lattice translation", section 4). A sentence is the lattice whose every
arc leads one node further.

A cell is a pair of nodes with its hypotheses, X or S. Source sides are matched by walking the trie from each node, from
the last to the first, along arcs and over cells further right (active items: a trie node, the cells in the gaps, and
the path of arcs that it came by, whose scores count where its rule does: two paths with the same words are two
derivations). All rules with one source side and the same cells in their gaps are a cube: rules in falling order of
score on one axis, the hypotheses of each cell on the others. A cell takes items off all its cubes, best first, at most
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
#: What cells hold: X between two nodes, S from the first node, the goal.
SPAN, PREFIX, WHOLE = range(3)
#: Pairs of nodes without a cell: none that matters, and one where a source side may be on its way to a cell.
OUTSIDE, BETWEEN = -1, -2
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


@kernel(inline=True, fast=False, owning=False)
def estimate_item(c, rule, one, two, rules, chart, paths, node_scores):
    """Return what an item would score if its words cost what is known of them without their neighbours."""
    cubes, cells, ordered = chart.cubes, chart.cells, chart.ordered
    estimate = rules.scores[rules.ordered[cubes[c, RULES] + rule], 1] + paths.scores[paths.cubes[c]]
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
def fill_cell(kind, n_cubes, base, how, rules, model, context, chart, items, paths, hypotheses, counts):
    """Take items off the cell's cubes, best first; return how many were made, or what was too small.

    how: What `decode` takes as ``passed``, ``settings`` and ``weights``.
    """
    passed, settings, weights = how
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
            own, begins = (begin, end, word), kind == PREFIX and tails[1] < 0
            gain = combine(rules.target, own, begins, tails, model, context, whole, hypotheses, items, item)
            score += weights[0] * gain
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


@kernel(owning=False)
def number_cells(begins, at, span, distances, cells):
    """Number the cells of X: pairs of nodes whose shortest path is at most ``span`` arcs.

    begins, at: As in `kernels_tables.Arcs`.
    distances (int64 [nodes]): Working memory.
    cells (int32 [nodes, nodes], output): Numbers from 0, and `OUTSIDE` or `BETWEEN`.
    Returns how many there are.
    """
    n, count = cells.shape[0], np.int64(0)
    for i in range(n - 1, -1, -1):
        for j in range(n):
            distances[j] = -1
            cells[i, j] = OUTSIDE
        distances[i] = 0
        for j in range(i + 1, n):
            for a in range(at[j], at[j + 1]):
                if begins[a] >= i and distances[begins[a]] >= 0:
                    d = distances[begins[a]] + 1
                    if distances[j] < 0 or d < distances[j]:
                        distances[j] = d
            if distances[j] > 0 and distances[j] <= span:
                cells[i, j] = count
                count += 1
        for j in range(n - 1, i, -1):  # nodes on the way to a cell
            if distances[j] > 0 and cells[i, j] != OUTSIDE:
                for a in range(at[j], at[j + 1]):
                    k = begins[a]
                    if k > i and distances[k] > span:
                        cells[i, k] = BETWEEN
    return count


@kernel(inline=True, fast=False, owning=False)
def match_words(i, j, own, arcs, rules, chart, paths, n_active, n_gaps, n_paths, n_cubes):
    """Match arcs that end at ``j``, after the items from ``i`` that end where they begin.

    ``own`` tells whether there is a cell. Returns the numbers of items, of those before a gap, of paths and of cubes;
    the last is below 0 where something was too small.
    """
    active, cubes, nodes = chart.active, chart.cubes, rules.nodes
    for a in range(arcs.at[j], arcs.at[j + 1]):
        k = np.int64(arcs.begins[a])
        if k < i or (k > i and arcs.cells[i, k] == OUTSIDE):
            continue
        begin, end = chart.active_at[k], paths.ends[k, 0]
        if n_active + end - begin >= active.shape[0]:
            return n_active, n_gaps, n_paths, np.int64(NO_ACTIVE)
        if n_cubes + end - begin + 2 >= cubes.shape[0]:
            return n_active, n_gaps, n_paths, np.int64(NO_CUBES)
        if n_paths + end - begin >= paths.rows.shape[0]:
            return n_active, n_gaps, n_paths, np.int64(NO_PATHS)
        for item in range(begin, end):
            v = np.int64(active[item, 0])
            if nodes[v, WORDS] == 0:
                continue
            v = find_step(rules.steps, rules.children, v, np.int64(arcs.words[a]))
            if v < 0:
                continue
            one, two, before = np.int64(active[item, 1]), np.int64(active[item, 2]), paths.active[item]
            paths.rows[n_paths, 0], paths.rows[n_paths, 1] = before, a
            paths.scores[n_paths] = paths.scores[before] + arcs.scores[a]
            paths.active[n_active] = n_paths
            paths.gaps[n_gaps] = n_paths
            n_active, n_gaps = add_active(chart, n_active, n_gaps, nodes, v, one, two)
            if own and nodes[v, COUNT] > 0:
                paths.cubes[n_cubes] = n_paths
                n_cubes = set_cube(cubes, n_cubes, np.int64(nodes[v, FIRST]), np.int64(nodes[v, COUNT]), one, two)
            n_paths += 1
    return n_active, n_gaps, n_paths, n_cubes


@kernel(inline=True, fast=False, owning=False)
def match_cells(i, j, own, arcs, rules, chart, paths, n_active, n_gaps, n_cubes):
    """Match cells that end at ``j``, after items from ``i`` before a gap; return numbers as `match_words` does."""
    gaps, cubes, nodes = chart.gaps, chart.cubes, rules.nodes
    for k in range(i + 1, j):
        right = np.int64(arcs.cells[k, j])
        if arcs.cells[i, k] == OUTSIDE or right < 0 or chart.cells[right, 1] == 0:
            continue
        begin, end = chart.gaps_at[k], paths.ends[k, 1]
        if n_active + end - begin >= chart.active.shape[0]:
            return n_active, n_gaps, np.int64(NO_ACTIVE)
        if n_cubes + end - begin + 2 >= cubes.shape[0]:
            return n_active, n_gaps, np.int64(NO_CUBES)
        for item in range(begin, end):
            v, one, two, path = np.int64(gaps[item, 0]), np.int64(gaps[item, 1]), np.int64(-1), paths.gaps[item]
            if one < 0:
                one = right
            else:
                two = right
            paths.active[n_active] = path
            paths.gaps[n_gaps] = path
            n_active, n_gaps = add_active(chart, n_active, n_gaps, nodes, v, one, two)
            if own and nodes[v, COUNT] > 0:
                paths.cubes[n_cubes] = path
                n_cubes = set_cube(cubes, n_cubes, np.int64(nodes[v, FIRST]), np.int64(nodes[v, COUNT]), one, two)
    return n_active, n_gaps, n_cubes


@kernel(inline=True, fast=False, owning=False)
def pass_words(i, j, pass_known, arcs, rules, chart, paths, n_paths, n_cubes):
    """Make the cubes of words from ``i`` to ``j`` that no rule has alone; return the numbers of paths and of cubes."""
    first_pseudo = np.int64(rules.ordered.shape[0] - 4)
    for a in range(arcs.at[j], arcs.at[j + 1]):
        if arcs.begins[a] != i or not (pass_known or arcs.words[a] == 0):
            continue
        v = find_step(rules.steps, rules.children, np.int64(0), np.int64(arcs.words[a]))
        if v >= 0 and rules.nodes[v, COUNT] > 0:
            continue
        if n_cubes + 1 >= chart.cubes.shape[0]:
            return n_paths, np.int64(NO_CUBES)
        if n_paths + 1 >= paths.rows.shape[0]:
            return n_paths, np.int64(NO_PATHS)
        paths.rows[n_paths, 0], paths.rows[n_paths, 1] = 0, a
        paths.scores[n_paths] = arcs.scores[a]
        paths.cubes[n_cubes] = n_paths
        n_cubes = set_cube(chart.cubes, n_cubes, first_pseudo + PASSED, _ONE, -2 - np.int64(a), _NONE)
        n_paths += 1
    return n_paths, n_cubes


@kernel(inline=True, owning=False)
def glue(j, n_cells, arcs, rules, chart, paths):
    """Make the cubes of S from the first node to ``j``; return how many, or what was too small."""
    first_pseudo, n_cubes = np.int64(rules.ordered.shape[0] - 4), np.int64(0)
    if j + 2 > chart.cubes.shape[0]:
        return np.int64(NO_CUBES)
    for k in range(j):
        x = np.int64(arcs.cells[k, j])
        if x < 0 or chart.cells[x, 1] == 0:
            continue
        if k == 0:
            paths.cubes[n_cubes] = 0
            n_cubes = set_cube(chart.cubes, n_cubes, first_pseudo + UNARY, _ONE, x, _NONE)
        elif chart.cells[n_cells + k, 1] > 0:
            paths.cubes[n_cubes] = 0
            n_cubes = set_cube(chart.cubes, n_cubes, first_pseudo + BINARY, _ONE, n_cells + k, x)
    return n_cubes


@kernel(inline=True, owning=False)
def next_cell(kind, i, j, cells):
    """Return the cell that comes next: its kind, and the nodes that it is between."""
    n = cells.shape[0]
    if kind == SPAN:
        j += 1
        while i >= 0:
            while j < n and cells[i, j] == OUTSIDE:
                j += 1
            if j < n:
                break
            i -= 1
            j = i + 1
        if i < 0:
            kind, i, j = np.int64(PREFIX), np.int64(0), np.int64(0)
    if kind == PREFIX:
        j += 1
        if j == n:
            kind, j = np.int64(WHOLE), n - 1
    return kind, i, j


@kernel(fast=False, owning=False)
def decode(n_cells, arcs, passed, settings, weights, rules, model, context, chart, items, paths, hypotheses, counts):
    """Find one lattice's hypotheses.

    n_cells (int): Cells of X; those of S to each node follow, then the goal's.
    arcs (Arcs): Every node is on a path from the first to the last; there is an arc.
    passed (int32 [arcs]): The target id that a word has when it is passed through.
    settings (int64 [6]): Most items taken in a cell (0: all); longest span of X; whether whole states are kept; whether
        hyperedges are kept; whether items that are not a cube's first wait unscored until their estimate is the
        highest; whether words of the grammar that no rule has alone are passed through.
    weights (float64 [2]): Of the language model, and of a passed word that it does not know.
    rules (RuleTables), model (ModelTables).
    context, items: Working memory.
    chart, paths, hypotheses: Filled.
    counts (int64 [4], output): Hypotheses; hyperedges; items taken; items scored.
    Returns the goal's hypothesis; below 0 what was too small.
    """
    n, last_i = arcs.cells.shape[0], np.int64(-1)
    first_pseudo = np.int64(rules.ordered.shape[0] - 4)
    base, n_paths = np.int64(0), np.int64(1)
    n_active, n_gaps = np.int64(0), np.int64(0)
    items.slots[:] = -1
    items.seen[:] = -1
    counts[:] = 0
    paths.rows[0, 0], paths.rows[0, 1], paths.scores[0] = -1, -1, 0.0
    chart.cells[n_cells, 0], chart.cells[n_cells, 1] = 0, 0
    kind, i, j = np.int64(SPAN), np.int64(n - 1), np.int64(n - 1)
    while True:
        kind, i, j = next_cell(kind, i, j, arcs.cells)
        own = True
        if kind == SPAN:
            if i != last_i:  # the item that has matched nothing
                last_i, n_active, n_gaps = i, np.int64(1), np.int64(0)
                chart.active[0, 0], chart.active[0, 1], chart.active[0, 2] = 0, -1, -1
                paths.active[0] = 0
                chart.active_at[i], paths.ends[i, 0], chart.gaps_at[i], paths.ends[i, 1] = 0, 1, 0, 0
            cell = np.int64(arcs.cells[i, j])
            own = cell >= 0
            chart.active_at[j], chart.gaps_at[j] = n_active, n_gaps
            n_active, n_gaps, n_paths, n_cubes = match_words(
                i, j, own, arcs, rules, chart, paths, n_active, n_gaps, n_paths, _ZERO
            )
            if n_cubes >= 0:
                n_active, n_gaps, n_cubes = match_cells(i, j, own, arcs, rules, chart, paths, n_active, n_gaps, n_cubes)
            if n_cubes >= 0 and own:
                known = settings[PASS_KNOWN] > 0
                n_paths, n_cubes = pass_words(i, j, known, arcs, rules, chart, paths, n_paths, n_cubes)
        elif kind == PREFIX:
            cell = n_cells + j
            n_cubes = glue(j, n_cells, arcs, rules, chart, paths)
        else:
            cell = n_cells + n
            n_cubes = set_cube(chart.cubes, _ZERO, first_pseudo + GOAL, _ONE, cell - 1, _NONE)
            paths.cubes[0] = 0
        if n_cubes < 0:
            return n_cubes
        first = counts[HYPOTHESES]
        if own:
            how = passed, settings, weights
            n_items = fill_cell(
                kind, n_cubes, base, how, rules, model, context, chart, items, paths, hypotheses, counts
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
                paths.active[n_active] = 0
                paths.gaps[n_gaps] = 0
                n_active, n_gaps = add_active(chart, n_active, n_gaps, rules.nodes, v, cell, _NONE)
            paths.ends[j, 0], paths.ends[j, 1] = n_active, n_gaps


@kernel(owning=False)
def add_arc_features(edges, edge_paths, rows, values, out):
    """Sum the features of the arcs on each hyperedge's path.

    edges (int64 [edges]): Numbers of hyperedges, of `kernels_tables.Hypotheses`.
    edge_paths (int32): `kernels_tables.Hypotheses.paths`.
    rows (int32 [*, 2]): `kernels_tables.Paths.rows`.
    values (float32 [arcs, features]).
    out (float32 [edges, features], output): Zeros.
    """
    for e in range(edges.shape[0]):
        path = edge_paths[edges[e]]
        while path > 0:
            for f in range(values.shape[1]):
                out[e, f] += values[rows[path, 1], f]
            path = rows[path, 0]
