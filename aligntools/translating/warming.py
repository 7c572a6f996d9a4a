"""Runs the decoder once on a few words, so that nothing of it is left to compile."""

import numpy as np

from aligntools.formats.grammar import Grammar
from aligntools.formats.vocabulary import Vocabulary
from aligntools.translating import lm, trie
from aligntools.translating.decoder import System, feature_names
from aligntools.translating.lists import best_lists, sample_lists
from aligntools.translating.weights import default_weights


def warm(pool):
    """Compile what translating uses: best strings, hypergraphs, lists, samples."""
    words = Vocabulary.from_words(["<s>", "</s>", "a", "b"])
    logs = np.full((5, 2), -1.0, np.float32)
    pairs = np.array([[1, 3], [3, 4], [4, 2]], np.int32)
    model = lm.from_blocks(
        2, words, [5, 3], [(np.arange(5, dtype=np.int32)[:, None], logs), (pairs, np.full((3, 2), -0.5, np.float32))]
    )
    grammar = Grammar(
        Vocabulary.from_words(["x", "y"]),
        Vocabulary.from_words(["a", "b"]),
        np.array([0, 1, 2, 4], np.int64),
        np.array([1, 2, -1, 2], np.int32),
        np.array([0, 1, 2, 4], np.int64),
        np.array([1, 2, 2, -1], np.int32),
        np.zeros((3, 1), np.float32),
        ["PhraseEgivenF"],
    )
    trie.build_trie(np.arange(3001, dtype=np.int64), np.arange(1, 3001, dtype=np.int32))  # large enough to grow
    system = System(grammar, model, default_weights(feature_names(grammar)))
    sentences = system.encode([b"x", b"y", b"z"], np.array([0, 3], np.int64))
    system.translate(sentences, pool)
    forest = system.forest(sentences, pool)
    best_lists(system, forest, sentences, 2, pool)
    sample_lists(system, forest, sentences, 2, 1.0, 1, pool)
