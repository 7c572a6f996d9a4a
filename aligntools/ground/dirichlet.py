"""Distributions from counts: relative frequencies, and variational Bayes with symmetric Dirichlet priors."""

from collections.abc import Sequence

import numpy as np


def normalized(counts: np.ndarray) -> np.ndarray:
    """Divide rows by their sums; a row of zeros becomes uniform."""
    totals = counts.sum(1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), 1.0 / max(1, counts.shape[1]))


def expected(rows: Sequence[np.ndarray], alphas: Sequence[float]) -> tuple[list[np.ndarray], float]:
    """Return ``exp E[log p]`` of distributions under their posteriors, and what the posteriors diverge from the priors.

    See Beal (2003), chapter 3.

    rows (sequence of float64 [distributions, outcomes]): Parameters of the posteriors: expected counts, plus
        ``alphas``.
    alphas: Of the priors, one for each array.
    Returns weights (list of float64 [distributions, outcomes]): Rows sum to less than 1.
    Returns divergence: Kullback and Leibler's, in nats, of all. The log-likelihood under the weights less this is a
        lower bound on the logarithm of the evidence.
    """
    from scipy.special import digamma, gammaln

    weights, divergence = [], 0.0
    for row, alpha in zip(rows, alphas, strict=True):
        n, totals = row.shape[1], row.sum(1, keepdims=True)
        logs = digamma(row) - digamma(totals)
        prior = gammaln(n * alpha) - n * gammaln(alpha)
        divergence += float(gammaln(totals).sum() - gammaln(row).sum() - len(row) * prior)
        divergence += float(((row - alpha) * logs).sum())
        weights.append(np.exp(logs))
    return weights, divergence
