"""Reading what the decoder found: the best derivation's words, and all that the goal can be made of."""

import numpy as np

from aligntools.ground.compiler import kernel
from aligntools.translating.decoding.kernels_decoder import BINARY, PASSED, UNARY
from aligntools.translating.decoding.kernels_state import KEPT


@kernel(owning=False)
def read_best(goal, rows, n_rules, target_offsets, target, passed, stack, out):
    """Write the words of the best derivation; return how many, or -1 if ``stack`` or ``out`` is too small.

    rows (int32 [*, 3]): Of `kernels_tables.Hypotheses`.
    n_rules (int): Rules of the grammar; the pseudo-rules follow.
    target_offsets, target: As in `kernels_tables.RuleTables`.
    passed (int32 [words]), out (int32, output).
    stack (int64 [*, 2]): Working memory.
    """
    count, depth = 0, 1
    stack[0, 0], stack[0, 1] = goal, 0
    while depth > 0:
        node, at = stack[depth - 1, 0], stack[depth - 1, 1]
        rule = rows[node, 0]
        if count >= out.shape[0] or depth >= stack.shape[0]:
            return -1
        if rule == n_rules + PASSED:
            out[count] = passed[-2 - rows[node, 1]]
            count += 1
            depth -= 1
            continue
        if target_offsets[rule] + at >= target_offsets[rule + 1]:
            depth -= 1
            continue
        stack[depth - 1, 1] = at + 1
        symbol = target[target_offsets[rule] + at]
        if symbol > 0:
            out[count] = symbol
            count += 1
        elif symbol < 0:
            stack[depth, 0], stack[depth, 1] = rows[node, -symbol], 0
            depth += 1
    return count


@kernel(owning=False)
def reach(goal, n_nodes, n_edges, edges, reached, target_offsets, n_features, sparse_offsets, totals):
    """Find the hypotheses that the goal is made of, number them, and put their hyperedges by hypothesis.

    edges (int32 [*, 4]): Of `kernels_tables.Hypotheses`.
    reached: Filled: where each hypothesis's hyperedges begin in the next (int64 [hypotheses + 1]); hyperedges by
        hypothesis (int64 [edges]); the number of each hypothesis among those reached, children first, or -1 (int64).
    target_offsets (int64 [rules + 5]), sparse_offsets (int64 [rules + 1]).
    n_features (int): Features that a hyperedge has at most, without the sparse ones.
    totals (int64 [4], output): Nodes, hyperedges, and at most how many features and words they have.
    """
    edge_at, order, numbers = reached
    n_rules = sparse_offsets.shape[0] - 1
    for v in range(n_nodes + 1):
        edge_at[v] = 0
    for e in range(n_edges):
        edge_at[edges[e, 0] + 1] += 1
    for v in range(n_nodes):
        edge_at[v + 1] += edge_at[v]
        numbers[v] = edge_at[v]
    for e in range(n_edges):
        v = edges[e, 0]
        order[numbers[v]] = e
        numbers[v] += 1
    for v in range(n_nodes):
        numbers[v] = -1
    numbers[goal] = 0
    totals[:] = 0
    for v in range(goal, -1, -1):  # a hypothesis is made of earlier ones
        if numbers[v] < 0:
            continue
        totals[0] += 1
        for k in range(edge_at[v], edge_at[v + 1]):
            e = order[k]
            rule = edges[e, 1]
            totals[1] += 1
            totals[2] += n_features
            totals[3] += max(1, target_offsets[rule + 1] - target_offsets[rule])
            if rule < n_rules:
                totals[2] += sparse_offsets[rule + 1] - sparse_offsets[rule]
            for side in range(2, 4):
                if edges[e, side] >= 0:
                    numbers[edges[e, side]] = 0
    count = 0
    for v in range(n_nodes):
        if numbers[v] >= 0:
            numbers[v] = count
            count += 1


@kernel(inline=True, owning=False)
def _append(symbol, left, right, length):
    """Append a word to the first and last four of a node's; return the new length, 4 at most."""
    if length < KEPT:
        left[length] = symbol
    for k in range(KEPT - 1):
        right[k] = right[k + 1]
    right[KEPT - 1] = symbol
    return min(length + 1, KEPT)


@kernel(inline=True, owning=False)
def write_ends(v, node, rows, numbers, n_rules, target_offsets, target, passed, left, right, lengths):
    """Write the first and last words of a hypothesis, by its best derivation."""
    left[node, :] = 0
    right[node, :] = 0
    length, rule = np.int64(0), rows[v, 0]
    if rule == n_rules + PASSED:
        length = _append(np.int64(passed[-2 - rows[v, 1]]), left[node], right[node], length)
    else:
        for k in range(target_offsets[rule], target_offsets[rule + 1]):
            if target[k] > 0:
                length = _append(np.int64(target[k]), left[node], right[node], length)
            elif target[k] < 0:
                tail = numbers[rows[v, -target[k]]]
                size = lengths[tail]
                if size < KEPT:
                    for j in range(size):
                        length = _append(np.int64(left[tail, j]), left[node], right[node], length)
                else:
                    for j in range(length, KEPT):
                        left[node, j] = left[tail, j - length]
                    length = KEPT
                    for j in range(KEPT):
                        right[node, j] = right[tail, j]
    lengths[node] = length


