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

from aligntools.aligning.models.kernels_random import random_unit, sentence_seed
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
#: How many jumps, spread as those of all words, a row of jumps is smoothed with.
ROW_PRIOR = 20.0
#: Concentration of the lexical prior, a pair.
LEXICAL_PRIOR = 0.001


class Sampled(NamedTuple):
    """The links being sampled of the observed words of a chunk, in one direction, and what they may be.

    Attributes
    ----------
    state : int16 [tokens]
        The position that each word is linked to, or -1 for NULL.
    sizes : int8 [tokens]
        How many candidates it has. Negative for words that are not sampled and keep the HMM's posteriors: the sure
        ones, and those whose most probable pair the table does not have (a word that the model does not know).
    positions : int16 [tokens, CANDIDATES]; entries : int32; masses : float32
        The candidates from the most probable on; where the table has their pairs (-1: nowhere); link marginals.
    """

    state: np.ndarray
    sizes: np.ndarray
    positions: np.ndarray
    entries: np.ndarray
    masses: np.ndarray


class LinkCounts(NamedTuple):
    """The links of the whole text in one direction, counted.

    Attributes
    ----------
    pairs : float32 [n_pairs]
    words : float64 [n_given_words + 1]
        Of the given words; at the end all words from NULL.
    types : float32 [n_given_words]
        Observed words that occur together with each given one: not counted, but what the lexical prior is over.
    null : float64 [n_observed_words + 1]
    jump_rows : int16 [n_given_words + 1]
        Row of the jumps from each given word, not counted either; at the end that of words which are not known.
    jumps : float64 [rows, 2 * JUMPS + 2]
        By row; the last two are the sentence's beginning and, with what was given beforehand, all. A row ends with its
        sum.
    fertility : float32 [n_given_words, FERTILITIES]
    """

    pairs: np.ndarray
    words: np.ndarray
    types: np.ndarray
    null: np.ndarray
    jump_rows: np.ndarray
    jumps: np.ndarray
    fertility: np.ndarray


class LinkMeans(NamedTuple):
    """Averages of `LinkCounts` over the sweeps that are collected.

    Attributes
    ----------
    pairs : float32 [n_pairs]
    jumps : float64 [rows, 2 * JUMPS + 2]
    fertility : float64 [n_given_words, FERTILITIES]
        A sweep's share of a frequent word's count would be lost in float32.
    """

    pairs: np.ndarray
    jumps: np.ndarray
    fertility: np.ndarray


class SamplerScratch(NamedTuple):
    """What `sweep` works with: a sentence's fertilities, a word's weights, and the words' own part of the counts.

    Attributes
    ----------
    fertility : int64 [given words of the longest sentence]
    weights : float64 [CANDIDATES]
    own : float64 [observed words of the longest sentence, CANDIDATES]
    """

    fertility: np.ndarray
    weights: np.ndarray
    own: np.ndarray


@kernel(inline=True)
def jump_slot(d):
    """Return the jump's place among the counts."""
    return min(max(d, -JUMPS), JUMPS) + JUMPS


@kernel(inline=True)
def jump_row(c, given, jump_rows, jumps):
    """Return the row of the jumps from a position; -1 is before the sentence."""
    return jumps.shape[0] - 2 if c < 0 else np.int64(jump_rows[given[c]])


@kernel(inline=True)
def add_jump(amount, row, slot, jumps):
    """Add to the count of a jump in its row, in that of all, and to their sums."""
    for r in (row, jumps.shape[0] - 1):
        jumps[r, slot] += amount
        jumps[r, 2 * JUMPS + 1] += amount


@kernel(inline=True)
def jump_share(row, slot, spread, jumps):
    """Return a jump's probability times (the row's sum + ROW_PRIOR).

    ``spread`` is ROW_PRIOR over the sum of all jumps and their prior.
    """
    return jumps[row, slot] + spread * (jumps[jumps.shape[0] - 1, slot] + JUMP_PRIOR)


@kernel(part=True)
def sentence_of(sampled, first, length):
    """Return what is sampled of one sentence."""
    return Sampled(
        sampled.state[first:][:length], sampled.sizes[first:][:length], sampled.positions[first:][:length],
        sampled.entries[first:][:length], sampled.masses[first:][:length],
    )  # fmt: skip


