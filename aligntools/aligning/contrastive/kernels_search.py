"""Compiled: beam search for the best alignments, one link at a time (Liu, Liu & Lin 2010, section 4)."""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.contrastive.kernels_blocks import nests
from aligntools.aligning.contrastive.kernels_features import (
    FEATURES,
    FERTILITY,
    N_LINKS,
    TOTALS,
    State,
    add_link,
    clear,
    empty_features,
    is_linked,
    largest_pair,
    pair_of,
    replay,
    structural_changes,
)
from aligntools.ground.compiler import kernel


class Options(NamedTuple):
    """How alignments are searched.

    beam, n_best: Alignments kept at each step, and in the list of the best.
    slack: By how much a link may lower the score for the alignment to be kept; infinity: all are.
    constraint: NONE, ITG or BLOCK_ITG.
    s_limit, t_limit: Most links of a source word and of a target word.
    """

    beam: int
    n_best: int
    slack: float
    constraint: int
    s_limit: int
    t_limit: int


class Beams(NamedTuple):
    """The beam and the beam to come: each array of `State` for both and every place in them; scores and hashes."""

    bits: np.ndarray
    source: np.ndarray
    target: np.ndarray
    totals: np.ndarray
    crossings: np.ndarray
    scores: np.ndarray
    hashes: np.ndarray


