"""Tag induction: a chain learned from text without tags by expectation maximization or variational Bayes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aligntools.ground.dirichlet import expected, normalized
from aligntools.ground.errors import UsageProblem
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
    from aligntools.tagging.chains.chain import ChainCounts

#: How far random starts lie from the text's word frequencies: standard deviation of the logarithms of parameters.
#: 0.1 reached a higher likelihood than 1 on two English texts, and tags closer to theirs on the smaller one.
NOISE = 0.1
#: Iterations before learning may stop: starts lie near a saddle, and the first steps may gain little.
FIRST_STOP = 10
#: Dirichlet parameters of (start and transitions, emissions). EM: added to all counts; none is plain EM.
PRIORS = {"em": (0.0, 0.0), "vb": (0.1, 0.1)}


@dataclass
class InductionResult:
    """What a run of learning found.

    chain: After variational Bayes: the mean of its posterior.
    objectives: Of the restart that was kept, in natural logarithms, one for each time that the parameters were
        evaluated. EM: the log-likelihood, plus the prior's logarithm (up to a constant) where counts are smoothed.
        Variational Bayes: the lower bound on the logarithm of the evidence.
    perplexities: ``exp(-log P(text) / tokens)``; the ends of sentences add to P but are not counted as tokens.
        Variational Bayes: under the weights ``exp E[log p]``, which sum to less than one.
    restart: Which of the restarts was kept, from 0.
    """

    chain: Chain
    objectives: list[float]
    perplexities: list[float]
    restart: int = 0


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


class _Maximization:
    """Expectation maximization; a prior Dirichlet(1 + alpha) on every distribution adds alpha to its counts."""

    def __init__(self, chain: Chain, alphas: tuple[float, float, float], stop: bool) -> None:
        self.weights, self.alphas, self.stop = chain, alphas, stop

    def objective(self, loglik: float) -> float:
        """Log-likelihood, and logarithm of the prior up to a constant."""
        chain = self.weights
        parameters = chain.start, leaving(chain, self.stop), chain.emissions
        priors = zip(self.alphas, parameters, strict=True)
        return loglik + sum(alpha * float(np.log(p).sum()) for alpha, p in priors if alpha > 0)

    def update(self, counts: "ChainCounts") -> None:
        k = len(counts.start)
        start = normalized(counts.start[None, :] + self.alphas[0])[0]
        onward = normalized(leaving(counts, self.stop) + self.alphas[1])
        emissions = counts.emissions
        emissions += self.alphas[2]
        totals = emissions.sum(0)
        emissions /= np.where(totals > 0, totals, 1.0)
        emissions[:, totals == 0] = 1.0 / len(emissions)  # a state that nothing is in
        self.weights = Chain(start, onward[:, :k], onward[:, k] if self.stop else np.ones(k), emissions)

    def result(self) -> Chain:
        return self.weights


class _Variational:
    """Variational Bayes (Beal 2003, chapter 3): a Dirichlet posterior for every distribution.

    Its weights are ``exp E[log p]``. The bound is the logarithm of the text's sum over paths under them, less the
    divergence of the posteriors from the priors. The random start is not such a posterior, so it has no bound.
    """

    def __init__(self, chain: Chain, alphas: tuple[float, float, float], stop: bool) -> None:
        self.weights, self.alphas, self.stop = chain, alphas, stop
        self.posteriors: list[np.ndarray] | None = None
        self.divergence = 0.0

    def objective(self, loglik: float) -> float | None:
        """Lower bound on the log evidence; None before the first update."""
        return None if self.posteriors is None else loglik - self.divergence

    def update(self, counts: "ChainCounts") -> None:
        rows = as_distributions(counts, self.stop)
        self.posteriors = [c + alpha for c, alpha in zip(rows, self.alphas, strict=True)]
        weights, self.divergence = expected(self.posteriors, self.alphas)
        self.weights = from_distributions(weights, self.stop)

    def result(self) -> Chain:
        if self.posteriors is None:
            return self.weights
        return from_distributions([normalized(p) for p in self.posteriors], self.stop)


LEARNERS: dict[str, type[_Maximization] | type[_Variational]] = {"em": _Maximization, "vb": _Variational}


def _climb(
    learner: "_Maximization | _Variational",
    text: ChainText,
    pool: Pool,
    iterations: int,
    tolerance: float,
    report: Callable[..., Any],
) -> tuple[list[float], list[float]]:
    """Run one restart; returns its objectives and perplexities."""
    objectives, perplexities = [], []
    for iteration in range(iterations + 1):
        counts = expected_counts(learner.weights, text, pool)
        loglik = float(counts.loglik.sum())
        objective = learner.objective(loglik)
        if objective is not None:
            objectives.append(objective)
            perplexities.append(math.exp(min(-loglik / len(text.tokens), 700.0)))
            report(iteration, objective, perplexities[-1])
        if iteration > FIRST_STOP and objectives[-1] - objectives[-2] <= tolerance * abs(objectives[-1]):
            break
        if iteration < iterations:
            learner.update(counts)
    return objectives, perplexities


def induce(
    tokens: np.ndarray,
    offsets: np.ndarray,
    n_words: int,
    pool: Pool,
    settings: InductionSettings | None = None,
    report: Callable[[int, int, float, float], None] | None = None,
    noise: float = NOISE,
    allowed: np.ndarray | None = None,
) -> InductionResult:
    """Learn a chain from text without tags, by EM (also where ``estimator`` is ``mre``) or variational Bayes.

    tokens (int32 [tokens]): Word ids, below ``n_words``.
    offsets (int64 [sentences + 1]): Sentences may be empty.
    settings: ``tolerance`` counts after `FIRST_STOP` updates; ``transition_prior`` is also that of the start.
    report: Called with (restart, iteration, objective, perplexity).
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
    best: InductionResult | None = None
    for restart in range(settings.restarts):
        begin = random_chain(frequencies, n_states, np.random.default_rng([settings.seed, restart]), stop, noise)
        learner = LEARNERS[estimator](begin, (of_transitions, of_transitions, of_emissions), stop)

        def told(iteration: int, objective: float, perplexity: float, restart: int = restart) -> None:
            if report is not None:
                report(restart, iteration, objective, perplexity)

        objectives, perplexities = _climb(learner, text, pool, settings.iterations, settings.tolerance, told)
        if best is None or (objectives and objectives[-1] > best.objectives[-1]):
            best = InductionResult(learner.result(), objectives, perplexities, restart)
    assert best is not None  # there is at least one start
    return best
