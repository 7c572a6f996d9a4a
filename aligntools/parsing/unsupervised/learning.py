"""Learning the dependency model with valence from tags alone, by EM or variational Bayes."""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from aligntools.formats.models.modelfile import hold, write_model
from aligntools.ground import em
from aligntools.ground.parallel import Pool
from aligntools.parsing.features.space import vocabulary
from aligntools.parsing.learning.checkpoints import KIND, Checkpoint, damaged, fingerprint
from aligntools.parsing.settings import InducedParserSettings
from aligntools.parsing.text import NoSentences as NoSentences
from aligntools.parsing.text import chosen
from aligntools.parsing.unsupervised.valence import (
    MOST_TAGS,
    Valence,
    ValenceCounts,
    ValenceModel,
    expected_counts,
    harmonic,
    punctuation,
)


def learn(
    tags: np.ndarray,
    offsets: np.ndarray,
    n_tags: int,
    settings: InducedParserSettings,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> em.EmResult[Valence]:
    """Learn the model: by EM, or by variational Bayes (Kurihara & Sato 2004; Johnson et al. 2007).

    The objectives are of the parameters of each step, the first from the start; the model is one update further.

    tags (int32 [words]).
    offsets (int64 [sentences + 1]): From 0.
    report: Called with the number of each step, from 0, and its objective.
    checkpoint: Keeps the state, and continues from the one that it has.
    Raises ModelError when the checkpoint's state is of another training.
    """
    counts, values, state = harmonic(tags, offsets, n_tags, settings.decay), list[float](), None
    if checkpoint is not None:
        state = _State(checkpoint, fingerprint(settings.header(), tags, offsets))
        counts, values = state.read(counts)

    def expect(weights: Valence) -> tuple[ValenceCounts, float]:
        found, log_z = expected_counts(weights, tags, offsets, pool)
        return found, float(log_z[np.isfinite(log_z)].sum())

    def maximize(found: ValenceCounts) -> em.EmParameters[Valence]:
        return em.maximized(found.events().rows(), settings.prior, settings.estimator == "vb", Valence.of_rows)

    fit = em.fit(
        maximize(counts),
        expect,
        maximize,
        settings.iterations,
        settings.tolerance,
        least=3,
        values=values,
        report=None if report is None else lambda step, value, _: report(step, value),
        keep=None if state is None else state.write,
    )
    return replace(fit, model=maximize(fit.counts or counts).mean())


class _State:
    """The state of learning in a checkpoint: expected counts, and the objective so far."""

    def __init__(self, checkpoint: Checkpoint, own: str) -> None:
        self.own = own
        self.path, self.kept = checkpoint.kept("induce", own)

    def read(self, start: ValenceCounts) -> tuple[ValenceCounts, list[float]]:
        """Return what was kept, or the start."""
        if self.kept is None:
            return start, []
        arrays = self.kept[1]
        try:
            values = hold(arrays, "values", (len(arrays["values"]),), np.float64).tolist()
            found = {f.name: hold(arrays, f.name, getattr(start, f.name).shape, np.float64, 0) for f in fields(start)}
        except (KeyError, ValueError, TypeError) as error:
            raise damaged(self.path, error) from None
        return ValenceCounts(**found), values

    def write(self, counts: ValenceCounts, values: list[float]) -> None:
        """Keep a state."""
        arrays = {f.name: getattr(counts, f.name) for f in fields(counts)} | {"values": np.array(values)}
        write_model(self.path, KIND, {"fingerprint": self.own}, arrays)


class TooManyTags(ValueError):
    """The tags are no tags."""


def train(
    tags: Sequence[bytes],
    offsets: np.ndarray,
    settings: InducedParserSettings | None = None,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
    about: dict[str, Any] | None = None,
) -> tuple[ValenceModel, dict[str, Any]]:
    """Learn the dependency model with valence; return it with figures about the training.

    tags: Of all sentences, joined.
    offsets (int64 [sentences + 1]).
    pool, report, checkpoint: As for `learn`.
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
    return model, {
        "sentences": len(within) - 1,
        "words": len(tags),
        "tags": len(known) - 1,
        "objective": fit.values[-1],
        "steps": len(fit.values) - 1,
        "message": fit.message,
        "skipped": {reason: int(which.sum()) for reason, which in reasons.items() if which.any()},
    }
