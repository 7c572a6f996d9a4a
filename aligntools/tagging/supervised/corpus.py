"""A tagged text as numbers, and what is counted in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.ground.parallel import balanced_blocks

#: Blocks that a text is cut into, whatever the number of threads.
BLOCKS = 16


@dataclass
class TaggedCorpus:
    """A tagged text. A *pair* is a word with a tag that it had, or may have had; a *cell* a token with such a tag.

    words: The different words, by first occurrence.
    names: The different tags, in alphabetical order.
    tokens (int32 [tokens]), offsets (int64 [sentences + 1]).
    cells (int64 [tokens + 1]): Token ``t`` has the cells ``cells[t]`` to ``cells[t + 1] - 1``: one where its tag is
        known.
    tags, pairs (int32 [cells]): Tag and pair of each cell.
    pair_word, pair_tag (int32 [pairs]): Sorted by word, then tag.
    pair_count (float64 [pairs]): How often each pair was seen; where tags are not known, how often that is expected.
    ptr, occurrences (int64): The cells of each pair, in the order of the text.
    blocks, pair_blocks: Runs of sentences and of pairs.
    """

    words: list[bytes]
    names: list[bytes]
    tokens: np.ndarray
    offsets: np.ndarray
    cells: np.ndarray
    tags: np.ndarray
    pairs: np.ndarray
    pair_word: np.ndarray
    pair_tag: np.ndarray
    pair_count: np.ndarray
    ptr: np.ndarray
    occurrences: np.ndarray
    blocks: list[tuple[int, int]]
    pair_blocks: list[tuple[int, int]]

    @classmethod
    def of(cls, words: Sequence[bytes], offsets: np.ndarray, tags: Sequence[bytes]) -> "TaggedCorpus":
        """Number the words and tags of a text.

        words, tags (list of bytes [tokens]), offsets (int64 [sentences + 1]).
        """
        names = sorted(set(tags))
        number = {name: n for n, name in enumerate(names)}
        ids = np.fromiter((number[t] for t in tags), np.int32, len(tags))
        return cls.numbered(words, offsets, names, np.arange(len(words) + 1, dtype=np.int64), ids)

    @classmethod
    def numbered(
        cls, words: Sequence[bytes], offsets: np.ndarray, names: Sequence[bytes], cells: np.ndarray, tags: np.ndarray
    ) -> "TaggedCorpus":
        """Number the words of a text and its pairs; every cell counts its share of a token.

        words (list of bytes [tokens]), offsets (int64 [sentences + 1]), cells (int64 [tokens + 1]).
        tags (int32 [cells]): Indexes of ``names``; those of a token differ.
        """
        vocabulary: dict[bytes, int] = {}
        tokens = np.fromiter((vocabulary.setdefault(w, len(vocabulary)) for w in words), np.int32, len(words))
        several, n_tags = np.diff(cells), max(len(names), 1)
        keys = np.repeat(tokens, several).astype(np.int64) * n_tags + tags
        found, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        pairs = inverse.astype(np.int32).reshape(-1)
        ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        offsets = np.ascontiguousarray(offsets, np.int64)
        weights = np.repeat(1.0 / np.maximum(several, 1), several)
        return cls(
            list(vocabulary),
            list(names),
            tokens,
            offsets,
            cells,
            tags,
            pairs,
            (found // n_tags).astype(np.int32),
            (found % n_tags).astype(np.int32),
            np.bincount(pairs, weights, len(found)),
            ptr,
            np.argsort(pairs, kind="stable").astype(np.int64),
            balanced_blocks(np.diff(cells[offsets]), BLOCKS),
            balanced_blocks(counts, BLOCKS),
        )

    @property
    def n_tags(self) -> int:
        """Number of tags."""
        return len(self.names)

    def word_counts(self) -> np.ndarray:
        """Return how often each word had each tag, float64 [words, tags]."""
        counts = np.zeros((len(self.words), self.n_tags))
        counts[self.pair_word, self.pair_tag] = self.pair_count
        return counts
