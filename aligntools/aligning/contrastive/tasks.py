"""What the contrastive model does with texts: it learns weights, with gold links or without, and aligns."""

import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import numpy as np

from aligntools.aligning.alignments import Alignments
from aligntools.aligning.applying.applier import Posteriors, decide
from aligntools.aligning.applying.decisions import links_from
from aligntools.aligning.applying.kernels_decoding import JOINT, MEAN
from aligntools.aligning.contrastive import evidence, gold_learning
from aligntools.aligning.contrastive import features as names
from aligntools.aligning.contrastive import kernels_features as kf
from aligntools.aligning.contrastive.candidate_links import CandidateLinks, concatenate
from aligntools.aligning.contrastive.candidates import CandidateFinder
from aligntools.aligning.contrastive.evidence import firm, with_readings
from aligntools.aligning.contrastive.learning import WeightLearning, calibrate, has_changed, learn, noisy
from aligntools.aligning.contrastive.linknetwork import LinkNetwork
from aligntools.aligning.contrastive.rounds import LARGEST
from aligntools.aligning.contrastive.search import SearchSettings, known, link_probabilities, search, with_phrases
from aligntools.aligning.contrastive.settings import GIVEN, SGD_DELAY, USUAL, ContrastiveSettings, Method
from aligntools.aligning.contrastive.weights import ContrastiveStart, Weights, scale, shipped
from aligntools.aligning.evidence import LOOK, SAMPLED, About, TextEvidence, kind_of, worth
from aligntools.aligning.settings import Decisions
from aligntools.formats.links.given_links import GivenLinks, concatenate_given
from aligntools.formats.links.goldlinks import Gold
from aligntools.formats.links.pharaoh import Links
from aligntools.formats.links.pharaoh import concatenate as join
from aligntools.formats.text.corpus import Bitext, in_ids_of, pick
from aligntools.ground.errors import UsageProblem
from aligntools.ground.parallel import Pool
from aligntools.ground.run import Report
from aligntools.metrics import aer

# How far the network that judges links holds back: in large text the base model's own log-odds count beside its.
#
# The network was taught by base models of little text and of much, but it does not see how much the one at hand has
# read. The more that is, the less it has to add, unless a source of evidence has read the text (`bench/SETTINGS.md`).

#: Pairs of a text up to which the network decides alone, and from which on the base model counts for MOST of the
#: decision; in between for a share that rises with the logarithm.
FEW, MANY = 1_000, 100_000
MOST = 0.3


def held_back(start: np.ndarray, active: np.ndarray, pairs: int) -> np.ndarray:
    """Return start weights of a text, float64 [FEATURES]: for large text, part of the network's is the base model's."""
    share = MOST * min(1.0, max(0.0, math.log(max(pairs, 1) / FEW) / math.log(MANY / FEW)))
    if not share or not active[[kf.TREES, kf.POSTERIOR]].all() or start[kf.TREES] <= 0:
        return start
    found, whole = start.copy(), start[kf.TREES]
    found[kf.TREES] = (1.0 - share) * whole
    found[kf.POSTERIOR] += share * whole
    return found


#: Pairs with a longer side are not learned from.
LONGEST = 100


@dataclass(frozen=True)
class LearningPlan:
    """Which weights (active: bool, start: float64 [FEATURES]) are learned, from how many pairs, and how.

    density: Number of links: as the base model decides (by its threshold), as it expects, or as learned weights give.
    penalty: With gold links and minimum risk, of the distance from the start; see `gold_learning.risk`.
    """

    active: np.ndarray
    start: np.ndarray
    sentences: int = 500
    noise: str = "shuffle"
    density: str = "base"
    threshold: float = 0.4
    learning: WeightLearning = WeightLearning()  # noqa: RUF009
    search: SearchSettings = SearchSettings()  # noqa: RUF009
    network: LinkNetwork | None = None
    penalty: float = gold_learning.PENALTY


