"""Compiled: learning the merges of byte-pair encoding, and cutting words by them.

Letters and pieces are numbered; a *place* is where one stands in the words put one after another, and a piece stands
where its first letter does.
"""

import numpy as np

from aligntools.aligning.text.kernels_cooccurrence import find_entry
from aligntools.ground.compiler import kernel

_SCATTER = np.uint64(0x9E3779B97F4A7C15)


@kernel
def find_slot(slots, lefts, rights, left, right):
    """Return where in ``slots`` [power of two] the number of a pair stands, or where it is to be put (-1 is there)."""
    last = len(slots) - 1
    at = np.int64((np.uint64(left) << np.uint64(32) | np.uint64(right)) * _SCATTER >> np.uint64(20)) & last
    while slots[at] >= 0 and (lefts[slots[at]] != left or rights[slots[at]] != right):
        at = (at + 1) & last
    return at


@kernel
def compare(spelling, begins, ends, one, other):
    """Return a number below, at or above 0 as one piece comes before, is, or comes after another in the alphabet."""
    a, b = begins[one], begins[other]
    while a < ends[one] and b < ends[other]:
        if spelling[a] != spelling[b]:
            return np.int64(spelling[a]) - np.int64(spelling[b])
        a, b = a + 1, b + 1
    return (ends[one] - a) - (ends[other] - b)


@kernel
def joined(spelling, begins, ends, n_pieces, left, right):
    """Spell two pieces as one, behind all others; return the number of the piece that is spelled so already, or its."""
    at = ends[n_pieces - 1]
    begins[n_pieces] = at
    for piece in (left, right):
        for x in range(begins[piece], ends[piece]):
            spelling[at] = spelling[x]
            at += 1
    ends[n_pieces] = at
    for piece in range(n_pieces):
        if ends[piece] - begins[piece] == at - begins[n_pieces] and not compare(
            spelling, begins, ends, piece, n_pieces
        ):
            return piece
    return n_pieces


@kernel
def best_pair(counts, n_pairs, lefts, rights, spelling, begins, ends):
    """Return the pair with the highest count; of several the first in the alphabet."""
    most = np.int64(-1)
    for pair in range(n_pairs):
        most = max(most, counts[pair])
    best = -1
    for pair in range(n_pairs):
        if counts[pair] == most:
            order = -1
            if best >= 0:
                order = compare(spelling, begins, ends, lefts[pair], lefts[best])
                if not order:
                    order = compare(spelling, begins, ends, rights[pair], rights[best])
            if order < 0:
                best = pair
    return best