@kernel(inline=True, fast=False, owning=False)
def _add_feature(ids, values, count, feature, value):
    """Write a feature unless it is 0; return how many there are."""
    if value != 0:
        ids[count], values[count] = feature, value
        count += 1
    return count


@kernel(inline=True, fast=False, owning=False)
def write_features(rule, pseudo, gain, with_lm, unknown, features, ids, values, n_features):
    """Write the features of a hyperedge; return how many there are so far.

    ``pseudo`` is the pseudo-rule, or below 0; ``unknown`` whether the model does not know the word passed through.
    """
    n_dense = features.dense.shape[1]
    at = 1 + n_dense  # the counts begin
    count, which = 0, -1
    if with_lm:
        n_features = _add_feature(ids, values, n_features, 0, gain)
    if pseudo < 0:
        for k in range(n_dense):
            n_features = _add_feature(ids, values, n_features, 1 + k, features.dense[rule, k])
        count, unknown = features.words[rule], features.unknown[rule]
        which = at + 1 + features.arity[rule]
    elif pseudo == PASSED:
        count, which = 1, at + 6
    elif pseudo == UNARY:
        which = at + 4
    elif pseudo == BINARY:
        which = at + 5
    n_features = _add_feature(ids, values, n_features, at, np.float32(count))
    if which >= 0:
        n_features = _add_feature(ids, values, n_features, which, np.float32(1))
    if with_lm:
        n_features = _add_feature(ids, values, n_features, at + 7, np.float32(unknown))
    if pseudo < 0:
        for k in range(features.sparse_offsets[rule], features.sparse_offsets[rule + 1]):
            ids[n_features], values[n_features] = at + 8 + features.sparse_ids[k], features.sparse_values[k]
            n_features += 1
    return n_features


@kernel(fast=False, owning=False)
def write_forest(n_nodes, hypotheses, reached, with_lm, rules, passed, passed_unknown, features, out):
    """Write what is reached as a hypergraph of one sentence.

    hypotheses: As `kernels_decoder.decode` leaves them.
    with_lm (bool): Whether the language model's two features are there.
    rules (RuleTables), features (RuleFeatures).
    passed, passed_unknown (int32 [words]): Target id of a source word that is passed through; 1 if the language model
        does not know it.
    out (ForestArrays): Filled; ``feature_ids``, ``feature_values`` and ``words`` may be too long.
    """
    edge_at, order, numbers = reached
    target_offsets, target, edges = rules.target_offsets, rules.target, hypotheses.edges
    n_rules, n_out, n_features, n_words = features.dense.shape[0], 0, np.int64(0), 0
    out.edge_offsets[0], out.feature_offsets[0], out.word_offsets[0] = 0, 0, 0
    for v in range(n_nodes):
        if numbers[v] < 0:
            continue
        node = numbers[v]
        write_ends(
            v, node, hypotheses.rows, numbers, n_rules, target_offsets, target, passed, out.left, out.right, out.lengths
        )
        for place in range(edge_at[v], edge_at[v + 1]):
            e = order[place]
            rule = edges[e, 1]
            pseudo = rule - n_rules
            out.rules[n_out] = rule if pseudo < 0 else -1 - pseudo
            for side in range(2):
                below = edges[e, 2 + side]
                out.tails[n_out, side] = numbers[below] if below >= 0 else -1
            unknown = np.int64(passed_unknown[-2 - edges[e, 2]]) if pseudo == PASSED else np.int64(0)
            n_features = write_features(
                rule,
                pseudo,
                hypotheses.gains[e],
                with_lm,
                unknown,
                features,
                out.feature_ids,
                out.feature_values,
                n_features,
            )
            if pseudo == PASSED:
                out.words[n_words] = passed[-2 - edges[e, 2]]
                n_words += 1
            else:
                for k in range(target_offsets[rule], target_offsets[rule + 1]):
                    if target[k] != 0:
                        out.words[n_words] = target[k]
                        n_words += 1
            n_out += 1
            out.feature_offsets[n_out], out.word_offsets[n_out] = n_features, n_words
        out.edge_offsets[node + 1] = n_out


@kernel(fast=False, owning=False)
def score_rules(begin, end, features, weights, scores, estimates):
    """Weigh the features of rules ``begin..end``: without the language model, and with what is known of it.

    features (RuleFeatures), scores (float64 [rules + 4, 2], output).
    weights (float64 [features]): In the order that `decoder.feature_names` says.
    estimates (float32 [rules], output): The second column once more.
    """
    n_dense = features.dense.shape[1]
    at = 1 + n_dense
    for rule in range(begin, end):
        total = (
            weights[at] * features.words[rule]
            + weights[at + 1 + features.arity[rule]]
            + weights[at + 7] * features.unknown[rule]
        )
        for k in range(n_dense):
            total += weights[1 + k] * features.dense[rule, k]
        for k in range(features.sparse_offsets[rule], features.sparse_offsets[rule + 1]):
            total += weights[at + 8 + features.sparse_ids[k]] * features.sparse_values[k]
        scores[rule, 0] = total
        scores[rule, 1] = total + weights[0] * features.estimates[rule]
        estimates[rule] = scores[rule, 1]
