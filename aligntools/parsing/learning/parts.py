"""Learning weights from sentences in files: an evaluation of the objective is jobs over parts, then over templates.

A part's job scores its edges under the weights, which it reads from the folder, asks the loss, and leaves the values
and the derivatives there. Then jobs of some templates each send the derivatives of all parts back through the features:
a template's weights are one job's, and what is added to them is added in the order of the sentences. So where parts are
cut, who works them and how often, does not show: weights have the bytes that `training.Objective` gives.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from aligntools.formats.stores import Store
from aligntools.ground.engines import Engine
from aligntools.ground.parallel import Pool
from aligntools.parsing.features.space import EncodedSentences, FeatureSpace
from aligntools.parsing.learning import training
from aligntools.parsing.settings import TreeConstraints

#: Into about how many parts sentences are cut, and the edges that a part has at least and at most.
PARTS, FEWEST, MOST = 48, 200_000, 2_000_000
#: What a template with tags between the two words costs, beside one without.
BETWEEN = 5
_LOSSES = {kind.__name__: kind for kind in (training.TreeLoss, training.ExpectedLoss, training.EntropyLoss)}


def cuts_of(edges: np.ndarray) -> list[tuple[int, int]]:
    """Return which sentences the parts have, from ``edges`` [sentences + 1]."""
    return training.runs_of_edges(edges, int(np.clip(int(edges[-1]) // PARTS, FEWEST, MOST)))


@dataclass(frozen=True)
class KeptLoss:
    """A loss whose parts are in files.

    Attributes
    ----------
    names : tuple of str
        Of its parts, in order.
    edges : int64 [sentences + 1]
        Offsets of all its sentences' edges.
    """

    names: tuple[str, ...]
    edges: np.ndarray


@dataclass(frozen=True)
class KeptArray:
    """An array that is in files, part after part.

    Attributes
    ----------
    store : Store
    names : tuple of str
    key : str
    shape : tuple of int
    dtype : np.dtype
    """

    store: Store
    names: tuple[str, ...]
    key: str
    shape: tuple[int, ...]
    dtype: np.dtype

    def pieces(self) -> Iterable[np.ndarray]:
        """Yield its parts."""
        return (self.store.read(name, self.key)[0] for name in self.names)


def keep_loss(store: Store, name: str, loss: training.Loss) -> None:
    """Write a part of a loss."""
    arrays, facts = {}, {}
    for field in fields(loss):  # type: ignore[arg-type]
        value = getattr(loss, field.name)
        if isinstance(value, EncodedSentences):
            arrays["offsets"], arrays["layers"] = value.offsets, value.layers
        elif isinstance(value, np.ndarray):
            arrays[field.name] = value
        else:
            facts[field.name] = asdict(value) if isinstance(value, TreeConstraints) else value
    store.write(name, {"loss": type(loss).__name__, "settings": facts}, **arrays)


def read_sentences(store: Store, name: str) -> EncodedSentences:
    """Return the sentences of a part."""
    return EncodedSentences(*store.read(name, "offsets", "layers"))


def _read_loss(store, name):
    about, arrays = store.about(name), store.read_all(name)
    sentences = EncodedSentences(arrays.pop("offsets"), arrays.pop("layers"))
    settings = about["settings"]
    settings["trees"] = TreeConstraints(**settings["trees"])
    return _LOSSES[about["loss"]](sentences=sentences, **arrays, **settings)


@functools.lru_cache(maxsize=1)
def read_weights(folder: str, name: str) -> np.ndarray:
    """Return the weights of a name; a worker's next job mostly has the same."""
    return Store(folder).mapped(name, "weights")[0]


def _count_features(store, trial, names, job, pool):
    """Write how many weights of a trial space each of some templates uses."""
    number, templates = job
    filled = [np.zeros(1 << trial.bits[t]) for t in templates]
    _through(store, trial, names, templates, filled, pool)
    store.write(f"features.{number}", counts=np.array([np.count_nonzero(own) for own in filled]))


def _find_used(store, space, names, job, pool):
    """Write which weights of some templates any edge has."""
    number, templates = job
    counts = [np.zeros(1 << space.bits[t]) for t in templates]
    _through(store, space, names, templates, counts, pool)
    store.write(f"used.{number}", **{str(t): own > 0 for t, own in zip(templates, counts, strict=True)})


def _through(store, space, names, templates, totals, pool, slopes=None):
    """Add the derivatives of all parts' edges, or 1 for each, to the weights of some templates."""
    for name in names:
        sentences = read_sentences(store, name)
        values = np.ones(int(sentences.edges[-1])) if slopes is None else slopes(name)

        def add(k, sentences=sentences, values=values):
            space.add_template(templates[k], sentences, values, totals[k])

        pool.map(add, range(len(templates)))


def _differentiate(store, space, turn, name, pool):
    """Write a part's values and derivatives under the weights of an evaluation."""
    loss = _read_loss(store, name)
    scores = space.scores(read_weights(store.folder, f"weights.{turn}"), loss.sentences, pool)
    values, slopes = loss.value(scores, pool)
    store.write(f"slopes.{turn}.{name}", values=values, slopes=slopes)


def _add_up(store, space, names, turn, job, pool):
    """Write the gradient of some templates."""
    number, templates = job
    gradient = [np.zeros(1 << space.bits[t]) for t in templates]
    slopes = lambda name: store.mapped(f"slopes.{turn}.{name}", "slopes")[0]  # noqa: E731
    _through(store, space, names, templates, gradient, pool, slopes)
    store.write(f"gradient.{turn}.{number}", **{str(t): own for t, own in zip(templates, gradient, strict=True)})


