"""Training a grammar from tags alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.constituents.inducing.learning import learn
from aligntools.constituents.inducing.model import MOST, InducedGrammar, is_punctuation
from aligntools.constituents.inducing.settings import InducedGrammarSettings
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

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
