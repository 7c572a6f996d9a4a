"""Byte-pair encoding the slow, obvious way, and words from pieces. Imports nothing that it checks."""

import collections
import itertools

import numpy as np


def byte_pairs(words, counts, merges):
    """Return merges of byte-pair encoding, all pairs counted anew for each."""
    pieces, found = [list(word) for word in words], []
    while len(found) < merges:
        frequency = collections.Counter()
        for word, count in zip(pieces, counts, strict=True):
            for pair in itertools.pairwise(word):
                frequency[pair] += count
        best = min(frequency, key=lambda pair: (-frequency[pair], pair), default=None)
        if best is None or frequency[best] < 2:
            break
        if best not in found:
            found.append(best)
        for n, word in enumerate(pieces):
            joined = []
            while word:
                two = tuple(word[:2]) == best
                joined.append("".join(word[: 1 + two]))
                word = word[1 + two :]
            pieces[n] = joined
    return found


def cut(word, merges):
    """Return a word's pieces: all its merges one by one, each wherever it stands, in the order they were learned."""
    pieces = list(word)
    while known := [pair for pair in itertools.pairwise(pieces) if pair in merges]:
        best, joined = min(known, key=merges.index), []
        while pieces:
            two = tuple(pieces[:2]) == best
            joined.append("".join(pieces[: 1 + two]))
            pieces = pieces[1 + two :]
        pieces = joined
    return pieces


def words_of_pieces(posteriors, source, target):
    """Return link probabilities of words from those of their pieces: ``source`` and ``target`` say how many."""
    rows, columns = np.cumsum([0, *source]), np.cumsum([0, *target])
    return np.array([
        [1 - np.prod(1 - posteriors[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]) for j in range(len(target))]
        for i in range(len(source))
    ])  # fmt: skip
