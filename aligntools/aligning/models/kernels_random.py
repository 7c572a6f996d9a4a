"""Compiled: random numbers of the sampler of `kernels_fertility`, and what it starts them from."""

import numpy as np

from aligntools.ground.compiling import kernel


@kernel(inline=True)
def random_unit(state):
    """Advance a splitmix64 generator (uint64 [1]) and return a float in [0, 1)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel(inline=True)
def sentence_seed(given, observed, known_given, known_observed):
    """Hash a sentence pair's words; words from ``known`` on (not in the model) all count as one."""
    h = np.uint64(1469598103934665603)
    for c in range(given.shape[0]):
        h = (h ^ np.uint64(min(given[c], known_given))) * np.uint64(1099511628211)
    h = (h ^ np.uint64(0xFFFFFFFF)) * np.uint64(1099511628211)
    for o in range(observed.shape[0]):
        h = (h ^ np.uint64(min(observed[o], known_observed))) * np.uint64(1099511628211)
    return h
