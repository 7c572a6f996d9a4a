"""Text as the decoder takes it."""

from dataclasses import dataclass

import numpy as np


@dataclass(eq=False)
class Sentences:
    """Text to be translated by one system.

    tokens (int32 [words]): Ids of the grammar's source vocabulary; 0 for words that are not in it.
    offsets (int64 [sentences + 1]).
    passed (int32 [words]): The target id that each word has when it is passed through: of the same word in the target
        vocabulary, or one past it, ``len(vocabulary) + k`` for ``extra[k]``.
    extra: Words that are not in the target vocabulary.
    """

    tokens: np.ndarray
    offsets: np.ndarray
    passed: np.ndarray
    extra: list[bytes]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, begin: int, end: int) -> "Sentences":
        """Return the sentences ``begin..end`` by themselves, with the same ``extra``."""
        a, b = self.offsets[begin], self.offsets[end]
        return Sentences(self.tokens[a:b], self.offsets[begin : end + 1] - a, self.passed[a:b], self.extra)
