"""Training parsers of target languages: by transferred distributions, and two simpler ways to compare with."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import numpy as np

from aligntools.formats.pharaoh import Links
from aligntools.ground.parallel import Pool
from aligntools.parsing import inference, training
from aligntools.parsing import transfer as transferring
from aligntools.parsing.checkpoints import Checkpoint, fingerprint
from aligntools.parsing.features import FeatureSpace
from aligntools.parsing.inference import Trees
from aligntools.parsing.parser import Lexicon, Parser, templates_of

METHODS = ("full", "direct", "projected")


@dataclass(frozen=True)
class Text:
    """Sentences with tags, joined.

    Attributes
    ----------
    words, tags : list of bytes
    offsets : int64 [sentences + 1]
    """

    words: list
    tags: list
    offsets: np.ndarray

    def __len__(self):
        return len(self.offsets) - 1

    def chosen(self, keep) -> "Text":
        """Return the sentences that are kept."""
        places = np.flatnonzero(np.repeat(keep, np.diff(self.offsets))).tolist()
        lengths = np.diff(self.offsets)[keep]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Text([self.words[k] for k in places], [self.tags[k] for k in places], offsets)


@dataclass(frozen=True)
class Settings:
    """How a target parser is trained; what is not said here is as in `supervised.Settings`.

    Attributes
    ----------
    method : str
        Of `METHODS`.
    shortest, longest : int
        Pairs with a shorter or longer sentence, on either side, are left out, and plain sentences too.
    min_aligned : float
        Pairs of which a smaller share of the target words is aligned one to one are left out.
    most : int or None
        The first so many of what is left are used.
    weights : str
        What is transferred of an edge; see `transfer.transferring_scores`.
    gamma : float
        Trade-off of the entropy on plain sentences (equation 11); large ones make the parser certain of mistakes.
    alpha : float
        Order of that entropy: 1 is Shannon's, others Rényi's.
    rounds : int
        Of projected transfer: how often the trees are chosen anew.
    reward : float
        Of projected transfer: what an edge that agrees with the source tree adds to its score.
    """

    method: str = "full"
    features: str = "full"
    bits: int = 19
    least: int = 2
    projective: bool = True
    single_root: bool = True
    shortest: int = 3
    longest: int = 100
    min_aligned: float = 0.8
    most: int | None = None
    weights: str = "posterior"
    gamma: float = 0.03
    alpha: float = 1.0
    l2: float = 100.0
    iterations: int = 100
    tolerance: float = 1e-4
    rounds: int = 3
    reward: float = 1.0

    @property
    def trees(self):
        """Which trees there are."""
        return Trees(self.projective, self.single_root)


@dataclass(frozen=True)
class Report:
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
    skipped: dict = field(default_factory=dict)
    fits: list = field(default_factory=list)


def _within(text, settings):
    lengths = np.diff(text.offsets)
    return (lengths >= settings.shortest) & (lengths <= settings.longest)


def train(
    parser: Parser,
    source: Text,
    target: Text,
    links: Links,
    plain: Text | None = None,
    settings: Settings | None = None,
    pool: Pool | None = None,
    progress: Callable[[str, int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Parser, Report]:
    """Train a parser of the target language through parallel text.

    Parameters
    ----------
    parser : Parser
        Of the source language.
    source, target : Text
        The two sides, with the tags that the source parser knows.
    links : Links
        A line a pair; only links whose words have no other are used.
    plain : Text, optional
        Further text of the target language (the method ``full`` alone).
    settings : Settings, optional
    pool : Pool, optional
        Does not change the results.
    progress : callable, optional
        Called with the stage, the number of the step and the objective.
    checkpoint : Checkpoint, optional
        Keeps the state, and goes on from the one that it has.

    Raises
    ------
    NoPairs
        When no pair is left to train on.
    ModelError
        When the checkpoint's state is of another training.
    """
    settings = settings or Settings()
    keep, skipped = _within(source, settings) & _within(target, settings), {}
    if not keep.all():
        skipped["pairs too short or too long"] = int(np.sum(~keep))
    enough = _coverage(links, target) >= settings.min_aligned
    if np.any(keep & ~enough):
        skipped["pairs with too few aligned words"] = int(np.sum(keep & ~enough))
    keep &= enough
    if settings.most is not None:
        keep[np.flatnonzero(keep)[settings.most :]] = False
    if not keep.any():
        raise NoPairs("no sentence pair can be trained on")
    source, target, links = source.chosen(keep), target.chosen(keep), _links_of(links, keep)
    if plain is not None:
        use = _within(plain, settings)
        if not use.all():
            skipped["plain sentences too short or too long"] = int(np.sum(~use))
        plain = plain.chosen(use)
    aligned = transferring.one_to_one(links.pairs, links.offsets, target.offsets)
    work = _Work(parser, settings, pool, progress, checkpoint, target, plain)
    both = (
        parser.sentences(source.words, source.tags, source.offsets),
        parser.sentences(target.words, target.tags, target.offsets),
    )
    weights = (work.full if settings.method == "full" else work.projected)(*both, aligned)
    # the maps and columns of tags are the source parser's
    kept = {name: value for name, value in parser.settings.items() if name in ("column", "map")}
    found = Parser(work.lexicon, work.space, weights, settings.trees, asdict(settings) | kept)
    share = float(np.mean(aligned >= 0)) if len(aligned) else 0.0
    plain_used = 0 if plain is None else len(plain)
    return found, Report(len(source), plain_used, len(target.words), share, skipped, work.fits)


class NoPairs(ValueError):
    """There is nothing to train on."""


def _coverage(links, target):
    aligned = transferring.one_to_one(links.pairs, links.offsets, target.offsets) >= 0
    sums = np.concatenate([[0], np.cumsum(aligned)])
    return np.diff(sums[target.offsets]) / np.maximum(np.diff(target.offsets), 1)


def _links_of(links, keep):
    rows = np.repeat(keep, links.counts())
    counts = links.counts()[keep]
    return Links(links.pairs[rows], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))


class _Work:
    """The target parser's lexicon, features and text, and the ways to find its weights."""

    def __init__(self, parser, settings, pool, progress, checkpoint, target, plain):
        self.parser, self.settings, self.pool = parser, settings, pool
        self.progress, self.checkpoint, self.fits = progress, checkpoint, []
        words, tags = list(target.words), list(target.tags)
        if plain is not None:
            words, tags = words + plain.words, tags + plain.tags
        self.lexicon = Lexicon.of(words, tags, settings.least)
        self.sentences = self.lexicon.sentences(target.words, target.tags, target.offsets)
        self.plain = None if plain is None else self.lexicon.sentences(plain.words, plain.tags, plain.offsets)
        self.space = FeatureSpace.fitted(templates_of(settings.features), self.sentences, settings.bits, pool=pool)

    def fit(self, stage, losses, data, start=None):
        """Minimize losses; ``data`` are arrays that tell this training from another one."""
        s = self.settings
        objective = training.Objective(self.space, losses, s.l2, self.pool)
        minimize = training.minimize
        if self.checkpoint is not None:
            own = fingerprint(asdict(s), self.sentences.layers, self.sentences.offsets, *data)
            minimize = self.checkpoint.open(stage, own).minimize
        note = None if self.progress is None else lambda number, value, _: self.progress(stage, number, value)
        fit = minimize(objective, start, s.iterations, s.tolerance, progress=note)
        self.fits.append(fit)
        return fit.weights

    def full(self, source, target, aligned):
        """Minimize K' (equation 11).

        Entropy is not convex, and from weights of zero it makes the parser certain of whatever comes first. So K_P
        alone is minimized, and K' from there.
        """
        s = self.settings
        expected = transferring.expected_edges(self.parser, source, target, aligned, s.trees, self.pool, s.weights)
        losses, data = [training.ExpectedLoss(self.sentences, expected, s.trees)], [expected]
        weights = self.fit("train", losses, data)
        if self.plain is not None and len(self.plain) and s.gamma > 0:
            losses.append(training.EntropyLoss(self.plain, s.trees, s.gamma, s.alpha))
            weights = self.fit("entropy", losses, [*data, self.plain.layers, self.plain.offsets, weights], weights)
        return weights

    def projected(self, source, target, aligned):
        """Learn from the direct parser's trees, then from trees that the alignments speak for, chosen in rounds.

        McDonald, Petrov & Hall (2011) take the best aligned of the k best trees, and learn as a perceptron; here the
        agreement is added to the model's scores, and what is learned is the same log-linear model as everywhere.
        """
        s = self.settings
        direct = transferring.direct(self.parser)
        heads = direct.parse(target, self.pool, s.trees, s.longest).heads
        weights = self.fit("seed", [training.TreeLoss(self.sentences, heads, s.trees)], [heads])
        theirs = self.parser.parse(source, self.pool, longest=s.longest).heads
        agreement = s.reward * transferring.agreement(theirs, source, self.sentences, aligned, self.pool)
        for turn in range(1, s.rounds + 1):
            scores = self.space.scores(weights, self.sentences, self.pool) + agreement
            heads = inference.best_trees(scores, self.sentences.offsets, s.trees, self.pool)[0]
            loss = training.TreeLoss(self.sentences, heads, s.trees)
            weights = self.fit(f"round {turn}", [loss], [heads, weights], weights)
        return weights