@kernel
def learn_merges(letters, starts, weights, n_letters, longest, most, least):
    """Merge the most frequent pair of neighbouring pieces, again and again.

    letters (int32 [letters]): Of all words, numbered in alphabetical order; a letter is a piece of the same number.
    starts (int64 [words + 1]).
    weights (int64 [words]): How often each word occurs, above 0.
    longest (int): Letters of the longest word.
    most (int): Merges wanted; those that were learned before and come again do not count.
    least (int): A rarer pair is not merged.
    Returns left, right (int32 [merges]): Pieces that become one.
    Returns spelling (int32 [letters of all pieces]); ends (int64 [pieces]): How pieces are spelled, one after another.
    """
    size = len(letters)
    room = 3 * size + 1  # a merge makes two new pairs at most, and leaves one piece less
    lefts, rights = np.empty(room, np.int32), np.empty(room, np.int32)
    counts, heads, learned = np.zeros(room, np.int64), np.full(room, -1, np.int64), np.zeros(room, np.bool_)
    width = 2
    while width < 2 * room:
        width *= 2
    slots = np.full(width, -1, np.int32)
    # Where each pair stands or once stood, as a list of places; a place is of one pair at a time.
    node_place, node_next, n_nodes = np.empty(room, np.int64), np.empty(room, np.int64), 0
    piece, pair_at = letters.copy(), np.full(size, -1, np.int32)
    before, after, word_of = np.full(size, -1, np.int64), np.full(size, -1, np.int64), np.empty(size, np.int64)
    pieces = n_letters + most
    spelling = np.empty(n_letters + (most + 1) * longest, np.int32)
    begins, ends, n_pieces = np.empty(pieces + 1, np.int64), np.empty(pieces + 1, np.int64), n_letters
    for letter in range(n_letters):
        spelling[letter], begins[letter], ends[letter] = letter, letter, letter + 1
    for word in range(len(weights)):
        for place in range(starts[word], starts[word + 1]):
            word_of[place] = word
            if place > starts[word]:
                before[place] = place - 1
            if place + 1 < starts[word + 1]:
                after[place] = place + 1
    fresh, n_fresh, n_pairs = np.empty(size, np.int64), 0, 0
    for place in range(size):
        if after[place] >= 0:
            fresh[n_fresh] = place
            n_fresh += 1
    found, n_found = np.empty(most, np.int32), 0
    done = np.empty(size, np.int64)
    while True:
        for x in range(n_fresh):  # enter the pairs that are new at these places
            place = fresh[x]
            left, right = piece[place], piece[after[place]]
            slot = find_slot(slots, lefts, rights, left, right)
            pair = slots[slot]
            if pair < 0:
                pair = n_pairs
                slots[slot], lefts[pair], rights[pair] = pair, left, right
                n_pairs += 1
            pair_at[place] = pair
            counts[pair] += weights[word_of[place]]
            node_place[n_nodes], node_next[n_nodes], heads[pair] = place, heads[pair], n_nodes
            n_nodes += 1
        best = best_pair(counts, n_pairs, lefts, rights, spelling, begins, ends)
        if n_found == most or best < 0 or counts[best] < least:
            break
        if not learned[best]:
            learned[best] = True
            found[n_found] = best
            n_found += 1
        merged = joined(spelling, begins, ends, n_pieces, lefts[best], rights[best])
        n_pieces += merged == n_pieces
        n_done, node = 0, heads[best]
        while node >= 0:
            place, node = node_place[node], node_next[node]
            if pair_at[place] != best:
                continue
            while before[place] >= 0 and pair_at[before[place]] == best:  # where the same piece comes thrice and more
                place = before[place]
            while place >= 0 and pair_at[place] == best:
                weight, gone = weights[word_of[place]], after[place]
                for x in (before[place], place, gone):
                    if x >= 0 and pair_at[x] >= 0:
                        counts[pair_at[x]] -= weight
                        pair_at[x] = -1
                piece[place], after[place], after[gone] = merged, after[gone], -1
                done[n_done] = place
                n_done += 1
                if after[place] >= 0:
                    before[after[place]] = place
                place = after[place]
        heads[best], n_fresh = -1, 0
        for place in done[:n_done]:
            for x in (before[place], place):
                if x >= 0 and after[x] >= 0 and pair_at[x] == -1:
                    pair_at[x] = -2  # to be entered, once
                    fresh[n_fresh] = x
                    n_fresh += 1
    return lefts[found[:n_found]], rights[found[:n_found]], spelling[: ends[n_pieces - 1]], ends[:n_pieces]


@kernel
def cut_words(letters, starts, longest, lefts, rights, made, ptr, ids, merges, out, sizes):
    """Cut words into pieces, by merging what was learned first, wherever it stands, again and again.

    letters (int32 [letters]): Of all words; a letter that is no piece has a number of its own above those of pieces.
    starts (int64 [words + 1]).
    longest (int): Longer words stay whole.
    lefts, rights, made (int32 [merges]): Which pieces become one, and which one, in the order in which it was learned.
    ptr (int64 [pieces + 1]), ids, merges (int32 [merges]): Of each left piece the right ones, sorted, and their merges.
    out (int32 [letters], output): Pieces of all words; -1 is a word that stays whole.
    sizes (int64 [words], output): Pieces of each word.
    Returns pieces of all words together.
    """
    end = 0
    for word in range(len(sizes)):
        begin, n = end, starts[word + 1] - starts[word]
        if n > longest:
            out[begin] = -1
            sizes[word], end = 1, begin + 1
            continue
        for x in range(n):
            out[begin + x] = letters[starts[word] + x]
        while n > 1:
            best = np.int32(len(lefts))
            for x in range(begin, begin + n - 1):
                entry = find_entry(ptr, ids, out[x], out[x + 1])
                if entry >= 0:
                    best = min(best, merges[entry])
            if best == len(lefts):
                break
            kept, x = begin, begin
            while x < begin + n:
                both = x + 1 < begin + n and out[x] == lefts[best] and out[x + 1] == rights[best]
                out[kept] = made[best] if both else out[x]
                kept += 1
                x += 2 if both else 1
            n = kept - begin
        sizes[word], end = n, begin + n
    return end