def draw(bitexts: Sequence[Bitext], sentences: int, seed: int) -> list[np.ndarray]:
    """Draw pairs to learn from at random; return the numbers of those of each text, int64, in order.

    Pairs with an empty side, with one word on both sides or with a side over LONGEST words are passed over.
    """
    rows = [np.empty((0, 2), np.int64)]
    for n, b in enumerate(bitexts):
        s, t = b.source.lengths(), b.target.lengths()
        good = np.flatnonzero((np.minimum(s, t) > 0) & (np.maximum(s, t) > 1) & (np.maximum(s, t) <= LONGEST))
        rows.append(np.stack([np.full(len(good), n), good], 1))
    fit = np.concatenate(rows)
    chosen = np.sort(np.random.default_rng(seed).permutation(len(fit))[:sentences])
    return [fit[chosen][fit[chosen][:, 0] == n, 1] for n in range(len(bitexts))]


def learn_weights(
    finder: CandidateFinder, bitexts: list[Bitext], plan: LearningPlan, report: Report | None = None
) -> Weights:
    """Learn weights from texts without gold; ``report`` is that of `learning.learn`."""
    chosen, firsts = draw(bitexts, plan.sentences, plan.learning.seed), np.cumsum([0, *map(len, bitexts)]).tolist()
    return learned_from(zip(repeat(finder), bitexts, chosen, firsts, strict=False), plan, finder.pool, report)


def learned_from(
    drawn: Iterable[tuple[CandidateFinder, Bitext, np.ndarray, int]],
    plan: LearningPlan,
    pool: Pool,
    report: Report | None = None,
) -> Weights:
    """Learn weights from some pairs (int64) of texts and corrupted copies of these; see `learn_weights`.

    drawn: Texts, each with what finds its candidates, which pairs were drawn, and the number of its first pair.
    """
    seen: list[CandidateLinks] = []
    noised: list[CandidateLinks] = []
    links = 0
    for finder, bitext, chosen, first in drawn if plan.learning.passes or plan.density != "learned" else ():
        if not len(chosen):
            continue
        part = pick(bitext, chosen)
        copy = noisy(part, plan.noise, plan.learning.seed, first + chosen)
        changed = np.flatnonzero(has_changed(part, copy))
        part, copy = pick(part, changed), pick(copy, changed)
        if plan.learning.passes:
            noised.append(finder.find_all(copy))
        for posteriors, candidates in finder.find(part):
            seen.append(candidates)
            links += len(decide(posteriors, JOINT, plan.threshold, finder.pool)[0])
    observed, corrupted = concatenate(seen), concatenate(noised)
    values, active = np.where(plan.active, plan.start, 0.0), plan.active
    if plan.learning.passes:
        values = learn(observed, corrupted, plan.start, plan.active, plan.learning, pool, report)
    if plan.density != "learned":
        wanted = links if plan.density == "base" else float(observed.expected.sum())
        values, active = calibrate(observed, values, active, wanted, plan.search, pool)
    about = {"from": "noise", "noise": plan.noise, "pairs": len(observed)}
    about |= {"seed": plan.learning.seed, "density": plan.density}
    if plan.learning.optimizer != WeightLearning.optimizer:
        about["optimizer"] = plan.learning.optimizer
    return Weights(values, active, plan.search, about, network=plan.network)


@dataclass(frozen=True, eq=False)
class GoldLearning:
    """The result of supervised learning: weights, and errors (fractions) of links.

    base: Of the base model alone; files: of each file of evidence; fitted: by the weights, on their own pairs.
    validated, without: By weights learned from the other folds; the same without the files of evidence.
    """

    weights: Weights
    base: float
    fitted: float
    validated: float | None
    files: list[float] = field(default_factory=list)
    without: float | None = None


