"""Training parsers of target languages: by transferred distributions, or by two simpler methods."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from aligntools.formats.links.pharaoh import Links
from aligntools.ground.parallel import Pool
from aligntools.parsing import kernels_labels as kernels
from aligntools.parsing.feature_space import TAGS, EncodedSentences, FeatureSpace, Vocabularies, templates_of
from aligntools.parsing.labels import Edges, Labeler, Shares
from aligntools.parsing.learning import training
from aligntools.parsing.learning.checkpoints import Checkpoint, fit
from aligntools.parsing.learning.training import InParts, KeptLoss, Place, read, read_once, write
from aligntools.parsing.parser import ParserModel
from aligntools.parsing.settings import TransferSettings, TreeConstraints
from aligntools.parsing.text import NoSentences, TaggedText, joined_offsets
from aligntools.parsing.transfer import projection
from aligntools.parsing.trees import inference
from aligntools.words.vocabulary import Vocabulary


@dataclass(frozen=True)
class TransferPairs:
    """Sentence pairs.

    source, target: As the source parser sees them.
    own: The target side, as the target parser sees it.
    aligned (int32 [target words]): See `projection.one_to_one`.
    direct: The target side, as another parser without words sees it.
    """

    source: EncodedSentences
    target: EncodedSentences
    own: EncodedSentences
    aligned: np.ndarray
    direct: EncodedSentences | None = None

    def part(self, begin: int, end: int) -> "TransferPairs":
        """Return the pairs ``begin:end``."""
        a, b = self.target.offsets[[begin, end]] - self.target.offsets[0]
        source, target, own = (side.part(begin, end) for side in (self.source, self.target, self.own))
        direct = None if self.direct is None else self.direct.part(begin, end)
        return TransferPairs(source, target, own, self.aligned[a:b], direct)


def expected_of(
    parser: ParserModel,
    direct: ParserModel | None,
    pairs: TransferPairs,
    constraints: TreeConstraints,
    transferred: str,
    pool: Pool | None,
) -> np.ndarray:
    """Return the edge marginals of the transferring distribution (equation 9) [shape=(target edges,)].

    direct: A parser without words for edges that are not aligned, which sees ``pairs.direct``.
    """
    own = None if direct is None or pairs.direct is None else direct.scores(pairs.direct, pool, only=TAGS)
    known = parser, pairs.source, pairs.target, pairs.aligned
    scores = projection.transferring_scores(*known, pool, transferred, own)
    return inference.sums(scores, pairs.target.offsets, constraints, pool)[1]


def in_jobs(
    parts: InParts,
    stage: str,
    function: Callable[..., None],
    shared: Any,
    pairs: TransferPairs,
    heads: np.ndarray | None = None,
    of: EncodedSentences | None = None,
    result: str = "found",
) -> tuple[str, ...]:
    """Run a function over parts of the pairs, with the trees of their side ``of``; return the names of the results.

    function: Gets the place, the name of what all jobs share, and the names of the part and of its result.
    """
    offsets = (of or pairs.source).offsets
    words = offsets - offsets[0]

    def part(begin: int, end: int) -> tuple[TransferPairs, np.ndarray | None]:
        return pairs.part(begin, end), None if heads is None else heads[words[begin] : words[end]]

    (name,), names = parts.new_names(stage, 1), parts.keep("pairs", pairs.own.edges, part)
    write(parts.place, name, shared)
    results = parts.new_names(result, len(names))
    parts.run(stage, partial(function, parts.place, name), list(zip(names, results, strict=True)))
    parts.remove(name, *names)
    return results


def _expect(place: Place, shared: str, names: tuple[str, str], pool: Pool) -> None:
    """Keep the loss of a part: its edges' probabilities under what is transferred."""
    pairs, _ = read(place, names[0])
    parser, direct, constraints, transferred = read_once(place, shared)
    expected = expected_of(parser, direct, pairs, constraints, transferred, pool)
    write(place, names[1], training.ExpectedLoss(pairs.own, expected, constraints))


def _support(place: Place, shared: str, names: tuple[str, str], pool: Pool) -> None:
    """Keep the best trees of a part, by the target parser and by the alignments."""
    pairs, theirs = read(place, names[0])
    space, weights, settings = read_once(place, shared)
    agreement = settings.reward * projection.agreement(theirs, pairs.source, pairs.own, pairs.aligned, pool)
    scores = space.scores(weights, pairs.own, pool) + agreement
    write(place, names[1], inference.best_trees(scores, pairs.own.offsets, settings.constraints, pool)[0])


