"""Compiled: phrases that are linked as wholes, each word of one side with each word of the other."""

import numpy as np

from aligntools.ground.compiler import kernel

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
