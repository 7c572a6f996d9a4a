"""Compiled: what each feature of an alignment changes by when one link is added.

An alignment of one sentence pair is a set of links, all of them *candidates*: cells ``(i, j)`` of the link matrix,
numbered by row and column. Its state is a handful of arrays, which every feature may read:

``bits`` : uint64 [ceil(candidates / 64)], which candidates are linked;
``source``, ``target`` : int32 [I, 3] and [J, 3], each word's FERTILITY, FIRST and LAST position it is linked to;
``totals`` : int32 [TOTALS], of the whole pair;
``crossings`` : int32 [candidates], how many links each candidate crosses.

And what does not change: ``rows``, ``columns`` : int32 [candidates]; ``neighbours`` : int32 [candidates, 8], the
numbers of the eight cells around a candidate by row and column, -1 where there is none; ``s_words``, ``t_words`` :
float32 [I, WORD_COSTS] and [J, WORD_COSTS]. Definitions are those of Liu & Sun (2015), section 2, as their program
computes them; `aligntools.aligning.contrastive.features` lists them and says how one is added.
"""

import numpy as np

from aligntools.ground.compiling import kernel

(
    TRANSLATION, LINKS, POSITION, CROSSES, MONOTONE, SWAP, SOURCE_LINKED, TARGET_LINKED, SOURCE_MOST, TARGET_MOST,
    SOURCE_GAPS, TARGET_GAPS, ONE_ONE, ONE_MANY, MANY_ONE, MANY_MANY,
    POSTERIOR, AGREEMENT, RIVALS, HARDEST_RIVAL, OTHERS, BEST, DIAGONAL_SUPPORT, SIDE_SUPPORT, WIDE_SUPPORT, COVERAGE,
    FORWARD_USE, REVERSE_USE, SIMILARITY, SAME_WORD, SYMBOLS, MISMATCH, FREQUENCY_GAP, RARITY, TOUCHING, LONELY,
    TREES,
) = range(37)  # fmt: skip
#: Features there are; the first sixteen are the paper's.
FEATURES = 37
#: A word's columns in ``source`` and ``target``.
FERTILITY, FIRST, LAST = range(3)
#: Links, the longest and the shortest row of each side, and the lengths of the two sentences.
N_LINKS, MOST_SOURCE, MOST_TARGET, N_SOURCE, N_TARGET = range(5)
TOTALS = 5
#: Columns of ``s_words`` and ``t_words``: log-probability of the word under NULL; log-odds that it has a link.
NULL_COST, LINKED_ODDS = range(2)
WORD_COSTS = 2
#: Columns of ``neighbours``: by row and column around the candidate.
UP_LEFT, UP, UP_RIGHT, LEFT, RIGHT, DOWN_LEFT, DOWN, DOWN_RIGHT = range(8)


@kernel(inline=True)
def is_linked(bits, c):
    """Return 1 if candidate ``c`` is linked; none (-1) never is."""
    if c < 0:
        return 0
    return np.int64((bits[c >> 6] >> np.uint64(c & 63)) & np.uint64(1))


@kernel(inline=True)
def null_relief(s_words, t_words, source, target, i, j):
    """Translation product, the part of NULL: what words that are linked for the first time no longer pay.

    The feature is ``sum over links of ln p(t_j|s_i) + ln p(s_i|t_j)``, and for every word without a link its
    log-probability given NULL. The links' part is the candidates' own value.
    """
    change = 0.0
    if source[i, FERTILITY] == 0:
        change -= s_words[i, NULL_COST]
    if target[j, FERTILITY] == 0:
        change -= t_words[j, NULL_COST]
    return change


@kernel(inline=True)
def relative_position(i, j, n_i, n_j):
    """Relative position absolute distance of one link, ``|i/I - j/J|`` with positions from 1 on."""
    return abs((i + 1) / n_i - (j + 1) / n_j)


@kernel(inline=True)
def cross_count(crossings, c):
    """Cross count: unordered pairs of links with ``(i - i')(j - j') < 0``; new are those with this link."""
    return np.float64(crossings[c])


