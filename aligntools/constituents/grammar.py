"""A grammar of constituents in arrays: symbols with substates, and blocks of probabilities for their rules.

A *symbol* is a tag, a label of the treebank, or an intermediate symbol of a binary tree; in a grammar with latent
annotations (Matsuzaki, Miyao & Tsujii 2005) it has *substates*. A rule of symbols has a block of probabilities, one for
each combination of substates. Chains of constituents with one child are one step from the first to the last of them;
which ones stood between is remembered.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from aligntools.constituents.kernels_chart import Rules

#: Weights under this are lost in the sum of a state's rules, which is 1; charts leave them out.
_LOST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class ConstituentGrammar:
    """Rules and their probabilities, given the parent.

    symbols: Tags first.
    substates (int32 [symbols]): How many each symbol has.
    binary (int32 [binary rules, 3]): Parent, left and right child, sorted by left, right, parent.
    binary_weights (float64 [...]): Blocks [substates of the parent, of the left, of the right child], one after the
        other.
    unary (int32 [unary rules, 2]): Parent and child, sorted by child.
    unary_weights (float64 [...]): Blocks [substates of the parent, of the child].
    roots (float64 [states]): Of symbols' states above a sentence; a *state* is a symbol's substate, those of a symbol
        side by side.
    paths: Labels between parent and child of each unary rule, from above.
    """

    symbols: tuple[str, ...]
    n_tags: int
    substates: np.ndarray
    binary: np.ndarray
    binary_weights: np.ndarray
    unary: np.ndarray
    unary_weights: np.ndarray
    roots: np.ndarray
    paths: tuple[tuple[str, ...], ...]

    @cached_property
    def first(self) -> np.ndarray:
        """The first state of each symbol, and how many there are: int64 [symbols + 1]."""
        return np.append(0, np.cumsum(self.substates)).astype(np.int64)

    @cached_property
    def binary_at(self) -> np.ndarray:
        """Where the block of each binary rule begins, and the end: int64 [binary rules + 1]."""
        sizes = self.substates[self.binary].astype(np.int64).prod(1)
        return np.append(0, np.cumsum(sizes))

    @cached_property
    def unary_at(self) -> np.ndarray:
        """Where the block of each unary rule begins, and the end: int64 [unary rules + 1]."""
        sizes = self.substates[self.unary].astype(np.int64).prod(1)
        return np.append(0, np.cumsum(sizes))

    @cached_property
    def by_left(self) -> np.ndarray:
        """Where the binary rules of each left child begin, and the end: int64 [symbols + 1]."""
        return np.searchsorted(self.binary[:, 1], np.arange(len(self.symbols) + 1)).astype(np.int64)

    @cached_property
    def by_child(self) -> np.ndarray:
        """Where the unary rules of each child begin, and the end: int64 [symbols + 1]."""
        return np.searchsorted(self.unary[:, 1], np.arange(len(self.symbols) + 1)).astype(np.int64)

    @cached_property
    def rules(self) -> Rules:
        """The grammar as the kernels of charts read it."""
        binary = self._counting(self.binary, self.binary_at, self.binary_weights)
        unary = self._counting(self.unary, self.unary_at, self.unary_weights)
        symbols = np.ascontiguousarray(self.binary), np.ascontiguousarray(self.unary)
        return Rules(self.first, symbols[0], *binary, self.by_left, symbols[1], *unary, self.by_child, self.roots)

    def _counting(
        self, rules: np.ndarray, at: np.ndarray, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the weights of rules that count: where those of each rule begin, their states, and themselves."""
        kept = np.flatnonzero(weights > _LOST)
        edges = np.searchsorted(kept, at)
        own = rules.repeat(np.diff(edges), axis=0)
        within, states = kept - at[:-1].repeat(np.diff(edges)), np.empty(own.shape, np.int32)
        for column in reversed(range(own.shape[1])):
            within, states[:, column] = np.divmod(within, self.substates[own[:, column]])
        states += self.first[own].astype(np.int32)
        return edges, states, weights[kept]

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.first[-1])

    def totals(self) -> np.ndarray:
        """Return the sum of the weights of each state's rules, float64 [states]; 0 of tags."""
        found = np.zeros(self.n_states)
        for rules, at, weights in (
            (self.binary, self.binary_at, self.binary_weights),
            (self.unary, self.unary_at, self.unary_weights),
        ):
            states, inner = self._parents(rules, at)
            begins = np.append(0, np.cumsum(inner))[:-1]
            np.add.at(found, states, np.add.reduceat(weights, begins) if len(weights) else np.zeros(0))
        return found

    def normalized(self) -> "ConstituentGrammar":
        """Return the grammar whose weights sum to 1 for each state; a state without rules has none."""
        totals = self.totals()
        scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
        roots = self.roots / max(self.roots.sum(), 1e-300)
        return self.with_weights(
            self.binary_weights * self._by_parent(scale, self.binary, self.binary_at),
            self.unary_weights * self._by_parent(scale, self.unary, self.unary_at),
            roots,
        )

    def with_weights(self, binary: np.ndarray, unary: np.ndarray, roots: np.ndarray) -> "ConstituentGrammar":
        """Return the same rules with other weights."""
        return replace(self, binary_weights=binary, unary_weights=unary, roots=roots)

    def _by_parent(self, values: np.ndarray, rules: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Spread values of states over the blocks of rules, by the parent's state."""
        states, inner = self._parents(rules, at)
        return np.asarray(values[states].repeat(inner))

    def _parents(self, rules: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the states of rules' parents, and how many weights of the rule each has."""
        parents = self.substates[rules[:, 0]]
        begins = np.append(0, np.cumsum(parents))
        inside = np.arange(int(begins[-1])) - begins[:-1].repeat(parents)
        states = self.first[rules[:, 0]].repeat(parents) + inside
        return states, (np.diff(at) // np.maximum(parents, 1)).repeat(parents)

    def projected(
        self, frequencies: np.ndarray, classes: np.ndarray, names: tuple[str, ...], n_tags: int
    ) -> "ConstituentGrammar":
        """Return the grammar of classes of symbols whose rules are as frequent as this one's (Petrov & Klein 2007).

        Of unary rules that become one, what stands between the labels is that of the most frequent.

        frequencies (float64 [states]): How often each state occurs.
        classes (int64 [symbols]): Of each symbol; those of tags first.
        """
        share = np.maximum(frequencies, 1e-300)
        of_states = classes.repeat(self.substates)
        share = share / np.bincount(of_states, share, len(names))[of_states]
        rules: list[np.ndarray] = []
        most: list[np.ndarray] = []
        for own, at, weights, order in (
            (self.binary, self.binary_at, self.binary_weights, [1, 2, 0]),
            (self.unary, self.unary_at, self.unary_weights, [1, 0]),
        ):
            sums = weights * self._by_parent(share, own, at)
            sums = np.add.reduceat(sums, at[:-1]) if len(sums) else sums
            found, place = np.unique(classes[own][:, order], axis=0, return_inverse=True)
            ranked = np.lexsort((-sums, place.ravel()))
            most.append(ranked[np.append(True, np.diff(place.ravel()[ranked]) != 0)] if len(ranked) else ranked)
            back = np.argsort(order)
            summed = np.bincount(place.ravel(), sums, len(found)).astype(np.float64)  # integers where empty
            rules += [found[:, back].astype(np.int32), summed]
        roots = np.bincount(of_states, self.roots, len(names))
        ones = np.ones(len(names), np.int32)
        binary, binary_weights, unary, unary_weights = rules
        paths = tuple(self.paths[k] for k in most[1].tolist())
        return ConstituentGrammar(names, n_tags, ones, binary, binary_weights, unary, unary_weights, roots, paths)
