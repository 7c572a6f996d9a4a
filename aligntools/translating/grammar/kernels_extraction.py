"""Compiled enumeration of Hiero rules in aligned sentences (Chiang 2007, section 3), each distinct rule kept once.

A record's key is a source side, a target side and the links between their words, each ended by a zero, in codes:
1 and 2 for the first and second nonterminal, 2 more than its number for a word, ``256 i + j + 1`` for a link of
the symbols i and j. Its weights are sums of whole numbers, so that no order of adding shows in them.
"""

from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel

_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
#: What one initial phrase pair counts: the rules that are made of it share this.
UNIT = np.int64(1 << 32)

LOOSE = 0
TIGHT = 1
OUTER = 2  # phrases may be loose, what nonterminals stand for may not

_NO_SHARE = np.int64(0)

DONE = 0
RECORDS_FULL = 1
PHRASES_FULL = 2


@kernel(fast=False, owning=False)
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


@kernel(fast=False, owning=False)
def find_phrases(source_length, target_length, max_span, tight, work):
    """List the initial phrase pairs of a sentence, ordered by where they begin and end in the source.

    tight (bool): Only phrases whose first and last words, on both sides, have links.
    work (PhraseTables): With ``places`` and ``totals``; ``phrases`` and ``firsts`` are filled.
    Returns how many there are, or -1 when they do not fit.
    """
    places, totals, phrases, firsts = work.places, work.totals, work.phrases, work.firsts
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
                        phrases[count, 2], phrases[count, 3], phrases[count, 4] = first, last, links
                        count += 1
                    last += 1
                    if tight or last >= target_length or places[3, last] >= 0 or last - first >= max_span:
                        break
                first -= 1
                if tight or first < 0 or places[3, first] >= 0 or bottom - first >= max_span:
                    break
    firsts[source_length * max_span] = count
    return count


@kernel(fast=False, inline=True, owning=False)
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


@kernel(fast=False, owning=False)
def _write_key(pool, at, text, n, work, p, a, b):
    """Write the key of phrase ``p`` without the phrases ``a`` and ``b`` (-1: none); return where it ends."""
    phrases, totals, pairs, pair_base = work.phrases, work.totals, text.pairs, text.pair_offsets[n]
    at = _write_side(pool, at, text.source, text.source_offsets[n], phrases, 0, p, a, b)
    at = _write_side(pool, at, text.target, text.target_offsets[n], phrases, 2, p, a, b)
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


@kernel(fast=False, owning=False)
def _enter(begin, end, share, records):
    """Add a share to the record with the key that ends the pool; keep the key if it is new."""
    pool, starts, hashes, weights = records.pool, records.starts, records.hashes, records.weights
    slots, used = records.slots, records.used
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
            weights[row, 0], weights[row, 1] = share, 1
            used[0], used[1] = row + 1, end
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


@kernel(fast=False, owning=False)
def _add(share, text, n, work, p, a, b, records):
    """Count one rule, and give it its share if it is known: phrase ``p`` without ``a`` and ``b`` (-1: none)."""
    if share > 0:
        begin = records.used[1]
        _enter(begin, _write_key(records.pool, begin, text, n, work, p, a, b), share, records)
    return 1


@kernel(fast=False, owning=False)
def _fits(p, a, outer, work):
    """Tell whether a phrase within the source span of ``p`` may be a nonterminal of it: with links at its ends."""
    phrases, places = work.phrases, work.places
    if phrases[a, 2] < phrases[p, 2] or phrases[a, 3] > phrases[p, 3]:
        return False
    linked = places[1, phrases[a, 0]] >= 0 and places[1, phrases[a, 1]] >= 0
    return not outer or (linked and places[3, phrases[a, 2]] >= 0 and places[3, phrases[a, 3]] >= 0)


@kernel(fast=False, owning=False)
def _two_holes(share, text, n, settings, work, p, a, records):
    """Count the rules of a phrase with the nonterminal ``a`` and a second one to its right; see `_rules_of`."""
    phrases, firsts, max_span = work.phrases, work.firsts, settings[0]
    outer, last = settings[3] == OUTER, phrases[p, 1]
    width, a_width = last - phrases[p, 0] + 1, phrases[a, 1] - phrases[a, 0] + 1
    left = phrases[p, 4] - phrases[a, 4]
    narrowest = max(max(settings[4], 1), width - a_width + 2 - settings[1])
    count = 0
    for b1 in range(phrases[a, 1] + 2, last + 1):
        for b_width in range(narrowest, last - b1 + 2):
            span = b1 * max_span + b_width - 1
            for b in range(firsts[span], firsts[span + 1]):
                if not _fits(p, b, outer, work):
                    continue
                if phrases[b, 2] <= phrases[a, 3] and phrases[a, 2] <= phrases[b, 3]:
                    continue
                if left - phrases[b, 4] >= 1:
                    count += _add(share, text, n, work, p, a, b, records)
    return count


