"""Chains by enumeration: every sequence of states, one by one. Imports nothing that it checks."""

import itertools
import math


def paths(start, transitions, stop, emissions, words, ranges=None, power=1):
    """Yield every sequence of states and its probability with the words; emissions count ``power`` times."""
    ranges = ranges or [(0, len(start))] * len(words)
    for z in itertools.product(*[range(low, high) for low, high in ranges]):
        p = 1.0
        for t, state in enumerate(z):
            p *= start[state] if t == 0 else transitions[z[t - 1]][state]
            p *= emissions[words[t]][state] ** power
        yield z, p * stop[z[-1]]


def likelihood(start, transitions, stop, emissions, words, ranges=None, power=1):
    """Sum over all sequences; 1 for no words."""
    return sum(p for _, p in paths(start, transitions, stop, emissions, words, ranges, power)) if len(words) else 1.0


def expectations(start, transitions, stop, emissions, words, ranges=None, power=1):
    """Return posteriors [n][K] and expected transitions [K][K], by counting in every sequence."""
    k, total = len(start), likelihood(start, transitions, stop, emissions, words, ranges, power)
    posterior = [[0.0] * k for _ in words]
    moves = [[0.0] * k for _ in range(k)]
    for z, p in paths(start, transitions, stop, emissions, words, ranges, power):
        for t, state in enumerate(z):
            posterior[t][state] += p / total
            if t:
                moves[z[t - 1]][state] += p / total
    return posterior, moves


def ranked(start, transitions, stop, emissions, words, ranges=None):
    """Return (log probability, sequence) of all possible sequences, best first."""
    found = [(p, z) for z, p in paths(start, transitions, stop, emissions, words, ranges) if p > 0]
    return [(math.log(p), z) for p, z in sorted(found, key=lambda item: -item[0])]


def reconstruction(start, transitions, stop, emissions, words):
    """``log sum_z P(z|x) P(x|z)``, as equation 23 of Cheng, Liu & Xu (2017) has it."""
    total = likelihood(start, transitions, stop, emissions, words)
    again = 0.0
    for z, p in paths(start, transitions, stop, emissions, words):
        chance = math.prod(emissions[word][state] for word, state in zip(words, z, strict=True))
        again += p / total * chance
    return math.log(again)