def learn_from_gold(
    finder: CandidateFinder,
    bitext: Bitext,
    gold: Gold,
    plan: LearningPlan,
    method: Method = "risk",
    folds: int = 5,
    report: Report | None = None,
    evidence: Sequence[GivenLinks] = (),
    tables: Sequence[np.ndarray] = (),
) -> GoldLearning:
    """Learn weights from gold alignments of a text's sentence pairs; see `gold_learning.train_supervised`.

    evidence: Other aligners' links of the same sentences.
    tables (sequence of float64 [evidence.READINGS]): What the readings of each are worth.
    """
    pool, parts, links = finder.pool, [], []
    for posteriors, found in finder.find(bitext, evidence):
        parts.append(found)
        links.append(Links(*decide(posteriors, JOINT, plan.threshold, pool)[:2]))
    candidates = concatenate(parts)
    if tables and parts:
        candidates = with_readings(candidates, tables)

    def error(counts: np.ndarray) -> float:
        return float(gold_learning.aer(counts, float(len(gold.sure.pairs))))

    base = error(_counts(join(links), gold))
    files = [error(_counts(firm(given).links, gold)) for given in evidence]

    def some(sentences: np.ndarray) -> tuple[CandidateLinks, Gold]:
        part = replace(gold, sure=gold.sure[sentences], possible=gold.possible[sentences])
        return concatenate(candidates.part(k, k + 1) for k in sentences.tolist()), part

    def train(sentences: np.ndarray, tell: Report | None = None) -> np.ndarray:
        how: dict[str, Any] = {"penalty": plan.penalty, "pool": pool, "report": tell}
        return gold_learning.train_supervised(*some(sentences), plan.start, plan.active, method, plan.search, **how)

    def counts(weights: np.ndarray, sentences: np.ndarray) -> np.ndarray:
        part, known = some(sentences)
        return _counts(search(part, weights, plan.active, plan.search, pool).links(), known)

    everything = np.arange(len(candidates))
    validated = None
    order = np.random.default_rng(plan.learning.seed).permutation(len(candidates))
    if 1 < folds <= len(order):
        totals = np.zeros(3)
        for held in np.array_split(order, folds):
            held = np.sort(held)
            totals += counts(train(np.setdiff1d(everything, held)), held)
        validated = error(totals)
    learned = train(everything, report)
    fitted = error(counts(learned, everything))
    about = {"from": "gold", "method": method, "pairs": len(candidates)}
    weights = Weights(learned, plan.active, plan.search, about, tuple(tables), plan.network)
    return GoldLearning(weights, base, fitted, validated, files)


def _counts(found: Links, gold: Gold) -> np.ndarray:
    """Return all links, and those that are sure and that are possible in the gold, float64 [3]."""
    return np.asarray(aer.count(found, gold).sum(axis=0)[[0, 3, 4]].astype(np.float64))


def learning_plan(features: str, start: str | ContrastiveStart = USUAL, **others: Any) -> LearningPlan:
    """Return a `LearningPlan` for features, as `features.select` takes them, and a start by name or as it is."""
    active = names.select(features)
    if start == "paper":
        network = shipped(USUAL).network if active[names.NAMES.index("trees")] else None
        weights = np.where(active, [f.paper for f in names.ALL], 0.0)
        return LearningPlan(active, weights, network=network, **others)
    own = start if isinstance(start, ContrastiveStart) else shipped(start)
    weights = np.where(active, own.weights, 0.0)
    if not weights.any():
        raise UsageProblem("this start has no weight for these features; add trees to them, or take the start 'paper'")
    others = {"penalty": gold_learning.NETWORK_PENALTY} | others
    return LearningPlan(active, weights, network=own.network, **others)


