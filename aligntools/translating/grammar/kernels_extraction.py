"""Compiled enumeration of Hiero rules in aligned sentences (Chiang 2007, section 3), each distinct rule kept once.

A record's key is a source side, a target side and the links between their words, each ended by a zero, in codes:
1 and 2 for the first and second nonterminal, 2 more than its number for a word, ``256 i + j + 1`` for a link of
the symbols i and j. Its weights are sums of whole numbers, so that no order of adding shows in them.
"""

import numpy as np

from aligntools.ground.compiling import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
#: What one initial phrase pair counts: the rules that are made of it share this.
UNIT = np.int64(1 << 32)

LOOSE = 0
TIGHT = 1
OUTER = 2  # phrases may be loose, what nonterminals stand for may not

DONE = 0
RECORDS_FULL = 1
PHRASES_FULL = 2


@kernel(fast=False)
def _find_spans(pairs, begin, end, low, high, side, other, length):
    """Fill ``low`` and ``high`` with the first and last linked position of each word; none: 2**30 and -1."""
    for k in range(length):
        low[k] = 1 << 30
        high[k] = -1
    for k in range(begin, end):
        word = pairs[k, side]
        mate = pairs[k, other]
        low[word] = min(low[word], mate)
        high[word] = max(high[word], mate)


@kernel(fast=False)
def find_phrases(source_length, target_length, max_span, tight, places, totals, phrases, firsts):
    """List the initial phrase pairs of a sentence, ordered by where they begin and end in the source.

    Parameters
    ----------
    source_length, target_length, max_span : int
    tight : bool
        Only phrases whose first and last words, on both sides, have links.
    places : np.ndarray [shape=(4, longest), dtype=int32]
        First and last link of each source word, and of each target word.
    totals : np.ndarray [shape=(longest + 1,), dtype=int64]
        Links of all source words before each one.
    phrases : np.ndarray [shape=(room, 5), dtype=int32]
        Filled with first and last source word, first and last target word, links.
    firsts : np.ndarray [shape=(longest * max_span + 1,), dtype=int64]
        Filled with the number of the first phrase of each source span, ``begin * max_span + length - 1``.

    Returns
    -------
    int
        How many there are, or -1 when they do not fit.
    """
    count = 0
    for begin in range(source_length):
        top = 1 << 30
        bottom = -1
        for length in range(1, max_span + 1):
            firsts[begin * max_span + length - 1] = count
            end = begin + length - 1
            if end >= source_length:
                continue
            top = min(top, places[0, end])
            bottom = max(bottom, places[1, end])
            if bottom < 0 or bottom - top >= max_span:
                continue
            if tight and (places[1, begin] < 0 or places[1, end] < 0):
                continue
            sound = True
            for j in range(top, bottom + 1):
                if places[3, j] >= 0 and (places[2, j] < begin or places[3, j] > end):
                    sound = False
                    break
            if not sound:
                continue
            links = totals[end + 1] - totals[begin]
            first = top
            while True:
                last = bottom
                while True:
                    if last - first < max_span:
                        if count == phrases.shape[0]:
                            return -1
                        phrases[count, 0] = begin
                        phrases[count, 1] = end
                        phrases[count, 2] = first
                        phrases[count, 3] = last
                        phrases[count, 4] = links
                        count += 1
                    last += 1
                    if tight or last >= target_length or places[3, last] >= 0 or last - first >= max_span:
                        break
                first -= 1
                if tight or first < 0 or places[3, first] >= 0 or bottom - first >= max_span:
                    break
    firsts[source_length * max_span] = count
    return count


@kernel(fast=False)
def _is_tight(places, phrases, p):
    """Tell whether a phrase's first and last words have links."""
    return (
        places[1, phrases[p, 0]] >= 0
        and places[1, phrases[p, 1]] >= 0
        and places[3, phrases[p, 2]] >= 0
        and places[3, phrases[p, 3]] >= 0
    )


