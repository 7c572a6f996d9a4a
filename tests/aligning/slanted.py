"""Models as contributing.md says how to add one, in NumPy alone: IBM 1 with a distortion by position, fixed or learned.

Nothing outside this module knows of them; the tests register them and take them back.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models.base import LexicalModel, Stage
from aligntools.aligning.models.registry import ModelKind
from aligntools.formats.models.modelfile import hold
from aligntools.viewing.models import Columns

#: How fast probabilities fall with the distance of relative positions, and how many distances are told apart.
STEEPNESS, DISTANCES = 3.0, 6


def prior(n_given, n_observed):
    """Return the probability of each given position for each observed one, [given, observed]; columns sum to 1."""
    p = np.exp(-STEEPNESS * distances(n_given, n_observed))
    return p / p.sum(0)


def distances(n_given, n_observed):
    """Return how far relative positions are from each other, below 1, [given, observed]."""
    given, observed = (np.arange(n_given) + 0.5) / n_given, (np.arange(n_observed) + 0.5) / n_observed
    return np.abs(given[:, None] - observed)


@dataclass(frozen=True, eq=False, kw_only=True)
class Slanted(LexicalModel):
    """IBM 1 that prefers words at the same relative position."""

    def posteriors(self, text, chunk, both, directions, pool, logs):
        """Turn link matrices into posteriors; see `LexicalModel.posteriors`."""
        inverses, nulls = (self.lexicon.s_inverse, self.lexicon.t_inverse), (self.t_null, self.s_null)
        for k in range(chunk.k0, chunk.k1):
            sides = [side.tokens[side.offsets[k] : side.offsets[k + 1]] for side in (text.source, text.target)]
            shape, (begin, end) = tuple(map(len, sides)), chunk.cell_offsets[k - chunk.k0 : k - chunk.k0 + 2]
            if not all(shape):
                continue
            for d, own in enumerate(both):
                if not directions & (d + 1):
                    continue
                matrix = own[begin:end].reshape(shape)
                values = (matrix.T if d else matrix) * inverses[d][sides[d]][:, None]  # [given, observed]
                values = values * self.prior(d, *values.shape) * (1 - self.p_null[d])
                total = values.sum(0) + self.p_null[d] * nulls[d][sides[1 - d]] + 1e-35
                values /= total
                matrix[:] = values.T if d else values
                logs[d, k - chunk.k0] = np.log(total).sum()

    def prior(self, d, n_given, n_observed):
        """Return the prior of one direction."""
        return prior(n_given, n_observed)

    def facts(self):
        """Return the steepness."""
        return [["steepness of the slant", f"{STEEPNESS:g}"]]

    def charts(self):
        """Return the prior of the middle one of nine positions."""
        return [Columns("Positions", "of nine", [str(n) for n in range(9)], [("both", prior(9, 9)[:, 4].tolist())])]


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned(Slanted):
    """The same with a share for each distance.

    Attributes
    ----------
    shares : float64 [2, DISTANCES]
        Forward, then reverse.
    """

    shares: np.ndarray

    def prior(self, d, n_given, n_observed):
        """Return the prior of one direction."""
        p = self.shares[d][(distances(n_given, n_observed) * DISTANCES).astype(int)]
        return p / p.sum(0)

    def arrays(self):
        """Return its own arrays, as a file names them."""
        return {"shares": self.shares}

    @classmethod
    def from_arrays(cls, fields, arrays, about, settings):
        """Rebuild the model from saved arrays."""
        return cls(**fields, shares=hold(arrays, "shares", (2, DISTANCES), np.float64, 0, 1))

    @classmethod
    def stage(cls, task, before):
        """Begin to train it."""
        return LearnedStage(cls, task, before)

    def charts(self):
        """Return the shares."""
        series = [(name, self.shares[d].tolist()) for d, name in enumerate(("forward", "reverse"))]
        return [Columns("Distances", "of six", [str(n) for n in range(DISTANCES)], series)]


class LearnedStage(Stage):
    """The same in training."""

    def __init__(self, *place):
        super().__init__(*place)
        old = self.task.old
        self.shares = old.shares if isinstance(old, Learned) else np.full((2, DISTANCES), 1 / DISTANCES)

    def parameters(self):
        """Return the shares."""
        return {"shares": self.shares}

    def restore(self, parameters):
        """Take shares that were kept."""
        self.shares = parameters.get("shares", self.shares)
        return self

    def expect(self, steps, lexicon, counts):
        """Return log-likelihoods, and expected links by direction and distance."""
        counted = np.zeros((2, DISTANCES))

        def count(chunk, both):
            lengths = [np.diff(side.offsets[chunk.k0 : chunk.k1 + 1]) for side in (steps.source, steps.target)]
            for k, (i, j) in enumerate(zip(*lengths, strict=True)):
                begin, end = chunk.cell_offsets[k : k + 2]
                places = (distances(i, j) * DISTANCES).astype(int).ravel() if i and j else np.zeros(0, int)
                for d, own in enumerate(both):
                    if steps.directions & (d + 1):
                        counted[d] += np.bincount(places, own[begin:end], DISTANCES)

        return steps.by_posteriors(self.now(steps, lexicon), counts, count), counted

    def maximize(self, counted, steps=None):
        """Estimate the shares."""
        self.shares = (counted + 1) / (counted + 1).sum(1, keepdims=True)


SLANTED = ModelKind("slanted", Slanted, iterations=3, in_parts=True)
LEARNED = ModelKind("learned", Learned, after="hmm", in_parts=True)
