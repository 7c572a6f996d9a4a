"""A model as contributing.md says how to add one, in NumPy alone: IBM 1 with a fixed distortion by position.

Nothing outside this module knows of it; the tests register it and take it back.
"""

from dataclasses import dataclass

import numpy as np

from aligntools.aligning.models.base import LexicalModel, Shares
from aligntools.aligning.models.registry import ModelKind

#: How fast probabilities fall with the distance of relative positions.
STEEPNESS = 3.0


def prior(n_given, n_observed):
    """Return the probability of each given position for each observed one, [given, observed]; columns sum to 1."""
    given, observed = (np.arange(n_given) + 0.5) / n_given, (np.arange(n_observed) + 0.5) / n_observed
    p = np.exp(-STEEPNESS * np.abs(given[:, None] - observed))
    return p / p.sum(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Slanted(LexicalModel):
    """IBM 1 that prefers words at the same relative position."""

    def posteriors(self, text, chunk, cells, other, directions, pool, logs):
        """Turn link matrices into posteriors; see `LexicalModel.posteriors`."""
        inverses, nulls = (self.lexicon.s_inverse, self.lexicon.t_inverse), (self.t_null, self.s_null)
        for k in range(chunk.k0, chunk.k1):
            sides = [side.tokens[side.offsets[k] : side.offsets[k + 1]] for side in (text.source, text.target)]
            shape, (begin, end) = tuple(map(len, sides)), chunk.cell_offsets[k - chunk.k0 : k - chunk.k0 + 2]
            if not all(shape):
                continue
            for d, own in enumerate((cells, other)):
                if not directions & (d + 1):
                    continue
                matrix = own[begin:end].reshape(shape)
                values = (matrix.T if d else matrix) * inverses[d][sides[d]][:, None]  # [given, observed]
                values = values * prior(*values.shape) * (1 - self.p_null[d])
                total = values.sum(0) + self.p_null[d] * nulls[d][sides[1 - d]] + 1e-35
                values /= total
                matrix[:] = values.T if d else values
                logs[d, k - chunk.k0] = np.log(total).sum()

    def facts(self):
        """Return the steepness."""
        return [["steepness of the slant", f"{STEEPNESS:g}"]]

    def charts(self):
        """Return the prior of the middle one of nine positions."""
        return [Shares("Positions", "of nine", [str(n) for n in range(9)], [("both", prior(9, 9)[:, 4].tolist())])]


SLANTED = ModelKind("slanted", Slanted, iterations=3, in_parts=True)