def plan_of(
    settings: ContrastiveSettings,
    threshold: float = 0.4,
    given: ContrastiveStart | None = None,
    pairs: int | None = None,
    read: bool = False,
) -> LearningPlan:
    """Return the `LearningPlan` that settings mean; ``given`` is the start of a file.

    pairs: Of the text that is learned from without gold links; if they are many, the network that comes with the
        program holds back and judges few candidates.
    read: A source of evidence has read pairs of the text. Then the network decides alone: it does not hold back, learns
        nothing from noise, and finds as many links as it holds for probable.
    """
    start: str | ContrastiveStart = settings.begins
    if start == GIVEN:
        assert given is not None, "a file has the start"
        start = given
    quick, alone = start == USUAL and pairs is not None and pairs > LARGEST, start == USUAL and read
    passes, rate, pull = settings.steps
    if alone and not settings.of_noise:
        passes = 0
    among = settings.candidates or ("few" if quick else "base")
    search = SearchSettings(beam=settings.beam, constraint=settings.constraint).among(among)
    learning = WeightLearning(
        n_best=settings.n_best,
        beam=settings.learning_beam,
        rate=rate if settings.rate is None else settings.rate,
        pull=pull if settings.pull is None else settings.pull,
        passes=passes if settings.passes is None else settings.passes,
        seed=settings.seed,
        optimizer=settings.optimizer,
        limit=search.source_limit,
        delay=SGD_DELAY if settings.optimizer == "sgd" else WeightLearning.delay,
    )
    plan = learning_plan(
        settings.features,
        start,
        sentences=settings.sentences,
        noise=settings.noise,
        learning=learning,
        density=settings.density or ("learned" if alone else "base"),
        threshold=threshold,
        search=search,
    )
    if pairs is None or alone or start != USUAL:
        return plan
    return replace(plan, start=held_back(plan.start, plan.active, pairs))


#: Probabilities count as no closer to 0 and 1 than this: no odds of the network come near.
_NEARLY = 1e-12


def first_look(candidates: CandidateLinks, weights: Weights) -> np.ndarray:
    """Return the log-odds that candidates have by themselves and without evidence, float64 [candidates]."""
    values, n = np.where(weights.active, weights.values, 0.0), len(names.ALL)
    found: np.ndarray = candidates.local[:, :n].astype(np.float64) @ values[:n]
    return found / scale(weights.values, weights.active)


class Judge:
    """Finds the candidates of a text, with all that weights count of them, by ``values`` of ``active`` columns."""

    def __init__(
        self,
        finder: CandidateFinder,
        weights: Weights,
        evidence: Sequence[GivenLinks] = (),
        threshold: float | None = None,
    ) -> None:
        self.finder, self.weights = finder, weights
        # training took links of the same kinds for counts of their words, so that a word of the new text alone is known
        own = zip(weights.knowers.values(), evidence[weights.files :], strict=True)
        self.believed = [replace(x, strengths=x.strengths * float(about.get("belief", 1.0))) for about, x in own]
        used = np.flatnonzero(weights.values[len(names.ALL) :]).tolist()
        kept = [*range(len(names.ALL)), *(len(names.ALL) + k for k in used)]
        self.values, self.active = weights.values[kept], weights.active[kept]
        if threshold is not None:  # links need odds that differ as much from the usual ones as the threshold's do
            bounded = (min(max(p, _NEARLY), 1 - _NEARLY) for p in (finder.model.usual_threshold, threshold))
            usual, wanted = (math.log(p / (1 - p)) for p in bounded)
            self.values[kf.LINKS] += scale(weights.values, weights.active) * (usual - wanted)
            self.active[kf.LINKS] = True
        self._evidence, self._tables = [evidence[k] for k in used], [weights.tables[k] for k in used]
        self._looks = [weights.looks[k] for k in used] if known(self.values) else []

    def find(self, bitext: Bitext) -> Iterator[tuple[Posteriors, CandidateLinks]]:
        """Yield what `CandidateFinder.find` does."""
        for posteriors, candidates in self.finder.find(bitext, self._evidence, self.believed):
            if self._evidence:
                first = first_look(candidates, self.weights)
                candidates = with_readings(candidates, self._tables, first, self._looks)
            yield posteriors, candidates


#: Pairs that are looked at to say what evidence of places brings.
LOOKED_AT = 200


