"""Expected n-grams of a forest by their place in the string.

What a node yields may begin at several places and have several lengths. Given that all its derivations begin and end
with the same words, the place of an n-gram that an edge completes depends on two independent things: where the edge's
head begins, and how long the tails before the n-gram are.
"""

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.translating.forest.kernels_hypergraph import BASE, MIX1, mix

#: What rows of the table are: an n-gram, a beginning, an end.
GRAM, FIRST, LAST = range(3)
#: Words of a node that are known at each end.
_KEPT = 4


@kernel(inline=True, fast=False)
def add(kind, place, words, begin, n, amount, table, count):
    """Add to the row of ``n`` words at a place; return the number of rows."""
    slots, rows, amounts = table
    code = np.uint64(3 * place + kind + 1)
    for k in range(n):
        code = code * MIX1 + mix(np.uint64(words[begin + k]) * BASE)
    mask = np.int64(slots.shape[0] - 1)
    slot = np.int64(mix(code) >> np.uint64(1)) & mask
    while slots[slot] >= 0:
        row = slots[slot]
        same = rows[row, 0] == kind and rows[row, 1] == place and rows[row, 2] == n
        for k in range(n):
            same = same and rows[row, 3 + k] == words[begin + k]
        if same:
            amounts[row] += amount
            return count
        slot = (slot + 1) & mask
    slots[slot] = count
    rows[count, 0], rows[count, 1], rows[count, 2] = kind, place, n
    for k in range(n):
        rows[count, 3 + k] = words[begin + k]
    amounts[count] = amount
    return count + 1


@kernel
def longest_yields(strings, begin, end, most):
    """Write the greatest number of words that each of the nodes ``begin:end`` yields."""
    edge_offsets, tails, word_offsets, words = strings
    for v in range(begin, end):
        most[v - begin] = 0
        for e in range(edge_offsets[v], edge_offsets[v + 1]):
            size = 0
            for k in range(word_offsets[e], word_offsets[e + 1]):
                size += 1 if words[k] > 0 else most[tails[e, -1 - words[k]] - begin]
            most[v - begin] = max(most[v - begin], size)


@kernel(fast=False)
def yield_lengths(strings, conditional, begin, end, lengths, work):
    """Write the distribution of the number of words that each node yields.

    conditional (float64 [edges]): Probability of an edge given its head.
    lengths (float64 [nodes, longest + 1], output), work (float64 [2, longest + 1]).
    """
    edge_offsets, tails, word_offsets, words = strings
    size = lengths.shape[1]
    for v in range(begin, end):
        lengths[v - begin, :] = 0.0
        for e in range(edge_offsets[v], edge_offsets[v + 1]):
            if conditional[e] <= 0:
                continue
            work[0, :] = 0.0
            work[0, 0] = conditional[e]
            for k in range(word_offsets[e], word_offsets[e + 1]):
                work[1, :] = 0.0
                if words[k] > 0:
                    for s in range(size - 1):
                        work[1, s + 1] = work[0, s]
                else:
                    convolve(work[0], lengths[tails[e, -1 - words[k]] - begin], work[1])
                work[0, :] = work[1]
            for s in range(size):
                lengths[v - begin, s] += work[0, s]


@kernel(inline=True, fast=False)
def convolve(left, right, out):
    """Add the convolution of two distributions to ``out``; what is past its end has no probability."""
    size = out.shape[0]
    for s in range(size):
        if left[s] > 0:
            for k in range(size - s):
                out[s + k] += left[s] * right[k]