@kernel(inline=True)
def monotone_neighbours(bits, neighbours, c):
    """Monotone neighbour count: pairs of links ``(i, j)``, ``(i + 1, j + 1)``."""
    return np.float64(is_linked(bits, neighbours[c, UP_LEFT]) + is_linked(bits, neighbours[c, DOWN_RIGHT]))


@kernel(inline=True)
def swap_neighbours(bits, neighbours, c):
    """Swap neighbour count: pairs of links ``(i, j)``, ``(i + 1, j - 1)``."""
    return np.float64(is_linked(bits, neighbours[c, UP_RIGHT]) + is_linked(bits, neighbours[c, DOWN_LEFT]))


@kernel(inline=True)
def linked_words(words, p):
    """Source (target) linked word count: words of that side with at least one link."""
    return 1.0 if words[p, FERTILITY] == 0 else 0.0


@kernel(inline=True)
def most_links(words, p, most):
    """Source (target) maximal fertility: the links of the word of that side that has most of them."""
    return 1.0 if words[p, FERTILITY] + 1 > most else 0.0


@kernel(inline=True)
def sibling_distance(words, p, q):
    """Source (target) sibling distance: holes between the positions that one word is linked to, summed.

    For each linked word ``last - first + 1 - fertility``. A new link at ``q`` fills a hole or makes new ones.
    """
    if words[p, FERTILITY] == 0:
        return 0.0
    if q < words[p, FIRST]:
        return np.float64(words[p, FIRST] - q - 1)
    if q > words[p, LAST]:
        return np.float64(q - words[p, LAST] - 1)
    return -1.0


@kernel(inline=True)
def link_type(source, target, i, j, kind):
    """One-to-one (0), one-to-many (1), many-to-one (2) or many-to-many (3) link count.

    By whether the link's source word (1) and its target word (2) have further links. A new link is of one type
    itself, and changes that of the only link its source word or its target word had.
    """
    s, t = source[i, FERTILITY], target[j, FERTILITY]
    change = 0
    if (1 if s > 0 else 0) + (2 if t > 0 else 0) == kind:
        change += 1
    if s == 1:
        other = 2 if target[source[i, FIRST], FERTILITY] > 1 else 0
        change += (1 if kind == other + 1 else 0) - (1 if kind == other else 0)
    if t == 1:
        other = 1 if source[target[j, FIRST], FERTILITY] > 1 else 0
        change += (1 if kind == other + 2 else 0) - (1 if kind == other else 0)
    return np.float64(change)


@kernel(inline=True)
def coverage(s_words, t_words, source, target, i, j):
    """Coverage (ours): over words with a link, the base model's log-odds that they have one.

    The base model's own direction for each side: that a word's posteriors, one word generating it, sum to.
    """
    change = 0.0
    if source[i, FERTILITY] == 0:
        change += s_words[i, LINKED_ODDS]
    if target[j, FERTILITY] == 0:
        change += t_words[j, LINKED_ODDS]
    return change


@kernel(inline=True)
def touching(bits, neighbours, c):
    """Touching links (ours): pairs of links side by side or one above the other, as phrases have them."""
    return np.float64(
        is_linked(bits, neighbours[c, UP]) + is_linked(bits, neighbours[c, LEFT])
        + is_linked(bits, neighbours[c, RIGHT]) + is_linked(bits, neighbours[c, DOWN])
    )  # fmt: skip


@kernel(inline=True)
def lonely(bits, neighbours, c):
    """Lonely links (ours): links with none among the eight cells around them."""
    found = 0
    met = 0
    for x in range(8):
        n = neighbours[c, x]
        if is_linked(bits, n) == 1:
            found += 1
            others = 0
            for y in range(8):
                others += is_linked(bits, neighbours[n, y])
            if others == 0:
                met += 1
    return np.float64((1 if found == 0 else 0) - met)


