"""Labels of edges, found after the tree: each edge by itself, from the words and tags around its two ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aligntools.formats.models.modelfile import Array, checked, hold, hold_vocabulary
from aligntools.parsing import kernels_labels as kernels
from aligntools.parsing.feature_space import EncodedSentences, compile_templates
from aligntools.words.vocabulary import Vocabulary

TEMPLATES = (
    "p | p",
    "w p | p",
    "p | w p",
    "w | w",
    "p | w",
    "w | p",
    "| w p",
    "| x p",
    "p-1 p | p",
    "p p+1 | p",
    "p | p-1 p",
    "p | p p+1",
    "p | p-1 p p+1",
    "p-1 p | p p+1",
    "p p+1 | p-1 p",
    "x | x",
)
#: Those that look at no words.
TAGS = tuple(t for t in TEMPLATES if not {"w", "x"} & {*t})
#: Binary logarithm of the number of rows of weights, passes over the text, and the steps' size.
BITS, PASSES, RATE = 16, 6, 0.1


@dataclass(frozen=True)
class Edges:
    """Some edges of sentences.

    starts (int64 [sentences + 1]): Where those of each sentence begin.
    heads, modifiers (int32 [edges]): 0 for the root, 1 to n.
    """

    starts: np.ndarray
    heads: np.ndarray
    modifiers: np.ndarray

    def __len__(self) -> int:
        return len(self.heads)

    @classmethod
    def of_trees(cls, offsets: np.ndarray, heads: np.ndarray) -> "Edges":
        """Return each word's edge; ``offsets`` int64 [sentences + 1] over words, ``heads`` int32 [words]."""
        starts = offsets - offsets[0]
        modifiers = np.arange(1, starts[-1] + 1) - np.repeat(starts[:-1], np.diff(starts))
        return cls(starts, np.ascontiguousarray(heads, np.int32), modifiers.astype(np.int32))


@dataclass(frozen=True)
class Shares:
    """Which labels edges have, and what each of them counts.

    starts (int64 [edges + 1]).
    labels (int32 [labels of edges]): From 0.
    shares (float32 [labels of edges]): An edge's sum is what the edge counts.
    """

    starts: np.ndarray
    labels: np.ndarray
    shares: np.ndarray


_ARRAYS = Array("places", ("places",), np.int64, 0, "features"), Array("weights", ("places", "labels"), np.float32)


@dataclass
class Labeler:
    """A classifier of edges; ``weights`` float32 [rows, labels]: column k is the label with the id k + 1."""

    labels: Vocabulary
    weights: np.ndarray
    templates: tuple[str, ...] = TEMPLATES

    @property
    def names(self) -> list[bytes]:
        """The labels, in the order of the weights' columns."""
        return [*self.labels.encoded()][1:]

    @property
    def bits(self) -> int:
        """Binary logarithm of the number of rows."""
        return len(self.weights).bit_length() - 1

    def _rows(self, sentences: EncodedSentences, edges: "Edges") -> np.ndarray:
        sides, _, seeds = compile_templates(self.templates)
        rows = np.zeros((len(edges), len(self.templates)), np.int32)
        keys = np.empty((4, int(sentences.lengths.max(initial=0)) + 1), np.uint64)
        ends, shift = (edges.starts, edges.heads, edges.modifiers), np.uint64(64 - self.bits)
        kernels.label_rows(*sentences.arrays[:3], *ends, sides, seeds, shift, keys, rows)
        return rows

    @classmethod
    def train(
        cls,
        sentences: EncodedSentences,
        heads: np.ndarray,
        labels: Sequence[bytes],
        bits: int = BITS,
    ) -> "Labeler":
        """Learn from trees with labels.

        heads (int32 [words]).
        labels: The words' labels, none of them empty.
        """
        vocabulary = Vocabulary.from_bytes(list(dict.fromkeys(labels)))
        if len(vocabulary) < 2:
            raise ValueError("no words with labels")
        own = np.asarray(vocabulary.ids(labels) - 1, np.int32)
        shares = Shares(np.arange(len(own) + 1), own, np.ones(len(own), np.float32))
        return cls.fitted(sentences, Edges.of_trees(sentences.offsets, heads), shares, vocabulary, bits)

    @classmethod
    def fitted(
        cls,
        sentences: EncodedSentences,
        edges: Edges,
        shares: Shares,
        labels: Vocabulary,
        bits: int = BITS,
        rate: float = RATE,
    ) -> "Labeler":
        """Learn from edges that have labels by shares: minimize the cross-entropy with them."""
        size = len(labels) - 1
        result = cls(labels, np.zeros((1 << bits, size), np.float32))
        rows = result._rows(sentences, edges)
        squares, rng = np.zeros_like(result.weights), np.random.default_rng(1)
        for _ in range(PASSES):
            order = rng.permutation(len(edges))
            scratch = np.empty(size, np.float32)
            own = shares.starts, shares.labels, shares.shares
            kernels.fit_labels(rows, *own, order, np.float32(rate), result.weights, squares, scratch)
        return result

    def without_words(self) -> "Labeler":
        """Return this classifier with the features of tags alone."""
        return Labeler(self.labels, self.weights, TAGS)

    def distributions(self, sentences: EncodedSentences, edges: Edges) -> np.ndarray:
        """Return the probabilities of edges' labels, float32 [edges, labels]."""
        found = np.empty((len(edges), self.weights.shape[1]), np.float32)
        kernels.label_distributions(self._rows(sentences, edges), self.weights, found)
        return found

    def label(self, sentences: EncodedSentences, heads: np.ndarray) -> list[bytes]:
        """Return each word's label, given its head."""
        found = np.zeros(len(heads), np.int32)
        scores = np.empty(self.weights.shape[1], np.float32)
        rows = self._rows(sentences, Edges.of_trees(sentences.offsets, heads))
        kernels.find_labels(rows, self.weights, scores, found)
        names = self.names
        return [names[k] for k in found.tolist()]

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Return arrays for a model file, by names that begin with this one: the rows that are not all 0."""
        places = np.flatnonzero(self.weights.any(axis=1))
        own = {"places": places, "weights": self.weights[places], "bits": np.array([self.bits], np.int64)}
        return self.labels.arrays(name) | {f"{name}.{key}": array for key, array in own.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], name: str, templates: tuple[str, ...]) -> "Labeler":
        """Take the arrays of a model file; ValueError or KeyError where they do not fit together."""
        labels = hold_vocabulary(arrays, name)
        if len(labels) < 2:
            raise ValueError("no labels")
        bits = 1 << int(hold(arrays, f"{name}.bits", (1,), np.int64, 1, 24)[0])
        places, values = checked(arrays, _ARRAYS, {"features": bits, "labels": len(labels) - 1}, f"{name}.")
        weights = np.zeros((bits, len(labels) - 1), np.float32)
        weights[places] = values
        return cls(labels, weights, templates)
