"""Training a tagger on text without tags: EM or variational Bayes, and then maximum reconstruction."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aligntools.ground import em
from aligntools.ground.em import normalized
from aligntools.ground.errors import UsageProblem
from aligntools.ground.exponentiated_gradient import Family, climb
from aligntools.ground.parallel import Pool
from aligntools.tagging.chain import (
    Chain,
    ChainText,
    as_distributions,
    expected_counts,
    from_distributions,
    leaving,
)
from aligntools.tagging.decoding import CandidateChain, TagCandidates
from aligntools.tagging.settings import InductionSettings
from aligntools.tagging.tagger import TaggerMember, TaggerModel, rounded
from aligntools.tagging.unknown_words import FormClasses, UnknownWords


def train_induced(
    words: Sequence[bytes],
    offsets: np.ndarray,
    pool: Pool,
    settings: InductionSettings,
    report: Callable[[str, dict[str, Any]], None],
    types: Mapping[bytes, Sequence[bytes]] | None = None,
) -> tuple[TaggerModel, int]:
    """Learn a tagger whose tags are numbers from 0, or those of a dictionary; return it and the start that was kept.

    report: Called after each iteration with the stage and its figures; see `taggers.induce_tags`.
    types: The tags that words can have, which are the states' names, whatever ``settings`` say of their number. Words
        that are not in it can have any.
    """

    def step(*figures: float) -> None:
        names = "restart", "iteration", "objective", "perplexity"
        report(settings.learner, dict(zip(names, figures, strict=True)))

    numbers: dict[bytes, int] = {}
    tokens = np.fromiter((numbers.setdefault(w, len(numbers)) for w in words), np.int32, len(words))
    names, allowed = None, None
    if types is not None:
        names, allowed = _allowed(numbers, types)
        settings = replace(settings, states=len(names)).checked()
    found = induce(tokens, offsets, len(numbers), pool, settings, step, allowed)
    chain, text = found.model, ChainText(tokens, offsets, len(numbers), allowed=allowed)
    if settings.estimator == "mre":
        steps = settings.mre_iterations
        chain, _ = reconstruct(
            chain, text, pool, steps, lambda i, value: report("mre", {"iteration": i, "objective": value})
        )
    counts = expected_counts(chain, text, pool)[0].emissions
    about = settings.header() | {"column": "upos"}
    return from_chain(text.held(chain), list(numbers), counts, about, names), found.start


def _allowed(words: dict[bytes, int], types: Mapping[bytes, Sequence[bytes]]) -> tuple[list[str], np.ndarray]:
    """Return the names of states, and which of them each word may be in, bool [words, states]."""
    known = [types.get(word) for word in words]
    names = sorted({tag for tags in known for tag in tags or ()})
    number = {name: n for n, name in enumerate(names)}
    allowed = np.zeros((len(known), len(names)), bool)
    for row, tags in zip(allowed, known, strict=True):
        row[[number[tag] for tag in tags] if tags else slice(None)] = True
    return [name.decode("utf-8", "surrogateescape") for name in names], allowed


def from_chain(
    chain: Chain,
    words: Sequence[bytes],
    counts: np.ndarray,
    settings: dict[str, Any] | None = None,
    tags: list[str] | None = None,
) -> TaggerModel:
    """Make a tagger of a chain of induced states, with names or their numbers for tags.

    counts (float64 [words, K]): Expected counts in the training text: unknown words are learned from them.
    """
    counts = np.ascontiguousarray(counts, np.float64)
    n_states = counts.shape[1]
    prior = counts.sum(0) + 1e-6
    prior /= prior.sum()
    unknown = UnknownWords.learn(words, counts)
    values = np.asarray(chain.emissions, np.float64)
    scale = values.max(1, keepdims=True, initial=0)
    values = rounded(np.divide(values, scale, out=np.ones_like(values), where=scale > 0))
    model = CandidateChain(
        np.array([0, n_states], np.int64),
        np.array(chain.start, np.float64),
        np.array(chain.transitions, np.float64, order="C"),
        np.array(chain.stop, np.float64),
        values.ravel(),
    )
    candidates = TagCandidates(np.arange(len(words) + 1, dtype=np.int64), np.zeros(len(words), np.int32))
    classes = FormClasses({}, np.zeros(1, np.int64), [(0, 1)])
    member = TaggerMember(model, prior, np.ones((1, n_states), np.float32))
    tags = [str(n) for n in range(n_states)] if tags is None else tags
    about = settings or {}
    return TaggerModel(tags, list(words), candidates, [member], None, unknown, classes, True, about, scale.ravel())


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
    """Return a chain whose states all lie near the text's word frequencies [rows], each parameter moved a little."""

    def moved(*shape: Any) -> np.ndarray:
        return np.exp(noise * rng.standard_normal(shape))

    start, onward = moved(1, n_states), moved(n_states, n_states + 1 if stop else n_states)
    emissions = (moved(len(frequencies), n_states) * np.asarray(frequencies, np.float64)[:, None]).T
    return from_distributions([normalized(p) for p in (start, onward, emissions)], stop)


