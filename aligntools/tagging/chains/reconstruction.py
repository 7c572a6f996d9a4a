"""Maximum reconstruction estimation of a chain (Cheng, Liu & Xu 2017, equations 21 to 29, for tag induction).

A chain is trained to reproduce the words that it has seen: states z are drawn given the words x, then words given
the states. The logarithm of the probability that this succeeds is

    log P(x|x) = log sum_z P(z|x) P(x|z) = log sum_z P(z) P(x|z)^2 - log sum_z P(z) P(x|z),

two runs of forward-backward, one with all emissions squared. Its derivative by a parameter p, times p, is the
parameter's expected count under Q (proportional to ``P(z) P(x|z)^2``), twice that where it is an emission, less its
expected count under the posterior ``P(z|x)``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aligntools.ground.exponentiated_gradient import Family, climb
from aligntools.tagging.chains.chain import as_distributions, expected_counts, from_distributions
from aligntools.tagging.settings import InductionSettings

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool
    from aligntools.tagging.chains.chain import Chain, ChainText


def reconstruction(
    chain: "Chain", text: "ChainText", pool: "Pool"
) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Evaluate ``log P(x|x)`` and what its gradient is made of.

    Returns objectives (float64 [sentences]): ``log P(x|x)``, natural; 0 for a sentence of no words, -inf for one that
        the chain cannot emit.
    Returns counts (list of float64 arrays, shaped as `as_distributions` does): ``p dL/dp``, L the sum of the
        objectives: counts under Q (twice for emissions) minus under the posterior.
    Returns totals (list of float64 [distributions]): How often every distribution was used, expected under the
        posterior.
    """
    under_q = expected_counts(chain, text, pool, squared=True)
    posterior = expected_counts(chain, text, pool)
    reached = np.isfinite(under_q.loglik) & np.isfinite(posterior.loglik)
    objectives = np.full(text.n_sentences, -np.inf)
    objectives[reached] = under_q.loglik[reached] - posterior.loglik[reached]
    ends = chain.ends
    counts, totals = [], []
    for times, q, p in zip((1, 1, 2), as_distributions(under_q, ends), as_distributions(posterior, ends), strict=True):
        q *= times
        q -= p
        counts.append(q)
        totals.append(p.sum(1))
    return objectives, counts, totals


def reconstruct(
    chain: "Chain",
    text: "ChainText",
    pool: "Pool",
    iterations: int = InductionSettings.mre_iterations,
    report: Callable[..., Any] | None = None,
    rate: float = 1.0,
    tolerance: float = 0.0,
) -> "tuple[Chain, list[float]]":
    """Train a chain to reconstruct a text, by exponentiated gradient with adaptive rates.

    chain: Where to start: the solution of EM on this text. Parameters that are zero stay zero.
    text: Sentences that the chain cannot emit are left out.
    iterations: Steps at most. Many more than the paper's 50 raise the objective further and the likelihood falls.
    report: Called with (iteration, mean ``log P(x|x)`` of the sentences that have words); 0 is the start.
    rate: First rate of every distribution; 1 is about as bold as a step of EM.
    tolerance: Stop when a step gains less than this, relative to the objective.
    Returns objectives: Mean ``log P(x|x)`` at the start and after every step: it never falls.
    """
    ends = chain.ends
    begin = as_distributions(chain, ends)
    shapes = [p.shape for p in begin]
    kept: np.ndarray | None = None

    def unpacked(parameters: list[np.ndarray]) -> "Chain":
        return from_distributions([p.reshape(shape) for p, shape in zip(parameters, shapes, strict=True)], ends)

    def evaluate(parameters: list[np.ndarray]) -> tuple[float, list[tuple[np.ndarray, np.ndarray]]]:
        nonlocal kept
        objectives, counts, totals = reconstruction(unpacked(parameters), text, pool)
        if kept is None:
            kept = np.isfinite(objectives) & (np.diff(text.offsets) > 0)
        gradients = [(c.ravel(), n) for c, n in zip(counts, totals, strict=True)]
        return float(objectives[kept].sum()), gradients

    def counted() -> int:
        return max(1, 0 if kept is None else int(kept.sum()))

    def told(iteration: int, objective: float) -> None:
        if report is not None:
            report(iteration, objective / counted())

    families = [Family.of_rows(shape, rate) for shape in shapes]
    parameters, objectives = climb(evaluate, [p.ravel() for p in begin], families, iterations, tolerance, told)
    return unpacked(parameters), [o / counted() for o in objectives]
