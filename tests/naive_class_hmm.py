"""The HMM with jumps by class by its definition: every path, the jumps of the class of each word that is left."""

import itertools
from collections import Counter


def class_paths(emissions, null, jumps, classes, p_null):
    """Yield every path and its joint probability: a path is (position, whether it is real) of each observed word.

    ``jumps`` are `tests.naive.Jumps` by class, those of 0 with the first positions, ``classes`` the given words' own.
    """
    length = len(emissions[0])
    states = [(i, real) for i in range(length) for real in (True, False)]
    for path in itertools.product(states, repeat=len(emissions)):
        p = 1.0
        for j, (i, real) in enumerate(path):
            p *= (1 - p_null) * emissions[j][i] if real else p_null * null[j]
            if j == 0:
                p *= jumps[0].first_weight(i) / jumps[0].first_total(length)
                continue
            before = path[j - 1][0]
            if real:
                leaving = jumps[classes[before]]
                p *= leaving.weight(i - before) / leaving.total(before, length)
            elif i != before:
                p = 0.0
        if p:
            yield path, p


def class_viterbi(emissions, null, jumps, classes, p_null):
    """Return the most probable path, -1 for NULL, and its probability."""
    path, probability = max(class_paths(emissions, null, jumps, classes, p_null), key=lambda found: found[1])
    return [i if real else -1 for i, real in path], probability


def class_hmm(emissions, null, jumps, classes, p_null):
    """Return likelihood, link posteriors by (observed, given), and counts and exposures of jumps by (class, jump)."""
    length = len(emissions[0])
    likelihood, posteriors, counts, exposures = 0.0, Counter(), Counter(), Counter()
    for path, p in class_paths(emissions, null, jumps, classes, p_null):
        likelihood += p
        for j, (i, real) in enumerate(path):
            if real:
                posteriors[j, i] += p
            if j == 0:
                counts[0, jumps[0].first_key(i)] += p
                for other in range(length):
                    exposures[0, jumps[0].first_key(other)] += p / jumps[0].first_total(length)
            elif real:
                before = path[j - 1][0]
                leaving = jumps[classes[before]]
                counts[classes[before], leaving.key(i - before)] += p
                for other in range(length):
                    exposures[classes[before], leaving.key(other - before)] += p / leaving.total(before, length)
    return likelihood, *({k: v / likelihood for k, v in found.items()} for found in (posteriors, counts, exposures))
