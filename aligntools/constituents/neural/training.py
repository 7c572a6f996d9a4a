"""Training a neural or compound PCFG from words or tags."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aligntools.constituents.inducing.settings import InducedGrammarSettings
from aligntools.constituents.inducing.training import InducedGrammarReport
from aligntools.constituents.neural.learning import learn
from aligntools.constituents.neural.model import NeuralGrammar, numbers_of, terminal
from aligntools.constituents.neural.network import Sizes
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.words.vocabulary import Vocabulary

#: Words of the vocabulary at most, and how often one of them is in the text at least.
WORDS, LEAST = 10_000, 2
#: Numbers of the largest array of weights.
_MOST_WEIGHTS = 50_000_000


def train(
    sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]] | None,
    settings: InducedGrammarSettings,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    about: dict[str, Any] | None = None,
) -> tuple[NeuralGrammar, InducedGrammarReport] | None:
    """Learn a grammar; return nothing when no sentence is left to learn from.

    sentences: Their words.
    tags: Their tags; words can do without.
    pool, report: As for `learning.learn`.
    about: Kept in the model with the settings.
    Raises UsageProblem when the networks are too large.
    """
    nothing: Vocabulary = Vocabulary.from_bytes([])
    blank = NeuralGrammar(nothing, {}, Sizes(0, 0, 0, 0), settings.header() | (about or {}))
    texts = list[list[str]]()
    for k, words in enumerate(sentences):
        own = None if tags is None else tags[k]
        out = blank.left_out(words, own)
        of = [terminal(word) for word in words] if own is None or not blank.needs_tags else own
        texts.append([one for one, dropped in zip(of, out, strict=True) if not dropped])
    lengths = np.array([len(text) for text in texts], np.int64)
    keep = (lengths >= 2) & (lengths <= settings.max_length)
    if not keep.any():
        return None
    texts = [text for text, good in zip(texts, keep.tolist(), strict=True) if good]
    known = _vocabulary(texts, blank.needs_tags)
    hidden, latent = settings.symbols + settings.preterminals, settings.width // 4
    sizes = Sizes(
        settings.symbols,
        settings.preterminals,
        len(known),
        settings.width,
        latent if settings.estimator == "compound" else 0,
    )
    if max(hidden * hidden, len(known)) * (settings.width + latent) > _MOST_WEIGHTS:
        raise UsageProblem(f"{hidden} symbols and preterminals are too many with a `width` of {settings.width}")
    numbers = [numbers_of(known, text) for text in texts]
    starts = range(settings.restarts)
    fits = (learn(numbers, sizes, settings.epochs, [settings.seed, start], pool, report) for start in starts)
    fit = max(fits, key=lambda one: one.values[-1])
    reasons = {"too short": lengths < 2, "too long": lengths > settings.max_length}
    skipped = {reason: int(which.sum()) for reason, which in reasons.items() if which.any()}
    message = f"{settings.epochs} passes"
    told = InducedGrammarReport(
        len(texts), int(lengths[keep].sum()), len(known) - 1, skipped, fit.values, settings.epochs, message
    )
    return NeuralGrammar(known, fit.arrays, sizes, blank.settings), told


def _vocabulary(texts: Sequence[Sequence[str]], tags: bool) -> Vocabulary:
    """Return all tags, or the words that are frequent enough to be known."""
    found = Counter(one for text in texts for one in text)
    if not tags:
        found = Counter({one: n for one, n in found.most_common(WORDS) if n >= LEAST})
    known: Vocabulary = Vocabulary.from_bytes(sorted(one.encode("utf-8", "surrogateescape") for one in found))
    return known
