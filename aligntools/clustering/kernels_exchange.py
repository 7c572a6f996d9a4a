"""Compiled: which words follow which, and the exchange of words between classes.

Counts of pairs of words are kept by both words: the words ``right_words[right_starts[w]:right_starts[w + 1]]`` follow
word ``w``, each so often as ``right_counts`` says, and the words of ``left_words`` go before it. The objective is the
sum of the ``terms`` n ln n of the counts of pairs of classes, less those of the classes' own counts, once as the first
and once as the second of a pair. Tables of classes are kept with their rows and columns exchanged, too, so that what a
move would gain is read in rows.
"""

import math
from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.ground.kernels_random import random_unit

#: Classes of which a word's probability is less than exp(-30) of the best one's are never drawn.
_LEAST = -30.0


class WordNeighbours(NamedTuple):
    """Counts of pairs of words, by the first and by the second word."""

    right_starts: np.ndarray  # int64 [words + 1]
    right_words: np.ndarray  # int32 [pairs]
    right_counts: np.ndarray  # int32 [pairs]
    left_starts: np.ndarray
    left_words: np.ndarray
    left_counts: np.ndarray


class Tables(NamedTuple):
    """Counts of classes and their terms."""

    counts: np.ndarray  # int64 [classes, classes], by the first class
    turned: np.ndarray  # the same by the second
    terms: np.ndarray  # float64 [classes, classes]
    turned_terms: np.ndarray
    first: np.ndarray  # int64 [classes]
    second: np.ndarray
    first_terms: np.ndarray  # float64 [classes]
    second_terms: np.ndarray
    n_log_n: np.ndarray  # float64 [some]: of small counts


class Scratch(NamedTuple):
    """Memory of a sweep: the counts of a word's neighbours by class, 0 between words, and what moves gain."""

    right: np.ndarray  # int64 [classes]
    left: np.ndarray
    right_classes: np.ndarray  # int64 [classes]: those whose count is not 0
    left_classes: np.ndarray
    gains: np.ndarray  # float64 [classes]
    numbers: np.ndarray  # int64 [classes]: 0, 1, ...
    listed: np.ndarray  # int64 [places of a list + 1]


@kernel
def count_pairs(tokens, offsets, starts, following, last, words, counts):
    """Count which words follow which; 0 stands before the first and after the last word of a sentence.

    tokens (int32 [tokens]): Words, from 1.
    offsets (int64 [sentences + 1]).
    starts (int64 [vocabulary + 1]): Written: where each first word's pairs begin.
    following (int32 [tokens + sentences]): Scratch.
    last (int64 [vocabulary]): Scratch: -1.
    words, counts (int32 [tokens + sentences]): Written: the second words of pairs, in the order of the text, and their
        counts.
    """
    size = len(starts) - 1
    starts[:] = 0
    for s in range(len(offsets) - 1):
        if offsets[s + 1] > offsets[s]:
            starts[1] += 1
            for t in range(offsets[s], offsets[s + 1]):
                starts[tokens[t] + 1] += 1
    for w in range(size):
        starts[w + 1] += starts[w]
    for s in range(len(offsets) - 1):
        if offsets[s + 1] > offsets[s]:
            before = 0
            for t in range(offsets[s], offsets[s + 1]):
                following[starts[before]] = tokens[t]
                starts[before] += 1
                before = tokens[t]
            following[starts[before]] = 0
            starts[before] += 1
    found = begin = 0  # each word's start is now where its words end
    for w in range(size):
        end = starts[w]
        starts[w] = found
        for t in range(begin, end):
            v = following[t]
            if last[v] >= starts[w]:
                counts[last[v]] += 1
            else:
                last[v] = found
                words[found] = v
                counts[found] = 1
                found += 1
        begin = end
    starts[size] = found


@kernel
def turn(starts, words, counts, turned_starts, turned_words, turned_counts):
    """Write counts of pairs by the second word; all arrays but the first three are written."""
    size = len(starts) - 1
    turned_starts[:] = 0
    for k in range(starts[size]):
        turned_starts[words[k] + 1] += 1
    for w in range(size):
        turned_starts[w + 1] += turned_starts[w]
    for w in range(size):
        for k in range(starts[w], starts[w + 1]):
            place = turned_starts[words[k]]
            turned_words[place], turned_counts[place] = w, counts[k]
            turned_starts[words[k]] += 1
    for w in range(size, 0, -1):
        turned_starts[w] = turned_starts[w - 1]
    turned_starts[0] = 0


