"""How often phrase pairs and their sides come in a text, in memory that the frequent ones alone take.

Pairs are counted twice: first into a table of counts that unlike pairs may share, then those exactly whose shared count
reaches the least one.
"""

from collections.abc import Callable, Iterator

import numpy as np

from aligntools.formats.text.corpus import Side
from aligntools.tools.terms.occurrences import BLOCK, PhrasePairs, codes_of, joined

_SMALLEST, _LARGEST = 16, 27  # bits of the table's size


def frequent(parts: Callable[[], Iterator[PhrasePairs]], words: int, least: int) -> PhrasePairs:
    """Return the occurrences of pairs that come at least so often, ordered by pair, then by place.

    parts: Yields the occurrences; called twice.
    words: Of the text, about, which the table's size goes by.
    """
    bits = int(np.clip(np.ceil(np.log2(max(words, 1))) + 1, _SMALLEST, _LARGEST))
    shift, table = np.uint64(64 - bits), np.zeros(1 << bits, np.int32)
    for part in parts():
        places, counts = np.unique(part.code >> shift, return_counts=True)
        table[places.astype(np.int64)] += counts.astype(np.int32)
    kept = [part[table[(part.code >> shift).astype(np.int64)] >= least] for part in parts()]
    found = joined(kept)
    code = found.code
    order = np.lexsort((found.source, code))
    code = code[order]
    first = np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1]])) if len(code) else np.zeros(0, np.int64)
    counts = np.diff(np.append(first, len(code)))
    return found[order[np.repeat(counts >= least, counts)]]


def occurrences(side: Side, codes: np.ndarray, longest: int) -> np.ndarray:
    """Return how often stretches of words come in a text, linked or not.

    codes (uint64 [stretches]): Sorted, each once.
    longest: Words of a stretch, at most.
    Returns int64 [stretches].
    """
    found = np.zeros(len(codes), np.int64)
    if not len(codes):
        return found
    for begin in range(0, len(side), BLOCK):
        a, b = side.offsets[begin], side.offsets[min(begin + BLOCK, len(side))]
        tokens = side.tokens[a:b]
        lengths = np.diff(side.offsets[begin : begin + BLOCK + 1])
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        for length, here in enumerate(codes_of(tokens, longest), 1):
            within = here[sentence[: len(here)] == sentence[length - 1 :]]
            places = np.minimum(np.searchsorted(codes, within), len(codes) - 1)
            found += np.bincount(places[codes[places] == within], minlength=len(codes))
    return found


def log_likelihood(both: np.ndarray, source: np.ndarray, target: np.ndarray, total: int) -> np.ndarray:
    """Return the log-likelihood ratio of pairs (Dunning 1993), 0 where they come together less than by chance.

    both, source, target [pairs]: How often a pair comes, and each of its sides.
    total: Places in which they could.
    """
    k11 = both.astype(np.float64)
    k12, k21 = source - k11, target - k11
    k22 = np.maximum(total - source - target + k11, 0)

    def entropy(*counts: np.ndarray) -> np.ndarray:
        table = np.stack(counts)
        shares = np.maximum(table, 1e-300) / np.maximum(table.sum(0), 1e-300)
        return np.asarray((table * np.log(shares)).sum(0))

    ratio = 2 * (entropy(k11, k12, k21, k22) - entropy(k11 + k12, k21 + k22) - entropy(k11 + k21, k12 + k22))
    return np.where(k11 * total > source.astype(np.float64) * target, np.maximum(ratio, 0), 0.0)
