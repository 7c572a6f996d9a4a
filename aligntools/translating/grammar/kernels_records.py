"""Arrays that the kernels of extraction take together; compiled code takes named tuples as it takes arrays."""

from typing import NamedTuple

import numpy as np


class AlignedText(NamedTuple):
    """Aligned sentence pairs.

    source, target (int32): Words of all sentences.
    source_offsets, target_offsets, pair_offsets (int64 [sentences + 1]).
    pairs (int32 [links, 2]): Sorted within each sentence.
    """

    source: np.ndarray
    source_offsets: np.ndarray
    target: np.ndarray
    target_offsets: np.ndarray
    pairs: np.ndarray
    pair_offsets: np.ndarray


class PhraseTables(NamedTuple):
    """Initial phrase pairs of a sentence, and what they are found with.

    places (int32 [4, longest]): First and last link of each source word, and of each target word; without links 2**30
        and -1.
    totals (int64 [longest + 1]): Links of all source words before each one.
    phrases (int32 [room, 5]): First and last source word, first and last target word, links.
    firsts (int64 [longest * max_span + 1]): The number of the first phrase of each source span, ``begin * max_span +
        length - 1``.
    """

    places: np.ndarray
    totals: np.ndarray
    phrases: np.ndarray
    firsts: np.ndarray


class RuleRecords(NamedTuple):
    """A table of distinct rules; keys are those of `kernels_extraction`.

    starts (int64 [room]), hashes (uint64 [room]).
    weights (int64 [room, 2]): Sums of shares (1/`kernels_extraction.UNIT`) and of occurrences.
    slots (int32 [a power of two over room]): Record numbers, from 1 on; 0 is free.
    used (int64 [2]): Records and codes in use.
    """

    pool: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray
    weights: np.ndarray
    slots: np.ndarray
    used: np.ndarray
