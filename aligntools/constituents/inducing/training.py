"""Training a grammar of binary rules from tags, by EM (Lari & Young 1990) or variational Bayes.

Where brackets are known, only trees that cross none of them are counted (Pereira & Schabes 1992).
"""

from collections.abc import Callable, Sequence
from itertools import accumulate, compress
from typing import Any

import numpy as np

from aligntools.constituents.inducing.model import (
    MOST,
    Brackets,
    DenseRules,
    InducedGrammar,
    expected_counts,
    is_punctuation,
)
from aligntools.constituents.settings import InducedGrammarSettings
from aligntools.ground import em
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

#: How far the rules of a start differ from each other: uniform numbers from 1 to this more.
_SPREAD = 0.5


def learn(
    tags: np.ndarray,
    offsets: np.ndarray,
    n_tags: int,
    settings: InducedGrammarSettings,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    brackets: Brackets | None = None,
) -> em.EmResult[DenseRules]:
    """Learn from as many random starts as the settings say; return the best.

    tags (int32 [words]), offsets (int64 [sentences + 1]): From 0; of sentences of two words and more.
    """
    prior, variational = settings.prior, settings.estimator == "vb"
    k, size = settings.symbols, settings.symbols + n_tags

    def started(number: int) -> em.EmParameters[DenseRules]:
        rng = np.random.default_rng([settings.seed, number])
        roots, rules = 1 + _SPREAD * rng.random((1, k)), 1 + _SPREAD * rng.random((k, size * size))
        rows = em.normalized(roots), em.normalized(rules)
        model = DenseRules.of_rows(*rows)
        return em.EmParameters(model, lambda: model, 0.0 if variational else em.log_prior(rows, prior))

    return em.best_start(
        em.fit(
            started(number),
            lambda weights: expected_counts(weights, tags, offsets, pool, brackets)[:2],
            lambda counts: em.maximized(counts.rows(), prior, variational, DenseRules.of_rows),
            settings.iterations,
            settings.tolerance,
            least=4,  # the start is no posterior: of variational Bayes it has no bound
            report=None if report is None else lambda step, value, _: report(step, value),
        )
        for number in range(settings.restarts)
    )


#: Numbers that rules and their counts may take: float64s of all blocks.
_MOST_RULES = 20_000_000


def train(
    sentences: Sequence[Sequence[str]],
    settings: InducedGrammarSettings | None = None,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    about: dict[str, Any] | None = None,
    spans: Sequence[Sequence[tuple[int, int]]] | None = None,
) -> tuple[InducedGrammar, dict[str, Any]] | None:
    """Learn a grammar; return it with figures about the training, or nothing when no sentence is left to learn from.

    sentences: Their tags.
    spans: Brackets of each, first word and the one after the last.
    """
    settings = settings or InducedGrammarSettings()
    drops = settings.punct == "drop"
    kept = [[not (drops and is_punctuation(tag)) for tag in tags] for tags in sentences]
    texts = [list(compress(tags, own)) for tags, own in zip(sentences, kept, strict=True)]
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
    brackets = None
    if spans is not None:
        before = [list(accumulate(own, initial=0)) for own in kept]
        moved = [[(at[i], at[j]) for i, j in own] for own, at in zip(spans, before, strict=True)]
        brackets = Brackets.of(list(compress(moved, keep.tolist())))
    fit = learn(numbers.astype(np.int32), offsets, n, settings, pool, report, brackets)
    model = InducedGrammar(known, fit.model, settings.header() | (about or {}))
    return model, figures(lengths, settings, fit) | {"tags": n, "steps": len(fit.values) - 1}


def figures(lengths: np.ndarray, settings: InducedGrammarSettings, fit: em.EmResult[Any]) -> dict[str, Any]:
    """Return how many sentences and words were learned from or skipped, how far the objective came, and why it ended.

    lengths (int64 [sentences]): Words that the grammar sees.
    """
    keep = (lengths >= 2) & (lengths <= settings.max_length)
    reasons = {"too short": lengths < 2, "too long": lengths > settings.max_length}
    return {
        "sentences": int(keep.sum()),
        "words": int(lengths[keep].sum()),
        "objective": fit.values[-1],
        "message": fit.message,
        "skipped": {reason: int(which.sum()) for reason, which in reasons.items() if which.any()},
    }
