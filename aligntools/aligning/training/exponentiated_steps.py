"""Steps of exponentiated gradient with adaptive rates, for tables of millions of numbers and for a single number.

The rules are those of `aligntools.ground.exponentiated_gradient`. To save memory numbers are float32, four for each
entry and direction: a table has tens of millions of entries.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models.diagonal_series import TENSION_RANGE
from aligntools.aligning.training import kernels_reconstruction as km
from aligntools.formats.text.corpus import Side
from aligntools.ground.exponentiated_gradient import GROWTH, HALVINGS, RATE_LIMIT, STEP

#: Least probability of a pair of words.
LEAST = 1e-12
#: Limit of the tension's exponent in a step.
TENSION_STEP = 0.2

_NONE = np.zeros(0, np.float32)
_NO_IDS = np.zeros(0, np.int32)


class DistributionFamily:
    """Distributions of one kind: as they are (``p``), and after the step that is tried (``tried``).

    ptr, ids (int64, int32 [n]): They are rows ``ptr[v]..ptr[v + 1]``; or what has the same id, of ``n_groups``.
    rate: Of each distribution in the beginning; with 0 they do not change.
    """

    def __init__(
        self, values: np.ndarray, ptr: np.ndarray, rate: float, ids: np.ndarray | None = None, n_groups: int = 0
    ) -> None:
        self.p = np.array(values, np.float32, order="C")
        self.place = ptr, _NO_IDS if ids is None else ids, ids is not None
        n = len(ptr) - 1 if ids is None else n_groups
        self.rates = np.full(n, float(rate))
        self.moves = rate > 0
        self.sums = np.zeros((2, n))
        self.totals = np.zeros(n)
        self.tried = self.p
        self.ways: np.ndarray | None = None
        self.gradient = np.zeros_like(self.p) if self.moves else _NONE

    def propose(self) -> None:
        """Try a step."""
        if self.moves:
            if self.tried is self.p:
                self.tried = self.p.copy()  # with what lies in no distribution
            km.move(*self.place, self.p, self.ways, self.rates, STEP, LEAST, self.sums, self.tried)

    def accept(self) -> None:
        """Keep the step, with the gradient found after it; rates grow where it agrees with the step."""
        if not self.moves:
            return
        self.p, self.tried = self.tried, self.p
        km.slopes(*self.place, self.p, self.gradient, self.totals, self.sums[0])
        if self.ways is None:
            self.ways = np.empty_like(self.p)
        else:
            agreement = self.sums[0]
            km.agreement(*self.place, self.p, self.gradient, self.ways, self.rates, STEP, agreement)
            self.rates = np.where(agreement > 0, np.minimum(self.rates * GROWTH, RATE_LIMIT), self.rates)
            self.rates = np.where(agreement < 0, self.rates / 2, self.rates)
        self.ways, self.gradient = self.gradient, self.ways

    def halve(self) -> None:
        """Take smaller steps from here."""
        self.rates /= 2


class Tension:
    """The diagonal's tension, a single positive number, climbed by the same rules."""

    def __init__(self, value: float, rate: float) -> None:
        self.p = self.tried = float(value)
        self.rate, self.way, self.slope, self.total = rate, 0.0, 0.0, 1.0

    def _exponent(self) -> float:
        return min(max(self.rate * self.way, -TENSION_STEP), TENSION_STEP)

    def propose(self) -> None:
        """Try a step."""
        if self.p > 0 and self.rate > 0:
            low, high = TENSION_RANGE
            self.tried = min(max(self.p * float(np.exp(self._exponent())), low), high)

    def accept(self) -> None:
        """Keep the step; the rate grows if the slope agrees with it."""
        self.p = self.tried
        way = self.slope * self.p / max(self.total, 1.0)
        agreement = way * self._exponent()
        self.rate = min(self.rate * GROWTH, RATE_LIMIT) if agreement > 0 else self.rate / (2 if agreement < 0 else 1)
        self.way = way

    def halve(self) -> None:
        """Take smaller steps from here."""
        self.rate /= 2


@dataclass
class DirectionClimb:
    """One direction's model on its climb, after the last step that was kept, and how often it was halved since then.

    families: What moves: the words' distributions, that of NULL, and what is trained of positions.
    words (float64 [n_observed_words]): How often each occurs.
    word_shares (float64 [n_given_words]): See `kernels_reconstruction.smooth`.
    """

    forward: bool
    given: Side
    observed: Side
    p_null: float
    lexicon: DistributionFamily
    null: DistributionFamily
    families: list[DistributionFamily | Tension]
    words: np.ndarray
    word_shares: np.ndarray
    objective: float = -np.inf
    reconstruction: float = -np.inf
    log_likelihood: float = 0.0
    halvings: int = 0

    @property
    def way(self) -> int:
        """0 forward, 1 reverse."""
        return 0 if self.forward else 1

    @property
    def done(self) -> bool:
        """No smaller step helps."""
        return self.halvings > HALVINGS

    def propose(self) -> None:
        """Try a step of every family."""
        for family in self.families:
            family.propose()

    def judge(self, objective: float, reconstruction: float, log_likelihood: float) -> None:
        """Keep the step that was tried, or take it back and halve it."""
        if objective >= self.objective:
            for family in self.families:
                family.accept()
            self.objective, self.reconstruction, self.log_likelihood = objective, reconstruction, log_likelihood
            self.halvings = 0
        else:
            for family in self.families:
                family.halve()
            self.halvings += 1
