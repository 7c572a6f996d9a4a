"""Forced decoding: which derivations of a sentence yield a given translation."""

from dataclasses import dataclass

import numpy as np

from aligntools.formats.translation.grammar import GrammarRules
from aligntools.translating.decoding import kernels_forced_decoding
from aligntools.translating.decoding.kernels_tables import ModelTables, RuleTables
from aligntools.translating.decoding.workspace import Workspace


@dataclass(eq=False)
class RuleIndex:
    """A grammar's rules by the first word of their source sides.

    source_offsets, source (int64 [rules + 1], int32): The grammar's source sides.
    rules (int32 [rules]).
    starts (int64 [source words + 2]): Where those of each word begin; of rules without words, under 0.
    alone (bool [source words + 1]): Which words are a source side by themselves.
    """

    source_offsets: np.ndarray
    source: np.ndarray
    rules: np.ndarray
    starts: np.ndarray
    alone: np.ndarray

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


def derive(
    words: np.ndarray,
    passed: np.ndarray,
    given: np.ndarray,
    workspace: Workspace,
    index: RuleIndex,
    rules: RuleTables,
    model: ModelTables,
    span_limit: int,
    pass_known: bool,
) -> int | None:
    """Fill the workspace with all derivations of a translation; return the goal, or None where there is none."""
    if not len(given) or (given >= len(model.ids)).any():
        return None
    span, size = min(span_limit, len(words)), len(given) + 2
    has_source, has_target = np.zeros(len(index.alone), np.bool_), np.zeros(len(model.ids), np.bool_)
    has_source[words], has_target[given] = True, True
    keys = np.unique(np.append(words, 0)).tolist()  # rules begin with one of these words, or with none
    candidates = np.concatenate([index.rules[index.starts[k] : index.starts[k + 1]] for k in keys])
    alone = index.alone[words] | (not pass_known) & (words != 0)
    workspace.fit(0, len(words) * span + len(words) + 1, False, True)
    n_rules = len(rules.ordered) - 4
    sides = index.source_offsets, index.source, rules.target_offsets, rules.target
    rest, scores = (sides, has_source, has_target, n_rules, model), np.zeros((size, size))
    while True:
        place, hypotheses = np.full((size, size), -1, np.int64), workspace.hypotheses
        items = kernels_forced_decoding.ForcedItems(scores, place, workspace.chart.cells, hypotheses, workspace.counts)
        status = kernels_forced_decoding.derive(
            words, passed, alone, given, candidates.copy(), span, *rest, workspace.context, items
        )
        if status >= 0:
            return int(status)
        if status == kernels_forced_decoding.UNREACHABLE:
            return None
        workspace.enlarge(status)
