"""What a translation system needs whatever its weights are: the trie of rules, their features, the language model; and
memory that the decoder works in, enlarged where a sentence needs more.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aligntools.formats.translation.grammar import GrammarRules
from aligntools.ground import memory
from aligntools.translating.decoding import kernels_decoder as kernels
from aligntools.translating.decoding import kernels_state
from aligntools.translating.decoding.kernels_tables import (
    DecoderChart,
    Hypotheses,
    Items,
    ModelTables,
    Paths,
    RuleFeatures,
    RuleTables,
    empty_context,
)
from aligntools.translating.grammar import kernels_trie
from aligntools.translating.lm.kernels_lm import END
from aligntools.translating.lm.language_model import NgramModel


@dataclass(eq=False)
class Trie:
    """A trie over source sides; weights do not enter it, so tuning builds it once.

    keys, children (uint64, int32 [a power of two]): Steps by words (see `kernels_trie`).
    """

    keys: np.ndarray
    children: np.ndarray
    by_gap: np.ndarray  # int32 [nodes]: The step by a nonterminal, -1 where there is none
    rule_at: np.ndarray  # int64 [nodes + 1]: Where the rules of each node begin in ``rules``
    rules: np.ndarray  # int32 [rules]: Rule numbers, node after node

    def __len__(self) -> int:
        return len(self.by_gap)

    def ordered(self, scores: np.ndarray) -> np.ndarray:
        """Return ``rules`` with each node's in falling order of score [float32, one a rule], equals by number."""
        nodes = np.repeat(np.arange(len(self)), np.diff(self.rule_at))
        return self.rules[np.lexsort((-np.asarray(scores, np.float32)[self.rules], nodes))]


def build_trie(source_offsets: np.ndarray, source: np.ndarray) -> Trie:
    """Build the trie of a grammar's source sides.

    source_offsets (int64 [rules + 1]).
    source (int32): Word ids (positive), -1 and -2 for the nonterminals; rules with the same source side follow one
        another (where they do not, building only takes longer).
    """
    n_rules = len(source_offsets) - 1
    longest = int(np.diff(source_offsets).max(initial=0))
    keys, children = np.zeros(1 << 12, np.uint64), np.empty(1 << 12, np.int32)
    by_gap = np.full(1 << 11, -1, np.int32)
    ends = np.empty(n_rules, np.int32)
    used = np.array([1, 0], np.int64)
    rule = 0
    while True:
        rule = kernels_trie.enter_rules(rule, source_offsets, source, used, keys, children, by_gap, ends)
        if rule == n_rules:
            break
        if used[0] + longest > len(by_gap):
            by_gap = np.concatenate([by_gap, np.full(len(by_gap) + longest, -1, np.int32)])
        if 2 * (used[1] + longest) > len(keys):
            size = 1 << int(4 * (used[1] + longest)).bit_length()
            new_keys, new_children = np.zeros(size, np.uint64), np.empty(size, np.int32)
            kernels_trie.move_steps(keys, children, new_keys, new_children)
            keys, children = new_keys, new_children
    nodes = int(used[0])
    rule_at = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=nodes), out=rule_at[1:])
    rules = np.argsort(ends, kind="stable").astype(np.int32)
    return Trie(keys, children, by_gap[:nodes].copy(), rule_at, rules)


#: Features of the decoder, in order: they come after the grammar's own and before its sparse ones.
COUNTS = ("word-penalty", "arity-0", "arity-1", "arity-2", "glue-unary", "glue-binary", "unknown", "lm-unknown")


def feature_names(grammar: GrammarRules) -> list[str]:
    """Return the names of a system's features, in order."""
    return ["lm", *grammar.feature_names, *COUNTS, *grammar.sparse_names]


