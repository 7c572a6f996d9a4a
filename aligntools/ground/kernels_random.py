"""Compiled: random numbers."""

import numpy as np

from aligntools.ground.compiler import kernel


@kernel(inline=True)
def random_unit(state):
    """Advance a splitmix64 generator (uint64 [1]) and return a float in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)
