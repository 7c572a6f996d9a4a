"""Sentences with tags, joined, and choosing some of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import numpy as np

_T = TypeVar("_T")


class NoSentences(ValueError):
    """There is nothing to train on."""


@dataclass(frozen=True)
class TaggedText:
    """Sentences with tags, joined.

    offsets (int64 [sentences + 1]).
    """

    words: list[bytes]
    tags: list[bytes]
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def joined(cls, texts: "Sequence[TaggedText]") -> "TaggedText":
        """Return texts one after the other as one."""
        words, tags = ([x for text in texts for x in getattr(text, name)] for name in ("words", "tags"))
        lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(text.offsets) for text in texts)])
        return cls(words, tags, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))

    def chosen(self, keep: np.ndarray) -> "TaggedText":
        """Return the sentences that are kept [shape=(sentences,), dtype=bool]."""
        words, offsets = chosen(self.words, self.offsets, keep)
        return TaggedText(words, chosen(self.tags, self.offsets, keep)[0], offsets)


@overload
def chosen(values: np.ndarray, offsets: np.ndarray, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def chosen(values: Sequence[_T], offsets: np.ndarray, keep: np.ndarray) -> tuple[list[_T], np.ndarray]: ...
def chosen(values: Any, offsets: np.ndarray, keep: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the values [words] of the sentences that are kept, and their offsets; lists stay lists."""
    words = np.repeat(keep, np.diff(offsets))
    lengths = np.diff(offsets)[keep]
    kept = values[words] if isinstance(values, np.ndarray) else [v for v, k in zip(values, words, strict=True) if k]
    return kept, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
