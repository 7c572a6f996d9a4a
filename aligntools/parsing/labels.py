"""Labels of edges, found after the tree: each edge by itself, from the words and tags around its two ends."""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.modelfile import hold, hold_vocabulary
from aligntools.formats.vocabulary import Vocabulary
from aligntools.parsing import kernels_labels as kernels
from aligntools.parsing.features.space import EncodedSentences, compile_templates

TEMPLATES = (
    "p | p", "w p | p", "p | w p", "w | w", "p | w", "w | p", "| w p", "| x p", "p-1 p | p", "p p+1 | p",
    "p | p-1 p", "p | p p+1", "p | p-1 p p+1", "p-1 p | p p+1", "p p+1 | p-1 p", "x | x",
)  # fmt: skip
#: Binary logarithm of the number of rows of weights, passes over the text, and the steps' size.
BITS, PASSES, RATE = 16, 6, 0.1


@dataclass
class Labeler:
    """A classifier of edges.

    Attributes
    ----------
    labels : Vocabulary
    weights : float32 [rows, labels]
        Column k is the label with the id k + 1.
    templates : tuple of str
    """

    labels: Vocabulary
    weights: np.ndarray
    templates: tuple = TEMPLATES

    @property
    def bits(self):
        """Binary logarithm of the number of rows."""
        return len(self.weights).bit_length() - 1

    def _rows(self, sentences, heads):
        sides, _, seeds = compile_templates(self.templates)
        rows = np.zeros((len(heads), len(self.templates)), np.int32)
        keys = np.empty((4, int(sentences.lengths.max(initial=0)) + 1), np.uint64)
        words = sentences.offsets - sentences.offsets[0]
        kernels.label_rows(
            sentences.layers, sentences.starts, sentences.lengths, words, np.ascontiguousarray(heads, np.int32), sides,
            seeds, np.uint64(64 - self.bits), keys, rows,
        )  # fmt: skip
        return rows

    @classmethod
    def train(cls, sentences: EncodedSentences, heads, labels, bits=BITS, passes=PASSES, rate=RATE, seed=1):
        """Learn from trees with labels.

        Parameters
        ----------
        sentences : EncodedSentences
        heads : int32 [words]
        labels : sequence of bytes
            The words' labels, none of them empty.
        bits, passes : int
        rate : float
        seed : int
            Of the order in which words are taken.
        """
        vocabulary = Vocabulary.from_bytes(list(dict.fromkeys(labels)))
        size = len(vocabulary) - 1
        if not size:
            raise ValueError("no words with labels")
        result = cls(vocabulary, np.zeros((1 << bits, size), np.float32))
        rows, ids = result._rows(sentences, heads), vocabulary.ids(labels) - 1
        squares, rng = np.zeros_like(result.weights), np.random.default_rng(seed)
        for _ in range(passes):
            order = rng.permutation(len(ids))
            kernels.fit_labels(rows, ids, order, np.float32(rate), result.weights, squares, np.empty(size, np.float32))
        return result

    def label(self, sentences: EncodedSentences, heads) -> list[bytes]:
        """Return each word's label, given its head."""
        found = np.zeros(len(heads), np.int32)
        scores = np.empty(self.weights.shape[1], np.float32)
        kernels.find_labels(self._rows(sentences, heads), self.weights, scores, found)
        names = [word.encode() for word in self.labels.words()[1:]]
        return [names[k] for k in found.tolist()]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return arrays for a model file: the rows that are not all 0."""
        places = np.flatnonzero(self.weights.any(axis=1))
        return {
            "blob": self.labels.blob,
            "starts": self.labels.starts,
            "places": places,
            "weights": self.weights[places],
            "bits": np.array([self.bits], np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays):
        """Take the arrays of a model file; ValueError or KeyError where they do not fit together."""
        labels = hold_vocabulary(arrays, "blob", "starts")
        if len(labels) < 2:
            raise ValueError("no labels")
        bits = int(hold(arrays, "bits", (1,), np.int64, 1, 24)[0])
        places = hold(arrays, "places", (len(arrays["places"]),), np.int64, 0, (1 << bits) - 1)
        values = hold(arrays, "weights", (len(places), len(labels) - 1), np.float32)
        weights = np.zeros((1 << bits, len(labels) - 1), np.float32)
        weights[places] = values
        return cls(labels, weights)
