"""Compiled: IBM 3 and IBM 4 (Brown et al. 1993): climbing to an alignment, and expectations over its neighbourhood.

A word of the given side generates a *cept*: the observed words that are linked to it. Positions count from 1 and given
position 0 is NULL. An alignment's probability is the product of

    C(m - f0, f0) p0^(m - 2 f0) p1^f0   f0 words from NULL, of m
    n(f | e)                            for each given word's fertility, times f! in IBM 3
    t(f | e)                            for each observed word
    d(j | i, l, m)                      for each word that is not from NULL, in IBM 3
    d1(j - c | A, B)                    for the first word of each cept in IBM 4, c the centre of the cept before
    d>1(j - k | B)                      for each other word in IBM 4, k the word of the cept before it

all in logarithms here. An alignment's *neighbours* differ by a move (one word is linked to another given word, or to
NULL) or by a swap (two words exchange their links). What is not possible in the models, fertilities of FERTILITIES and
more and more than half of the words from NULL, costs PENALTY a word, so that every sentence has an alignment.
"""

from math import lgamma
from typing import NamedTuple

import numpy as np

from aligntools.aligning.models.kernels_positions import PositionBlocks
from aligntools.ground.compiler import kernel

#: Fertilities from 0 on that are told apart; a word has fewer links than this.
FERTILITIES = 10
#: Distances of IBM 4 from -FARTHEST to FARTHEST are told apart; the two last stand for all beyond, too.
FARTHEST = 40
DISTANCES = 2 * FARTHEST + 1
#: What each word costs that is more than the models allow.
PENALTY = 30.0
#: Changes that improve an alignment's logarithm by less are none.
LEAST_GAIN = 1e-6
#: Climbing ends after so many rounds at the latest.
ROUNDS = 60


class CeptTables(NamedTuple):
    """One direction's parameters, in logarithms but for ``positions``.

    fertility (float32 [n_given_words + 1, FERTILITIES]).
    positions: Of IBM 3: rows are given positions, each a distribution over the observed ones.
    heads (float32 [given classes, observed classes, DISTANCES]): ``d1`` of IBM 4; given class 0 is the sentence's
        beginning.
    others (float32 [observed classes, DISTANCES]): ``d>1`` of IBM 4.
    given_classes, observed_classes (int32 [n_words + 1]).
    """

    fertility: np.ndarray
    log_p0: float
    log_p1: float
    positions: PositionBlocks
    heads: np.ndarray
    others: np.ndarray
    given_classes: np.ndarray
    observed_classes: np.ndarray


class CeptCounts(NamedTuple):
    """What is found beside posteriors, of a chunk or, for distances, of a block.

    fertility (int32 [given words of the chunk]): In the alignment that was climbed to.
    fewer, more (float32 [given words of the chunk]): Probability of one link less, and of one more.
    nulls (float64 [chunk]): Expected words from NULL.
    loglik (float64 [chunk]): Logarithm of the neighbourhood's probability.
    heads, others (float64): Expected distances; shapes as in `CeptTables`.
    """

    fertility: np.ndarray
    fewer: np.ndarray
    more: np.ndarray
    nulls: np.ndarray
    loglik: np.ndarray
    heads: np.ndarray
    others: np.ndarray


class Cepts(NamedTuple):
    """One sentence's alignment and what follows from it; arrays are at least as long as said.

    links (int32 [n_observed]): Given position of each word, 0 for NULL.
    fertility, first, total (int32 [n_given + 1]): Of each cept: its words, the position of the first, the sum of their
        positions.
    after (int32 [n_observed + 1]): The next word of the same cept, or 0.
    before, next (int32 [n_given + 1]): The nearest given positions with words, 0 and n_given + 1 where there are none.
    inner, head (float64 [n_given + 1]): IBM 4's distortion of each cept: of its other words, and of its first.
    fewer, more (float64 [n_given + 1]): What one word less, or more, changes besides its own scores.
    room (float64 [n_given + 1]): The most that a change at a cept can gain by distortion.
    given, observed (int32 [n_given + 1], [n_observed + 1]): Classes by position.
    """

    links: np.ndarray
    fertility: np.ndarray
    first: np.ndarray
    total: np.ndarray
    after: np.ndarray
    before: np.ndarray
    next: np.ndarray
    inner: np.ndarray
    head: np.ndarray
    fewer: np.ndarray
    more: np.ndarray
    room: np.ndarray
    given: np.ndarray
    observed: np.ndarray


