"""Compiled reading, sorting and writing of alignment links: bytes to arrays and back."""

import numpy as np

from aligntools.ground.compiler import kernel

_INSERTION = 48  # links: up to here insertion beats a general sort, above all on nearly sorted input


@kernel(fast=False)
def parse_links(text, pairs, offsets):
    """Read Pharaoh lines of nothing but ``i-j`` links, spaces, tabs and carriage returns.

    The last line has its newline too.

    text (uint8 [bytes]).
    pairs (int32 [dashes, 2]): Filled with the links in the order of the text.
    offsets (int64 [lines + 1]): Filled; ``offsets[0]`` is 0.
    Returns -1, or the 0-based number of the first line that is not of this form.
    """
    size = len(text)
    at = count = line = 0
    offsets[0] = 0
    while at < size:
        c = text[at]
        if c == 32 or c == 9 or c == 13:
            at += 1
            continue
        if c == 10:
            line += 1
            offsets[line] = count
            at += 1
            continue
        for side in range(2):
            begin = at
            value = 0
            while at < size and at - begin < 10 and 48 <= text[at] <= 57:
                value = value * 10 + (text[at] - 48)
                at += 1
            if at == begin or at - begin > 9:
                return line
            if side == 0:
                if at >= size or text[at] != 45:
                    return line
                at += 1
            pairs[count, side] = value
        if at < size and text[at] != 32 and text[at] != 10 and text[at] != 9 and text[at] != 13:
            return line
        count += 1
    return -1


@kernel(fast=False)
def sort_keys(keys, count):
    """Sort ``keys[:count]`` in place."""
    if count > _INSERTION:
        keys[:count].sort()
        return
    for k in range(1, count):
        key = keys[k]
        m = k - 1
        while m >= 0 and keys[m] > key:
            keys[m + 1] = keys[m]
            m -= 1
        keys[m + 1] = key


@kernel(fast=False)
def sort_sentences(pairs, offsets, transpose, sorted_pairs, sorted_offsets):
    """Sort every sentence's links by ``(i, j)`` and drop those that come twice.

    pairs (int32 [links, 2]), offsets (int64 [sentences + 1]).
    transpose (bool): Exchange ``i`` and ``j`` first.
    sorted_pairs, sorted_offsets (np.ndarray): Filled, of the same shapes.
    Returns how many links were written.
    """
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    keys = np.empty(longest, np.int64)
    first, second = (1, 0) if transpose else (0, 1)
    total = 0
    sorted_offsets[0] = 0
    for s in range(len(offsets) - 1):
        count = offsets[s + 1] - offsets[s]
        for k in range(count):
            row = offsets[s] + k
            keys[k] = (np.int64(pairs[row, first]) << 32) | np.int64(pairs[row, second])
        sort_keys(keys, count)
        for k in range(count):
            if k == 0 or keys[k] != keys[k - 1]:
                sorted_pairs[total, 0] = keys[k] >> 32
                sorted_pairs[total, 1] = keys[k] & 0xFFFFFFFF
                total += 1
        sorted_offsets[s + 1] = total
    return total


@kernel(fast=False)
def write_number(value, out, at):
    """Write a whole number from 0 on; return where it ends."""
    width = 1
    rest = value
    while rest >= 10:
        rest //= 10
        width += 1
    for k in range(at + width - 1, at - 1, -1):
        out[k] = 48 + value % 10
        value //= 10
    return at + width


@kernel(fast=False)
def write_links(pairs, offsets, by_target, tenthousandths, out):
    """Write links as text, a line a sentence.

    pairs (int32 [links, 2]), offsets (int64 [sentences + 1]).
    by_target (bool): Write each sentence's links in the order of ``(j, i)`` rather than as they come.
    tenthousandths (int32 [links]): Each link's probability times 10,000, to be written behind it.
    out (uint8 [bytes]): Large enough.
    Returns how many bytes were written.
    """
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    order = np.empty(longest, np.int64)
    at = 0
    for s in range(len(offsets) - 1):
        begin = offsets[s]
        count = offsets[s + 1] - begin
        for k in range(count):
            order[k] = k
        if by_target and count <= _INSERTION:
            for k in range(1, count):
                j, i = pairs[begin + k, 1], pairs[begin + k, 0]
                m = k - 1
                while m >= 0 and (
                    pairs[begin + order[m], 1] > j
                    or (pairs[begin + order[m], 1] == j and pairs[begin + order[m], 0] > i)
                ):
                    order[m + 1] = order[m]
                    m -= 1
                order[m + 1] = k
        elif by_target:
            keys = np.empty(count, np.int64)
            for k in range(count):
                keys[k] = (np.int64(pairs[begin + k, 1]) << 32) | np.int64(pairs[begin + k, 0])
            order[:count] = np.argsort(keys, kind="mergesort")
        for k in range(count):
            row = begin + order[k]
            if k > 0:
                out[at] = 32
                at += 1
            at = write_number(pairs[row, 0], out, at)
            out[at] = 45
            at = write_number(pairs[row, 1], out, at + 1)
            if len(tenthousandths) > 0:
                p = tenthousandths[row]
                out[at] = 58
                out[at + 1] = 48 + p // 10000
                out[at + 2] = 46
                out[at + 3] = 48 + p // 1000 % 10
                out[at + 4] = 48 + p // 100 % 10
                out[at + 5] = 48 + p // 10 % 10
                out[at + 6] = 48 + p % 10
                at += 7
        out[at] = 10
        at += 1
    return at
