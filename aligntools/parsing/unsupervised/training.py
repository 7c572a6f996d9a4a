"""Training a parser from tags alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.parsing.features.vocabularies import vocabulary
from aligntools.parsing.learning.checkpoints import Checkpoint
from aligntools.parsing.text import NoSentences as NoSentences
from aligntools.parsing.text import chosen
from aligntools.parsing.unsupervised.learning import ValenceFit, learn
from aligntools.parsing.unsupervised.model import MOST_TAGS, ValenceModel, punctuation
from aligntools.parsing.unsupervised.settings import InducedParserSettings


class TooManyTags(ValueError):
    """The tags are no tags."""


@dataclass(frozen=True)
class InductionReport:
    """What training did.

    sentences, words, tags: How many were trained on.
    skipped: Sentences left out, by reason.
    """

    sentences: int
    words: int
    tags: int
    skipped: dict[str, int]
    fit: ValenceFit


def train(
    tags: Sequence[bytes],
    offsets: np.ndarray,
    settings: InducedParserSettings | None = None,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
    about: dict[str, Any] | None = None,
) -> tuple[ValenceModel, InductionReport]:
    """Learn the dependency model with valence.

    tags: Of all sentences, joined.
    offsets (int64 [sentences + 1]).
    pool, report, checkpoint: As for `learning.learn`.
    about: Kept in the model with the settings.
    Raises ModelError when the checkpoint's state is of another training. Raises NoSentences when no sentence is left to
    train on. Raises TooManyTags when there are more than `MOST_TAGS` different ones.
    """
    settings = settings or InducedParserSettings()
    offsets = np.asarray(offsets, np.int64)
    left_out = punctuation(tags) if settings.punct == "drop" else np.zeros(len(tags), bool)
    inside = np.append(0, np.cumsum(~left_out))[offsets]
    tags = [tag for tag, out in zip(tags, left_out, strict=True) if not out]
    lengths = np.diff(inside)
    keep = (lengths >= settings.min_length) & (lengths <= settings.max_length) & (lengths > 0)
    if not keep.any():
        raise NoSentences("no sentence can be trained on")
    tags, within = chosen(tags, inside, keep)
    known = vocabulary(tags)
    if len(known) - 1 > MOST_TAGS:
        raise TooManyTags(f"{len(known) - 1} different tags; there may be {MOST_TAGS}")
    ids = (known.ids(tags) - 1).astype(np.int32)
    fit = learn(ids, within, len(known) - 1, settings, pool, report, checkpoint)
    model = ValenceModel(known, fit.model, settings.header() | (about or {}))
    reasons = {
        "empty": lengths == 0,
        "too short": (lengths > 0) & (lengths < settings.min_length),
        "too long": lengths > settings.max_length,
    }
    skipped = {reason: int(which.sum()) for reason, which in reasons.items() if which.any()}
    return model, InductionReport(len(within) - 1, len(tags), len(known) - 1, skipped, fit)
