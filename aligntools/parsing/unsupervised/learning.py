"""Learning the dependency model with valence from tags alone, by EM or variational Bayes."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from aligntools.formats.models.modelfile import hold, write_model
from aligntools.ground.dirichlet import expected, normalized
from aligntools.ground.parallel import Pool
from aligntools.parsing.learning.checkpoints import KIND, Checkpoint, damaged, fingerprint
from aligntools.parsing.unsupervised.settings import InducedParserSettings
from aligntools.parsing.unsupervised.valence import Valence, ValenceCounts, expected_counts, harmonic


class Maximization:
    """EM; a prior is added to the counts, and its logarithm to the objective."""

    def __init__(self, prior: float) -> None:
        self.prior = prior

    def update(self, counts: ValenceCounts) -> None:
        """Take expected counts."""
        self.weights = self.model = Valence.of_rows(*(normalized(c + self.prior) for c in counts.events().rows()))

    def objective(self, log_likelihood: float) -> float:
        """Return the log-likelihood, and the logarithm of the prior up to a constant."""
        if not self.prior:
            return log_likelihood
        return log_likelihood + self.prior * sum(float(np.log(p).sum()) for p in self.weights.rows())


class Variational:
    """Variational Bayes (Kurihara & Sato 2004; Johnson et al. 2007): a Dirichlet posterior for every distribution.

    The weights of a pass are ``exp E[log p]``; the objective is the lower bound on the log evidence.
    """

    def __init__(self, prior: float) -> None:
        self.prior = prior

    def update(self, counts: ValenceCounts) -> None:
        """Take expected counts."""
        rows = [c + self.prior for c in counts.events().rows()]
        weights, self.divergence = expected(rows, [self.prior] * len(rows))
        self.weights = Valence.of_rows(*weights)
        self.model = Valence.of_rows(*map(normalized, rows))

    def objective(self, log_likelihood: float) -> float:
        """Return the bound, of the log-likelihood under the weights."""
        return log_likelihood - self.divergence


@dataclass(frozen=True)
class ValenceFit:
    """What learning did.

    values: The objective of the parameters of each step, the first from the start; the model is one update further.
    message: Why it ended.
    """

    model: Valence
    values: list[float]
    message: str


def learn(
    tags: np.ndarray,
    offsets: np.ndarray,
    n_tags: int,
    settings: InducedParserSettings,
    pool: Pool | None = None,
    report: Callable[[int, float], None] | None = None,
    checkpoint: Checkpoint | None = None,
) -> ValenceFit:
    """Learn the model.

    tags (int32 [words]).
    offsets (int64 [sentences + 1]): From 0.
    report: Called with the number of each step, from 0, and its objective.
    checkpoint: Keeps the state, and continues from the one that it has.
    Raises ModelError when the checkpoint's state is of another training.
    """
    learner = (Maximization if settings.estimator == "em" else Variational)(settings.prior)
    counts, values = harmonic(tags, offsets, n_tags, settings.decay), list[float]()
    state = None
    if checkpoint is not None:
        state = _State(checkpoint, fingerprint(settings.header(), tags, offsets))
        counts, values = state.read(counts)
    while not (message := _finished(values, settings)):
        learner.update(counts)
        counts, log_z = expected_counts(learner.weights, tags, offsets, pool)
        values.append(learner.objective(float(log_z[np.isfinite(log_z)].sum())))
        if report is not None:
            report(len(values) - 1, values[-1])
        if state is not None:
            state.write(counts, values)
    learner.update(counts)
    return ValenceFit(learner.model, values, message)


def _finished(values: list[float], settings: InducedParserSettings) -> str:
    """Return why learning is at its end, if it is."""
    last = values[-3:]
    if len(last) == 3 and all(b - a <= settings.tolerance * abs(b) for a, b in pairwise(last)):
        return "converged"
    return "most iterations" if len(values) > settings.iterations else ""


class _State:
    """The state of learning in a checkpoint: expected counts, and the objective so far."""

    def __init__(self, checkpoint: Checkpoint, own: str) -> None:
        self.own = own
        self.path, self.kept = checkpoint.kept("induce", own)

    def read(self, start: ValenceCounts) -> tuple[ValenceCounts, list[float]]:
        """Return what was kept, or the start."""
        if self.kept is None:
            return start, []
        arrays = self.kept[1]
        try:
            values = hold(arrays, "values", (len(arrays["values"]),), np.float64).tolist()
            found = {f.name: hold(arrays, f.name, getattr(start, f.name).shape, np.float64, 0) for f in fields(start)}
        except (KeyError, ValueError, TypeError) as error:
            raise damaged(self.path, error) from None
        return ValenceCounts(**found), values

    def write(self, counts: ValenceCounts, values: list[float]) -> None:
        """Keep a state."""
        arrays = {f.name: getattr(counts, f.name) for f in fields(counts)} | {"values": np.array(values)}
        write_model(self.path, KIND, {"fingerprint": self.own}, arrays)