@dataclass(frozen=True)
class TransferSource:
    """Parallel text of one source language.

    source, target: The two sides, with the tags that the parser knows.
    links: One line per pair; only links whose words have no other link are used.
    direct: What parses the target side without words, instead of the parser's own features of tags.
    """

    parser: ParserModel
    source: TaggedText
    target: TaggedText
    links: Links
    direct: ParserModel | None = None

    def chosen(self, keep: np.ndarray) -> "TransferSource":
        """Return the pairs that are kept [shape=(pairs,), dtype=bool]."""
        rows, counts = np.repeat(keep, self.links.counts()), self.links.counts()[keep]
        links = Links(self.links.pairs[rows], np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
        return TransferSource(self.parser, self.source.chosen(keep), self.target.chosen(keep), links, self.direct)

    def aligned(self) -> np.ndarray:
        """Return each target word's only partner; see `projection.one_to_one`."""
        return projection.one_to_one(self.links.pairs, self.links.offsets, self.target.offsets)


#: Reasons to leave something out.
LENGTH, ALIGNED, UNLABELED = (
    "pairs too short or too long",
    "pairs with too few aligned words",
    "unlabeled sentences too short or too long",
)


def explained(skipped: dict[str, int], given: int, settings: TransferSettings) -> list[str]:
    """Return what was left out of how many pairs, and which option it was for."""
    words = f"fewer than {settings.min_length} or more than {settings.max_length} words"
    limits = f"(`min_length={settings.min_length}`, `max_length={settings.max_length}`)"
    why = {
        LENGTH: f"of {given:,} pairs left out: a sentence has {words} {limits}",
        ALIGNED: f"of {given:,} pairs left out: fewer than {100 * settings.min_aligned:g} % of their target words are"
        f" aligned one to one (`min_aligned={settings.min_aligned:g}`)",
        UNLABELED: f"unlabeled sentences left out: they have {words} {limits}",
    }
    return [f"{n:,} {why[reason]}" for reason, n in skipped.items()]


def _within(text: TaggedText, settings: TransferSettings) -> np.ndarray:
    lengths = np.diff(text.offsets)
    return (lengths >= settings.min_length) & (lengths <= settings.max_length)


def _usable(side: TransferSource, settings: TransferSettings, skipped: dict[str, int]) -> TransferSource:
    """Return the pairs of a side that are trained on, and count the others."""
    keep = _within(side.source, settings) & _within(side.target, settings)
    if not keep.all():
        skipped[LENGTH] = skipped.get(LENGTH, 0) + int(np.sum(~keep))
    aligned, offsets = np.concatenate([[0], np.cumsum(side.aligned() >= 0)]), side.target.offsets
    enough = np.diff(aligned[offsets]) / np.maximum(np.diff(offsets), 1) >= settings.min_aligned
    if np.any(keep & ~enough):
        skipped[ALIGNED] = skipped.get(ALIGNED, 0) + int(np.sum(keep & ~enough))
    keep &= enough
    if settings.max_pairs is not None:
        keep[np.flatnonzero(keep)[settings.max_pairs :]] = False
    return side.chosen(keep)


def train(
    sides: Sequence[TransferSource],
    unlabeled: TaggedText | None = None,
    settings: TransferSettings | None = None,
    pool: Pool | None = None,
    progress: Callable[[str, int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
    about: dict[str, Any] | None = None,
    parts: InParts | None = None,
) -> tuple[ParserModel, dict[str, Any]]:
    """Train a parser of the target language through parallel text of source languages: all pairs are one training set.

    unlabeled: Unlabeled text of the target language (only for the method ``full``).
    parts: Does the training by jobs over files, with the same result.
    Returns figures: ``aligned`` is the share of the target words that are aligned one to one.
    Raises NoSentences, with the reasons, when no pair is left.
    """
    settings = settings or TransferSettings()
    settings = replace(settings, labels=settings.labels and any(side.parser.labeler for side in sides))
    skipped: dict[str, int] = {}
    given = sum(len(side.target) for side in sides)
    sides = [side for side in (_usable(side, settings, skipped) for side in sides) if len(side.target)]
    if not sides:
        raise NoSentences("; ".join(explained(skipped, given, settings)) or "there is none")
    if unlabeled is not None:
        use = _within(unlabeled, settings)
        if not use.all():
            skipped[UNLABELED] = int(np.sum(~use))
        unlabeled = unlabeled.chosen(use)
    work = _Work(sides, settings, progress, checkpoint, unlabeled, parts or InParts.in_memory(pool))
    weights = work.full() if settings.method == "full" else work.projected()
    labeler = None
    if settings.labels:
        labeler = labeler_of([parser.labeler for parser, _ in work.parsers], work.pairs, work.evidence, work.parts)
    kept = {name: value for name, value in sides[0].parser.settings.items() if name in ("column", "map")}
    header = settings.header() | kept | (about or {})
    found = ParserModel(work.vocabularies, work.space, weights, settings.constraints, header, labeler)
    aligned = np.concatenate([pairs.aligned for pairs in work.pairs])
    values, message = work.ended
    return found, {
        "pairs": sum(len(side.target) for side in sides),
        "unlabeled": 0 if unlabeled is None else len(unlabeled),
        "words": len(aligned),
        "aligned": float(np.mean(aligned >= 0)) if len(aligned) else 0.0,
        "objective": values[-1],
        "steps": len(values) - 1,
        "message": message,
        "skipped": skipped,
        "left_out": explained(skipped, given, settings),
    }


class _Work:
    """The target parser's vocabularies, features and text, and the ways to find its weights."""

    def __init__(
        self,
        sides: "list[TransferSource]",
        settings: TransferSettings,
        progress: Callable[..., Any] | None,
        checkpoint: Checkpoint | None,
        unlabeled: TaggedText | None,
        parts: InParts,
    ) -> None:
        self.parts, self.pool = parts, parts.pool
        self.parsers, self.settings = [(side.parser, side.direct) for side in sides], settings
        self.progress, self.checkpoint = progress, checkpoint
        self.ended: tuple[list[float], str] = [], ""  # the last fit's objectives and message
        self.evidence: list[Any] = []  # of each side, the probabilities of edges, or the trees, that were learned from
        target = TaggedText.joined([side.target for side in sides])
        words, tags = target.words, target.tags
        if unlabeled is not None:
            words, tags = words + unlabeled.words, tags + unlabeled.tags
        self.vocabularies = Vocabularies.of(words, tags, settings.min_count)
        self.sentences = self.vocabularies.sentences(target.words, target.tags, target.offsets)
        self.unlabeled_text = unlabeled
        see = self.vocabularies.sentences
        self.unlabeled = None if unlabeled is None else see(unlabeled.words, unlabeled.tags, unlabeled.offsets)
        self.space = FeatureSpace.fitted(templates_of(settings.features), self.sentences, settings.bits, self.pool)
        ends = np.cumsum([0, *(len(side.target) for side in sides)]).tolist()
        self.pairs = []
        for side, (begin, end) in zip(sides, itertools.pairwise(ends), strict=True):
            see, text = side.parser.sentences, side.target
            left, right = (see(one.words, one.tags, one.offsets) for one in (side.source, text))
            direct = None if side.direct is None else side.direct.sentences(text.words, text.tags, text.offsets)
            own = self.sentences.part(begin, end)
            self.pairs.append(TransferPairs(left, right, own, side.aligned(), direct))

    def fit(
        self, stage: str, losses: list[Any], data: list[KeptLoss | np.ndarray], start: np.ndarray | None = None
    ) -> np.ndarray:
        """Minimize losses; ``data`` are arrays that tell this training from another one."""
        s = self.settings
        objective = training.ParserObjective(self.space, losses, s.l2, parts=self.parts)
        tell = self.progress
        note = None if tell is None else lambda number, value, _: tell(stage, number, value)
        every = self.sentences.layers, self.sentences.offsets, *data
        weights, values, message = fit(objective, start, s, note, self.checkpoint, stage, *every)
        self.ended = values, message
        return weights

    def full(self) -> np.ndarray:
        """Minimize K' (equation 11).

        Entropy is not convex, and from weights of zero it makes the parser certain of whatever comes first. So K_P
        alone is minimized, and K' from there.
        """
        s = self.settings
        self.evidence = []
        for parsers, pairs in zip(self.parsers, self.pairs, strict=True):
            shared = *parsers, s.constraints, s.transferred
            names = in_jobs(self.parts, "transferring", _expect, shared, pairs, result="loss")
            self.evidence.append(KeptLoss(self.parts.place, names, pairs.own.edges))
        every = tuple(name for loss in self.evidence for name in loss.names)
        data: list[Any] = [KeptLoss(self.parts.place, every, self.sentences.edges)]
        losses = list(data)
        weights = self.fit("train", losses, data)
        if self.unlabeled is None or not len(self.unlabeled):
            return weights
        if s.direct_share > 0:
            expected = self._shared(weights)
            losses.append(training.ExpectedLoss(self.unlabeled, expected, s.constraints))
            return self.fit("shared", losses, [*data, self.unlabeled.layers, self.unlabeled.offsets, expected], weights)
        if s.gamma > 0:
            losses.append(training.EntropyLoss(self.unlabeled, s.constraints, s.gamma, s.order))
            return self.fit("entropy", losses, [*data, self.unlabeled.layers, self.unlabeled.offsets, weights], weights)
        return weights

    def _shared(self, weights: np.ndarray) -> np.ndarray:
        """Return the edge probabilities that weights and the parsers without words give together, of unlabeled text."""
        s, text, unlabeled = self.settings, self.unlabeled_text, self.unlabeled
        assert text is not None
        assert unlabeled is not None
        direct = [own or projection.direct(parser, labels=False) for parser, own in self.parsers]
        seen = [parser.sentences(text.words, text.tags, text.offsets) for parser in direct]
        found = np.empty(int(unlabeled.edges[-1]))
        for begin, end in inference.runs_of_edges(unlabeled.edges, training.CHUNK):
            own = self.space.scores(weights, unlabeled.part(begin, end), self.pool)
            others = [p.scores(x.part(begin, end), self.pool) for p, x in zip(direct, seen, strict=True)]
            offsets = unlabeled.offsets[begin : end + 1] - unlabeled.offsets[begin]
            edges = slice(*unlabeled.edges[[begin, end]])
            found[edges] = projection.shared_edges(own, others, s.direct_share, offsets, s.constraints, self.pool)
        return found

    def projected(self) -> np.ndarray:
        """Learn from the direct parsers' trees, then from trees that the alignments support, chosen in rounds.

        McDonald, Petrov & Hall (2011) take the best aligned of the k best trees, and learn as a perceptron; here the
        agreement is added to the model's scores, and what is learned is the same log-linear model as everywhere.
        """
        s, both = self.settings, list(zip(self.parsers, self.pairs, strict=True))
        seeds = [
            (parser, p.target) if direct is None or p.direct is None else (direct, p.direct)
            for (parser, direct), p in both
        ]
        heads = np.concatenate(
            [
                projection.direct(parser, labels=False).parse(text, self.pool, s.constraints, s.max_length)[0]
                for parser, text in seeds
            ]
        )
        weights = self.fit("seed", [training.TreeLoss(self.sentences, heads, s.constraints)], [heads])
        theirs = [parser.parse(pairs.source, self.pool, longest=s.max_length)[0] for (parser, _), pairs in both]
        for turn in range(1, s.rounds + 1):
            self.evidence = []
            for (_, pairs), trees in zip(both, theirs, strict=True):
                names = in_jobs(self.parts, "trees", _support, (self.space, weights, s), pairs, trees)
                self.evidence.append(np.concatenate([read(self.parts.place, name) for name in names]))
                self.parts.remove(*names)
            heads = np.concatenate(self.evidence)
            loss = training.TreeLoss(self.sentences, heads, s.constraints)
            weights = self.fit(f"round {turn}", [loss], [heads, weights], weights)
        if not s.rounds:
            ends = np.cumsum([len(pairs.aligned) for pairs in self.pairs])[:-1]
            self.evidence = np.split(heads, ends)
        return weights


#: Least probability of an edge, and of an edge with its label, to be learned from.
LEAST_EDGE, LEAST_LABEL = 0.05, 0.01
#: Weight of the target edge's tags against the aligned source edge, and what is added to each probability of both.
TARGET, LEAST = 0.7, 1e-6
#: Size of the steps of learning.
RATE = 0.03
#: Edges whose labels' probabilities are in memory at a time.
CHUNK = 200_000


def labeler_of(
    labelers: Sequence[Labeler | None],
    pairs: Sequence[TransferPairs],
    evidence: Sequence[np.ndarray | KeptLoss],
    parts: InParts,
) -> Labeler:
    """Return the target language's labeler: least cross-entropy with what source labelers say of likely edges.

    labelers: The source languages'; the pairs of those without teach no labels.
    evidence: Of each text what has probabilities of its edges, or heads (int32 [target words]).
    """
    sides = [(by, own, given) for by, own, given in zip(labelers, pairs, evidence, strict=True) if by is not None]
    names = Vocabulary.from_bytes(list(dict.fromkeys(x for by, _, _ in sides for x in by.names)))
    found = []
    for labeler, own, given in sides:
        # heads are in the parts; losses, which are cut alike, by name
        heads, losses = (None, given.names) if isinstance(given, KeptLoss) else (given, None)
        learned = in_jobs(parts, "labels", _learn_part, (labeler, losses), own, heads, own.own)
        edges, shares = _joined([read(parts.place, name) for name in learned])
        parts.remove(*learned)
        numbers = names.ids(labeler.names) - 1
        found.append((edges, Shares(shares.starts, numbers[shares.labels].astype(np.int32), shares.shares)))
    text = EncodedSentences.joined([own.own for _, own, _ in sides])
    edges, shares = _joined(found)
    return Labeler.fitted(text, edges, shares, names, rate=RATE)


def _joined(found: list[tuple[Edges, Shares]]) -> tuple[Edges, Shares]:
    """Return edges and shares of consecutive texts as those of all."""
    edges = [own for own, _ in found]
    ends = [
        np.concatenate([np.zeros(0, np.int32), *(getattr(e, end) for e in edges)]) for end in ("heads", "modifiers")
    ]
    return Edges(joined_offsets([own.starts for own in edges]), *ends), joined([shares for _, shares in found])


def _learn_part(place: Place, shared: str, names: tuple[str, str], _pool: Pool) -> None:
    """Keep a part's likely edges, or those of its trees, and the shares of their labels."""
    pairs, heads = read(place, names[0])
    labeler, losses = read_once(place, shared)
    if heads is None:
        loss = read(place, losses[int(names[0].rpartition(".")[2])])
        edges, weights = probable_edges(pairs.own, loss.expected)
    else:
        edges, weights = Edges.of_trees(pairs.own.offsets, heads), np.ones(len(heads))
    write(place, names[1], (edges, shares_of(labeler, pairs, edges, weights)))


def probable_edges(sentences: EncodedSentences, expected: np.ndarray) -> tuple[Edges, np.ndarray]:
    """Return the edges that have a probability of `LEAST_EDGE`, and their probabilities [shape=(edges,)].

    expected (float64 [edges]): Probabilities of all edges; see `inference`.
    """
    places = np.flatnonzero(expected >= LEAST_EDGE)
    sentence = np.searchsorted(sentences.edges, places, side="right") - 1
    modifiers, heads = np.divmod(places - sentences.edges[sentence], sentences.lengths[sentence] + 1)
    starts = np.searchsorted(places, sentences.edges)
    return Edges(starts, heads.astype(np.int32), (modifiers + 1).astype(np.int32)), expected[places]


def shares_of(labeler: Labeler, pairs: TransferPairs, edges: Edges, weights: np.ndarray) -> Shares:
    """Return what the source labeler says of the labels of target edges.

    weights (float64 [edges]): What each of them counts.
    Returns what the labeler says of the target edge by tags alone; where both its ends are aligned (the root is, with
    the root), the geometric mean of that, `TARGET` times, and of what it says of the source edge. Of that, what counts
    less than `LEAST_LABEL` is left out.
    """
    parts = []
    for begin, end in inference.runs_of_edges(edges.starts, CHUNK):
        a, b = edges.starts[[begin, end]]
        own = Edges(edges.starts[begin : end + 1] - a, edges.heads[a:b], edges.modifiers[a:b])
        dense = _distributions(labeler, pairs.part(begin, end), own) * weights[a:b, None]
        rows, labels = np.nonzero(dense >= LEAST_LABEL)
        starts = np.searchsorted(rows, np.arange(b - a + 1))
        parts.append(Shares(starts, labels.astype(np.int32), dense[rows, labels].astype(np.float32)))
    return joined(parts)


def _distributions(labeler: Labeler, pairs: TransferPairs, edges: Edges) -> np.ndarray:
    """Return the probabilities of the labels of target edges, float32 [edges, labels]."""
    sentence = np.repeat(np.arange(len(pairs.target)), np.diff(edges.starts))
    words = (pairs.target.offsets - pairs.target.offsets[0])[sentence]
    modifiers, heads = pairs.aligned[words + edges.modifiers - 1] + 1, edges.heads.copy()
    inner = heads > 0
    heads[inner] = pairs.aligned[words[inner] + heads[inner] - 1] + 1
    both = (modifiers > 0) & ((heads > 0) | ~inner) & (heads != modifiers)
    starts = np.concatenate([[0], np.cumsum(np.bincount(sentence[both], minlength=len(pairs.source)))])
    theirs = labeler.distributions(pairs.source, Edges(starts.astype(np.int64), heads[both], modifiers[both]))
    found = labeler.without_words().distributions(pairs.target, edges)
    means = found[both]
    kernels.blend(theirs, TARGET, LEAST, means)
    found[both] = means
    return found


def joined(parts: list[Shares]) -> Shares:
    """Return the shares of consecutive edges as those of all."""
    labels = np.concatenate([np.zeros(0, np.int32), *(part.labels for part in parts)])
    shares = np.concatenate([np.zeros(0, np.float32), *(part.shares for part in parts)])
    return Shares(joined_offsets([part.starts for part in parts]), labels, shares)
