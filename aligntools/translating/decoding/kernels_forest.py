"""Reading what the decoder found: the best derivation's words, and all that the goal can be made of."""

from aligntools.ground.compiling import kernel
from aligntools.translating.decoding.kernels_decoder import BINARY, PASSED, UNARY
from aligntools.translating.decoding.kernels_state import KEPT


@kernel
def read_best(goal, nodes, n_rules, target_offsets, target, passed, stack, out):
    """Write the words of the best derivation; return how many, or -1 if ``stack`` or ``out`` is too small.

    Parameters
    ----------
    goal : int
    nodes : int32 [*, 3]
        As `kernels_decoder.decode` leaves them.
    n_rules : int
        Rules of the grammar; the pseudo-rules follow.
    passed : int32 [words]
    stack : int64 [*, 2]
        For its own use.
    out : int32, output
    """
    count, depth = 0, 1
    stack[0, 0], stack[0, 1] = goal, 0
    while depth > 0:
        node, at = stack[depth - 1, 0], stack[depth - 1, 1]
        rule = nodes[node, 0]
        if count >= out.shape[0] or depth >= stack.shape[0]:
            return -1
        if rule == n_rules + PASSED:
            out[count] = passed[-2 - nodes[node, 1]]
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
            stack[depth, 0], stack[depth, 1] = nodes[node, -symbol], 0
            depth += 1
    return count


@kernel
def reach(goal, n_nodes, n_edges, edges, edge_at, order, numbers, target_offsets, n_features, sparse_offsets, totals):
    """Find the hypotheses that the goal is made of, number them, and put their hyperedges by hypothesis.

    Parameters
    ----------
    goal, n_nodes, n_edges : int
    edges : int32 [*, 4]
    edge_at : int64 [nodes + 1], output
        Where each hypothesis's hyperedges begin in ``order``.
    order : int64 [edges], output
    numbers : int64 [nodes], output
        Of a hypothesis among those reached, children first; -1 if it is not.
    target_offsets : int64 [rules + 5]
    n_features : int
        Features that a hyperedge has at most, without the sparse ones.
    sparse_offsets : int64 [rules + 1]
    totals : int64 [4], output
        Nodes, hyperedges, and at most how many features and words they have.
    """
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


@kernel(inline=True)
def _append(symbol, left, right, length):
    """Put a word behind the first and last four of a node's; return the new length, 4 at most."""
    if length < KEPT:
        left[length] = symbol
    for k in range(KEPT - 1):
        right[k] = right[k + 1]
    right[KEPT - 1] = symbol
    return min(length + 1, KEPT)


