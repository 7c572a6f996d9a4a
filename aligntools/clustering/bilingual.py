"""Classes of the words of two languages that say most of each other, too (Och 1999).

The pairs that are counted are those of neighbouring words of both texts and those of linked words, source word first.
Each side's words have classes of their own. As in mkcls, all pairs are in one table.
"""

import numpy as np

from aligntools.clustering.exchange import Moves, count_text, free_moves, turned
from aligntools.clustering.kernels_exchange import WordNeighbours
from aligntools.clustering.settings import ClassSettings

#: Tokens, where sentences begin and end, and how many words the vocabulary has, with NULL.
TextSide = tuple[np.ndarray, np.ndarray, int]


def count_both(source: TextSide, target: TextSide, links: tuple[np.ndarray, np.ndarray]) -> WordNeighbours:
    """Count neighbours in both texts, and linked words.

    source, target ((int32 [tokens], int64 [sentences + 1], int)).
    links ((int64 [links], int64 [links])): Places of linked words among the tokens of their sides.
    Returns of the source's words as they are numbered, and after them the target's.
    """
    (words, offsets, size), (others, ends, number) = source, target
    after = size - 1
    tokens = np.concatenate([words, others + np.int32(after)]).astype(np.int32, copy=False)
    pairs = count_text(tokens, np.concatenate([offsets, ends[1:] + len(words)]), size + number - 1)
    keys = words[links[0]].astype(np.int64) << 32 | (others[links[1]].astype(np.int64) + after)
    linked, counts = np.unique(keys, return_counts=True)
    first = np.repeat(np.arange(size + number - 1), np.diff(pairs.right_starts))
    first = np.concatenate([first, linked >> 32])
    order = np.argsort(first, kind="stable")
    starts = np.searchsorted(first[order], np.arange(size + number)).astype(np.int64)
    second = np.concatenate([pairs.right_words, (linked & 0xFFFFFFFF).astype(np.int32)])[order]
    return turned(starts, second, np.concatenate([pairs.right_counts, counts.astype(np.int32)])[order])


def apart(pairs: WordNeighbours, size: int, settings: ClassSettings) -> Moves:
    """Let the source's words, those before ``size``, go into the first classes, and the target's into as many others.

    Rare words share a class on each side: the two after the last.
    """
    some = settings.number
    moves = free_moves(pairs, settings)
    ranges = moves.ranges.copy()
    moving, rare = ranges[:, 0] == 1, ranges[:, 0] == some + 1
    targets = np.arange(len(ranges)) >= size
    ranges[moving & targets] = some + 1, 2 * some + 1
    ranges[rare & ~targets] = 2 * some + 1, 2 * some + 2
    ranges[rare & targets] = 2 * some + 2, 2 * some + 3
    return Moves(moves.order, ranges)


def of_sides(classes: np.ndarray, size: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of each side's words, from 1; rare words have the one after the last, NULL has 0."""
    source, target = classes[:size].copy(), np.concatenate([np.zeros(1, classes.dtype), classes[size:]])
    source[source == 2 * number + 1] = number + 1
    found = np.where(target > 0, target - number, 0)
    found[target == 2 * number + 2] = number + 1
    return source, found.astype(np.int32)
