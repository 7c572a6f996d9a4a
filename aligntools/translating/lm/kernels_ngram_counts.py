"""Compiled counting of n-grams: tables of words and numbers, sorted, merged and summed.

A table has a row for each n-gram: its words from the last to the first, then two numbers. Sorted by its columns it is
in suffix order: n-grams with the same last words stand together, so that every (n - 1)-gram that n-grams end in is one
run of rows. Sorted by the second to the last word and then the first column it is in context order.

Passes over whole tables continue from ``state``, their cursors, at first 0, for about ``step`` rows, and tell whether
rows are left: between two calls the caller can let go of memory.
"""

import numpy as np

from aligntools.ground.compiler import kernel

_BEGIN = 1
_END = 2
_MOST = np.int64(0xFFFFFFFF)


@kernel
def fill_ngrams(tokens, offsets, order, table):
    """Write the n-grams of sentences, each word's and each end's, with the number 1; return the rows.

    What is before a sentence is ``order - 1`` times its begin. Sentences without words have none.

    tokens, offsets (int32 [sentences + 1]), table (uint32 [words + sentences, order + 2]).
    """
    row = 0
    for n in range(offsets.size - 1):
        begin = offsets[n]
        length = offsets[n + 1] - begin
        if length == 0:
            continue
        for i in range(length + 1):
            for k in range(order):
                word = _BEGIN
                if i - k == length:
                    word = _END
                elif i - k >= 0:
                    word = tokens[begin + i - k]
                table[row, k] = word
            table[row, order] = 1
            table[row, order + 1] = 0
            row += 1
    return row


@kernel
def radix_sort(table, other, columns, counts):
    """Sort rows, equal ones keeping their order, by columns; return 0 if the result is in ``table``, 1 in ``other``.

    table, other (uint32 [rows, columns]): The second is room.
    columns (int64): What to sort by, the most important first.
    counts (int64 [2048]): Room.
    """
    rows, width = table.shape
    here, there = table, other
    swapped = 0
    for c in range(columns.size - 1, -1, -1):
        column = columns[c]
        largest = np.uint32(0)
        for r in range(rows):
            largest = max(largest, here[r, column])
        bits = 1
        while bits < 32 and np.int64(largest) >> bits > 0:
            bits += 1
        digits = (bits + 10) // 11
        step = (bits + digits - 1) // digits
        mask = (1 << step) - 1
        for digit in range(digits):
            shift = digit * step
            for k in range(mask + 1):
                counts[k] = 0
            for r in range(rows):
                counts[(np.int64(here[r, column]) >> shift) & mask] += 1
            if rows and counts[(np.int64(here[0, column]) >> shift) & mask] == rows:
                continue
            total = 0
            for k in range(mask + 1):
                size = counts[k]
                counts[k] = total
                total += size
            for r in range(rows):
                bucket = (np.int64(here[r, column]) >> shift) & mask
                place = counts[bucket]
                counts[bucket] = place + 1
                for k in range(width):
                    there[place, k] = here[r, k]
            here, there = there, here
            swapped = 1 - swapped
    return swapped


@kernel
def combine(table, order):
    """Add up the first numbers of equal n-grams of a sorted table, in place; return the rows that are left."""
    last = -1
    for r in range(table.shape[0]):
        same = last >= 0
        k = 0
        while same and k < order:
            same = table[last, k] == table[r, k]
            k += 1
        if same:
            table[last, order] = min(np.int64(table[last, order]) + np.int64(table[r, order]), _MOST)
        else:
            last += 1
            for k in range(table.shape[1]):
                table[last, k] = table[r, k]
    return last + 1


@kernel
def merge(left, right, columns, table, state, step):
    """Merge two tables sorted by ``columns``, all their words, adding up equal n-grams; ``state[0]`` rows are made."""
    order = columns.size
    width = left.shape[1]
    row = state[0]
    a = state[1]
    b = state[2]
    end = row + step
    while row < end and (a < left.shape[0] or b < right.shape[0]):
        first = 0  # below 0 if the left row comes first
        if b == right.shape[0]:
            first = -1
        elif a == left.shape[0]:
            first = 1
        else:
            k = 0
            while first == 0 and k < order:
                x = left[a, columns[k]]
                y = right[b, columns[k]]
                first = -1 if x < y else (1 if x > y else 0)
                k += 1
        if first <= 0:
            for k in range(width):
                table[row, k] = left[a, k]
            a += 1
            if first == 0:
                table[row, order] = min(np.int64(table[row, order]) + np.int64(right[b, order]), _MOST)
                b += 1
        else:
            for k in range(width):
                table[row, k] = right[b, k]
            b += 1
        row += 1
    state[0], state[1], state[2] = row, a, b
    return a < left.shape[0] or b < right.shape[0]


@kernel(inline=True)
def _same(table, r, s, begin, end):
    for k in range(begin, end):
        if table[r, k] != table[s, k]:
            return False
    return True


@kernel
def runs(table, begin, end, state, step):
    """Count in ``state[0]`` the runs of rows that have the same words in columns ``begin..end``."""
    stop = min(state[1] + step, table.shape[0])
    for r in range(state[1], stop):
        if r == 0 or not _same(table, r - 1, r, begin, end):
            state[0] += 1
    state[1] = stop
    return stop < table.shape[0]