class InParts:
    """Keeps sentences in a folder and learns from them by an engine's jobs; what `training.InMemory` does otherwise.

    Parameters
    ----------
    store : Store
        An empty folder that all workers see.
    engine : Engine
    pool : Pool
        Of this process, where L-BFGS runs.
    """

    def __init__(self, store: Store, engine: Engine, pool: Pool) -> None:
        self.store, self.pool, self._engine = store, pool, engine
        self.numbers = itertools.count()

    def run(self, stage: str, function: Callable[..., None], jobs: Sequence[Any]) -> None:
        """Run a stage's jobs."""
        self._engine.run(stage, function, jobs, lambda: None)

    def by_template(self, stage: str, function: Callable[..., None], space: FeatureSpace) -> list[tuple[int, list]]:
        """Run a stage whose jobs are numbered groups of templates; return these."""
        jobs = list(enumerate(_groups(space, 1 if self._engine.workers == 1 else 2 * self._engine.workers)))
        self.run(stage, function, jobs)
        return jobs

    def new_names(self, kind: str, count: int) -> tuple[str, ...]:
        """Return names for so many files."""
        number = next(self.numbers)
        return tuple(f"{kind}.{number}.{part}" for part in range(count))

    def fitted(self, templates: Sequence[str], sentences: EncodedSentences, bits: int) -> FeatureSpace:
        """Do what `FeatureSpace.fitted` does."""
        cuts = cuts_of(sentences.edges)
        names = self.new_names("sentences", len(cuts))
        for name, cut in zip(names, cuts, strict=True):
            part = sentences.part(*cut)
            self.store.write(name, offsets=part.offsets, layers=part.layers)
        trial = FeatureSpace.trial(templates, bits)
        jobs = self.by_template("features", functools.partial(_count_features, self.store, trial, names), trial)
        filled = np.zeros(len(trial.templates), np.int64)
        for number, group in jobs:
            filled[group] = self.store.read(f"features.{number}", "counts")[0]
            self.store.remove(f"features.{number}")
        self.store.remove(*names)
        return trial.cut(filled.tolist())

    def kept(self, loss: "training.Loss | KeptLoss") -> KeptLoss:
        """Write a loss to files, part by part, where it is not in such."""
        if isinstance(loss, KeptLoss):
            return loss
        edges = loss.sentences.edges
        cuts = cuts_of(edges)
        names = self.new_names("loss", len(cuts))
        for name, cut in zip(names, cuts, strict=True):
            keep_loss(self.store, name, loss.part(*cut))
        return KeptLoss(names, edges)

    def objective(self, space: FeatureSpace, losses: Sequence[Any], l2: float) -> training.Evaluated:
        """Return losses, L2 and the features as a function of the weights."""
        return PartedObjective(self, space, [self.kept(loss) for loss in losses], l2)


def _groups(space, most):
    """Deal templates out to groups that cost about the same."""
    costs = np.where(space.between >= 0, BETWEEN, 1)
    groups: list[list[int]] = [[] for _ in range(min(most, len(costs)))]
    totals = np.zeros(len(groups))
    for t in np.argsort(-costs, kind="stable").tolist():
        place = int(np.argmin(totals))
        groups[place].append(t)
        totals[place] += costs[t]
    return groups


class PartedObjective:
    """Does what `training.Objective` does, by jobs over the files of its losses."""

    def __init__(self, place: InParts, space: FeatureSpace, losses: Sequence[KeptLoss], l2: float) -> None:
        self.space, self.l2 = space, l2
        self.pool: Pool | None = place.pool
        self.evaluations = 0
        self._place, self._losses, self._turns = place, losses, place.numbers
        self._names = [name for loss in losses for name in loss.names]

    def active(self) -> np.ndarray:
        """Return the weights that the sentences' features have, ascending; the others are best at 0."""
        store, used = self._place.store, np.zeros(self.space.size, bool)
        jobs = self._place.by_template(
            "weights in use", functools.partial(_find_used, store, self.space, self._names), self.space
        )
        self._collect("used", jobs, used)
        return np.flatnonzero(used)

    def _collect(self, name, jobs, into):
        """Read what jobs by template have left; remove it."""
        for number, group in jobs:
            own = f"{name}.{number}"
            for t, values in zip(group, self._place.store.mapped(own, *map(str, group)), strict=True):
                into[slice(*self.space.regions[t])] = values
            self._place.store.remove(own)

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient [shape=(space.size,)]."""
        store, turn = self._place.store, next(self._turns)
        store.write(f"weights.{turn}", weights=weights)
        self._place.run("losses", functools.partial(_differentiate, store, self.space, turn), self._names)
        total = 0.0
        for loss in self._losses:
            values = [store.read(f"slopes.{turn}.{name}", "values")[0] for name in loss.names]
            together = np.concatenate([np.zeros(0), *values])
            for begin, end in training.runs_of_edges(loss.edges, training.CHUNK):
                total += float(np.add.reduce(together[begin:end]))
        gradient = np.empty(self.space.size)
        add_up = functools.partial(_add_up, store, self.space, self._names, turn)
        jobs = self._place.by_template("gradient", add_up, self.space)
        self._collect(f"gradient.{turn}", jobs, gradient)
        read_weights.cache_clear()
        store.remove(f"weights.{turn}", *(f"slopes.{turn}.{name}" for name in self._names))
        self.evaluations += 1
        return training.with_penalty(total, gradient, weights, self.l2)