@kernel(fast=False, owning=False)
def _rules_of(share, text, n, settings, work, p, records):
    """Count the rules of an initial phrase pair; with a share, which each gets, enter them."""
    phrases, firsts = work.phrases, work.firsts
    max_span, max_symbols, most = settings[0], settings[1], settings[2]
    outer, first, last = settings[3] == OUTER, phrases[p, 0], phrases[p, 1]
    width = last - first + 1
    count = 0
    if width <= max_symbols:
        count += _add(share, text, n, work, p, -1, -1, records)
    if most < 1:
        return count
    for a1 in range(first, last + 1):
        for a_width in range(max(settings[4], 1), last - a1 + 2):
            span = a1 * max_span + a_width - 1
            for a in range(firsts[span], firsts[span + 1]):
                if not _fits(p, a, outer, work) or phrases[p, 4] - phrases[a, 4] < 1:
                    continue
                if width - a_width + 1 <= max_symbols:
                    count += _add(share, text, n, work, p, a, -1, records)
                if most > 1:
                    count += _two_holes(share, text, n, settings, work, p, a, records)
    return count


@kernel(fast=False, owning=False)
def extract_rules(text, end, settings, state, work, records):
    """Enter the rules of sentences into a table of distinct ones, until the sentences end or room does.

    text (AlignedText).
    end (int): The sentence to stop before.
    settings (int64 [5]): Longest phrase, most symbols of a source side, most nonterminals, which phrases (`LOOSE`,
        `TIGHT`, `OUTER`), fewest source words of what a nonterminal stands for.
    state (int64 [2]): Sentence and phrase to continue with; updated.
    work (PhraseTables): Working memory.
    records (RuleRecords): Updated.
    Returns `DONE`, `RECORDS_FULL`, or `PHRASES_FULL` when a sentence has more phrases than the working memory.
    """
    max_span, max_symbols, used = settings[0], settings[1], records.used
    widest = max_symbols + max_span + max_symbols * max_span + 3
    while state[0] < end:
        n = state[0]
        length = text.source_offsets[n + 1] - text.source_offsets[n]
        other_length = text.target_offsets[n + 1] - text.target_offsets[n]
        begin, stop = text.pair_offsets[n], text.pair_offsets[n + 1]
        _find_spans(text.pairs, begin, stop, work.places[0], work.places[1], 0, 1, length)
        _find_spans(text.pairs, begin, stop, work.places[2], work.places[3], 1, 0, other_length)
        for i in range(length + 1):
            work.totals[i] = 0
        for k in range(begin, stop):
            work.totals[text.pairs[k, 0] + 1] += 1
        for i in range(length):
            work.totals[i + 1] += work.totals[i]
        count = find_phrases(length, other_length, max_span, settings[3] == TIGHT, work)
        if count < 0:
            return PHRASES_FULL
        while state[1] < count:
            rules = _rules_of(_NO_SHARE, text, n, settings, work, state[1], records)
            if rules > 0:
                if used[0] + rules > records.starts.size or used[1] + rules * widest > records.pool.size - 1:
                    return RECORDS_FULL
                _rules_of((UNIT + rules // 2) // rules, text, n, settings, work, state[1], records)
            state[1] += 1
        state[0] += 1
        state[1] = 0
    return DONE


class AlignedText(NamedTuple):
    """Aligned sentence pairs.

    source, target (int32): Words of all sentences.
    """

    source: np.ndarray
    source_offsets: np.ndarray  # int64 [sentences + 1]
    target: np.ndarray
    target_offsets: np.ndarray  # int64 [sentences + 1]
    pairs: np.ndarray  # int32 [links, 2]: Sorted within each sentence
    pair_offsets: np.ndarray  # int64 [sentences + 1]


class PhraseTables(NamedTuple):
    """Initial phrase pairs of a sentence, and what they are found with.

    places (int32 [4, longest]): First and last link of each source word, and of each target word; without links 2**30
        and -1.
    firsts (int64 [longest * max_span + 1]): The number of the first phrase of each source span, ``begin * max_span +
        length - 1``.
    """

    places: np.ndarray
    totals: np.ndarray  # int64 [longest + 1]: Links of all source words before each one
    phrases: np.ndarray  # int32 [room, 5]: First and last source word, first and last target word, links
    firsts: np.ndarray


class RuleRecords(NamedTuple):
    """A table of distinct rules; keys are those of `kernels_extraction`.

    starts (int64 [room]), hashes (uint64 [room]).
    """

    pool: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray
    weights: np.ndarray  # int64 [room, 2]: Sums of shares (1/`kernels_extraction.UNIT`) and of occurrences
    slots: np.ndarray  # int32 [a power of two over room]: Record numbers, from 1 on; 0 is free
    used: np.ndarray  # int64 [2]: Records and codes in use