@kernel
def shorten(table, order, lower, state, step):
    """Fill the table of an order from the next one's, in suffix order, both with padding.

    table (uint32 [rows, order + 3]): The (order + 1)-grams, and how often each comes.
    lower (uint32 [runs, order + 2]): Filled with n-grams, how often each comes, and its adjusted count: before how many
        different words it comes that make it longer, or, where it begins a sentence and none can, how often it comes.
    """
    row = state[0] - 1
    stop = min(state[1] + step, table.shape[0])
    for r in range(state[1], stop):
        if r == 0 or not _same(table, r - 1, r, 0, order):
            row += 1
            for k in range(order):
                lower[row, k] = table[r, k]
            lower[row, order] = 0
            lower[row, order + 1] = 0
        lower[row, order] = min(np.int64(lower[row, order]) + np.int64(table[r, order + 1]), _MOST)
        if table[r, order - 1] == _BEGIN:
            lower[row, order + 1] = lower[row, order]
        else:
            lower[row, order + 1] += 1
    state[0], state[1] = row + 1, stop
    return stop < table.shape[0]


@kernel
def settle(table, order, whole, found, state, step):
    """Remove padding from a table in place; ``state[0]`` rows are left.

    table (uint32 [rows, order + 2]): N-grams whose second word begins a sentence are removed.
    whole (bool): Whether counts are adjusted counts too: the highest order.
    found (int64 [5]): To ``found[c]`` is added how many n-grams have the adjusted count ``c``, for ``c`` from 1 to 4.
    """
    row = state[0]
    stop = min(state[1] + step, table.shape[0])
    for r in range(state[1], stop):
        if order < 2 or table[r, order - 2] != _BEGIN:
            if row != r:
                for k in range(order + 2):
                    table[row, k] = table[r, k]
            if whole:
                table[row, order + 1] = table[row, order]
            count = table[row, order + 1]
            if 0 < count < 5:
                found[count] += 1
            row += 1
    state[0], state[1] = row, stop
    return stop < table.shape[0]


@kernel
def weigh(table, floats, order, threshold, discounts, contexts, context_floats, state, step):
    """Put discounted probabilities and their contexts' backoff weights in place of a table's counts.

    ``state[0]`` rows are left of the table.

    table (uint32 [rows, order + 2]): In context order: words, count, adjusted count.
    floats (float32 [rows, order + 2]): The same memory. The numbers become (a - D(a)) / sum of a, and what that leaves
        over (Chen & Goodman 1998, equations 22 to 24, with adjusted counts a).
    threshold (int): N-grams that occur this often or less are removed; their mass goes to the backoff weight.
    discounts (float64 [4]): For adjusted counts 1, 2, and 3 and more; the first is 0.
    contexts, context_floats [runs of contexts, order + 1]: Filled, the same memory too, with contexts in suffix order
        and their weights.
    """
    rows = table.shape[0]
    row = state[0]
    begin = state[1]
    context = state[2]
    stop = min(begin + step, rows)
    while begin < stop:
        end = begin
        total = left_over = 0.0
        while end < rows and (end == begin or _same(table, begin, end, 1, order)):
            count = np.int64(table[end, order + 1])
            total += count
            if np.int64(table[end, order]) <= threshold:
                left_over += count
            else:
                left_over += discounts[min(count, 3)]
            end += 1
        for k in range(1, order):
            contexts[context, k - 1] = table[begin, k]
        context_floats[context, order - 1] = left_over / total
        contexts[context, order] = 0
        context += 1
        for r in range(begin, end):
            count = np.int64(table[r, order + 1])
            if np.int64(table[r, order]) > threshold:
                for k in range(order):
                    table[row, k] = table[r, k]
                floats[row, order] = (count - discounts[min(count, 3)]) / total
                floats[row, order + 1] = left_over / total
                row += 1
        begin = end
    state[0], state[1], state[2] = row, begin, context
    return begin < rows


@kernel
def interpolate(lower, lower_floats, table, floats, order, state, step):
    """Add to each discounted probability its backoff weight times the shorter n-gram's probability.

    lower, lower_floats (uint32 [rows, order + 1]): Probabilities of the (order - 1)-grams, in suffix order; the same
        memory.
    table, floats (uint32 [rows, order + 2]): As `weigh` left them, in suffix order; every n-gram's end is in ``lower``.
    """
    at = state[0]
    stop = min(state[1] + step, table.shape[0])
    for r in range(state[1], stop):
        while at < lower.shape[0] - 1:
            k = 0
            while k < order - 1 and lower[at, k] == table[r, k]:
                k += 1
            if k == order - 1:
                break
            at += 1
        floats[r, order] += floats[r, order + 1] * lower_floats[at, order - 1]
    state[0], state[1] = at, stop
    return stop < table.shape[0]


@kernel
def attach(table, floats, order, contexts, context_floats, state, step):
    """Put each n-gram's own backoff weight in place of its context's: 1 if it is not a context.

    contexts, context_floats [contexts, order + 2]: As `weigh` filled them, of the next order; in suffix order, as
        ``table``. Those that are not in ``table`` are passed over.
    """
    at = state[0]
    stop = min(state[1] + step, table.shape[0])
    for r in range(state[1], stop):
        floats[r, order + 1] = 1.0
        while at < contexts.shape[0]:
            compared = 0  # below 0 if the context comes first
            k = 0
            while compared == 0 and k < order:
                if contexts[at, k] != table[r, k]:
                    compared = -1 if contexts[at, k] < table[r, k] else 1
                k += 1
            if compared > 0:
                break
            at += 1
            if compared == 0:
                floats[r, order + 1] = context_floats[at - 1, order]
                break
    state[0], state[1] = at, stop
    return stop < table.shape[0]
