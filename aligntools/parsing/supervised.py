"""Training a parser from a treebank."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from aligntools.ground.parallel import Pool
from aligntools.parsing import training
from aligntools.parsing.checkpoints import Checkpoint, fingerprint
from aligntools.parsing.features import FeatureSpace
from aligntools.parsing.inference import Trees
from aligntools.parsing.labels import Labeler
from aligntools.parsing.parser import Lexicon, Parser, templates_of
from aligntools.parsing.trees import usable


class NoSentences(ValueError):
    """There is nothing to train on."""


@dataclass(frozen=True)
class Settings:
    """How a parser is trained.

    Attributes
    ----------
    features : str
        A set of templates by name; see `features.SETS`.
    bits : int
        Each template has at most ``2**bits`` weights.
    least : int
        Words that occur less often are unknown.
    projective, single_root : bool
        Which trees there are; see `inference.Trees`.
    crossing, roots : str
        What becomes of gold trees that the model cannot have; see `trees.usable`.
    shortest, longest : int
        Sentences of fewer or more words are not trained on.
    l2 : float
    iterations : int
    tolerance : float
        See `training.minimize`.
    labels : bool
        Whether to train labels too.
    """

    features: str = "full"
    bits: int = 19
    least: int = 2
    projective: bool = True
    single_root: bool = True
    crossing: str = "skip"
    roots: str = "skip"
    shortest: int = 1
    longest: int = 200
    l2: float = 5.0
    iterations: int = 100
    tolerance: float = 1e-4
    labels: bool = True

    @property
    def trees(self):
        """Which trees there are."""
        return Trees(self.projective, self.single_root)


@dataclass(frozen=True)
class Report:
    """What training did.

    Attributes
    ----------
    sentences, words : int
        Trained on.
    skipped, changed : dict of str to int
        Sentences left out and mended, by reason.
    first_skipped : int or None
        The first sentence that was left out for its tree, from 0.
    fit : training.Fit
    """

    sentences: int
    words: int
    skipped: dict
    changed: dict
    first_skipped: int | None
    fit: training.Fit


def chosen(values, offsets, keep):
    """Return the values [words] of the sentences that are kept, and their offsets; lists stay lists."""
    words = np.repeat(keep, np.diff(offsets))
    lengths = np.diff(offsets)[keep]
    kept = [v for v, k in zip(values, words, strict=True) if k] if isinstance(values, list) else values[words]
    return kept, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def train(
    words: Sequence[bytes],
    tags: Sequence[bytes],
    offsets,
    heads,
    labels: Sequence[bytes] | None = None,
    settings: Settings | None = None,
    pool: Pool | None = None,
    progress: Callable[[int, float, np.ndarray], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Parser, Report]:
    """Train a parser from sentences with trees, by maximum conditional likelihood.

    Parameters
    ----------
    words, tags : sequence of bytes
        Of all sentences, joined.
    offsets : int64 [sentences + 1]
    heads : int32 [words]
        0 for the root, 1 to n, -1 for none.
    labels : sequence of bytes, optional
    settings : Settings, optional
    pool : Pool, optional
        Does not change the results.
    progress : callable, optional
        See `training.minimize`.
    checkpoint : Checkpoint, optional
        Keeps the state, and goes on from the one that it has.

    Raises
    ------
    ModelError
        When the checkpoint's state is of another training.
    NoSentences
        When no sentence is left to train on.
    """
    settings = settings or Settings()
    offsets = np.asarray(offsets, np.int64)
    found = usable(heads, offsets, settings.trees, settings.crossing, settings.roots)
    lengths = np.diff(offsets)
    skipped = dict(found.skipped)
    for reason, wrong in (("too short", lengths < settings.shortest), ("too long", lengths > settings.longest)):
        if np.any(wrong & found.keep):
            skipped[reason] = int(np.count_nonzero(wrong & found.keep))
    keep = found.keep & (lengths >= settings.shortest) & (lengths <= settings.longest) & (lengths > 0)
    if not keep.any():
        raise NoSentences("no sentence can be trained on")
    words, within = chosen(list(words), offsets, keep)
    tags = chosen(list(tags), offsets, keep)[0]
    trees = chosen(found.heads, offsets, keep)[0]
    lexicon = Lexicon.of(words, tags, settings.least)
    sentences = lexicon.sentences(words, tags, within)
    space = FeatureSpace.fitted(templates_of(settings.features), sentences, settings.bits, pool=pool)
    objective = training.Objective(space, [training.TreeLoss(sentences, trees, settings.trees)], settings.l2, pool)
    minimize = training.minimize
    if checkpoint is not None:
        own = fingerprint(asdict(settings), sentences.offsets, sentences.layers, trees)
        minimize = checkpoint.open("train", own).minimize
    fit = minimize(objective, None, settings.iterations, settings.tolerance, progress=progress)
    labeler = None
    if labels is not None and settings.labels:
        labeler = Labeler.train(sentences, trees, chosen(list(labels), offsets, keep)[0])
    parser = Parser(lexicon, space, fit.weights, settings.trees, asdict(settings), labeler)
    report = Report(len(sentences), int(within[-1]), skipped, found.changed, found.first, fit)
    return parser, report
