"""Compiled: Gibbs sampling over HMM jumps and fertilities (after Östling & Tiedemann 2016).

One direction at a time: every word ``j`` of the *observed* sentence is linked to a position ``i`` of the
*conditioning* sentence or to NULL (-1). Positions are limited to candidates, those that the HMM gives some
mass. The weight of a candidate given everything else is

    (n(e, f) + alpha) / (n(e) + alpha T(e)) * J_p(i - p) J_i(q - i) * (N(e, phi + 1) + a) / (N(e, phi) + a) * (1 - p0)

with ``p`` and ``q`` the positions of the nearest linked words before and after, ``phi`` the fertility that the position
has without this word, and ``N(e, k)`` how often the word had fertility ``k``. Jumps depend on the word that they leave
from: frequent words have a row of counts ``n(r, d)`` each, all others share one, and the sentence's beginning has one.
``J_p(d)`` is ``(n(r, d) + kappa J(d)) / (n(r) + kappa)`` with ``r`` the row of the word at ``p`` and ``J(d)`` the jumps
of all rows, smoothed.
"""

from typing import NamedTuple

import numpy as np

from aligntools.aligning.models.kernels_link_counts import (
    CANDIDATES,
    FERTILITIES,
    JUMPS,
    collect_counts,
    collect_fertility,
    collect_jumps,
    collect_pairs,
    count_link,
    count_null,
    entry_of,
    jump_row,
    jump_slot,
    sentence_of,
    start_collecting,
)
from aligntools.aligning.text.kernels_cooccurrence import find_entry
from aligntools.ground.compiler import kernel
from aligntools.ground.kernels_random import random_unit

#: Concentration of the priors over jumps and fertilities (Östling & Tiedemann 2016).
JUMP_PRIOR = 0.5
FERTILITY_PRIOR = 0.5
#: How many jumps, spread as those of all words, a row of jumps is smoothed with.
ROW_PRIOR = 20.0
#: Concentration of the lexical prior, a pair.
LEXICAL_PRIOR = 0.001


class SamplerScratch(NamedTuple):
    """What `sweep` works with: a sentence's fertilities, a word's weights, and the words' own part of the counts.

    fertility (int64 [given words of the longest sentence]), weights (float64 [CANDIDATES]), own (float64 [observed
        words of the longest sentence, CANDIDATES]).
    """

    fertility: np.ndarray
    weights: np.ndarray
    own: np.ndarray


@kernel(inline=True)
def jump_share(row, slot, spread, jumps):
    """Return a jump's probability times (the row's sum + ROW_PRIOR).

    ``spread`` is ROW_PRIOR over the sum of all jumps and their prior.
    """
    return jumps[row, slot] + spread * (jumps[jumps.shape[0] - 1, slot] + JUMP_PRIOR)


@kernel(part=True)
def conditional(o, old, before, after, given, observed, here, counts, fertility, own, p_null, alpha, frozen, weights):
    """Write the weight of each of a word's candidates given all other links (see above); return their sum and NULL's.

    What is the same for all is left out: the sum of the jumps from ``before``.

    old (int): The position that the word was linked to, or -1.
    before, after (int): Positions of the nearest linked words before and after.
    fertility (int64 [n_given]): Each position's, without the word.
    own (float64 [CANDIDATES]): With ``frozen``, how much of the candidates' counts is the word's own: it is taken off.
    weights (float64 [>= candidates], output).
    """
    total = 0.0
    jumps, row_sum = counts.jumps, 2 * JUMPS + 1
    row = jump_row(before, given, counts.jump_rows, jumps)
    spread = ROW_PRIOR / (jumps[jumps.shape[0] - 1, row_sum] + JUMP_PRIOR * (2 * JUMPS + 1))
    for x in range(here.sizes[o]):
        c = here.positions[o, x]
        e = given[c]
        phi = fertility[c]
        n_pair = np.float64(counts.pairs[here.entries[o, x]])
        n_word = np.float64(counts.words[e])
        n_more = np.float64(counts.fertility[e, min(phi + 1, FERTILITIES - 1)])
        n_same = np.float64(counts.fertility[e, min(phi, FERTILITIES - 1)])
        if frozen:
            n_pair = max(n_pair - own[x], 0.0)
            n_word = max(n_word - own[x], n_pair)
            if c == old:
                n_more = max(n_more - 1.0, 0.0)
            else:
                n_same = max(n_same - 1.0, 0.0)
        else:
            n_same -= 1.0  # this position itself, which has that fertility without the word
        if phi >= FERTILITIES - 1:
            n_more = n_same  # both share a count
        own_row = np.int64(counts.jump_rows[e])
        w = (1.0 - p_null) * (n_pair + alpha)
        w /= (n_word + alpha * counts.types[e]) * (jumps[own_row, row_sum] + ROW_PRIOR)
        w *= jump_share(row, jump_slot(c - before), spread, jumps)
        w *= jump_share(own_row, jump_slot(after - c), spread, jumps)
        w *= (n_more + FERTILITY_PRIOR) / (n_same + FERTILITY_PRIOR)
        weights[x] = w
        total += w
    null_types = np.float64(counts.null.shape[0])
    w = p_null * (counts.null[observed[o]] + alpha) / (counts.words[-1] + alpha * null_types)
    w *= jump_share(row, jump_slot(after - before), spread, jumps)
    return total + w


