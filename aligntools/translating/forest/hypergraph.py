"""Packed derivations of many sentences.

Written as flat arrays, so that a whole development set is one object. Single derivations are in `derivations`, sums
over all of them in `semirings`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from aligntools.ground.parallel import Pool, balanced_blocks
from aligntools.translating.forest import kernels_semirings

#: Blocks that the sentences are divided into, for any number of threads.
BLOCKS = 32
_Block = TypeVar("_Block")
_Result = TypeVar("_Result")


@dataclass(eq=False)
class Hypergraph:
    """Derivations of sentences, packed.

    The nodes of a sentence stand together, each after those below it. All derivations of a node have the same
    ``left`` and ``right``, if n-grams are to be counted by edges (`linear_bleu.edge_statistics`).

    node_offsets (int64 [sentences + 1]).
    roots (int64 [sentences]): The node that derives the sentence, -1 where none does (a blank line).
    edge_offsets (int64 [nodes + 1]): Incoming edges of the nodes.
    tails (int32 [edges, 2]): Nodes below, numbered in the whole batch; -1 none.
    rules (int32 [edges]): The grammar's rule; negative for rules that the decoder makes.
    feature_offsets (int64 [edges + 1], feature_ids : int32, feature_values : float32): Features of the edge alone.
    word_offsets (int64 [edges + 1], words : int32): Target side: a word's id from 1 on, or -1, -2 for what the first,
        the second tail yields.
    left, right (int32 [nodes, 4]): First and last words of what the node yields; 0 where there are fewer, at the end of
        ``left`` and at the beginning of ``right``.
    lengths (int32 [nodes]): Words that the node yields, 4 standing for more too.
    """

    node_offsets: np.ndarray
    roots: np.ndarray
    edge_offsets: np.ndarray
    tails: np.ndarray
    rules: np.ndarray
    feature_offsets: np.ndarray
    feature_ids: np.ndarray
    feature_values: np.ndarray
    word_offsets: np.ndarray
    words: np.ndarray
    left: np.ndarray
    right: np.ndarray
    lengths: np.ndarray

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

    def blocks(self, most: int = BLOCKS) -> list[tuple[int, int]]:
        """Cut the sentences into runs of about as many edges."""
        return balanced_blocks(np.diff(self.edge_offsets[self.node_offsets]) + 1, most)

    def check(self, features: int | None = None) -> None:
        """Raise ValueError where the arrays do not fit each other; ``features`` is how many there are."""
        for problem, bad in _faults(self, features):
            if bad:
                raise ValueError(problem)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything as arrays, for a file."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

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
_TYPES = {
    "node_offsets": np.int64,
    "roots": np.int64,
    "edge_offsets": np.int64,
    "tails": np.int32,
    "rules": np.int32,
    "feature_offsets": np.int64,
    "feature_ids": np.int32,
    "feature_values": np.float32,
    "word_offsets": np.int64,
    "words": np.int32,
    "left": np.int32,
    "right": np.int32,
    "lengths": np.int32,
}


def _faults(h: Hypergraph, features: int | None) -> Iterator[tuple[str, bool]]:
    """Yield (problem, whether there is one); what comes later may rely on what came before."""
    for name, dtype in _TYPES.items():
        yield f"{name} is {getattr(h, name).dtype}, not {np.dtype(dtype)}", getattr(h, name).dtype != dtype
    for name, over in (
        ("node_offsets", h.edge_offsets[1:]),
        ("edge_offsets", h.tails),
        ("feature_offsets", h.feature_ids),
        ("word_offsets", h.words),
    ):
        offsets = getattr(h, name)
        bad = not len(offsets) or offsets[0] != 0 or offsets[-1] != len(over) or bool(np.any(np.diff(offsets) < 0))
        yield f"{name} does not rise from 0 to {len(over)}", bad
    sizes = (
        ("roots", len(h.node_offsets) - 1),
        ("rules", len(h.tails)),
        ("feature_offsets", len(h.tails) + 1),
        ("word_offsets", len(h.tails) + 1),
        ("feature_values", len(h.feature_ids)),
        ("left", h.nodes),
        ("right", h.nodes),
        ("lengths", h.nodes),
    )
    for name, size in sizes:
        yield f"{name} has {len(getattr(h, name))} entries, not {size}", len(getattr(h, name)) != size
    begins, ends = h.node_offsets[:-1], h.node_offsets[1:]
    bad = (h.roots != -1) & ((h.roots < begins) | (h.roots >= ends))
    yield "a root is not among its sentence's nodes", bool(bad.any())
    heads = np.repeat(np.arange(h.nodes), np.diff(h.edge_offsets))
    first = np.repeat(begins, np.diff(h.node_offsets))[heads]
    wrong = (h.tails != -1) & ((h.tails < first[:, None]) | (h.tails >= heads[:, None]))
    yield "a tail is not an earlier node of its sentence", bool(wrong.any())
    yield "an edge has a second tail and no first", bool(np.any((h.tails[:, 0] < 0) & (h.tails[:, 1] >= 0)))
    yield "a word has the id 0", bool(np.any(h.words == 0))
    of = np.repeat(np.arange(h.edges), np.diff(h.word_offsets))
    for k in range(2):
        uses = np.bincount(of[h.words == -1 - k], minlength=h.edges)
        yield f"a target side has not its tail {k + 1} once", bool(np.any(uses != (h.tails[:, k] >= 0)))
    yield "a target side has a third nonterminal", bool(np.any(h.words < -2))
    bad = len(h.feature_ids) and (h.feature_ids.min() < 0 or (features is not None and h.feature_ids.max() >= features))
    yield "a feature has no name", bool(bad)
    yield "a feature value is not finite", not bool(np.isfinite(h.feature_values).all())


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


def edge_scores(
    hypergraph: Hypergraph,
    weights: npt.ArrayLike,
    gamma: float = 1.0,
    fixed: np.ndarray | None = None,
    pool: Pool | None = None,
) -> np.ndarray:
    """Return ``gamma * weights . features + fixed`` of each edge [edges, float64]."""
    h, out = hypergraph, np.empty(hypergraph.edges)
    weights = np.ascontiguousarray(weights, np.float64)
    fixed = np.zeros(0) if fixed is None else np.ascontiguousarray(fixed, np.float64)

    def work(block: tuple[int, int]) -> None:
        e, f = h.edge_offsets[h.node_offsets[list(block)]]
        kernels_semirings.edge_scores(
            h.feature_offsets, h.feature_ids, h.feature_values, weights, fixed, float(gamma), e, f, out
        )

    run_blocks(pool, work, h.blocks())
    return out


def run_blocks(pool: Pool | None, work: Callable[[_Block], _Result], blocks: Iterable[_Block]) -> list[_Result]:
    """Call ``work`` on the blocks, on a pool if there is one; return the results in order."""
    return pool.map(work, blocks) if pool is not None else [work(block) for block in blocks]


def united(first: Hypergraph, second: Hypergraph) -> Hypergraph:
    """Put two hypergraphs of the same sentences together: each sentence has the derivations of both.

    A derivation that both have comes twice. Above the two roots there is a new one, by edges without features.
    """
    roots = np.stack([first.roots, second.roots], axis=1)
    pieces = []
    for s in range(len(first)):
        edges = int((roots[s] >= 0).sum())
        pieces += [first.part(s, s + 1), second.part(s, s + 1), _tops(edges)]
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


def _tops(edges: int) -> Hypergraph:
    """Return the node over the roots of a sentence, if there are any; its tails are yet to be set."""
    nodes, none = int(edges > 0), np.zeros(0, np.int32)
    return Hypergraph(
        np.array([0, nodes]),
        np.array([0 if nodes else -1]),
        np.array([0, edges][: nodes + 1], np.int64),
        np.full((edges, 2), -1, np.int32),
        np.full(edges, -1, np.int32),
        np.zeros(edges + 1, np.int64),
        none,
        np.zeros(0, np.float32),
        np.arange(edges + 1),
        np.full(edges, -1, np.int32),
        np.zeros((nodes, 4), np.int32),
        np.zeros((nodes, 4), np.int32),
        np.zeros(nodes, np.int32),
    )
