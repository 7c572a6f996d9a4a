"""Learning a grammar of binary rules from tags alone, by EM (Lari & Young 1990) or variational Bayes.

EM takes relative frequencies of expected counts, to which a prior is added; variational Bayes (Kurihara & Sato 2004)
keeps a Dirichlet posterior for each symbol's rules, and weighs rules by ``exp E[log p]``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aligntools.constituents.inducing.rules import DenseRules, expected_counts
from aligntools.constituents.inducing.settings import InducedGrammarSettings
from aligntools.ground.dirichlet import expected, normalized
from aligntools.ground.parallel import Pool

#: How far the rules of a start differ from each other: uniform numbers from 1 to this more.
_SPREAD = 0.5


@dataclass(frozen=True)
class Fit:
    """What learning did.

    model: Probabilities.
    values: The objective before each iteration: the log-likelihood with the prior's logarithm, or the bound on the
        logarithm of the evidence.
    message: Why it ended.
    """

    model: DenseRules
    values: list[float]
    message: str


def learn(
    tags: np.ndarray,
    offsets: np.ndarray,
    n_tags: int,
    settings: InducedGrammarSettings,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
) -> Fit:
    """Learn from as many random starts as the settings say; return the best.

    tags (int32 [words]): From 0.
    offsets (int64 [sentences + 1]): From 0; of sentences of two words and more.
    report: Called with the number of each step of a start, from 0, and its objective.
    """
    fits = [_learn(tags, offsets, n_tags, settings, start, pool, report) for start in range(settings.restarts)]
    return max(fits, key=lambda fit: fit.values[-1])


def _start(n_tags: int, settings: InducedGrammarSettings, start: int) -> DenseRules:
    rng = np.random.default_rng([settings.seed, start])
    k, size = settings.symbols, settings.symbols + n_tags
    roots, rules = 1 + _SPREAD * rng.random((1, k)), 1 + _SPREAD * rng.random((k, size * size))
    return DenseRules.of_rows(normalized(roots), normalized(rules))


def _learn(
    tags: np.ndarray,
    offsets: np.ndarray,
    n_tags: int,
    settings: InducedGrammarSettings,
    start: int,
    pool: Pool | None,
    report: Callable[[int, float], None] | None,
) -> Fit:
    model = weights = _start(n_tags, settings, start)
    values, penalty, calm = list[float](), _log_prior(model, settings), 0
    while True:
        counts, log_likelihood, _ = expected_counts(weights, tags, offsets, pool)
        values.append(log_likelihood - penalty)
        if report is not None:
            report(len(values) - 1, values[-1])
        if len(values) > settings.iterations:
            return Fit(model, values, f"{settings.iterations} iterations")
        if len(values) > 2:  # the start is no posterior: of variational Bayes it has no bound
            gain = values[-1] - values[-2]
            calm = calm + 1 if gain < settings.tolerance * abs(values[-2]) else 0
        if calm == 2:
            return Fit(model, values, "the objective rises no more")
        rows = [row + settings.prior for row in counts.rows()]
        model = DenseRules.of_rows(*map(normalized, rows))
        weights, penalty = model, _log_prior(model, settings)
        if settings.estimator == "vb":
            found, penalty = expected(rows, [settings.prior] * len(rows))
            weights = DenseRules.of_rows(*found)


def _log_prior(model: DenseRules, settings: InducedGrammarSettings) -> float:
    """Return what EM's objective loses by the prior on all rules."""
    if settings.estimator == "vb" or not settings.prior:
        return 0.0
    return -settings.prior * sum(float(np.log(row).sum()) for row in model.rows())
