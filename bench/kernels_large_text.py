"""Compiled: sentence pairs of a text written again, with noise and with rare words renamed."""

from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel


class Words(NamedTuple):
    """The words of a side.

    Attributes
    ----------
    blob : uint8 [bytes]
        In UTF-8, joined.
    starts : int64 [words + 1]
    ranks : int32 [words]
        A word's place, the most frequent first.
    ranked : int32 [words - 1]
        The word of each place; NULL has none.
    hashes : uint64 [words]
        Of the bytes: the same for the same word of the other side.
    kinds : uint8 [words]
        How it is renamed, `PLAIN`, `NUMBER` or `LETTERS`.
    """

    blob: np.ndarray
    starts: np.ndarray
    ranks: np.ndarray
    ranked: np.ndarray
    hashes: np.ndarray
    kinds: np.ndarray


class Copy(NamedTuple):
    """What a copy does to a side.

    Attributes
    ----------
    renamed : float32 [words]
        How probable it is that a word is renamed.
    letters, digits : uint8 [a few]
        What the names of this copy end in: of words, of numbers.
    seen, seen_renamed : uint8 [words]
        Whether a word was written, as it is in any copy, renamed in this one.
    """

    renamed: np.ndarray
    letters: np.ndarray
    digits: np.ndarray
    seen: np.ndarray
    seen_renamed: np.ndarray


PLAIN, NUMBER, LETTERS = 0, 1, 2
#: The most ranks between a word and what replaces it.
NEAR = 5
_SPLIT = np.uint64(0x9E3779B97F4A7C15)
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@kernel(inline=True)
def _mixed(x):
    x = (x ^ (x >> np.uint64(30))) * _MIX_A
    x = (x ^ (x >> np.uint64(27))) * _MIX_B
    return x ^ (x >> np.uint64(31))


@kernel(inline=True)
def _share(x):
    """Return a number in 0..1 of random bits."""
    return np.float64(x >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def hash_words(blob, starts, out):
    """Hash each word's bytes."""
    for w in range(out.shape[0]):
        x = np.uint64(1469598103934665603)
        for k in range(starts[w], starts[w + 1]):
            x = (x ^ np.uint64(blob[k])) * np.uint64(1099511628211)
        out[w] = _mixed(x)


@kernel
def kinds_of(blob, starts, out):
    """Tell how words can be renamed: numbers by digits, what has letters by letters, the rest not at all."""
    for w in range(out.shape[0]):
        found = PLAIN
        for k in range(starts[w], starts[w + 1]):
            b = blob[k]
            if 48 <= b <= 57:
                found = NUMBER
                break
            if b >= 128 or 97 <= b <= 122 or 65 <= b <= 90:
                found = LETTERS
        out[w] = found


@kernel
def _put(blob, begin, end, out, at):
    for k in range(begin, end):
        out[at] = blob[k]
        at += 1
    return at


@kernel
def _put_word(w, key, words, copy, out, at):
    """Write a word, renamed or not; of the renamed ones half have another beginning too."""
    begin, end = words.starts[w], words.starts[w + 1]
    x = _mixed(words.hashes[w] ^ key)
    kind = words.kinds[w]
    if kind == PLAIN or _share(x) >= copy.renamed[w]:
        copy.seen[w] = 1
        return _put(words.blob, begin, end, out, at)
    copy.seen_renamed[w] = 1
    if kind == NUMBER:
        at = _put(words.blob, begin, end, out, at)
        return _put(copy.digits, 0, copy.digits.shape[0], out, at)
    x = _mixed(x + _SPLIT)
    cut = begin
    if x & np.uint64(1) and end - begin > 3:
        cut = begin + 1 + np.int64((x >> np.uint64(1)) % np.uint64(end - begin - 1))
        while cut < end and (words.blob[cut] & 0xC0) == 0x80:  # between two letters
            cut += 1
    at = _put(words.blob, cut, end, out, at)
    at = _put(words.blob, begin, cut, out, at)
    return _put(copy.letters, 0, copy.letters.shape[0], out, at)


@kernel
def _noisy(tokens, begin, end, words, rates, state, kept):
    """Copy a sentence with words dropped, replaced by others of about their frequency, or swapped; return how many."""
    n = 0
    swap = False
    last = words.ranked.shape[0] - 1
    for k in range(begin, end):
        state += _SPLIT
        x = _mixed(state)
        u = _share(x)
        w = tokens[k]
        if u < rates[0] and end - begin > 3 and n + end - k > 2:
            continue
        if u >= rates[0] and u < rates[0] + rates[1]:
            step = np.int64(x % np.uint64(2 * NEAR)) - NEAR
            place = words.ranks[w] + (step if step < 0 else step + 1)
            w = words.ranked[min(max(place, 0), last)]
        kept[n] = w
        n += 1
        if swap:
            kept[n - 1], kept[n - 2] = kept[n - 2], kept[n - 1]
        swap = u >= rates[0] + rates[1] and u < rates[0] + rates[1] + rates[2]
    return n


@kernel
def write_pairs(first, order, keys, source, target, s_words, t_words, s_copy, t_copy, rates, longest, kept, out, done):
    """Write pairs as lines of a joint file, until all are or the next might not fit.

    Parameters
    ----------
    first : int
        Which of ``order`` is the first.
    order : int64 [pairs]
        The pairs' numbers.
    keys : uint64 [2]
        Of the copy, for names and for noise.
    source, target : (int32 [words], int64 [sentences + 1])
    s_words, t_words : Words
    s_copy, t_copy : Copy
    rates : float64 [3]
        Of words dropped, replaced, swapped.
    longest : int
        Most bytes of a word, renamed, and of a space.
    kept : int32 [most words of a sentence]
    out : uint8 [bytes]
    done : int64 [2]
        Words of each side that were written are added.

    Returns
    -------
    (int, int)
        Where to go on in ``order``, and how many bytes were written.
    """
    at = 0
    k = first
    while k < order.shape[0]:
        p = order[k]
        s, e = source[1][p], source[1][p + 1]
        t, f = target[1][p], target[1][p + 1]
        if at + 16 + (e - s + f - t) * longest > out.shape[0]:
            break
        k += 1
        if e == s or f == t:
            continue
        state = _mixed(keys[1] ^ _mixed(np.uint64(p) + _SPLIT))
        n = _noisy(source[0], s, e, s_words, rates, state, kept)
        done[0] += n
        for i in range(n):
            at = _put_word(kept[i], keys[0], s_words, s_copy, out, at)
            out[at] = 32
            at += 1
        for _ in range(3):
            out[at] = 124
            at += 1
        n = _noisy(target[0], t, f, t_words, rates, _mixed(state), kept)
        done[1] += n
        for i in range(n):
            out[at] = 32
            at = _put_word(kept[i], keys[0], t_words, t_copy, out, at + 1)
        out[at] = 10
        at += 1
    return k, at
