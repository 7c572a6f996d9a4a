"""Sums and best paths over the candidate states of each token: what a tagger does with text.

A candidate is a word in a group of states, that is, with a tag: candidate ``c`` is in group ``groups[c]``, and its
emissions, one for each state of the group, begin at ``places[c]`` of ``values``. Group ``g`` is the states ``first[g]``
to ``first[g + 1] - 1``. Token ``t`` has the candidates ``kept[cells[t]:cells[t + 1]]``.
"""

import math

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(inline=True)
def widest(begin, end, cells, kept, groups, first):
    """Return the most states that a token of ``begin..end-1`` can be in."""
    most = 1
    for t in range(begin, end):
        wide = 0
        for c in range(cells[t], cells[t + 1]):
            wide += first[groups[kept[c]] + 1] - first[groups[kept[c]]]
        most = max(most, wide)
    return most


@kernel(inline=True)
def enter(t, cells, kept, groups, first, vector, into):
    """Copy the elements of a token's states out of a vector over all states; return how many."""
    j = 0
    for c in range(cells[t], cells[t + 1]):
        g = groups[kept[c]]
        for s in range(first[g], first[g + 1]):
            into[j] = vector[s]
            j += 1
    return j


@kernel(inline=True)
def weigh(t, cells, kept, groups, places, values, first, vector, into):
    """Multiply a vector over a token's states by the emissions."""
    j = 0
    for c in range(cells[t], cells[t + 1]):
        g, place = groups[kept[c]], places[kept[c]]
        for w in range(first[g + 1] - first[g]):
            into[j] = vector[j] * values[place + w]
            j += 1


@kernel(inline=True)
def step(before, t, cells, kept, groups, first, transitions, into):
    """Carry a vector over the states of token ``t - 1`` to those of ``t``; return how many those are."""
    to = 0
    for c in range(cells[t], cells[t + 1]):
        g = groups[kept[c]]
        low, wide = first[g], first[g + 1] - first[g]
        for j in range(wide):
            into[to + j] = 0.0
        source = 0
        for b in range(cells[t - 1], cells[t]):
            h = groups[kept[b]]
            for s in range(first[h], first[h + 1]):
                weight = before[source]
                source += 1
                for j in range(wide):
                    into[to + j] += weight * transitions[s, low + j]
        to += wide
    return to


@kernel(inline=True)
def step_back(after, t, cells, kept, groups, first, transitions, into):
    """Carry a vector over the states of token ``t + 1`` back to those of ``t``; return how many those are."""
    to = 0
    for b in range(cells[t], cells[t + 1]):
        h = groups[kept[b]]
        for s in range(first[h], first[h + 1]):
            total = 0.0
            source = 0
            for c in range(cells[t + 1], cells[t + 2]):
                g = groups[kept[c]]
                low, wide = first[g], first[g + 1] - first[g]
                for j in range(wide):
                    total += transitions[s, low + j] * after[source + j]
                source += wide
            into[to] = total
            to += 1
    return to


@kernel(inline=True)
def normalize(vector):
    """Divide by the sum and return it; where there is nothing, spread evenly and return 0."""
    total = 0.0
    for j in range(vector.shape[0]):
        total += vector[j]
    if total > 0.0 and total < math.inf:
        for j in range(vector.shape[0]):
            vector[j] /= total
        return total
    for j in range(vector.shape[0]):
        vector[j] = 1.0 / vector.shape[0]
    return 0.0


