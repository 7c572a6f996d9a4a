"""Compiled: the dependency model with valence (Klein & Manning 2004), on split heads as in Eisner & Satta (1999).

A head generates its words to the left and to the right apart, from the nearest outwards. Before each one it decides to
go on, and in the end to stop; both depend on its tag, the side, and whether it has a word on that side yet (valence).
As a half that ends at its head has no word yet, and every longer one has, valence needs no state of its own:

    SR[i, j] = sum_{i<=m<j} RO[i, m] go(i, m > i) LC[m+1, j]     IR[i, j] = p(j | i, right) SR[i, j]
    RO[i, j] = sum_{i<k<=j} IR[i, k] RC[k, j],  RO[i, i] = 1     RC[i, j] = RO[i, j] stop(i, j > i)

and the mirror image for L. ``RO`` and ``LO`` are open halves of a head, ``RC`` and ``LC`` closed ones, ``RG`` and
``LG`` those that go on. All sums are inner products of contiguous memory: what is needed by row and by column is kept
both ways, and the adjoints are gathered, not spread. So one code does sums of probabilities and sums in log space, for
sentences that a float64 does not hold.

A batch is the tags of all sentences, joined, and offsets. Parameters have an entry for each tag, side (0 left, 1
right) and valence (0 without a word yet, 1 with), either probabilities or all of them logarithms.
"""

import math

from aligntools.ground.compiler import kernel

#: float64 squares of n x n that the kernels need as scratch: for sums, and for the best tree.
SQUARES, BEST_SQUARES = 20, 10
#: Natural log of the factor by which trees grow with every word (27/4), and the smallest ln Z above that is safe: as
#: in `trees.kernels_projective`.
GROWTH, FLOOR = 1.91, -644.7


@kernel(inline=True)
def _plus(a, b, log):
    """Return the sum of two numbers."""
    if not log:
        return a + b
    top, low = max(a, b), min(a, b)
    return top if low == -math.inf else top + math.log1p(math.exp(low - top))


@kernel(inline=True)
def _times(a, b, log):
    """Return the product of two numbers."""
    return a + b if log else a * b


@kernel(inline=True)
def _dot(a, b, d, log):
    """Return the inner product of two rows of d numbers."""
    if not log:
        total = 0.0
        for k in range(d):
            total += a[k] * b[k]
        return total
    top = -math.inf
    for k in range(d):
        top = max(top, a[k] + b[k])
    if top == -math.inf:
        return top
    total = 0.0
    for k in range(d):
        total += math.exp(a[k] + b[k] - top)
    return top + math.log(total)


@kernel(part=True)
def _inside(tags, n, choose, decide, root, log, sq):
    """Fill the chart; return Z."""
    rc, rct, lc, lct, rg, rgt, lg, lgt = sq[0], sq[1], sq[2], sq[3], sq[4], sq[5], sq[6], sq[7]
    ir, irt, il, ilt = sq[8], sq[9], sq[10], sq[11]
    one = 0.0 if log else 1.0
    for d in range(n):
        for i in range(n - d):
            j = i + d
            a, b, v = tags[i], tags[j], 1 if d else 0
            right = left = one
            if d:
                t = _dot(rg[i, i:j], lct[j, i + 1 : j + 1], d, log)
                ir[i, j] = irt[j, i] = _times(choose[a, 1, b], t, log)
                t = _dot(rc[i, i:j], lgt[j, i + 1 : j + 1], d, log)
                il[i, j] = ilt[j, i] = _times(choose[b, 0, a], t, log)
                right = _dot(ir[i, i + 1 : j + 1], rct[j, i + 1 : j + 1], d, log)
                left = _dot(lc[i, i:j], ilt[j, i:j], d, log)
            rc[i, j] = rct[j, i] = _times(right, decide[a, 1, v, 0], log)
            rg[i, j] = rgt[j, i] = _times(right, decide[a, 1, v, 1], log)
            lc[i, j] = lct[j, i] = _times(left, decide[b, 0, v, 0], log)
            lg[i, j] = lgt[j, i] = _times(left, decide[b, 0, v, 1], log)
    z = -math.inf if log else 0.0
    for r in range(n):
        z = _plus(z, _times(root[tags[r]], _times(lc[0, r], rc[r, n - 1], log), log), log)
    return z


