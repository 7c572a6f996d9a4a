"""Training a parser from a treebank."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.formats.annotation.class_lists import WordLookup
from aligntools.ground.parallel import Pool
from aligntools.parsing.features.space import templates_of
from aligntools.parsing.features.vocabularies import Vocabularies
from aligntools.parsing.labels import Labeler
from aligntools.parsing.learning import training
from aligntools.parsing.learning.checkpoints import Checkpoint, fingerprint
from aligntools.parsing.learning.parts import InParts
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import ParserSettings
from aligntools.parsing.text import chosen
from aligntools.parsing.trees.usable import usable


class NoSentences(ValueError):
    """There is nothing to train on."""


@dataclass(frozen=True)
class TrainingReport:
    """What training did.

    sentences, words: How many were trained on.
    skipped, changed: Sentences left out, and sentences whose tree was changed, by reason.
    first_skipped: The first sentence that was left out for its tree, from 0.
    """

    sentences: int
    words: int
    skipped: dict[str, int]
    changed: dict[str, int]
    first_skipped: int | None
    fit: training.Fit


def train(
    words: Sequence[bytes],
    tags: Sequence[bytes],
    offsets: np.ndarray,
    heads: np.ndarray,
    labels: Sequence[bytes] | None = None,
    settings: ParserSettings | None = None,
    pool: Pool | None = None,
    progress: Callable[[int, float, np.ndarray], None] | None = None,
    checkpoint: Checkpoint | None = None,
    about: dict[str, Any] | None = None,
    parts: InParts | None = None,
    classes: WordLookup | None = None,
) -> tuple[ParserModel, TrainingReport]:
    """Train a parser from sentences with trees, by maximum conditional likelihood.

    words, tags: Of all sentences, joined.
    offsets (int64 [sentences + 1]).
    heads (int32 [words]): 0 for the root, 1 to n, -1 for none.
    progress: See `training.minimize`.
    checkpoint: Keeps the state, and continues from the one that it has.
    about: Kept in the model with the settings.
    parts: Does the training by jobs over files, with the same result.
    classes: Word classes as features; kept in the model.
    Raises ModelError when the checkpoint's state is of another training. Raises NoSentences when no sentence is left to
    train on.
    """
    settings = settings or ParserSettings()
    offsets = np.asarray(offsets, np.int64)
    found = usable(heads, offsets, settings.constraints, settings.crossing, settings.roots)
    lengths = np.diff(offsets)
    skipped = dict(found.skipped)
    for reason, wrong in (("too short", lengths < settings.min_length), ("too long", lengths > settings.max_length)):
        if np.any(wrong & found.keep):
            skipped[reason] = int(np.count_nonzero(wrong & found.keep))
    keep = found.keep & (lengths >= settings.min_length) & (lengths <= settings.max_length) & (lengths > 0)
    if not keep.any():
        raise NoSentences("no sentence can be trained on")
    words, within = chosen(list(words), offsets, keep)
    tags = chosen(list(tags), offsets, keep)[0]
    given = chosen(found.heads, offsets, keep)[0]
    vocabularies = Vocabularies.of(words, tags, settings.min_count, classes)
    sentences = vocabularies.sentences(words, tags, within)
    place = parts or training.InMemory(pool)
    space = place.fitted(templates_of(settings.features, classes), sentences, settings.bits)
    objective = place.objective(space, [training.TreeLoss(sentences, given, settings.constraints)], settings.l2)
    minimize: training.Minimize = training.minimize
    if checkpoint is not None:
        own = fingerprint(settings.header(), sentences.offsets, sentences.layers, given)
        minimize = checkpoint.open("train", own).minimize
    fit = minimize(objective, None, settings.iterations, settings.tolerance, progress=progress)
    labeler = None
    if labels is not None and settings.labels:
        labeler = Labeler.train(sentences, given, chosen(list(labels), offsets, keep)[0])
    parser = ParserModel(
        vocabularies, space, fit.weights, settings.constraints, settings.header() | (about or {}), labeler
    )
    report = TrainingReport(len(sentences), int(within[-1]), skipped, found.changed, found.first, fit)
    return parser, report