@kernel
def posteriors_block(k0, k1, text, model, by_state, sure, edges_at, edges):
    """Write posteriors of sentences ``k0..k1-1``: of each token's candidates, or of each of its states.

    text: The arrays offsets, cells, kept, groups, places.
    model: values, first, start, transitions, stop.
    offsets (int64 [sentences + 1]), cells (int64 [tokens + 1]), kept (int32), groups (int32 [candidates]), places
        (int64 [candidates]).
    values (float64): ``p(word | state)``, each word's times any factor.
    first (int64 [groups + 1]), start, stop (float64 [states]), transitions (float64 [states, states]).
    by_state (bool): Tokens have one candidate each, of all states; ``sure`` is of states, as many for each token.
    sure (float64, output).
    edges_at (int64 [tokens + 1]): Where posteriors of pairs of neighbouring candidates begin in ``edges`` (rows: the
        token before); a sentence's first token has none. Empty if they are not asked for.
    edges (float64, output).
    """
    (offsets, cells, kept, groups, places), (values, first, start, transitions, stop) = text, model
    most, longest = 1, 1
    for k in range(k0, k1):
        most = max(most, widest(offsets[k], offsets[k + 1], cells, kept, groups, first))
        longest = max(longest, offsets[k + 1] - offsets[k])
    alpha = np.empty((longest, most))
    beta = np.empty(most)
    after = np.empty(most)
    ones = np.ones(most)
    for k in range(k0, k1):
        begin, end = offsets[k], offsets[k + 1]
        for t in range(begin, end):
            now = alpha[t - begin]
            if t == begin:
                wide = enter(t, cells, kept, groups, first, start, now)
            else:
                wide = step(alpha[t - begin - 1], t, cells, kept, groups, first, transitions, now)
            weigh(t, cells, kept, groups, places, values, first, now, now)
            if normalize(now[:wide]) == 0.0:  # no path gets here: go by the word alone
                weigh(t, cells, kept, groups, places, values, first, ones, now)
                normalize(now[:wide])
        for t in range(end - 1, begin - 1, -1):
            now = alpha[t - begin]
            if t == end - 1:
                wide = enter(t, cells, kept, groups, first, stop, beta)
            else:
                wide = step_back(after, t, cells, kept, groups, first, transitions, beta)
            normalize(beta[:wide])
            total = 0.0
            for j in range(wide):
                total += now[j] * beta[j]
            if not total > 0.0:
                total = 1.0
                for j in range(wide):
                    beta[j] = 1.0
            j = 0
            for c in range(cells[t], cells[t + 1]):
                g = groups[kept[c]]
                if by_state:
                    for w in range(wide):
                        sure[t * wide + w] = now[w] * beta[w] / total
                else:
                    mass = 0.0
                    for _ in range(first[g + 1] - first[g]):
                        mass += now[j] * beta[j]
                        j += 1
                    sure[c] = mass / total
            weigh(t, cells, kept, groups, places, values, first, beta, after)
            if edges_at.shape[0] and t > begin:
                total = 0.0
                line, source = edges_at[t], 0
                for b in range(cells[t - 1], cells[t]):
                    h = groups[kept[b]]
                    for c in range(cells[t + 1] - cells[t]):
                        edges[line + c] = 0.0
                    for s in range(first[h], first[h + 1]):
                        to = 0
                        for c in range(cells[t + 1] - cells[t]):
                            g = groups[kept[cells[t] + c]]
                            low, across = first[g], first[g + 1] - first[g]
                            mass = 0.0
                            for j in range(across):
                                mass += transitions[s, low + j] * after[to + j]
                            to += across
                            edges[line + c] += alpha[t - begin - 1, source] * mass
                        source += 1
                    line += cells[t + 1] - cells[t]
                for e in range(edges_at[t], edges_at[t + 1]):
                    total += edges[e]
                if total > 0.0:
                    for e in range(edges_at[t], edges_at[t + 1]):
                        edges[e] /= total


@kernel
def count_likely_block(t0, t1, cells, sure, threshold, counts):
    """Count the candidates of each token whose posterior is at least ``threshold`` of its largest."""
    for t in range(t0, t1):
        top, n = 0.0, 0
        for c in range(cells[t], cells[t + 1]):
            top = max(top, sure[c])
        for c in range(cells[t], cells[t + 1]):
            if sure[c] >= threshold * top:
                n += 1
        counts[t] = n


@kernel
def keep_likely_block(t0, t1, cells, kept, sure, threshold, new_cells, new_kept):
    """Keep those candidates."""
    for t in range(t0, t1):
        top, to = 0.0, new_cells[t]
        for c in range(cells[t], cells[t + 1]):
            top = max(top, sure[c])
        for c in range(cells[t], cells[t + 1]):
            if sure[c] >= threshold * top:
                new_kept[to] = kept[c]
                to += 1


