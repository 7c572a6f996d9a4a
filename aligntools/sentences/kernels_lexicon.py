"""Compiled: IBM 1 (Brown et al. 1993) over pairs of groups of sentences, and sentences with rare words in common."""

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(owning=False)
def word_pairs(s, s_offsets, t, t_offsets, groups, n_target, keys, table, slots):
    """Number the pairs of words that occur in the same group; return how many pairs there are.

    s, s_offsets, t, t_offsets: Both sides' words, as in `formats.text.corpus.Side`.
    groups (int64 [groups, 4]): First and last + 1 source sentence, first and last + 1 target sentence.
    n_target: Words of the target side's vocabulary.
    keys (int64 [pairs or more], output): s * n_target + t of each pair of words.
    table (int32 [a power of 2], scratch): All -1.
    slots (int32 [words times words of the groups, joined], output): The number of each place's pair.
    """
    mask = len(table) - 1
    known = 0
    at = 0
    for g in range(groups.shape[0]):
        for x in range(s_offsets[groups[g, 0]], s_offsets[groups[g, 1]]):
            for y in range(t_offsets[groups[g, 2]], t_offsets[groups[g, 3]]):
                key = np.int64(s[x]) * n_target + t[y]
                place = (key * np.int64(-7046029254386353131) >> 20) & mask
                while table[place] >= 0 and keys[table[place]] != key:
                    place = (place + 1) & mask
                if table[place] < 0:
                    table[place] = known
                    keys[known] = key
                    known += 1
                slots[at] = table[place]
                at += 1
    return known


@kernel
def expected_links(s, s_offsets, t, t_offsets, groups, belief, slots, forward, reverse, epsilon, counts):
    """Add expected counts of links to each pair of words, the mean of both directions; return the log-likelihood.

    forward, reverse (float32 [pairs]): p(t|s) / p(t) and p(s|t) / p(s).
    belief (float64 [groups]): What a group counts.
    counts (float64 [pairs], added to).
    """
    total = 0.0
    at = 0
    longest = 1
    for g in range(groups.shape[0]):
        longest = max(longest, t_offsets[groups[g, 3]] - t_offsets[groups[g, 2]])
    sums = np.empty(longest)
    for g in range(groups.shape[0]):
        rows = s_offsets[groups[g, 1]] - s_offsets[groups[g, 0]]
        columns = t_offsets[groups[g, 3]] - t_offsets[groups[g, 2]]
        if rows == 0 or columns == 0:
            continue
        sums[:columns] = 0.0
        for x in range(rows):
            for y in range(columns):
                sums[y] += forward[slots[at + x * columns + y]]
        share = (1.0 - epsilon) / rows
        for y in range(columns):
            whole = epsilon + share * sums[y]
            total += belief[g] * np.log(whole)
            sums[y] = 0.5 * belief[g] * share / whole
        for x in range(rows):
            own = 0.0
            for y in range(columns):
                own += reverse[slots[at + x * columns + y]]
            whole = epsilon + (1.0 - epsilon) / columns * own
            total += belief[g] * np.log(whole)
            turned = 0.5 * belief[g] * (1.0 - epsilon) / columns / whole
            for y in range(columns):
                slot = slots[at + x * columns + y]
                counts[slot] += sums[y] * forward[slot] + turned * reverse[slot]
        at += rows * columns
    return total


@kernel(owning=False)
def votes(s, s_offsets, ptr, ids, ratios, least, start, sentence, rare, centre, reach, score, touched, best, margin):
    """Find the target sentence that most words of each source sentence speak for.

    A pair of words in both votes with ln p(t|s) / p(t), once for each place of the source word.

    s, s_offsets: The source side, as in `formats.text.corpus.Side`.
    ptr, ids, ratios: p(t|s) / p(t), by source word; only ratios above ``least`` count.
    start, sentence (int64 [target words + 1], int32): The sentences that a target word is in.
    centre, reach (int64 [source sentences]): How far from which target sentence others are looked at.
    rare: Words in more of these are not.
    score (float64 [target sentences], scratch): Zeros. touched (int32 [target sentences], scratch).
    best (int64 [source sentences], output), margin (float64 [..], output): How much more speaks for it than for the
        next; 0 where nothing does.
    """
    n = len(s_offsets) - 1
    for i in range(n):
        count = 0
        first_near, last_near = centre[i] - reach[i], centre[i] + reach[i]
        for k in range(s_offsets[i], s_offsets[i + 1]):
            for e in range(ptr[s[k]], ptr[s[k] + 1]):
                t = ids[e]
                if ratios[e] <= least:
                    continue
                begin = start[t] + np.searchsorted(sentence[start[t] : start[t + 1]], first_near)
                end = start[t] + np.searchsorted(sentence[start[t] : start[t + 1]], last_near + 1)
                if end - begin > rare:
                    continue
                vote = np.log(ratios[e])
                for p in range(begin, end):
                    j = sentence[p]
                    if score[j] == 0.0:
                        touched[count] = j
                        count += 1
                    score[j] += vote
        first, second, place = 0.0, 0.0, 0
        for c in range(count):
            j = touched[c]
            if score[j] > first or (score[j] == first and j < place):
                second = first
                first, place = score[j], j
            elif score[j] > second:
                second = score[j]
            score[j] = 0.0
        best[i], margin[i] = place, first - second
