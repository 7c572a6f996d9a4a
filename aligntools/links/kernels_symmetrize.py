"""Compiled symmetrization: the union of two directions as a small graph of neighbouring points, grown."""

import numpy as np

from aligntools.formats.links.kernels_pharaoh import sort_keys
from aligntools.ground.compiler import kernel

# A point is one number: the major coordinate from bit 32 on, the minor one above bit 2, two flags below.
_FORWARD, _REVERSE, _BOTH = 1, 2, 3
_MINOR = (1 << 30) - 1


@kernel(fast=False)
def _merge(forward, f, f_end, reverse, r, r_end, transpose, points):
    """Fill ``points`` with the union of two sorted runs of links, sorted; return how many there are."""
    count = 0
    while f < f_end or r < r_end:
        flags = 0
        i, j = 1 << 30, 0
        if f < f_end:
            i, j = np.int64(forward[f, 0]), np.int64(forward[f, 1])
            flags = _FORWARD
        if r < r_end:
            ri, rj = np.int64(reverse[r, 0]), np.int64(reverse[r, 1])
            if flags == 0 or ri < i or (ri == i and rj < j):
                i, j = ri, rj
                flags = _REVERSE
            elif ri == i and rj == j:
                flags = _BOTH
        if flags & _FORWARD:
            f += 1
        if flags & _REVERSE:
            r += 1
        points[count] = (j << 32 | i << 2 | flags) if transpose else (i << 32 | j << 2 | flags)
        count += 1
    if transpose:
        sort_keys(points, count)
    return count


@kernel(fast=False)
def _link_neighbours(points, count, near):
    """Find the points beside each point.

    ``near[k]`` is filled with the eight places around point ``k``, -1 where the union has none: major
    coordinate one less, minor one less, major one more, minor one more, then the corners (-1, -1), (-1, +1),
    (+1, -1), (+1, +1): the order in which symal looks at them.
    """
    for k in range(count):
        for slot in range(8):
            near[k, slot] = -1
    before_begin = before_end = row_begin = 0
    while row_begin < count:
        major = points[row_begin] >> 32
        row_end = row_begin
        while row_end < count and points[row_end] >> 32 == major:
            row_end += 1
        if before_end > before_begin and points[before_begin] >> 32 != major - 1:
            before_begin = before_end
        p = before_begin
        for k in range(row_begin, row_end):
            minor = points[k] >> 2 & _MINOR
            while p < before_end and points[p] >> 2 & _MINOR < minor - 1:
                p += 1
            for q in range(p, min(p + 3, before_end)):
                step = (points[q] >> 2 & _MINOR) - minor
                if step == -1:
                    near[k, 4] = q
                    near[q, 7] = k
                elif step == 0:
                    near[k, 0] = q
                    near[q, 2] = k
                elif step == 1:
                    near[k, 5] = q
                    near[q, 6] = k
            if k + 1 < row_end and points[k + 1] >> 2 & _MINOR == minor + 1:
                near[k, 3] = k + 1
                near[k + 1, 1] = k
        before_begin, before_end = row_begin, row_end
        row_begin = row_end


@kernel(fast=False)
def _number_words(points, count, keys, word):
    """Fill ``word[k]`` with a number for the major and one for the minor coordinate of point ``k``."""
    number = -1
    for k in range(count):
        if k == 0 or points[k] >> 32 != points[k - 1] >> 32:
            number += 1
        word[k, 0] = number
        keys[k] = (points[k] >> 2 & _MINOR) << 32 | k
    sort_keys(keys, count)
    number = -1
    for m in range(count):
        if m == 0 or keys[m] >> 32 != keys[m - 1] >> 32:
            number += 1
        word[keys[m] & 0xFFFFFFFF, 1] = number


