"""Compiled: what groups of sentences score, and paths of groups through a band.

A path goes from node (0, 0) to node (n, m); node (i, j) stands before source sentence i and target sentence j. Row i
of the band has the nodes ``begin[i] <= j < end[i]``, of which node (i, j) has number ``at[i] + j - begin[i]``;
``begin`` and ``end`` never fall. A group of a source and b target sentences is a step from (i, j) to (i + a, j + b).
What is known of source sentence i and target sentence j has the number of node (i, j), too.
"""

from typing import NamedTuple

import numpy as np

from aligntools.ground.compiler import kernel

_LOW = -1e30
_FAR = 40.0
#: Variance of the logarithm of lengths' ratio, and what is added to it by the inverse of both lengths.
VARIANCE, PER_SIZE = 0.0026, 1.5
#: The least that lengths can speak against a group.
LOWEST = -8.0


class GroupEvidence(NamedTuple):
    """Evidence about the sentences in a band of n + 1 rows.

    begin, end (int64 [n + 1]), at (int64 [n + 2]): The band.
    forward, reverse (float32 [most sentences of a group, nodes]): See `lexical_rows`; without nodes where words are not
        looked at.
    products (float32 [nodes]): Inner products of sentences' vectors; none where there are no vectors.
    s_norms, t_norms, s_usual, t_usual (float64 [most sentences of a group, n], [.., m]): One by the norm of a group's
        sum of vectors, and the cosine that is usual around it.
    s_worth, t_worth (float64 [.., n], [.., m]): What a cosine counts for a group: half of its sentences' number, more
        for longer ones.
    s_logs, t_logs, s_inverses, t_inverses: Logarithms of groups' lengths, and one by these lengths.
    s_crossing, t_crossing (float64 [n + 1], [m + 1]): What it costs to have places in a group, summed up to each.
    """

    begin: np.ndarray
    end: np.ndarray
    at: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray
    products: np.ndarray
    s_norms: np.ndarray
    t_norms: np.ndarray
    s_usual: np.ndarray
    t_usual: np.ndarray
    s_worth: np.ndarray
    t_worth: np.ndarray
    s_logs: np.ndarray
    t_logs: np.ndarray
    s_inverses: np.ndarray
    t_inverses: np.ndarray
    s_crossing: np.ndarray
    t_crossing: np.ndarray


@kernel(owning=False)
def lexical_rows(s, s_offsets, t, t_offsets, ptr, ids, ratios, unknown, lowest, dense, begin, end, at, turned, out):
    """Score how probable each target sentence is given the words of a group of source sentences, as IBM 1 has it.

    sum over its words t of ln(u_t + (1 - u_t) sum_s p(t|s) / (l p(t))), where s are the l words of the group.

    s, s_offsets, t, t_offsets: Both sides' words, as in `formats.text.corpus.Side`.
    ptr, ids, ratios (int64 [source words + 1], int32, float32 [entries]): p(t|s) / p(t), by source word.
    unknown, lowest (float32 [target words]): u_t, how far nothing is known of a word, and its logarithm.
    dense (float32 [target words], scratch): Zeros.
    turned (bool): Source and target have changed places, and the band is that of the other order.
    out (float32 [groups, nodes], output): By the number of source sentences less 1, at the node of the group's first
        source sentence and the target sentence.
    """
    n, m = len(s_offsets) - 1, len(t_offsets) - 1
    first, last = 0, 0
    for i in range(n):
        if turned:  # the rows whose band has column i
            while first < m and end[first] <= i:
                first += 1
            last = max(last, first)
            while last < m and begin[last] <= i:
                last += 1
        else:
            first, last = begin[i], min(end[i], m)
        groups = min(out.shape[0], n - i)
        words = 0
        for a in range(groups):
            for k in range(s_offsets[i + a], s_offsets[i + a + 1]):
                words += 1
                for e in range(ptr[s[k]], ptr[s[k] + 1]):
                    dense[ids[e]] += ratios[e]
            for j in range(first, last):
                total = 0.0
                for k in range(t_offsets[j], t_offsets[j + 1]):
                    known = dense[t[k]]
                    if known > 0.0:
                        share = unknown[t[k]]
                        total += np.log(share + (1.0 - share) * known / words)
                    else:
                        total += lowest[t[k]]
                out[a, at[j] + i - begin[j] if turned else at[i] + j - begin[i]] = total
        for k in range(s_offsets[i], s_offsets[i + groups]):
            for e in range(ptr[s[k]], ptr[s[k] + 1]):
                dense[ids[e]] = 0.0


