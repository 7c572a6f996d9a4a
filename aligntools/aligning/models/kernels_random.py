"""Compiled: what the random numbers of the sampler of `kernels_fertility` start from."""

import numpy as np

from aligntools.ground.compiler import kernel


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