@kernel
def best_cells_block(k0, k1, offsets, cells, sure, best, confidence):
    """Choose each token's most probable cell (the first of equals) and give its share of the token's mass."""
    for t in range(offsets[k0], offsets[k1]):
        top, total = cells[t], 0.0
        for c in range(cells[t], cells[t + 1]):
            total += sure[c]
            if sure[c] > sure[top]:
                top = c
        best[t] = top - cells[t]
        confidence[t] = sure[top] / total if total > 0.0 else 0.0


@kernel(fast=False)
def best_chain_block(k0, k1, offsets, cells, sure, edges_at, edges, best):
    """Choose the path with the highest product of ``p(candidate | candidate before)``.

    ``sure`` and ``edges`` are log posteriors of candidates and of pairs of neighbours, as sums over members.
    Ties go to the first candidate.
    """
    most, longest = 1, 1
    for k in range(k0, k1):
        longest = max(longest, offsets[k + 1] - offsets[k])
        for t in range(offsets[k], offsets[k + 1]):
            most = max(most, cells[t + 1] - cells[t])
    came = np.empty((longest, most), np.int32)
    score = np.empty(most)
    fresh = np.empty(most)
    for k in range(k0, k1):
        begin, end = offsets[k], offsets[k + 1]
        for t in range(begin, end):
            wide = cells[t + 1] - cells[t]
            if t == begin:
                for c in range(wide):
                    score[c] = sure[cells[t] + c]
                continue
            for c in range(wide):
                top, value = 0, -math.inf
                for b in range(cells[t] - cells[t - 1]):
                    way = score[b] + edges[edges_at[t] + b * wide + c] - sure[cells[t - 1] + b]
                    if way > value:
                        top, value = b, way
                fresh[c], came[t - begin, c] = value, top
            for c in range(wide):
                score[c] = fresh[c]
        if end > begin:
            top = 0
            for c in range(cells[end] - cells[end - 1]):
                if score[c] > score[top]:
                    top = c
            for t in range(end - 1, begin - 1, -1):
                best[t] = top
                top = came[t - begin, top]


@kernel(fast=False)
def best_states_block(k0, k1, text, model, best):
    """Viterbi over states (max-product, scaled a token); ``best`` counts a token's states from 0.

    Ties go to the lowest state. Parameters are as for `posteriors_block`.
    """
    (offsets, cells, kept, groups, places), (values, first, start, transitions, stop) = text, model
    most, longest = 1, 1
    for k in range(k0, k1):
        most = max(most, widest(offsets[k], offsets[k + 1], cells, kept, groups, first))
        longest = max(longest, offsets[k + 1] - offsets[k])
    came = np.empty((longest, most), np.int32)
    score = np.empty(most)
    fresh = np.empty(most)
    ones = np.ones(most)
    for k in range(k0, k1):
        begin, end = offsets[k], offsets[k + 1]
        for t in range(begin, end):
            if t == begin:
                wide = enter(t, cells, kept, groups, first, start, fresh)
            else:
                fresh[:] = 0.0
                came[t - begin, :] = 0
                source, wide = 0, 0
                for b in range(cells[t - 1], cells[t]):
                    h = groups[kept[b]]
                    for s in range(first[h], first[h + 1]):
                        weight, to = score[source], 0
                        for c in range(cells[t], cells[t + 1]):
                            g = groups[kept[c]]
                            for z in range(first[g], first[g + 1]):
                                way = weight * transitions[s, z]
                                if way > fresh[to]:
                                    fresh[to], came[t - begin, to] = way, source
                                to += 1
                        source, wide = source + 1, to
            weigh(t, cells, kept, groups, places, values, first, fresh, fresh)
            top = fresh[:wide].max()
            if not top > 0.0:  # no path gets here: go by the word alone
                weigh(t, cells, kept, groups, places, values, first, ones, fresh)
                top = fresh[:wide].max()
            for j in range(wide):
                score[j] = fresh[j] / top if top > 0.0 else 1.0
        if end > begin:
            wide = enter(end - 1, cells, kept, groups, first, stop, fresh)
            top = 0
            for j in range(wide):
                if score[j] * fresh[j] > score[top] * fresh[top]:
                    top = j
            for t in range(end - 1, begin - 1, -1):
                best[t] = top
                top = came[t - begin, top]
