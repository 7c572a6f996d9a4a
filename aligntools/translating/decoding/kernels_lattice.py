"""Finding a lattice's derivations: cells are pairs of nodes, and source sides are matched along arcs.

Dyer, Muresan & Resnik 2008 ("Generalizing word lattice translation", section 4). Otherwise as in `kernels_decoder`: a
sentence is the lattice whose every arc leads one node further, and has the same hypotheses in the same order. An item
also has the path of arcs that it came by, whose scores count where its rule does: two paths with the same words are
two derivations.
"""

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.translating.decoding.kernels_decoder import (
    BINARY,
    COUNT,
    FIRST,
    GAP,
    GOAL,
    HYPOTHESES,
    NO_ACTIVE,
    NO_CUBES,
    NO_PATHS,
    PASS_KNOWN,
    PASSED,
    PREFIX,
    SPAN,
    UNARY,
    WHOLE,
    WORDS,
    add_active,
    fill_cell,
    order_cell,
    set_cube,
)
from aligntools.translating.grammar.kernels_trie import find_step

#: Pairs of nodes without a cell: none that matters, and one where a source side may be on its way to a cell.
OUTSIDE, BETWEEN = -1, -2
_ONE, _NONE = np.int64(1), np.int64(-1)


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
def step(i, j, own, arcs, rules, chart, paths, n_active, n_gaps, n_paths, n_cubes):
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
def step_cells(i, j, own, arcs, rules, chart, paths, n_active, n_gaps, n_cubes):
    """Match cells that end at ``j``, after the items from ``i`` before a gap; return the numbers, as `step` does."""
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
def glue_nodes(j, n_cells, arcs, rules, chart, paths):
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
def next_pair(kind, i, j, cells):
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
def decode_lattice(
    n_cells, arcs, passed, settings, weights, rules, model, context, chart, items, paths, hypotheses, counts
):
    """Find one lattice's hypotheses; parameters and result are those of `kernels_decoder.decode`, but for

    n_cells (int): Cells of X; those of S to each node follow, then the goal's.
    arcs: Every node is on a path from the first to the last; there is an arc.
    passed (int32 [arcs]).
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
        kind, i, j = next_pair(kind, i, j, arcs.cells)
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
            n_active, n_gaps, n_paths, n_cubes = step(
                i, j, own, arcs, rules, chart, paths, n_active, n_gaps, n_paths, np.int64(0)
            )
            if n_cubes >= 0:
                n_active, n_gaps, n_cubes = step_cells(i, j, own, arcs, rules, chart, paths, n_active, n_gaps, n_cubes)
            if n_cubes >= 0 and own:
                n_paths, n_cubes = pass_words(
                    i, j, settings[PASS_KNOWN] > 0, arcs, rules, chart, paths, n_paths, n_cubes
                )
        elif kind == PREFIX:
            cell = n_cells + j
            n_cubes = glue_nodes(j, n_cells, arcs, rules, chart, paths)
        else:
            cell = n_cells + n
            n_cubes = set_cube(chart.cubes, np.int64(0), first_pseudo + GOAL, _ONE, cell - 1, _NONE)
            paths.cubes[0] = 0
        if n_cubes < 0:
            return n_cubes
        first = counts[HYPOTHESES]
        if own:
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
