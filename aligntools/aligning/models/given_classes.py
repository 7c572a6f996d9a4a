"""Classes of words that models take: those that came with the text, or those that are learned from it."""

import logging

import numpy as np

from aligntools.aligning.models import registry
from aligntools.aligning.models.base import ViewTask
from aligntools.aligning.settings import ResolvedSettings
from aligntools.clustering import word_classes
from aligntools.formats.text.corpus import Bitext, Side
from aligntools.ground.errors import UsageProblem

#: A table of distances has a row for each pair of classes.
MOST_CLASSES = 500
_log = logging.getLogger("aligntools")


def check_classes(bitext: Bitext, settings: ResolvedSettings, letters: int) -> None:
    """Refuse classes that came with a text where the model has no use for them; tell if they are of other words."""
    for name, given, words in (
        ("source", bitext.classes[0], bitext.source_vocabulary),
        ("target", bitext.classes[1], bitext.target_vocabulary),
    ):
        if given is None:
            continue
        if "word_classes" in registry.of_others(settings.model_type):
            raise UsageProblem(f"`{name}_classes` is for IBM 4 and hmm-classes; use `model_type=ibm4`")
        if letters:
            raise UsageProblem(f"`{name}_classes` has classes of whole words; use `views=0`")
        if len(given.names) - 1 > MOST_CLASSES:
            raise UsageProblem(f"`{name}_classes` has {len(given.names) - 1} classes; at most {MOST_CLASSES} are taken")
        if len(words) > 1 and not given.find([w.encode("utf-8", "surrogateescape") for w in words.words()[1:]]).any():
            _log.warning("none of the words of `%s_classes` is one of the text", name)


def classes_of(task: ViewTask, size: int, d: int) -> np.ndarray:
    """Return the classes of a side's words, int32 [size + 1]; words without one have 0, as NULL and unknown words.

    size: How many words the side has, with NULL.
    d: 0 source, 1 target.
    """
    side, given = (task.source, task.target)[d], task.classes[d]
    assert side is not None, "it is not trained in parts"
    if given is None:
        return learned_classes(side, size, task.settings)
    assert task.words is not None
    words = (task.words.s_words, task.words.t_words)[d][1:]
    found = np.append(0, given.find([word.encode("utf-8", "surrogateescape") for word in words]))
    return np.append(found, 0).astype(np.int32)


def learned_classes(side: Side, size: int, settings: ResolvedSettings) -> np.ndarray:
    """Return classes that are learned from a side of a text, int32 [size + 1]; see `classes_of`."""
    found = word_classes(side.tokens, side.offsets, size, settings.word_classes, seed=settings.seed)
    return np.append(found, 0).astype(np.int32)
