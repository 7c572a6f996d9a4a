"""Packed derivations of many sentences.

Written as flat arrays, so that a whole development set is one object. Single derivations are in `derivations`, sums
over all of them in `semirings`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aligntools.ground.parallel import Pool, balanced_blocks, over
from aligntools.translating.forest import kernels_semirings

#: Blocks that the sentences are divided into, for any number of threads.
BLOCKS = 32


@dataclass(eq=False)
class Hypergraph:
    """Derivations of sentences, packed.

    The nodes of a sentence stand together, each after those below it. All derivations of a node have the same
    ``left`` and ``right``, if n-grams are to be counted by edges (`linear_bleu.edge_statistics`).

    feature_offsets (int64 [edges + 1], feature_ids : int32, feature_values : float32): Features of the edge alone.
    word_offsets (int64 [edges + 1], words : int32): Target side: a word's id from 1 on, or -1, -2 for what the first,
        the second tail yields.
    left, right (int32 [nodes, 4]): First and last words of what the node yields; 0 where there are fewer, at the end of
        ``left`` and at the beginning of ``right``.
    """

    node_offsets: np.ndarray  # int64 [sentences + 1]
    roots: np.ndarray  # int64 [sentences]: The node that derives the sentence, -1 where none does (a blank line)
    edge_offsets: np.ndarray  # int64 [nodes + 1]: Incoming edges of the nodes
    tails: np.ndarray  # int32 [edges, 2]: Nodes below, numbered in the whole batch; -1 none
    rules: np.ndarray  # int32 [edges]: The grammar's rule; negative for rules that the decoder makes
    feature_offsets: np.ndarray
    feature_ids: np.ndarray
    feature_values: np.ndarray
    word_offsets: np.ndarray
    words: np.ndarray
    left: np.ndarray
    right: np.ndarray
    lengths: np.ndarray  # int32 [nodes]: Words that the node yields, 4 standing for more too

    def __len__(self) -> int:
        return len(self.roots)

    @property
    def nodes(self) -> int:
        """Nodes of all sentences."""
        return len(self.edge_offsets) - 1

    @property
    def edges(self) -> int:
        """Edges of all sentences."""
        return len(self.rules)

    @property
    def strings(self) -> tuple[np.ndarray, ...]:
        """What edges yield, as kernels read it: ``edge_offsets``, ``tails``, ``word_offsets``, ``words``."""
        return self.edge_offsets, self.tails, self.word_offsets, self.words

    @property
    def features(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The features of edges, as kernels read them: ``feature_offsets``, ``feature_ids``, ``feature_values``."""
        return self.feature_offsets, self.feature_ids, self.feature_values

    def blocks(self) -> list[tuple[int, int]]:
        """Cut the sentences into runs of about as many edges."""
        return balanced_blocks(np.diff(self.edge_offsets[self.node_offsets]) + 1, BLOCKS)

    def part(self, begin: int, end: int) -> "Hypergraph":
        """Return the sentences ``begin:end`` as a hypergraph of their own."""
        a, b = self.node_offsets[[begin, end]]
        e, f = self.edge_offsets[[a, b]]
        i, j = self.feature_offsets[[e, f]]
        k, m = self.word_offsets[[e, f]]
        roots, tails = self.roots[begin:end], self.tails[e:f]
        return Hypergraph(
            self.node_offsets[begin : end + 1] - a,
            np.where(roots >= 0, roots - a, -1),
            self.edge_offsets[a : b + 1] - e,
            np.where(tails >= 0, tails - np.int32(a), np.int32(-1)),
            self.rules[e:f],
            self.feature_offsets[e : f + 1] - i,
            self.feature_ids[i:j],
            self.feature_values[i:j],
            self.word_offsets[e : f + 1] - k,
            self.words[k:m],
            self.left[a:b],
            self.right[a:b],
            self.lengths[a:b],
        )


