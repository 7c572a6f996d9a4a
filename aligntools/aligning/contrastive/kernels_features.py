"""Compiled: what each feature of an alignment changes by when one link is added.

An alignment of one sentence pair is a set of links, all of them *candidates*: cells ``(i, j)`` of the link matrix,
numbered by row and column. `Pair` is what does not change while it is put together, `State` what does; every feature
may read both. Definitions are those of Liu & Sun (2015), section 2, as their program computes them;
`aligntools.aligning.contrastive.features` lists them and says how one is added.
"""

from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel

#: Features there are, and their numbers; the first sixteen are the paper's.
FEATURES = 37
(
    TRANSLATION,
    LINKS,
    POSITION,
    CROSSES,
    MONOTONE,
    SWAP,
    SOURCE_LINKED,
    TARGET_LINKED,
    SOURCE_MOST,
    TARGET_MOST,
    SOURCE_GAPS,
    TARGET_GAPS,
    ONE_ONE,
    ONE_MANY,
    MANY_ONE,
    MANY_MANY,
    POSTERIOR,
    AGREEMENT,
    RIVALS,
    HARDEST_RIVAL,
    OTHERS,
    BEST,
    DIAGONAL_SUPPORT,
    SIDE_SUPPORT,
    WIDE_SUPPORT,
    COVERAGE,
    FORWARD_USE,
    REVERSE_USE,
    SIMILARITY,
    SAME_WORD,
    SYMBOLS,
    MISMATCH,
    FREQUENCY_GAP,
    RARITY,
    TOUCHING,
    LONELY,
    TREES,
) = range(FEATURES)
#: A word's columns in ``source`` and ``target``.
FERTILITY, FIRST, LAST = range(3)
#: Links, the longest and the shortest row of each side, and the lengths of the two sentences.
N_LINKS, MOST_SOURCE, MOST_TARGET, N_SOURCE, N_TARGET = range(5)
TOTALS = 5
#: Columns of ``s_words`` and ``t_words``: log-probability of the word under NULL; log-odds that it has a link; natural
#: logarithms of how often it is in its sentence, of its letters, of its sentence's words, of how often (and once more)
#: the training text has it, and of how many links it has there each time.
NULL_COST, LINKED_ODDS, REPEATS, LETTERS, LENGTH, OCCURRENCES, LINKS_EACH = range(7)
WORD_COLUMNS = 7
#: Columns of ``neighbours``: by row and column around the candidate.
UP_LEFT, UP, UP_RIGHT, LEFT, RIGHT, DOWN_LEFT, DOWN, DOWN_RIGHT = range(8)


class Candidates(NamedTuple):
    """The candidates of consecutive sentence pairs; see `candidates.CandidateLinks`."""

    s_offsets: np.ndarray
    t_offsets: np.ndarray
    starts: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    neighbours: np.ndarray
    local: np.ndarray
    s_words: np.ndarray
    t_words: np.ndarray


class Pair(NamedTuple):
    """One sentence pair.

    rows, columns (int32 [candidates]).
    neighbours (int32 [candidates, 8]): The numbers of the eight cells around a candidate by row and column, -1 where
        there is none.
    local (float32 [candidates, FEATURES]): What a candidate itself adds to each feature.
    s_words, t_words (float32 [I, WORD_COLUMNS], [J, WORD_COLUMNS]).
    """

    rows: np.ndarray
    columns: np.ndarray
    neighbours: np.ndarray
    local: np.ndarray
    s_words: np.ndarray
    t_words: np.ndarray


class State(NamedTuple):
    """An alignment of a pair, and what follows from it.

    bits (uint64 [ceil(candidates / 64)]): Which candidates are linked.
    source, target (int32 [I, 3], [J, 3]): Each word's FERTILITY, FIRST and LAST position it is linked to.
    totals (int32 [TOTALS]): Of the whole pair.
    crossings (int32 [candidates]): How many links each candidate crosses.
    """

    bits: np.ndarray
    source: np.ndarray
    target: np.ndarray
    totals: np.ndarray
    crossings: np.ndarray


