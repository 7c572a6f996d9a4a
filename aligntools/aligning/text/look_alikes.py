"""Which words look alike, whatever their languages and scripts: names, numbers, cognates.

Words are compared as they are spelled in Latin letters (anyascii): *Moskau* is like *Москва*. Likeness is the longest
common subsequence ratio of Melamed (1999), with the mean of both lengths in place of the larger. Pairs fall into tiers
by likeness, each with a prior of its own, which is estimated from the text.
"""

import unicodedata
import zlib
from functools import lru_cache

import numpy as np

from aligntools.aligning.text import kernels_look_alikes as kl

#: 1 .. 36 for the letters and digits that are compared, by byte; 0 for all others.
_CODES = np.zeros(256, np.uint8)
_CODES[list(b"abcdefghijklmnopqrstuvwxyz0123456789")] = np.arange(1, 37)
#: Letters that sound alike in many languages.
_PAIRS = (("ph", "f"), ("th", "t"), ("ck", "k"))
_SOUNDS = str.maketrans("cqvz", "kkws")
#: The bit of a bag that a letter has: digits share five.
_BITS = np.array([0, *range(26), *(26 + d % 5 for d in range(10))])
_BAG = 31
#: Words whose letters are counted at a time.
_RUN = 1 << 16


@lru_cache(1 << 16)
def romanized(word: str) -> str:
    """Return a word's letters and digits, as small Latin letters; those that sound alike are one."""
    if not word.isascii():
        from anyascii import anyascii

        word = anyascii(simplify(word))
    spelled = word.lower()
    if not (spelled.isascii() and spelled.isalnum()):
        spelled = "".join(c for c in spelled if c.isascii() and c.isalnum())
    for pair, one in _PAIRS:
        spelled = spelled.replace(pair, one)
    return spelled.translate(_SOUNDS)


def _hash(text: str) -> int:
    """Hash a string to 1 .. 2**31 - 1, the same in every process."""
    return (zlib.crc32(text.encode("utf-8", "surrogateescape")) & 0x7FFFFFFF) or 1


def look_alike_keys(words: list[str]) -> np.ndarray:
    """Keys by which words look alike.

    Returns int32 [n_words, KEY]: see `kernels_look_alikes`. NULL's are 0.
    """
    keys = np.zeros((len(words), kl.KEY), np.int32)
    plain = [simplify(word) for word in words]
    keys[:, kl.FULL] = [_hash(word) if word else 0 for word in plain]
    lettered = [word.isalpha() or any(map(str.isalpha, word)) for word in plain]
    keys[:, kl.NO_LETTER] = (keys[:, kl.FULL] != 0) & ~np.array(lettered, bool)
    for a in range(0, len(words), _RUN):
        run = slice(a, a + _RUN)
        _add_letters(keys[run], plain[run], lettered[run])
    return keys


def _add_letters(keys: np.ndarray, words: list[str], lettered: list[bool]) -> None:
    """Write into keys the letters of words, which occur once and twice (as bits), and how many occur more often."""
    compared = [romanized(word)[: kl.LETTERS] if known else "" for word, known in zip(words, lettered, strict=True)]
    lengths = np.array([len(letters) for letters in compared], np.int32)
    letters = _CODES[np.frombuffer("".join(compared).encode(), np.uint8)]
    word = np.repeat(np.arange(len(words)), lengths)
    at = np.arange(len(letters)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    enough = lengths[word] >= kl.FEWEST
    word, at, letters = word[enough], at[enough], letters[enough]
    keys[:, kl.LENGTH] = np.where(lengths >= kl.FEWEST, lengths, 0)
    np.bitwise_or.at(keys, (word, kl.PACKED + at // 5), letters.astype(np.int32) << (6 * (at % 5)).astype(np.int32))
    times = np.bincount(word * _BAG + _BITS[letters], minlength=len(words) * _BAG).reshape(len(words), _BAG)
    bits = np.int32(1) << np.arange(_BAG, dtype=np.int32)
    keys[:, kl.ONCE] = (times >= 1) @ bits
    keys[:, kl.TWICE] = (times >= 2) @ bits
    keys[:, kl.MORE] = np.maximum(times - 2, 0).sum(1)


def simplify(word: str) -> str:
    """Strip accents and other combining marks; letters that a script composes of parts (Hangul) stay composed."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c))) or word
