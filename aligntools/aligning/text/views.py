"""Views of a text: the same sentences with words cut to their beginnings, and which words look alike.

Inflection and compounding scatter a word's counts. Cut to a few letters, forms of a word share them; a model of
such a view makes other errors than one of whole words, and their average fewer than either.
"""

import unicodedata

import numpy as np


def simplify(word):
    """Strip accents and other combining marks; scripts that compose letters from parts stay composed."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c))) or word


def cut(word, length):
    """Return a word's first ``length`` letters, without accents; the word itself for length 0."""
    return simplify(word)[:length] if length else word


def view(words, length):
    """Cut a vocabulary's words.

    Parameters
    ----------
    words : list of str
        The first is NULL.
    length : int

    Returns
    -------
    list of str, int32 [n_words]
        The view's words, NULL first, in order of first occurrence; and each word's place among them.
    """
    if length == 0:
        return words, np.arange(len(words), dtype=np.int32)
    place = {"": 0}
    mapping = np.zeros(len(words), np.int32)
    for i in range(1, len(words)):
        mapping[i] = place.setdefault(cut(words[i], length), len(place))
    return list(place), mapping


def _hash(text):
    """Hash a string to 1 .. 2**31 - 1 (FNV-1a), the same in every process."""
    h = 2166136261
    for byte in text.encode():
        h = ((h ^ byte) * 16777619) & 0xFFFFFFFF
    return (h & 0x7FFFFFFF) or 1


def look_alike_keys(words):
    """Keys by which words look alike, whatever their language.

    Parameters
    ----------
    words : list of str

    Returns
    -------
    int32 [3, n_words]
        Hash of the word without accents; hash of its first four letters, 0 where it has fewer or has other
        characters than letters; 1 where it has no letter at all. NULL's are 0.
    """
    keys = np.zeros((3, len(words)), np.int32)
    for i, word in enumerate(words):
        if not word:
            continue
        plain = simplify(word)
        keys[0, i] = _hash(plain)
        if len(plain) >= 4 and plain.isalpha():
            keys[1, i] = _hash(plain[:4])
        elif not any(c.isalpha() for c in plain):
            keys[2, i] = 1
    return keys