@kernel(inline=True)
def structural_changes(
    active, s_words, t_words, neighbours, bits, source, target, totals, crossings, c, i, j, out
):  # fmt: skip
    """Write into ``out`` (float64 [FEATURES]) what features beyond the candidate's own values change by.

    Parameters
    ----------
    active : bool [FEATURES]
        Features that are asked for; the others' places are left as they are.
    c, i, j : int
        The candidate that would be linked, its row and its column.
    """
    if active[TRANSLATION]:
        out[TRANSLATION] = null_relief(s_words, t_words, source, target, i, j)
    if active[CROSSES]:
        out[CROSSES] = cross_count(crossings, c)
    if active[MONOTONE]:
        out[MONOTONE] = monotone_neighbours(bits, neighbours, c)
    if active[SWAP]:
        out[SWAP] = swap_neighbours(bits, neighbours, c)
    if active[SOURCE_LINKED]:
        out[SOURCE_LINKED] = linked_words(source, i)
    if active[TARGET_LINKED]:
        out[TARGET_LINKED] = linked_words(target, j)
    if active[SOURCE_MOST]:
        out[SOURCE_MOST] = most_links(source, i, totals[MOST_SOURCE])
    if active[TARGET_MOST]:
        out[TARGET_MOST] = most_links(target, j, totals[MOST_TARGET])
    if active[SOURCE_GAPS]:
        out[SOURCE_GAPS] = sibling_distance(source, i, j)
    if active[TARGET_GAPS]:
        out[TARGET_GAPS] = sibling_distance(target, j, i)
    if active[ONE_ONE]:
        out[ONE_ONE] = link_type(source, target, i, j, 0)
    if active[ONE_MANY]:
        out[ONE_MANY] = link_type(source, target, i, j, 1)
    if active[MANY_ONE]:
        out[MANY_ONE] = link_type(source, target, i, j, 2)
    if active[MANY_MANY]:
        out[MANY_MANY] = link_type(source, target, i, j, 3)
    if active[COVERAGE]:
        out[COVERAGE] = coverage(s_words, t_words, source, target, i, j)
    if active[TOUCHING]:
        out[TOUCHING] = touching(bits, neighbours, c)
    if active[LONELY]:
        out[LONELY] = lonely(bits, neighbours, c)


@kernel(inline=True)
def empty_features(active, s_words, t_words, out):
    """Write the features of the alignment without links: words pay for NULL, all else is 0."""
    for k in range(FEATURES):
        out[k] = 0.0
    if active[TRANSLATION]:
        total = 0.0
        for i in range(s_words.shape[0]):
            total += s_words[i, NULL_COST]
        for j in range(t_words.shape[0]):
            total += t_words[j, NULL_COST]
        out[TRANSLATION] = total


@kernel
def clear(bits, source, target, totals, crossings):
    """Make the state that of the alignment without links."""
    bits[:] = np.uint64(0)
    source[:] = 0
    target[:] = 0
    crossings[:] = 0
    totals[N_LINKS] = 0
    totals[MOST_SOURCE] = 0
    totals[MOST_TARGET] = 0
    totals[N_SOURCE] = source.shape[0]
    totals[N_TARGET] = target.shape[0]


@kernel
def add_link(rows, columns, bits, source, target, totals, crossings, c):
    """Bring the state up to date for the new link ``c``."""
    i, j = rows[c], columns[c]
    bits[c >> 6] |= np.uint64(1) << np.uint64(c & 63)
    if source[i, FERTILITY] == 0:
        source[i, FIRST] = j
        source[i, LAST] = j
    else:
        source[i, FIRST] = min(source[i, FIRST], j)
        source[i, LAST] = max(source[i, LAST], j)
    if target[j, FERTILITY] == 0:
        target[j, FIRST] = i
        target[j, LAST] = i
    else:
        target[j, FIRST] = min(target[j, FIRST], i)
        target[j, LAST] = max(target[j, LAST], i)
    source[i, FERTILITY] += 1
    target[j, FERTILITY] += 1
    totals[N_LINKS] += 1
    totals[MOST_SOURCE] = max(totals[MOST_SOURCE], source[i, FERTILITY])
    totals[MOST_TARGET] = max(totals[MOST_TARGET], target[j, FERTILITY])
    for x in range(rows.shape[0]):
        crossings[x] += 1 if (rows[x] - i) * (columns[x] - j) < 0 else 0