@kernel(part=True)
def pair_of(candidates, k):
    """Return sentence pair ``k``."""
    a, b = candidates.starts[k], candidates.starts[k + 1]
    return Pair(
        candidates.rows[a:b],
        candidates.columns[a:b],
        candidates.neighbours[a:b],
        candidates.local[a:b],
        candidates.s_words[candidates.s_offsets[k] : candidates.s_offsets[k + 1]],
        candidates.t_words[candidates.t_offsets[k] : candidates.t_offsets[k + 1]],
    )


@kernel
def largest_pair(k0, k1, candidates):
    """Return the most candidates and the most words of either side of the sentences ``k0..k1``, each at least 1."""
    most, longest_s, longest_t = 1, 1, 1
    for k in range(k0, k1):
        most = max(most, candidates.starts[k + 1] - candidates.starts[k])
        longest_s = max(longest_s, candidates.s_offsets[k + 1] - candidates.s_offsets[k])
        longest_t = max(longest_t, candidates.t_offsets[k + 1] - candidates.t_offsets[k])
    return most, longest_s, longest_t


@kernel(inline=True, owning=False)
def is_linked(bits, c):
    """Return 1 if candidate ``c`` is linked; none (-1) never is."""
    if c < 0:
        return 0
    return np.int64((bits[c >> 6] >> np.uint64(c & 63)) & np.uint64(1))


@kernel(part=True)
def newly_linked(s_words, t_words, source, target, i, j, column):
    """Sum what a column says of the words of a link that have no other: of `NULL_COST`, what they no longer pay.

    The translation product is ``sum over links of ln p(t_j|s_i) + ln p(s_i|t_j)``, and for every word without a link
    its log-probability given NULL; the links' part is the candidates' own value. Coverage (ours) is, over words with a
    link, the base model's log-odds that they have one: what a word's posteriors, one word generating it, sum to.
    """
    change = 0.0
    if source[i, FERTILITY] == 0:
        change += s_words[i, column]
    if target[j, FERTILITY] == 0:
        change += t_words[j, column]
    return change


@kernel(inline=True)
def relative_position(i, j, n_i, n_j):
    """Relative position absolute distance of one link, ``|i/I - j/J|`` with positions from 1 on."""
    return abs((i + 1) / n_i - (j + 1) / n_j)


@kernel(part=True)
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


@kernel(part=True)
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


@kernel(part=True)
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


@kernel(inline=True, owning=False)
def structural_changes(active, pair, state, c, out):
    """Write into ``out`` (float64 [FEATURES]) what features beyond the candidate's own values change by.

    active (bool [FEATURES]): Features that are asked for; the others' places are left as they are.
    c (int): The candidate that would be linked.
    """
    i, j = pair.rows[c], pair.columns[c]
    s_words, t_words, neighbours = pair.s_words, pair.t_words, pair.neighbours
    bits, source, target, totals = state.bits, state.source, state.target, state.totals
    if active[TRANSLATION]:
        out[TRANSLATION] = -newly_linked(s_words, t_words, source, target, i, j, NULL_COST)
    if active[CROSSES]:  # pairs of links with (i - i')(j - j') < 0
        out[CROSSES] = np.float64(state.crossings[c])
    if active[MONOTONE]:  # pairs of links (i, j), (i + 1, j + 1)
        out[MONOTONE] = np.float64(is_linked(bits, neighbours[c, UP_LEFT]) + is_linked(bits, neighbours[c, DOWN_RIGHT]))
    if active[SWAP]:  # pairs of links (i, j), (i + 1, j - 1)
        out[SWAP] = np.float64(is_linked(bits, neighbours[c, UP_RIGHT]) + is_linked(bits, neighbours[c, DOWN_LEFT]))
    if active[SOURCE_LINKED]:
        out[SOURCE_LINKED] = 1.0 if source[i, FERTILITY] == 0 else 0.0
    if active[TARGET_LINKED]:
        out[TARGET_LINKED] = 1.0 if target[j, FERTILITY] == 0 else 0.0
    if active[SOURCE_MOST]:  # the links of the word of that side that has most of them
        out[SOURCE_MOST] = 1.0 if source[i, FERTILITY] + 1 > totals[MOST_SOURCE] else 0.0
    if active[TARGET_MOST]:
        out[TARGET_MOST] = 1.0 if target[j, FERTILITY] + 1 > totals[MOST_TARGET] else 0.0
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
        out[COVERAGE] = newly_linked(s_words, t_words, source, target, i, j, LINKED_ODDS)
    if active[TOUCHING]:  # pairs of links side by side or one above the other (ours), as phrases have them
        touching = is_linked(bits, neighbours[c, UP]) + is_linked(bits, neighbours[c, LEFT])
        touching += is_linked(bits, neighbours[c, RIGHT]) + is_linked(bits, neighbours[c, DOWN])
        out[TOUCHING] = np.float64(touching)
    if active[LONELY]:
        out[LONELY] = lonely(bits, neighbours, c)