@kernel(part=True)
def cepts_for(width):
    """Return room for sentences up to ``width`` words."""
    n = width + 2
    i = np.zeros((9, n), np.int32)
    f = np.zeros((5, n), np.float64)
    return Cepts(i[0], i[1], i[2], i[3], i[4], i[5], i[6], f[0], f[1], f[2], f[3], f[4], i[7], i[8])


@kernel(part=True)
def slot(distance):
    """Return the place of a distance in the tables of IBM 4."""
    return min(max(distance, -FARTHEST), FARTHEST) + FARTHEST


@kernel(part=True)
def centre(total, n):
    """Return a cept's centre: the mean of its positions, rounded up; 0 for none."""
    return (total + n - 1) // n if n > 0 else 0


@kernel(inline=True, owning=False)
def walk(cepts, g, less, more, others, weight, counted):
    """Go over the words of a cept without word ``less`` and with word ``more`` (0: none).

    ``weight``, unless it is 0, is added to what is counted of its distances.

    Returns score: Of all words but the first.
    """
    first, total, n, last, score = 0, 0, 0, 0, 0.0
    at = cepts.first[g]
    while at > 0 or more > 0:
        if more > 0 and (at == 0 or more < at):
            j = more
            more = 0
        else:
            j = at
            at = cepts.after[at]
            if j == less:
                continue
        if last == 0:
            first = j
        else:
            s, b = slot(j - last), cepts.observed[j]
            score += others[b, s]
            if weight != 0.0:
                counted[b, s] += weight
        last = j
        total += j
        n += 1
    return first, total, n, score


@kernel(inline=True, owning=False)
def changed(cepts, n_given, g1, less1, more1, g2, less2, more2, tables, weight, counts):
    """Return what a change of two cepts changes in IBM 4's distortion.

    n_given (int): Given words.
    g1, less1, more1, g2, less2, more2 (int): Two given positions, 0 for NULL, the word that each loses, and the one
        that it gets; 0 for none.
    weight (float): Unless it is 0, what changes is counted with this weight: the new distances, less the old ones.
    """
    first1, total1, n1, first2, total2, n2 = 0, 0, 0, 0, 0, 0
    score = 0.0
    for c in range(2):
        g, less, more = (g1, less1, more1) if c == 0 else (g2, less2, more2)
        if g == 0:
            continue
        first, total, n, inner = walk(cepts, g, less, more, tables.others, weight, counts.others)
        if weight != 0.0:
            walk(cepts, g, 0, 0, tables.others, -weight, counts.others)
        score += inner - cepts.inner[g]
        if c == 0:
            first1, total1, n1 = first, total, n
        else:
            first2, total2, n2 = first, total, n
    none = n_given + 1
    s1 = cepts.next[g1] if g1 > 0 else none
    if s1 == g2:
        s1 = cepts.next[g2]
    s2 = cepts.next[g2] if g2 > 0 else none
    if s2 == g1:
        s2 = cepts.next[g1]
    if s2 == s1:
        s2 = none
    for c in range(4):
        t = g1 if c == 0 else g2 if c == 1 else s1 if c == 2 else s2
        if t == 0 or t == none:
            continue
        if cepts.fertility[t] > 0:
            score -= cepts.head[t]
            if weight != 0.0:
                p, j = cepts.before[t], cepts.first[t]
                s = slot(j - centre(cepts.total[p], cepts.fertility[p]) if p > 0 else j)
                counts.heads[cepts.given[p], cepts.observed[j], s] -= weight
        n, j = (n1, first1) if t == g1 else (n2, first2) if t == g2 else (cepts.fertility[t], cepts.first[t])
        if n == 0:
            continue
        p = cepts.before[t]
        while p > 0 and ((p == g1 and n1 == 0) or (p == g2 and n2 == 0)):
            p = cepts.before[p]
        if n1 > 0 and p < g1 < t:
            p = g1
        if n2 > 0 and p < g2 < t:
            p = g2
        at = j
        if p > 0:
            if p == g1:
                at -= centre(total1, n1)
            elif p == g2:
                at -= centre(total2, n2)
            else:
                at -= centre(cepts.total[p], cepts.fertility[p])
        s, b = slot(at), cepts.observed[j]
        score += tables.heads[cepts.given[p], b, s]
        if weight != 0.0:
            counts.heads[cepts.given[p], b, s] += weight
    return score