@kernel
def zobrist(c):
    """Return candidate ``c``'s 64 random bits (splitmix64); an alignment's hash is the exclusive or over its links."""
    z = np.uint64(c + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel(owning=False)
def same_links(a, extra_a, b, extra_b):
    """Return whether two sets of links (uint64 words), each with one more candidate (or -1), are the same."""
    for w in range(a.shape[0]):
        x, y = a[w], b[w]
        if extra_a >= 0 and extra_a >> 6 == w:
            x |= np.uint64(1) << np.uint64(extra_a & 63)
        if extra_b >= 0 and extra_b >> 6 == w:
            y |= np.uint64(1) << np.uint64(extra_b & 63)
        if x != y:
            return False
    return True


@kernel(part=True)
def state_of(beams, which, x, words, n_i, n_j, n):
    """Return the state of place ``x`` of one of the two beams, cut to a pair's size."""
    return State(
        beams.bits[which, x, :words],
        beams.source[which, x, :n_i],
        beams.target[which, x, :n_j],
        beams.totals[which, x],
        beams.crossings[which, x, :n],
    )


@kernel(part=True)
def start(pair, weights, active, gains, change, beams, best):
    """Write what each candidate adds by itself to the score; put the alignment without links into beam and list."""
    n = pair.rows.shape[0]
    words = (n + 63) // 64
    for c in range(n):
        total = 0.0
        for f in range(weights.shape[0]):  # those of evidence too
            total += weights[f] * pair.local[c, f]
        gains[c] = total
    empty_features(active, pair, change)
    score = 0.0
    for f in range(FEATURES):
        score += weights[f] * change[f]
        change[f] = 0.0
    clear(state_of(beams, 0, 0, words, pair.s_words.shape[0], pair.t_words.shape[0], n))
    beams.scores[0] = score
    beams.hashes[0] = np.uint64(0)
    ranks, scores, hashes, bits = best
    ranks[0] = 0
    scores[0] = score
    hashes[0] = np.uint64(0)
    bits[0, :words] = np.uint64(0)


@kernel(part=True)
def keep(s, h, x, c, bits, parents_bits, additions, kept, beam):
    """Put the addition of ``c`` to parent ``x`` among the best ones, once; return how many there are.

    s (float64); h (uint64): Score and hash of the alignment.
    bits (uint64 [words]): The parent's links; ``parents_bits`` [beam, words] those of all.
    additions ([beam] each): Scores, hashes, parents and links of the best so far, from best to worst.
    """
    scores, hashes, parents, links = additions
    for y in range(kept):
        if hashes[y] == h and same_links(bits, c, parents_bits[parents[y]], links[y]):
            return kept
    y = kept if kept < beam else kept - 1
    kept = y + 1
    while y > 0 and scores[y - 1] < s:
        scores[y], hashes[y], parents[y], links[y] = scores[y - 1], hashes[y - 1], parents[y - 1], links[y - 1]
        y -= 1
    scores[y], hashes[y], parents[y], links[y] = s, h, x, c
    return kept


@kernel(part=True)
def enlist(s, h, c, bits, best, listed, n_best):
    """Put an alignment, the links ``bits`` with ``c``, into the list of the best, once; return how many there are.

    best ([n_best] each): Places from best to worst; scores, hashes and links of each place.
    """
    words = bits.shape[0]
    ranks, scores, hashes, all_bits = best
    for y in range(listed):
        if hashes[ranks[y]] == h and same_links(bits, c, all_bits[ranks[y], :words], -1):
            return listed
    if listed < n_best:
        slot = listed
        y = listed
        listed += 1
    else:
        slot = np.int64(ranks[listed - 1])
        y = listed - 1
    while y > 0 and scores[ranks[y - 1]] < s:
        ranks[y] = ranks[y - 1]
        y -= 1
    ranks[y], scores[slot], hashes[slot] = slot, s, h
    for w in range(words):
        all_bits[slot, w] = bits[w]
    all_bits[slot, c >> 6] |= np.uint64(1) << np.uint64(c & 63)
    return listed


@kernel(inline=True, owning=False)
def try_links(now, x, pair, weights, active, options, gains, change, beams, additions, kept, best, listed, scratch):
    """Try every addition of one link to place ``x`` of the beam ``now``.

    Returns kept, listed: How many alignments are in the beam to come, and in the list.
    """
    n = pair.rows.shape[0]
    words = (n + 63) // 64
    state = state_of(beams, now, x, words, pair.s_words.shape[0], pair.t_words.shape[0], n)
    if state.totals[N_LINKS] >= n:
        return kept, listed
    for c in range(n):
        if (
            is_linked(state.bits, c) == 1
            or state.source[pair.rows[c], FERTILITY] >= options.s_limit
            or state.target[pair.columns[c], FERTILITY] >= options.t_limit
        ):
            continue
        structural_changes(active, pair, state, c, change)
        gain = gains[c]
        for f in range(FEATURES):
            gain += weights[f] * change[f]
        s = beams.scores[x] + gain
        to_beam = gain > -options.slack and (kept < options.beam or s > additions[0][kept - 1])
        to_list = listed < options.n_best or s > best[1][best[0][listed - 1]]
        if not to_beam and not to_list:
            continue
        if options.constraint > 0 and not nests(
            options.constraint, pair.rows, pair.columns, state.bits, state.source, state.target, c, scratch
        ):
            continue
        h = beams.hashes[x] ^ zobrist(c)
        if to_beam:
            kept = keep(s, h, x, c, state.bits, beams.bits[now, :, :words], additions, kept, options.beam)
        if to_list:
            listed = enlist(s, h, c, state.bits, best, listed, options.n_best)
    return kept, listed


@kernel(part=True)
def advance(now, pair, beams, additions, kept):
    """Make the beam to come of the best additions."""
    n = pair.rows.shape[0]
    words, n_i, n_j = (n + 63) // 64, pair.s_words.shape[0], pair.t_words.shape[0]
    scores, hashes, parents, links = additions
    for y in range(kept):
        x = parents[y]
        beams.bits[1 - now, y, :words] = beams.bits[now, x, :words]
        beams.source[1 - now, y, :n_i] = beams.source[now, x, :n_i]
        beams.target[1 - now, y, :n_j] = beams.target[now, x, :n_j]
        beams.totals[1 - now, y] = beams.totals[now, x]
        beams.crossings[1 - now, y, :n] = beams.crossings[now, x, :n]
        add_link(pair.rows, pair.columns, state_of(beams, 1 - now, y, words, n_i, n_j, n), links[y])
    beams.scores[:kept] = scores[:kept]
    beams.hashes[:kept] = hashes[:kept]


@kernel(part=True)
def search_pair(pair, weights, active, options, gains, change, beams, additions, best, scratch):
    """Search one sentence pair; return how many alignments are in the list."""
    start(pair, weights, active, gains, change, beams, best)
    listed = 1
    alive = 1
    now = 0
    while alive > 0:
        kept = 0
        for x in range(alive):
            kept, listed = try_links(
                now, x, pair, weights, active, options, gains, change, beams, additions, kept, best, listed, scratch
            )
        advance(now, pair, beams, additions, kept)
        alive = kept
        now = 1 - now
    return listed


@kernel
def search_block(k0, k1, candidates, weights, active, options, found):
    """Find the best alignments of sentences ``k0..k1``.

    From the alignment without links all additions of one link are tried; the ``beam`` best of them that raise
    their parent's score are kept, until there is none. Every alignment that was tried may enter the list of
    the best. An alignment met twice counts once. Of equal scores the one met first is kept: parents are tried from
    best to worst, candidates by row and column.

    weights (float64); active (bool): One for each column of the candidates' values.
    found (tuple, output): What `search.BestLists.arrays` has.
    """
    bit_starts, all_bits, scores, sizes = found
    most, longest_s, longest_t = largest_pair(k0, k1, candidates)
    most_words, beam, n_best = (most + 63) // 64, options.beam, options.n_best
    gains = np.empty(most)
    change = np.zeros(FEATURES)
    beams = Beams(
        np.empty((2, beam, most_words), np.uint64),
        np.empty((2, beam, longest_s, 3), np.int32),
        np.empty((2, beam, longest_t, 3), np.int32),
        np.empty((2, beam, TOTALS), np.int32),
        np.empty((2, beam, most), np.int32),
        np.empty(beam),
        np.empty(beam, np.uint64),
    )
    additions = np.empty(beam), np.empty(beam, np.uint64), np.empty(beam, np.int32), np.empty(beam, np.int32)
    ranks, bits = np.empty(n_best, np.int32), np.empty((n_best, most_words), np.uint64)
    best = ranks, np.empty(n_best), np.empty(n_best, np.uint64), bits
    scratch = np.empty((9, longest_s + longest_t), np.int32)
    for k in range(k0, k1):
        pair = pair_of(candidates, k)
        words = (pair.rows.shape[0] + 63) // 64
        listed = search_pair(pair, weights, active, options, gains, change, beams, additions, best, scratch)
        sizes[k] = listed
        at = bit_starts[k]
        for y in range(listed):
            scores[k, y] = best[1][ranks[y]]
            all_bits[at + y * words : at + (y + 1) * words] = bits[ranks[y], :words]


@kernel
def list_features(k0, k1, candidates, active, found, out):
    """Write the features (float64 [sentences, n_best, columns]) of the alignments that `search_block` found.

    Links are added by row and column, whatever the order in which they were found.
    """
    bit_starts, bits, _, sizes = found
    most, longest_s, longest_t = largest_pair(k0, k1, candidates)
    change = np.zeros(FEATURES)
    order = np.empty(most, np.int32)
    all_bits = np.empty((most + 63) // 64, np.uint64)
    all_source = np.empty((longest_s, 3), np.int32)
    all_target = np.empty((longest_t, 3), np.int32)
    totals = np.empty(TOTALS, np.int32)
    all_crossings = np.empty(most, np.int32)
    for k in range(k0, k1):
        pair = pair_of(candidates, k)
        n = pair.rows.shape[0]
        words = (n + 63) // 64
        state = State(
            all_bits[:words],
            all_source[: pair.s_words.shape[0]],
            all_target[: pair.t_words.shape[0]],
            totals,
            all_crossings[:n],
        )
        for y in range(sizes[k]):
            at = bit_starts[k] + y * words
            size = 0
            for c in range(n):
                if is_linked(bits[at : at + words], c) == 1:
                    order[size] = c
                    size += 1
            replay(active, pair, order[:size], change, state, out[k, y])


@kernel
def mark_links(starts, found, rank, linked):
    """Mark the candidates (bool [candidates], of False) that each sentence's alignment of a rank (0 the best) links."""
    bit_starts, bits, _, sizes = found
    for k in range(starts.shape[0] - 1):
        if rank < sizes[k]:
            n = starts[k + 1] - starts[k]
            words = (n + 63) // 64
            at = bit_starts[k] + rank * words
            for c in range(n):
                linked[starts[k] + c] = is_linked(bits[at : at + words], c) == 1
