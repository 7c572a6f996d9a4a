"""Training a grammar from tags alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.constituents.inducing.model import MOST, InducedGrammar, is_punctuation
from aligntools.constituents.inducing.rules import DenseRules, expected_counts
from aligntools.constituents.inducing.settings import InducedGrammarSettings
from aligntools.ground.dirichlet import expected, normalized
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

# Learning a grammar of binary rules from tags alone, by EM (Lari & Young 1990) or variational Bayes.
#
# EM takes relative frequencies of expected counts, to which a prior is added; variational Bayes (Kurihara & Sato 2004)
# keeps a Dirichlet posterior for each symbol's rules, and weighs rules by ``exp E[log p]``.


#: How far the rules of a start differ from each other: uniform numbers from 1 to this more.
_SPREAD = 0.5


@dataclass(frozen=True)
class InducedFit:
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
) -> InducedFit:
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
) -> InducedFit:
    model = weights = _start(n_tags, settings, start)
    values, penalty, calm = list[float](), _log_prior(model, settings), 0
    while True:
        counts, log_likelihood, _ = expected_counts(weights, tags, offsets, pool)
        values.append(log_likelihood - penalty)
        if report is not None:
            report(len(values) - 1, values[-1])
        if len(values) > settings.iterations:
            return InducedFit(model, values, f"{settings.iterations} iterations")
        if len(values) > 2:  # the start is no posterior: of variational Bayes it has no bound
            gain = values[-1] - values[-2]
            calm = calm + 1 if gain < settings.tolerance * abs(values[-2]) else 0
        if calm == 2:
            return InducedFit(model, values, "the objective rises no more")
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


#: Numbers that rules and their counts may take: float64s of all blocks.
_MOST_RULES = 20_000_000


@dataclass(frozen=True)
class InducedGrammarReport:
    """What training did.

    sentences, words, types: How many were trained on; types of tags, or of words that the grammar knows.
    skipped: Sentences left out, by reason.
    values: The objective in each step.
    steps: How often probabilities changed.
    message: Why it ended.
    """

    sentences: int
    words: int
    types: int
    skipped: dict[str, int]
    values: list[float]
    steps: int
    message: str


def train(
    sentences: Sequence[Sequence[str]],
    settings: InducedGrammarSettings | None = None,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    about: dict[str, Any] | None = None,
) -> tuple[InducedGrammar, InducedGrammarReport] | None:
    """Learn a grammar; return nothing when no sentence is left to learn from.

    sentences: Their tags.
    pool, report: As for `learning.learn`.
    about: Kept in the model with the settings.
    Raises UsageProblem when there are too many tags, or too many for so many symbols.
    """
    settings = settings or InducedGrammarSettings()
    drops = settings.punct == "drop"
    texts = [[tag for tag in tags if not (drops and is_punctuation(tag))] for tags in sentences]
    lengths = np.array([len(tags) for tags in texts], np.int64)
    keep = (lengths >= 2) & (lengths <= settings.max_length)
    if not keep.any():
        return None
    texts = [tags for tags, good in zip(texts, keep.tolist(), strict=True) if good]
    known: Vocabulary = Vocabulary.from_bytes(
        sorted({tag.encode("utf-8", "surrogateescape") for tags in texts for tag in tags})
    )
    n = len(known) - 1
    if n > MOST:
        raise UsageProblem(f"{n} different tags; there may be {MOST}: are these tags? (`tags` says which column)")
    if settings.symbols * (settings.symbols + n) ** 2 > _MOST_RULES:
        raise UsageProblem(f"{settings.symbols} symbols are too many with {n} tags")
    numbers = known.ids([tag.encode("utf-8", "surrogateescape") for tags in texts for tag in tags]) - 1
    offsets = np.append(0, np.cumsum(lengths[keep])).astype(np.int64)
    fit = learn(numbers.astype(np.int32), offsets, n, settings, pool, report)
    reasons = {"too short": lengths < 2, "too long": lengths > settings.max_length}
    skipped = {reason: int(which.sum()) for reason, which in reasons.items() if which.any()}
    model = InducedGrammar(known, fit.model, settings.header() | (about or {}))
    steps = len(fit.values) - 1
    return model, InducedGrammarReport(len(texts), len(numbers), n, skipped, fit.values, steps, fit.message)
