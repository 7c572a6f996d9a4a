"""Learning weights by L-BFGS: an objective is a sum of losses over sentences' edge scores, and L2.

Supervised and transferred parsers differ only in the `Loss` that compares a sentence's scores with a tree, with
expected edges, or with their own entropy. Sentences lie in parts, in memory or in files. A part's job scores its edges
and asks the loss; then jobs of some templates each send all parts' derivatives back through the features, in the order
of the sentences. So weights have the same bytes wherever parts are cut, whoever works them and how often.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from aligntools.ground import kernels_vectors, lbfgs
from aligntools.ground.engines import Engine, Serial, kept
from aligntools.ground.parallel import Pool
from aligntools.parsing.feature_space import EncodedSentences, FeatureSpace
from aligntools.parsing.settings import TreeConstraints
from aligntools.parsing.trees import inference
from aligntools.store.stores import Store, read_object, write_object

#: Edges that are scored at a time in memory; each takes some 40 bytes.
CHUNK = 4_000_000
#: Into about how many files sentences are cut, and the edges that a file has at least and at most.
PARTS, FEWEST, MOST = 48, 200_000, 2_000_000
#: What a template with tags between the two words costs, in times of one without.
BETWEEN = 5


@dataclass(frozen=True)
class TreeLoss:
    """Minus the log-probability of given trees (Ma & Xia 2014, equation 6).

    heads (int32 [words]): Trees that ``constraints`` has; see `trees.usable`.
    """

    sentences: EncodedSentences
    heads: np.ndarray
    constraints: TreeConstraints

    def part(self, begin: int, end: int) -> "TreeLoss":
        """Return the loss over the sentences ``begin:end``."""
        a, b = self.sentences.offsets[[begin, end]] - self.sentences.offsets[0]
        return TreeLoss(self.sentences.part(begin, end), self.heads[a:b], self.constraints)

    def value(self, scores: np.ndarray, pool: Pool | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return values ``ln Z - score`` and derivatives: expected less given edges."""
        x = self.sentences
        log_z, marginals = inference.sums(scores, x.offsets, self.constraints, pool)
        sentence = np.repeat(np.arange(len(x)), x.lengths)
        modifiers = np.arange(len(sentence)) - (x.offsets - x.offsets[0])[sentence]
        given = x.edges[sentence] + modifiers * (x.lengths[sentence] + 1) + self.heads
        marginals[given] -= 1
        return log_z - np.bincount(sentence, scores[given], len(x)), marginals


