"""Training parsers of target languages: by transferred distributions, or by two simpler methods."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from aligntools.formats.pharaoh import Links
from aligntools.ground.parallel import Pool
from aligntools.parsing.features.space import templates_of
from aligntools.parsing.features.vocabularies import Vocabularies
from aligntools.parsing.learning import training
from aligntools.parsing.learning.checkpoints import Checkpoint, fingerprint
from aligntools.parsing.learning.parts import InParts
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import TransferSettings
from aligntools.parsing.text import TaggedText
from aligntools.parsing.transfer import projection
from aligntools.parsing.transfer.labels import labeler_of
from aligntools.parsing.transfer.parts import Pairs, SupportedTrees, expected_loss


@dataclass(frozen=True)
class TransferReport:
    """What training did.

    Attributes
    ----------
    pairs, plain, words : int
        Sentence pairs, plain sentences and target words of the pairs that were trained on.
    aligned : float
        Share of these words that are aligned one to one.
    skipped : dict of str to int
        Pairs and plain sentences that were left out, by reason.
    fits : list of training.Fit
    """

    pairs: int
    plain: int
    words: int
    aligned: float
    skipped: dict[str, int] = field(default_factory=dict)
    fits: list[training.Fit] = field(default_factory=list)


def _within(text, settings):
    lengths = np.diff(text.offsets)
    return (lengths >= settings.min_length) & (lengths <= settings.max_length)


def train(
    parser: ParserModel,
    source: TaggedText,
    target: TaggedText,
    links: Links,
    plain: TaggedText | None = None,
    settings: TransferSettings | None = None,
    pool: Pool | None = None,
    progress: Callable[[str, int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
    about: dict[str, Any] | None = None,
    parts: InParts | None = None,
) -> tuple[ParserModel, TransferReport]:
    """Train a parser of the target language through parallel text.

    Parameters
    ----------
    parser : ParserModel
        Of the source language.
    source, target : TaggedText
        The two sides, with the tags that the source parser knows.
    links : Links
        One line per pair; only links whose words have no other link are used.
    plain : TaggedText, optional
        Unlabeled text of the target language (only for the method ``full``).
    settings : TransferSettings, optional
    pool : Pool, optional
        Does not change the results.
    progress : callable, optional
        Called with the stage, the number of the step and the objective.
    checkpoint : Checkpoint, optional
        Keeps the state, and continues from the one that it has.
    about : dict, optional
        Kept in the model with the settings and with what the source parser says about its tags.
    parts : InParts, optional
        Does the training by jobs over files, with the same result.

    Raises
    ------
    NoPairs
        When no pair is left to train on.
    ModelError
        When the checkpoint's state is of another training.
    """
    settings = settings or TransferSettings()
    settings = replace(settings, labels=settings.labels and parser.labeler is not None)
    keep, skipped = _within(source, settings) & _within(target, settings), {}
    if not keep.all():
        skipped["pairs too short or too long"] = int(np.sum(~keep))
    enough = _coverage(links, target) >= settings.min_aligned
    if np.any(keep & ~enough):
        skipped["pairs with too few aligned words"] = int(np.sum(keep & ~enough))
    keep &= enough
    if settings.head is not None:
        keep[np.flatnonzero(keep)[settings.head :]] = False
    if not keep.any():
        raise NoPairs("no sentence pair can be trained on")
    source, target, links = source.chosen(keep), target.chosen(keep), _links_of(links, keep)
    if plain is not None:
        use = _within(plain, settings)
        if not use.all():
            skipped["plain sentences too short or too long"] = int(np.sum(~use))
        plain = plain.chosen(use)
    aligned = projection.one_to_one(links.pairs, links.offsets, target.offsets)
    work = _Work(parser, settings, pool, progress, checkpoint, target, plain, parts)
    pairs = Pairs(
        parser.sentences(source.words, source.tags, source.offsets),
        parser.sentences(target.words, target.tags, target.offsets),
        work.sentences,
        aligned,
    )
    weights = (work.full if settings.method == "full" else work.projected)(pairs)
    labeler = work.labeler(pairs) if settings.labels else None
    kept = {name: value for name, value in parser.settings.items() if name in ("column", "map")}
    found = ParserModel(
        work.vocabularies,
        work.space,
        weights,
        settings.trees,
        settings.header() | kept | (about or {}),
        labeler,
    )
    share = float(np.mean(aligned >= 0)) if len(aligned) else 0.0
    plain_used = 0 if plain is None else len(plain)
    return found, TransferReport(len(source), plain_used, len(target.words), share, skipped, work.fits)


class NoPairs(ValueError):
    """There is nothing to train on."""


def _coverage(links, target):
    aligned = projection.one_to_one(links.pairs, links.offsets, target.offsets) >= 0
    sums = np.concatenate([[0], np.cumsum(aligned)])
    return np.diff(sums[target.offsets]) / np.maximum(np.diff(target.offsets), 1)


def _links_of(links, keep):
    rows = np.repeat(keep, links.counts())
    counts = links.counts()[keep]
    return Links(links.pairs[rows], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))


class _Work:
    """The target parser's vocabularies, features and text, and the ways to find its weights."""

    def __init__(self, parser, settings, pool, progress, checkpoint, target, plain, parts):
        self.parts, self.place = parts, parts or training.InMemory(pool)
        self.parser, self.settings, self.pool = parser, settings, pool
        self.progress, self.checkpoint, self.fits = progress, checkpoint, []
        self.evidence = None  # the probabilities of edges, or the trees, that were learned from
        words, tags = list(target.words), list(target.tags)
        if plain is not None:
            words, tags = words + plain.words, tags + plain.tags
        self.vocabularies = Vocabularies.of(words, tags, settings.min_count)
        self.sentences = self.vocabularies.sentences(target.words, target.tags, target.offsets)
        self.plain = None if plain is None else self.vocabularies.sentences(plain.words, plain.tags, plain.offsets)
        self.space = self.place.fitted(templates_of(settings.features), self.sentences, settings.bits)

    def fit(self, stage, losses, data, start=None):
        """Minimize losses; ``data`` are arrays that tell this training from another one."""
        s = self.settings
        objective = self.place.objective(self.space, losses, s.l2)
        minimize: training.Minimize = training.minimize
        if self.checkpoint is not None:
            own = fingerprint(s.header(), self.sentences.layers, self.sentences.offsets, *data)
            minimize = self.checkpoint.open(stage, own).minimize
        note = None if self.progress is None else lambda number, value, _: self.progress(stage, number, value)
        fit = minimize(objective, start, s.iterations, s.tolerance, progress=note)
        self.fits.append(fit)
        return fit.weights

    def full(self, pairs):
        """Minimize K' (equation 11).

        Entropy is not convex, and from weights of zero it makes the parser certain of whatever comes first. So K_P
        alone is minimized, and K' from there.
        """
        s = self.settings
        loss, expected = self._expected(pairs)
        self.evidence = expected
        losses, data = [loss], [expected]
        weights = self.fit("train", losses, data)
        if self.plain is not None and len(self.plain) and s.gamma > 0:
            losses.append(training.EntropyLoss(self.plain, s.trees, s.gamma, s.order))
            weights = self.fit("entropy", losses, [*data, self.plain.layers, self.plain.offsets, weights], weights)
        return weights

    def _expected(self, pairs):
        """Return the cross-entropy with the transferred distributions, and these."""
        s = self.settings
        if self.parts is not None:
            return expected_loss(self.parts, self.parser, pairs, s)
        expected = projection.expected_edges(
            self.parser, pairs.source, pairs.target, pairs.aligned, s.trees, self.pool, s.weights
        )
        return training.ExpectedLoss(self.sentences, expected, s.trees), expected

    def projected(self, pairs):
        """Learn from the direct parser's trees, then from trees that the alignments speak for, chosen in rounds.

        McDonald, Petrov & Hall (2011) take the best aligned of the k best trees, and learn as a perceptron; here the
        agreement is added to the model's scores, and what is learned is the same log-linear model as everywhere.
        """
        s = self.settings
        direct = projection.direct(self.parser)
        heads = direct.parse(pairs.target, self.pool, s.trees, s.max_length).heads
        weights = self.fit("seed", [training.TreeLoss(self.sentences, heads, s.trees)], [heads])
        theirs = self.parser.parse(pairs.source, self.pool, longest=s.max_length).heads
        choose = self._chooser(pairs, theirs)
        for turn in range(1, s.rounds + 1):
            heads = choose(weights)
            loss = training.TreeLoss(self.sentences, heads, s.trees)
            weights = self.fit(f"round {turn}", [loss], [heads, weights], weights)
        self.evidence = heads
        return weights

    def labeler(self, pairs):
        """Return a labeler that learned from what the parser learned from."""
        return labeler_of(self.parser.labeler, pairs, self.evidence, self.parts)

    def _chooser(self, pairs, theirs):
        """Return what finds the trees that weights and source trees speak for."""
        s = self.settings
        if self.parts is not None:
            return partial(SupportedTrees(self.parts, pairs, theirs, s).chosen, self.space)
        agreement = s.reward * projection.agreement(theirs, pairs.source, self.sentences, pairs.aligned, self.pool)
        return lambda weights: projection.supported_trees(
            self.space, weights, self.sentences, agreement, s.trees, self.pool
        )
