"""Word translation probabilities by relative frequency of links, as lexical weights ask for them."""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.formats.text.corpus import Side
from aligntools.translating.grammar import kernels_grammar

_CHUNK = 1 << 22  # links counted at a time


@dataclass(eq=False)
class LexicalTable:
    """``p(target word | source word)`` and ``p(source word | target word)``, NULL (0) being a word on both sides.

    keys (uint64 [a power of two]): ``source << 32 | target``, where `kernels_grammar` looks for them; 0 is free.
    values (float64 [a power of two, 2]).
    """

    keys: np.ndarray
    values: np.ndarray

    @classmethod
    def from_pairs(cls, pairs: np.ndarray, probabilities: np.ndarray) -> "LexicalTable":
        """Make a table of distinct pairs ``source << 32 | target`` [dtype=uint64] and their two probabilities."""
        size = 1 << max(4, (2 * len(pairs)).bit_length())
        keys, values = np.zeros(size, np.uint64), np.zeros((size, 2))
        kernels_grammar.fill_lexicon(pairs, np.ascontiguousarray(probabilities, np.float64), keys, values)
        return cls(keys, values)


def count_words(source: Side, target: Side, links: Links) -> tuple[np.ndarray, np.ndarray]:
    """Count linked words (Koehn, Och & Marcu 2003, 4.4); a word without links counts as linked to NULL.

    Returns pairs (uint64 [pairs]): ``source << 32 | target``, ascending.
    Returns counts (int64 [pairs]).
    """
    source_linked, target_linked = np.zeros(len(source.tokens), bool), np.zeros(len(target.tokens), bool)
    sentence = links.sentences()
    parts = []
    for begin in range(0, len(links.pairs), _CHUNK):
        rows, of = links.pairs[begin : begin + _CHUNK], sentence[begin : begin + _CHUNK]
        i, j = source.offsets[of] + rows[:, 0], target.offsets[of] + rows[:, 1]
        source_linked[i] = target_linked[j] = True
        joined = source.tokens[i].astype(np.uint64) << np.uint64(32) | target.tokens[j].astype(np.uint64)
        parts.append(np.unique(joined, return_counts=True))
    alone = np.unique(source.tokens[~source_linked], return_counts=True)
    parts.append((alone[0].astype(np.uint64) << np.uint64(32), alone[1]))
    alone = np.unique(target.tokens[~target_linked], return_counts=True)
    parts.append((alone[0].astype(np.uint64), alone[1]))
    pairs, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
    counts = np.zeros(len(pairs), np.int64)
    np.add.at(counts, place.ravel(), np.concatenate([part[1] for part in parts]))
    return pairs, counts


def word_table(source: Side, target: Side, links: Links) -> LexicalTable:
    """Estimate word translation probabilities from links, all of which lie within their sentences."""
    pairs, counts = count_words(source, target, links)
    first, second = (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    given_source = counts / np.bincount(first, counts)[first] if len(pairs) else counts
    given_target = counts / np.bincount(second, counts)[second] if len(pairs) else counts
    return LexicalTable.from_pairs(pairs, np.stack([given_source, given_target], axis=1))
