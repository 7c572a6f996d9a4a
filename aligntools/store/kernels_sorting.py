"""Compiled sorting and merging of records whose keys are sequences of numbers of any length.

A key is a run of positive int32 codes parted and ended by zeros; keys are compared number by number, so that a
sequence comes before those that it begins. No key of a set begins another one (each ends with its own zero), so
comparisons never run past an end.
"""

import numpy as np

from aligntools.ground.compiler import kernel

_HALF = np.uint64(32)
_SMALL = 12


@kernel(fast=False)
def _compare(pool, a, b):
    """Return -1, 0 or 1 as the key at ``a`` is before, at, or after that at ``b``; three zeros end a key."""
    zeros = 0
    while True:
        x = pool[a]
        y = pool[b]
        if x != y:
            return -1 if x < y else 1
        if x == 0:
            zeros += 1
            if zeros == 3:
                return 0
        a += 1
        b += 1


@kernel(fast=False)
def _before(pool, a, b):
    """Tell whether the key at ``a`` is before that at ``b``, from which it differs."""
    while pool[a] == pool[b]:
        a += 1
        b += 1
    return pool[a] < pool[b]


@kernel(fast=False)
def _swap(order, cache, a, b):
    order[a], order[b] = order[b], order[a]
    cache[a], cache[b] = cache[b], cache[a]


@kernel(fast=False)
def sort_keys(pool, starts, order, cache, stack):
    """Sort distinct keys: three-way radix quicksort (Bentley & Sedgewick 1997), two codes at a time.

    pool (int32 [codes + 1]), starts (int64 [keys]): The keys, with one more element after the last.
    order (int64 [keys]): Filled with the numbers of the keys, in order. cache (uint64 [keys]): Work space.
    stack (int64 [256, 4]): Larger parts are put off, so that it never holds more than twice log2(keys) of them.
    """
    for k in range(order.size):
        order[k] = k
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, order.size, 0, 1
    height = 1
    while height > 0:
        height -= 1
        begin, end, depth = stack[height, 0], stack[height, 1], stack[height, 2]
        if end - begin < 2:
            continue
        if stack[height, 3] == 1:
            for k in range(begin, end):
                at = starts[order[k]] + depth
                cache[k] = (np.uint64(pool[at]) << _HALF) | np.uint64(pool[at + 1])
        if end - begin <= _SMALL:
            for k in range(begin + 1, end):
                row = order[k]
                code = cache[k]
                place = k
                while place > begin:
                    other = order[place - 1]
                    if cache[place - 1] < code:
                        break
                    if cache[place - 1] == code and _before(pool, starts[other] + depth + 2, starts[row] + depth + 2):
                        break
                    order[place] = other
                    cache[place] = cache[place - 1]
                    place -= 1
                order[place] = row
                cache[place] = code
            continue
        low, middle, high = cache[begin], cache[begin + (end - begin) // 2], cache[end - 1]
        pivot = max(min(low, middle), min(max(low, middle), high))
        less = k = begin
        more = end
        while k < more:
            if cache[k] < pivot:
                _swap(order, cache, k, less)
                less += 1
                k += 1
            elif cache[k] > pivot:
                more -= 1
                _swap(order, cache, k, more)
            else:
                k += 1
        first = height
        same, larger = height + 1, height + 2
        stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3] = begin, less, depth, 0
        stack[same, 0], stack[same, 1], stack[same, 2], stack[same, 3] = less, more, depth + 2, 1
        stack[larger, 0], stack[larger, 1], stack[larger, 2], stack[larger, 3] = more, end, depth, 0
        height += 3
        for a in range(first, height - 1):  # the largest part to the bottom, the smallest to the top
            for b in range(a + 1, height):
                if stack[b, 1] - stack[b, 0] > stack[a, 1] - stack[a, 0]:
                    for column in range(4):
                        stack[a, column], stack[b, column] = stack[b, column], stack[a, column]


@kernel(fast=False)
def gather_keys(pool, starts, order, out, out_starts):
    """Copy keys, which three zeros end, in the order given; ``out_starts`` [shape=(keys + 1,)] is filled."""
    at = 0
    for k in range(order.size):
        out_starts[k] = at
        place = starts[order[k]]
        zeros = 0
        while zeros < 3:
            code = pool[place]
            if code == 0:
                zeros += 1
            out[at] = code
            at += 1
            place += 1
    out_starts[order.size] = at
    return at


@kernel(fast=False)
def _sift_down(pool, starts, heads, heap, size, place):
    """Put the run at ``place`` of the heap where its first key belongs."""
    run = heap[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and _compare(pool, starts[heads[heap[child + 1]]], starts[heads[heap[child]]]) < 0:
            child += 1
        if _compare(pool, starts[heads[heap[child]]], starts[heads[run]]) >= 0:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = run


@kernel(fast=False)
def merge_runs(pool, starts, weights, runs, heads, heap, picks, sums):
    """Merge sorted runs of records whose keys three zeros end; the weights of equal keys are added.

    starts (int64 [records]), weights (int64 [records, 2]), runs (int64 [runs + 1]): Where each run's records begin.
    heads, heap (int64 [runs]): Work space.
    picks (int64 [records]), sums (int64 [records, 2]): Filled with one record of each distinct key, in order, and its
    weights. Returns how many distinct keys there are.
    """
    size = 0
    for run in range(runs.size - 1):
        heads[run] = runs[run]
        if runs[run] < runs[run + 1]:
            heap[size] = run
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sift_down(pool, starts, heads, heap, size, place)
    count = 0
    while size > 0:
        run = heap[0]
        row = heads[run]
        if count > 0 and _compare(pool, starts[picks[count - 1]], starts[row]) == 0:
            sums[count - 1, 0] += weights[row, 0]
            sums[count - 1, 1] += weights[row, 1]
        else:
            picks[count] = row
            sums[count, 0] = weights[row, 0]
            sums[count, 1] = weights[row, 1]
            count += 1
        heads[run] += 1
        if heads[run] == runs[run + 1]:
            size -= 1
            heap[0] = heap[size]
        if size > 0:
            _sift_down(pool, starts, heads, heap, size, 0)
    return count
