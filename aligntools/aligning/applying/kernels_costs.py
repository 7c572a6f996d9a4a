"""Compiled: what eflomal's sentence scores are made of, for each observed word, its best position."""

from typing import Any, NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel

#: Jumps are told apart up to this distance; the last entry of a table of jumps holds their sum.
FARTHEST = 1024
JUMPS = 2 * FARTHEST
#: Fertilities that are told apart; the last stands for all that are larger.
FERTILITIES = 8
#: Dirichlet parameter of a pair of words.
LEXICAL_ALPHA = 0.001


class CostCounts(NamedTuple):
    """Counts over the links of one direction, pseudo-counts added.

    ptr, ids, pairs (int64 [given + 1], int32 [pairs], float64 [pairs]): Observed words that each given word is linked
        to, ascending, and how often.
    sums (float64 [given]): Links of each given word, and the pseudo-counts of all observed words.
    jumps (float64 [JUMPS]).
    ratios (float64 [given, FERTILITIES]): How much more probable ``k`` links are than ``k - 1``.
    """

    ptr: Any
    ids: Any
    pairs: Any
    sums: Any
    jumps: Any
    ratios: Any


@kernel(inline=True)
def _jump(i, j):
    return max(0, min(JUMPS - 1, j - i + FARTHEST))


@kernel(inline=True)
def _count(counts, given, observed):
    """Return how often two words are linked."""
    a, b = counts.ptr[given], counts.ptr[given + 1]
    end = b
    while a < b:
        middle = (a + b) // 2
        if counts.ids[middle] < observed:
            a = middle + 1
        else:
            b = middle
    if a < end and counts.ids[a] == observed:
        return counts.pairs[a]
    return 0.0


@kernel
def costs_block(
    k0, k1, given, given_offsets, observed, observed_offsets, links, counts, model, fertility, following, out
):
    """Compute the scores of sentences ``k0..k1``.

    given, observed (int32 [words]): Word ids of the side that is conditioned on and of the other.
    links (int32 [observed words]): Position that each observed word is linked to; -1 for none.
    counts (LinkCounts).
    model (int): 1 for words alone, 2 with jumps, 3 with fertilities too.
    fertility, following (int64 [longest given], int64 [longest observed]): Scratch.
    out (float64 [sentences], output): Mean over the observed words of the negative logarithm; -0.0 for a blank pair.
    """
    for k in range(k0, k1):
        a, n_i = given_offsets[k], given_offsets[k + 1] - given_offsets[k]
        b, n_j = observed_offsets[k], observed_offsets[k + 1] - observed_offsets[k]
        out[k] = -0.0
        if n_i == 0 or n_j == 0:
            continue
        fertility[:n_i] = 0
        at = n_i
        for j in range(n_j - 1, -1, -1):
            following[j] = at
            if links[b + j] >= 0:
                at = links[b + j]
                fertility[at] += 1
        before = -1
        total = 0.0
        for j in range(n_j):
            own, word, after = links[b + j], observed[b + j], following[j]
            # the word's own link does not count
            jump_sum = counts.jumps[JUMPS - 1] - (1.0 if own < 0 else 2.0)
            best = 0.0
            for i in range(n_i):
                e = given[a + i]
                n, mass = _count(counts, e, word), counts.sums[e]
                if own >= 0 and e == given[a + own]:
                    n -= 1.0
                    mass -= 1.0
                p = (max(n, 0.0) + LEXICAL_ALPHA) / mass
                if model >= 2:
                    x, y = _jump(before, i), _jump(i, after)
                    c, d = counts.jumps[x], counts.jumps[y]
                    if own < 0:
                        skipped = _jump(before, after)
                        c -= 1.0 if x == skipped else 0.0
                        d -= 1.0 if y == skipped else 0.0
                    else:
                        left, right = _jump(before, own), _jump(own, after)
                        c -= (1.0 if x == left else 0.0) + (1.0 if x == right else 0.0)
                        d -= (1.0 if y == left else 0.0) + (1.0 if y == right else 0.0)
                    p *= c * d
                if model >= 3:
                    others = fertility[i] - (1 if i == own else 0)
                    p *= counts.ratios[e, min(others + 1, FERTILITIES - 1)]
                best = max(best, p)
            if model >= 2:
                best /= jump_sum * jump_sum
            total += np.log(max(best, 1e-300))
            if own >= 0:
                before = own
        out[k] = -total / n_j
