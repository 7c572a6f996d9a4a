"""Compiled: Gibbs sampling over HMM jumps and fertilities (after Östling & Tiedemann 2016).

One direction at a time: every word ``j`` of the *observed* sentence is linked to a position ``i`` of the
*conditioning* sentence or to NULL (-1). Positions are limited to candidates, those that the HMM gives some
mass. The weight of a candidate given everything else is

    (n(e, f) + alpha) / (n(e) + alpha T(e)) * J(i - p) J(q - i) * (N(e, phi + 1) + a) / (N(e, phi) + a) * (1 - p0)

with ``p`` and ``q`` the positions of the nearest linked words before and after, ``J`` the jump distribution, ``phi``
the fertility that the position has without this word, and ``N(e, k)`` how often the word had fertility ``k``.
"""

import numpy as np

from aligntools.aligning.text.kernels_cooccurrence import find_entry
from aligntools.ground.compiling import kernel

#: Candidate positions kept a word.
CANDIDATES = 8
#: Jumps beyond this share a count.
JUMPS = 50
#: Fertilities from this on share a count.
FERTILITIES = 10
#: Concentration of the priors over jumps and fertilities (Östling & Tiedemann 2016).
JUMP_PRIOR = 0.5
FERTILITY_PRIOR = 0.5
#: Concentration of the lexical prior, a pair.
LEXICAL_PRIOR = 0.001


@kernel(inline=True)
def random_unit(state):
    """Advance a splitmix64 generator (uint64 [1]) and return a float in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel(inline=True)
def sentence_seed(tokens, offsets, other_tokens, other_offsets, k, known, other_known):
    """Hash a sentence pair's words; words from ``known`` on (not in the model) all count as one."""
    h = np.uint64(1469598103934665603)
    for p in range(offsets[k], offsets[k + 1]):
        h = (h ^ np.uint64(min(tokens[p], known))) * np.uint64(1099511628211)
    h = (h ^ np.uint64(0xFFFFFFFF)) * np.uint64(1099511628211)
    for p in range(other_offsets[k], other_offsets[k + 1]):
        h = (h ^ np.uint64(min(other_tokens[p], other_known))) * np.uint64(1099511628211)
    return h


@kernel
def candidates_block(
    k0, k1, base, source_tokens, source_offsets, target_tokens, target_offsets, cell_offsets, posteriors,
    ptr, ids, forward, least, sure, state, sizes, positions, entries, masses,
):  # fmt: skip
    """List each observed word's candidate positions, most probable first, and start the sampler's state.

    Parameters
    ----------
    posteriors : float32 [cells]; this direction's, in ``I x J`` matrices.
    forward : bool
        Whether the target side is observed (else the source side).
    least : float
        Positions of a lower posterior are no candidates; nor are pairs that the table does not have.
    sure : float
        A word with one candidate of a higher posterior is not sampled.
    state : int16 [observed tokens of the chunk], output
        The most probable of the candidates and NULL (-1).
    sizes : int8 [tokens]; positions : int16 [tokens, CANDIDATES]; entries : int32; masses : float32, outputs
        ``sizes`` is negative for words that are not sampled and keep the HMM's posteriors: the sure ones, and those
        whose most probable pair the table does not have (a word that the model does not know; entry -1).
    """
    o_offsets = target_offsets if forward else source_offsets
    c_offsets = source_offsets if forward else target_offsets
    for k in range(k0, k1):
        sb, tb = source_offsets[k], target_offsets[k]
        n_j = target_offsets[k + 1] - tb
        b = cell_offsets[k - base]
        n_obs = o_offsets[k + 1] - o_offsets[k]
        n_con = c_offsets[k + 1] - c_offsets[k]
        at = o_offsets[k] - o_offsets[base]
        for o in range(n_obs):
            n = 0
            total = np.float32(0.0)
            for c in range(n_con):
                m = posteriors[b + c * n_j + o] if forward else posteriors[b + o * n_j + c]
                total += m
                if m < least or (n == CANDIDATES and m <= masses[at + o, n - 1]):
                    continue
                x = n if n < CANDIDATES else n - 1
                while x > 0 and masses[at + o, x - 1] < m:
                    if x < CANDIDATES:
                        masses[at + o, x] = masses[at + o, x - 1]
                        positions[at + o, x] = positions[at + o, x - 1]
                    x -= 1
                masses[at + o, x] = m
                positions[at + o, x] = c
                n = min(n + 1, CANDIDATES)
            kept = 0
            for x in range(n):
                c = positions[at + o, x]
                if forward:
                    entry = find_entry(ptr, ids, source_tokens[sb + c], target_tokens[tb + o])
                else:
                    entry = find_entry(ptr, ids, source_tokens[sb + o], target_tokens[tb + c])
                if entry < 0 and x == 0:  # the model cannot weigh its best candidate: leave it to the HMM
                    kept = -n
                    for y in range(n):
                        entries[at + o, y] = -1
                    break
                if entry >= 0:
                    positions[at + o, kept] = c
                    masses[at + o, kept] = masses[at + o, x]
                    entries[at + o, kept] = entry
                    kept += 1
            if kept == 1 and masses[at + o, 0] > sure:
                kept = -1
            sizes[at + o] = kept
            state[at + o] = -1
            if kept != 0 and masses[at + o, 0] >= np.float32(1.0) - total:
                state[at + o] = positions[at + o, 0]