def _maximized(counts: Chain, alphas: tuple[float, float, float], stop: bool) -> em.EmParameters[Chain]:
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


def _posterior(counts: Chain, alphas: tuple[float, float, float], stop: bool) -> em.EmParameters[Chain]:
    """Return the parameters of variational Bayes: Dirichlet posteriors, and their divergence from the priors."""
    posteriors = [c + alpha for c, alpha in zip(as_distributions(counts, stop), alphas, strict=True)]
    weights, divergence = em.expected(posteriors, alphas)
    mean = lambda: from_distributions([normalized(p) for p in posteriors], stop)  # noqa: E731
    return em.EmParameters(from_distributions(weights, stop), mean, divergence)


def induce(
    tokens: np.ndarray,
    offsets: np.ndarray,
    n_words: int,
    pool: Pool,
    settings: InductionSettings,
    report: Callable[[int, int, float, float], None] | None = None,
    allowed: np.ndarray | None = None,
) -> em.EmResult[Chain]:
    """Learn a chain from text without tags, by EM (also where ``estimator`` is ``mre``) or variational Bayes.

    tokens (int32 [tokens]): Word ids. ``tolerance`` counts after `FIRST_STOP` updates.
    report: Called with (restart, iteration, objective, perplexity), the last ``exp(-log P(text) / tokens)`` under the
        weights, which of variational Bayes sum to less than one; its start is no posterior and has no objective.
    allowed (bool [words, states] or None): The states that each word may be in: what is maximized is the sum over paths
        through these (Merialdo 1994).
    """
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

    def expect(weights: Chain) -> tuple[Chain, float]:
        counts, loglik = expected_counts(weights, text, pool)
        return counts, float(loglik.sum())

    def started(number: int) -> em.EmResult[Chain]:
        begin = random_chain(frequencies, n_states, np.random.default_rng([settings.seed, number]), stop, NOISE)

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


# Maximum reconstruction estimation of a chain (Cheng, Liu & Xu 2017, equations 21 to 29, for tag induction).
#
# A chain is trained to reproduce the words that it has seen: states z are drawn given the words x, then words given
# the states. The logarithm of the probability that this succeeds is
#
#     log P(x|x) = log sum_z P(z|x) P(x|z) = log sum_z P(z) P(x|z)^2 - log sum_z P(z) P(x|z),
#
# two runs of forward-backward, one with all emissions squared. Its derivative by a parameter p, times p, is the
# parameter's expected count under Q (proportional to ``P(z) P(x|z)^2``), twice that where it is an emission, less its
# expected count under the posterior ``P(z|x)``.


def reconstruction(chain: Chain, text: ChainText, pool: Pool) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Evaluate ``log P(x|x)`` and what its gradient is made of.

    Returns objectives (float64 [sentences]): ``log P(x|x)``, natural; 0 for a sentence of no words, -inf for one that
        the chain cannot emit.
    Returns counts (list of float64 arrays, shaped as `as_distributions` does): ``p dL/dp``, L the sum of the
        objectives: counts under Q (twice for emissions) minus under the posterior.
    Returns totals (list of float64 [distributions]): How often every distribution was used, expected under the
        posterior.
    """
    under_q, of_q = expected_counts(chain, text, pool, squared=True)
    posterior, of_posterior = expected_counts(chain, text, pool)
    reached = np.isfinite(of_q) & np.isfinite(of_posterior)
    objectives = np.full(text.n_sentences, -np.inf)
    objectives[reached] = of_q[reached] - of_posterior[reached]
    ends = chain.ends
    counts, totals = [], []
    for times, q, p in zip((1, 1, 2), as_distributions(under_q, ends), as_distributions(posterior, ends), strict=True):
        q *= times
        q -= p
        counts.append(q)
        totals.append(p.sum(1))
    return objectives, counts, totals


def reconstruct(
    chain: Chain,
    text: ChainText,
    pool: Pool,
    iterations: int = InductionSettings.mre_iterations,
    report: Callable[..., Any] | None = None,
) -> tuple[Chain, list[float]]:
    """Train a chain to reconstruct a text, by exponentiated gradient with adaptive rates, from the solution of EM.

    iterations: Steps at most. Many more than the paper's 50 raise the objective further and the likelihood falls.
    Returns objectives: Mean ``log P(x|x)`` of sentences with words, at the start and after every step: it never falls.
    """
    ends = chain.ends
    begin = as_distributions(chain, ends)
    shapes = [p.shape for p in begin]
    kept: np.ndarray | None = None

    def unpacked(parameters: list[np.ndarray]) -> Chain:
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

    families = [Family.of_rows(shape) for shape in shapes]
    parameters, objectives = climb(evaluate, [p.ravel() for p in begin], families, iterations, report=told)
    return unpacked(parameters), [o / counted() for o in objectives]