@dataclass(frozen=True)
class ExpectedLoss:
    """Cross-entropy with another distribution, known by its expected edges (Ma & Xia 2014, equations 12 and 13).

    expected (float64 [edges]): Marginals of the other distribution.
    """

    sentences: EncodedSentences
    expected: np.ndarray
    constraints: TreeConstraints

    def part(self, begin: int, end: int) -> "ExpectedLoss":
        """Return the loss over the sentences ``begin:end``."""
        a, b = self.sentences.edges[[begin, end]]
        return ExpectedLoss(self.sentences.part(begin, end), self.expected[a:b], self.constraints)

    def value(self, scores: np.ndarray, pool: Pool | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return values ``ln Z - E[score]`` and derivatives: the difference of the expected edges."""
        x = self.sentences
        values, marginals = inference.sums(scores, x.offsets, self.constraints, pool)
        full = x.lengths > 0
        if full.any():
            values[full] -= np.add.reduceat(self.expected * scores, x.edges[:-1][full])
        return values, marginals - self.expected


@dataclass(frozen=True)
class EntropyLoss:
    """Entropy of the model on unlabeled sentences, weighted (Ma & Xia 2014, equations 11 and 14 to 16).

    alpha: Order of the entropy: 1 is Shannon's, others Rényi's.
    """

    sentences: EncodedSentences
    constraints: TreeConstraints
    weight: float = 1.0
    alpha: float = 1.0

    def part(self, begin: int, end: int) -> "EntropyLoss":
        """Return the loss over the sentences ``begin:end``."""
        return EntropyLoss(self.sentences.part(begin, end), self.constraints, self.weight, self.alpha)

    def value(self, scores: np.ndarray, pool: Pool | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return weighted entropies and their derivatives."""
        values, slopes = inference.renyi_entropy(scores, self.alpha, self.sentences.offsets, self.constraints, pool)
        return self.weight * values, self.weight * slopes


#: A loss over the trees of sentences, given their edges' scores.
Loss: TypeAlias = TreeLoss | ExpectedLoss | EntropyLoss


#: What is kept by name: in a folder that all workers see, or in memory.
Place: TypeAlias = Store | dict[str, Any]


def read(place: Place, name: str) -> Any:
    """Return what is kept under a name."""
    return place[name] if isinstance(place, dict) else read_object(place, name, shared=True)


def read_once(place: Place, name: str) -> Any:
    """Read what is kept under a name, once: the last one of each kind stays in memory."""
    if isinstance(place, dict):
        return place[name]
    return kept((place.folder, name.partition(".")[0]), lambda: read(place, name), name)


def write(place: Place, name: str, thing: Any) -> None:
    """Keep something under a name."""
    if isinstance(place, dict):
        place[name] = thing
    else:
        write_object(place, name, thing)


class InParts:
    """Keeps sentences in parts, and runs an engine's jobs over them."""

    def __init__(self, place: Place, engine: Engine, pool: Pool) -> None:
        self.place, self.pool, self._engine = place, pool, engine
        self.numbers = itertools.count()

    @classmethod
    def in_memory(cls, pool: Pool | None = None) -> "InParts":
        """Return parts in the memory of this process."""
        pool = pool or Pool(1)
        return cls({}, Serial(pool), pool)

    def run(self, stage: str, function: Callable[..., None], jobs: Sequence[Any]) -> None:
        """Run a stage's jobs."""
        self._engine.run(stage, function, jobs, lambda: None)

    def new_names(self, kind: str, count: int) -> tuple[str, ...]:
        """Return names that are not in use."""
        number = next(self.numbers)
        return tuple(f"{kind}.{number}.{part}" for part in range(count))

    def remove(self, *names: str) -> None:
        """Remove what is kept under names."""
        if isinstance(self.place, dict):
            for name in names:
                del self.place[name]
        else:
            self.place.remove(*names)

    def keep(self, kind: str, edges: np.ndarray, part: Callable[[int, int], Any]) -> tuple[str, ...]:
        """Keep parts of sentences; return their names.

        edges (int64 [sentences + 1]): Offsets of the sentences' edges.
        part: Returns some sentences, by the first of them and the one behind the last.
        """
        most = CHUNK if isinstance(self.place, dict) else int(np.clip(int(edges[-1]) // PARTS, FEWEST, MOST))
        cuts = inference.runs_of_edges(edges, most)
        names = self.new_names(kind, len(cuts))
        for name, cut in zip(names, cuts, strict=True):
            write(self.place, name, part(*cut))
        return names

    def by_template(self, stage: str, space: FeatureSpace, names: Sequence[str], turn: int | None) -> np.ndarray:
        """Return what `_sum_up` finds for all weights, float64 [space.size], by jobs that cost about the same."""
        workers, costs = self._engine.workers, np.where(space.between >= 0, BETWEEN, 1)
        groups: list[list[int]] = [[] for _ in range(min(1 if workers == 1 else 2 * workers, len(costs)))]
        totals = np.zeros(len(groups))
        for t in np.argsort(-costs, kind="stable").tolist():
            cheapest = int(np.argmin(totals))
            groups[cheapest].append(t)
            totals[cheapest] += costs[t]
        sums, here = np.zeros(space.size), isinstance(self.place, dict)
        found = self.new_names("sums", len(groups))
        job = partial(_sum_up, self.place, space, names, turn, sums if here else None)
        self.run(stage, job, list(zip(found, groups, strict=True)))
        for name, group in () if here else zip(found, groups, strict=True):
            for t, own in zip(group, read(self.place, name), strict=True):
                sums[slice(*space.regions[t])] = own
            self.remove(name)
        return sums


def _sum_up(
    place: Place,
    space: FeatureSpace,
    names: Sequence[str],
    turn: int | None,
    sums: np.ndarray | None,
    job: tuple[str, list[int]],
    pool: Pool,
) -> None:
    """Add up all parts' derivatives in an evaluation by the weights of some templates.

    turn: None: find which of these weights any edge has, above 0.
    sums (float64 [space.size]): What is added to; None: keep the templates' own sums under the job's name.
    """
    into, templates = job
    regions = [slice(*space.regions[t]) for t in templates]
    totals = [np.zeros(one.stop - one.start) if sums is None else sums[one] for one in regions]
    for name in names:
        sentences = read(place, name).sentences
        values = np.ones(int(sentences.edges[-1])) if turn is None else read(place, f"slopes.{turn}.{name}")

        def add(k: int, sentences: EncodedSentences = sentences, values: np.ndarray = values) -> None:
            space.add_template(templates[k], sentences, values, totals[k])

        pool.map(add, range(len(templates)))
    if sums is None:
        write(place, into, [own > 0 for own in totals] if turn is None else totals)


def _differentiate(place: Place, space: FeatureSpace, turn: int, name: str, pool: Pool) -> None:
    """Keep a part's values and derivatives under the weights of an evaluation."""
    loss = read(place, name)
    scores = space.scores(read_once(place, f"weights.{turn}"), loss.sentences, pool)
    values, slopes = loss.value(scores, pool)
    write(place, f"values.{turn}.{name}", values)
    write(place, f"slopes.{turn}.{name}", slopes)


@dataclass(frozen=True)
class KeptLoss:
    """A loss in parts.

    names: Of its parts, in order.
    edges (int64 [sentences + 1]): Offsets of all its sentences' edges.
    """

    place: Place
    names: tuple[str, ...]
    edges: np.ndarray

    def expected(self) -> Iterable[np.ndarray]:
        """Yield the expected edges of each part of an `ExpectedLoss`, float64."""
        return (read(self.place, name).expected for name in self.names)


class ParserObjective:
    """Losses, L2 and the feature space as one function of the weights.

    l2: The objective has ``l2 / 2`` times the squared length of the weights.
    parts: Where sentences are kept; None: in memory.
    """

    def __init__(
        self,
        space: FeatureSpace,
        losses: "Sequence[Loss | KeptLoss]",
        l2: float,
        pool: Pool | None = None,
        parts: InParts | None = None,
    ) -> None:
        self.space, self.l2, self._parts = space, l2, parts or InParts.in_memory(pool)
        self.pool, place = self._parts.pool, self._parts.place
        self._losses = [
            loss
            if isinstance(loss, KeptLoss)
            else KeptLoss(place, self._parts.keep("loss", loss.sentences.edges, loss.part), loss.sentences.edges)
            for loss in losses
        ]
        self.names = [name for loss in self._losses for name in loss.names]

    def active(self) -> np.ndarray:
        """Return the weights that the sentences' features have, ascending; the others are best at 0."""
        return np.flatnonzero(self._parts.by_template("weights in use", self.space, self.names, None))

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient [shape=(space.size,)]."""
        parts, place, turn = self._parts, self._parts.place, next(self._parts.numbers)
        write(place, f"weights.{turn}", weights)
        parts.run("losses", partial(_differentiate, place, self.space, turn), self.names)
        total = 0.0
        for loss in self._losses:
            values = np.concatenate([np.zeros(0), *(read(place, f"values.{turn}.{name}") for name in loss.names)])
            for begin, end in inference.runs_of_edges(loss.edges, CHUNK):
                total += float(np.add.reduce(values[begin:end]))
        gradient = parts.by_template("gradient", self.space, self.names, turn)
        parts.remove(f"weights.{turn}", *(f"{kind}.{turn}.{n}" for kind in ("values", "slopes") for n in self.names))
        total += 0.5 * self.l2 * kernels_vectors.add_scaled(weights, self.l2, gradient)
        return total, gradient


#: What L-BFGS found: weights (float64 [space.size]), the objective before and after each step, and why it ended.
Fit: TypeAlias = tuple[np.ndarray, list[float], str]


def minimize(
    objective: ParserObjective,
    start: np.ndarray | lbfgs.LbfgsState | None = None,
    iterations: int = 100,
    tolerance: float = 1e-5,
    progress: Callable[[int, float, np.ndarray], None] | None = None,
    checkpoint: Callable[[lbfgs.LbfgsState], None] | None = None,
) -> Fit:
    """Minimize an objective by L-BFGS, until two steps in a row lower it by less than a share.

    start (float64 [space.size]): Default zeros; or a state that ``checkpoint`` received. Weights of features that no
        sentence has stay as they are, and do not count.
    progress: Called with the number of the step, the objective and the weights (to be copied if kept), after each step.
    """
    resumed = isinstance(start, lbfgs.LbfgsState)
    weights = np.zeros(objective.space.size) if start is None or resumed else np.array(start, np.float64)
    active = objective.active()
    values: list[float] = []
    if isinstance(start, lbfgs.LbfgsState) and len(start.x) != len(active):
        raise ValueError(f"a state of {len(start.x)} weights for an objective of {len(active)}")
    idle = _idle_penalty(weights, active, objective.l2)

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        weights[active] = x
        total, gradient = objective(weights)
        if not values:
            values.append(total - idle)
        return total - idle, gradient[active]

    def note(state: lbfgs.LbfgsState) -> None:
        values.append(state.value)
        if progress is not None:
            weights[active] = state.x
            progress(state.steps, state.value, weights)
        if checkpoint is not None:
            checkpoint(state)

    if isinstance(start, lbfgs.LbfgsState):
        values.append(start.value)
    begin = start if isinstance(start, lbfgs.LbfgsState) else weights[active]
    found = lbfgs.minimize(value, begin, iterations, tolerance, pool=objective.pool, progress=note)
    weights[active] = found.state.x
    return weights, values, found.message


def _idle_penalty(weights: np.ndarray, active: np.ndarray, l2: float) -> float:
    """Return the penalty of the weights that do not change; a function, so that the copy is freed before training."""
    unused = weights.copy()
    unused[active] = 0
    return 0.5 * l2 * float(np.add.reduce(np.square(unused)))