@kernel(part=True)
def fertility_score(fertility, word, n):
    """Return the logarithm of a word's fertility."""
    return np.float64(fertility[word, min(n, FERTILITIES - 1)]) - PENALTY * max(n - FERTILITIES + 1, 0)


@kernel(part=True)
def null_more(n, n_observed, tables):
    """Return what one more word from NULL changes where there are ``n`` of ``n_observed``."""
    if n_observed - 2 * n < 2:
        return -PENALTY
    ways = (n_observed - 2 * n) * (n_observed - 2 * n - 1.0) / ((n_observed - n) * (n + 1.0))
    return np.log(ways) + tables.log_p1 - 2 * tables.log_p0


@kernel(inline=True, owning=False)
def refresh(cepts, n_given, n_observed, given, tables, relative):
    """Write what follows from the words of each cept.

    given (int32 [n_given]): Words.
    """
    for g in range(n_given + 1):
        n = cepts.fertility[g]
        if g == 0:
            cepts.fewer[0] = -null_more(n - 1, n_observed, tables) if n > 0 else 0.0
            cepts.more[0] = null_more(n, n_observed, tables)
            continue
        word = given[g - 1]
        here = fertility_score(tables.fertility, word, n)
        cepts.more[g] = fertility_score(tables.fertility, word, n + 1) - here
        cepts.fewer[g] = fertility_score(tables.fertility, word, n - 1) - here if n > 0 else 0.0
        if not relative:
            cepts.more[g] += np.log(n + 1.0)
            if n > 0:
                cepts.fewer[g] -= np.log(np.float64(n))
    if not relative:
        return
    last = 0
    for g in range(1, n_given + 1):
        cepts.before[g] = last
        if cepts.fertility[g] > 0:
            last = g
    following = n_given + 1
    cepts.room[0] = 0.0
    for g in range(n_given, 0, -1):
        cepts.next[g] = following
        room = -cepts.head[following] if following <= n_given else 0.0
        cepts.inner[g] = 0.0
        cepts.head[g] = 0.0
        if cepts.fertility[g] > 0:
            j, _, _, inner = walk(cepts, g, 0, 0, tables.others, 0.0, tables.others)
            p = cepts.before[g]
            at = j - centre(cepts.total[p], cepts.fertility[p]) if p > 0 else j
            cepts.inner[g] = inner
            cepts.head[g] = tables.heads[cepts.given[p], cepts.observed[j], slot(at)]
            room -= inner + cepts.head[g]
            following = g
        cepts.room[g] = room


@kernel(inline=True, owning=False)
def gather_cepts(cepts, n_given, n_observed):
    """Write the words of each cept from the links."""
    for g in range(n_given + 1):
        cepts.fertility[g] = 0
        cepts.first[g] = 0
        cepts.total[g] = 0
    for j in range(n_observed, 0, -1):
        g = cepts.links[j - 1]
        cepts.after[j] = cepts.first[g]
        cepts.first[g] = j
        cepts.total[g] += j
        cepts.fertility[g] += 1


