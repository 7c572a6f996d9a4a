"""Arrays that the decoder's kernels take together, by what they describe.

Named tuples, because compiled code takes them as it takes arrays: the same memory, one parameter.
"""

from typing import NamedTuple

import numpy as np


class RuleTables(NamedTuple):
    """A grammar's rules as the search walks over them, under some weights.

    steps, children (uint64, int32 [a power of two]): The trie's steps by words; see `kernels_trie`.
    nodes (int32 [trie nodes, 4]): Step by a nonterminal (-1 none); where the node's rules begin, and how many; whether
        there are steps by words.
    target_offsets, target (int64 [rules + 5], int32): Target sides, with those of the pseudo-rules.
    """

    steps: np.ndarray
    children: np.ndarray
    nodes: np.ndarray
    ordered: np.ndarray  # int32 [rules + 4]: Rules of each node, best first; then the pseudo-rules
    scores: np.ndarray  # float64 [rules + 4, 2]: Score without language model; estimate with it
    target_offsets: np.ndarray
    target: np.ndarray


class RuleFeatures(NamedTuple):
    """Features of a grammar's rules; none of them depends on weights.

    words, unknown, arity (int32 [rules]): Target words, those of them that the language model does not know, and
        nonterminals.
    """

    dense: np.ndarray  # float32 [rules, K]
    words: np.ndarray
    unknown: np.ndarray
    arity: np.ndarray
    estimates: np.ndarray  # float32 [rules]: Log-probability of the target side; see `kernels_state.estimate_rules`
    sparse_offsets: np.ndarray  # int64 [rules + 1]
    sparse_ids: np.ndarray  # int32
    sparse_values: np.ndarray  # float32


class ModelTables(NamedTuple):
    """A language model.

    unigrams, keys, values: See `lm.language_model.NgramModel`.
    """

    ids: np.ndarray  # int32: Target id to the model's; ``ids[0]`` is the end of the sentence
    unigrams: np.ndarray
    keys: np.ndarray
    values: np.ndarray


class Context(NamedTuple):
    """Working memory of the language model, of the order's number of elements."""

    words: np.ndarray  # int32: The words before the next one, in order, from place 0
    backoffs: np.ndarray  # float32: Of the contexts that the last 1, 2, ... words are.
    fresh: np.ndarray  # float32: The backoffs that a new word leaves
    result: np.ndarray  # int64 [2]: Order of the longest n-gram found, and the new number of words
    tails: np.ndarray  # int64 [2]: Hypotheses of the rule's nonterminals


def empty_context(order: int) -> Context:
    """Return working memory for a model of this order."""
    floats = np.zeros(order + 1, np.float32), np.zeros(order + 1, np.float32)
    return Context(np.zeros(order + 1, np.int32), *floats, np.zeros(2, np.int64), np.zeros(2, np.int64))


class DecoderChart(NamedTuple):
    """Where each cell's rules and hypotheses are.

    active, gaps (int32 [*, 3]): Trie node and two cells of active items: all, and those that a nonterminal may follow
        (its node is given then).
    active_at, gaps_at (int64 [nodes]): Where the items that end at each node begin.
    cells (int32 [*, 2]): Where a cell's hypotheses begin in ``ordered``, and how many: first the cells of X
        (`Arcs.cells`), then those of S to each node, and the goal's.
    cubes (int32 [*, 4]): First rule in `RuleTables.ordered`, how many, and the cells of the two nonterminals.
    """

    active: np.ndarray
    gaps: np.ndarray
    active_at: np.ndarray
    gaps_at: np.ndarray
    cells: np.ndarray
    ordered: np.ndarray  # int32 [*]: Hypotheses of each cell, best first
    cubes: np.ndarray


class Items(NamedTuple):
    """What a cell may take: combinations of a rule and hypotheses, and the queue of them.

    rows (int32 [*, 5]): Cube, places of the rule and of both hypotheses, and whether the language model has scored it.
    states, floats (int32, float32 [*, width]): See `kernels_state`.
    seen, slots (int64, int32 [a power of two, at least twice the items]): Tables of the items, and of the cell's
        hypotheses by state.
    """

    rows: np.ndarray
    scores: np.ndarray  # float64 [*]
    estimates: np.ndarray  # float64 [*]
    gains: np.ndarray  # float32 [*]: Log-probability that the language model adds
    states: np.ndarray
    floats: np.ndarray
    heap_keys: np.ndarray  # float64 [*]
    heap_rows: np.ndarray  # int32 [*]
    seen: np.ndarray
    slots: np.ndarray


class Hypotheses(NamedTuple):
    """What the search found.

    rows (int32 [*, 3]): Best rule, and tails: hypotheses, -1, or ``-2 - position`` for a word passed through.
    states, floats (int32, float32 [*, width]): See `kernels_state`.
    """

    rows: np.ndarray
    scores: np.ndarray  # float64 [*]
    states: np.ndarray
    floats: np.ndarray
    edges: np.ndarray  # int32 [*, 4]: Hyperedges, if they are kept: hypothesis, rule, tails
    gains: np.ndarray  # float32 [*]: Log-probability that the language model adds on each
    paths: np.ndarray  # int32 [*]: Row of `Paths.rows` for the words that each covers itself


class Arcs(NamedTuple):
    """A lattice; its nodes are numbered so that arcs lead on.

    cells (int32 [nodes, nodes]): The cell of X from one node to another, or a number below 0; see
        `kernels_decoder.number_cells`.
    """

    words: np.ndarray  # int32 [arcs]: Source ids
    begins: np.ndarray  # int32 [arcs]: Where each begins
    at: np.ndarray  # int64 [nodes + 1]: Those that end at node ``j`` are ``at[j]:at[j + 1]``
    scores: np.ndarray  # float64 [arcs]: Weights times features
    cells: np.ndarray


class Paths(NamedTuple):
    """Which arcs of a lattice a source side has matched, and where items end.

    active, gaps, cubes (int32 [*]): The path of each of `DecoderChart.active`, `DecoderChart.gaps` and
        `DecoderChart.cubes`.
    ends (int64 [nodes, 2]): Where the items that end at a node end in `DecoderChart.active` and `DecoderChart.gaps`;
        `DecoderChart.active_at` and `DecoderChart.gaps_at` say where they begin.
    """

    active: np.ndarray
    gaps: np.ndarray
    cubes: np.ndarray
    ends: np.ndarray
    rows: np.ndarray  # int32 [*, 2]: Of a path the one before its last arc, and that arc. The first is the empty path.
    scores: np.ndarray  # float64 [*]: Of all arcs of a path


class ForestArrays(NamedTuple):
    """The arrays of a `Hypergraph` that `kernels_forest.write_forest` fills; see there."""

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
