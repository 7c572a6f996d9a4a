"""Compiled: E-steps of IBM 3 and IBM 4, over the neighbours of the alignment that is climbed to from the HMM's."""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.models.kernels_cepts import (
    LEAST_GAIN,
    ROUNDS,
    cepts_for,
    change_score,
    changed,
    climb,
    count_distances,
    gather_cepts,
    log_probability,
    refresh,
)
from aligntools.aligning.models.kernels_hmm import emissions_of, hmm_sentence, rows_for
from aligntools.aligning.models.kernels_jumps import padded
from aligntools.aligning.models.kernels_positions import write_prior
from aligntools.aligning.text.kernels_pairs import longest_sentence
from aligntools.ground.compiler import kernel

#: Neighbours whose probability over the alignment's has a smaller logarithm are passed over.
LEAST = -14.0
#: Words are pegged to positions whose move has at least this probability, over the alignment's.
PEGGED = 0.02
#: A sentence with more neighbours keeps the HMM's posteriors and links: those of 250 words beside 250 are fewer.
MOST = 100_000
#: The least probability of a word.
_TINY = 1e-30


class Ways(NamedTuple):
    """What is done with a sentence.

    relative: IBM 4, else IBM 3.
    climbs: False: the HMM's posteriors stay, and its links are counted.
    pegs: Climb again with each word pegged to each place that is not far from the best.
    paths: Give the links of the best alignment alone.
    counts: Sum distances.
    """

    relative: bool
    climbs: bool
    pegs: bool
    paths: bool
    counts: bool


class Neighbours(NamedTuple):
    """The neighbours that are not passed over: a move of ``word`` to ``there``, or with -1 - w its swap with word w.

    ``weight`` is their probability over the alignment's.
    """

    word: np.ndarray
    there: np.ndarray
    weight: np.ndarray


@kernel(inline=True, owning=False)
def neighbours_of(cepts, scores, n_given, n_observed, tables, relative, found, posterior, counts):
    """Find the neighbours of an alignment that no change improves, and the posteriors over it and them.

    found (Neighbours, output), posterior (float32 [n_observed, n_given + 1], output).
    Returns n: Neighbours found.
    Returns total: Their probability and the alignment's, over the alignment's.
    """
    n, total = 0, 1.0
    for o in range(n_observed):
        for g in range(n_given + 1):
            posterior[o, g] = 0.0
        for x in range(n_given + n_observed - o):
            score = change_score(cepts, scores, n_given, o, x, LEAST, tables, relative, counts)
            if score > LEAST:
                found.word[n], found.weight[n] = o, np.exp(score)
                found.there[n] = x if x <= n_given else -1 - (o + x - n_given)
                total += found.weight[n]
                n += 1
    for o in range(n_observed):
        posterior[o, cepts.links[o]] = 1.0
    for x in range(n):
        o, there, share = np.int64(found.word[x]), np.int64(found.there[x]), found.weight[x] / total
        i = np.int64(cepts.links[o])
        g = there if there >= 0 else np.int64(cepts.links[-1 - there])
        posterior[o, i] -= share
        posterior[o, g] += share
        if there < 0:
            posterior[-1 - there, g] -= share
            posterior[-1 - there, i] += share
    return n, total


@kernel(part=True)
def count_neighbours(cepts, n_given, tables, found, n, total, relative, fewer, more, k, counts):
    """Count fertilities and, with ``relative``, IBM 4's distances over an alignment and its neighbours.

    found, n, total: What `neighbours_of` gave.
    fewer, more (float32 [n_given], added to): Probability of one word less in each cept, and of one more.
    k (int): The sentence, within its chunk.
    """
    if relative:
        count_distances(cepts, n_given, tables, counts)
    for x in range(n):
        o, there, share = np.int64(found.word[x]), np.int64(found.there[x]), found.weight[x] / total
        i = np.int64(cepts.links[o])
        g = there if there >= 0 else np.int64(cepts.links[-1 - there])
        if there >= 0:
            if i > 0:
                fewer[i - 1] += share
            else:
                counts.nulls[k] -= share
            if g > 0:
                more[g - 1] += share
            else:
                counts.nulls[k] += share
        if relative:
            p = -there if there < 0 else 0
            changed(cepts, n_given, i, o + 1, p, g, p, o + 1, tables, share, counts)


