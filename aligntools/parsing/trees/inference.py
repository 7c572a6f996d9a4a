"""Sums, maxima and entropies over the trees of many sentences: what the kernels compute, in blocks on threads.

The edges of a sentence of n words are n rows, one a modifier, of n + 1 heads, the root first, from `edge_offsets` on in
flat arrays. That of a word to itself is never read, and written as 0; a score of -inf excludes an edge. A sentence of
no words has the empty tree; one without any has ``log_z = -inf``, marginals of 0, and a flat best tree of -inf.
"""

import numpy as np

from aligntools.ground.parallel import Pool, balanced_blocks, over
from aligntools.parsing.settings import TreeConstraints
from aligntools.parsing.trees import kernels_nonprojective as nonprojective
from aligntools.parsing.trees import kernels_projective as projective
from aligntools.parsing.trees import kernels_spanning_trees as spanning

#: Blocks of a batch: enough to keep threads evenly busy; fixed, so that the number of threads never shows.
BLOCKS = 64


def edge_offsets(offsets: np.ndarray) -> np.ndarray:
    """Return where each sentence's ``n (n + 1)`` edges begin, from offsets over words [shape=(sentences + 1,)]."""
    lengths = np.diff(offsets)
    edges = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths * (lengths + 1), out=edges[1:])
    return edges