@kernel(owning=False)
def count_classes(classes, pairs, tables):
    """Count pairs of classes; the counts of the tables are written."""
    tables.counts[:] = 0
    tables.first[:] = 0
    tables.second[:] = 0
    for w in range(len(pairs.right_starts) - 1):
        a = classes[w]
        for k in range(pairs.right_starts[w], pairs.right_starts[w + 1]):
            b, n = classes[pairs.right_words[k]], pairs.right_counts[k]
            tables.counts[a, b] += n
            tables.first[a] += n
            tables.second[b] += n


@kernel(inline=True, fast=False, owning=False)
def _term(n, n_log_n):
    """Return n ln n, 0 for 0."""
    return n_log_n[n] if n < len(n_log_n) else n * math.log(n)


@kernel(inline=True, fast=False, owning=False)
def _around(word, classes, starts, words, counts, sums, present):
    """Sum a word's neighbours on one side by class; return how many classes, and its count with itself."""
    found, own = 0, 0
    for k in range(starts[word], starts[word + 1]):
        if words[k] == word:
            own = counts[k]
        else:
            c = classes[words[k]]
            if sums[c] == 0:
                present[found] = c
                found += 1
            sums[c] += counts[k]
    return found, own


@kernel(inline=True, fast=False, owning=False)
def _set(a, b, n, tables):
    """Set the count of a pair of classes."""
    term = _term(n, tables.n_log_n)
    tables.counts[a, b] = tables.turned[b, a] = n
    tables.terms[a, b] = tables.turned_terms[b, a] = term


@kernel(inline=True, fast=False, owning=False)
def _shift(c, sign, before, after, rights, lefts, own, tables, scratch):
    """Take a word out of a class (``sign`` -1) or put it in (1)."""
    logs = tables.n_log_n
    tables.first[c] += sign * before
    tables.second[c] += sign * after
    tables.first_terms[c] = _term(tables.first[c], logs)
    tables.second_terms[c] = _term(tables.second[c], logs)
    for k in range(rights):
        g = scratch.right_classes[k]
        _set(c, g, tables.counts[c, g] + sign * scratch.right[g], tables)
    for k in range(lefts):
        g = scratch.left_classes[k]
        _set(g, c, tables.counts[g, c] + sign * scratch.left[g], tables)
    if own:
        _set(c, c, tables.counts[c, c] + sign * own, tables)


@kernel(inline=True, fast=False, owning=False)
def _own_gain(c, own, tables, scratch):
    """Return by how much the pairs within a class gain more than what was added for the two sides one by one."""
    n, right, left, logs = tables.counts[c, c], scratch.right[c], scratch.left[c], tables.n_log_n
    apart = _term(n + right, logs) + _term(n + left, logs) - _term(n, logs)
    return _term(n + right + left + own, logs) - apart


@kernel(inline=True, fast=False, owning=False)
def _gain(c, before, after, rights, lefts, own, tables, scratch):
    """Return what the objective gains where a word, taken out before, is put into a class."""
    logs = tables.n_log_n
    gain = tables.first_terms[c] - _term(tables.first[c] + before, logs)
    gain += tables.second_terms[c] - _term(tables.second[c] + after, logs)
    for k in range(rights):
        g = scratch.right_classes[k]
        gain += _term(tables.counts[c, g] + scratch.right[g], logs) - tables.terms[c, g]
    for k in range(lefts):
        g = scratch.left_classes[k]
        gain += _term(tables.turned[c, g] + scratch.left[g], logs) - tables.turned_terms[c, g]
    if own or (scratch.right[c] and scratch.left[c]):
        gain += _own_gain(c, own, tables, scratch)
    return gain


@kernel(inline=True, fast=False, owning=False)
def _all_gains(low, high, before, after, rights, lefts, own, tables, scratch):
    """Write what the objective gains by each class ``low..high-1``, row by row."""
    logs, gains = tables.n_log_n, scratch.gains
    some = gains[low:high]  # from 0 on: indexes that might be below 0 would cost a third more
    counts, terms = tables.first[low:high], tables.first_terms[low:high]
    for c in range(len(some)):
        some[c] = terms[c] - _term(counts[c] + before, logs)
    counts, terms = tables.second[low:high], tables.second_terms[low:high]
    for c in range(len(some)):
        some[c] += terms[c] - _term(counts[c] + after, logs)
    for k in range(rights):
        g = scratch.right_classes[k]
        more, counts, terms = scratch.right[g], tables.turned[g, low:high], tables.turned_terms[g, low:high]
        for c in range(len(some)):
            some[c] += _term(counts[c] + more, logs) - terms[c]
    for k in range(lefts):
        g = scratch.left_classes[k]
        more, counts, terms = scratch.left[g], tables.counts[g, low:high], tables.terms[g, low:high]
        for c in range(len(some)):
            some[c] += _term(counts[c] + more, logs) - terms[c]
    if own:
        for c in range(low, high):
            gains[c] += _own_gain(c, own, tables, scratch)
    else:
        for k in range(rights):
            c = scratch.right_classes[k]
            if scratch.left[c] and low <= c < high:
                gains[c] += _own_gain(c, own, tables, scratch)


