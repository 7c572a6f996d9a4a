"""Compiled: beam search for the best alignments, one link at a time (Liu, Liu & Lin 2010, section 4)."""

import numpy as np

from aligntools.aligning.contrastive.kernels_blocks import nests
from aligntools.aligning.contrastive.kernels_features import (
    FEATURES,
    FERTILITY,
    N_LINKS,
    TOTALS,
    add_link,
    clear,
    empty_features,
    is_linked,
    replay,
    structural_changes,
)
from aligntools.ground.compiling import kernel


@kernel
def zobrist(c):
    """Return candidate ``c``'s 64 random bits (splitmix64); an alignment's hash is the exclusive or over its links."""
    z = np.uint64(c + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
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


@kernel
def search_block(
    k0, k1, base, s_offsets, t_offsets, starts, rows, columns, neighbours, values, s_words, t_words,
    weights, active, beam, slack, constraint, s_limit, t_limit, n_best, bit_starts, bits_out, scores, sizes,
):  # fmt: skip
    """Find the best alignments of sentences ``k0..k1``.

    From the alignment without links all additions of one link are tried; the ``beam`` best of them that raise
    their parent's score are gone on from, until there is none. Every alignment that was tried may enter the list of
    the best. An alignment met twice counts once. Of equal scores the one met first is kept: parents are tried from
    best to worst, candidates by row and column.

    Parameters
    ----------
    base : int
        First sentence of the run that ``starts``, ``s_words`` and all outputs begin with.
    starts : int64 [sentences + 1]
        Where each sentence's candidates begin in ``rows``, ``columns``, ``neighbours`` and ``values``.
    weights : float64 [FEATURES]; active : bool [FEATURES]
    slack : float
        By how much a link may lower the score and still be gone on from; infinity: all are.
    constraint : int
        NONE, ITG or BLOCK_ITG.
    s_limit, t_limit : int
        Most links a source word and a target word may have.
    n_best : int
    bit_starts : int64 [sentences]
        Where each sentence's ``n_best`` link sets begin in ``bits_out``, ceil(candidates / 64) words each.
    bits_out : uint64; scores : float64 [sentences, n_best]; sizes : int32 [sentences], outputs
        Link sets from best to worst, their scores, and how many there are.
    """
    most = 1
    longest_s = 1
    longest_t = 1
    for k in range(k0, k1):
        most = max(most, starts[k - base + 1] - starts[k - base])
        longest_s = max(longest_s, s_offsets[k + 1] - s_offsets[k])
        longest_t = max(longest_t, t_offsets[k + 1] - t_offsets[k])
    most_w = (most + 63) // 64
    gains = np.empty(most)
    change = np.zeros(FEATURES)
    # the beam and the beam to come
    all_bits = np.empty((2, beam, most_w), np.uint64)
    all_source = np.empty((2, beam, longest_s, 3), np.int32)
    all_target = np.empty((2, beam, longest_t, 3), np.int32)
    all_totals = np.empty((2, beam, TOTALS), np.int32)
    all_crossings = np.empty((2, beam, most), np.int32)
    score = np.empty(beam)
    hashes = np.empty(beam, np.uint64)
    kept_score = np.empty(beam)
    kept_hash = np.empty(beam, np.uint64)
    kept_parent = np.empty(beam, np.int32)
    kept_link = np.empty(beam, np.int32)
    # the list: ranks point to slots
    ranks = np.empty(n_best, np.int32)
    list_score = np.empty(n_best)
    list_hash = np.empty(n_best, np.uint64)
    list_bits = np.empty((n_best, most_w), np.uint64)
    scratch = np.empty((9, longest_s + longest_t), np.int32)
    for k in range(k0, k1):
        a, b = starts[k - base], starts[k - base + 1]
        n = b - a
        w = (n + 63) // 64
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        row, column, around = rows[a:b], columns[a:b], neighbours[a:b]
        sw = s_words[s_offsets[k] - s_offsets[base] :][:n_i]
        tw = t_words[t_offsets[k] - t_offsets[base] :][:n_j]
        for c in range(n):
            total = 0.0
            for f in range(FEATURES):
                total += weights[f] * values[a + c, f]
            gains[c] = total
        empty_features(active, sw, tw, change)
        score[0] = 0.0
        for f in range(FEATURES):
            score[0] += weights[f] * change[f]
            change[f] = 0.0
        hashes[0] = np.uint64(0)
        now = 0
        clear(
            all_bits[0, 0, :w],
            all_source[0, 0, :n_i],
            all_target[0, 0, :n_j],
            all_totals[0, 0],
            all_crossings[0, 0, :n],
        )
        alive = 1
        ranks[0] = 0
        list_score[0] = score[0]
        list_hash[0] = np.uint64(0)
        list_bits[0, :w] = np.uint64(0)
        listed = 1
        while alive > 0:
            kept = 0
            for x in range(alive):
                bits, totals = all_bits[now, x, :w], all_totals[now, x]
                source, target = all_source[now, x, :n_i], all_target[now, x, :n_j]
                crossings = all_crossings[now, x, :n]
                if totals[N_LINKS] >= n:
                    continue
                for c in range(n):
                    i, j = row[c], column[c]
                    if is_linked(bits, c) == 1 or source[i, FERTILITY] >= s_limit or target[j, FERTILITY] >= t_limit:
                        continue
                    structural_changes(active, sw, tw, around, bits, source, target, totals, crossings, c, i, j, change)
                    gain = gains[c]
                    for f in range(FEATURES):
                        gain += weights[f] * change[f]
                    s = score[x] + gain
                    to_beam = gain > -slack and (kept < beam or s > kept_score[kept - 1])
                    to_list = listed < n_best or s > list_score[ranks[listed - 1]]
                    if not to_beam and not to_list:
                        continue
                    if constraint > 0 and not nests(constraint, row, column, bits, source, target, c, scratch):
                        continue
                    h = hashes[x] ^ zobrist(c)
                    if to_beam:
                        for y in range(kept):
                            if kept_hash[y] == h and same_links(
                                bits, c, all_bits[now, kept_parent[y], :w], kept_link[y]
                            ):
                                to_beam = False
                    if to_beam:
                        y = kept if kept < beam else kept - 1
                        kept = y + 1
                        while y > 0 and kept_score[y - 1] < s:
                            kept_score[y] = kept_score[y - 1]
                            kept_hash[y] = kept_hash[y - 1]
                            kept_parent[y] = kept_parent[y - 1]
                            kept_link[y] = kept_link[y - 1]
                            y -= 1
                        kept_score[y] = s
                        kept_hash[y] = h
                        kept_parent[y] = x
                        kept_link[y] = c
                    if to_list:
                        for y in range(listed):
                            if list_hash[ranks[y]] == h and same_links(bits, c, list_bits[ranks[y], :w], -1):
                                to_list = False
                    if to_list:
                        if listed < n_best:
                            slot = listed
                            y = listed
                            listed += 1
                        else:
                            slot = ranks[listed - 1]
                            y = listed - 1
                        while y > 0 and list_score[ranks[y - 1]] < s:
                            ranks[y] = ranks[y - 1]
                            y -= 1
                        ranks[y] = slot
                        list_score[slot] = s
                        list_hash[slot] = h
                        list_bits[slot, :w] = bits
                        list_bits[slot, c >> 6] |= np.uint64(1) << np.uint64(c & 63)
            for y in range(kept):
                x, c = kept_parent[y], kept_link[y]
                after = 1 - now
                all_bits[after, y, :w] = all_bits[now, x, :w]
                all_source[after, y, :n_i] = all_source[now, x, :n_i]
                all_target[after, y, :n_j] = all_target[now, x, :n_j]
                all_totals[after, y] = all_totals[now, x]
                all_crossings[after, y, :n] = all_crossings[now, x, :n]
                add_link(
                    row, column, all_bits[after, y, :w], all_source[after, y, :n_i], all_target[after, y, :n_j],
                    all_totals[after, y], all_crossings[after, y, :n], c,
                )  # fmt: skip
            for y in range(kept):
                score[y] = kept_score[y]
                hashes[y] = kept_hash[y]
            alive = kept
            now = 1 - now
        sizes[k - base] = listed
        at = bit_starts[k - base]
        for y in range(listed):
            scores[k - base, y] = list_score[ranks[y]]
            bits_out[at + y * w : at + (y + 1) * w] = list_bits[ranks[y], :w]


@kernel
def list_features(
    k0, k1, base, s_offsets, t_offsets, starts, rows, columns, neighbours, values, s_words, t_words,
    active, n_best, bit_starts, bits_in, sizes, out,
):  # fmt: skip
    """Write the features (float64 [sentences, n_best, FEATURES]) of the alignments that `search_block` found.

    Links are added by row and column, whatever the order in which they were found.
    """
    most = 1
    longest_s = 1
    longest_t = 1
    for k in range(k0, k1):
        most = max(most, starts[k - base + 1] - starts[k - base])
        longest_s = max(longest_s, s_offsets[k + 1] - s_offsets[k])
        longest_t = max(longest_t, t_offsets[k + 1] - t_offsets[k])
    change = np.zeros(FEATURES)
    order = np.empty(most, np.int32)
    all_bits = np.empty((most + 63) // 64, np.uint64)
    all_source = np.empty((longest_s, 3), np.int32)
    all_target = np.empty((longest_t, 3), np.int32)
    totals = np.empty(TOTALS, np.int32)
    all_crossings = np.empty(most, np.int32)
    for k in range(k0, k1):
        a, b = starts[k - base], starts[k - base + 1]
        n = b - a
        w = (n + 63) // 64
        n_i, n_j = s_offsets[k + 1] - s_offsets[k], t_offsets[k + 1] - t_offsets[k]
        row, column, around = rows[a:b], columns[a:b], neighbours[a:b]
        sw = s_words[s_offsets[k] - s_offsets[base] :][:n_i]
        tw = t_words[t_offsets[k] - t_offsets[base] :][:n_j]
        for y in range(sizes[k - base]):
            at = bit_starts[k - base] + y * w
            size = 0
            for c in range(n):
                if is_linked(bits_in[at : at + w], c) == 1:
                    order[size] = c
                    size += 1
            replay(
                active, sw, tw, row, column, around, values[a:b], order[:size], change, all_bits[:w],
                all_source[:n_i], all_target[:n_j], totals, all_crossings[:n], out[k - base, y],
            )  # fmt: skip


@kernel
def collect_links(starts, n_best, bit_starts, bits, sizes, rows, columns, rank, counts, pairs):
    """Write the links of each sentence's alignment of a rank (0 the best); return how many there are in all.

    ``pairs`` (int32 [n, 2]) may be empty, to count: ``counts`` (int64 [sentences]) is written either way.
    """
    total = 0
    writing = pairs.shape[0] > 0
    for k in range(starts.shape[0] - 1):
        a = starts[k]
        n = starts[k + 1] - a
        w = (n + 63) // 64
        begun = total
        if rank < sizes[k]:
            at = bit_starts[k] + rank * w
            for c in range(n):
                if is_linked(bits[at : at + w], c) == 1:
                    if writing:
                        pairs[total, 0] = rows[a + c]
                        pairs[total, 1] = columns[a + c]
                    total += 1
        counts[k] = total - begun
    return total


@kernel
def list_counts(starts, n_best, bit_starts, bits, sizes, sure, possible, counts):
    """Count each listed alignment's links, sure links and possible links (int32 [sentences, n_best, 3]).

    ``sure`` and ``possible`` (uint8 [candidates]) say which candidates the gold has.
    """
    for k in range(starts.shape[0] - 1):
        a = starts[k]
        n = starts[k + 1] - a
        w = (n + 63) // 64
        for y in range(sizes[k]):
            at = bit_starts[k] + y * w
            links, in_sure, in_possible = 0, 0, 0
            for c in range(n):
                if is_linked(bits[at : at + w], c) == 1:
                    links += 1
                    in_sure += sure[a + c]
                    in_possible += possible[a + c]
            counts[k, y, 0] = links
            counts[k, y, 1] = in_sure
            counts[k, y, 2] = in_possible
