"""Tag induction: a chain learned from text without tags by expectation maximization or variational Bayes."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from aligntools.ground import em
from aligntools.ground.em import normalized
from aligntools.ground.errors import UsageProblem
from aligntools.ground.exponentiated_gradient import Family, climb
from aligntools.ground.parallel import Pool
from aligntools.tagging.chains.chain import (
    Chain,
    ChainText,
    as_distributions,
    expected_counts,
    from_distributions,
    leaving,
)
from aligntools.tagging.settings import InductionSettings

if TYPE_CHECKING:
    from aligntools.ground.parallel import Pool
    from aligntools.tagging.chains.chain import Chain, ChainCounts, ChainText


#: How far random starts lie from the text's word frequencies: standard deviation of the logarithms of parameters.
#: 0.1 reached a higher likelihood than 1 on two English texts, and tags closer to theirs on the smaller one.
NOISE = 0.1
#: Iterations before learning may stop: starts lie near a saddle, and the first steps may gain little.
FIRST_STOP = 10
#: Dirichlet parameters of (start and transitions, emissions). EM: added to all counts; none is plain EM.
PRIORS = {"em": (0.0, 0.0), "vb": (0.1, 0.1)}


def random_chain(
    frequencies: np.ndarray, n_states: int, rng: np.random.Generator, stop: bool = True, noise: float = NOISE
) -> Chain:
    """Return a chain whose states all lie near the text's word frequencies, each parameter moved a little.

    frequencies (array [rows]): How often each word occurs, smoothed or not.
    stop: Whether the end of a sentence is part of the model.
    noise: Standard deviation of the parameters' logarithms.
    """

    def moved(*shape: Any) -> np.ndarray:
        return np.exp(noise * rng.standard_normal(shape))

    start, onward = moved(1, n_states), moved(n_states, n_states + 1 if stop else n_states)
    emissions = (moved(len(frequencies), n_states) * np.asarray(frequencies, np.float64)[:, None]).T
    return from_distributions([normalized(p) for p in (start, onward, emissions)], stop)


def _maximized(counts: "ChainCounts", alphas: tuple[float, float, float], stop: bool) -> em.EmParameters[Chain]:
    """Return the parameters of EM: a prior Dirichlet(1 + alpha) adds alpha to its counts, in their own memory."""
    k = len(counts.start)
    start = normalized(counts.start[None, :] + alphas[0])[0]
    onward = normalized(leaving(counts, stop) + alphas[1])
    emissions = counts.emissions
    emissions += alphas[2]
    totals = emissions.sum(0)
    emissions /= np.where(totals > 0, totals, 1.0)
    emissions[:, totals == 0] = 1.0 / len(emissions)  # a state that nothing is in
    return _with_prior(Chain(start, onward[:, :k], onward[:, k] if stop else np.ones(k), emissions), alphas, stop)


def _with_prior(chain: Chain, alphas: tuple[float, float, float], stop: bool) -> em.EmParameters[Chain]:
    parameters = chain.start, leaving(chain, stop), chain.emissions
    gained = sum(alpha * float(np.log(p).sum()) for alpha, p in zip(alphas, parameters, strict=True) if alpha > 0)
    return em.EmParameters(chain, lambda: chain, -gained)


def _posterior(counts: "ChainCounts", alphas: tuple[float, float, float], stop: bool) -> em.EmParameters[Chain]:
    """Return the parameters of variational Bayes (Beal 2003, chapter 3): a Dirichlet posterior for each distribution.

    The bound is the logarithm of the text's sum over paths under the weights, less the divergence of the posteriors
    from the priors.
    """
    posteriors = [c + alpha for c, alpha in zip(as_distributions(counts, stop), alphas, strict=True)]
    weights, divergence = em.expected(posteriors, alphas)
    mean = lambda: from_distributions([normalized(p) for p in posteriors], stop)  # noqa: E731
    return em.EmParameters(from_distributions(weights, stop), mean, divergence)


def induce(
    tokens: np.ndarray,
    offsets: np.ndarray,
    n_words: int,
    pool: Pool,
    settings: InductionSettings | None = None,
    report: Callable[[int, int, float, float], None] | None = None,
    noise: float = NOISE,
    allowed: np.ndarray | None = None,
) -> em.EmResult[Chain]:
    """Learn a chain from text without tags, by EM (also where ``estimator`` is ``mre``) or variational Bayes.

    tokens (int32 [tokens]): Word ids, below ``n_words``.
    offsets (int64 [sentences + 1]): Sentences may be empty.
    settings: ``tolerance`` counts after `FIRST_STOP` updates; ``transition_prior`` is also that of the start.
    report: Called with (restart, iteration, objective, perplexity), the last ``exp(-log P(text) / tokens)`` under the
        weights, which of variational Bayes sum to less than one; its start is no posterior and has no objective.
    noise: How far random starts lie from one another; see `random_chain`.
    allowed (bool [words, states] or None): The states that each word may be in: what is maximized is the sum over paths
        through these (Merialdo 1994).
    Raises UsageProblem when there is nothing to learn from, or a setting makes no sense.
    """
    settings = (settings or InductionSettings()).checked()
    estimator, n_states, stop = settings.learner, settings.states, settings.stop
    if len(tokens) == 0:
        raise UsageProblem("the text has no words to learn tags from")
    given = settings.transition_prior, settings.emission_prior
    of_transitions, of_emissions = (PRIORS[estimator][i] if a is None else a for i, a in enumerate(given))
    least = min(of_transitions, of_emissions)
    if least < 0 or (estimator == "vb" and least == 0):
        wanted = "above 0" if estimator == "vb" else "0 or above"
        raise UsageProblem(f"Dirichlet parameter {least:g}: {estimator} needs it {wanted}")
    text = ChainText(tokens, offsets, n_words, allowed=allowed)
    # a prior gives words that never occur their share: so must the start
    frequencies = np.bincount(text.tokens, minlength=n_words) + of_emissions
    alphas = of_transitions, of_transitions, of_emissions
    variational, tokens_in = estimator == "vb", len(text.tokens)

    def expect(weights: Chain) -> tuple["ChainCounts", float]:
        counts = expected_counts(weights, text, pool)
        return counts, float(counts.loglik.sum())

    def started(number: int) -> em.EmResult[Chain]:
        begin = random_chain(frequencies, n_states, np.random.default_rng([settings.seed, number]), stop, noise)

        def told(step: int, objective: float, log_likelihood: float) -> None:
            if report is not None:
                report(number, step, objective, math.exp(min(-log_likelihood / tokens_in, 700.0)))

        return em.fit(
            em.EmParameters(begin, lambda: begin, None) if variational else _with_prior(begin, alphas, stop),
            expect,
            lambda counts: (_posterior if variational else _maximized)(counts, alphas, stop),
            settings.iterations,
            settings.tolerance,
            least=FIRST_STOP + 2,
            patience=1,
            report=told,
        )

    return em.best_start(started(number) for number in range(settings.restarts))


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
