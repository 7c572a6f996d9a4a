"""Sentences as lists of words, before a system numbers them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.text.corpus import Side
from aligntools.words.vocabulary import AnyVocabulary, Vocabulary


@dataclass(frozen=True, eq=False)
class Lines:
    """Sentences of words.

    words: UTF-8, of all sentences.
    offsets (int64 [sentences + 1]): Sentence ``n`` is ``words[offsets[n]:offsets[n + 1]]``.
    name: The file, or what messages call the text.
    """

    words: list[bytes]
    offsets: np.ndarray
    name: str = "<sentences>"

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of_lines(self, chosen: np.ndarray) -> "Lines":
        """Return the sentences with these numbers, int64 [sentences]."""
        lengths = np.diff(self.offsets)[chosen]
        words = [word for k in chosen.tolist() for word in self.words[self.offsets[k] : self.offsets[k + 1]]]
        return Lines(words, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]), self.name)

    @classmethod
    def of(cls, side: Side, vocabulary: AnyVocabulary, name: str = "<sentences>") -> "Lines":
        """Take a side that was read with its vocabulary."""
        words = [word.encode() for word in vocabulary.words()]
        return cls([words[t] for t in side.tokens.tolist()], side.offsets, name)


def numbered(texts: Sequence[Lines]) -> tuple[Side, Vocabulary]:
    """Return all texts, or parts of one, one after another, as a side with its own vocabulary."""
    ids: dict[bytes, int] = {}
    tokens = [ids.setdefault(word, len(ids) + 1) for text in texts for word in text.words]
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(text.offsets) for text in texts)])
    return Side(np.array(tokens, np.int32), np.cumsum(lengths)), Vocabulary.from_bytes(list(ids))
