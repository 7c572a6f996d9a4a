"""Sums over the derivations of hypergraphs: partition functions, posteriors, expectations, their gradients.

With p(d) the exponential of a derivation's score, normalized, and r(d) and f(d) sums over its edges, the first-order
expectation semiring gives E[r], the second-order one also E[r f], and with it the gradient of E[r]: the covariance
of r and f (Li & Eisner 2009, sections 3 and 4). The recursions here are these semirings' with every element divided
by the sum of its node: then they need no logarithms below the partition functions, and E[r f] is never built; the
covariance comes as one slope an edge, posterior times (E[r given the edge] - E[r]), times its features (the
inside-outside speed-up of section 5 there).
"""

import numpy as np
import numpy.typing as npt

from aligntools.ground.parallel import Pool, over
from aligntools.translating.forest import kernels_semirings as kernels
from aligntools.translating.forest.hypergraph import Hypergraph


def _spans(h: Hypergraph) -> list[tuple[int, int, int, int]]:
    """Return (nodes from, to, edges from, to) of each block of sentences."""
    spans = []
    for block in h.blocks():
        a, b = h.node_offsets[list(block)]
        spans.append((int(a), int(b), int(h.edge_offsets[a]), int(h.edge_offsets[b])))
    return spans


def inside(h: Hypergraph, scores: np.ndarray, pool: Pool | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Sum over all derivations.

    scores (float64 [edges]): Log-potentials.
    Returns beta (float64 [nodes]): Log of the sum below each node, -inf where there is no derivation.
    Returns conditional (float64 [edges]): Probability of the edge, given its head.
    """
    beta, conditional = np.empty(h.nodes), np.empty(h.edges)
    over(pool, lambda span: kernels.inside(h.edge_offsets, h.tails, scores, *span[:2], beta, conditional), _spans(h))
    return beta, conditional


def log_partition(h: Hypergraph, beta: np.ndarray) -> np.ndarray:
    """Return the log of each sentence's sum [sentences], -inf where there is no derivation."""
    roots = h.roots
    out = np.full(len(roots), -np.inf)
    out[roots >= 0] = beta[roots[roots >= 0]]
    return out


def posteriors(
    h: Hypergraph,
    beta: np.ndarray,
    conditional: np.ndarray,
    shares: npt.ArrayLike | None = None,
    pool: Pool | None = None,
) -> np.ndarray:
    """Return the probability of each edge [edges], times its sentence's share."""
    posterior, mass = np.empty(h.edges), np.zeros(h.nodes)
    rooted = log_partition(h, beta) > -np.inf
    mass[h.roots[rooted]] = 1.0 if shares is None else np.asarray(shares, np.float64)[rooted]
    over(pool, lambda s: kernels.posteriors(h.edge_offsets, h.tails, conditional, *s[:2], mass, posterior), _spans(h))
    return posterior


def expectations(
    h: Hypergraph, conditional: np.ndarray, posterior: np.ndarray, rewards: np.ndarray, pool: Pool | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Expect a sum of rewards and differentiate it.

    Returns values (float64 [sentences]): Expected sum of the rewards of a derivation's edges; 0 without derivations.
    Returns slopes (float64 [edges]): Derivative of the sum of the values, each times the weight of its sentence in
        ``posterior``, by the scores.
    """
    values, excess, slopes = np.empty(h.nodes), np.empty(h.nodes), np.empty(h.edges)
    over(
        pool,
        lambda s: kernels.expectations(
            h.edge_offsets, h.tails, conditional, posterior, rewards, *s[:2], values, excess, slopes
        ),
        _spans(h),
    )
    out = np.zeros(len(h))
    out[h.roots >= 0] = values[h.roots[h.roots >= 0]]
    return out, slopes


def surprisals(h: Hypergraph, conditional: np.ndarray, weight: float = 1.0, pool: Pool | None = None) -> np.ndarray:
    """Return ``weight`` times minus the log of the conditionals; its expectation is the derivations' entropy."""
    rewards = np.zeros(h.edges)
    over(pool, lambda s: kernels.surprisals(conditional, *s[2:], float(weight), rewards), _spans(h))
    return rewards


def feature_sums(h: Hypergraph, factors: np.ndarray, features: int, pool: Pool | None = None) -> np.ndarray:
    """Return the features of all edges, each times its factor, summed [features].

    With posteriors as factors these are feature expectations; with slopes, a gradient.
    """
    spans = _spans(h)
    out = np.zeros((len(spans), features))
    over(pool, lambda k: kernels.add_features(h.features, factors, *spans[k][2:], out[k]), range(len(spans)))
    return np.asarray(np.add.reduce(out, axis=0))


def row_sums(h: Hypergraph, rows: np.ndarray, factors: np.ndarray, pool: Pool | None = None) -> np.ndarray:
    """Return the sum of ``rows`` [edges, columns], each times its factor."""
    spans = _spans(h)
    out = np.zeros((len(spans), rows.shape[1]))
    over(pool, lambda k: kernels.add_rows(rows, factors, *spans[k][2:], out[k]), range(len(spans)))
    return np.asarray(np.add.reduce(out, axis=0))


def row_products(h: Hypergraph, rows: np.ndarray, coefficients: npt.ArrayLike, pool: Pool | None = None) -> np.ndarray:
    """Return ``rows @ coefficients`` [edges, float64], the same on any number of threads."""
    out, coefficients = np.empty(h.edges), np.asarray(coefficients, np.float64)
    over(pool, lambda s: kernels.combine_rows(rows, coefficients, *s[2:], out), _spans(h))
    return out
