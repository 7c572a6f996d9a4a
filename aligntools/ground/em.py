"""Expectation maximization and variational Bayes: distributions from expected counts, the loop, the best restart.

EM takes relative frequencies of expected counts, to which a prior is added; variational Bayes (Kurihara & Sato 2004)
keeps a Dirichlet posterior for each distribution, and weighs events by ``exp E[log p]``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

M = TypeVar("M")
#: Why learning ended, where the objective rises no more.
CONVERGED = "the objective rises no more"


def normalized(counts: np.ndarray) -> np.ndarray:
    """Divide rows by their sums; a row of zeros becomes uniform."""
    totals = counts.sum(1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), 1.0 / max(1, counts.shape[1]))


def expected(rows: Sequence[np.ndarray], alphas: Sequence[float]) -> tuple[list[np.ndarray], float]:
    """Return ``exp E[log p]`` of distributions under their posteriors, and what these diverge from the priors, in nats.

    rows (sequence of float64 [distributions, outcomes]): Expected counts plus ``alphas`` of the priors, one an array.
    The log-likelihood under the weights less the divergence bounds the evidence (Beal 2003, chapter 3).
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


@dataclass(frozen=True, eq=False)
class EmParameters(Generic[M]):
    """Parameters of a model: ``weights`` that the E-step sums over, and ``mean``, which returns the model.

    penalty: What the objective is less than the log-likelihood under the weights; None: there is no objective yet.
    """

    weights: M
    mean: Callable[[], M]
    penalty: float | None = 0.0


def maximized(
    rows: Sequence[np.ndarray], prior: float, variational: bool, of_rows: Callable[..., M]
) -> EmParameters[M]:
    """Return the parameters for expected counts: the M-step of EM with a prior, or of variational Bayes."""
    rows = [row + prior for row in rows]
    if variational:
        weights, penalty = expected(rows, [prior] * len(rows))
        return EmParameters(of_rows(*weights), lambda: of_rows(*map(normalized, rows)), penalty)
    found = [normalized(row) for row in rows]
    model = of_rows(*found)
    return EmParameters(model, lambda: model, log_prior(found, prior))


def log_prior(rows: Iterable[np.ndarray], prior: float) -> float:
    """Return what the objective of EM loses by a prior that is added to the counts, up to a constant."""
    return -prior * sum(float(np.log(row).sum()) for row in rows) if prior else 0.0


@dataclass(frozen=True, eq=False)
class EmResult(Generic[M]):
    """What learning found; ``start`` is which of several starts it was, from 0.

    values: The objective in each step, in nats: the log-likelihood with the prior's, or the bound on the evidence.
    """

    model: M
    values: list[float]
    message: str
    counts: Any = None
    start: int = 0


def fit(
    start: EmParameters[M],
    expect: Callable[[M], tuple[Any, float]],
    maximize: Callable[[Any], EmParameters[M]],
    iterations: int,
    tolerance: float,
    *,
    least: int,
    patience: int = 2,
    values: Sequence[float] = (),
    report: Callable[[int, float, float], None] | None = None,
    keep: Callable[[Any, list[float]], None] | None = None,
) -> EmResult[M]:
    """Alternate E-steps and M-steps, from the E-step of ``start``; ``keep`` and ``report`` are called after each.

    expect: Returns expected counts under weights, and the log-likelihood.
    tolerance: Stop when ``patience`` steps in a row, after ``least``, improve the objective by no more than this share.
    values: The objective of steps before these.
    """
    estimate, found, counts = start, list(values), None
    steps = len(found)
    while True:
        if steps >= least and all(b - a <= tolerance * abs(b) for a, b in pairwise(found[-patience - 1 :])):
            message = CONVERGED
            break
        if steps > iterations:
            message = f"{iterations} iterations"
            break
        if counts is not None:
            estimate = maximize(counts)
        counts, log_likelihood = expect(estimate.weights)
        if estimate.penalty is not None:
            found.append(log_likelihood - estimate.penalty)
            if report is not None:
                report(steps, found[-1], log_likelihood)
        steps += 1
        if keep is not None:
            keep(counts, found)
    return EmResult(estimate.mean(), found, message, counts)


def best_start(fits: Iterable[EmResult[M]]) -> EmResult[M]:
    """Return the result with the largest objective, the first of equal ones, with the number of its start."""
    number, found = max(enumerate(fits), key=lambda one: one[1].values[-1:] or [-np.inf])
    return replace(found, start=number)