@kernel(fast=False)
def write_forest(
    n_nodes, nodes, edges, edge_gains, edge_at, order, numbers, with_lm, target_offsets, target, passed,
    passed_unknown, features, rule_words, rule_unknown, rule_arity, sparse_offsets, sparse_ids, sparse_values,
    edge_offsets, tails, rules, feature_offsets, feature_ids, feature_values, word_offsets, words, left, right, lengths,
):  # fmt: skip
    """Write what is reached as a hypergraph of one sentence.

    Parameters
    ----------
    nodes, edges, edge_gains
        As `kernels_decoder.decode` leaves them.
    edge_at, order, numbers
        As `reach` does.
    with_lm : bool
        Whether the language model's two features are there.
    passed, passed_unknown : int32 [words]
        Target id of a source word that is passed through; 1 if the language model does not know it.
    features : float32 [rules, K]
    rule_words, rule_unknown, rule_arity : int32 [rules]
        Target words, those of them that the language model does not know, and nonterminals of a rule.
    sparse_offsets, sparse_ids, sparse_values : int64 [rules + 1], int32, float32
    edge_offsets .. lengths : output
        The arrays of `hypergraph.Hypergraph`; ``feature_ids``, ``feature_values`` and ``words`` may be too long.
    """
    n_rules, n_dense = features.shape
    n_out, n_features, n_words = 0, 0, 0
    edge_offsets[0], feature_offsets[0], word_offsets[0] = 0, 0, 0
    for v in range(n_nodes):
        if numbers[v] < 0:
            continue
        node = numbers[v]
        # its ends, by its best derivation
        left[node, :] = 0
        right[node, :] = 0
        length = 0
        rule = nodes[v, 0]
        if rule == n_rules + PASSED:
            length = _append(passed[-2 - nodes[v, 1]], left[node], right[node], length)
        else:
            for k in range(target_offsets[rule], target_offsets[rule + 1]):
                if target[k] > 0:
                    length = _append(target[k], left[node], right[node], length)
                elif target[k] < 0:
                    tail = numbers[nodes[v, -target[k]]]
                    size = lengths[tail]
                    if size < KEPT:
                        for j in range(size):
                            length = _append(left[tail, j], left[node], right[node], length)
                    else:
                        for j in range(length, KEPT):
                            left[node, j] = left[tail, j - length]
                        length = KEPT
                        right[node, :] = right[tail]
        lengths[node] = length
        for place in range(edge_at[v], edge_at[v + 1]):
            e = order[place]
            rule = edges[e, 1]
            pseudo = rule - n_rules
            rules[n_out] = rule if pseudo < 0 else -1 - pseudo
            for side in range(2):
                below = edges[e, 2 + side]
                tails[n_out, side] = numbers[below] if below >= 0 else -1
            if with_lm and edge_gains[e] != 0:
                feature_ids[n_features], feature_values[n_features] = 0, edge_gains[e]
                n_features += 1
            count, unknown = 0, 0
            if pseudo < 0:
                for k in range(n_dense):
                    if features[rule, k] != 0:
                        feature_ids[n_features], feature_values[n_features] = 1 + k, features[rule, k]
                        n_features += 1
                count, unknown = rule_words[rule], rule_unknown[rule]
            elif pseudo == PASSED:
                count, unknown = 1, passed_unknown[-2 - edges[e, 2]]
            at = 1 + n_dense  # the counts begin
            if count > 0:
                feature_ids[n_features], feature_values[n_features] = at, count
                n_features += 1
            which = -1
            if pseudo < 0:
                which = at + 1 + rule_arity[rule]
            elif pseudo == UNARY:
                which = at + 4
            elif pseudo == BINARY:
                which = at + 5
            elif pseudo == PASSED:
                which = at + 6
            if which >= 0:
                feature_ids[n_features], feature_values[n_features] = which, 1
                n_features += 1
            if with_lm and unknown > 0:
                feature_ids[n_features], feature_values[n_features] = at + 7, unknown
                n_features += 1
            if pseudo < 0:
                for k in range(sparse_offsets[rule], sparse_offsets[rule + 1]):
                    feature_ids[n_features], feature_values[n_features] = at + 8 + sparse_ids[k], sparse_values[k]
                    n_features += 1
            if pseudo == PASSED:
                words[n_words] = passed[-2 - edges[e, 2]]
                n_words += 1
            else:
                for k in range(target_offsets[rule], target_offsets[rule + 1]):
                    if target[k] != 0:
                        words[n_words] = target[k]
                        n_words += 1
            n_out += 1
            feature_offsets[n_out], word_offsets[n_out] = n_features, n_words
        edge_offsets[node + 1] = n_out


@kernel(fast=False)
def score_rules(
    begin, end, features, rule_words, rule_unknown, rule_arity, rule_lm, sparse_offsets, sparse_ids, sparse_values,
    weights, scores, estimates,
):  # fmt: skip
    """Weigh the features of rules ``begin..end``: without the language model, and with what is known of it.

    Parameters
    ----------
    features, rule_words, rule_unknown, rule_arity, sparse_offsets, sparse_ids, sparse_values
        As for `write_forest`.
    rule_lm : float32 [rules]
        See `kernels_state.estimate_rules`.
    weights : float64 [features]
        In the order that `decoder.feature_names` says.
    scores : float64 [rules + 4, 2], output
    estimates : float32 [rules], output
        The second column once more.
    """
    n_dense = features.shape[1]
    at = 1 + n_dense
    for rule in range(begin, end):
        total = (
            weights[at] * rule_words[rule] + weights[at + 1 + rule_arity[rule]] + weights[at + 7] * rule_unknown[rule]
        )
        for k in range(n_dense):
            total += weights[1 + k] * features[rule, k]
        for k in range(sparse_offsets[rule], sparse_offsets[rule + 1]):
            total += weights[at + 8 + sparse_ids[k]] * sparse_values[k]
        scores[rule, 0] = total
        scores[rule, 1] = total + weights[0] * rule_lm[rule]
        estimates[rule] = scores[rule, 1]
