"""Compiled: the best tree, projective or not (Chu & Liu 1965; Edmonds 1967), in O(n^2) for dense graphs."""

import math

from aligntools.ground.compiler import kernel


@kernel(fast=False, part=True)
def _contract(path, first, depth, c, cost, source, target, alive, parent, pred):
    """Make the cycle ``path[first:depth]`` one node ``c``: the best edges into it and out of it."""
    for i in range(first, depth):
        alive[path[i]] = 0
        parent[path[i]] = c
    for u in range(c):
        if alive[u] == 0:
            continue
        top, at = -math.inf, path[first]
        low, into = -math.inf, path[first]
        for i in range(first, depth):
            x = path[i]
            gain = cost[x, u] - cost[x, pred[x]]
            if gain > top:
                top, at = gain, x
            if u > 0 and cost[u, x] > low:
                low, into = cost[u, x], x
        cost[c, u], source[c, u], target[c, u] = top, source[at, u], target[at, u]
        if u > 0:
            cost[u, c], source[u, c], target[u, c] = low, source[u, into], target[u, into]
    alive[c] = 1


@kernel(fast=False)
def best_tree(scores, lengths, edges, words, begin, end, single, costs, nodes, heads, best):
    """Find the highest-scoring tree.

    From a word its best head is followed, from there the next, until the root is reached or a cycle closes; the
    cycle becomes one node and the walk goes on from there. With a single root, the root is taken only where nothing
    else is left, which makes its edges as few as can be (Stanojević & Cohen 2021) and the tree the best among those.
    Ties go to the lowest head. Where no tree is possible the words get a flat tree and the score is -inf.

    costs (float64 [>= (2 n + 1)^2]): Scratch.
    nodes (int32 [>= 2 (2 n + 1)^2 + 8 (2 n + 1)]): Scratch.
    The others are as for `kernels_projective.best_tree`.
    """
    for s in range(begin, end):
        n = lengths[s]
        if n == 0:
            best[s] = 0.0
            continue
        size = 2 * n + 1
        sc = scores[edges[s] : edges[s + 1]].reshape(n, n + 1)
        tree = heads[words[s] : words[s + 1]]
        cost = costs[: size * size].reshape(size, size)  # [modifier, head]
        tails = nodes[: 2 * size * size].reshape(2, size, size)
        source, target = tails[0], tails[1]  # the words that an edge between nodes joins
        lists = nodes[2 * size * size :][: 8 * size].reshape(8, size)
        state, path, parent, pred = lists[0], lists[1], lists[2], lists[3]
        e_source, e_target, alive = lists[4], lists[5], lists[6]
        for v in range(size):
            state[v], parent[v], alive[v] = 0, -1, 1 if v <= n else 0  # state: 0 new, 1 on the path, 2 done
        state[0] = 2
        for m in range(1, n + 1):
            for h in range(n + 1):
                cost[m, h] = sc[m - 1, h] if h != m else -math.inf
                source[m, h], target[m, h] = h, m
        count, possible = n + 1, True
        for begin_at in range(1, n + 1):
            if state[begin_at] != 0 or not possible:
                continue
            v = begin_at
            while parent[v] >= 0:
                v = parent[v]
            if state[v] != 0:
                continue
            depth = 0
            while possible:
                path[depth] = v
                state[v] = 1
                depth += 1
                top, at = -math.inf, -1
                for u in range(1 if single else 0, count):
                    if alive[u] == 1 and u != v and cost[v, u] > top:
                        top, at = cost[v, u], u
                if at < 0 and single and cost[v, 0] > top:
                    at = 0
                if at < 0:
                    possible = False
                    break
                pred[v] = at
                e_source[v], e_target[v] = source[v, at], target[v, at]
                if state[at] == 2:
                    for i in range(depth):
                        state[path[i]] = 2
                    break
                if state[at] == 0:
                    v = at
                    continue
                first = depth - 1  # a cycle: path[first:depth]
                while path[first] != at:
                    first -= 1
                c = count
                count += 1
                _contract(path, first, depth, c, cost, source, target, alive, parent, pred)
                depth = first
                v = c
        roots, total = 0, 0.0
        if possible:
            for c in range(count - 1, n, -1):  # an edge into a cycle replaces one of the cycle's own
                x = e_target[c]
                while parent[x] != c:
                    x = parent[x]
                e_source[x], e_target[x] = e_source[c], e_target[c]
            for m in range(1, n + 1):
                tree[m - 1] = e_source[m]
                total += sc[m - 1, e_source[m]]
                roots += 1 if e_source[m] == 0 else 0
        if not possible or (single and roots != 1):
            tree[:] = 1
            tree[0] = 0
            total = -math.inf
        best[s] = total