@kernel(inline=True)
def jump_slot(d):
    """Return the jump's place among the counts."""
    return min(max(d, -JUMPS), JUMPS) + JUMPS


@kernel(inline=True)
def add_sentence(o0, n_obs, n_con, c_words, o_words, state, sizes, positions, entries, sign,
                 pair_counts, word_counts, null_counts, jump_counts, fertility_counts, fertility):  # fmt: skip
    """Add (or with ``sign`` -1 remove) one sentence's sampled links to the counts.

    ``word_counts`` has two more places at its end: all words from NULL, and all jumps.
    """
    fertility[:n_con] = 0
    last = -1
    for o in range(n_obs):
        c = state[o0 + o]
        if c < 0:
            null_counts[o_words[o]] += sign
            word_counts[-2] += sign
            continue
        for x in range(abs(sizes[o0 + o])):
            if positions[o0 + o, x] == c and entries[o0 + o, x] >= 0:
                pair_counts[entries[o0 + o, x]] += sign
        word_counts[c_words[c]] += sign
        fertility[c] += 1
        jump_counts[jump_slot(c - last)] += sign
        word_counts[-1] += sign
        last = c
    jump_counts[jump_slot(n_con - last)] += sign
    word_counts[-1] += sign
    for c in range(n_con):
        fertility_counts[c_words[c], min(fertility[c], FERTILITIES - 1)] += sign