@kernel(part=True)
def empty_features(active, pair, out):
    """Write the features of the alignment without links: words pay for NULL, all else is 0."""
    for k in range(FEATURES):
        out[k] = 0.0
    if active[TRANSLATION]:
        total = 0.0
        for i in range(pair.s_words.shape[0]):
            total += pair.s_words[i, NULL_COST]
        for j in range(pair.t_words.shape[0]):
            total += pair.t_words[j, NULL_COST]
        out[TRANSLATION] = total


@kernel(owning=False)
def clear(state):
    """Make the state that of the alignment without links."""
    state.bits[:] = np.uint64(0)
    state.source[:] = 0
    state.target[:] = 0
    state.crossings[:] = 0
    state.totals[:] = 0
    state.totals[N_SOURCE] = state.source.shape[0]
    state.totals[N_TARGET] = state.target.shape[0]


@kernel(owning=False)
def add_link(rows, columns, state, c):
    """Bring the state up to date for the new link ``c``."""
    i, j = rows[c], columns[c]
    source, target, totals = state.source, state.target, state.totals
    state.bits[c >> 6] |= np.uint64(1) << np.uint64(c & 63)
    for words, p, q in ((source, i, j), (target, j, i)):
        words[p, FIRST] = min(words[p, FIRST], q) if words[p, FERTILITY] > 0 else q
        words[p, LAST] = max(words[p, LAST], q) if words[p, FERTILITY] > 0 else q
        words[p, FERTILITY] += 1
    totals[N_LINKS] += 1
    totals[MOST_SOURCE] = max(totals[MOST_SOURCE], source[i, FERTILITY])
    totals[MOST_TARGET] = max(totals[MOST_TARGET], target[j, FERTILITY])
    for x in range(rows.shape[0]):
        state.crossings[x] += 1 if (rows[x] - i) * (columns[x] - j) < 0 else 0


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


@kernel(inline=True, owning=False)
def replay(active, pair, order, change, state, out):
    """Write the features of an alignment (float64 [columns of local]) by adding its links one by one.

    Columns beyond FEATURES are what a link by itself adds, whatever the others are.

    order (int32 [links]): The links, in any order.
    change (float64 [FEATURES], scratch, of zeros), state (State, output).
    """
    clear(state)
    empty_features(active, pair, out)
    for k in range(FEATURES, out.shape[0]):
        out[k] = 0.0
    for x in range(order.shape[0]):
        c = order[x]
        structural_changes(active, pair, state, c, change)
        for k in range(FEATURES):
            if active[k]:
                out[k] += pair.local[c, k] + change[k]
        for k in range(FEATURES, out.shape[0]):
            if active[k]:
                out[k] += pair.local[c, k]
        add_link(pair.rows, pair.columns, state, c)