@kernel(part=True)
def _outside(tags, n, choose, decide, root, log, sq, z, chosen, rooted, bare):
    """Add the sentence's expected counts, by the adjoints of ln Z, from the largest spans down."""
    rc, rct, lc, lct, rgt, lg = sq[0], sq[1], sq[2], sq[3], sq[5], sq[6]
    ir, irt, il = sq[8], sq[9], sq[10]
    ro, rot, lo, lot, sr, srt, sl, slt = sq[12], sq[13], sq[14], sq[15], sq[16], sq[17], sq[18], sq[19]
    none = -math.inf if log else 0.0
    share = -z if log else 1.0 / z
    for r in range(n):
        t = _times(_times(root[tags[r]], share, log), _times(lc[0, r], rc[r, n - 1], log), log)
        rooted[tags[r]] += math.exp(t) if log else t
    for d in range(n - 1, -1, -1):
        for i in range(n - d):
            j = i + d
            a, b, v = tags[i], tags[j], 1 if d else 0
            # the closed and the open right half of i, up to j
            closed = going = none
            if j == n - 1:
                closed = _times(_times(root[a], share, log), lc[0, i], log)
            if i > 0:
                closed = _plus(closed, _dot(rot[j, :i], irt[i, :i], i, log), log)
            if j < n - 1:
                rest = n - 1 - j
                closed = _plus(closed, _dot(sl[i, j + 1 :], lg[j + 1, j + 1 :], rest, log), log)
                going = _dot(sr[i, j + 1 :], lc[j + 1, j + 1 :], rest, log)
            if d == 0:
                t = _times(closed, rc[i, i], log)
                bare[a, 1] += math.exp(t) if log else t
            ro[i, j] = rot[j, i] = _plus(
                _times(closed, decide[a, 1, v, 0], log), _times(going, decide[a, 1, v, 1], log), log
            )
            # the left half of j, down to i
            closed = going = none
            if i == 0:
                closed = _times(_times(root[b], share, log), rc[j, n - 1], log)
            if j < n - 1:
                closed = _plus(closed, _dot(lo[i, j + 1 :], il[j, j + 1 :], n - 1 - j, log), log)
            if i > 0:
                closed = _plus(closed, _dot(srt[j, :i], rgt[i - 1, :i], i, log), log)
                going = _dot(slt[j, :i], rct[i - 1, :i], i, log)
            if d == 0:
                t = _times(closed, lc[i, i], log)
                bare[a, 0] += math.exp(t) if log else t
            lo[i, j] = lot[j, i] = _plus(
                _times(closed, decide[b, 0, v, 0], log), _times(going, decide[b, 0, v, 1], log), log
            )
            if d == 0:
                continue
            # the edges between the two
            t = _dot(ro[i, j:], rc[j, j:], n - j, log)
            sr[i, j] = srt[j, i] = _times(t, choose[a, 1, b], log)
            t = _times(t, ir[i, j], log)
            chosen[a, 1, b] += math.exp(t) if log else t
            t = _dot(lot[j, : i + 1], lct[i, : i + 1], i + 1, log)
            sl[i, j] = slt[j, i] = _times(t, choose[b, 0, a], log)
            t = _times(t, il[i, j], log)
            chosen[b, 0, a] += math.exp(t) if log else t


@kernel
def expect(tags, offsets, begin, end, choose, decide, root, log, chart, log_z, unsafe, chosen, rooted, bare):
    """Compute the log-likelihood of sentences and add their expected counts.

    tags (int32 [words]).
    offsets (int64 [sentences + 1]): From 0.
    begin, end (int): The sentences to do.
    choose (float64 [tags, 2, tags]): Of head, side and modifier.
    decide (float64 [tags, 2, 2, 2]): Of head, side and valence: to stop, to go on.
    root (float64 [tags]).
    log (bool): Whether all these are logarithms; if not, none may be above 1.
    chart (float64 [>= SQUARES n^2]): Scratch, for the longest sentence.
    log_z (float64 [sentences]).
    unsafe (uint8 [sentences]): 1 where float64 does not hold the sentence; nothing else of it is then to be read, and
        nothing was counted.
    chosen, rooted (like ``choose`` and ``root``): Expected numbers of edges.
    bare (float64 [tags, 2]): Expected numbers of words that have none on a side.
    """
    for s in range(begin, end):
        n = offsets[s + 1] - offsets[s]
        unsafe[s] = 0
        if n == 0:
            log_z[s] = 0.0
            continue
        own = tags[offsets[s] : offsets[s + 1]]
        sq = chart[: SQUARES * n * n].reshape(SQUARES, n, n)
        z = _inside(own, n, choose, decide, root, log, sq)
        if log:
            log_z[s] = z
            if z == -math.inf:
                continue
        else:
            if not (z > 0.0 and z < math.inf and math.log(z) > GROWTH * n + FLOOR):
                unsafe[s] = 1
                continue
            log_z[s] = math.log(z)
        _outside(own, n, choose, decide, root, log, sq, z, chosen, rooted, bare)


@kernel(inline=True)
def _best_split(a, b, d):
    """Return the largest sum of entries of two rows, and where it is: the first place."""
    best, place = -math.inf, 0
    for k in range(d):
        if a[k] + b[k] > best:
            best, place = a[k] + b[k], k
    return best, place


