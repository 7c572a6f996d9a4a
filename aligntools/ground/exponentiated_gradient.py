"""Exponentiated gradient with adaptive rates (Kivinen & Warmuth 1997; Bagos et al. 2004), for many distributions.

A parameter ``p`` of a distribution moves to ``p exp(rate * dL/dp / N)``, normalized; ``N`` is the expected number of
times that the distribution was used, which makes a rate of 1 about as bold as a step of EM. A distribution's rate grows
while its steps agree and is halved where they turn; after a step that lowers the objective all rates are halved.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: Rates grow by this while steps agree, up to the limit; a parameter changes at most by a factor of ``exp(STEP)``.
GROWTH, RATE_LIMIT, STEP = 1.2, 8.0, 2.0
#: How often a step is halved before the climb is over.
HALVINGS = 12


@dataclass
class Family:
    """Distributions of one kind: their parameters as one flat array; ``groups`` (int [n]) has the distribution of each.

    before (float64 [n] or None): Exponents of the last step that was kept.
    """

    groups: np.ndarray
    rates: np.ndarray
    before: np.ndarray | None = None

    @classmethod
    def of_rows(cls, shape: tuple[int, int], rate: float = 1.0) -> "Family":
        """Take the rows of a matrix as distributions."""
        rows, columns = shape
        return cls(np.repeat(np.arange(rows), columns), np.full(rows, float(rate)))

    def directions(self, p: np.ndarray, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Return the exponents at rate 1.

        p (float64 [n]).
        counts (float64 [n]): ``p dL/dp``: for a likelihood, expected counts.
        totals (float64 [n_groups]): ``N``; a distribution that was never used (0) stays as it is.
        """
        slopes = np.divide(counts, p, out=np.zeros(len(p)), where=p > 0)
        mean = np.bincount(self.groups, counts, len(self.rates))  # sum of p * slope: moves along it change nothing
        used = np.divide(1.0, totals, out=np.zeros(len(totals)), where=totals > 0)
        return np.asarray((slopes - mean[self.groups]) * used[self.groups])

    def adapt(self, p: np.ndarray, directions: np.ndarray) -> None:
        """Let rates grow where the direction agrees with the step before, shrink where it turned."""
        if self.before is not None:
            agreement = np.bincount(self.groups, p * directions * self.before, len(self.rates))
            self.rates = np.where(agreement > 0, np.minimum(self.rates * GROWTH, RATE_LIMIT), self.rates)
            self.rates = np.where(agreement < 0, self.rates / 2, self.rates)

    def step(self, p: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the parameters one step on, and the exponents of the step."""
        exponents = np.clip(self.rates[self.groups] * directions, -STEP, STEP)
        moved = p * np.exp(exponents)
        sums = np.bincount(self.groups, moved, len(self.rates))
        before = np.bincount(self.groups, p, len(self.rates))
        scale = np.divide(before, sums, out=np.ones(len(sums)), where=sums > 0)
        return moved * scale[self.groups], exponents


def climb(
    evaluate: Callable[[list[np.ndarray]], tuple[float, list[tuple[np.ndarray, np.ndarray]]]],
    parameters: list[np.ndarray],
    families: list[Family],
    iterations: int,
    tolerance: float = 0.0,
    report: Callable[[int, float], object] | None = None,
) -> tuple[list[np.ndarray], list[float]]:
    """Maximize an objective over several families of distributions.

    evaluate: Takes a list of parameter arrays; returns the objective and, for each family, ``(counts, totals)`` as
        `Family.directions` takes them.
    tolerance: Stop when a step gains less than this, relative to the objective.
    report: Called with (iteration, objective); iteration 0 is the start.
    Returns objectives: Of the start and after each step; it never falls.
    """
    report = report or (lambda *_: None)
    objective, gradients = evaluate(parameters)
    objectives = [objective]
    report(0, objective)
    for iteration in range(1, iterations + 1):
        ways = [f.directions(p, *g) for f, p, g in zip(families, parameters, gradients, strict=True)]
        for f, p, way in zip(families, parameters, ways, strict=True):
            f.adapt(p, way)
        for _ in range(HALVINGS):
            steps = [f.step(p, way) for f, p, way in zip(families, parameters, ways, strict=True)]
            reached, found = evaluate([moved for moved, _ in steps])
            if reached >= objective:
                break
            for f in families:
                f.rates = f.rates / 2
        else:
            break
        gain = reached - objective
        parameters, objective, gradients = [moved for moved, _ in steps], reached, found
        for f, (_, exponents) in zip(families, steps, strict=True):
            f.before = exponents
        objectives.append(objective)
        report(iteration, objective)
        if gain <= tolerance * abs(objective):
            break
    return parameters, objectives
