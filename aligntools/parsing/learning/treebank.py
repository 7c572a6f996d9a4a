"""Training a parser from a treebank."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aligntools.formats.annotation.class_lists import WordLookup
from aligntools.ground.parallel import Pool
from aligntools.parsing.feature_space import FeatureSpace, Vocabularies, templates_of
from aligntools.parsing.labels import Labeler
from aligntools.parsing.learning import training
from aligntools.parsing.learning.checkpoints import Checkpoint, fit
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import ParserSettings, TreeConstraints
from aligntools.parsing.text import NoSentences as NoSentences
from aligntools.parsing.text import chosen
from aligntools.parsing.trees import kernels_trees as kernels

# Given trees: what is wrong with them, and how to change those that a model cannot have


#: The bits in words, for messages.
NAMES = {
    kernels.NO_HEAD: "a word without a head",
    kernels.CYCLE: "a cycle",
    kernels.NO_ROOT: "no root",
    kernels.ROOTS: "several roots",
    kernels.CROSSING: "crossing edges",
}


def inspect(heads: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Find what keeps sentences from being projective trees with one root.

    heads (int32 [words]): 0 for the root, 1 to n for a word, -1 where there is none.
    offsets (int64 [sentences + 1]).
    Returns uint8 [sentences]: bits of `NAMES`.
    """
    heads, offsets = np.ascontiguousarray(heads, np.int32), np.asarray(offsets, np.int64)
    lengths = np.diff(offsets)
    found = np.zeros(len(lengths), np.uint8)
    marks = np.zeros(max(1, int(lengths.max(initial=0))), np.int32)
    kernels.inspect(heads, offsets - offsets[0], lengths, 0, len(lengths), marks, found)
    return found


def usable(
    heads: np.ndarray, offsets: np.ndarray, constraints: TreeConstraints, crossing: str = "skip", roots: str = "skip"
) -> tuple[np.ndarray, np.ndarray, dict[str, int], dict[str, int]]:
    """Decide which given trees a model can learn from: ``skip`` the others, ``lift`` edges, or ``join`` roots.

    heads, offsets: As for `inspect`; edges are lifted as by Nivre & Nilsson (2005).
    Returns heads (int32 [words]) as changed, keep (bool [sentences]), and numbers of sentences skipped and changed.
    """
    heads, offsets = np.array(heads, np.int32), np.asarray(offsets, np.int64)
    words, lengths = offsets - offsets[0], np.diff(offsets)
    found = inspect(heads, offsets)
    bad = (kernels.NO_HEAD, kernels.CYCLE, kernels.NO_ROOT)
    reasons = [(bit, False) for bit in bad]
    if constraints.single_root:
        reasons.append((kernels.ROOTS, roots == "join"))
    if constraints.projective:
        reasons.append((kernels.CROSSING, crossing == "lift"))
    keep = np.ones(len(lengths), bool)
    skipped: dict[str, int] = {}
    changed: dict[str, int] = {}
    for bit, change in reasons:
        here = np.flatnonzero(keep & (found & bit > 0))
        if not len(here):
            continue
        (changed if change else skipped)[NAMES[bit]] = len(here)
        for s in here if change else ():
            if bit == kernels.ROOTS:
                kernels.join_roots(heads, words, s)
            else:
                kernels.lift(heads, words, lengths, s)
        if not change:
            keep[here] = False
    return heads, keep, skipped, changed


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
    parts: training.InParts | None = None,
    classes: WordLookup | None = None,
) -> tuple[ParserModel, dict[str, Any]]:
    """Train a parser from sentences with trees, by maximum conditional likelihood.

    offsets (int64 [sentences + 1]), heads (int32 [words]): 0 for the root, 1 to n, -1 for none.
    Returns figures: ``first_skipped`` is the number of the first sentence that was left out for its tree, from 0.
    """
    settings = settings or ParserSettings()
    offsets = np.asarray(offsets, np.int64)
    heads, possible, skipped, changed = usable(heads, offsets, settings.constraints, settings.crossing, settings.roots)
    lengths = np.diff(offsets)
    for reason, wrong in (("too short", lengths < settings.min_length), ("too long", lengths > settings.max_length)):
        if np.any(wrong & possible):
            skipped[reason] = int(np.count_nonzero(wrong & possible))
    keep = possible & (lengths >= settings.min_length) & (lengths <= settings.max_length) & (lengths > 0)
    if not keep.any():
        raise NoSentences("no sentence can be trained on")
    words, within = chosen(list(words), offsets, keep)
    tags = chosen(list(tags), offsets, keep)[0]
    given = chosen(heads, offsets, keep)[0]
    vocabularies = Vocabularies.of(words, tags, settings.min_count, classes)
    sentences = vocabularies.sentences(words, tags, within)
    templates = templates_of(settings.features, classes)
    losses = [training.TreeLoss(sentences, given, settings.constraints)]
    space = FeatureSpace.fitted(templates, sentences, settings.bits, pool=pool)
    objective = training.ParserObjective(space, losses, settings.l2, pool, parts)
    data = sentences.offsets, sentences.layers, given
    weights, values, message = fit(objective, None, settings, progress, checkpoint, "train", *data)
    labeler = None
    if labels is not None and settings.labels:
        labeler = Labeler.train(sentences, given, chosen(list(labels), offsets, keep)[0])
    header = settings.header() | (about or {})
    parser = ParserModel(vocabularies, space, weights, settings.constraints, header, labeler)
    return parser, {
        "sentences": len(sentences),
        "words": int(within[-1]),
        "features": int(np.count_nonzero(parser.weights)),
        "objective": values[-1],
        "steps": len(values) - 1,
        "message": message,
        "skipped": skipped,
        "changed": changed,
        "first_skipped": None if possible.all() else int(np.argmin(possible)),
    }