@kernel(part=True)
def entry_of(c, n, positions, entries):
    """Return the table's entry of one of a word's ``n`` candidates, or -1."""
    for x in range(n):
        if positions[x] == c:
            return entries[x]
    return np.int32(-1)


@kernel(part=True)
def count_link(sign, c, given, entry, before, after, phi, counts):
    """Add (or with ``sign`` -1 remove) the link of a word to position ``c`` between two linked words.

    Parameters
    ----------
    given : int32 [n_given]
    entry : int
        Of the pair of words in the table.
    before, after : int
        Positions of the nearest linked words before and after.
    phi : int
        The position's fertility without the link.
    """
    word = given[c]
    counts.pairs[entry] += sign
    counts.words[word] += sign
    add_jump(sign, jump_row(before, given, counts.jump_rows, counts.jumps), jump_slot(c - before), counts.jumps)
    add_jump(sign, np.int64(counts.jump_rows[word]), jump_slot(after - c), counts.jumps)
    counts.fertility[word, min(phi + 1, FERTILITIES - 1)] += sign
    counts.fertility[word, min(phi, FERTILITIES - 1)] -= sign


@kernel(part=True)
def count_null(sign, word, given, before, after, counts):
    """Add (or remove) a word from NULL between two linked words."""
    counts.null[word] += sign
    counts.words[-1] += sign
    add_jump(sign, jump_row(before, given, counts.jump_rows, counts.jumps), jump_slot(after - before), counts.jumps)


@kernel(part=True)
def add_sentence(given, observed, here, sign, counts, fertility):
    """Add (or with ``sign`` -1 remove) one sentence's sampled links to the counts.

    Parameters
    ----------
    given, observed : int32 [n_given], [n_observed]
    here : Sampled
        Of the sentence.
    fertility : int64 [>= n_given], scratch
    """
    n_con = given.shape[0]
    fertility[:n_con] = 0
    last = -1
    for o in range(observed.shape[0]):
        c = here.state[o]
        if c < 0:
            counts.null[observed[o]] += sign
            counts.words[-1] += sign
            continue
        entry = entry_of(c, abs(here.sizes[o]), here.positions[o], here.entries[o])
        if entry >= 0:
            counts.pairs[entry] += sign
        counts.words[given[c]] += sign
        fertility[c] += 1
        add_jump(sign, jump_row(last, given, counts.jump_rows, counts.jumps), jump_slot(c - last), counts.jumps)
        last = c
    add_jump(sign, jump_row(last, given, counts.jump_rows, counts.jumps), jump_slot(n_con - last), counts.jumps)
    for c in range(n_con):
        counts.fertility[given[c], min(fertility[c], FERTILITIES - 1)] += sign


@kernel(part=True)
def conditional(o, old, before, after, given, observed, here, counts, fertility, own, p_null, alpha, frozen, weights):
    """Write the weight of each of a word's candidates given all other links (see above); return their sum and NULL's.

    What is the same for all is left out: the sum of the jumps from ``before``.

    Parameters
    ----------
    old : int
        The position that the word was linked to, or -1.
    before, after : int
        Positions of the nearest linked words before and after.
    fertility : int64 [n_given]
        Each position's, without the word.
    own : float64 [CANDIDATES]
        With ``frozen``, how much of the candidates' counts is the word's own: it is taken off.
    weights : float64 [>= candidates], output
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

    Parameters
    ----------
    scratch : SamplerScratch
        Its fertilities are the state's, and kept so.
    round_ : int
        The sweep, from 0 on.
    share : float
        What a collected sweep counts; 0 for one that is not collected.

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
            o, old, before, after, given, observed, here, counts, fertility, own[o], p_null, alpha, frozen, weights,
        )  # fmt: skip
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
def collect_fertility(given, fertility, share, mean_fertility):
    """Add ``share`` of a sentence's fertilities to the averages."""
    for c in range(given.shape[0]):
        mean_fertility[given[c], min(fertility[c], FERTILITIES - 1)] += share


