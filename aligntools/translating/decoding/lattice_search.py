"""Decoding lattices: cells are pairs of nodes, and arcs have features."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from aligntools.ground import memory
from aligntools.translating.decoding import kernels_lattice as kernels
from aligntools.translating.decoding.kernels_decoder import KEEP_EDGES, SPAN_LIMIT, WHOLE_STATES
from aligntools.translating.decoding.kernels_tables import Arcs, ModelTables, RuleTables
from aligntools.translating.decoding.workspace import Workspace
from aligntools.translating.forest.candidates import offsets_of
from aligntools.translating.forest.hypergraph import Hypergraph

# Text as the decoder takes it


@dataclass(eq=False)
class EncodedText:
    """Text to be translated by one system.

    tokens (int32 [words]): Ids of the grammar's source vocabulary; 0 for words that are not in it.
    offsets (int64 [sentences + 1]).
    passed (int32 [words]): The target id that each word has when it is passed through: of the same word in the target
        vocabulary, or one past it, ``len(vocabulary) + k`` for ``extra[k]``.
    extra: Words that are not in the target vocabulary.
    """

    ROWS: ClassVar[tuple[str, ...]] = ("tokens", "passed")
    tokens: np.ndarray
    offsets: np.ndarray
    passed: np.ndarray
    extra: list[bytes]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, begin: int, end: int) -> Self:
        """Return the sentences ``begin..end`` by themselves, with the same ``extra``."""
        a, b = self.offsets[begin], self.offsets[end]
        rows = {name: getattr(self, name)[a:b] for name in self.ROWS}
        return replace(self, offsets=self.offsets[begin : end + 1] - a, **rows)


#: Bytes of the table of pairs of nodes from which the bound on memory is looked at.
_MUCH = 1 << 26


@dataclass(eq=False)
class Lattices(EncodedText):
    """Lattices to be translated by one system: `EncodedText` whose words are those of arcs.

    begins, ends, values: See `aligntools.translating.lattices.LatticeLines`.
    """

    ROWS = "tokens", "passed", "begins", "ends", "values"
    begins: np.ndarray
    ends: np.ndarray
    values: np.ndarray


def decode_lattice(
    lattices: Lattices,
    part: slice,
    scores: np.ndarray,
    settings: np.ndarray,
    lm_weights: np.ndarray,
    tables: RuleTables,
    model: ModelTables,
    workspace: Workspace,
) -> int:
    """Fill the workspace with the hypotheses of the lattice of some arcs; return the goal.

    scores (float64 [arcs]): Weights times features of each.
    """
    begins, ends, w = lattices.begins[part], lattices.ends[part], workspace
    nodes = int(ends[-1]) + 1
    if 4 * nodes * nodes > _MUCH:
        memory.ask(4 * nodes * nodes, "a lattice of many nodes")
    at = np.searchsorted(ends, np.arange(nodes + 1)).astype(np.int64)
    cells = np.empty((nodes, nodes), np.int32)
    count = kernels.number_cells(begins, at, int(settings[SPAN_LIMIT]), np.empty(nodes, np.int64), cells)
    arcs = Arcs(lattices.tokens[part], begins, at, scores, cells)
    w.fit_lattice(nodes, count, bool(settings[WHOLE_STATES]), bool(settings[KEEP_EDGES]))
    while True:
        room = w.context, w.chart, w.items, w.paths, w.hypotheses, w.counts
        status = kernels.decode_lattice(count, arcs, lattices.passed[part], settings, lm_weights, tables, model, *room)
        if status >= 0:
            return int(status)
        w.enlarge(status)


def with_arc_features(
    forest: Hypergraph, edges: np.ndarray, workspace: Workspace, values: np.ndarray, features: int
) -> Hypergraph:
    """Add the features of arcs to those of a lattice's hyperedges.

    edges (int64 [edges]): The number of each hyperedge in the workspace.
    values (float32 [arcs, arc features]).
    features: All features; those of arcs are the last.
    """
    sums = np.zeros((len(edges), values.shape[1]), np.float32)
    kernels.add_arc_features(edges, workspace.hypotheses.paths, workspace.paths.rows, values, sums)
    rows, columns = np.nonzero(sums)
    before = np.repeat(np.arange(forest.edges), np.diff(forest.feature_offsets))
    order = np.argsort(np.concatenate([before, rows]), kind="stable")
    ids = np.concatenate([forest.feature_ids, (columns + features - values.shape[1]).astype(np.int32)])
    return replace(
        forest,
        feature_offsets=offsets_of(np.bincount(np.concatenate([before, rows]), minlength=forest.edges)),
        feature_ids=ids[order],
        feature_values=np.concatenate([forest.feature_values, sums[rows, columns]])[order],
    )