@kernel(part=True)
def copy_links(links, n_observed, out):
    """Copy an alignment."""
    for o in range(n_observed):
        out[o] = links[o]


@kernel(part=True)
def climb_all(
    cepts, scores, n_given, n_observed, given, tables, relative, pegs, rounds, found, posterior, best, counts
):
    """Climb; with ``pegs`` again with words pegged, one after another, to places not far from the best.

    The alignment is then the best one found.

    rounds (int): See `climb`.
    best (int32 [>= n_observed], scratch).
    """
    highest, n, x = -np.inf, 0, -1
    while x < n:
        o = -1
        if x >= 0:
            o, g = np.int64(found.word[x]), np.int64(found.there[x])
            if g < 0 or found.weight[x] < PEGGED:
                x += 1
                continue
            copy_links(best, n_observed, cepts.links)
            cepts.links[o] = g
        while True:
            climb(cepts, scores, n_given, n_observed, given, tables, relative, o, rounds, counts)
            if o < 0:
                break
            o = -1
        if not pegs:
            return
        reached = log_probability(cepts, scores, n_given, n_observed, given, tables, relative)
        if reached > highest + LEAST_GAIN:
            highest = reached
            copy_links(cepts.links, n_observed, best)
        if x < 0:
            n, _ = neighbours_of(cepts, scores, n_given, n_observed, tables, relative, found, posterior, counts)
        x += 1
    copy_links(best, n_observed, cepts.links)
    gather_cepts(cepts, n_given, n_observed)
    refresh(cepts, n_given, n_observed, given, tables, relative)


@kernel(part=True)
def write_scores(emissions, null_emissions, tables, relative, prior, n_given, n_observed, scores):
    """Write the scores of links [n_observed, n_given + 1]: of translations and, for IBM 3, of positions.

    emissions (float32 [n_observed, >= n_given]); null_emissions (float32 [>= n_observed]), prior (float32 [n_given,
        n_observed], scratch).
    """
    for o in range(n_observed):
        scores[o, 0] = np.log(max(null_emissions[o], _TINY))
        for g in range(n_given):
            scores[o, g + 1] = np.log(max(emissions[o, g], _TINY))
    if relative:
        return
    blocks = tables.positions
    longest = blocks.shape_of.shape[0] - 1
    shape = blocks.shape_of[min(n_observed, longest), min(n_given, longest)]
    columns, rows, start = 1, 0, 0
    if shape >= 0:
        columns, rows, start = (
            np.int64(blocks.shapes[shape, 0]),
            np.int64(blocks.shapes[shape, 1]),
            blocks.starts[shape],
        )
    write_prior(blocks.values[start : start + rows * columns], rows, columns, n_observed, n_given, 0.0, prior)
    for g in range(n_given):
        for o in range(n_observed):
            scores[o, g + 1] += np.log(max(prior[g, o], _TINY))


@kernel(part=True)
def start_links(posterior, n_given, n_observed, links):
    """Link each word as the HMM's posteriors have it, to its most probable position, or to NULL."""
    for o in range(n_observed):
        best, at, rest = np.float32(0.0), 0, np.float32(1.0)
        for g in range(n_given):
            rest -= posterior[o, g]
            if posterior[o, g] > best:
                best, at = posterior[o, g], g + 1
        links[o] = at if best >= rest else 0


@kernel(part=True)
def write_links(cepts, of_hmm, posterior, paths, climbs, forward, n_given, n_observed, own):
    """Write posteriors, or with ``paths`` the links alone, to a link matrix; the HMM's without ``climbs``."""
    for o in range(n_observed):
        for g in range(n_given):
            if paths:
                x = np.float32(1.0 if cepts.links[o] == g + 1 else 0.0)
            elif climbs:
                x = max(posterior[o, g + 1], np.float32(0.0))
            else:
                x = of_hmm[o, g]
            own[g * n_observed + o if forward else o * n_given + g] = x