#: The dtype of each attribute.
_TYPES: dict[str, Any] = {field.name: np.int32 for field in fields(Hypergraph)} | {
    **dict.fromkeys(("node_offsets", "roots", "edge_offsets", "feature_offsets", "word_offsets"), np.int64),
    "feature_values": np.float32,
}


def join(parts: Iterable[Hypergraph]) -> Hypergraph:
    """Put hypergraphs one after another."""
    parts = list(parts)
    nodes = np.cumsum([0] + [p.nodes for p in parts])
    out = {}
    for name in _TYPES:
        arrays = [getattr(p, name) for p in parts]
        if name.endswith("_offsets"):
            ends = np.cumsum([0] + [int(a[-1]) for a in arrays])
            arrays = [np.zeros(1, np.int64), *(a[1:] + begin for a, begin in zip(arrays, ends[:-1], strict=True))]
        elif name in ("roots", "tails"):
            arrays = [
                np.where(a >= 0, a + a.dtype.type(n), a.dtype.type(-1)) for a, n in zip(arrays, nodes, strict=False)
            ]
        out[name] = np.concatenate(arrays) if arrays else _empty()[name]
    return Hypergraph(**out)


def _empty() -> dict[str, np.ndarray]:
    shapes = {"tails": (0, 2), "left": (0, 4), "right": (0, 4)}
    return {
        name: np.zeros(1 if name.endswith("_offsets") else shapes.get(name, 0), dtype) for name, dtype in _TYPES.items()
    }


def blank() -> Hypergraph:
    """Return the hypergraph of a sentence without derivations."""
    return Hypergraph(**_empty() | {"node_offsets": np.zeros(2, np.int64), "roots": np.array([-1], np.int64)})


def edge_scores(h: Hypergraph, weights: npt.ArrayLike, gamma: float = 1.0, pool: Pool | None = None) -> np.ndarray:
    """Return ``gamma * weights . features`` of each edge [edges, float64]."""
    out, weights = np.empty(h.edges), np.ascontiguousarray(weights, np.float64)

    def work(block: tuple[int, int]) -> None:
        e, f = h.edge_offsets[h.node_offsets[list(block)]]
        kernels_semirings.edge_scores(h.features, weights, float(gamma), e, f, out)

    over(pool, work, h.blocks())
    return out


def united(first: Hypergraph, second: Hypergraph) -> Hypergraph:
    """Put two hypergraphs of the same sentences together: each sentence has the derivations of both.

    A derivation that both have comes twice. Above the two roots there is a new one, by edges without features.
    """
    roots = np.stack([first.roots, second.roots], axis=1)
    pieces = []
    for s in range(len(first)):
        edges, top = int((roots[s] >= 0).sum()), blank()
        if edges:  # the node over the roots, whose tails are yet to be set
            sides, none = np.full((edges, 2), -1, np.int32), np.zeros((1, 4), np.int32)
            top = Hypergraph(
                *(np.array([0, 1]), np.array([0]), np.array([0, edges]), sides, sides[:, 0].copy()),
                *(np.zeros(edges + 1, np.int64), top.feature_ids, top.feature_values),
                *(np.arange(edges + 1), sides[:, 1].copy(), none, none, np.zeros(1, np.int32)),
            )
        pieces += [first.part(s, s + 1), second.part(s, s + 1), top]
    out = join(pieces)
    of = out.node_offsets
    tops = np.flatnonzero(np.diff(of)[2::3]) if len(first) else np.zeros(0, np.int64)  # sentences that have a new root
    heads = of[3 * tops + 2]
    below = out.roots.reshape(-1, 3)[:, :2] if len(first) else roots
    rows = out.edge_offsets[heads]
    for k in range(2):
        some = below[tops, k] >= 0
        out.tails[rows[some], 0] = below[tops[some], k]
        rows = rows + some
    united_roots = np.full(len(first), -1, np.int64)
    united_roots[tops] = heads
    return replace(out, node_offsets=of[::3].copy(), roots=united_roots)
