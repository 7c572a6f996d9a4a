"""Sentences with tags, joined, and choosing some of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class TaggedText:
    """Sentences with tags, joined.

    Attributes
    ----------
    words, tags : list of bytes
    offsets : int64 [sentences + 1]
    """

    words: list[bytes]
    tags: list[bytes]
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def chosen(self, keep: np.ndarray) -> "TaggedText":
        """Return the sentences that are kept [shape=(sentences,), dtype=bool]."""
        words, offsets = chosen(self.words, self.offsets, keep)
        return TaggedText(words, chosen(self.tags, self.offsets, keep)[0], offsets)


def chosen(values: Sequence | np.ndarray, offsets: np.ndarray, keep: np.ndarray):
    """Return the values [words] of the sentences that are kept, and their offsets; lists stay lists."""
    words = np.repeat(keep, np.diff(offsets))
    lengths = np.diff(offsets)[keep]
    kept = values[words] if isinstance(values, np.ndarray) else [v for v, k in zip(values, words, strict=True) if k]
    return kept, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
