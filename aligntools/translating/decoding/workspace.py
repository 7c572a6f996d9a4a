"""Memory that the decoder works in: kept from sentence to sentence, enlarged where a sentence needs more."""

import numpy as np

from aligntools.ground import memory
from aligntools.translating.decoding import kernels_decoder as kernels
from aligntools.translating.decoding.kernels_tables import DecoderChart, Hypotheses, Items, Paths, empty_context

#: Bytes of an element, about, and growth from which the bound on memory is looked at.
_EACH, _MUCH = 200, 1 << 26


class Workspace:
    """What `kernels_decoder.decode` writes; ``counts`` are int64 [4]."""

    def __init__(self, order: int) -> None:
        self._order, self._whole = order, False
        self._sizes = {
            kernels.NO_ACTIVE: 1 << 13,
            kernels.NO_CUBES: 1 << 12,
            kernels.NO_ITEMS: 1 << 12,
            kernels.NO_NODES: 1 << 13,
            kernels.NO_EDGES: 1 << 10,
            kernels.NO_PATHS: 1 << 13,
        }
        none = np.empty(0, np.int32)
        self.context, self.counts = empty_context(order), np.zeros(4, np.int64)
        self.chart, self.hypotheses, self.paths = DecoderChart(*[none] * 7), Hypotheses(*[none] * 7), Paths(*[none] * 6)
        for what in self._sizes:
            self._make(what)

    def fit(self, nodes: int, cells: int, whole: bool, keep: bool) -> None:
        """Make room for a lattice's nodes and cells, for states that are whole or not, and for hyperedges."""
        if cells > len(self.chart.cells):
            self.chart = self.chart._replace(cells=np.empty((2 * cells, 2), np.int32))
        if nodes > len(self.paths.ends):
            active_at, gaps_at = np.empty(2 * nodes, np.int64), np.empty(2 * nodes, np.int64)
            self.chart = self.chart._replace(active_at=active_at, gaps_at=gaps_at)
            self.paths = self.paths._replace(ends=np.empty((2 * nodes, 2), np.int64))
        if keep and self._sizes[kernels.NO_EDGES] < self._sizes[kernels.NO_NODES]:
            self._sizes[kernels.NO_EDGES] = 2 * self._sizes[kernels.NO_NODES]
            self._make(kernels.NO_EDGES)
        if whole != self._whole:
            self._whole = whole
            self._make(kernels.NO_ITEMS)
            self._make(kernels.NO_NODES)

    def enlarge(self, what: int) -> None:
        """Make the arrays that were too small twice as large."""
        more = self._sizes[what] * _EACH
        if more > _MUCH:
            memory.ask(more, "a long sentence")
        self._sizes[what] *= 2
        self._make(what)

    def _states(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        context = self._order - 1
        width = 2 + 2 * context + 9 * self._whole
        return np.empty((size, width), np.int32), np.empty((size, max(1, 2 * context)), np.float32)

    def _make(self, what: int) -> None:
        size = self._sizes[what]
        if what == kernels.NO_ACTIVE:
            active, gaps = np.empty((size, 3), np.int32), np.empty((size, 3), np.int32)
            self.chart = self.chart._replace(active=active, gaps=gaps)
            self.paths = self.paths._replace(active=np.empty(size, np.int32), gaps=np.empty(size, np.int32))
        elif what == kernels.NO_CUBES:
            self.chart = self.chart._replace(cubes=np.empty((size, 4), np.int32))
            self.paths = self.paths._replace(cubes=np.empty(size, np.int32))
        elif what == kernels.NO_ITEMS:
            scored = np.empty((size, 5), np.int32), np.empty(size), np.empty(size), np.empty(size, np.float32)
            queue = np.empty(size), np.empty(size, np.int32)
            found = np.empty(2 * size, np.int64), np.empty(2 * size, np.int32)
            self.items = Items(*scored, *self._states(size), *queue, *found)
        elif what == kernels.NO_NODES:
            states, floats = self._states(size)
            rows, scores = np.empty((size, 3), np.int32), np.empty(size)
            self.hypotheses = self.hypotheses._replace(rows=rows, scores=scores, states=states, floats=floats)
            self.chart = self.chart._replace(ordered=np.empty(size, np.int32))
        elif what == kernels.NO_PATHS:
            self.paths = self.paths._replace(rows=np.empty((size, 2), np.int32), scores=np.empty(size))
        else:
            edges, gains, paths = np.empty((size, 4), np.int32), np.empty(size, np.float32), np.empty(size, np.int32)
            self.hypotheses = self.hypotheses._replace(edges=edges, gains=gains, paths=paths)