@kernel(fast=False, inline=True)
def _write_side(pool, at, words, base, phrases, side, p, a, b):
    """Write one side of a key and a zero; return where it ends. ``side``: its first column of ``phrases``."""
    i = phrases[p, side]
    while i <= phrases[p, side + 1]:
        if a >= 0 and i == phrases[a, side]:
            pool[at] = 1
            i = phrases[a, side + 1] + 1
        elif b >= 0 and i == phrases[b, side]:
            pool[at] = 2
            i = phrases[b, side + 1] + 1
        else:
            pool[at] = words[base + i] + 2
            i += 1
        at += 1
    pool[at] = 0
    return at + 1


@kernel(fast=False)
def _write_key(pool, at, words, others, base, other_base, pairs, pair_base, totals, phrases, p, a, b):
    """Write the key of phrase ``p`` without the phrases ``a`` and ``b`` (-1: none); return where it ends."""
    at = _write_side(pool, at, words, base, phrases, 0, p, a, b)
    at = _write_side(pool, at, others, other_base, phrases, 2, p, a, b)
    symbol = 0
    i = phrases[p, 0]
    while i <= phrases[p, 1]:
        if a >= 0 and i == phrases[a, 0]:
            i = phrases[a, 1] + 1
        elif b >= 0 and i == phrases[b, 0]:
            i = phrases[b, 1] + 1
        else:
            for k in range(pair_base + totals[i], pair_base + totals[i + 1]):
                j = pairs[k, 1]
                place = j - phrases[p, 2]
                if a >= 0 and j > phrases[a, 3]:
                    place -= phrases[a, 3] - phrases[a, 2]
                if b >= 0 and j > phrases[b, 3]:
                    place -= phrases[b, 3] - phrases[b, 2]
                pool[at] = 256 * symbol + place + 1
                at += 1
            i += 1
        symbol += 1
    pool[at] = 0
    return at + 1


@kernel(fast=False)
def _enter(pool, begin, end, share, used, starts, hashes, weights, slots):
    """Add a share to the record with the key that ends the pool; keep the key if it is new."""
    code = np.uint64(end - begin)
    for k in range(begin, end):
        code = (code ^ np.uint64(pool[k])) * _MIX
        code ^= code >> _HALF
    mask = np.uint64(slots.size - 1)
    place = code & mask
    while True:
        row = np.int64(slots[place]) - 1
        if row < 0:
            row = used[0]
            slots[place] = row + 1
            hashes[row] = code
            starts[row] = begin
            weights[row, 0] = share
            weights[row, 1] = 1
            used[0] = row + 1
            used[1] = end
            return
        if hashes[row] == code:
            at = starts[row]
            same = True
            for k in range(begin, end):
                if pool[k] != pool[at + k - begin]:
                    same = False
                    break
            if same:
                weights[row, 0] += share
                weights[row, 1] += 1
                return
        place = (place + np.uint64(1)) & mask


