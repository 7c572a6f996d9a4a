"""Learning weights by L-BFGS: an objective is a sum of losses over sentences' edge scores, and L2.

Supervised and transferred parsers differ only in what a sentence's scores are compared with: a tree, expected edges
of another distribution, or their own entropy. Each of these is a `Loss`: scores in, one value a
sentence and the derivative for every edge out. The objective scores all edges from the weights, asks the losses, and
sends the derivatives back through the features, a chunk of sentences at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from aligntools.ground import kernels_vectors, lbfgs
from aligntools.ground.parallel import Pool
from aligntools.parsing.feature_space import EncodedSentences, FeatureSpace
from aligntools.parsing.settings import TreeConstraints
from aligntools.parsing.trees import inference

#: Edges that are scored at a time; each takes some 40 bytes.
CHUNK = 4_000_000


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


class ParserObjective:
    """Losses, L2 and the feature space as one function of the weights; of sentences in files `parts.PartedObjective`.

    l2: The objective has ``l2 / 2`` times the squared length of the weights.
    """

    def __init__(self, space: FeatureSpace, losses: Sequence[Loss], l2: float, pool: Pool | None = None) -> None:
        self.space, self.l2, self.pool = space, l2, pool
        self.chunks = [part for loss in losses for part in _chunks(loss)]

    def active(self) -> np.ndarray:
        """Return the weights that the sentences' features have, ascending; the others are best at 0."""
        used = np.zeros(self.space.size, bool)
        for loss in self.chunks:
            used |= self.space.used(loss.sentences, self.pool)
        return np.flatnonzero(used)

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient [shape=(space.size,)]."""
        gradient = np.zeros(self.space.size)
        total = 0.0
        for loss in self.chunks:
            scores = self.space.scores(weights, loss.sentences, self.pool)
            values, slopes = loss.value(scores, self.pool)
            del scores
            total += float(np.add.reduce(values))
            self.space.add_gradient(slopes, loss.sentences, gradient, self.pool)
        return with_penalty(total, gradient, weights, self.l2)


def with_penalty(total: float, gradient: np.ndarray, weights: np.ndarray, l2: float) -> tuple[float, np.ndarray]:
    """Return a value and a gradient with L2 in them; the gradient is changed."""
    total += 0.5 * l2 * kernels_vectors.add_scaled(weights, l2, gradient)
    return total, gradient


def runs_of_edges(edges: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Cut sentences into runs of a limited number of edges, or one sentence; ``edges`` [sentences + 1] as offsets."""
    runs, begin, sentences = [], 0, len(edges) - 1
    while begin < sentences:
        end = int(np.searchsorted(edges, edges[begin] + most, side="right")) - 1
        end = min(max(end, begin + 1), sentences)
        runs.append((begin, end))
        begin = end
    return runs


def _chunks(loss: Loss) -> Iterator[Loss]:
    for begin, end in runs_of_edges(loss.sentences.edges, CHUNK):
        yield loss if end - begin == len(loss.sentences) else loss.part(begin, end)


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
    """Minimize an objective by L-BFGS.

    start (float64 [space.size] or lbfgs.LbfgsState): Default zeros. Weights of features that no sentence has stay as
        they are, and do not count. A state that ``checkpoint`` received continues to the same result as an
        uninterrupted training.
    tolerance: Ends when two steps in a row lower the objective by less than this share.
    progress: Called with the number of the step, the objective and the weights (to be copied if kept), after each step.
    checkpoint: Called with the state after each step; to be saved or copied at once.
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
