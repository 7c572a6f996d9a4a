"""Objectives of tuning: expected loss and conditional likelihood, as functions of the weights.

Equation numbers are those of Li, Wang, Eisner & Khudanpur 2011. A derivation d of sentence x has the probability
p(d|x) = exp(gamma weights . f(d)) / Z(x) (equations 10 and 11). The objective is the mean over the sentences of the
expected loss (equation 8; the probabilities of imputed x are the sentences' shares), plus l2 / 2 times the squared
length of the weights (the footnote on equation 2).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from aligntools.ground import lbfgs
from aligntools.ground.parallel import Pool
from aligntools.translating.forest import semirings
from aligntools.translating.forest.hypergraph import Hypergraph, edge_scores
from aligntools.translating.tuning.linear_bleu import LENGTH, MATCHES, REFERENCE, TOTALS


@dataclass(eq=False)
class Examples:
    """Derivations of sentences with what they cost.

    shares (float64 [sentences]): 1, or the probability of an imputed sentence times what a sentence of its kind counts.
    statistics (float32 [edges, 8 or 10] or None): For the loss of the corpus: `linear_bleu.edge_statistics` or
        `linear_bleu.candidate_statistics`.
    reference_length: Without the reference's column, the length of all references together, each times its sentence's
        weight.
    """

    hypergraph: Hypergraph  # Of all derivations, or of candidates
    shares: np.ndarray
    losses: np.ndarray | None = None  # float64 [edges] or None: Of each edge, their sum being the derivation's
    statistics: np.ndarray | None = None
    reference_length: float = 0.0


def with_frozen(weights: np.ndarray, frozen: Mapping[int, float], gamma: float) -> np.ndarray:
    """Return the weights with the frozen ones, given times gamma, as they are."""
    out = np.array(weights, np.float64)
    for feature, value in frozen.items():
        out[feature] = value / gamma
    return out


def bleu_loss(totals: np.ndarray) -> tuple[float, np.ndarray]:
    """Return 1 - BLEU of (expected) statistics [10] and its gradient [10].

    One is added to counts of two words and more. With expected statistics this is the objective of Pauls, DeNero &
    Klein 2009: unlike an expected loss of sentences it is the corpus' BLEU, its brevity penalty included.
    """
    one = np.array([1e-9, 1.0, 1.0, 1.0])
    matches, counts = totals[MATCHES] + one, np.maximum(totals[TOTALS], 0) + one
    length, reference = max(totals[LENGTH], 1e-9), totals[REFERENCE]
    short = reference > length
    log = float(np.mean(np.log(matches) - np.log(counts))) + (1.0 - reference / length if short else 0.0)
    value = float(np.exp(log))
    gradient = np.zeros(10)
    gradient[MATCHES], gradient[TOTALS] = 0.25 / matches, -0.25 / counts
    if short:
        gradient[LENGTH] += reference / length**2
        gradient[REFERENCE] -= 1.0 / length
    return 1.0 - value, -value * gradient


@dataclass(eq=False)
class Objective(ABC):
    """A function of the weights, to be minimized.

    l2: 1 / sigma^2.
    frozen: Features that are part of the score but not learned, and gamma times their weight.
    center (float64 [features]): The L2 term is of the distance from it; from 0 if not given, as in the paper.
    """

    parts: Sequence[Any]
    features: int  # How many there are
    gamma: float = 1.0  # Sharpness of p(d|x)
    l2: float = 0.0
    frozen: Mapping[int, float] = field(default_factory=dict)
    center: np.ndarray | None = None
    pool: Pool | None = None

    @abstractmethod
    def at(self, point: np.ndarray, gradient: np.ndarray) -> float:
        """Return the value without the L2 term at weights, and add its slopes to the gradient [features]."""

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value and the gradient [features]."""
        gradient = np.zeros(self.features)
        value = self.at(with_frozen(weights, self.frozen, self.gamma), gradient)
        learned = np.array(weights, np.float64) - (0.0 if self.center is None else self.center)
        for feature in self.frozen:
            learned[feature] = gradient[feature] = 0.0
        return value + 0.5 * self.l2 * float(np.add.reduce(np.square(learned))), gradient + self.l2 * learned

    def _inside(self, h: Hypergraph, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what `semirings.inside` does, and the log of each sentence's sum."""
        beta, conditional = semirings.inside(h, scores, self.pool)
        return beta, conditional, semirings.log_partition(h, beta)

    def _slopes(self, h: Hypergraph, beta: np.ndarray, conditional: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the gradient [features] of the sum of the sentences' logs, each times its share."""
        posterior = semirings.posteriors(h, beta, conditional, shares, self.pool)
        return self.gamma * semirings.feature_sums(h, posterior, self.features, self.pool)


@dataclass(eq=False)
class Risk(Objective):
    """Expected loss.

    parts: All with losses, or all with statistics: then the loss is `bleu_loss` of the expected statistics of all
        parts.
    temperature: The mean entropy, times this, is subtracted (deterministic annealing: Smith & Eisner 2006).
    """

    parts: Sequence[Examples]
    temperature: float = 0.0

    def __post_init__(self) -> None:
        self.total = sum(float(np.sum(p.shares[p.hypergraph.roots >= 0])) for p in self.parts) or 1.0

    def at(self, point: np.ndarray, gradient: np.ndarray) -> float:
        """Return the value without the L2 term; see `Objective.at`."""
        made = []
        for part in self.parts:
            h = part.hypergraph
            beta, conditional = semirings.inside(h, edge_scores(h, point, self.gamma, pool=self.pool), self.pool)
            made.append((conditional, semirings.posteriors(h, beta, conditional, part.shares, self.pool)))
        # what of the value is known, and what each edge adds to it, to first order
        value, rewards = 0.0, [part.losses / self.total for part in self.parts if part.losses is not None]
        if len(rewards) < len(self.parts):
            totals = np.zeros(10)
            counted = [(part.hypergraph, part.statistics) for part in self.parts if part.statistics is not None]
            for part, (h, statistics), (_, posterior) in zip(self.parts, counted, made, strict=True):
                counts = semirings.row_sums(h, statistics, posterior, self.pool)
                totals[: len(counts)] += counts
                totals[REFERENCE] += part.reference_length
            value, slopes = bleu_loss(totals)
            rewards = [semirings.row_products(h, of, slopes[: of.shape[1]], self.pool) for h, of in counted]
        for part, (conditional, posterior), reward in zip(self.parts, made, rewards, strict=True):
            h = part.hypergraph
            expected, slopes = semirings.expectations(h, conditional, posterior, reward, self.pool)
            if part.losses is not None:
                value += float(np.add.reduce(part.shares * expected))
            if self.temperature:
                factor = -self.temperature / self.total
                reward = semirings.surprisals(h, conditional, factor, pool=self.pool)
                expected, others = semirings.expectations(h, conditional, posterior, reward, self.pool)
                value += float(np.add.reduce(part.shares * expected))
                slopes += others
            gradient += self.gamma * semirings.feature_sums(h, slopes, self.features, self.pool)
        return value


@dataclass(eq=False)
class Likelihood(Objective):
    """Minus the mean log-probability of the right derivations (equation 5).

    parts: ``losses`` are 0 where a candidate is right and not 0 where it is not: one node a sentence. Sentences without
        a right candidate count for nothing.
    """

    def __post_init__(self) -> None:
        given, self.parts = self.parts, []
        for part in given:
            right = part.losses == 0
            h, some = part.hypergraph, np.zeros(len(part.shares))
            heads = np.repeat(np.arange(h.nodes), np.diff(h.edge_offsets))
            some[h.roots >= 0] = np.bincount(heads[right], minlength=h.nodes)[h.roots[h.roots >= 0]] > 0
            self.parts.append((h, part.shares * some, right))
        self.total = sum(float(np.sum(shares)) for _, shares, _ in self.parts) or 1.0

    def at(self, point: np.ndarray, gradient: np.ndarray) -> float:
        """Return the value without the L2 term; see `Objective.at`."""
        value = 0.0
        for h, shares, right in self.parts:
            scores = edge_scores(h, point, self.gamma, pool=self.pool)
            for sign, of in ((1.0, scores), (-1.0, np.where(right, scores, -np.inf))):
                beta, conditional, log_z = self._inside(h, of)
                value += sign * float(np.add.reduce(shares[shares > 0] * log_z[shares > 0])) / self.total
                gradient += self._slopes(h, beta, conditional, sign * shares / self.total)
        return value


#: What sentences can become, all derivations of the references, those of the former that yield references, and shares
#: as in `Examples`.
Referred: TypeAlias = tuple[Hypergraph, Hypergraph, Hypergraph, np.ndarray]


@dataclass(eq=False)
class ReferenceLikelihood(Objective):
    """Minus the mean log-probability of the references, over all their derivations (equation 5).

    p(y|x) is the sum over the derivations of y, over the sum over these and all others of the forest. Sentences whose
    references have no derivation count for nothing.
    """

    parts: Sequence[Referred]

    def __post_init__(self) -> None:
        self.shares = [np.where(references.roots >= 0, shares, 0.0) for _, references, _, shares in self.parts]
        self.total = sum(float(np.sum(shares)) for shares in self.shares) or 1.0

    def at(self, point: np.ndarray, gradient: np.ndarray) -> float:
        """Return the value without the L2 term; see `Objective.at`."""
        value = 0.0
        for (forest, references, both, _), every in zip(self.parts, self.shares, strict=True):
            some, graphs = every > 0, (forest, both, references)
            made = [self._inside(h, edge_scores(h, point, self.gamma, pool=self.pool)) for h in graphs]
            logs = np.array([log_z for *_, log_z in made])[:, some]
            high = logs.max(axis=0, initial=-np.inf)
            masses = np.exp(logs - high) * np.array([[1.0], [-1.0], [1.0]])
            whole = masses.sum(axis=0)
            shares = every[some] / self.total
            value += float(np.add.reduce(shares * (high + np.log(whole) - logs[2])))
            factors = masses / whole
            factors[2] -= 1.0
            for h, (beta, conditional, _), factor in zip(graphs, made, factors, strict=True):
                signed = np.zeros(len(h))
                signed[some] = shares * factor
                gradient += self._slopes(h, beta, conditional, signed)
        return value


def schedule(gamma: float, quench: float | None = None) -> list[float]:
    """Return the gammas to minimize with, one after another: ``gamma`` alone, or growing to ``quench``."""
    out = [float(gamma)]
    while quench is not None and out[-1] < quench:
        out.append(min(2 * out[-1], float(quench)))
    return out


def minimize(
    objective: Objective,
    start: npt.ArrayLike,
    gammas: Iterable[float] = (1.0,),
    iterations: int = 100,
    tolerance: float = 1e-6,
    pool: Pool | None = None,
) -> tuple[np.ndarray, float]:
    """Minimize an objective by L-BFGS, for each gamma in turn, each from where the one before ended.

    Returns weights (float64 [features]).
    Returns value: Of the objective with the last gamma.
    """
    weights, value = np.array(start, np.float64), float("nan")
    for gamma in gammas:
        objective.gamma = gamma
        found = lbfgs.minimize(objective, weights, iterations, tolerance, pool=pool)
        weights, value = found.state.x, found.state.value
    return weights, value
