"""Compiled ordering of a grammar's rules, and the n-grams of a text by which rules are filtered."""

import numpy as np

from aligntools.ground.compiler import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_START = np.uint64(0xCBF29CE484222325)


@kernel(fast=False)
def in_order(source_offsets, source, target_offsets, target):
    """Tell whether rules are sorted by source side, then target side; a nonterminal comes before words."""
    for rule in range(1, source_offsets.size - 1):
        decided = 0
        for side in range(2):
            offsets, symbols = source_offsets, source
            if side == 1:
                offsets, symbols = target_offsets, target
            a, b, b_end = offsets[rule - 1], offsets[rule], offsets[rule + 1]
            a_end = b
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
def find_slot(keys, key):
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
def _enter(code, keys, used):
    """Enter a hash, and what it stands for, in a set."""
    key = max(code, np.uint64(1))
    place = find_slot(keys, key)
    if keys[place] == 0:
        keys[place] = key
        used[0] += 1


@kernel(fast=False)
def count_ngrams(words, offsets, most, sentence, keys, used):
    """Enter the n-grams of sentences, of up to ``most`` words, in a set; stop where it is two thirds full.

    words (int32): Numbers from 1 on; 0 and less are words that no rule has, which no n-gram contains.
    offsets (int64 [sentences + 1]), keys (uint64 [a power of two]), used (int64 [1]).
    Returns the sentence to continue with; ``sentence`` is the one to begin with.
    """
    limit = keys.size * 2 // 3
    while sentence < offsets.size - 1:
        if used[0] + (offsets[sentence + 1] - offsets[sentence]) * most > limit:
            break
        for begin in range(offsets[sentence], offsets[sentence + 1]):
            code = _START
            for at in range(begin, min(begin + most, offsets[sentence + 1])):
                if words[at] <= 0:
                    break
                code = _continue_hash(code, words[at])
                _enter(code, keys, used)
        sentence += 1
    return sentence


@kernel(fast=False)
def match_sources(offsets, symbols, most, keys, usable):
    """Tell of each source side whether the text has all its pieces between nonterminals; see `count_ngrams`.

    Of pieces longer than ``most`` the first so many words are looked up. usable (uint8 [rules]): Filled.
    """
    for rule in range(offsets.size - 1):
        usable[rule] = 1
        at = offsets[rule]
        end = offsets[rule + 1]
        while at < end:
            if symbols[at] < 0:
                at += 1
                continue
            code = _START
            begin = at
            while at < end and symbols[at] >= 0:
                if symbols[at] == 0:
                    usable[rule] = 0
                if at - begin < most:
                    code = _continue_hash(code, symbols[at])
                at += 1
            if keys[find_slot(keys, max(code, np.uint64(1)))] == 0:
                usable[rule] = 0
            if usable[rule] == 0:
                break


_GAP = 0x7FFFFFFF


@kernel(fast=False)
def count_patterns(words, offsets, most, span, sentence, keys, used, stack, codes):
    """Enter what source sides can match in sentences in a set; stop where it is two thirds full.

    most (int): Most symbols of a source side; two of them may be nonterminals, not side by side.
    span (int): Most words that a source side may match. sentence (int): The one to begin with, or to go on with.
    stack (int64 [most * (span + 2) + 1, 4]), codes (uint64 [the same]): Work space. See `count_ngrams`.
    """
    limit = keys.size * 2 // 3
    while sentence < offsets.size - 1:
        for begin in range(offsets[sentence], offsets[sentence + 1]):
            end = min(begin + span, offsets[sentence + 1])
            stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = begin, 0, 0, 0
            codes[0] = _START
            height = 1
            while height > 0:
                height -= 1
                at, symbols, gaps, after_gap = stack[height, 0], stack[height, 1], stack[height, 2], stack[height, 3]
                code = codes[height]
                if symbols > gaps:
                    if used[0] >= limit:
                        return sentence
                    _enter(code, keys, used)
                if symbols == most or at >= end:
                    continue
                if words[at] > 0:
                    stack[height, 0], stack[height, 1] = at + 1, symbols + 1
                    stack[height, 2], stack[height, 3] = gaps, 0
                    codes[height] = _continue_hash(code, words[at])
                    height += 1
                if gaps < 2 and after_gap == 0:
                    code = _continue_hash(code, _GAP)
                    for stop in range(at + 1, end + 1):
                        stack[height, 0], stack[height, 1] = stop, symbols + 1
                        stack[height, 2], stack[height, 3] = gaps + 1, 1
                        codes[height] = code
                        height += 1
        sentence += 1
    return sentence


@kernel(fast=False)
def move_keys(keys, new_keys):
    """Enter all of a set in a larger one."""
    for k in range(keys.size):
        if keys[k] != 0:
            new_keys[find_slot(new_keys, keys[k])] = keys[k]


@kernel(fast=False)
def match_patterns(offsets, symbols, most, keys, usable):
    """Take back ``usable`` [dtype=uint8] of source sides of up to ``most`` symbols that match nowhere."""
    for rule in range(offsets.size - 1):
        if usable[rule] == 0 or offsets[rule + 1] - offsets[rule] > most:
            continue
        code = _START
        for at in range(offsets[rule], offsets[rule + 1]):
            code = _continue_hash(code, symbols[at] if symbols[at] >= 0 else _GAP)
        if keys[find_slot(keys, max(code, np.uint64(1)))] == 0:
            usable[rule] = 0
