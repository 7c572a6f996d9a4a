"""A tagged text as numbers, and what is counted in it."""

from dataclasses import dataclass

import numpy as np

from aligntools.ground.parallel import balanced_blocks

#: Blocks that a text is cut into, whatever the number of threads.
BLOCKS = 16


@dataclass
class TaggedCorpus:
    """A tagged text. A *pair* is a word with a tag that it had.

    Attributes
    ----------
    words : list of bytes
        The different words, by first occurrence.
    names : list of bytes
        The different tags, in alphabetical order.
    tokens, tags : int32 [tokens]
    offsets : int64 [sentences + 1]
    pairs : int32 [tokens]
        Pair of each token.
    pair_word, pair_tag : int32 [pairs]
        Sorted by word, then tag.
    pair_count : float64 [pairs]
    ptr, occurrences : int64
        The tokens of each pair, in the order of the text.
    blocks, pair_blocks : list of (int, int)
        Runs of sentences and of pairs.
    """

    words: list
    names: list
    tokens: np.ndarray
    tags: np.ndarray
    offsets: np.ndarray
    pairs: np.ndarray
    pair_word: np.ndarray
    pair_tag: np.ndarray
    pair_count: np.ndarray
    ptr: np.ndarray
    occurrences: np.ndarray
    blocks: list
    pair_blocks: list

    @classmethod
    def of(cls, words, offsets, tags):
        """Number the words and tags of a text.

        Parameters
        ----------
        words, tags : list of bytes [tokens]
        offsets : int64 [sentences + 1]
        """
        vocabulary = {}
        tokens = np.fromiter((vocabulary.setdefault(w, len(vocabulary)) for w in words), np.int32, len(words))
        names = sorted(set(tags))
        number = {name: n for n, name in enumerate(names)}
        tag_ids = np.fromiter((number[t] for t in tags), np.int32, len(tags))
        keys = tokens.astype(np.int64) * max(len(names), 1) + tag_ids
        found, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        pairs = inverse.astype(np.int32).reshape(-1)
        ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        offsets = np.ascontiguousarray(offsets, np.int64)
        return cls(
            list(vocabulary), names, tokens, tag_ids, offsets, pairs,
            (found // max(len(names), 1)).astype(np.int32), (found % max(len(names), 1)).astype(np.int32),
            counts.astype(np.float64), ptr, np.argsort(pairs, kind="stable").astype(np.int64),
            balanced_blocks(np.diff(offsets), BLOCKS), balanced_blocks(counts, BLOCKS),
        )  # fmt: skip

    @property
    def n_tags(self):
        """Number of tags."""
        return len(self.names)

    def word_counts(self):
        """Return how often each word had each tag, float64 [words, tags]."""
        counts = np.zeros((len(self.words), self.n_tags))
        counts[self.pair_word, self.pair_tag] = self.pair_count
        return counts