@kernel(fast=False)
def expected_grams(strings, ends, conditional, begin, root, order, floor, lengths, starts, work, buffer, table):
    """Expect the n-grams of a sentence's strings by place, their first words, and their last ones with the length.

    strings: Of the `Hypergraph`; ``ends`` are its ``left``, ``right`` and ``lengths``.
    begin, root (int): The sentence's first node, and its root: an edge of it takes over what its tail yields.
    order (int): 2 to 5.
    floor (float): What is expected less often on an edge is left out.
    lengths (float64 [nodes, longest + 1]): See `yield_lengths`.
    starts (float64 [nodes, longest + 1]): Working memory: how often a node begins at each place.
    work (float64 [3, longest + 1]).
    buffer (int32 [*, 4]): Working memory: at least 10 rows, and one for each word of a target side.
    table: Slots (int64 [a power of two]), rows (int32 [*, 8]), amounts (float64 [*]). A row has kind, place, number of
        words and the words. `FIRST` has the first words up to ``order`` - 1 together, `LAST` the last of them, its
        place being the length.
    Returns rows; -1 if there may be too many for the table.
    """
    edge_offsets, tails, word_offsets, words = strings
    left, right, known = ends
    slots, history = table[0], order - 1
    size, count = lengths.shape[1], np.int64(0)
    slots[:] = -1
    starts[:, :] = 0.0
    starts[root - begin, 0] = 1.0
    for e in range(edge_offsets[root], edge_offsets[root + 1]):
        t = tails[e, 0]
        if t < 0 or conditional[e] <= 0:
            continue
        have = known[t]
        for k in range(1, min(have, history) + 1):
            count = add(FIRST, np.int64(0), left[t], 0, k, conditional[e], table, count)
        for s in range(size):
            n = min(min(have, history), s)
            amount = conditional[e] * lengths[t - begin, s]
            if amount > 0:
                count = add(LAST, np.int64(s), right[t], _KEPT - n, n, amount, table, count)
            if 2 * (count + 8) > slots.shape[0]:
                return np.int64(-1)
    for v in range(root, begin - 1, -1):
        for e in range(edge_offsets[v], edge_offsets[v + 1]):
            if conditional[e] <= 0:
                continue
            total = 0.0
            for s in range(size):
                work[0, s] = starts[v - begin, s] * conditional[e]
                total += work[0, s]
            if total <= floor:
                continue
            n_buffer, offset = 0, np.int64(0)
            row = 0  # of ``work``: where what follows the tails of unknown length begins
            for k in range(word_offsets[e], word_offsets[e + 1]):
                word = words[k]
                if word > 0:
                    buffer[n_buffer, 0], buffer[n_buffer, 1] = word, 0
                    buffer[n_buffer, 2], buffer[n_buffer, 3] = offset, row
                    n_buffer += 1
                    offset += 1
                    continue
                t = tails[e, -1 - word]
                for s in range(max(-offset, 0), size - max(offset, 0)):
                    starts[t - begin, s + offset] += work[row, s]
                whole = known[t] < _KEPT
                for i in range(known[t] if whole else history):
                    buffer[n_buffer, 0], buffer[n_buffer, 1] = left[t, i], -word
                    buffer[n_buffer, 2], buffer[n_buffer, 3] = offset + i, row
                    n_buffer += 1
                if whole:
                    offset += known[t]
                    continue
                buffer[n_buffer, 0], buffer[n_buffer, 1] = 0, 0  # nothing goes across
                n_buffer += 1
                work[row + 1, :] = 0.0
                convolve(work[row], lengths[t - begin], work[row + 1])
                row += 1
                for i in range(history):
                    buffer[n_buffer, 0], buffer[n_buffer, 1] = right[t, _KEPT - history + i], -word
                    buffer[n_buffer, 2], buffer[n_buffer, 3] = offset - history + i, row
                    n_buffer += 1
            for i in range(n_buffer - order + 1):
                fresh = False
                for k in range(order):
                    if buffer[i + k, 0] == 0:
                        fresh = False
                        break
                    fresh = fresh or buffer[i + k, 1] == 0 or buffer[i + k, 1] != buffer[i, 1]
                if not fresh:
                    continue
                offset, row = np.int64(buffer[i, 2]), buffer[i, 3]
                if 2 * (count + size + 8) > slots.shape[0]:
                    return np.int64(-1)
                for s in range(size):
                    if work[row, s] > floor and s + offset >= 0:
                        count = add(GRAM, s + offset, buffer[:, 0], i, order, work[row, s], table, count)
    return count
