"""Pairs that stand within longer ones: how often they come by themselves (C-value; Frantzi, Ananiadou & Mima 2000)."""

import numpy as np

from aligntools.formats.text.corpus import Side
from aligntools.tools.terms.occurrences import PhrasePairs, mixed

_BLOCK = 1 << 16


def _stretches(side: Side, begin: np.ndarray, lengths: np.ndarray, longest: int) -> np.ndarray:
    """Return the codes of what stands within stretches: by where it begins and its length; 0 is past the end."""
    places = begin[:, None] + np.arange(longest)
    tokens = side.tokens[np.minimum(places, len(side.tokens) - 1)]
    found = np.zeros((longest, longest, len(begin)), np.uint64)
    for first in range(longest):
        flat = tokens[:, first:]
        code = np.zeros(len(begin), np.uint64)
        for length in range(1, longest - first + 1):
            code = mixed(code, flat[:, length - 1])
            found[first, length - 1] = np.where(first + length <= lengths, code, 0)
    return found


def alone(source: Side, target: Side, pairs: PhrasePairs, counts: np.ndarray, longest: int) -> np.ndarray:
    """Return how often each pair comes by itself: less the mean count of the longer pairs that it stands within.

    pairs: One occurrence of each pair, ordered by `code`.
    counts [pairs].
    longest: Words of a side, at most.
    Returns float64 [pairs].
    """
    code = pairs.code
    sums, within = np.zeros(len(code)), np.zeros(len(code))
    outer = np.flatnonzero((pairs.source_length > 1) | (pairs.target_length > 1))
    for begin in range(0, len(outer), _BLOCK):
        some = outer[begin : begin + _BLOCK]
        own = code[some]
        left = _stretches(source, pairs.source[some], pairs.source_length[some], longest)
        right = _stretches(target, pairs.target[some], pairs.target_length[some], longest)
        left, right = left.reshape(-1, len(some)), right.reshape(-1, len(some))
        for one in left[left.any(1)]:
            for other in right[right.any(1)]:
                here = np.flatnonzero((one > 0) & (other > 0))
                inner = mixed(one[here], other[here])
                places = np.minimum(np.searchsorted(code, inner), len(code) - 1)
                met = (code[places] == inner) & (inner != own[here])
                sums += np.bincount(places[met], counts[some[here[met]]], len(code))
                within += np.bincount(places[met], minlength=len(code))
    return counts - sums / np.maximum(within, 1)