def brought(finder: CandidateFinder, bitext: Bitext, weights: Weights, places: Sequence[GivenLinks]) -> dict[str, int]:
    """Count probable links of some pairs, and how many of them evidence of places added and how many it took away.

    bitext: The text that training read; places: Of each source that the weights ask, links of its pairs.
    """
    read = np.flatnonzero(np.sum([given.links.counts() for given in places], axis=0))
    rows = read[np.unique(np.linspace(0, len(read) - 1, min(len(read), LOOKED_AT)).astype(np.int64))]
    model, judge = finder.model, Judge(finder, weights, [given[rows] for given in places])
    text = in_ids_of(pick(bitext, rows), model.source_vocabulary, model.target_vocabulary, model.lowercase)
    counts = np.zeros(3, np.int64)
    for _, found in judge.find(text):
        before, after = first_look(found, weights) > 0, found.local @ judge.values > 0
        counts += [np.count_nonzero(one) for one in (after, after & ~before, before & ~after)]
    return {"read": len(rows), **dict(zip(("links", "more", "fewer"), counts.tolist(), strict=True))}


def align(
    finder: CandidateFinder,
    bitext: Bitext,
    weights: Weights,
    pool: Pool,
    evidence: Sequence[GivenLinks] = (),
    directions: bool = False,
    decisions: Decisions = Decisions(),  # noqa: B008
) -> Iterator[Alignments]:
    """Yield the links of consecutive runs of sentences, with their probabilities: the network's or the base model's.

    evidence: Other aligners' links, one for each table of the weights; those of weight 0 make no candidates.
    directions: Find the base model's links of single directions too.
    decisions: Whether phrases are linked as wholes, how single directions are decoded, and the threshold.
    """
    judge = Judge(finder, weights, evidence, decisions.threshold)
    viterbi = directions and decisions.decode == "viterbi"
    paths = finder.applier.posteriors(bitext, pool, True, judge.believed) if viterbi else None
    for posteriors, candidates in judge.find(bitext):
        found = chosen_links(candidates, judge.values, judge.active, weights, decisions, pool)
        path = next(paths) if paths is not None else None
        yield links_from(decisions, pool, directions, posteriors, **finder.applier.deciding, paths=path, found=found)


def chosen_links(
    candidates: CandidateLinks,
    values: np.ndarray,
    active: np.ndarray,
    weights: Weights,
    decisions: Decisions,
    pool: Pool,
) -> tuple[Links, np.ndarray | None]:
    """Return the links that weights choose among candidates, and their probabilities where a network has a part."""
    links = search(candidates, values, active, weights.search, pool).links()
    if decisions.phrases:
        links = with_phrases(candidates, links, values, pool)
    return links, link_probabilities(candidates, links, values) if known(values) else None


#: Pairs that files of evidence are judged on, drawn at random.
PAIRS = 2000
#: A file counts for nothing up to the estimated precision DOUBTED, and for more above it, by the power STEEPNESS.
#: Aligners make similar errors, which then look right, so that estimates are too high. By how much cannot be seen from
#: their agreement. So without gold links only a file that hardly contradicts the base model counts.
DOUBTED, STEEPNESS = 0.8, 8
#: Weight of the log-odds of evidence against the base model's, where learning from gold begins.
FIRST_SHARE = 0.25


@dataclass(frozen=True)
class EvidenceFile:
    """Estimates of how reliable a file of evidence is, as fractions, and its weight: of the log-odds that it adds.

    links: On the pairs that it was judged on; aer: On gold links.
    agreement, exchanged: F1 with the base model's own links, and with the file's source and target exchanged.
    precision, recall: Estimated from the base model's posteriors and all files.
    """

    links: int
    agreement: float
    exchanged: float
    precision: float
    recall: float
    weight: float = 0.0
    aer: float | None = None