@kernel(fast=False)
def extract_rules(
    words, offsets, others, other_offsets, pairs, pair_offsets, end, settings, state,
    places, totals, phrases, firsts, pool, starts, hashes, weights, slots, used,
):  # fmt: skip
    """Enter the rules of sentences into a table of distinct ones, until the sentences end or room does.

    Parameters
    ----------
    words, others : np.ndarray [dtype=int32]
        Source and target words of all sentences.
    offsets, other_offsets, pair_offsets : np.ndarray [shape=(sentences + 1,), dtype=int64]
    pairs : np.ndarray [shape=(links, 2), dtype=int32]
        Sorted within each sentence.
    end : int
        The sentence to stop before.
    settings : np.ndarray [shape=(5,), dtype=int64]
        Longest phrase, most symbols of a source side, most nonterminals, which phrases (`LOOSE`, `TIGHT`, `OUTER`),
        fewest source words of what a nonterminal stands for.
    state : np.ndarray [shape=(2,), dtype=int64]
        Sentence and phrase to go on with; brought up to date.
    places, totals, phrases, firsts
        Work space; see `find_phrases`.
    pool : np.ndarray [dtype=int32]
    starts : np.ndarray [shape=(room,), dtype=int64]
    hashes : np.ndarray [shape=(room,), dtype=uint64]
    weights : np.ndarray [shape=(room, 2), dtype=int64]
        Sums of shares (1/`UNIT`) and of occurrences.
    slots : np.ndarray [shape=(a power of two over room,), dtype=int32]
        Record numbers, from 1 on; 0 is free.
    used : np.ndarray [shape=(2,), dtype=int64]
        Records and codes in use.

    Returns
    -------
    int
        `DONE`, `RECORDS_FULL`, or `PHRASES_FULL` when a sentence has more phrases than the work space.
    """
    max_span = settings[0]
    max_symbols = settings[1]
    most = settings[2]
    tight = settings[3] == TIGHT
    outer = settings[3] == OUTER
    min_hole = max(settings[4], 1)
    widest = max_symbols + max_span + max_symbols * max_span + 3
    while state[0] < end:
        n = state[0]
        length = offsets[n + 1] - offsets[n]
        other_length = other_offsets[n + 1] - other_offsets[n]
        base = offsets[n]
        other_base = other_offsets[n]
        pair_base = pair_offsets[n]
        _find_spans(pairs, pair_base, pair_offsets[n + 1], places[0], places[1], 0, 1, length)
        _find_spans(pairs, pair_base, pair_offsets[n + 1], places[2], places[3], 1, 0, other_length)
        for i in range(length + 1):
            totals[i] = 0
        for k in range(pair_base, pair_offsets[n + 1]):
            totals[pairs[k, 0] + 1] += 1
        for i in range(length):
            totals[i + 1] += totals[i]
        count = find_phrases(length, other_length, max_span, tight, places, totals, phrases, firsts)
        if count < 0:
            return PHRASES_FULL
        while state[1] < count:
            p = state[1]
            i1 = phrases[p, 0]
            i2 = phrases[p, 1]
            width = i2 - i1 + 1
            rules = 0
            share = np.int64(0)
            for writing in range(2):
                if writing == 1:
                    if rules == 0:
                        break
                    if used[0] + rules > starts.size or used[1] + rules * widest > pool.size - 1:
                        return RECORDS_FULL
                    share = (UNIT + rules // 2) // rules
                if width <= max_symbols:
                    if writing == 0:
                        rules += 1
                    else:
                        stop = _write_key(
                            pool, used[1], words, others, base, other_base, pairs, pair_base, totals, phrases, p, -1, -1
                        )
                        _enter(pool, used[1], stop, share, used, starts, hashes, weights, slots)
                if most < 1:
                    continue
                for a1 in range(i1, i2 + 1):
                    for a_width in range(min_hole, i2 - a1 + 2):
                        span = a1 * max_span + a_width - 1
                        for a in range(firsts[span], firsts[span + 1]):
                            if phrases[a, 2] < phrases[p, 2] or phrases[a, 3] > phrases[p, 3]:
                                continue
                            if outer and not _is_tight(places, phrases, a):
                                continue
                            left = phrases[p, 4] - phrases[a, 4]
                            if left < 1:
                                continue
                            if width - a_width + 1 <= max_symbols:
                                if writing == 0:
                                    rules += 1
                                else:
                                    stop = _write_key(
                                        pool, used[1], words, others, base, other_base, pairs, pair_base, totals,
                                        phrases, p, a, -1,
                                    )  # fmt: skip
                                    _enter(pool, used[1], stop, share, used, starts, hashes, weights, slots)
                            if most < 2:
                                continue
                            for b1 in range(a1 + a_width + 1, i2 + 1):
                                narrowest = max(min_hole, width - a_width + 2 - max_symbols)
                                for b_width in range(narrowest, i2 - b1 + 2):
                                    span_b = b1 * max_span + b_width - 1
                                    for b in range(firsts[span_b], firsts[span_b + 1]):
                                        if phrases[b, 2] < phrases[p, 2] or phrases[b, 3] > phrases[p, 3]:
                                            continue
                                        if outer and not _is_tight(places, phrases, b):
                                            continue
                                        if phrases[b, 2] <= phrases[a, 3] and phrases[a, 2] <= phrases[b, 3]:
                                            continue
                                        if left - phrases[b, 4] < 1:
                                            continue
                                        if writing == 0:
                                            rules += 1
                                        else:
                                            stop = _write_key(
                                                pool, used[1], words, others, base, other_base, pairs, pair_base,
                                                totals, phrases, p, a, b,
                                            )  # fmt: skip
                                            _enter(pool, used[1], stop, share, used, starts, hashes, weights, slots)
            state[1] += 1
        state[0] += 1
        state[1] = 0
    return DONE