@kernel(owning=False)
def products(x, y, begin, end, at, out):
    """Compute inner products of sentences' vectors in a band.

    x, y (float32 [n, width], [m, width]), out (float32 [nodes], output).
    """
    m = y.shape[0]
    for i in range(x.shape[0]):
        for j in range(begin[i], min(end[i], m)):
            total = np.float32(0.0)
            for k in range(x.shape[1]):
                total += x[i, k] * y[j, k]
            out[at[i] + j - begin[i]] = total


@kernel(inline=True, owning=False)
def group_score(i, j, a, b, evidence, weights):
    """Return the log-odds that a source sentences from i and b target sentences from j are translations.

    It is the weighted sum of how probable each side's words are given the other's (IBM 1), of the logarithm of the
    groups' lengths' ratio, which has less variance the longer they are (after Gale & Church 1993), against that of
    sentences that are none, and of the cosine of the sums of vectors beyond what is usual around both.

    The cells of the group must be in the band; see `row_scores`.

    weights: Of words and of lengths, the variance of lengths that are no translations, and the weight of vectors.
    """
    begin, at = evidence.begin, evidence.at
    lexicon_weight, length_weight, background, vector_weight = weights
    total = evidence.s_crossing[i] - evidence.s_crossing[i + a - 1]
    total += evidence.t_crossing[j] - evidence.t_crossing[j + b - 1]
    if evidence.forward.shape[1] > 0:
        node, words = at[i] + j - begin[i], 0.0
        for y in range(b):
            words += evidence.forward[a - 1, node + y]
        for x in range(a):
            words += evidence.reverse[b - 1, at[i + x] + j - begin[i + x]]
        total += lexicon_weight * words
    ratio = evidence.t_logs[b - 1, j] - evidence.s_logs[a - 1, i]
    variance = VARIANCE + PER_SIZE * (evidence.s_inverses[a - 1, i] + evidence.t_inverses[b - 1, j])
    length = 0.5 * (np.log(background / variance) - ratio * ratio * (1.0 / variance - 1.0 / background))
    total += length_weight * max(length, LOWEST)
    if evidence.products.shape[0] > 0:
        cosine = 0.0
        for x in range(a):
            for y in range(b):
                cosine += evidence.products[at[i + x] + j + y - begin[i + x]]
        cosine *= evidence.s_norms[a - 1, i] * evidence.t_norms[b - 1, j]
        usual = 0.5 * (evidence.s_usual[a - 1, i] + evidence.t_usual[b - 1, j])
        total += vector_weight * (evidence.s_worth[a - 1, i] + evidence.t_worth[b - 1, j]) * (cosine - usual)
    return total


@kernel(part=True)
def row_scores(i, kinds, priors, evidence, weights, scores):
    """Write the scores of all groups that begin in a row of the band; -1e30 for those that leave it.

    kinds (int64 [kinds, 2]): How many source and target sentences a group may have.
    priors (float64 [kinds]): Natural logarithms.
    scores (float64 [nodes of the longest row, kinds], output).
    """
    begin, end = evidence.begin, evidence.end
    n, m = len(begin) - 1, len(evidence.t_crossing) - 1
    for j in range(begin[i], end[i]):
        for k in range(kinds.shape[0]):
            a, b = kinds[k, 0], kinds[k, 1]
            fits = i + a <= n and j + b <= m and begin[i + a] <= j + b < end[i + a]
            if fits and a > 0 and b > 0:
                fits = begin[i + a - 1] <= j and j + b <= end[i]
            scores[j - begin[i], k] = _LOW
            if fits:
                scores[j - begin[i], k] = priors[k]
                if a > 0 and b > 0:
                    scores[j - begin[i], k] += group_score(i, j, a, b, evidence, weights)


