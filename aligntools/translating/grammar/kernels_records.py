"""Arrays that the kernels of extraction take together; compiled code takes named tuples as it takes arrays."""

from typing import NamedTuple

import numpy as np


class AlignedText(NamedTuple):
    """Aligned sentence pairs.

    Attributes
    ----------
    source, target : np.ndarray [dtype=int32]
        Words of all sentences.
    source_offsets, target_offsets, pair_offsets : np.ndarray [shape=(sentences + 1,), dtype=int64]
    pairs : np.ndarray [shape=(links, 2), dtype=int32]
        Sorted within each sentence.
    """

    source: np.ndarray
    source_offsets: np.ndarray
    target: np.ndarray
    target_offsets: np.ndarray
    pairs: np.ndarray
    pair_offsets: np.ndarray


class PhraseTables(NamedTuple):
    """Initial phrase pairs of a sentence, and what they are found with.

    Attributes
    ----------
    places : np.ndarray [shape=(4, longest), dtype=int32]
        First and last link of each source word, and of each target word; without links 2**30 and -1.
    totals : np.ndarray [shape=(longest + 1,), dtype=int64]
        Links of all source words before each one.
    phrases : np.ndarray [shape=(room, 5), dtype=int32]
        First and last source word, first and last target word, links.
    firsts : np.ndarray [shape=(longest * max_span + 1,), dtype=int64]
        The number of the first phrase of each source span, ``begin * max_span + length - 1``.
    """

    places: np.ndarray
    totals: np.ndarray
    phrases: np.ndarray
    firsts: np.ndarray


class RuleRecords(NamedTuple):
    """A table of distinct rules; keys are those of `kernels_extraction`.

    Attributes
    ----------
    pool : np.ndarray [dtype=int32]
    starts : np.ndarray [shape=(room,), dtype=int64]
    hashes : np.ndarray [shape=(room,), dtype=uint64]
    weights : np.ndarray [shape=(room, 2), dtype=int64]
        Sums of shares (1/`kernels_extraction.UNIT`) and of occurrences.
    slots : np.ndarray [shape=(a power of two over room,), dtype=int32]
        Record numbers, from 1 on; 0 is free.
    used : np.ndarray [shape=(2,), dtype=int64]
        Records and codes in use.
    """

    pool: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray
    weights: np.ndarray
    slots: np.ndarray
    used: np.ndarray