@kernel
def remove_link(rows, columns, bits, source, target, totals, crossings, c):
    """Bring the state up to date when link ``c`` is taken away (only samplers do that)."""
    bits[c >> 6] &= ~(np.uint64(1) << np.uint64(c & 63))
    n = rows.shape[0]
    i, j = rows[c], columns[c]
    for x in range(n):
        crossings[x] -= 1 if (rows[x] - i) * (columns[x] - j) < 0 else 0
    totals[N_LINKS] -= 1
    source[i, FERTILITY] = 0
    target[j, FERTILITY] = 0
    for x in range(n):
        if is_linked(bits, x) == 0:
            continue
        if rows[x] == i:
            if source[i, FERTILITY] == 0:
                source[i, FIRST] = columns[x]
            source[i, LAST] = columns[x]
            source[i, FERTILITY] += 1
        if columns[x] == j:
            if target[j, FERTILITY] == 0:
                target[j, FIRST] = rows[x]
            target[j, LAST] = rows[x]
            target[j, FERTILITY] += 1
    totals[MOST_SOURCE] = 0
    for x in range(source.shape[0]):
        totals[MOST_SOURCE] = max(totals[MOST_SOURCE], source[x, FERTILITY])
    totals[MOST_TARGET] = 0
    for x in range(target.shape[0]):
        totals[MOST_TARGET] = max(totals[MOST_TARGET], target[x, FERTILITY])


@kernel
def find_neighbours(starts, rows, columns, neighbours):
    """Fill ``neighbours`` [candidates, 8] of every sentence; candidates are sorted by row, then column.

    Numbers count from each sentence's first candidate.
    """
    for k in range(starts.shape[0] - 1):
        a, b = starts[k], starts[k + 1]
        for c in range(a, b):
            for x in range(8):
                neighbours[c, x] = -1
        for c in range(a, b):
            i, j = rows[c], columns[c]
            if c + 1 < b and rows[c + 1] == i and columns[c + 1] == j + 1:
                neighbours[c, RIGHT] = c + 1 - a
                neighbours[c + 1, LEFT] = c - a
            low, high = c + 1, b
            while low < high:  # the first candidate from (i + 1, j - 1) on
                middle = (low + high) // 2
                if rows[middle] < i + 1 or (rows[middle] == i + 1 and columns[middle] < j - 1):
                    low = middle + 1
                else:
                    high = middle
            while low < b and rows[low] == i + 1 and columns[low] <= j + 1:
                d = columns[low] - j
                neighbours[c, DOWN + d] = low - a
                neighbours[low, UP - d] = c - a
                low += 1


@kernel(inline=True)
def replay(
    active, s_words, t_words, rows, columns, neighbours, values, order, change,
    bits, source, target, totals, crossings, out,
):  # fmt: skip
    """Write the features of an alignment (float64 [FEATURES]) by adding its links one by one.

    Parameters
    ----------
    values : float32 [candidates, FEATURES]
        What a candidate itself adds to each feature.
    order : int32 [links]
        The links, in any order.
    change : float64 [FEATURES], scratch, of zeros
    bits, source, target, totals, crossings
        Scratch; on return the alignment's state.
    """
    clear(bits, source, target, totals, crossings)
    empty_features(active, s_words, t_words, out)
    for x in range(order.shape[0]):
        c = order[x]
        structural_changes(
            active,
            s_words,
            t_words,
            neighbours,
            bits,
            source,
            target,
            totals,
            crossings,
            c,
            rows[c],
            columns[c],
            change,
        )
        for k in range(FEATURES):
            if active[k]:
                out[k] += values[c, k] + change[k]
        add_link(rows, columns, bits, source, target, totals, crossings, c)
