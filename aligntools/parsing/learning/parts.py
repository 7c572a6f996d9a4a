"""Learning weights from sentences in files: an evaluation of the objective is jobs over parts, then over templates.

A part's job scores its edges under the weights, which it reads from the folder, asks the loss, and leaves the values
and the derivatives there. Then jobs of some templates each send the derivatives of all parts back through the features:
a template's weights are one job's, and what is added to them is added in the order of the sentences. So where parts are
cut, who works them and how often, does not show: weights have the bytes that `training.ParserObjective` gives.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligntools.ground.engines import Engine, kept
from aligntools.ground.parallel import Pool
from aligntools.parsing.feature_space import EncodedSentences, FeatureSpace
from aligntools.parsing.learning import training
from aligntools.store.stores import Store, read_object, write_object

#: Into about how many parts sentences are cut, and the edges that a part has at least and at most.
PARTS, FEWEST, MOST = 48, 200_000, 2_000_000
#: What a template with tags between the two words costs, in times of one without.
BETWEEN = 5


@dataclass(frozen=True)
class KeptLoss:
    """A loss whose parts are in files.

    names: Of its parts, in order.
    edges (int64 [sentences + 1]): Offsets of all its sentences' edges.
    """

    store: Store
    names: tuple[str, ...]
    edges: np.ndarray

    def expected(self) -> Iterable[np.ndarray]:
        """Yield the expected edges of each part of an `ExpectedLoss`, float64."""
        return (read_object(self.store, name, shared=True).expected for name in self.names)


def weights_of(store: Store, name: str) -> np.ndarray:
    """Return the weights that are kept under a name; a worker's next job mostly has the same."""
    return np.asarray(kept((store.folder, "weights"), lambda: read_object(store, name, shared=True), name))


def _sum_up(
    store: Store,
    space: FeatureSpace,
    names: Sequence[str],
    turn: int | None,
    job: tuple[int, list[int]],
    pool: Pool,
) -> None:
    """Write the sums of all parts' derivatives in an evaluation, by the weights of some templates.

    turn: None: write which of these weights any edge has.
    """
    number, templates = job
    totals = [np.zeros(1 << space.bits[t]) for t in templates]
    for name in names:
        loss = read_object(store, name, shared=True)
        sentences = loss if isinstance(loss, EncodedSentences) else loss.sentences
        if turn is None:
            values = np.ones(int(sentences.edges[-1]))
        else:
            values = read_object(store, f"slopes.{turn}.{name}", shared=True)

        def add(k: int, sentences: EncodedSentences = sentences, values: np.ndarray = values) -> None:
            space.add_template(templates[k], sentences, values, totals[k])

        pool.map(add, range(len(templates)))
    kind, found = ("used", [own > 0 for own in totals]) if turn is None else (f"gradient.{turn}", totals)
    write_object(store, f"{kind}.{number}", found)


def _differentiate(store: Store, space: FeatureSpace, turn: int, name: str, pool: Pool) -> None:
    """Write a part's values and derivatives under the weights of an evaluation."""
    loss = read_object(store, name, shared=True)
    scores = space.scores(weights_of(store, f"weights.{turn}"), loss.sentences, pool)
    values, slopes = loss.value(scores, pool)
    write_object(store, f"values.{turn}.{name}", values)
    write_object(store, f"slopes.{turn}.{name}", slopes)


