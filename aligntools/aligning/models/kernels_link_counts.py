"""Compiled: sampled links, and what of them is counted: pairs of words, jumps and fertilities.

The layouts are those of the sampler, which is `kernels_fertility`. Jumps have a row of counts each word that has one of
its own, one for all others, one for the sentence's beginning, and one for all rows together.
"""

from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel

#: Candidate positions kept a word.
CANDIDATES = 8
#: Jumps beyond this share a count.
JUMPS = 50
#: Fertilities from this on share a count.
FERTILITIES = 10


class Sampled(NamedTuple):
    """The links being sampled of the observed words of a chunk, in one direction, and what they may be.

    state (int16 [tokens]): The position that each word is linked to, or -1 for NULL.
    sizes (int8 [tokens]): How many candidates it has. Negative for words that are not sampled and keep the HMM's
        posteriors: the sure ones, and those whose most probable pair the table does not have (a word that the model
        does not know).
    positions (int16 [tokens, CANDIDATES]); entries (int32); masses (float32): The candidates from the most probable on;
        where the table has their pairs (-1: nowhere); link marginals.
    """

    state: np.ndarray
    sizes: np.ndarray
    positions: np.ndarray
    entries: np.ndarray
    masses: np.ndarray


class LinkCounts(NamedTuple):
    """The links of the whole text in one direction, counted.

    pairs (float32 [n_pairs]).
    words (float64 [n_given_words + 1]): Of the given words; at the end all words from NULL.
    types (float32 [n_given_words]): Observed words that occur together with each given one: not counted, but what the
        lexical prior is over.
    null (float64 [n_observed_words + 1]).
    jump_rows (int16 [n_given_words + 1]): Row of the jumps from each given word, not counted either; at the end that of
        words which are not known.
    jumps (float64 [rows, 2 * JUMPS + 2]): By row; the last two are the sentence's beginning and, with what was given
        beforehand, all. A row ends with its sum.
    fertility (float32 [n_given_words, FERTILITIES]).
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

    pairs (float32 [n_pairs]), jumps (float64 [rows, 2 * JUMPS + 2]).
    fertility (float64 [n_given_words, FERTILITIES]): A sweep's share of a frequent word's count would be lost in
        float32.
    """

    pairs: np.ndarray
    jumps: np.ndarray
    fertility: np.ndarray


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


@kernel(part=True)
def sentence_of(sampled, first, length):
    """Return what is sampled of one sentence."""
    return Sampled(
        sampled.state[first:][:length],
        sampled.sizes[first:][:length],
        sampled.positions[first:][:length],
        sampled.entries[first:][:length],
        sampled.masses[first:][:length],
    )


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

    given (int32 [n_given]).
    entry (int): Of the pair of words in the table.
    before, after (int): Positions of the nearest linked words before and after.
    phi (int): The position's fertility without the link.
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

    given, observed (int32 [n_given], [n_observed]).
    here (Sampled): Of the sentence.
    fertility (int64 [>= n_given], scratch).
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


@kernel(owning=False)
def add_chunk(k0, k1, text, sampled, sign, counts, fertility):
    """Add the sampled links of sentences ``k0..k1`` to the counts."""
    given_offsets, observed_offsets = text.given_offsets, text.observed_offsets
    for k in range(k0, k1):
        n_obs = observed_offsets[k + 1] - observed_offsets[k]
        n_con = given_offsets[k + 1] - given_offsets[k]
        if n_obs > 0 and n_con > 0:
            add_sentence(
                text.given[given_offsets[k] :][:n_con],
                text.observed[observed_offsets[k] :][:n_obs],
                sentence_of(sampled, observed_offsets[k] - observed_offsets[text.base], n_obs),
                sign,
                counts,
                fertility,
            )