@kernel
def cept_block(k0, k1, text, cells, forward, inverse, null, jumps, p_null, tables, ways, counts):
    """Replace the link matrices of sentences ``k0..k1`` by one direction's posteriors over neighbourhoods.

    text (Directed).
    cells (float32 [cells of the chunk]): Table values before normalization; on return ``p(link)``, or with
        ``ways.paths`` 1 for each link.
    inverse, null (float32 [n_words]): What normalizes each given word; probability of each observed one under NULL.
    jumps: Of this direction, with ``p_null`` the HMM's.
    counts (CeptCounts).
    """
    given_offsets, observed_offsets = text.given_offsets, text.observed_offsets
    width = padded(max(longest_sentence(k0, k1, given_offsets), longest_sentence(k0, k1, observed_offsets)))
    rows, null_e, best = rows_for(width, cells), np.empty(width, cells.dtype), np.empty(width, np.int32)
    cepts, unused = cepts_for(width), np.zeros((1, 2, 1))
    store = np.empty((6, 0), cells.dtype)
    found = Neighbours(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    for k in range(k0, k1):
        n_given, n_observed = given_offsets[k + 1] - given_offsets[k], observed_offsets[k + 1] - observed_offsets[k]
        if n_given == 0 or n_observed == 0:
            continue
        w = padded(n_given + 1)
        if n_observed * w > store.shape[1]:
            store = np.empty((6, n_observed * w), cells.dtype)
        room = n_observed * (n_given + 1) + n_observed * (n_observed - 1) // 2
        climbs = ways.climbs and room <= MOST
        if climbs and room > found.word.shape[0]:
            found = Neighbours(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room))
        given, observed = text.given[given_offsets[k] :][:n_given], text.observed[observed_offsets[k] :][:n_observed]
        begin = text.cell_offsets[k - text.base]
        own = cells[begin : begin + n_given * n_observed]
        hmm_width = padded(n_given)
        emissions, shifted, of_hmm = (
            store[0, : n_observed * hmm_width].reshape((n_observed, hmm_width)),
            store[1, : n_observed * hmm_width].reshape((n_observed, hmm_width)),
            store[2, : n_observed * hmm_width].reshape((n_observed, hmm_width)),
        )
        scores, posterior = (
            store[3, : n_observed * (n_given + 1)].reshape((n_observed, n_given + 1)),
            store[4, : n_observed * (n_given + 1)].reshape((n_observed, n_given + 1)),
        )
        emissions_of(own, forward, given, observed, inverse, null, emissions, null_e)
        log_hmm = hmm_sentence(emissions, null_e, n_given, p_null, jumps, None, rows, of_hmm, shifted, unused, False)
        start_links(of_hmm, n_given, n_observed, cepts.links)
        for g in range(n_given):
            cepts.given[g + 1] = tables.given_classes[given[g]]
        for o in range(n_observed):
            cepts.observed[o + 1] = tables.observed_classes[observed[o]]
        cepts.given[0] = 0
        a = given_offsets[k] - given_offsets[text.base]
        fewer, more = counts.fewer[a : a + n_given], counts.more[a : a + n_given]
        write_scores(
            emissions,
            null_e,
            tables,
            ways.relative,
            store[5, : n_observed * n_given].reshape((n_given, n_observed)),
            n_given,
            n_observed,
            scores,
        )
        climb_all(
            cepts,
            scores,
            n_given,
            n_observed,
            given,
            tables,
            ways.relative,
            ways.pegs and climbs,
            ROUNDS if climbs else 1,
            found,
            posterior,
            best,
            counts,
        )
        n, total = 0, 1.0
        if climbs and not ways.paths:
            n, total = neighbours_of(
                cepts, scores, n_given, n_observed, tables, ways.relative, found, posterior, counts
            )
        counts.loglik[k - text.base] = log_hmm
        if climbs:
            own_log = log_probability(cepts, scores, n_given, n_observed, given, tables, ways.relative)
            counts.loglik[k - text.base] = np.log(total) + own_log
        if ways.counts:
            counts.nulls[k - text.base] = cepts.fertility[0]
            for g in range(n_given):
                counts.fertility[a + g] = cepts.fertility[g + 1]
            count_neighbours(cepts, n_given, tables, found, n, total, ways.relative, fewer, more, k - text.base, counts)
        write_links(cepts, of_hmm, posterior, ways.paths, climbs, forward, n_given, n_observed, own)
