"""N-grams that edges complete, counted against references."""

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.translating.forest.kernels_hypergraph import BASE, MIX1, mix


@kernel(inline=True)
def longer(h, word):
    """Return the hash of an n-gram with one more word at its end."""
    return h * MIX1 + mix(np.uint64(word) * BASE)


@kernel(inline=True)
def slot_of(keys, h, n, group):
    """Return the place of an n-gram of a group of references in the table, taken or free."""
    key = mix(h + np.uint64(4 * group + n) * BASE) | np.uint64(1)
    mask = np.uint64(len(keys) - 1)
    slot = (key >> np.uint64(1)) & mask
    while keys[slot] != np.uint64(0) and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return np.int64(slot), key


@kernel
def enter_references(words, offsets, groups, keys, table):
    """Enter the n-grams up to 4 of references into a table.

    words (int32 [words], offsets : int64 [references + 1]).
    groups (int64 [references]): The sentence that each is a reference of.
    keys (uint64 [capacity]): A power of two, more than all n-grams; 0 where free.
    table (int32 [capacity, 3]): The largest count in one reference; the last reference that had it (from 1 on), and its
        count.
    """
    for r in range(len(groups)):
        for i in range(offsets[r], offsets[r + 1]):
            h = np.uint64(0)
            for n in range(min(4, offsets[r + 1] - i)):
                h = longer(h, words[i + n])
                slot, key = slot_of(keys, h, n, groups[r])
                keys[slot] = key
                if table[slot, 1] != r + 1:
                    table[slot, 1], table[slot, 2] = r + 1, 0
                table[slot, 2] += 1
                table[slot, 0] = max(table[slot, 0], table[slot, 2])


@kernel
def edge_statistics(node_offsets, strings, ends, groups, keys, table, clip, begin, end, room, out):
    """Count the n-grams that the edges of the sentences ``begin:end`` complete, and those that references have.

    strings: Of the `Hypergraph`; ``ends`` are its ``left``, ``right`` and ``lengths``.
    groups (int64 [sentences]): The references of each sentence.
    clip (bool): Count an n-gram within an edge no more often than a reference has it; otherwise as often as it occurs.
    room (int32 [n], int32 [n], uint64 [n, 4]): Working memory; n is the longest target side plus 16.
    out (float32 [edges, 8]): Matches of 1 to 4 words, n-grams of 1 to 4 words.
    """
    edge_offsets, tails, word_offsets, words = strings
    left, right, lengths = ends
    buffer, origin, hashes = room
    for s in range(begin, end):
        for v in range(node_offsets[s], node_offsets[s + 1]):
            for e in range(edge_offsets[v], edge_offsets[v + 1]):
                size = 0
                for k in range(word_offsets[e], word_offsets[e + 1]):
                    word = words[k]
                    if word > 0:
                        buffer[size], origin[size] = word, 0
                        size += 1
                        continue
                    t = tails[e, -1 - word]
                    whole = lengths[t] < 4
                    for i in range(lengths[t] if whole else 3):
                        buffer[size], origin[size] = left[t, i], -word
                        size += 1
                    if not whole:
                        buffer[size], origin[size] = 0, 0  # nothing goes across
                        size += 1
                        for i in range(1, 4):
                            buffer[size], origin[size] = right[t, i], -word
                            size += 1
                for c in range(8):
                    out[e, c] = 0.0
                for i in range(size):
                    h, fresh = np.uint64(0), False
                    for n in range(min(4, size - i)):
                        word = buffer[i + n]
                        if word == 0:
                            for m in range(n, 4):
                                hashes[i, m] = 0
                            break
                        h = longer(h, word)
                        hashes[i, n] = 0
                        if origin[i + n] == 0 or origin[i + n] != origin[i]:
                            fresh = True
                        if not fresh:
                            continue
                        out[e, 4 + n] += 1.0
                        slot, key = slot_of(keys, h, n, groups[s])
                        if keys[slot] != key:
                            continue
                        if clip:
                            hashes[i, n] = key
                            before = 0
                            for j in range(i):
                                if hashes[j, n] == key:
                                    before += 1
                            if before >= table[slot, 0]:
                                continue
                        out[e, n] += 1.0


@kernel
def closest_lengths(lengths, groups, reference_offsets, reference_lengths, out):
    """Put the length nearest to each candidate's among its references into ``out``, the shorter of two as near."""
    for c in range(len(lengths)):
        best = np.int64(-1)
        for r in range(reference_offsets[groups[c]], reference_offsets[groups[c] + 1]):
            n = np.int64(reference_lengths[r])
            d = abs(n - lengths[c])
            if best < 0 or d < abs(best - lengths[c]) or (d == abs(best - lengths[c]) and n < best):
                best = n
        out[c] = max(best, 0)