@kernel(part=True)
def collect_jumps(given, state, jump_rows, mean_jumps):
    """Add a sentence's jumps to the averages."""
    last = -1
    for o in range(state.shape[0]):
        c = state[o]
        if c >= 0:
            add_jump(1.0, jump_row(last, given, jump_rows, mean_jumps), jump_slot(c - last), mean_jumps)
            last = c
    n_con = given.shape[0]
    add_jump(1.0, jump_row(last, given, jump_rows, mean_jumps), jump_slot(n_con - last), mean_jumps)


@kernel(part=True)
def collect_counts(share, jumps, mean_jumps):
    """Add ``share`` of the counts of jumps to the averages: after a sweep they are what the whole text has."""
    for r in range(jumps.shape[0]):
        for d in range(jumps.shape[1]):
            mean_jumps[r, d] += share * jumps[r, d]


@kernel(part=True)
def keeps(p, sampled):
    """Return whether a word is not sampled, and has an entry that keeps its HMM's posterior."""
    return sampled.sizes[p] < 0 and sampled.entries[p, 0] >= 0


@kernel(part=True)
def start_collecting(first, last, sampled):
    """Put the marginals of words to 0 but for those that keep theirs."""
    for p in range(first, last):
        if not keeps(p, sampled):
            for x in range(CANDIDATES):
                sampled.masses[p, x] = 0.0


@kernel(part=True)
def collect_pairs(first, last, sampled, mean_pairs):
    """Add the words' marginals to the averages."""
    for p in range(first, last):
        for x in range(1 if keeps(p, sampled) else max(sampled.sizes[p], 0)):
            mean_pairs[sampled.entries[p, x]] += sampled.masses[p, x]


@kernel(part=True)
def start_frozen(here, own):
    """Take what the HMM gives candidates for what is a sentence's own in the counts; put their marginals to 0."""
    for o in range(here.state.shape[0]):
        for x in range(max(here.sizes[o], 0)):
            own[o, x] = here.masses[o, x]
            here.masses[o, x] = 0.0


@kernel(owning=False)
def sweep(
    k0, k1, text, sampled, counts, means, p_null, alpha, sweeps, burn, frozen, own_seed, generator, known_given,
    known_observed, scratch,
):  # fmt: skip
    """Resample the links of sentences ``k0..k1``, ``sweeps`` times.

    Parameters
    ----------
    text : Directed
    sampled : Sampled
        Its ``masses`` are on return the conditional distributions averaged over the collecting sweeps: link
        marginals.
    counts : LinkCounts
    means : LinkMeans
        Added to while collecting and not frozen.
    p_null, alpha : float
        Share of words from NULL; concentration of the lexical prior, a pair.
    burn : int
        Sweeps before collecting begins.
    frozen : bool
        Leave the counts as they are (applying a model); then sentence after sentence takes all its sweeps, from
        a generator seeded by the sentence itself and ``own_seed``. Else the counts follow the state, and a sweep goes
        through all sentences.
    generator : uint64 [1]
    known_given, known_observed : int
        Words from there on are not in the model; with ``frozen``.
    scratch : SamplerScratch
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
                    given, observed, here, counts, p_null, alpha, frozen, generator, scratch, inner,
                    share if collecting else 0.0,
                )  # fmt: skip
                if collecting and not frozen:
                    collect_fertility(given, fertility, share, means.fertility)
        if not frozen and outer >= burn:
            collect_counts(share, counts.jumps, means.jumps)
    if not frozen:
        collect_pairs(first, last, sampled, means.pairs)


@kernel(owning=False)
def add_chunk(k0, k1, text, sampled, sign, counts, fertility):
    """Add the sampled links of sentences ``k0..k1`` to the counts."""
    given_offsets, observed_offsets = text.given_offsets, text.observed_offsets
    for k in range(k0, k1):
        n_obs = observed_offsets[k + 1] - observed_offsets[k]
        n_con = given_offsets[k + 1] - given_offsets[k]
        if n_obs > 0 and n_con > 0:
            add_sentence(
                text.given[given_offsets[k] :][:n_con], text.observed[observed_offsets[k] :][:n_obs],
                sentence_of(sampled, observed_offsets[k] - observed_offsets[text.base], n_obs), sign, counts, fertility,
            )  # fmt: skip