@dataclass(eq=False)
class RuleIndex:
    """A grammar's rules by the first word of their source sides.

    source_offsets, source (int64 [rules + 1], int32): The grammar's source sides.
    """

    source_offsets: np.ndarray
    source: np.ndarray
    rules: np.ndarray  # int32 [rules]
    starts: np.ndarray  # int64 [source words + 2]: Where those of each word begin; of rules without words, under 0
    alone: np.ndarray  # bool [source words + 1]: Which words are a source side by themselves

    @classmethod
    def of(cls, grammar: GrammarRules) -> "RuleIndex":
        """Index a grammar."""
        size, count = len(grammar.source_vocabulary) + 1, len(grammar)
        rule = np.repeat(np.arange(count), np.diff(grammar.source_offsets))
        key, places = np.zeros(count, np.int64), np.flatnonzero(grammar.source > 0)[::-1]
        key[rule[places]] = grammar.source[places]  # the first of a rule is written last
        lone = grammar.source[grammar.source_offsets[:-1][np.diff(grammar.source_offsets) == 1]]
        alone = np.zeros(size, np.bool_)
        alone[lone[lone > 0]] = True
        starts = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=size))]).astype(np.int64)
        sides = np.array(grammar.source_offsets, np.int64), np.array(grammar.source, np.int32)
        return cls(*sides, np.argsort(key, kind="stable").astype(np.int32), starts, alone)


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


@dataclass(eq=False)
class PreparedSystem:
    """What does not depend on the weights; `kernels_tables.ordered` and `kernels_tables.scores` are yet to be made."""

    trie: Trie
    tables: RuleTables
    features: RuleFeatures
    model: ModelTables
    order: int
    workspaces: list[Workspace] = field(default_factory=list)  # Those that no thread is using
    index: RuleIndex | None = None  # Once translations were forced

    @property
    def rules(self) -> int:
        """Rules of the grammar."""
        return len(self.features.words)

    def take_workspace(self) -> Workspace:
        """Return a workspace that no other thread has."""
        try:
            return self.workspaces.pop()
        except IndexError:
            return Workspace(self.order)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"workspaces": []}


def prepare(grammar: GrammarRules, lm: NgramModel | None) -> PreparedSystem:
    """Return what a grammar and a language model are for the search, before there are weights."""
    n_rules = len(grammar.target_offsets) - 1
    trie = build_trie(grammar.source_offsets, grammar.source)
    nodes = np.zeros((len(trie), 4), np.int32)
    nodes[:, kernels.GAP] = trie.by_gap
    nodes[:, kernels.FIRST], nodes[:, kernels.COUNT] = trie.rule_at[:-1], np.diff(trie.rule_at)
    nodes[(trie.keys[trie.keys != 0] >> np.uint64(32)).astype(np.int64), kernels.WORDS] = 1
    target = np.concatenate([grammar.target, np.array([-1, -1, -2, -1, 0], np.int32)]).astype(np.int32)
    ends = grammar.target_offsets[-1] + np.array([0, 1, 3, 5], np.int64)
    target_offsets = np.concatenate([grammar.target_offsets, ends])
    if lm is None:
        lm_ids, order = np.zeros(len(grammar.target_vocabulary), np.int32), 1
        arrays = np.zeros((END + 1, 2), np.float32), np.zeros(1, np.uint64), np.zeros((1, 2), np.float32)
    else:
        lm_ids, order, arrays = lm.ids(grammar.target_vocabulary).astype(np.int32), lm.order, lm.arrays
    lm_ids[0] = END  # of the goal; no word has the id 0
    model = ModelTables(lm_ids, *arrays)
    estimates = np.empty(n_rules, np.float32)
    words, unknown = np.empty(n_rules, np.int32), np.empty(n_rules, np.int32)
    context = empty_context(order)
    kernels_state.estimate_rules(0, n_rules, target_offsets, target, model, context, estimates, words, unknown)
    gaps = np.concatenate([np.zeros(1, np.int64), np.cumsum(grammar.source < 0)])
    arity = np.diff(gaps[grammar.source_offsets]).astype(np.int32)
    dense = np.ascontiguousarray(grammar.features, np.float32)
    features = RuleFeatures(
        dense, words, unknown, arity, estimates, grammar.sparse_offsets, grammar.sparse_ids, grammar.sparse_values
    )
    tables = RuleTables(
        trie.keys, trie.children, nodes, np.empty(0, np.int32), np.empty((0, 2)), target_offsets, target
    )
    return PreparedSystem(trie, tables, features, model, order)