@kernel
def sweep(
    k0, k1, base, c_tokens, c_offsets, o_tokens, o_offsets, state, sizes, positions, entries,
    pair_counts, word_counts, word_types, null_counts, jump_counts, fertility_counts, p_null, alpha,
    sweeps, burn, frozen, own_seed, generator, known_c, known_o, masses,
    mean_pairs, mean_jumps, mean_fertility,
):  # fmt: skip
    """Resample the links of sentences ``k0..k1``, ``sweeps`` times.

    Parameters
    ----------
    frozen : bool
        Leave the counts as they are (applying a model); then sentence after sentence takes all its sweeps, from
        a generator seeded by the sentence itself. Else the counts follow the state, and a sweep goes
        through all sentences.
    burn : int
        Sweeps before collecting begins.
    masses : float32 [tokens, CANDIDATES], output
        The conditional distributions averaged over the collecting sweeps: link marginals.
    mean_pairs, mean_jumps, mean_fertility : added to while collecting and not frozen.
    """
    longest = 1
    for k in range(k0, k1):
        longest = max(longest, c_offsets[k + 1] - c_offsets[k])
    fertility = np.zeros(longest, np.int64)
    weights = np.empty(CANDIDATES + 1, np.float64)
    most = 1
    for k in range(k0, k1):
        most = max(most, o_offsets[k + 1] - o_offsets[k])
    own = np.empty((most if frozen else 1, CANDIDATES), np.float64)
    null_types = np.float64(null_counts.shape[0])
    share = 1.0 / max(sweeps - burn, 1)
    o_base = o_offsets[base]
    outer = 1 if frozen else sweeps
    inner = sweeps if frozen else 1
    if not frozen:
        for p in range(o_offsets[k0] - o_base, o_offsets[k1] - o_base):
            if sizes[p] < 0 and entries[p, 0] >= 0:
                mean_pairs[entries[p, 0]] += masses[p, 0]
                continue
            for x in range(CANDIDATES):
                masses[p, x] = 0.0
    for outer_round in range(outer):
        for k in range(k0, k1):
            n_obs = o_offsets[k + 1] - o_offsets[k]
            n_con = c_offsets[k + 1] - c_offsets[k]
            if n_obs == 0 or n_con == 0:
                continue
            o0 = o_offsets[k] - o_base
            c_words = c_tokens[c_offsets[k] :][:n_con]
            o_words = o_tokens[o_offsets[k] :][:n_obs]
            fertility[:n_con] = 0
            for o in range(n_obs):
                if state[o0 + o] >= 0:
                    fertility[state[o0 + o]] += 1
            if frozen:
                for o in range(n_obs):
                    for x in range(max(sizes[o0 + o], 0)):
                        own[o, x] = masses[o0 + o, x]
                        masses[o0 + o, x] = 0.0
                generator[0] = sentence_seed(
                    c_tokens, c_offsets, o_tokens, o_offsets, k, known_c, known_o
                ) ^ own_seed  # fmt: skip
            for inner_round in range(inner):
                collecting = outer_round + inner_round >= burn
                before = -1
                after_at = -1
                after = n_con
                for o in range(n_obs):
                    old = state[o0 + o]
                    n = sizes[o0 + o]
                    if after_at <= o:
                        after_at = o + 1
                        while after_at < n_obs and state[o0 + after_at] < 0:
                            after_at += 1
                        after = n_con if after_at >= n_obs else state[o0 + after_at]
                    if n <= 0:
                        if old >= 0:
                            before = old
                        continue
                    word = o_words[o]
                    if old >= 0:
                        fertility[old] -= 1
                    if not frozen:
                        if old >= 0:
                            e = c_words[old]
                            for x in range(n):
                                if positions[o0 + o, x] == old:
                                    pair_counts[entries[o0 + o, x]] -= 1
                            word_counts[e] -= 1
                            jump_counts[jump_slot(old - before)] -= 1
                            jump_counts[jump_slot(after - old)] -= 1
                            word_counts[-1] -= 2
                            phi = fertility[old]
                            fertility_counts[e, min(phi + 1, FERTILITIES - 1)] -= 1
                            fertility_counts[e, min(phi, FERTILITIES - 1)] += 1
                        else:
                            null_counts[word] -= 1
                            word_counts[-2] -= 1
                            jump_counts[jump_slot(after - before)] -= 1
                            word_counts[-1] -= 1
                    total = 0.0
                    jump_total = word_counts[-1] + JUMP_PRIOR * (2 * JUMPS + 1)
                    for x in range(n):
                        c = positions[o0 + o, x]
                        e = c_words[c]
                        phi = fertility[c]
                        n_pair = np.float64(pair_counts[entries[o0 + o, x]])
                        n_word = np.float64(word_counts[e])
                        n_more = np.float64(fertility_counts[e, min(phi + 1, FERTILITIES - 1)])
                        n_same = np.float64(fertility_counts[e, min(phi, FERTILITIES - 1)])
                        if frozen:
                            n_pair = max(n_pair - own[o, x], 0.0)
                            n_word = max(n_word - own[o, x], n_pair)
                            if c == old:
                                n_more = max(n_more - 1.0, 0.0)
                            else:
                                n_same = max(n_same - 1.0, 0.0)
                        else:
                            n_same -= 1.0  # this position itself, which has that fertility without the word
                        if phi >= FERTILITIES - 1:
                            n_more = n_same  # both share a count
                        w = (n_pair + alpha) / (n_word + alpha * word_types[e])
                        w *= jump_counts[jump_slot(c - before)] + JUMP_PRIOR
                        w *= jump_counts[jump_slot(after - c)] + JUMP_PRIOR
                        w *= (n_more + FERTILITY_PRIOR) / (n_same + FERTILITY_PRIOR)
                        w *= (1.0 - p_null) / jump_total
                        weights[x] = w
                        total += w
                    w = p_null * (null_counts[word] + alpha) / (word_counts[-2] + alpha * null_types)
                    w *= jump_counts[jump_slot(after - before)] + JUMP_PRIOR
                    total += w
                    u = random_unit(generator) * total
                    new = -1
                    chosen = -1
                    for x in range(n):
                        u -= weights[x]
                        if u < 0.0:
                            new = positions[o0 + o, x]
                            chosen = entries[o0 + o, x]
                            break
                    if frozen:
                        seen = 1.0 / (inner_round + 2.0)
                        for x in range(n):
                            own[o, x] += (weights[x] / total - own[o, x]) * seen
                    if collecting:
                        r = share / total
                        for x in range(n):
                            m = np.float32(weights[x] * r)
                            masses[o0 + o, x] += m
                            if not frozen:
                                mean_pairs[entries[o0 + o, x]] += m
                    state[o0 + o] = new
                    if new >= 0:
                        fertility[new] += 1
                    if not frozen:
                        if new >= 0:
                            e = c_words[new]
                            pair_counts[chosen] += 1
                            word_counts[e] += 1
                            jump_counts[jump_slot(new - before)] += 1
                            jump_counts[jump_slot(after - new)] += 1
                            word_counts[-1] += 2
                            phi = fertility[new]
                            fertility_counts[e, min(phi - 1, FERTILITIES - 1)] -= 1
                            fertility_counts[e, min(phi, FERTILITIES - 1)] += 1
                        else:
                            null_counts[word] += 1
                            word_counts[-2] += 1
                            jump_counts[jump_slot(after - before)] += 1
                            word_counts[-1] += 1
                    if new >= 0:
                        before = new
                if collecting and not frozen:
                    last = -1
                    for o in range(n_obs):
                        c = state[o0 + o]
                        if c >= 0:
                            mean_jumps[jump_slot(c - last)] += share
                            last = c
                    mean_jumps[jump_slot(n_con - last)] += share
                    for c in range(n_con):
                        mean_fertility[c_words[c], min(fertility[c], FERTILITIES - 1)] += share


@kernel
def add_chunk(k0, k1, base, c_tokens, c_offsets, o_tokens, o_offsets, state, sizes, positions, entries, sign,
              pair_counts, word_counts, null_counts, jump_counts, fertility_counts):  # fmt: skip
    """Add the sampled links of sentences ``k0..k1`` to the counts."""
    longest = 1
    for k in range(k0, k1):
        longest = max(longest, c_offsets[k + 1] - c_offsets[k])
    fertility = np.zeros(longest, np.int64)
    for k in range(k0, k1):
        n_obs = o_offsets[k + 1] - o_offsets[k]
        n_con = c_offsets[k + 1] - c_offsets[k]
        if n_obs > 0 and n_con > 0:
            add_sentence(
                o_offsets[k] - o_offsets[base], n_obs, n_con, c_tokens[c_offsets[k] :][:n_con],
                o_tokens[o_offsets[k] :][:n_obs], state, sizes, positions, entries, sign, pair_counts,
                word_counts, null_counts, jump_counts, fertility_counts, fertility,
            )  # fmt: skip