class InParts:
    """Keeps sentences in a folder and learns from them by an engine's jobs.

    store: An empty folder that all workers see.
    """

    def __init__(self, store: Store, engine: Engine, pool: Pool) -> None:
        self.store, self.pool, self._engine = store, pool, engine
        self.numbers = itertools.count()

    def run(self, stage: str, function: Callable[..., None], jobs: Sequence[Any]) -> None:
        """Run a stage's jobs."""
        self._engine.run(stage, function, jobs, lambda: None)

    def by_template(
        self, stage: str, function: Callable[..., None], space: FeatureSpace
    ) -> list[tuple[int, list[int]]]:
        """Run a stage whose jobs are numbered groups of templates; return these."""
        jobs = list(enumerate(_groups(space, 1 if self._engine.workers == 1 else 2 * self._engine.workers)))
        self.run(stage, function, jobs)
        return jobs

    def new_names(self, kind: str, count: int) -> tuple[str, ...]:
        """Return the names of files, by their number."""
        number = next(self.numbers)
        return tuple(f"{kind}.{number}.{part}" for part in range(count))

    def keep(self, kind: str, edges: np.ndarray, part: Callable[[int, int], Any]) -> tuple[str, ...]:
        """Write parts of sentences to files; return the names.

        edges (int64 [sentences + 1]): Offsets of the sentences' edges.
        part: Returns some sentences, by the first of them and the one behind the last.
        """
        cuts = training.runs_of_edges(edges, int(np.clip(int(edges[-1]) // PARTS, FEWEST, MOST)))
        names = self.new_names(kind, len(cuts))
        for name, cut in zip(names, cuts, strict=True):
            write_object(self.store, name, part(*cut))
        return names

    def fitted(self, templates: Sequence[str], sentences: EncodedSentences, bits: int) -> FeatureSpace:
        """Do what `FeatureSpace.fitted` does."""
        names = self.keep("sentences", sentences.edges, sentences.part)
        trial = FeatureSpace(templates, [bits] * len(templates))
        jobs = self.by_template("features", functools.partial(_sum_up, self.store, trial, names, None), trial)
        filled = np.zeros(len(trial.templates), np.int64)
        for number, group in jobs:
            filled[group] = [np.count_nonzero(own) for own in read_object(self.store, f"used.{number}")]
            self.store.remove(f"used.{number}")
        self.store.remove(*names)
        return trial.cut(filled.tolist())

    def objective(
        self, space: FeatureSpace, losses: "Sequence[training.Loss | KeptLoss]", l2: float
    ) -> training.ParserObjective:
        """Return losses, L2 and the features as a function of the weights; losses in memory are written to files."""
        kept = [
            loss
            if isinstance(loss, KeptLoss)
            else KeptLoss(self.store, self.keep("loss", loss.sentences.edges, loss.part), loss.sentences.edges)
            for loss in losses
        ]
        return PartedObjective(self, space, kept, l2)


def _groups(space: FeatureSpace, most: int) -> list[list[int]]:
    """Deal templates out to groups that cost about the same."""
    costs = np.where(space.between >= 0, BETWEEN, 1)
    groups: list[list[int]] = [[] for _ in range(min(most, len(costs)))]
    totals = np.zeros(len(groups))
    for t in np.argsort(-costs, kind="stable").tolist():
        place = int(np.argmin(totals))
        groups[place].append(t)
        totals[place] += costs[t]
    return groups


class PartedObjective(training.ParserObjective):
    """Does what `training.ParserObjective` does, by jobs over the files of its losses."""

    def __init__(self, place: InParts, space: FeatureSpace, losses: Sequence[KeptLoss], l2: float) -> None:
        super().__init__(space, (), l2, place.pool)
        self._place, self._losses, self._turns = place, losses, place.numbers
        self._names = [name for loss in losses for name in loss.names]

    def active(self) -> np.ndarray:
        """Return the weights that the sentences' features have, ascending; the others are best at 0."""
        store, used = self._place.store, np.zeros(self.space.size, bool)
        find = functools.partial(_sum_up, store, self.space, self._names, None)
        jobs = self._place.by_template("weights in use", find, self.space)
        self._collect("used", jobs, used)
        return np.flatnonzero(used)

    def _collect(self, name: str, jobs: list[tuple[int, list[int]]], into: np.ndarray) -> None:
        """Read what jobs by template have left; remove it."""
        for number, group in jobs:
            own = f"{name}.{number}"
            for t, values in zip(group, read_object(self._place.store, own, shared=True), strict=True):
                into[slice(*self.space.regions[t])] = values
            self._place.store.remove(own)

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient [shape=(space.size,)]."""
        store, turn = self._place.store, next(self._turns)
        write_object(store, f"weights.{turn}", weights)
        self._place.run("losses", functools.partial(_differentiate, store, self.space, turn), self._names)
        total = 0.0
        for loss in self._losses:
            values = [read_object(store, f"values.{turn}.{name}") for name in loss.names]
            together = np.concatenate([np.zeros(0), *values])
            for begin, end in training.runs_of_edges(loss.edges, training.CHUNK):
                total += float(np.add.reduce(together[begin:end]))
        gradient = np.empty(self.space.size)
        add_up = functools.partial(_sum_up, store, self.space, self._names, turn)
        jobs = self._place.by_template("gradient", add_up, self.space)
        self._collect(f"gradient.{turn}", jobs, gradient)
        left = (f"{kind}.{turn}.{name}" for kind in ("values", "slopes") for name in self._names)
        store.remove(f"weights.{turn}", *left)
        return training.with_penalty(total, gradient, weights, self.l2)
