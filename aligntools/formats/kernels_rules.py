"""Compiled ordering of a grammar's rules, and the n-grams of a text by which rules are filtered."""

import numpy as np

from aligntools.compiling import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@kernel(fast=False)
def in_order(source_offsets, source, target_offsets, target):
    """Tell whether rules are sorted by source side, then target side; a nonterminal comes before words."""
    for rule in range(1, source_offsets.size - 1):
        decided = 0
        for side in range(2):
            offsets, symbols = source_offsets, source
            if side == 1:
                offsets, symbols = target_offsets, target
            a = offsets[rule - 1]
            b = offsets[rule]
            a_end = b
            b_end = offsets[rule + 1]
            while a < a_end and b < b_end and symbols[a] == symbols[b]:
                a += 1
                b += 1
            if a == a_end and b == b_end:
                continue
            if a == a_end:
                decided = 1
            elif b == b_end:
                decided = -1
            else:
                x = symbols[a] + 2 if symbols[a] > 0 else -symbols[a]
                y = symbols[b] + 2 if symbols[b] > 0 else -symbols[b]
                decided = 1 if x < y else -1
            break
        if decided < 0:
            return False
    return True


@kernel(fast=False)
def rule_keys(source_offsets, source, target_offsets, target, pool, starts):
    """Write the keys of rules for `kernels_sorting`: source, target and number, three zeros."""
    at = 0
    for rule in range(source_offsets.size - 1):
        starts[rule] = at
        for k in range(source_offsets[rule], source_offsets[rule + 1]):
            pool[at] = source[k] + 2 if source[k] > 0 else -source[k]
            at += 1
        pool[at] = 0
        at += 1
        for k in range(target_offsets[rule], target_offsets[rule + 1]):
            pool[at] = target[k] + 2 if target[k] > 0 else -target[k]
            at += 1
        pool[at] = 0
        pool[at + 1] = rule + 1
        pool[at + 2] = 0
        at += 3


@kernel(fast=False)
def _find(keys, key):
    """Return the place of a key in an open-addressing table, or of the free slot where it would be."""
    mask = np.uint64(keys.size - 1)
    code = key * _MIX
    place = (code ^ (code >> _HALF)) & mask
    while keys[place] != 0 and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return np.int64(place)


@kernel(fast=False)
def _continue_hash(code, word):
    code = (code ^ np.uint64(word)) * _MIX
    return code ^ (code >> _HALF)


@kernel(fast=False)
def count_ngrams(words, offsets, most, sentence, keys, used):
    """Enter the n-grams of sentences, of up to ``most`` words, in a set; stop where it is two thirds full.

    Parameters
    ----------
    words : np.ndarray [dtype=int32]
        Numbers from 1 on; 0 and less are words that no rule has, which no n-gram contains.
    offsets : np.ndarray [shape=(sentences + 1,), dtype=int64]
    most, sentence : int
        Longest n-gram; the sentence to begin with.
    keys : np.ndarray [shape=(a power of two,), dtype=uint64]
    used : np.ndarray [shape=(1,), dtype=int64]

    Returns
    -------
    int
        The sentence to go on with.
    """
    limit = keys.size * 2 // 3
    while sentence < offsets.size - 1:
        if used[0] + (offsets[sentence + 1] - offsets[sentence]) * most > limit:
            break
        for begin in range(offsets[sentence], offsets[sentence + 1]):
            code = np.uint64(1)
            for at in range(begin, min(begin + most, offsets[sentence + 1])):
                if words[at] <= 0:
                    break
                code = _continue_hash(code, words[at])
                key = max(code, np.uint64(1))
                place = _find(keys, key)
                if keys[place] == 0:
                    keys[place] = key
                    used[0] += 1
        sentence += 1
    return sentence


@kernel(fast=False)
def match_sources(offsets, symbols, most, keys, usable):
    """Tell of each source side whether the text has all its pieces between nonterminals; see `count_ngrams`.

    Parameters
    ----------
    offsets, symbols
        Source sides as in a `Grammar`.
    most : int
        Longest n-gram in the set; of longer pieces the first ``most`` words are looked up.
    keys : np.ndarray [dtype=uint64]
    usable : np.ndarray [shape=(rules,), dtype=uint8]
    """
    for rule in range(offsets.size - 1):
        usable[rule] = 1
        at = offsets[rule]
        end = offsets[rule + 1]
        while at < end:
            if symbols[at] < 0:
                at += 1
                continue
            code = np.uint64(1)
            begin = at
            while at < end and symbols[at] >= 0:
                if symbols[at] == 0:
                    usable[rule] = 0
                if at - begin < most:
                    code = _continue_hash(code, symbols[at])
                at += 1
            if keys[_find(keys, max(code, np.uint64(1)))] == 0:
                usable[rule] = 0
            if usable[rule] == 0:
                break