@kernel(inline=True, fast=False, owning=False)
def _shortlist(low, high, gains, best):
    """Write the classes of the largest gains, the first ones of equals; -1 after them where there are fewer."""
    found = 0
    for c in range(low, high):
        if found == len(best) and gains[c] <= gains[best[found - 1]]:
            continue
        k = found if found < len(best) else found - 1
        found = k + 1
        while k and gains[best[k - 1]] < gains[c]:
            best[k] = best[k - 1]
            k -= 1
        best[k] = c
    for k in range(found, len(best)):
        best[k] = -1


@kernel(inline=True, fast=False, owning=False)
def _listed(old, best, candidates):
    """Write the classes of a word's list, and its own where it is not there; return how many."""
    found, missing = 0, True
    for c in best:
        if c < 0:
            break
        candidates[found] = c
        found += 1
        missing = missing and c != old
    if missing:
        candidates[found] = old
        found += 1
    return found


@kernel(inline=True, fast=False, owning=False)
def _draw(old, candidates, begin, end, temperature, gains, state):
    """Return the candidate of the largest gain, ``old`` among equals; with a temperature, one drawn by its gain."""
    best = old
    for k in range(begin, end):
        if gains[candidates[k]] > gains[best]:
            best = candidates[k]
    if temperature <= 0.0:
        return best if gains[best] > gains[old] + 1e-9 else old
    total = 0.0
    for k in range(begin, end):
        x = (gains[candidates[k]] - gains[best]) / temperature
        if x > _LEAST:
            total += math.exp(x)
    left = random_unit(state) * total
    for k in range(begin, end):
        x = (gains[candidates[k]] - gains[best]) / temperature
        if x > _LEAST:
            left -= math.exp(x)
            if left <= 0.0:
                return candidates[k]
    return best


@kernel(fast=False, owning=False)
def sweep(order, ranges, temperature, full, classes, pairs, tables, lists, state, scratch):
    """Move each word to another class where that gains; return how many were moved.

    order (int32 [some]): Words, in the order in which they are looked at.
    ranges (int32 [vocabulary, 2]): A word is in a class from the first of its numbers up to the second, which it is not
        in.
    temperature (float): 0: a word goes where it gains most; above: it is drawn by exp(gain / temperature).
    full (bool): Look at all classes and write the best ones of each word to ``lists``; else look at these alone.
    classes (int32 [vocabulary]): Each word's class; changed.
    pairs (Neighbours).
    tables: Changed.
    lists (int32 [vocabulary, places]): No places: all classes are looked at.
    state (uint64 [1]): Of random numbers; changed.
    """
    moved = 0
    for w in order:
        rights, own = _around(
            w, classes, pairs.right_starts, pairs.right_words, pairs.right_counts, scratch.right, scratch.right_classes
        )
        lefts, _ = _around(
            w, classes, pairs.left_starts, pairs.left_words, pairs.left_counts, scratch.left, scratch.left_classes
        )
        before = after = own  # how often the word is the first and the second of a pair
        for k in range(rights):
            before += scratch.right[scratch.right_classes[k]]
        for k in range(lefts):
            after += scratch.left[scratch.left_classes[k]]
        old, low, high, gains = classes[w], ranges[w, 0], ranges[w, 1], scratch.gains
        _shift(old, -1, before, after, rights, lefts, own, tables, scratch)
        if full:
            _all_gains(low, high, before, after, rights, lefts, own, tables, scratch)
            if lists.shape[1]:
                _shortlist(low, high, gains, lists[w])
            candidates, begin, end = scratch.numbers, low, high
        else:
            candidates, begin, end = scratch.listed, 0, _listed(old, lists[w], scratch.listed)
            for k in range(end):
                gains[candidates[k]] = _gain(candidates[k], before, after, rights, lefts, own, tables, scratch)
        new = _draw(old, candidates, begin, end, temperature, gains, state)
        _shift(new, 1, before, after, rights, lefts, own, tables, scratch)
        for k in range(rights):
            scratch.right[scratch.right_classes[k]] = 0
        for k in range(lefts):
            scratch.left[scratch.left_classes[k]] = 0
        if new != old:
            classes[w] = new
            moved += 1
    return moved