@kernel(inline=True, owning=False)
def change_score(cepts, scores, n_given, o, x, least, tables, relative, counts):
    """Return what a change adds to the logarithm of the alignment's probability; ``least`` where it is no more.

    scores (float32 [n_observed, n_given + 1]): Of each word with each given position: its translation, and in IBM 3 its
        position.
    o, x (int): Word ``o`` is moved to given position ``x`` or, from n_given + 1 on, exchanges links with word ``x -
        n_given`` places behind it.
    """
    i = np.int64(cepts.links[o])
    p = o + x - n_given
    moves = x <= n_given
    g = x if moves else np.int64(cepts.links[p])
    if g == i:
        return least
    score = np.float64(scores[o, g] - scores[o, i])
    if moves:
        score += cepts.fewer[i] + cepts.more[g]
    else:
        score += scores[p, i] - scores[p, g]
    if relative and score + cepts.room[i] + cepts.room[g] > least:
        q = 0 if moves else p + 1
        score += changed(cepts, n_given, i, o + 1, q, g, q, o + 1, tables, 0.0, counts)
    return score if score > least else least


@kernel(part=True)
def climb(cepts, scores, n_given, n_observed, given, tables, relative, pegged, rounds, counts):
    """Change the links, by moves and swaps, as long as that makes the alignment more probable; all but the pegged word.

    Each round goes over the words and makes, for each, the change that gains most. In the last one nothing is changed.

    scores (float32 [n_observed, n_given + 1]).
    given (int32 [n_given]): Words.
    pegged (int): A word, or -1.
    rounds (int): How many there are at most; with 1 the links stay.
    """
    stale = True
    for r in range(rounds):
        stays = True
        for o in range(n_observed):
            if stale:
                gather_cepts(cepts, n_given, n_observed)
                refresh(cepts, n_given, n_observed, given, tables, relative)
                stale = False
            if r == rounds - 1:
                break
            if o == pegged:
                continue
            best, change = LEAST_GAIN, -1
            for x in range(n_given + n_observed - o):
                if x > n_given and o + x - n_given == pegged:
                    continue
                score = change_score(cepts, scores, n_given, o, x, best, tables, relative, counts)
                if score > best:
                    best, change = score, x
            if change < 0:
                continue
            i = cepts.links[o]
            if change <= n_given:
                cepts.links[o] = change
            else:
                p = o + change - n_given
                cepts.links[o] = cepts.links[p]
                cepts.links[p] = i
            stale, stays = True, False
        if stays:
            break


@kernel(part=True)
def log_probability(cepts, scores, n_given, n_observed, given, tables, relative):
    """Return the logarithm of the alignment's probability."""
    n0 = cepts.fertility[0]
    n = min(n0, n_observed // 2)
    found = lgamma(n_observed - n + 1.0) - lgamma(n + 1.0) - lgamma(n_observed - 2 * n + 1.0)
    found += (n_observed - 2 * n) * tables.log_p0 + n * tables.log_p1 - PENALTY * (n0 - n)
    for o in range(n_observed):
        found += scores[o, cepts.links[o]]
    for g in range(1, n_given + 1):
        found += fertility_score(tables.fertility, given[g - 1], cepts.fertility[g])
        if relative:
            found += cepts.inner[g] + cepts.head[g]
        else:
            found += lgamma(cepts.fertility[g] + 1.0)
    return found


@kernel(part=True)
def count_distances(cepts, n_given, tables, counts):
    """Count the distances of an alignment."""
    for g in range(1, n_given + 1):
        if cepts.fertility[g] == 0:
            continue
        j, _, _, _ = walk(cepts, g, 0, 0, tables.others, 1.0, counts.others)
        p = cepts.before[g]
        at = j - centre(cepts.total[p], cepts.fertility[p]) if p > 0 else j
        counts.heads[cepts.given[p], cepts.observed[j], slot(at)] += 1.0