@kernel(fast=False)
def _grow(count, slots, symal, near, word, inside, covered, waiting):
    """Grow the intersection through neighbours; see `symmetrize.symmetrize` for the two ways."""
    changed = True
    if symal:
        while changed:
            changed = False
            for k in range(count):
                if not inside[k]:
                    continue
                for slot in range(slots):
                    q = near[k, slot]
                    if q >= 0 and not (covered[word[q, 0], 0] and covered[word[q, 1], 1]):
                        inside[q] = covered[word[q, 0], 0] = covered[word[q, 1], 1] = True
                        changed = True
        return
    left = 0
    for k in range(count):
        if not inside[k]:
            waiting[left] = k
            left += 1
    while changed:
        changed = False
        kept = 0
        for m in range(left):
            k = waiting[m]
            if covered[word[k, 0], 0] and covered[word[k, 1], 1]:
                continue  # and so it stays: it need not wait any longer
            for slot in range(slots):
                if near[k, slot] >= 0 and inside[near[k, slot]]:
                    inside[k] = covered[word[k, 0], 0] = covered[word[k, 1], 1] = True
                    changed = True
                    break
            if not inside[k]:
                waiting[kept] = k
                kept += 1
        left = kept


@kernel(fast=False)
def symmetrize_links(forward, forward_offsets, reverse, reverse_offsets, slots, final, symal, pairs, offsets):
    """Grow the intersection of two directions towards their union, sentence by sentence.

    forward, reverse (int32 [links, 2]): Sorted by ``(i, j)`` within each sentence, none twice.
    forward_offsets, reverse_offsets (int64 [sentences + 1]).
    slots (int): Neighbours of a point: 8, 4, 0 (no growing), or -1 for the union.
    final (int): 0: no last step; 1: add points with one or both words free; 2: with both words free.
    symal (bool): Scan by target and grow from inside, as symal does, rather than as atools.
    pairs (int32 [at most all links, 2]): Filled, sorted by ``(i, j)``.
    offsets (int64 [sentences + 1]): Filled.
    Returns how many links were written.
    """
    sentences = len(forward_offsets) - 1
    size = 0
    for s in range(sentences):
        size = max(size, forward_offsets[s + 1] - forward_offsets[s] + reverse_offsets[s + 1] - reverse_offsets[s])
    points = np.empty(size, np.int64)
    keys = np.empty(size, np.int64)
    near = np.empty((size, 8), np.int32)
    word = np.empty((size, 2), np.int32)
    waiting = np.empty(size, np.int32)
    inside = np.empty(size, np.bool_)
    covered = np.empty((size, 2), np.bool_)
    total = 0
    offsets[0] = 0
    for s in range(sentences):
        count = _merge(
            forward,
            forward_offsets[s],
            forward_offsets[s + 1],
            reverse,
            reverse_offsets[s],
            reverse_offsets[s + 1],
            symal,
            points,
        )
        agreed = 0
        for k in range(count):
            inside[k] = slots < 0 or points[k] & 3 == _BOTH
            agreed += inside[k]
        if agreed < count and (slots > 0 or final > 0):
            _number_words(points, count, keys, word)
            for k in range(count):
                covered[k, 0] = covered[k, 1] = False
            for k in range(count):
                if inside[k]:
                    covered[word[k, 0], 0] = covered[word[k, 1], 1] = True
            if slots > 0 and agreed > 0:
                _link_neighbours(points, count, near)
                _grow(count, slots, symal, near, word, inside, covered, waiting)
            if final > 0:
                for direction in (_FORWARD, _REVERSE):
                    for k in range(count):
                        if inside[k] or points[k] & 3 != direction:
                            continue
                        first, second = covered[word[k, 0], 0], covered[word[k, 1], 1]
                        if (final == 1 and not (first and second)) or not (first or second):
                            inside[k] = covered[word[k, 0], 0] = covered[word[k, 1], 1] = True
        chosen = 0
        for k in range(count):
            if inside[k]:
                a, b = points[k] >> 32, points[k] >> 2 & _MINOR
                keys[chosen] = (b << 32 | a) if symal else (a << 32 | b)
                chosen += 1
        if symal:
            sort_keys(keys, chosen)
        for k in range(chosen):
            pairs[total, 0] = keys[k] >> 32
            pairs[total, 1] = keys[k] & 0xFFFFFFFF
            total += 1
        offsets[s + 1] = total
    return total