def judge_files(
    finder: CandidateFinder, bitexts: list[Bitext], files: list[list[GivenLinks]], plan: LearningPlan
) -> tuple[list[np.ndarray], list[EvidenceFile]]:
    """Learn what readings of files are worth, from texts without gold.

    Returns list of float64 [evidence.READINGS], list of EvidenceFile.
    """
    parts, own, drawn, told = [], [], [], []
    for bitext, of_text, chosen in zip(bitexts, files, draw(bitexts, PAIRS, plan.learning.seed), strict=True):
        drawn.append([x[chosen] for x in of_text])
        for posteriors, found in finder.find(pick(bitext, chosen), drawn[-1]):
            parts.append(found)
            own.append(Links(*decide(posteriors, MEAN, plan.threshold, finder.pool)[:2]))
    links = join(own)
    count = len(files[0]) if files else 0
    tables, *shares = [np.zeros(evidence.READINGS)] * count, [0.0] * count, [0.0] * count
    if parts:
        tables, *shares = evidence.judge(concatenate(parts), bool(plan.active[kf.TREES]))
    for k, (precision, recall) in enumerate(zip(*shares, strict=True)):
        given = evidence.firm(concatenate_given([part[k] for part in drawn]))
        agreement, exchanged = (evidence.agreement(x.links, links) for x in (given, given.turned()))
        told.append(EvidenceFile(len(given.links.pairs), agreement, exchanged, precision, recall))
    return tables, told


def share(precision: float) -> float:
    """Return the weight of a file's log-odds against the base model's: from 0 at a precision of DOUBTED to 1 at 1.

    Links of eflomal and fast_align have estimates of 0.65 to 0.94, those of a model of far more text 0.99 and more.
    """
    return min(1.0, max(0.0, (precision - DOUBTED) / (1.0 - DOUBTED))) ** STEEPNESS


def with_tables(weights: Weights, tables: Sequence[np.ndarray], shares: Sequence[float], **changed: Any) -> Weights:
    """Return weights with those of more tables, each a share of what log-odds weigh."""
    values = np.concatenate([weights.values, np.array(shares) * scale(weights.values, weights.active)])
    active = np.append(weights.active, np.ones(len(tables), bool))
    return replace(weights, values=values, active=active, tables=(*weights.tables, *tables), **changed)


def for_new_text(weights: Weights, header: Mapping[str, About], of_text: TextEvidence | None = None) -> Weights:
    """Return the weights of a saved model: with those of all kinds that can be asked of new text.

    header: What the model's header says of evidence.
    of_text: What is known of its own text, if it was not trained in parts.
    """
    places = {} if of_text is None else of_text.places
    read = {name: found.table for name, found in places.items()}
    whole = {name for name, found in places.items() if found.whole}
    about = {name: one if name in whole else {**one, SAMPLED: True} for name, one in header.items()}
    return with_knowers(weights, about, read | worth(header, read), header)


def with_knowers(
    weights: Weights, header: Mapping[str, About], tables: Mapping[str, np.ndarray], of_base: Container[str]
) -> Weights:
    """Return weights with those of kinds of evidence, whose readings are worth what their tables say.

    If a network decides and a kind has weights of a second look (`contrastive.second_look`), they go with it.
    of_base: The kinds of evidence that the base model was trained with.
    """
    kinds = sorted(tables)
    own = [np.asarray(tables[name], np.float64) for name in kinds]
    knowers = {**weights.knowers, **{name: dict(header[name]) for name in kinds}}
    for name in kinds if known(weights.values) else ():
        look = kind_of(name).look(header[name], name in of_base)
        knowers[name] |= {} if look is None else {LOOK: look}
    return with_tables(weights, own, [1.0] * len(kinds), knowers=knowers)


def plan_with_evidence(plan: LearningPlan, files: int, counts_for: float | None = None) -> LearningPlan:
    """Return a plan of learning from gold whose start has weights of evidence too."""
    own = np.full(files, (FIRST_SHARE if counts_for is None else counts_for) * scale(plan.start, plan.active))
    return replace(plan, start=np.append(plan.start, own), active=np.append(plan.active, np.ones(files, bool)))
