"""Which words look alike, whatever their languages and scripts: names, numbers, cognates.

Words are compared as they are spelled in Latin letters (anyascii), so that *Moskau* meets *Москва*. How alike two words
are is the share of letters that they have in common in the same order: the longest common subsequence ratio of Melamed
(1999), with the mean of both lengths in place of the larger. Pairs of words fall into tiers by that share, and each
tier earns its own prior from the text.
"""

import zlib
from functools import lru_cache

import numpy as np

from aligntools.aligning.text import kernels_look_alikes as kl
from aligntools.aligning.text.normal import simplify

#: 1 .. 36 for the letters and digits that are compared, by byte; 0 for all others.
_CODES = np.zeros(256, np.uint8)
_CODES[list(b"abcdefghijklmnopqrstuvwxyz0123456789")] = np.arange(1, 37)
#: Letters that sound alike in many languages.
_PAIRS = (("ph", "f"), ("th", "t"), ("ck", "k"))
_SOUNDS = str.maketrans("cqvz", "kkws")
#: The bit of a bag that a letter has: digits share five.
_BITS = np.array([0, *range(26), *(26 + d % 5 for d in range(10))])


@lru_cache(1 << 16)
def romanized(word):
    """Return a word's letters and digits, as small Latin letters; those that sound alike are one."""
    if not word.isascii():
        from anyascii import anyascii

        word = anyascii(simplify(word))
    spelled = "".join(c for c in word.lower() if c.isascii() and c.isalnum())
    for pair, one in _PAIRS:
        spelled = spelled.replace(pair, one)
    return spelled.translate(_SOUNDS)


def _hash(text):
    """Hash a string to 1 .. 2**31 - 1, the same in every process."""
    return (zlib.crc32(text.encode("utf-8", "surrogateescape")) & 0x7FFFFFFF) or 1


def look_alike_keys(words):
    """Keys by which words look alike.

    Parameters
    ----------
    words : list of str

    Returns
    -------
    int32 [n_words, KEY]
        See `kernels_look_alikes`. NULL's are 0.
    """
    keys = np.zeros((len(words), kl.KEY), np.int32)
    spelled = np.zeros((len(words), kl.LETTERS), np.uint8)
    for i, word in enumerate(words):
        if not word:
            continue
        plain = simplify(word)
        keys[i, kl.FULL] = _hash(plain)
        if not any(c.isalpha() for c in plain):
            keys[i, kl.NO_LETTER] = 1
            continue
        letters = _CODES[np.frombuffer(romanized(plain)[: kl.LETTERS].encode(), np.uint8)]
        if len(letters) >= kl.FEWEST:
            spelled[i, : len(letters)] = letters
    keys[:, kl.LENGTH] = (spelled > 0).sum(1)
    for at in range(kl.LETTERS):
        keys[:, kl.PACKED + at // 5] |= spelled[:, at].astype(np.int32) << (6 * (at % 5))
    _add_bags(keys, spelled)
    return keys


def _add_bags(keys, spelled):
    """Write which letters words have once, and twice, as bits, and how many they have beyond that."""
    for code in range(31):
        times = (_BITS[spelled] == code) & (spelled > 0)
        count = times.sum(1)
        keys[:, kl.ONCE] |= (count >= 1).astype(np.int32) << code
        keys[:, kl.TWICE] |= (count >= 2).astype(np.int32) << code
        keys[:, kl.MORE] += np.maximum(count - 2, 0).astype(np.int32)