@kernel
def best_trees(tags, offsets, begin, end, choose, decide, root, chart, places, stack, heads, best):
    """Find the most probable trees; parameters are logarithms, as for `expect`.

    chart (float64 [>= BEST_SQUARES n^2]), places (int32 [>= 4 n^2]).
    stack (int32 [>= 9 (n + 1)]): Scratch, for the longest sentence.
    heads (int32 [words]): 0 for the root, else the head's number in the sentence, from 1. Flat where there is no tree.
    best (float64 [sentences]): Log-probabilities of the trees; -inf where there is none.
    """
    for s in range(begin, end):
        first = offsets[s]
        n = offsets[s + 1] - first
        best[s] = 0.0
        if n == 0:
            continue
        t = tags[first : first + n]
        sq = chart[: BEST_SQUARES * n * n].reshape(BEST_SQUARES, n, n)
        at = places[: 4 * n * n].reshape(4, n, n)
        rc, rct, lc, lct, rg, lgt, ir, ilt = sq[0], sq[1], sq[2], sq[3], sq[4], sq[5], sq[6], sq[7]
        for d in range(n):
            for i in range(n - d):
                j = i + d
                a, b, v = t[i], t[j], 1 if d else 0
                right = left = 0.0
                if d:
                    value, at[0, i, j] = _best_split(rg[i, i:j], lct[j, i + 1 : j + 1], d)
                    ir[i, j] = value + choose[a, 1, b]
                    value, at[1, i, j] = _best_split(rc[i, i:j], lgt[j, i + 1 : j + 1], d)
                    ilt[j, i] = value + choose[b, 0, a]
                    right, at[2, i, j] = _best_split(ir[i, i + 1 : j + 1], rct[j, i + 1 : j + 1], d)
                    left, at[3, i, j] = _best_split(lc[i, i:j], ilt[j, i:j], d)
                rc[i, j] = rct[j, i] = right + decide[a, 1, v, 0]
                rg[i, j] = right + decide[a, 1, v, 1]
                lc[i, j] = lct[j, i] = left + decide[b, 0, v, 0]
                lgt[j, i] = left + decide[b, 0, v, 1]
        top, place = -math.inf, 0
        for r in range(n):
            value = root[t[r]] + lc[0, r] + rc[r, n - 1]
            if value > top:
                top, place = value, r
        best[s] = top
        own = heads[first : first + n]
        if top == -math.inf:
            for m in range(n):
                own[m] = 1 if m else 0
            continue
        own[place] = 0
        # Halves that are still to be read: whether a right one, and its ends.
        stack[0], stack[1], stack[2] = 0, 0, place
        stack[3], stack[4], stack[5] = 1, place, n - 1
        depth = 2
        while depth:
            depth -= 1
            side, i, j = stack[3 * depth], stack[3 * depth + 1], stack[3 * depth + 2]
            if i == j:
                continue
            if side == 1:  # i has k as its outermost word, with its right half up to j
                k = i + 1 + at[2, i, j]
                m = i + at[0, i, k]
                own[k] = i + 1
                halves = ((1, k, j), (1, i, m), (0, m + 1, k))
            else:
                k = i + at[3, i, j]
                m = k + at[1, k, j]
                own[k] = j + 1
                halves = ((0, i, k), (0, m + 1, j), (1, k, m))
            for half in halves:
                stack[3 * depth], stack[3 * depth + 1], stack[3 * depth + 2] = half
                depth += 1


@kernel
def attach_left_out(offsets, begin, end, skip, left_out, heads):
    """Give the words that were left out a head: the lowest word that has both neighbours below it, or the root's word.

    The neighbours are the nearest words that were not left out. So no edge crosses another.

    skip (bool [sentences]): Whose heads stay as they are.
    left_out (bool [words]).
    heads (int32 [words]): Of the others, and filled in for these; flat where all of a sentence were left out.
    """
    for s in range(begin, end):
        if skip[s]:
            continue
        first = offsets[s]
        n = offsets[s + 1] - first
        out, own = left_out[first : first + n], heads[first : first + n]
        top = -1
        for m in range(n):
            if not out[m] and own[m] == 0:
                top = m
        if top < 0:
            for m in range(n):
                own[m] = 1 if m else 0
            continue
        left = -1
        for m in range(n):
            if not out[m]:
                left = m
                continue
            right = m + 1
            while right < n and out[right]:
                right += 1
            own[m] = top + 1
            if left < 0 or right == n:
                continue
            above = left  # up to the first word that is above the right neighbour too
            while above >= 0:
                below = right
                while below >= 0 and below != above:
                    below = own[below] - 1
                if below == above:
                    break
                above = own[above] - 1
            own[m] = above + 1
