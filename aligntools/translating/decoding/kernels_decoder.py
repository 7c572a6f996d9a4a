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

from aligntools.ground.compiling import kernel
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
NO_ACTIVE, NO_CUBES, NO_ITEMS, NO_NODES, NO_EDGES = -1, -2, -3, -4, -5
_MIX = np.uint64(0x9E3779B97F4A7C15)
_MIX2 = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(32)


@kernel(inline=True, fast=False)
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


@kernel(inline=True, fast=False)
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


@kernel(inline=True)
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


@kernel(inline=True)
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


@kernel(fast=False)
def decode(
    words, passed, settings, steps, children, table, rules, rule_scores, target_offsets, target,
    lm_ids, unigrams, lm_keys, lm_values, order, lm_weight, unknown_weight,
    active, active_at, gaps, gaps_at, cells, sorted_nodes, cubes,
    items, item_scores, item_estimates, item_gains, item_states, item_floats, heap_keys, heap_items, seen,
    slots, nodes, node_scores, node_states, node_floats, edges, edge_gains, counts,
):  # fmt: skip
    """Find one sentence's hypotheses.

    Parameters
    ----------
    words : int32 [words]
        Source ids.
    passed : int32 [words]
        The target id that a word has when it is passed through.
    settings : int64 [5]
        Most items taken in a cell (0: all); longest span of X; whether whole states are kept; whether hyperedges are
        kept; whether items that are not a cube's first wait unscored until their estimate is the highest.
    steps, children : uint64, int32
        The trie's steps by words.
    table : int32 [trie nodes, 4]
        Step by a nonterminal (-1 none); where the node's rules begin, and how many; whether there are steps by words.
    rules : int32 [rules + 4]
        Rules of each node, best first; then the pseudo-rules.
    rule_scores : float64 [rules + 4, 2]
        Score without language model; estimate with it.
    target_offsets, target : int64 [rules + 5], int32
        Target sides, with those of the pseudo-rules.
    lm_ids, unigrams, lm_keys, lm_values, order, lm_weight, unknown_weight
        The language model, its weight, and that of a passed word that it does not know; see `kernels_state.combine`.
    active, gaps : int32 [*, 3]
        Trie node and two cells of active items: all, and those that a nonterminal may follow (its node is given then).
    active_at, gaps_at : int64 [longest span + 2]
    cells : int32 [words * longest span + words + 1, 2]
        Where a cell's hypotheses begin in ``sorted_nodes``, and how many. X of i..j is ``i * span + j - i - 1``, S
        of 0..j ``words * span + j - 1``, and the goal comes last.
    cubes : int32 [*, 4]
    items : int32 [*, 5]
    heap_keys, heap_items : float64, int32 [as many as items]
    seen, slots : int64, int32 [a power of two, at least twice the items]
    nodes : int32 [*, 3], output
        Best rule, and tails: nodes, -1, or ``-2 - position`` for a word passed through.
    node_scores : float64 [*], output
    node_states, node_floats : int32, float32 [*, width], output
    edges : int32 [*, 4], output
        Node, rule, tails.
    edge_gains : float32 [*], output
        Log-probability that the language model adds.
    counts : int64 [4], output
        Hypotheses; hyperedges; items taken; items scored.

    Returns
    -------
    int
        The goal's node; below 0 what was too small.
    """
    n, limit, span = words.shape[0], settings[0], min(settings[1], words.shape[0])
    whole, keep, lazy = settings[2] > 0, settings[3] > 0, settings[4] > 0
    room = order - 1
    first_pseudo = np.int64(rules.shape[0] - 4)
    context = np.zeros(order + 1, np.int32)
    backoffs, fresh = np.zeros(order + 1, np.float32), np.zeros(order + 1, np.float32)
    result, tails = np.zeros(2, np.int64), np.zeros(2, np.int64)
    n_nodes, n_edges, taken, scored = np.int64(0), np.int64(0), 0, 0
    base = np.int64(0)  # of the numbers of the cell's items
    slots[:] = -1
    seen[:] = -1
    i, d, phase = n - 1, 0, 0  # X from i, of d words; S of the first d words; the goal
    while True:
        # What is next
        if phase == 0:
            d += 1
            if d > span or i + d > n:
                i, d = i - 1, 1
                if i < 0:
                    phase, d = 1, 0
        if phase == 1:
            d += 1
            if d > n:
                phase = 2
        n_cubes = 0
        # Its cubes
        if phase == 0:
            if d == 1:
                active[0, 0], active[0, 1], active[0, 2] = 0, -1, -1
                active_at[0], active_at[1], gaps_at[0], gaps_at[1] = 0, 1, 0, 0
            n_active, n_gaps = active_at[d], gaps_at[d]
            cell = i * span + d - 1
            alone = False  # whether a rule has just this word
            for back in range(d):  # how far the item has got: by a word from d - 1, by a cell from elsewhere
                if back == 0:
                    begin, end = active_at[d - 1], active_at[d]
                else:
                    begin, end = gaps_at[back], gaps_at[back + 1]
                    right = (i + back) * span + d - back - 1
                    if cells[right, 1] == 0:
                        continue
                if n_active + end - begin >= active.shape[0]:
                    return NO_ACTIVE
                if n_cubes + end - begin + 2 >= cubes.shape[0]:
                    return NO_CUBES
                for a in range(begin, end):
                    if back == 0:
                        v = np.int64(active[a, 0])
                        if table[v, WORDS] == 0:
                            continue
                        v = find_step(steps, children, v, np.int64(words[i + d - 1]))
                        if v < 0:
                            continue
                        one, two = active[a, 1], active[a, 2]
                    else:
                        v = np.int64(gaps[a, 0])
                        one, two = gaps[a, 1], np.int32(-1)
                        if one < 0:
                            one = np.int32(right)
                        else:
                            two = np.int32(right)
                    active[n_active, 0], active[n_active, 1], active[n_active, 2] = v, one, two
                    n_active += 1
                    if table[v, GAP] >= 0:
                        gaps[n_gaps, 0], gaps[n_gaps, 1], gaps[n_gaps, 2] = table[v, GAP], one, two
                        n_gaps += 1
                    if table[v, COUNT] > 0:
                        cubes[n_cubes, RULES], cubes[n_cubes, SIZE] = table[v, FIRST], table[v, COUNT]
                        cubes[n_cubes, LEFT], cubes[n_cubes, RIGHT] = one, two
                        n_cubes += 1
                        alone = alone or d == 1
            if d == 1 and not alone:
                cubes[n_cubes, RULES], cubes[n_cubes, SIZE] = first_pseudo + PASSED, 1
                cubes[n_cubes, LEFT], cubes[n_cubes, RIGHT] = -2 - i, -1
                n_cubes += 1
        elif phase == 1:
            cell = n * span + d - 1
            if n + 2 > cubes.shape[0]:
                return NO_CUBES
            for k in range(max(0, d - span), d):
                x = k * span + d - k - 1
                if cells[x, 1] == 0:
                    continue
                cubes[n_cubes, RULES], cubes[n_cubes, SIZE] = first_pseudo + (UNARY if k == 0 else BINARY), 1
                cubes[n_cubes, LEFT], cubes[n_cubes, RIGHT] = (x if k == 0 else n * span + k - 1), (-1 if k == 0 else x)
                n_cubes += 1
        else:
            cell = n * span + n
            cubes[0, RULES], cubes[0, SIZE] = first_pseudo + GOAL, 1
            cubes[0, LEFT], cubes[0, RIGHT] = cell - 1, -1
            n_cubes = 1
        # Its hypotheses
        first = n_nodes
        n_items, size, pending, pops = 0, 0, 0, 0
        if n_cubes > items.shape[0]:
            return NO_ITEMS
        for c in range(n_cubes):
            items[c, CUBE], items[c, RULE], items[c, ONE], items[c, TWO], items[c, DONE] = c, 0, 0, 0, 0
            estimate = rule_scores[rules[cubes[c, RULES]], 1]
            for side in range(LEFT, RIGHT + 1):
                if cubes[c, side] >= 0:
                    estimate += node_scores[sorted_nodes[cells[cubes[c, side], 0]]]
            item_estimates[c] = estimate
        n_items = n_cubes
        while limit <= 0 or pops < limit:
            item = -1
            if pending < (n_cubes if lazy else n_items):  # what is not to wait
                item = np.int64(pending)
                pending += 1
            elif size > 0:
                item = np.int64(heap_items[0])
                size = pop(heap_keys, heap_items, size)
            else:
                break
            c = items[item, CUBE]
            rule = np.int64(rules[cubes[c, RULES] + items[item, RULE]])
            tails[0], tails[1] = cubes[c, LEFT], cubes[c, RIGHT]
            if tails[0] >= 0:
                tails[0] = sorted_nodes[cells[tails[0], 0] + items[item, ONE]]
            if tails[1] >= 0:
                tails[1] = sorted_nodes[cells[tails[1], 0] + items[item, TWO]]
            if items[item, DONE] == 0:
                begin, end, word = target_offsets[rule], target_offsets[rule + 1], np.int64(0)
                score = rule_scores[rule, 0]
                if rule == first_pseudo + PASSED:
                    begin, word = np.int64(-1), np.int64(passed[-2 - tails[0]])
                    if lm_ids[word] == 0:
                        score += unknown_weight
                gain = combine(
                    target, begin, end, word, phase == 1 and tails[1] < 0, tails, lm_ids,
                    unigrams, lm_keys, lm_values, room, whole,
                    node_states, node_floats, context, backoffs, fresh, result, item_states[item], item_floats[item],
                )  # fmt: skip
                scored += 1
                score += lm_weight * gain
                if tails[0] >= 0:
                    score += node_scores[tails[0]]
                if tails[1] >= 0:
                    score += node_scores[tails[1]]
                item_scores[item], item_gains[item], items[item, DONE] = score, gain, 1
                if phase == 2:
                    item_states[item][:] = 0  # one goal, whatever the words
                if pending > item or (size > 0 and heap_keys[0] > score):
                    size = push(heap_keys, heap_items, size, score, np.int32(item))
                    continue
            # Take it: a hyperedge
            pops += 1
            if n_nodes >= nodes.shape[0]:
                return NO_NODES
            if n_items + 3 > items.shape[0]:  # no cell has more hypotheses than items
                return NO_ITEMS
            place = find_state(node_states, item_states[item], slots, first)
            node = np.int64(slots[place])
            score = item_scores[item]
            if node < first:
                node = n_nodes
                n_nodes += 1
                slots[place] = node
                node_scores[node] = -np.inf
                nodes[node, 0] = -1
                for k in range(node_states.shape[1]):
                    node_states[node, k] = item_states[item, k]
                for k in range(node_floats.shape[1]):
                    node_floats[node, k] = item_floats[item, k]
            if score > node_scores[node] or nodes[node, 0] < 0:
                node_scores[node] = score
                nodes[node, 0], nodes[node, 1], nodes[node, 2] = rule, tails[0], tails[1]
            if keep:
                if n_edges >= edges.shape[0]:
                    return NO_EDGES
                edges[n_edges, 0], edges[n_edges, 1] = node, rule
                edges[n_edges, 2], edges[n_edges, 3] = tails[0], tails[1]
                edge_gains[n_edges] = item_gains[item]
                n_edges += 1
            # Its neighbours
            for axis in range(3):
                r, one, two = np.int64(items[item, RULE]), np.int64(items[item, ONE]), np.int64(items[item, TWO])
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
                place = find_item(items, c, r, one, two, seen, base)
                if seen[place] >= base:
                    continue
                seen[place] = base + n_items
                items[n_items, CUBE], items[n_items, RULE], items[n_items, ONE] = c, r, one
                items[n_items, TWO], items[n_items, DONE] = two, 0
                if lazy:  # as far off as its neighbour's was
                    estimate = rule_scores[rules[cubes[c, RULES] + r], 1]
                    if cubes[c, LEFT] >= 0:
                        estimate += node_scores[sorted_nodes[cells[cubes[c, LEFT], 0] + one]]
                    if cubes[c, RIGHT] >= 0:
                        estimate += node_scores[sorted_nodes[cells[cubes[c, RIGHT], 0] + two]]
                    item_estimates[n_items] = estimate
                    estimate += item_scores[item] - item_estimates[item]
                    size = push(heap_keys, heap_items, size, estimate, np.int32(n_items))
                n_items += 1
        base += n_items
        taken += pops
        # In falling order
        size = 0
        for node in range(first, n_nodes):
            size = push(heap_keys, heap_items, size, node_scores[node], np.int32(node))
        cells[cell, 0], cells[cell, 1] = first, n_nodes - first
        for k in range(first, n_nodes):
            sorted_nodes[k] = heap_items[0]
            size = pop(heap_keys, heap_items, size)
        if phase == 2:
            break
        if phase == 0:  # rules that begin with a nonterminal
            if table[0, GAP] >= 0 and n_nodes > first:
                if n_active >= active.shape[0]:
                    return NO_ACTIVE
                v = np.int64(table[0, GAP])
                active[n_active, 0], active[n_active, 1], active[n_active, 2] = v, cell, -1
                n_active += 1
                if table[v, GAP] >= 0:
                    gaps[n_gaps, 0], gaps[n_gaps, 1], gaps[n_gaps, 2] = table[v, GAP], cell, -1
                    n_gaps += 1
            active_at[d + 1], gaps_at[d + 1] = n_active, n_gaps
    counts[0], counts[1], counts[2], counts[3] = n_nodes, n_edges, taken, scored
    return n_nodes - 1