def runs_of_edges(edges: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Cut sentences into runs of a limited number of edges, or one sentence; ``edges`` [sentences + 1] as offsets."""
    runs, begin, sentences = [], 0, len(edges) - 1
    while begin < sentences:
        end = int(np.searchsorted(edges, edges[begin] + most, side="right")) - 1
        end = min(max(end, begin + 1), sentences)
        runs.append((begin, end))
        begin = end
    return runs


def _blocks(lengths: np.ndarray) -> list[tuple[int, int]]:
    return balanced_blocks((lengths + 8.0) ** 3, BLOCKS)


def _checked(scores: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    scores = np.ascontiguousarray(scores, np.float64)
    lengths = np.diff(np.asarray(offsets, np.int64))
    edges = edge_offsets(np.asarray(offsets, np.int64))
    if scores.shape != (edges[-1],):
        raise ValueError(f"{scores.shape} scores where the sentences have {edges[-1]} edges")
    return scores, lengths, edges


def sums(
    scores: np.ndarray, offsets: np.ndarray, constraints: TreeConstraints, pool: Pool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute log partition functions and edge marginals.

    scores (float64 [edges]).
    offsets (int64 [sentences + 1]): Over words.
    Returns log_z (float64 [sentences]), marginals (float64 [edges]).
    """
    scores, lengths, edges = _checked(scores, offsets)
    log_z, marginals = np.zeros(len(lengths)), np.zeros(len(scores))
    unsafe = np.zeros(len(lengths), np.uint8)
    kernels = projective if constraints.projective else nonprojective
    run = projective.inside_outside if constraints.projective else nonprojective.matrix_tree

    def work(block: tuple[int, int]) -> None:
        n = int(lengths[block[0] : block[1]].max())
        scratch = np.empty(kernels.SQUARES * n * n + kernels.ROWS * (n + 1))
        run(scores, lengths, edges, *block, constraints.single_root, scratch, log_z, marginals, unsafe)

    over(pool, work, _blocks(lengths))
    rest = np.flatnonzero(unsafe)
    if len(rest):
        none, out = np.zeros(len(scores)), (log_z, marginals, np.zeros(len(lengths)), np.zeros(len(scores)))
        _in_log_space(rest, scores, none, lengths, edges, constraints, out, pool)
    return log_z, marginals


def expectation(
    scores: np.ndarray,
    function: np.ndarray,
    offsets: np.ndarray,
    constraints: TreeConstraints,
    pool: Pool | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute the expected value of an additive edge function and its gradient, in O(n^3) a sentence.

    function (float64 [edges]): Its values, finite; those at impossible edges do not matter.
    Returns log_z (float64 [sentences]), marginals (float64 [edges]): As `sums`.
    Returns mean (float64 [sentences]): Expected value of the function.
    Returns covariances (float64 [edges]): Of the function with each edge: the gradient of its expected value.
    """
    scores, lengths, edges = _checked(scores, offsets)
    function = np.ascontiguousarray(function, np.float64)
    if function.shape != scores.shape:
        raise ValueError(f"{function.shape} values for {scores.shape} scores")
    log_z, mean = np.zeros(len(lengths)), np.zeros(len(lengths))
    marginals, slopes = np.zeros(len(scores)), np.zeros(len(scores))
    unsafe = np.zeros(len(lengths), np.uint8)
    kernels = projective if constraints.projective else nonprojective

    def work(block: tuple[int, int]) -> None:
        n = int(lengths[block[0] : block[1]].max())
        scratch = np.empty(kernels.TANGENT_SQUARES * n * n + kernels.ROWS * (n + 1))
        out = log_z, marginals, mean, slopes, unsafe
        kernels.expectation(scores, function, lengths, edges, *block, constraints.single_root, scratch, *out)

    over(pool, work, _blocks(lengths))
    rest = np.flatnonzero(unsafe)
    if len(rest):
        _in_log_space(rest, scores, function, lengths, edges, constraints, (log_z, marginals, mean, slopes), pool)
    return log_z, marginals, mean, slopes


def _in_log_space(
    sentences: np.ndarray,
    scores: np.ndarray,
    function: np.ndarray,
    lengths: np.ndarray,
    edges: np.ndarray,
    constraints: TreeConstraints,
    out: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    pool: Pool | None,
) -> None:
    """Do some sentences again, one at a time."""
    log_z, marginals, mean, slopes = out

    def work(s: int) -> None:
        n, here = int(lengths[s]), slice(edges[s], edges[s + 1])
        if constraints.projective:
            chart = np.empty(projective.LOG_SQUARES * n * n + projective.LOG_ROWS * (n + 1))
            given = scores, function, lengths, edges, s, s + 1
            projective.expectation_log(*given, constraints.single_root, chart, *out)
            return
        size = n * (n + 1) * (n + 2) // 3
        scratch = np.empty(size), np.empty(size), np.empty(4 * n * (n + 1) + 2 * n)
        own = log_z[s : s + 1], marginals[here], mean[s : s + 1], slopes[here]
        nonprojective.expectation_log(scores[here], function[here], n, constraints.single_root, *scratch, *own)

    over(pool, work, [int(s) for s in sentences])


def best_trees(
    scores: np.ndarray, offsets: np.ndarray, constraints: TreeConstraints, pool: Pool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Find each sentence's highest-scoring tree.

    Returns heads (int32 [words]): 0 for the root, else the head's number in the sentence, from 1.
    Returns best (float64 [sentences]): The trees' scores; -inf where there is none, and the heads are a flat tree.
    """
    scores, lengths, edges = _checked(scores, offsets)
    offsets = np.asarray(offsets, np.int64)
    heads, best = np.zeros(offsets[-1] - offsets[0], np.int32), np.zeros(len(lengths))
    words = offsets - offsets[0]

    def work(block: tuple[int, int]) -> None:
        n = int(lengths[block[0] : block[1]].max())
        if constraints.projective:
            run, sizes = projective.best_tree, (6 * n * n + 2 * (n + 1), 3 * n * n + 6 * (n + 1))
        else:
            m = 2 * n + 1
            run, sizes = spanning.best_tree, (m * m, 2 * m * m + 8 * m)
        scratch = np.empty(sizes[0]), np.empty(sizes[1], np.int32)
        run(scores, lengths, edges, words, *block, constraints.single_root, *scratch, heads, best)

    over(pool, work, _blocks(lengths))
    return heads, best


def relative(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return scores less the best of their modifier, and 0 for impossible edges: a finite direction for `entropy`."""
    scores, lengths, _ = _checked(scores, offsets)
    result = np.zeros(len(scores))
    sizes = np.repeat(lengths + 1, lengths)  # the length of every modifier's row
    if len(sizes):
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        modifiers = np.arange(len(sizes)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        values = scores.copy()
        values[starts + modifiers + 1] = -np.inf
        best = np.repeat(np.maximum.reduceat(values, starts), sizes)
        possible = np.isfinite(values)
        result[possible] = values[possible] - best[possible]
    return result


def entropy(
    scores: np.ndarray, offsets: np.ndarray, constraints: TreeConstraints, pool: Pool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Shannon entropy of trees, ``ln Z - E[score]`` float64 [sentences], and its gradient, float64 [edges].

    That is minus the covariance of the tree's score with each edge (Ma & Xia 2014, equations 13 to 15).
    """
    scores, lengths, _ = _checked(scores, offsets)
    # The scores less a constant for every modifier have the same covariances, and lose no digits.
    function = relative(scores, offsets)
    log_z, marginals, mean, covariances = expectation(scores, function, offsets, constraints, pool)
    taken = np.zeros(len(lengths))
    full = lengths > 0
    if full.any():
        possible = np.isfinite(scores) & (marginals > 0)
        weight = np.where(possible, marginals * (np.where(possible, scores, 0.0) - function), 0.0)
        starts = edge_offsets(offsets)[:-1][full]
        taken[full] = np.add.reduceat(weight, starts)
    result = np.where(np.isfinite(log_z), log_z - taken - mean, 0.0)
    return np.maximum(result, 0.0), -covariances


def renyi_entropy(
    scores: np.ndarray, alpha: float, offsets: np.ndarray, constraints: TreeConstraints, pool: Pool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the Rényi entropy of trees of order ``alpha``, float64 [sentences], and its gradient, float64 [edges].

    ``H_a = (ln Z(a s) - a ln Z(s)) / (1 - a)`` (Smith & Eisner 2007): two sums over trees. Order 1 is Shannon's.
    """
    if not 0 < alpha < np.inf:
        raise ValueError(f"the order of a Rényi entropy is above 0, not {alpha}")
    if alpha == 1:
        return entropy(scores, offsets, constraints, pool)
    scores = _checked(scores, offsets)[0]
    (z, low), (z_high, high) = (sums(x, offsets, constraints, pool) for x in (scores, alpha * scores))
    possible = np.isfinite(z)
    value = (np.where(possible, z_high, 0.0) - alpha * np.where(possible, z, 0.0)) / (1 - alpha)
    return np.maximum(value, 0.0), (high - low) * (alpha / (1 - alpha))