@kernel(owning=False)
def forward(kinds, priors, evidence, weights, scores, alpha):
    """Compute the summed score of all paths to each node, ln sum exp; return that of the last.

    scores (float64 [nodes of the longest row, kinds], scratch).
    alpha (float64 [nodes], output).
    """
    begin, end, at = evidence.begin, evidence.end, evidence.at
    alpha[:] = _LOW
    alpha[0] = 0.0
    for i in range(len(begin)):
        row_scores(i, kinds, priors, evidence, weights, scores)
        for j in range(begin[i], end[i]):
            here = alpha[at[i] + j - begin[i]]
            if here <= _LOW:
                continue
            for k in range(kinds.shape[0]):
                own = scores[j - begin[i], k]
                if own <= _LOW:
                    continue
                there = at[i + kinds[k, 0]] + j + kinds[k, 1] - begin[i + kinds[k, 0]]
                x, y = alpha[there], here + own
                high, low = max(x, y), min(x, y)
                alpha[there] = high + np.log1p(np.exp(low - high)) if high - low < _FAR else high
    return alpha[len(alpha) - 1]


@kernel(owning=False)
def backward(kinds, priors, evidence, weights, scores, alpha, toll, beta, gain, choice, chance):
    """Find the path of most expected right groups, from the last node back to the first.

    The chance of a group is its posterior, exp(alpha(i, j) + score + beta(i + a, j + b) - ln Z); a path gains the
    chances of its groups less a toll for each.

    scores: As for `forward`; alpha: what that has computed.
    beta, gain (float64 [nodes], output).
    choice (int8 [nodes], output), chance (float32 [nodes], output): The kind of group that the best path from a node
        begins with, and its chance; -1 where none leads on.
    """
    begin, end, at = evidence.begin, evidence.end, evidence.at
    last = len(alpha) - 1
    beta[:] = _LOW
    gain[:] = _LOW
    choice[:] = -1
    chance[:] = 0.0
    beta[last] = 0.0
    gain[last] = 0.0
    for i in range(len(begin) - 1, -1, -1):
        row_scores(i, kinds, priors, evidence, weights, scores)
        for j in range(end[i] - 1, begin[i] - 1, -1):
            node, row = at[i] + j - begin[i], j - begin[i]
            if node == last or alpha[node] <= _LOW:
                continue
            high = _LOW
            for k in range(kinds.shape[0]):
                if scores[row, k] > _LOW:
                    there = at[i + kinds[k, 0]] + j + kinds[k, 1] - begin[i + kinds[k, 0]]
                    scores[row, k] = max(_LOW, scores[row, k] + beta[there])
                    high = max(high, scores[row, k])
            if high <= _LOW:
                continue
            total = 0.0
            for k in range(kinds.shape[0]):
                if scores[row, k] > high - _FAR:
                    total += np.exp(scores[row, k] - high)
            beta[node] = high + np.log(total)
            for k in range(kinds.shape[0]):
                if scores[row, k] <= _LOW:
                    continue
                there = at[i + kinds[k, 0]] + j + kinds[k, 1] - begin[i + kinds[k, 0]]
                own = np.exp(min(0.0, alpha[node] + scores[row, k] - alpha[last]))
                if own - toll + gain[there] > gain[node]:
                    gain[node] = own - toll + gain[there]
                    choice[node] = k
                    chance[node] = own
