"""Memory that the decoder works in: kept from sentence to sentence, enlarged where a sentence needs more."""

import numpy as np

from aligntools.translating.decoding import kernels_decoder as kernels


class Room:
    """Arrays that `kernels_decoder.decode` writes; see there what each is.

    Parameters
    ----------
    order : int
        Of the language model.
    """

    def __init__(self, order):
        self._context = order - 1
        self._whole = False
        self._sizes = {kernels.NO_ACTIVE: 1 << 13, kernels.NO_CUBES: 1 << 12, kernels.NO_ITEMS: 1 << 12,
                       kernels.NO_NODES: 1 << 13, kernels.NO_EDGES: 1 << 10}  # fmt: skip
        self._cells = np.empty((1 << 8, 2), np.int32)
        self._at = np.empty((2, 16), np.int64)
        self.counts = np.zeros(4, np.int64)
        for what in self._sizes:
            self._make(what)

    def fit(self, words, span, whole, keep):
        """Make room for a sentence's cells, for states that are whole or not, and for hyperedges."""
        cells = words * span + words + 1
        if cells > len(self._cells):
            self._cells = np.empty((2 * cells, 2), np.int32)
        if span + 2 > self._at.shape[1]:
            self._at = np.empty((2, 2 * span + 2), np.int64)
        if keep and self._sizes[kernels.NO_EDGES] < self._sizes[kernels.NO_NODES]:
            self._sizes[kernels.NO_EDGES] = 2 * self._sizes[kernels.NO_NODES]
            self._make(kernels.NO_EDGES)
        if whole != self._whole:
            self._whole = whole
            self._make(kernels.NO_ITEMS)
            self._make(kernels.NO_NODES)

    def enlarge(self, what):
        """Make the arrays that were too small twice as large."""
        self._sizes[what] *= 2
        self._make(what)

    def _make(self, what):
        size = self._sizes[what]
        width, floats = 2 + 2 * self._context + 9 * self._whole, max(1, 2 * self._context)
        if what == kernels.NO_ACTIVE:
            self._active, self._gaps = np.empty((size, 3), np.int32), np.empty((size, 3), np.int32)
        elif what == kernels.NO_CUBES:
            self._cubes = np.empty((size, 4), np.int32)
        elif what == kernels.NO_ITEMS:
            self._items, self._item_scores = np.empty((size, 5), np.int32), np.empty(size)
            self._item_estimates, self._item_gains = np.empty(size), np.empty(size, np.float32)
            self._item_states, self._item_floats = (
                np.empty((size, width), np.int32),
                np.empty((size, floats), np.float32),
            )
            self._heap_keys, self._heap_items = np.empty(size), np.empty(size, np.int32)
            self._seen = np.empty(2 * size, np.int64)
            self._slots = np.empty(2 * size, np.int32)
        elif what == kernels.NO_NODES:
            self.nodes, self.node_scores = np.empty((size, 3), np.int32), np.empty(size)
            self.node_states, self._node_floats = (
                np.empty((size, width), np.int32),
                np.empty((size, floats), np.float32),
            )
            self._sorted = np.empty(size, np.int32)
        else:
            self.edges, self.edge_gains = np.empty((size, 4), np.int32), np.empty(size, np.float32)

    @property
    def arrays(self):
        """All of them, in the kernel's order."""
        return (
            self._active, self._at[0], self._gaps, self._at[1], self._cells, self._sorted, self._cubes,
            self._items, self._item_scores, self._item_estimates, self._item_gains,
            self._item_states, self._item_floats,
            self._heap_keys, self._heap_items, self._seen,
            self._slots, self.nodes, self.node_scores, self.node_states, self._node_floats,
            self.edges, self.edge_gains, self.counts,
        )  # fmt: skip
