"""Compiled: how much two words look alike, and which pairs of a table or cells of a text do.

A word's key is a row of KEY numbers: a hash of the word (0: none), 1 for words without any letter, how many letters
are compared (0 for words that are too short to be), which letters it has once and twice as bits and how many it has
beyond that, and the letters themselves, five to a number.
"""

import numpy as np

from aligntools.ground.compiler import kernel

#: Letters that are compared, at most, and how many a word needs.
LETTERS, FEWEST = 20, 4
#: Columns of a key.
FULL, NO_LETTER, LENGTH, ONCE, TWICE, MORE, PACKED = range(7)
KEY = PACKED + (LETTERS + 4) // 5
#: Tiers: 0 for words that do not look alike, the same word, two words without letters, then by share of letters.
SAME, SYMBOLS, BEST = 1, 2, 3
SHARES = (0.99, 0.85, 0.75, 0.65, 0.55)
TIERS = BEST + len(SHARES)
LEAST = SHARES[-1]


@kernel(inline=True)
def bits(x):
    """Count the bits of an int64 from 0 to 2**31 - 1."""
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return ((x * 0x01010101) & 0xFFFFFFFF) >> 24


@kernel(inline=True)
def letter(key, at):
    """Return a letter of a word."""
    return (key[PACKED + at // 5] >> (6 * (at % 5))) & 63


@kernel(inline=True)
def common_letters(s_key, t_key):
    """Return the length of two words' longest common subsequence, a column of the matrix in the bits of a number.

    Bits are 0 where the matrix rises (Hyyrö 2004, "Bit-parallel LCS-length computation revisited").
    """
    n = np.int64(s_key[LENGTH])
    everything = (1 << n) - 1
    column = everything
    for j in range(t_key[LENGTH]):
        wanted = letter(t_key, j)
        matches = 0
        for i in range(n):
            if letter(s_key, i) == wanted:
                matches |= 1 << i
        found = column & matches
        column = ((column + found) | (column - found)) & everything
    return n - bits(column)


@kernel(inline=True)
def tier(s_key, t_key):
    """Return how much two words look alike: their tier."""
    if s_key[FULL] == t_key[FULL] and s_key[FULL] != 0:
        return SAME
    if s_key[NO_LETTER] == 1 and t_key[NO_LETTER] == 1:
        return SYMBOLS
    n, m = np.int64(s_key[LENGTH]), np.int64(t_key[LENGTH])
    least = LEAST * (n + m)
    if n == 0 or m == 0 or 2 * min(n, m) < least:
        return 0
    most = bits(np.int64(s_key[ONCE] & t_key[ONCE])) + bits(np.int64(s_key[TWICE] & t_key[TWICE]))
    if 2 * (most + min(s_key[MORE], t_key[MORE])) < least:
        return 0
    share = 2.0 * common_letters(s_key, t_key) / (n + m)
    for k in range(len(SHARES)):
        if share >= SHARES[k]:
            return BEST + k
    return 0


@kernel
def look_alike_entries(ptr, ids, s_keys, t_keys, entries, tiers):
    """List the table's entries whose words look alike; return how many (output may be empty, to count).

    ``s_keys`` and ``t_keys`` are int32 [n_words, KEY].
    """
    n = 0
    for v in range(ptr.shape[0] - 1):
        s_key = s_keys[v]
        if s_key[FULL] == 0:
            continue
        for x in range(ptr[v], ptr[v + 1]):
            level = tier(s_key, t_keys[ids[x]])
            if level > 0:
                if n < entries.shape[0]:
                    entries[n] = x
                    tiers[n] = level
                n += 1
    return n


@kernel
def look_alike_cells(
    k0, k1, base, s_tokens, s_offsets, t_tokens, t_offsets, cell_offsets, s_keys, t_keys, default, floors, cells
):
    """Raise cells that hold the ``default`` of a missing pair to their tier's floor (float32 [TIERS])."""
    for k in range(k0, k1):
        n_j = t_offsets[k + 1] - t_offsets[k]
        words = t_tokens[t_offsets[k] :][:n_j]
        for p in range(s_offsets[k], s_offsets[k + 1]):
            s_key = s_keys[s_tokens[p]]
            if s_key[FULL] == 0:
                continue
            at = cell_offsets[k - base] + (p - s_offsets[k]) * n_j
            for j in range(n_j):
                if cells[at + j] == default:
                    level = tier(s_key, t_keys[words[j]])
                    if level > 0:
                        cells[at + j] = floors[level]