@kernel(part=True)
def draw(u, n, weights):
    """Return which of ``n`` candidates ``u`` (from 0 to the sum of all weights) falls on, or -1 for NULL."""
    for x in range(n):
        u -= weights[x]
        if u < 0.0:
            return x
    return -1


@kernel(part=True)
def resample_sentence(given, observed, here, counts, p_null, alpha, frozen, generator, scratch, round_, share):
    """Resample the links of one sentence, word by word.

    scratch (SamplerScratch): Its fertilities are the state's, and kept so.
    round_ (int): The sweep, from 0 on.
    share (float): What a collected sweep counts; 0 for one that is not collected.
    Others are those of `sweep` and `conditional`.
    """
    n_obs, n_con = observed.shape[0], given.shape[0]
    fertility, weights, own = scratch.fertility, scratch.weights, scratch.own
    before = -1
    after_at = -1
    after = n_con
    for o in range(n_obs):
        old = here.state[o]
        n = here.sizes[o]
        if after_at <= o:
            after_at = o + 1
            while after_at < n_obs and here.state[after_at] < 0:
                after_at += 1
            after = n_con if after_at >= n_obs else here.state[after_at]
        if n <= 0:
            if old >= 0:
                before = old
            continue
        positions, entries = here.positions[o], here.entries[o]
        if old >= 0:
            fertility[old] -= 1
        if not frozen:
            if old >= 0:
                entry = entry_of(old, n, positions, entries)
                count_link(-1.0, old, given, entry, before, after, fertility[old], counts)
            else:
                count_null(-1.0, observed[o], given, before, after, counts)
        total = conditional(
            o, old, before, after, given, observed, here, counts, fertility, own[o], p_null, alpha, frozen, weights
        )
        chosen = draw(random_unit(generator) * total, n, weights)
        if frozen:
            seen = 1.0 / (round_ + 2.0)
            for x in range(n):
                own[o, x] += (weights[x] / total - own[o, x]) * seen
        if share > 0.0:
            r = share / total
            for x in range(n):
                here.masses[o, x] += np.float32(weights[x] * r)
        if chosen < 0:
            here.state[o] = -1
            if not frozen:
                count_null(1.0, observed[o], given, before, after, counts)
            continue
        new = positions[chosen]
        here.state[o] = new
        if not frozen:
            count_link(1.0, new, given, entries[chosen], before, after, fertility[new], counts)
        fertility[new] += 1
        before = new


@kernel(part=True)
def start_frozen(here, own):
    """Take what the HMM gives candidates for what is a sentence's own in the counts; put their marginals to 0."""
    for o in range(here.state.shape[0]):
        for x in range(max(here.sizes[o], 0)):
            own[o, x] = here.masses[o, x]
            here.masses[o, x] = 0.0


@kernel(owning=False)
def sweep(
    k0,
    k1,
    text,
    sampled,
    counts,
    means,
    p_null,
    alpha,
    sweeps,
    burn,
    frozen,
    own_seed,
    generator,
    known_given,
    known_observed,
    scratch,
):
    """Resample the links of sentences ``k0..k1``, ``sweeps`` times.

    text (Directed).
    sampled: Its ``masses`` are on return the conditional distributions averaged over the collecting sweeps: link
        marginals.
    counts (LinkCounts).
    means (LinkMeans): Added to while collecting and not frozen.
    p_null, alpha (float): Share of words from NULL; concentration of the lexical prior, a pair.
    burn (int): Sweeps before collecting begins.
    frozen (bool): Leave the counts as they are (applying a model); then sentence after sentence takes all its sweeps,
        from a generator seeded by the sentence itself and ``own_seed``. Else the counts follow the state, and a sweep
        goes through all sentences.
    generator (uint64 [1]).
    known_given, known_observed (int): Words from there on are not in the model; with ``frozen``.
    scratch (SamplerScratch).
    """
    given_offsets, observed_offsets = text.given_offsets, text.observed_offsets
    fertility = scratch.fertility
    share = 1.0 / max(sweeps - burn, 1)
    o_base = observed_offsets[text.base]
    first, last = observed_offsets[k0] - o_base, observed_offsets[k1] - o_base
    if not frozen:
        start_collecting(first, last, sampled)
        collect_counts(-1.0, counts.jumps, means.jumps)  # what other sentences have; those of these come back below
    for outer in range(1 if frozen else sweeps):
        for k in range(k0, k1):
            n_obs = observed_offsets[k + 1] - observed_offsets[k]
            n_con = given_offsets[k + 1] - given_offsets[k]
            if n_obs == 0 or n_con == 0:
                continue
            given, observed = text.given[given_offsets[k] :][:n_con], text.observed[observed_offsets[k] :][:n_obs]
            here = sentence_of(sampled, observed_offsets[k] - o_base, n_obs)
            fertility[:n_con] = 0
            for o in range(n_obs):
                if here.state[o] >= 0:
                    fertility[here.state[o]] += 1
            if not frozen and outer == 0:
                collect_jumps(given, here.state, counts.jump_rows, means.jumps)
            if frozen:
                start_frozen(here, scratch.own)
                generator[0] = sentence_seed(given, observed, known_given, known_observed) ^ own_seed
            for inner in range(sweeps if frozen else 1):
                collecting = outer + inner >= burn
                resample_sentence(
                    given,
                    observed,
                    here,
                    counts,
                    p_null,
                    alpha,
                    frozen,
                    generator,
                    scratch,
                    inner,
                    share if collecting else 0.0,
                )
                if collecting and not frozen:
                    collect_fertility(given, fertility, share, means.fertility)
        if not frozen and outer >= burn:
            collect_counts(share, counts.jumps, means.jumps)
    if not frozen:
        collect_pairs(first, last, sampled, means.pairs)


