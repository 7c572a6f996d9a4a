"""Compiled: which alignments ITGs can build (Wu 1997; blocks: Haghighi et al. 2009), and phrases linked as wholes."""

import numpy as np

from aligntools.aligning.contrastive.kernels_features import FERTILITY, is_linked
from aligntools.ground.compiler import kernel

#: No constraint; links one-to-one and nested; blocks of links nested.
NONE, ITG, BLOCK_ITG = range(3)


@kernel
def _root(parent, x):
    """Return the representative of a set, halving the way there."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def nests(constraint, rows, columns, bits, source, target, extra, scratch):
    """Return whether an alignment, with candidate ``extra`` added, meets the constraint.

    Words without a link are left out. Words that links join, directly or through others, are a block; a block must
    be contiguous on both sides, and the blocks' order must come from exchanging neighbours in a nested way, which
    shift and reduce decides. ``ITG`` also asks for links that are one-to-one.

    source, target (int32 [I, 3], [J, 3]): Without ``extra``.
    scratch (int32 [9, >= I + J]).
    """
    n_i, n_j = source.shape[0], target.shape[0]
    row, column = rows[extra], columns[extra]
    if constraint == ITG and (source[row, FERTILITY] > 0 or target[column, FERTILITY] > 0):
        return False
    parent, s_rank, t_rank = scratch[0], scratch[1], scratch[2]
    s_low, s_high, t_low, t_high = scratch[3], scratch[4], scratch[5], scratch[6]
    s_size, t_size = scratch[7], scratch[8]
    rank = 0
    for i in range(n_i):
        s_rank[i] = rank
        if source[i, FERTILITY] > 0 or i == row:
            rank += 1
    rank = 0
    for j in range(n_j):
        t_rank[j] = rank
        if target[j, FERTILITY] > 0 or j == column:
            rank += 1
    for x in range(n_i + n_j):
        parent[x] = x
        s_low[x], s_high[x], s_size[x] = n_i, -1, 0
        t_low[x], t_high[x], t_size[x] = n_j, -1, 0
    for c in range(rows.shape[0]):
        if c == extra or is_linked(bits, c) == 1:
            a, b = _root(parent, rows[c]), _root(parent, n_i + columns[c])
            parent[max(a, b)] = min(a, b)
    for i in range(n_i):
        if source[i, FERTILITY] > 0 or i == row:
            r = _root(parent, i)
            s_low[r] = min(s_low[r], s_rank[i])
            s_high[r] = max(s_high[r], s_rank[i])
            s_size[r] += 1
    for j in range(n_j):
        if target[j, FERTILITY] > 0 or j == column:
            r = _root(parent, n_i + j)
            t_low[r] = min(t_low[r], t_rank[j])
            t_high[r] = max(t_high[r], t_rank[j])
            t_size[r] += 1
    depth = 0  # s_rank and t_rank now serve as the stack of target spans
    for i in range(n_i):
        r = parent[i]
        if r != i or s_size[i] == 0:  # a block's representative is its first source word
            continue
        if s_high[i] - s_low[i] + 1 != s_size[i] or t_high[i] - t_low[i] + 1 != t_size[i]:
            return False
        low, high = t_low[i], t_high[i]
        while depth > 0 and (s_rank[depth - 1] == high + 1 or t_rank[depth - 1] == low - 1):
            low = min(low, s_rank[depth - 1])
            high = max(high, t_rank[depth - 1])
            depth -= 1
        s_rank[depth] = low
        t_rank[depth] = high
        depth += 1
    return depth <= 1


#: Words of a phrase on either side, at most.
LONGEST = 4


@kernel(part=True)
def _gain(place, odds, bonus, linked, s_links, t_links, i0, i1, j0, j1):
    """Return what it is worth to link all cells of a block; 0 where it is no phrase.

    All its cells must be candidates, and the links of its words must lie inside; there is at least one.
    """
    total, inside, leaving = 0.0, 0, 0
    for i in range(i0, i1):
        leaving += s_links[i]
        for j in range(j0, j1):
            c = place[i, j]
            if c < 0:
                return 0.0
            if linked[c]:
                inside += 1
            else:
                total += odds[c] + bonus
    for j in range(j0, j1):
        leaving += t_links[j]
    return total if leaving == 2 * inside else 0.0


@kernel(owning=False)
def link_phrases(k0, k1, starts, s_offsets, t_offsets, rows, columns, odds, bonus, place, s_links, t_links, linked):
    """Link the phrases of sentence pairs, from the one that gains most to the one that gains least.

    Phrases do not overlap on either side.

    starts, s_offsets, t_offsets, rows, columns: See `candidate_links.CandidateLinks`.
    odds (float64 [candidates]): Natural log-odds.
    bonus (float): What is added to the log-odds of each cell.
    place (int32 [words of the longest source side, of the longest target side], scratch, filled with -1), s_links,
        t_links (int64 [words of the longest side], scratch).
    linked (uint8 [candidates]): 1 for links; those of phrases are added.
    """
    used = np.int64(1) << 32  # links of a word that is in a phrase already: no block with it closes
    for k in range(k0, k1):
        a, b = starts[k], starts[k + 1]
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        for i in range(n_i):
            s_links[i] = 0
        for j in range(n_j):
            t_links[j] = 0
        for c in range(a, b):
            place[rows[c], columns[c]] = c
            s_links[rows[c]] += linked[c]
            t_links[columns[c]] += linked[c]
        searching = True
        while searching:
            best, i0, i1, j0, j1 = 0.0, 0, 0, 0, 0
            for c in range(a, b):
                if not linked[c] or s_links[rows[c]] >= used:
                    continue
                for top in range(max(0, rows[c] - LONGEST + 1), rows[c] + 1):
                    for left in range(max(0, columns[c] - LONGEST + 1), columns[c] + 1):
                        for bottom in range(rows[c] + 1, min(n_i, top + LONGEST) + 1):
                            for right in range(columns[c] + 1, min(n_j, left + LONGEST) + 1):
                                gain = _gain(place, odds, bonus, linked, s_links, t_links, top, bottom, left, right)
                                if gain > best:
                                    best, i0, i1, j0, j1 = gain, top, bottom, left, right
            searching = best > 0.0
            for i in range(i0, i1):
                s_links[i] = used
                for j in range(j0, j1):
                    linked[place[i, j]] = 1
            for j in range(j0, j1):
                t_links[j] = used
        for c in range(a, b):
            place[rows[c], columns[c]] = -1