@kernel(inline=True)
def sentence_seed(given, observed, known_given, known_observed):
    """Hash a sentence pair's words; words from ``known`` on (not in the model) all count as one."""
    h = np.uint64(1469598103934665603)
    for c in range(given.shape[0]):
        h = (h ^ np.uint64(min(given[c], known_given))) * np.uint64(1099511628211)
    h = (h ^ np.uint64(0xFFFFFFFF)) * np.uint64(1099511628211)
    for o in range(observed.shape[0]):
        h = (h ^ np.uint64(min(observed[o], known_observed))) * np.uint64(1099511628211)
    return h


@kernel(part=True)
def insert_candidate(c, m, n, positions, masses):
    """Insert a position by its posterior among a word's ``n`` candidates; return how many there are now."""
    x = n if n < CANDIDATES else n - 1
    while x > 0 and masses[x - 1] < m:
        if x < CANDIDATES:
            masses[x] = masses[x - 1]
            positions[x] = positions[x - 1]
        x -= 1
    masses[x] = m
    positions[x] = c
    return min(n + 1, CANDIDATES)


@kernel(owning=False)
def candidates_block(k0, k1, pairs, posteriors, ptr, ids, forward, least, sure, sampled):
    """List each observed word's candidate positions, most probable first, and start the sampler's state.

    posteriors (float32 [cells]): This direction's, in ``I x J`` matrices.
    ptr, ids: The table's pairs of words.
    forward (bool): Whether the target side is observed (else the source side).
    least (float): Positions of a lower posterior are no candidates; nor are pairs that the table does not have.
    sure (float): A word with one candidate of a higher posterior is not sampled.
    sampled (Sampled, output): The state is the most probable of the candidates and NULL.
    """
    s_tokens, t_tokens = pairs.s_tokens, pairs.t_tokens
    o_offsets = pairs.t_offsets if forward else pairs.s_offsets
    c_offsets = pairs.s_offsets if forward else pairs.t_offsets
    for k in range(k0, k1):
        sb, tb = pairs.s_offsets[k], pairs.t_offsets[k]
        n_j = pairs.t_offsets[k + 1] - tb
        b = pairs.cell_offsets[k - pairs.base]
        n_con = c_offsets[k + 1] - c_offsets[k]
        for o in range(o_offsets[k + 1] - o_offsets[k]):
            at = o_offsets[k] - o_offsets[pairs.base] + o
            positions, entries, masses = sampled.positions[at], sampled.entries[at], sampled.masses[at]
            n = 0
            total = np.float32(0.0)
            for c in range(n_con):
                m = posteriors[b + c * n_j + o] if forward else posteriors[b + o * n_j + c]
                total += m
                if not (m < least or (n == CANDIDATES and m <= masses[n - 1])):
                    n = insert_candidate(c, m, n, positions, masses)
            kept = 0
            for x in range(n):
                c = positions[x]
                i, j = (c, o) if forward else (o, c)
                entry = find_entry(ptr, ids, s_tokens[sb + i], t_tokens[tb + j])
                if entry < 0 and x == 0:  # the model cannot weigh its best candidate: leave it to the HMM
                    kept = -n
                    entries[:n] = -1
                    break
                if entry >= 0:
                    positions[kept] = c
                    masses[kept] = masses[x]
                    entries[kept] = entry
                    kept += 1
            if kept == 1 and masses[0] > sure:
                kept = -1
            sampled.sizes[at] = kept
            sampled.state[at] = -1
            if kept != 0 and masses[0] >= np.float32(1.0) - total:
                sampled.state[at] = positions[0]
